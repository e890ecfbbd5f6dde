"""Rows shared among threads. Compiled code releases the interpreter's lock, so they run at the same time."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

from garden_core.checks import as_integer, short

__all__ = ["ROWS_A_THREAD", "as_threads", "share"]

ROWS_A_THREAD = 256
"""A thread gets at least so many rows: to wake one takes about as long as stepping these."""


def as_threads(threads: int) -> int:
    """Return a number of threads as int.

    Raises:
        ValueError: unless it is a whole number of at least 1.
    """
    number = as_integer(threads, "threads", "at least 1")
    if number < 1:
        raise ValueError(f"threads must be at least 1, not {short(threads)}")
    return number


def share(work: Callable[[slice, int], object], count: int, threads: int) -> None:
    """Call `work(part, index)` for parts of `range(count)` of about equal size, on at most `threads` threads.

    Args:
        work: works on the rows of a part; `index` is the part's number, below `threads`. It must not change what
            another part reads.
        count: number of rows.
        threads: largest number of parts, the calling thread's included. Below ROWS_A_THREAD rows for each there are
            fewer.
    """
    parts = max(1, min(threads, count // ROWS_A_THREAD))
    if parts == 1:
        work(slice(0, count), 0)
        return
    bounds = [count * index // parts for index in range(parts + 1)]
    pool = _pool(os.getpid(), threads)
    others = [pool.submit(work, slice(bounds[i], bounds[i + 1]), i) for i in range(1, parts)]
    try:
        work(slice(0, bounds[1]), 0)
        wait(others)
    except BaseException:  # an interruption must not return while others still write
        wait(others)
        raise
    for other in others:
        other.result()


@functools.cache
def _pool(process: int, threads: int) -> ThreadPoolExecutor:
    """Return the threads of a process; a forked one has none of its parent's, so it makes its own."""
    return ThreadPoolExecutor(threads - 1, thread_name_prefix="garden")
