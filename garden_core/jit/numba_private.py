"""Numba's private interfaces that compilation uses.

Numba may change them without notice. If one is missing, `compiled` is plain `njit`, with one warning. Outdated code and code of
another function never run. With `GARDEN_PLAIN_NUMBA=all` only the first of these is used:

- **names**: random numbers in the names of machine code. Numba counts functions and types from zero in each process, so
  functions that two processes keep in a cache can have one name; where both are loaded, one runs in place of the other
  (docs/architecture.md). Without random names nothing is cached.
- **flags**: private options. They omit what the rules do not need (wrappers for C and Python, array rewrites, reference
  counts), or inline a function into its callers.
- **cache**: a cache keyed by all code that a function compiles. It recompiles damaged files, prunes old builds, and is safe
  for processes that save at the same time. Numba's own cache, the fallback, has one folder per fingerprint and none of this.
- **linking**: machine code is made at the first call from Python. Numba optimises and compiles every function, and again for
  each function that inlines it. Here a function called by compiled code is stored unoptimised, and one called from Python is
  linked with all that it reaches and optimised once. Python cannot call functions named with a leading _.

Mars' first step from an empty cache takes 8.2 s, and 12.6 s with plain `njit` (benchmarks/results/plain-numba.json).
"""

from __future__ import annotations

import contextlib
import dis
import functools
import hashlib
import logging
import os
import pkgutil
import re
import secrets
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import llvmlite.binding
import numba

from garden_core.jit.fingerprints import fingerprint
from garden_core.jit.rows import JIT

LOG = logging.getLogger(__name__)
_BUILDS_KEPT = 2  # compilations of one function for the same record type that differ in the build alone
_COMPILATIONS_KEPT = 24  # compilations of one function in all, the last ones written

CACHE_KEY = "random names"
"""Part of the keys of all caches, so that code with counted names, of an earlier version, is never loaded."""

NEEDED = {
    "numba._dynfunc:make_function": "",
    "numba.core.base:BaseContext": "get_executable insert_user_function",
    "numba.core.caching:CompileResultCacheImpl": "reduce rebuild",
    "numba.core.caching:FunctionCache": "load_overload save_overload _index_key _impl _cache_file _cache_path _py_func",
    "numba.core.caching:IndexDataCacheFile": "_save_data _load_index _save_index _data_path _index_name _source_stamp",
    "numba.core.codegen:JITCPUCodegen": "_engine set_env",
    "numba.core.codegen:JITCodeLibrary": (
        "_codegen _ensure_finalized _final_module _finalize_final_module _finalized _get_compiled_object "
        "_get_module_for_linking _linking_libraries _optimize_final_module _set_compiled_object _shared_module "
        "enable_object_caching"
    ),
    "numba.core.codegen:JitEngine": "_load_defined_symbols get_global_value_address",
    "numba.core.compiler:CompilerBase": "define_pipelines",
    "numba.core.compiler:DefaultPassBuilder": "define_nopython_pipeline",
    "numba.core.compiler:compile_result": "",
    "numba.core.compiler_lock:global_compiler_lock": "",
    "numba.core.compiler_machinery:PassManager": "finalize _finalized passes",
    "numba.core.compiler_machinery:register_pass": "",
    "numba.core.cpu:CPUTargetOptions": "no_cfunc_wrapper no_cpython_wrapper no_rewrites _nrt forceinline",
    "numba.core.dispatcher:Dispatcher": "_cache _compile_for_args _insert add_overload",
    "numba.core.environment:lookup_environment": "",
    "numba.core.typed_passes:NativeLowering": "run_pass",
}
"""The names that are needed besides those of `_name_at_random`, by "module:name"; for a class, its members."""


class _Missing:
    """Placeholder for a missing name: a base class, or a decorator that does nothing."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __call__(self, decorated: Any) -> Any:
        return decorated


def _find(place: str) -> Any:
    try:
        return pkgutil.resolve_name(place)
    except (ImportError, AttributeError):
        return _Missing


def missing() -> list[str]:
    """Return the needed names that this version of Numba lacks."""
    absent = []
    for place, members in NEEDED.items():
        holder = _find(place)
        if holder is _Missing:
            absent.append(place)
        lacked = {name for name in members.split() if not hasattr(holder, name)}
        methods = [each for base in getattr(holder, "__mro__", ()) for each in vars(base).values()]
        for code in [each.__code__ for each in methods if hasattr(each, "__code__")]:
            if lacked & set(code.co_names):  # the method may set it
                lacked -= {step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR"}
        absent += [f"{place}.{name}" for name in sorted(lacked)]
    return absent


def _used() -> tuple[bool, bool]:
    """Return whether names are random, and whether all else is used; warn about what is missing."""
    plain = bool(os.environ.get("GARDEN_PLAIN_NUMBA"))
    named, gone = _name_at_random(), [] if plain else missing()
    if gone or not named:
        words = ", ".join([*gone, *["unique numbers of functions"] * (not named)])
        slower = "first steps take longer" if named else "every process compiles all code again"
        warnings.warn(
            f"garden-envs goes on without private interfaces of Numba {numba.__version__}, as some are missing: {words}. "
            f"Results are the same; {slower}.",
            stacklevel=2,
        )
    return named, named and not plain and not gone


def _name_at_random() -> bool:
    """Have Numba number functions at random, instead of counting them; return whether their names contain the numbers."""
    identity = _find("numba.core.bytecode:FunctionIdentity")
    mangle = _find("numba.core.itanium_mangler:mangle")
    if _Missing in (identity, mangle):
        return False
    # from the system, so that they differ after a fork
    identity._unique_ids = iter(lambda: secrets.randbits(63), None)
    number = identity.from_function(missing).unique_id
    return number > 2**32 and mangle("", (), uid=1) != mangle("", (), uid=2)


NAMED, PRIVATE = _used() if JIT else (False, False)
"""Whether names are random, without which nothing is cached; and whether all other private interfaces are used."""

make_function: Any = _find("numba._dynfunc:make_function")
CompileResultCacheImpl: Any = _find("numba.core.caching:CompileResultCacheImpl")
FunctionCache: Any = _find("numba.core.caching:FunctionCache")
IndexDataCacheFile: Any = _find("numba.core.caching:IndexDataCacheFile")
JITCodeLibrary: Any = _find("numba.core.codegen:JITCodeLibrary")
CompilerBase: Any = _find("numba.core.compiler:CompilerBase")
DefaultPassBuilder: Any = _find("numba.core.compiler:DefaultPassBuilder")
compile_result: Any = _find("numba.core.compiler:compile_result")
global_compiler_lock: Any = _find("numba.core.compiler_lock:global_compiler_lock")
register_pass: Any = _find("numba.core.compiler_machinery:register_pass")
lookup_environment: Any = _find("numba.core.environment:lookup_environment")
NativeLowering: Any = _find("numba.core.typed_passes:NativeLowering")


# --- linking ---


def compile_later(function: Callable[..., Any], options: dict[str, Any], inline: bool) -> Any:
    """Return Numba's dispatcher of a function; with `inline`, compiled callers inline it."""
    if not PRIVATE:
        return numba.njit(**options)(function)
    private = function.__name__.startswith("_")
    dispatcher: Any = numba.njit(no_cpython_wrapper=private, forceinline=inline, **options)(function)

    def compile_for_args(*args: Any, **kwargs: Any) -> Any:
        if private:
            raise TypeError(f"{dispatcher.__name__} is for compiled code alone, as its name begins with _")
        with global_compiler_lock:  # for calls from several threads
            entry = type(dispatcher)._compile_for_args(dispatcher, *args, **kwargs)
            result = next(result for result in dispatcher.overloads.values() if result.entry_point is entry)
            return _make_code(dispatcher, result)

    def add_overload(result: Any) -> None:  # Numba's own would make the function known to callers in Python
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher._compile_for_args = compile_for_args
    dispatcher.add_overload = add_overload
    return dispatcher


class _Library(JITCodeLibrary):
    """The code of one function, which is linked with what it calls when machine code is made."""

    code: bytes | None = None
    """Machine code from the cache."""
    is_ready = False
    """Whether Python can call it."""
    _exported: list[str]
    """Names that other libraries may call."""
    _shared_module: Any

    @classmethod
    def load(cls, codegen: Any, name: str, data: tuple[bytes | None, bytes, list[str]]) -> Any:
        """Return the library that `serialize_using_object_code` has written."""
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
        """Return the function's own code, for other libraries to link: any number of times, dropped where unused."""
        if self._shared_module is None:
            self._shared_module = self._final_module.clone()
            self._exported = []
            for function in self._shared_module.functions:
                if not function.is_declaration and function.linkage == llvmlite.binding.Linkage.external:
                    function.linkage = "linkonce_odr"
                    self._exported.append(function.name)
        return self._shared_module

    def _link(self, module: Any) -> Any:
        """Link all that the function reaches into `module`, each library once; return `module`."""
        reached: list[Any] = []
        self._add_to(reached)
        for library in reversed(reached[:-1]):  # callers first: LLVM drops what nothing refers to yet
            is_ours = isinstance(library, _Library)
            own = library._own_module() if is_ours else library._get_module_for_linking()
            module.link_in(own, preserve=True)
        for library in reached if hasattr(self, "_reload_init") else []:  # not in older versions of Numba
            self._reload_init.update(library._reload_init)
        return module

    def _add_to(self, reached: list[Any]) -> None:
        """Add what the function calls, if it is missing, and then itself."""
        for library in self._linking_libraries:
            if library not in reached:
                _Library._add_to(library, reached)
        reached.append(self)

    def _get_module_for_linking(self) -> Any:
        return self._link(self._own_module().clone())

    @property
    def has_dynamic_globals(self) -> bool:
        variables = self._own_module().global_variables
        return any(variable.name.startswith("numba.dynamic.globals") for variable in variables)

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
    """Return the Python objects that the code of a library may refer to."""
    variables = library._get_module_for_linking().global_variables
    return [known for variable in variables if (known := lookup_environment(variable.name)) is not None]


def _no_code(library: _Library, fndesc: Any, environment: Any) -> Any:
    """Return a placeholder for a function's machine code, which is never called."""
    return make_function(fndesc.lookup_module(), fndesc.qualname, "", 0, environment, (library,))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """Numba's last pass without machine code, which is made later."""

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


def flags() -> dict[str, Any]:
    """Return the private options of all compiled functions."""
    if not PRIVATE:
        return {}
    return {"no_cfunc_wrapper": True, "no_rewrites": True, "_nrt": False, "pipeline_class": _Compiler}


# --- cache ---


def keep(dispatcher: Any, folder: str) -> None:
    """Cache a function in a folder: with our cache, or with Numba's in a folder for its fingerprint."""
    if not NAMED:
        return
    if PRIVATE:
        use_cache(dispatcher, _Cache, numba.config, folder)
        return

    @functools.cache
    def enable() -> None:
        key = hashlib.sha256(f"{CACHE_KEY} {fingerprint(dispatcher)}".encode()).hexdigest()[:16]
        with _keeping_in(os.path.join(folder, key), numba.config):
            dispatcher.enable_caching()

    def compile_kept(signature: Any) -> Any:
        enable()  # not earlier: names that the function uses may not have existed
        return type(dispatcher).compile(dispatcher, signature)

    dispatcher.compile = compile_kept


def use_cache(dispatcher: Any, cache: Callable[[Any], Any], config: Any, folder: str) -> None:
    """Cache the function of a dispatcher in a folder."""
    with _keeping_in(folder, config):
        dispatcher._cache = cache(dispatcher.py_func)


@contextlib.contextmanager
def _keeping_in(folder: str, config: Any) -> Iterator[None]:
    """Make new caches use a folder, for the duration of a `with` block; other packages' caches keep theirs."""
    before, config.CACHE_DIR = config.CACHE_DIR, folder
    try:
        yield
    except RuntimeError:
        pass  # a function typed at a prompt has no file, so it is compiled each time
    finally:
        config.CACHE_DIR = before


class _CacheImpl(CompileResultCacheImpl):
    """Stores and loads a compilation."""

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
    """Mixin for Numba's files of one function: names each data file by a digest of its key.

    Numba numbers them, so two processes that save at once can take the same number, and one then runs the other's code.
    """

    def save(self: Any, key: Any, data: Any) -> None:
        """Save a compilation and add it to the index."""
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        self._save_data(name, data)
        index = self._load_index()
        index[key] = name
        self._save_index(index)


class _CacheFile(SafeCacheFile, IndexDataCacheFile):
    """The files of one function for the CPU."""


class SafeCache:
    """Mixin for Numba's cache of one function, for a CPU or a GPU.

    Deletes damaged files, so that they are compiled again; warns about what cannot be saved; prunes old builds.
    """

    file_class: Callable[..., SafeCacheFile]
    _cache_file: Any
    _impl: Any
    _py_func: Callable[..., Any]
    cache_path: str

    def __init__(self, function: Callable[..., Any]) -> None:
        base: Any = super()
        base.__init__(function)
        name = re.sub(r"-\d+(?=\.py)", "", self._impl.filename_base)  # the function alone, not its line
        self._cache_file = self.file_class(self.cache_path, name, "fingerprints")

    @functools.cached_property
    def fingerprint(self) -> str:
        """Digest of all that the function compiles, computed late: names that it uses may not exist before."""
        return f"{CACHE_KEY} {fingerprint(self._py_func)} {sorted(map(str, flags().items()))}"

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a compilation, or None if it is missing or damaged."""
        base: Any = super()
        try:
            return base.load_overload(sig, target_context)
        except NameError:
            raise
        except Exception:  # damaged bytes unpickle to any error; the function is compiled again
            LOG.debug("compiled code in %s cannot be read", self.cache_path, exc_info=True)
            for path in self._files():
                with contextlib.suppress(OSError):
                    path.unlink()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save a compilation."""
        base: Any = super()
        try:
            base.save_overload(sig, data)
            self._prune()
        except OSError as error:
            warnings.warn(f"compiled code was not kept in {self.cache_path}: {error}", stacklevel=2)

    def _files(self) -> list[Path]:
        base = self._cache_file._index_name.removesuffix(".nbi")
        return [p for p in Path(self.cache_path).iterdir() if p.name.startswith(base + ".")]

    def _prune(self) -> None:
        """Delete the oldest compilations, and data files that are not in the index."""
        index = self._cache_file._load_index()
        ages = {}
        for key, name in index.items():
            with contextlib.suppress(OSError):
                ages[key] = os.stat(self._cache_file._data_path(name)).st_mtime
        newest_first = sorted(ages, key=ages.__getitem__, reverse=True)
        kept: dict[Any, str] = {}
        builds: Counter[str] = Counter()
        for key in newest_first[:_COMPILATIONS_KEPT]:
            alike = re.sub(r"build_[0-9a-f]+", "build", str(key[:2]))
            builds[alike] += 1
            if builds[alike] <= _BUILDS_KEPT:
                kept[key] = index[key]
        if len(kept) < len(index):
            self._cache_file._save_index(kept)
        for path in self._files():
            if path.suffix == ".nbc" and path.name not in kept.values():
                path.unlink(missing_ok=True)


class _Cache(SafeCache, FunctionCache):
    """Numba's cache of one function, keyed by all that the function compiles, not by its file and line."""

    _impl_class = _CacheImpl
    file_class = _CacheFile

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple(), self.fingerprint
