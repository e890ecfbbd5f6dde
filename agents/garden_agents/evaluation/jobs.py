"""Jobs shared among processes."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

__all__ = ["CORES", "finished"]

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Number of cores that this process may use."""

J = TypeVar("J")
R = TypeVar("R")


def finished(
    play: Callable[[J], R], jobs: Sequence[J], processes: int, describe: Callable[[J], str]
) -> Generator[tuple[J, R], None, None]:
    """Yield each job with what `play` returns of it, when it is finished. Closing the generator stops the processes.

    With `processes` > 1 these are spawned, so a script that calls this needs `if __name__ == "__main__":`, and `play` is
    pickled.

    Args:
        play: plays a job.
        jobs: the jobs.
        processes: number of processes; 1 for this one alone.
        describe: what the message calls the job in which a process died.

    Raises:
        RuntimeError: if a process dies. What `play` raises is passed on.
    """
    if processes == 1:
        for job in jobs:
            yield job, play(job)
        return
    others = set(multiprocessing.active_children())
    spawn = multiprocessing.get_context("spawn")
    waiting = iter(jobs)
    running: dict[Future[R], J] = {}
    # The processes ignore Ctrl-C: this process ends them, also where it alone gets the signal.
    with ProcessPoolExecutor(processes, spawn, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as executor:
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
                for child in set(multiprocessing.active_children()) - others:
                    child.terminate()
