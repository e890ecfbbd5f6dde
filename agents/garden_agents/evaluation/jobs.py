"""Jobs shared among processes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

from garden_agents.programs import end_all
from garden_core.checks import as_seed

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Number of cores that this process may use."""

PATIENCE = 3.0
"""Seconds that processes have to end before they are killed."""

J = TypeVar("J")
R = TypeVar("R")


def check(games: int, processes: int, names: Sequence[str] = (), seed: int = 0) -> None:
    """Raise ValueError for numbers out of range, or a name that is there twice."""
    if len(set(names)) < len(names):
        raise ValueError(f"an agent is named twice: {' '.join(names)}")
    for what, number in (("games", games), ("processes", processes)):
        if number < 1:
            raise ValueError(f"{what} must be at least 1, not {number}")
    as_seed(seed)


def blocks(games: int, size: int, multiple: int) -> list[tuple[int, int]]:
    """Return number and games of each block of `size` games; `games` and `size` are rounded up to a multiple."""
    games, size = (-(-number // multiple) * multiple for number in (games, size))
    return [(start // size, min(size, games - start)) for start in range(0, games, size)]


def finished(
    play: Callable[[J], R], jobs: Sequence[J], processes: int, describe: Callable[[J], str]
) -> Generator[tuple[J, R], None, None]:
    """Yield each job with the result of `play` when it is finished. Closing the generator stops the processes.

    With `processes` > 1 these are spawned, so a script that calls this needs `if __name__ == "__main__":`, and `play` is
    pickled.

    Args:
        play: plays a job.
        jobs: the jobs.
        processes: number of processes; 1 for this one alone.
        describe: returns the name of a job, for the message when its process died.

    Raises:
        RuntimeError: if a process dies. Exceptions of `play` are passed on.
    """
    if processes == 1:
        for job in jobs:
            yield job, play(job)
        return
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    waiting = iter(jobs)
    running: dict[Future[R], J] = {}
    with ProcessPoolExecutor(processes, spawn, _begin) as executor:
        try:
            while True:
                for job in itertools.islice(waiting, processes - len(running)):
                    running[executor.submit(play, job)] = job
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    yield running.pop(future), result
        except BrokenProcessPool as error:
            names = sorted(set(map(describe, running.values())))
            raise RuntimeError(
                f"a process died (killed, or out of memory?) while playing {' or '.join(names)}"
            ) from error
        finally:
            if running:
                children = set(multiprocessing.active_children()) - others
                for child in children:
                    child.terminate()
                for child in children:  # which may be in the middle of a long search
                    child.join(PATIENCE)
                    child.kill()


def _begin() -> None:
    """Leave Ctrl-C to the parent process, and end with it, or when it says so.

    Ctrl-C reaches the parent alone where a script sends it, and all processes from a terminal.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: _leave())
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave() -> None:
    """End this process at once, and the programs that it has started."""
    end_all()
    os._exit(1)
