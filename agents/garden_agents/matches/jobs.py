"""Jobs of games: shared settings, seeds, and processes that run the jobs."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import tyro

from garden_agents.programs import end_all
from garden_core.checks import as_seed, short

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
"""Number of cores that this process may use."""

PATIENCE = 3.0
"""Seconds before processes that do not end are killed."""

J = TypeVar("J")
R = TypeVar("R")


@dataclass
class GameArguments:
    """A game, and how agents play it."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    _: KW_ONLY
    num_players: int | None = None
    """number of players; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game as names and values, for example --options peaks 2"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    processes: int = CORES
    """number of processes, which does not change the games; one per core if not given"""
    allow_other_options: bool = False
    """accept networks that were trained with other options or data"""


def digest_of(*parts: Any) -> bytes:
    """Return a SHA-256 digest of plain JSON values, from which seeds are taken."""
    return hashlib.sha256(json.dumps(parts).encode()).digest()


def differences(written: Any, wanted: Any, name: str = "") -> list[str]:
    """Return, in words, in what the description of results in a file, plain JSON values, differs from the wanted one."""
    if isinstance(written, dict) and isinstance(wanted, dict):
        inner = []
        for key in [*wanted, *(key for key in written if key not in wanted)]:
            shown = key if key in wanted else short(key)  # which escapes the keys of a stranger
            inner.append((written.get(key), wanted.get(key), f"{name}.{shown}" if name else shown))
        return [text for each in inner for text in differences(*each)]
    return [] if written == wanted else [f"{name} is {short(written)}, not {short(wanted)}"]


def check(games: int, processes: int, names: Sequence[str] = (), seed: int = 0) -> None:
    """Raise ValueError for numbers out of range, or a repeated name."""
    if len(set(names)) < len(names):
        raise ValueError(f"an agent is named twice: {' '.join(names)}")
    for what, number in (("games", games), ("processes", processes)):
        if number < 1:
            raise ValueError(f"{what} must be at least 1, not {number}")
    as_seed(seed)


def blocks(games: int, size: int, multiple: int) -> list[tuple[int, int]]:
    """Return number and size of each block of games; `games` and `size` are rounded up to a multiple of `multiple`."""
    games, size = (-(-number // multiple) * multiple for number in (games, size))
    return [(start // size, min(size, games - start)) for start in range(0, games, size)]


def finished(
    play: Callable[[J], R], jobs: Sequence[J], processes: int, describe: Callable[[J], str]
) -> Generator[tuple[J, R], None, None]:
    """Yield each job with the result of `play` when it is finished. Closing the generator stops the processes.

    Processes are spawned if `processes` > 1, so a script that calls this needs `if __name__ == "__main__":`, and `play` is
    pickled.

    Args:
        play: plays a job.
        jobs: the jobs.
        processes: number of processes; with 1 the jobs run in this process.
        describe: returns the name of a job, for the message when its process died.

    Raises:
        RuntimeError: if a process dies. Exceptions of `play` propagate.
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
                f"a process died ({_likely_cause()}) while playing {' or '.join(names)}"
            ) from error
        finally:
            if running:
                children = set(multiprocessing.active_children()) - others
                for child in children:
                    child.terminate()
                for child in children:  # which may be in a long search
                    child.join(PATIENCE)
                    child.kill()


def _likely_cause() -> str:
    """Return why a process probably died."""
    path = getattr(sys.modules["__main__"], "__file__", None)
    with contextlib.suppress(OSError, UnicodeError):
        if path and "__name__" not in Path(path).read_text("utf-8"):
            return f'each process runs {path} again, which starts further ones: put what it does under `if __name__ == "__main__":`'
    return "killed, or out of memory?"


def _begin() -> None:
    """Ignore Ctrl-C, which a terminal sends to all processes and a script only to the parent; end with the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _leave)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        _leave()


def _leave(*_: object) -> None:
    """End this process at once, and the programs that it started."""
    end_all()
    os._exit(1)
