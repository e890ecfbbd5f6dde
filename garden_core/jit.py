"""The one decorator for compiled code, its cache on disk, and the fingerprint of what a function compiles."""

from __future__ import annotations

import builtins
import contextlib
import copyreg
import dis
import enum
import functools
import hashlib
import logging
import operator
import os
import re
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import llvmlite.binding
import numba
import numpy as np
import platformdirs
from numba._dynfunc import make_function
from numba.core.caching import CompileResultCacheImpl, FunctionCache, IndexDataCacheFile
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.compiler_lock import global_compiler_lock
from numba.core.compiler_machinery import register_pass
from numba.core.dispatcher import Dispatcher
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering

__all__ = [
    "JIT",
    "SafeCache",
    "SafeCacheFile",
    "cache_folder",
    "compiled",
    "fingerprint",
    "inlined",
    "records",
    "use_cache",
]

LOG = logging.getLogger(__name__)
JIT: bool = not numba.config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`: everything then runs as plain Python."""

F = TypeVar("F", bound=Callable[..., Any])
_BUILDS_KEPT = 2  # compilations of one function for the same record type that differ in the build alone
_COMPILATIONS_KEPT = 24  # compilations of one function in all, the last ones written
OPTIONS: Any = {"no_cfunc_wrapper": True, "no_rewrites": True, "_nrt": False, "nogil": True}
"""Features that are switched off to compile faster; `_nrt=False` also forbids allocation, `nogil` releases the
interpreter's lock."""
_NOT_FOLLOWED = ("numpy", "numba")  # Numba's cache knows its own version
_inlined: set[Callable[..., Any]] = set()
"""Functions whose callers take their code in."""


def compiled(function: F) -> F:
    """Compile `function` with Numba, keeping the machine code in the user's cache folder.

    The folder is `NUMBA_CACHE_DIR` where that is set, else one of the user's cache folders. Under
    `NUMBA_DISABLE_JIT=1` the function stays plain Python (unsigned integers wrap silently there too).
    A function whose name begins with _ is for other compiled code alone: that compiles faster, and calling it
    from Python raises TypeError.
    """
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile `function` as `compiled` does, and have compiled callers take its code in.

    It is for functions of many arrays that are called once for each game: to pass the arrays costs more than a tenth of a step.
    """
    _inlined.add(function)
    return _compiled(function, forceinline=True)


def _compiled(function: F, **more: bool) -> F:
    if not JIT:
        return np.errstate(over="ignore")(function)
    private = function.__name__.startswith("_")
    dispatcher = numba.njit(no_cpython_wrapper=private, **OPTIONS, **more)(function)
    _make_code_later(dispatcher, private)
    folder = cache_folder()
    if folder is not None:
        use_cache(dispatcher, _Cache, numba.config, folder)
    return dispatcher


def use_cache(dispatcher: Any, cache: Callable[[Any], Any], config: Any, folder: str) -> None:
    """Give the function of a dispatcher a cache in a folder.

    Numba picks the folder while the cache is made, so other packages' folders stay theirs.
    """
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        dispatcher._cache = cache(dispatcher.py_func)
    except RuntimeError:
        pass  # typed at a prompt: there is no file whose changes could be seen, so it is compiled each time
    finally:
        config.CACHE_DIR = before


def _make_code_later(dispatcher: Any, private: bool) -> None:
    """Have machine code made at the first call from Python, or never if the function is private."""

    def compile_for_args(*args: Any, **kwargs: Any) -> Any:
        if private:
            raise TypeError(f"{dispatcher.__name__} is for compiled code alone, as its name begins with _")
        with global_compiler_lock:  # several threads may come here at once
            entry = type(dispatcher)._compile_for_args(dispatcher, *args, **kwargs)
            result = next(result for result in dispatcher.overloads.values() if result.entry_point is entry)
            return _make_code(dispatcher, result)

    def add_overload(result: Any) -> None:  # Numba's own would make the function known to callers in Python
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher._compile_for_args = compile_for_args
    dispatcher.add_overload = add_overload


def records(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeroed records of a shape, whose rows kernels can take in both modes: fields are attributes of a row."""
    return np.zeros(shape, dtype if JIT else np.dtype((_row_class(dtype), dtype)))


class _RowType(type):
    """Type of the classes that `_row_class` makes, which pickle as calls of it."""

    form: np.dtype


@functools.cache
def _row_class(dtype: np.dtype) -> _RowType:
    """Return a class for rows of a record type, with the fields as attributes: twice as fast as `np.record`."""

    def field(form: np.dtype, offset: int) -> property:
        def write(row: np.void, value: Any) -> None:
            row.setfield(value, form, offset)

        return property(operator.methodcaller("getfield", form, offset), write)

    fields = {name: field(*place[:2]) for name, place in (dtype.fields or {}).items()}
    return _RowType("Row", (np.void,), fields | {"form": dtype})


copyreg.pickle(_RowType, lambda row_class: (_row_class, (row_class.form,)))


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Hex digest of everything that `functions` compile: their code, what they call, the constants they read.

    Follows global names, defaults and closures into functions, modules, arrays, numbers, tuples and enums,
    wherever they are defined; NumPy and Numba themselves are left out.

    Raises:
        NameError: if a name that they use is not defined yet, as its change would go unseen.
    """
    digest = hashlib.sha256()
    for part in _reached(list(functions)):
        digest.update(part)
    return digest.hexdigest()


def _reached(pending: list[Any]) -> Iterator[bytes]:
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, Dispatcher):
            value = value.py_func
        if isinstance(value, types.FunctionType):
            value = getattr(value, "__wrapped__", value)
            if id(value) in seen or _package(value.__module__) in _NOT_FOLLOWED:
                continue
            seen.add(id(value))
            if value in _inlined:
                yield b"inlined"
            names: list[str] = []
            codes = [value.__code__]
            for code in codes:
                codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
                names += code.co_names
                steps, global_names = _steps(code)
                yield steps
                for name in global_names:
                    if name not in value.__globals__ and not hasattr(builtins, name):
                        raise NameError(
                            f"{name!r}, which {value.__qualname__} uses, is not defined yet; "
                            "a Game class must stand below everything that its rules use"
                        )
            for name in names:
                held = value.__globals__.get(name)
                pending += _in_modules(held, names) if isinstance(held, types.ModuleType) else [held]
            pending += value.__defaults__ or ()
            pending += (value.__kwdefaults__ or {}).values()
            pending += [cell.cell_contents for cell in value.__closure__ or ()]
        elif isinstance(value, np.ndarray | np.generic):
            yield repr((value.dtype, value.shape)).encode() + value.tobytes()
        elif isinstance(value, tuple):
            pending += value
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            yield repr(list(value)).encode()
        elif isinstance(value, bool | int | float | complex | str | bytes | np.dtype | enum.Enum):
            yield repr(value).encode()


@functools.cache
def _steps(code: types.CodeType) -> tuple[bytes, frozenset[str]]:
    """Return what a function does, docstring or not (`python -OO` has none), and the global names that it uses."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "NOP"]
    does: list[Any] = [code.co_name, code.co_names]
    for step in steps:
        constant = step.opcode in dis.hasconst and not isinstance(step.argval, types.CodeType)
        does.append(
            (step.opname, step.argval if constant else None if step.opcode in dis.hasconst else step.arg)
        )
    return repr(does).encode(), frozenset(step.argval for step in steps if step.opname == "LOAD_GLOBAL")


def _in_modules(module: types.ModuleType, names: list[str]) -> list[Any]:
    """Whatever `names` may mean in the module, and in the modules that they mean there."""
    modules, found = [module], []
    for holder in modules:
        if _package(holder.__name__) in _NOT_FOLLOWED:
            continue
        for name in names:
            held = getattr(holder, name, None)
            if not isinstance(held, types.ModuleType):
                found.append(held)
            elif held not in modules:
                modules.append(held)
    return found


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0]


@functools.cache
def cache_folder() -> str | None:
    """Return the folder where compiled code is kept, or None if it cannot be written; then a warning has said so."""
    folder = numba.config.CACHE_DIR or str(platformdirs.user_cache_path("garden-envs") / "numba")
    if numba.config.BOUNDSCHECK:  # no part of Numba's key: unchecked code would be found and run
        folder = os.path.join(folder, "boundscheck")
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept in {folder} ({error}); every process will compile anew. "
            "Set NUMBA_CACHE_DIR to a folder that can be written.",
            stacklevel=3,
        )
        return None
    return folder


# --- machine code on demand ---
#
# Numba optimises every function and makes machine code of it, and does both again for each function that calls it,
# as callers inline. Here a function that compiled code calls is kept as it was written down; what Python calls is
# linked with all that it reaches, and optimised once. That halves the time of a first step.


class _Library(JITCodeLibrary):
    """The code of one function; what it calls is linked when machine code is asked for."""

    code: bytes | None = None
    """Machine code from the cache."""
    is_ready = False
    """Whether Python can call it."""
    _exported: Sequence[str] = ()
    """The names that others may call."""

    @classmethod
    def load(cls, codegen: Any, name: str, data: tuple[bytes | None, bytes, Sequence[str]]) -> Any:
        """Return a library that `serialize_using_object_code` has written."""
        library = cls(codegen, name)
        library.code, bitcode, library._exported = data
        library._shared_module = llvmlite.binding.parse_bitcode(bitcode)
        library.enable_object_caching()
        return library

    def add_linking_library(self, library: Any) -> None:
        if not isinstance(library, _Library):
            library._ensure_finalized()
        self._linking_libraries.append(library)

    def _own_module(self) -> Any:
        """The function's own code, as others may link it: as often as they like, and without keeping it."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            self._exported = [
                function.name
                for function in self._shared_module.functions
                if not function.is_declaration and function.linkage == llvmlite.binding.Linkage.external
            ]
            for name in self._exported:
                self._shared_module.get_function(name).linkage = "linkonce_odr"
        return self._shared_module

    def _link(self, module: Any) -> Any:
        """Link all that the function reaches into `module`, each once; return it."""
        reached: list[Any] = []
        self._add_to(reached)
        for library in reversed(reached[:-1]):  # callers first: LLVM drops what nothing refers to yet
            ours = isinstance(library, _Library)
            own = library._own_module() if ours else library._get_module_for_linking()
            module.link_in(own, preserve=True)
        for library in reached if hasattr(self, "_reload_init") else []:  # not in older versions of Numba
            self._reload_init.update(library._reload_init)
        return module

    def _add_to(self, reached: list[Any]) -> None:
        """Add what the function calls, and then itself, unless it is there already."""
        for library in self._linking_libraries:
            if library not in reached:
                _Library._add_to(library, reached)
        reached.append(self)

    def _get_module_for_linking(self) -> Any:
        return self._link(self._own_module().clone())

    @property
    def has_dynamic_globals(self) -> bool:
        return any(
            held.name.startswith("numba.dynamic.globals") for held in self._own_module().global_variables
        )

    def finalize(self) -> None:
        """Make machine code."""
        own = self._own_module()
        if self.code is None:
            self._final_module = self._link(own.clone())
            for name in self._exported:
                self._final_module.get_function(name).linkage = "external"
            self._optimize_final_module()
            self._final_module.verify()
            self._finalize_final_module()
        else:
            self._set_compiled_object(self.code)
            self._finalize_final_module()
            self._codegen._engine._load_defined_symbols(own)

    def serialize_using_object_code(self) -> Any:
        """Return what `load` takes."""
        code = self._get_compiled_object() if self._finalized else self.code
        return self.name, (code, self._get_module_for_linking().as_bitcode(), self._exported)


def _make_code(dispatcher: Any, result: Any) -> Any:
    """Make the machine code of a compilation, for calls from Python; keep it in the cache."""
    library = result.library
    if library.is_ready:
        return result.entry_point
    is_new = library.code is None
    function = result.target_context.get_executable(library, result.fndesc, result.environment)
    for environment in _environments(library):
        if library.codegen._engine.get_global_value_address(environment.env_name):
            library.codegen.set_env(environment.env_name, environment)
    arguments = tuple(result.signature.args)
    dispatcher.overloads[arguments] = result = result._replace(entry_point=function)
    result.target_context.insert_user_function(function, result.fndesc, [library])
    library.is_ready = True
    dispatcher._insert([argument._code for argument in arguments], function, result.objectmode)
    if is_new:
        dispatcher._cache.save_overload(arguments, result)
    return function


def _environments(library: _Library) -> list[Any]:
    """The Python objects that the code of a library may refer to."""
    names = [held.name for held in library._get_module_for_linking().global_variables]
    found = [lookup_environment(name) for name in names if name.startswith("_ZN08NumbaEnv")]
    return [environment for environment in found if environment is not None]


def _no_code(library: _Library, fndesc: Any, environment: Any) -> Any:
    """What stands for a function's machine code until it is made; nobody calls it."""
    return make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, environment, (library,))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Numba's last pass, which leaves the machine code for later."""

    _name = "garden_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        lowered = state["cr"]
        entry = _no_code(state.library, lowered.fndesc, lowered.env)
        state.targetctx.insert_user_function(entry, lowered.fndesc, [state.library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


class _Compiler(CompilerBase):
    """Numba's compiler with that last pass."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(_Lowering if kind is NativeLowering else kind, why) for kind, why in passes.passes]
        passes._finalized = False
        passes.finalize()
        return [passes]


OPTIONS["pipeline_class"] = _Compiler


# --- the cache ---


class _CacheImpl(CompileResultCacheImpl):
    """What is kept of a compilation."""

    def reduce(self, result: Any) -> Any:
        return (*result._reduce()[:-1], tuple(_environments(result.library)))

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        (name, data), fndesc, environment, signature, objectmode, lifted, types, reload_init, others = payload
        for function in reload_init:
            function()
        library = _Library.load(target_context.codegen(), name, data)
        return compile_result(
            target_context=target_context,
            typing_context=target_context.typing_context,
            library=library,
            environment=environment,
            entry_point=_no_code(library, fndesc, environment),
            fndesc=fndesc,
            type_annotation=types,
            signature=signature,
            objectmode=objectmode,
            lifted=lifted,
            reload_init=reload_init,
            referenced_envs=others,
        )


class SafeCacheFile:
    """Ahead of Numba's class for the files of one function: names each data file by what is in it.

    Numba numbers them. Two processes that save at once can take the same number, and one of them, or a later
    one, then runs the other's code.
    """

    def save(self: Any, key: Any, data: Any) -> None:
        """Save a compilation, and its name in the index."""
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        self._save_data(name, data)
        index = self._load_index()
        index[key] = name
        self._save_index(index)


class _CacheFile(SafeCacheFile, IndexDataCacheFile):
    """The files of one function for the CPU."""


class SafeCache:
    """Ahead of Numba's cache of one function, for a CPU or a GPU.

    Damaged files are deleted and compiled anew, what cannot be kept leads to a warning, and old builds are pruned.
    """

    _py_func: Callable[..., Any]
    _cache_file: Any
    cache_path: str

    def keep_in(self: Any, file_class: Callable[..., SafeCacheFile]) -> None:
        """Have the files named by the function alone, not by its line."""
        base = re.sub(r"-\d+(?=\.py)", "", self._impl.filename_base)
        self._cache_file = file_class(self.cache_path, base, "fingerprints")

    @functools.cached_property
    def fingerprint(self) -> str:
        """What the function compiles; not while decorating, when the names that it uses may not exist."""
        return fingerprint(self._py_func) + str(sorted(map(str, OPTIONS.items())))

    def load(self, load: Callable[[], Any]) -> Any:
        """Return a compilation, as Numba's `load` does; None if there is none."""
        try:
            return load()
        except NameError:
            raise
        except Exception:  # damaged bytes unpickle to any error; the function is compiled again
            LOG.debug("compiled code in %s cannot be read", self.cache_path, exc_info=True)
            for path in self._files():
                with contextlib.suppress(OSError):
                    path.unlink()
            return None

    def save(self, save: Callable[[], None]) -> None:
        """Keep a compilation, as Numba's `save` does."""
        try:
            save()
            self._prune()
        except OSError as error:
            warnings.warn(f"compiled code was not kept in {self.cache_path}: {error}", stacklevel=2)

    def _files(self) -> list[Path]:
        base = self._cache_file._index_name.removesuffix(".nbi")
        return [p for p in Path(self.cache_path).iterdir() if p.name.startswith(base + ".")]

    def _prune(self) -> None:
        """Delete what older builds left: data files that the index no longer names, and the oldest ones."""
        index = self._cache_file._load_index()
        ages = {}
        for key, name in index.items():
            with contextlib.suppress(OSError):
                ages[key] = os.stat(self._cache_file._data_path(name)).st_mtime
        newest_first = sorted(ages, key=ages.__getitem__, reverse=True)
        kept: dict[Any, str] = {}
        builds: dict[str, int] = {}
        for key in newest_first[:_COMPILATIONS_KEPT]:
            alike = re.sub(r"build_[0-9a-f]+", "build", str(key[:2]))
            builds[alike] = builds.get(alike, 0) + 1
            if builds[alike] <= _BUILDS_KEPT:
                kept[key] = index[key]
        if len(kept) < len(index):
            self._cache_file._save_index(kept)
        for path in self._files():
            if path.suffix == ".nbc" and path.name not in kept.values():
                path.unlink(missing_ok=True)


class _Cache(SafeCache, FunctionCache):
    """Numba's cache of one function; its keys name all that the function compiles, not its file and line."""

    _impl_class = _CacheImpl

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.keep_in(_CacheFile)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return self.load(functools.partial(super().load_overload, sig, target_context))

    def save_overload(self, sig: Any, data: Any) -> None:
        self.save(functools.partial(super().save_overload, sig, data))

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self.fingerprint
