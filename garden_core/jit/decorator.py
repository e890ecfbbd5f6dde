"""The decorators for compiled code, and its cache folder."""

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
"""Numba's options for all compiled functions; `nogil` releases the interpreter's lock."""


def compiled(function: F) -> F:
    """Compile `function` with Numba and cache the machine code on disk.

    The cache folder is `NUMBA_CACHE_DIR` if set, else `garden-envs/numba` in the user's cache folder. Under
    `NUMBA_DISABLE_JIT=1` the function stays plain Python, in which unsigned integers wrap silently too.
    If its name begins with _, only compiled code can call it, which compiles faster: a call from Python raises TypeError
    (unless `numba_private` lacks what it needs).

    Example:
        >>> from garden_core import compiled
        >>> @compiled
        ... def double(x):
        ...     return 2 * x
        >>> double(21)
        42
    """
    if not JIT:
        return np.errstate(over="ignore")(function)
    dispatcher = compile_later(function, OPTIONS, inline=function in inlined_functions)
    folder = cache_folder()
    if folder is not None:
        keep(dispatcher, folder)
    return dispatcher


def inlined(function: F) -> F:
    """Compile `function` as `compiled` does, and inline it into compiled callers.

    Use it for functions of many arrays that are called once per game: passing the arrays takes over a tenth of a step's time.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import compiled, inlined
        >>> @inlined
        ... def gain(scores, player, amount):
        ...     scores[player] += amount
        >>> @compiled
        ... def play(scores):
        ...     for player in range(len(scores)):
        ...         gain(scores, player, 2 * player)
        >>> scores = np.zeros(3, np.int64)
        >>> play(scores)
        >>> scores.tolist()
        [0, 2, 4]
    """
    inlined_functions.add(function)
    return compiled(function)


@functools.cache
def cache_folder() -> str | None:
    """Return the folder for compiled code; None, after a warning, if it cannot be written.

    Example:
        >>> from pathlib import Path
        >>> from garden_core.jit import cache_folder
        >>> Path(cache_folder()).is_dir()
        True
    """
    folder = numba.config.CACHE_DIR or str(platformdirs.user_cache_path("garden-envs") / "numba")
    if numba.config.BOUNDSCHECK:  # not in Numba's key: it would load unchecked code
        folder = os.path.join(folder, "boundscheck")
    try:
        os.makedirs(folder, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        warnings.warn(
            f"compiled code cannot be kept in {folder} ({error}); every process will compile it again. "
            "Set NUMBA_CACHE_DIR to a folder that can be written.",
            stacklevel=3,
        )
        return None
    return folder
