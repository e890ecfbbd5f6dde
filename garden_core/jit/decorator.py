"""The one decorator for compiled code, and the folder where its machine code is kept."""

from __future__ import annotations

import functools
import os
import tempfile
import warnings
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import platformdirs

from garden_core.jit.fingerprints import inlined_functions
from garden_core.jit.numba_private import compile_later, flags, keep
from garden_core.jit.rows import JIT

F = TypeVar("F", bound=Callable[..., Any])
OPTIONS: Any = {"nogil": True, **flags()}
"""Numba's options of all compiled functions; `nogil` releases the interpreter's lock."""


def compiled(function: F) -> F:
    """Compile `function` with Numba, keeping the machine code in the user's cache folder.

    The folder is `NUMBA_CACHE_DIR` where that is set, else one of the user's cache folders. Under
    `NUMBA_DISABLE_JIT=1` the function stays plain Python (unsigned integers wrap silently there too).
    A function whose name begins with _ is for other compiled code only: that compiles faster, and calling it
    from Python raises TypeError (not where `numba_private` is without "linking").
    """
    if not JIT:
        return np.errstate(over="ignore")(function)
    dispatcher = compile_later(function, OPTIONS, inline=function in inlined_functions)
    folder = cache_folder()
    if folder is not None:
        keep(dispatcher, folder)
    return dispatcher


def inlined(function: F) -> F:
    """Compile `function` as `compiled` does, and have compiled callers take its code in.

    It is for functions of many arrays that are called once for each game: to pass the arrays costs more than a tenth of a step.
    """
    inlined_functions.add(function)
    return compiled(function)


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
