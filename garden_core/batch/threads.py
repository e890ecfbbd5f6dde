"""Splitting rows among threads; compiled code releases the interpreter lock, so the threads run in parallel."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue

ROWS_A_PART = 256
"""Minimum number of rows in a part: waking a thread takes about as long as stepping these."""
PARTS_A_THREAD = 4
"""Parts per thread, so that the others take parts of a thread that is slow or wakes late."""


def share(work: Callable[[slice, int], object], count: int, threads: int) -> None:
    """Call `work(part, index)` for parts of `range(count)` of about equal size, on at most `threads` threads.

    Args:
        work: processes the rows of a part; `index` is the thread's number, below `threads`. It must not write to data that
            another part reads.
        count: number of rows.
        threads: maximum number of threads, including the calling one, whose index is 0; fewer if there are not
            ROWS_A_PART rows for each.
    """
    threads = min(threads, count // ROWS_A_PART)
    if threads <= 1:
        work(slice(0, count), 0)
        return
    parts = min(PARTS_A_THREAD * threads, count // ROWS_A_PART)
    left = deque(slice(count * i // parts, count * (i + 1) // parts) for i in range(parts))
    finished: list[BaseException | None] = []  # by the other threads; each then wakes the calling one
    wake: SimpleQueue[None] = SimpleQueue()

    def work_on(index: int, take: Callable[[], slice]) -> None:
        while left:
            try:
                part = take()
            except IndexError:  # another thread was faster
                return
            work(part, index)

    def help_out(index: int) -> None:
        with contextlib.suppress(BaseException):  # the calling thread raises it again
            try:
                work_on(index, left.pop)
            finally:
                error = sys.exception()
                if error is not None:
                    left.clear()
                finished.append(error)
                wake.put(None)

    def wait() -> None:
        while len(finished) < threads - 1:
            wake.get()

    queue = _queue(os.getpid())
    for index in range(1, threads):
        _start_helper(queue, index)
        queue.put(functools.partial(help_out, index))
    try:
        work_on(0, left.popleft)
        wait()
    except BaseException:  # even an interruption must not return while other threads still write
        left.clear()
        wait()
        raise
    for error in finished:
        if error is not None:
            raise error


@functools.cache
def _queue(process: int) -> SimpleQueue[Callable[[], None]]:
    """Return the work queue of a process's helper threads; a forked process has no threads and gets its own queue."""
    return SimpleQueue()


@functools.cache
def _start_helper(queue: SimpleQueue[Callable[[], None]], number: int) -> None:
    """Start helper thread `number` of a queue, if it is not running; it waits for work until the process ends.

    A `ThreadPoolExecutor` hands out work more slowly: with it two threads step 8,192 games of Cacti 1.68 times as fast as
    one, instead of 1.75 times.
    """

    def run() -> None:
        while True:
            queue.get()()

    threading.Thread(target=run, name=f"garden-{number}", daemon=True).start()
