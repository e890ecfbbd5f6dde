"""The one decorator for compiled code, its cache on disk, and the fingerprint of what a function compiles."""

from __future__ import annotations

import contextlib
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
from numba.core.caching import FunctionCache
from numba.core.dispatcher import Dispatcher

__all__ = ["JIT", "compiled", "fingerprint", "records"]

JIT: bool = not numba.config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`: everything then runs as plain Python."""

F = TypeVar("F", bound=Callable[..., Any])
_BUILDS_KEPT = 2  # compilations of one function for the same record type that differ in the build alone
_COMPILATIONS_KEPT = 24  # compilations of one function in all, the most recently used


def compiled(function: F) -> F:
    """Compile `function` with Numba, keeping the machine code in the user's cache folder.

    The folder is `NUMBA_CACHE_DIR` where that is set, else one of the user's cache folders. Under
    `NUMBA_DISABLE_JIT=1` the function stays plain Python (unsigned integers wrap silently there too).
    """
    if not JIT:
        return np.errstate(over="ignore")(function)
    dispatcher = numba.njit(no_cfunc_wrapper=True, no_cpython_wrapper=function.__name__.startswith("_"))(function)
    folder = _cache_folder()
    if folder is not None:
        before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
        try:  # Numba picks the folder while the cache is made, so other packages' folders stay theirs
            dispatcher._cache = _Cache(function)
        finally:
            numba.config.CACHE_DIR = before
    return dispatcher


def records(shape: int, dtype: np.dtype) -> np.ndarray:
    """Zeroed records, shape (shape,), whose rows kernels can take in both modes (recarray without Numba)."""
    array = np.zeros(shape, dtype)
    return array if JIT else array.view(np.recarray)


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Hex digest of everything that `functions` compile: their code, what they call, the constants they read.

    Follows global names and closures into functions, modules, arrays, numbers, tuples and enums, wherever
    they are defined; NumPy and Numba themselves are left out (Numba's cache knows its own version).
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
            package = (value.__module__ or "").partition(".")[0]
            if id(value) in seen or package in ("numpy", "numba"):
                continue
            seen.add(id(value))
            names: list[str] = []
            codes = [value.__code__]
            for code in codes:
                codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
                names += code.co_names
                constants = [c for c in code.co_consts if not isinstance(c, types.CodeType)]
                yield repr((code.co_name, code.co_code, constants, code.co_names)).encode()
            for name in names:
                held = value.__globals__.get(name)
                if isinstance(held, types.ModuleType):
                    pending += [getattr(held, attribute, None) for attribute in names]
                else:
                    pending.append(held)
            pending += [cell.cell_contents for cell in value.__closure__ or ()]
        elif isinstance(value, np.ndarray):
            yield repr((value.dtype, value.shape)).encode() + value.tobytes()
        elif isinstance(value, tuple):
            pending += value
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            yield repr(list(value)).encode()
        elif isinstance(value, bool | int | float | complex | str | bytes | np.generic | np.dtype | enum.Enum):
            yield repr(value).encode()


@functools.cache
def _cache_folder() -> str | None:
    folder = numba.config.CACHE_DIR or str(platformdirs.user_cache_path("garden-envs") / "numba")
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


class _Cache(FunctionCache):
    """Numba's cache of one function, stamped with all that the function compiles, not with its file alone."""

    _stamped = False

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        if not self._stamped:  # not earlier: while decorating, the names that the function uses may not exist
            self._cache_file._source_stamp = (self._cache_file._source_stamp, fingerprint(self._py_func))
            self._stamped = True
        try:
            return super().load_overload(sig, target_context)
        except Exception:  # a damaged file: Numba raises whatever unpickling it happens to raise
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
                path.unlink()
