"""The one decorator for compiled code, its cache on disk, and the fingerprint of what a function compiles."""

from __future__ import annotations

import builtins
import contextlib
import dis
import enum
import functools
import hashlib
import os
import re
import tempfile
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import platformdirs
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

__all__ = ["JIT", "compiled", "fingerprint", "records"]

JIT: bool = not numba.config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`: everything then runs as plain Python."""

F = TypeVar("F", bound=Callable[..., Any])
_BUILDS_KEPT = 2  # compilations of one function for the same record type that differ in the build alone
_COMPILATIONS_KEPT = 24  # compilations of one function in all, the last ones written
OPTIONS: Any = {"no_cfunc_wrapper": True, "no_rewrites": True, "_nrt": False, "nogil": True}
"""Without what nothing here needs and compiling is faster without, the counting of references among it: compiled code
lives on its callers' arrays, and one that allocates does not compile. Other Python threads run beside it."""
_NOT_FOLLOWED = ("numpy", "numba")  # Numba's cache knows its own version


def compiled(function: F) -> F:
    """Compile `function` with Numba, keeping the machine code in the user's cache folder.

    The folder is `NUMBA_CACHE_DIR` where that is set, else one of the user's cache folders. Under
    `NUMBA_DISABLE_JIT=1` the function stays plain Python (unsigned integers wrap silently there too).
    A function whose name begins with _ is for other compiled code alone: that compiles faster, and calling it
    from Python raises TypeError.
    """
    if not JIT:
        return np.errstate(over="ignore")(function)
    private = function.__name__.startswith("_")
    dispatcher = numba.njit(no_cpython_wrapper=private, **OPTIONS)(function)
    if private:
        _refuse_python_calls(dispatcher)
    folder = _cache_folder()
    if folder is not None:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:  # Numba picks the folder while the cache is made, so other packages' folders stay theirs
            dispatcher._cache = _Cache(function)
        except RuntimeError:
            pass  # typed at a prompt: there is no file to tell when it changes, so it is compiled each time
        finally:
            numba.config.CACHE_DIR = before
    return dispatcher


def _refuse_python_calls(dispatcher: Any) -> None:
    """Have calls from Python raise; without the wrapper that they need, Numba lets them crash the process."""

    def refuse(*args: Any, **kwargs: Any) -> None:
        raise TypeError(f"{dispatcher.__name__} is for compiled code alone, as its name begins with _")

    def add_overload(result: Any) -> None:  # Numba's own, but for what makes it known to callers in Python
        dispatcher.overloads[tuple(result.signature.args)] = result

    dispatcher._compile_for_args = refuse
    dispatcher.add_overload = add_overload


def records(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Zeroed records of a shape, whose rows kernels can take in both modes (recarray without Numba)."""
    array = np.zeros(shape, dtype)
    return array if JIT else array.view(np.recarray)


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
            names: list[str] = []
            codes = [value.__code__]
            for code in codes:
                codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
                names += code.co_names
                constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
                yield repr((code.co_name, code.co_code, constants, code.co_names)).encode()
                for name in _global_names(code):
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
def _global_names(code: types.CodeType) -> frozenset[str]:
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")


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
def _cache_folder() -> str | None:
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


class _CacheFile(IndexDataCacheFile):
    """The files of one function, each data file named by what is in it.

    Numba numbers them. Two processes that save at once can take the same number, and one of them, or a later
    one, then runs the other's code.
    """

    def save(self, key: Any, data: Any) -> None:
        digest = hashlib.sha256(repr((self._source_stamp, key)).encode()).hexdigest()[:16]
        name = f"{self._index_name.removesuffix('.nbi')}.{digest}.nbc"
        self._save_data(name, data)
        index = self._load_index()
        index[key] = name
        self._save_index(index)


class _Cache(FunctionCache):
    """Numba's cache of one function, stamped with all that the function compiles, not with its file alone."""

    _stamped = False

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._cache_file._source_stamp
        self._cache_file = _CacheFile(self.cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._stamped:  # not earlier: while decorating, the names that the function uses may not exist
            stamp = self._cache_file._source_stamp
            self._cache_file._source_stamp = (stamp, fingerprint(self._py_func), sorted(OPTIONS.items()))
            self._stamped = True
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # noqa: BLE001 - damaged bytes unpickle to any error; none is lost, as compiling follows
            for path in self._files():
                with contextlib.suppress(OSError):
                    path.unlink()
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            super().save_overload(sig, data)
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
            alike = re.sub(r"build_[0-9a-f]+", "build", str(key))
            builds[alike] = builds.get(alike, 0) + 1
            if builds[alike] <= _BUILDS_KEPT:
                kept[key] = index[key]
        if len(kept) < len(index):
            self._cache_file._save_index(kept)
        for path in self._files():
            if path.suffix == ".nbc" and path.name not in kept.values():
                path.unlink(missing_ok=True)
