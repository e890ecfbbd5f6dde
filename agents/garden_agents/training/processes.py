"""Several processes that train one network: `torchrun --nproc-per-node 2 -m garden_agents train mars --minutes 10`.

Each process plays its own games and computes the gradients of its own minibatches; all take the same steps by the mean of these
gradients (E. Wijmans et al., "DD-PPO", 2020), so their weights stay equal. The first process has the run's folder; it
evaluates and saves.
"""

from __future__ import annotations

import contextlib
import errno
import os
import signal
from collections.abc import Callable, Iterator

import numpy as np
import torch
import torch.distributed

from garden_agents.training.run_folder import Run


class Processes:
    """The processes of one training: those that torchrun started, or this one alone.

    Attributes:
        count: number of processes.
        rank: number of this process; the first one is 0.

    Example:
        >>> Processes().gathered(2.5)
        array([2.5])
    """

    def __init__(self) -> None:
        self.rank, self.count = started()

    def join(self) -> None:
        """Connect to the other processes, once all have come here."""
        if self.count > 1:
            with self._lost():
                torch.distributed.init_process_group("gloo")

    def gathered(self, number: float) -> np.ndarray:
        """Return the number that each process gives, float64 (count,), by rank.

        Raises:
            ConnectionError: if a process ended.
        """
        numbers = torch.zeros(self.count, dtype=torch.float64)
        numbers[self.rank] = number
        self._add_up(numbers)
        return numbers.numpy()

    def average(self, array: np.ndarray) -> np.ndarray:
        """Replace an array, float32, by the mean of all processes' arrays; return it.

        Raises:
            ConnectionError: if a process ended.
        """
        if self.count > 1:
            self._add_up(torch.from_numpy(array))
            array /= self.count
        return array

    def _add_up(self, tensor: torch.Tensor) -> None:
        if self.count > 1:
            with self._lost():
                torch.distributed.all_reduce(tensor)

    @contextlib.contextmanager
    def _lost(self) -> Iterator[None]:
        """Context manager that raises ConnectionError if another process ended."""
        try:
            yield
        except RuntimeError as error:
            lost = "one of them ended, so the training stops"
            raise ConnectionError(errno.ECONNABORTED, lost, f"{self.count} processes") from error


class Follower(Run):
    """The run in a process that is not the first: it writes nothing, and ends when the first process does."""

    shown = False

    def rewind(self, decisions: int, seconds: float) -> None:
        self.seconds_before = seconds

    @contextlib.contextmanager
    def interruptible(self, save: Callable[[], int]) -> Iterator[None]:
        """Context manager of a training; Ctrl-C and errors of the connection are left to the first process.

        Raises:
            SystemExit: when another process ended.
        """
        signal.signal(signal.SIGINT, lambda *_: None)
        try:
            yield
        except ConnectionError:
            raise SystemExit(1) from None

    def is_due(self, done: float) -> bool:
        return False

    def save(self, network: object, optimizer: object, decisions: int, pool: object) -> int:
        return decisions

    def _nothing(self, *_: object, **__: object) -> None:
        """Do nothing."""

    open = close = warm_up = begin = write_config = log = keep = evaluate = finish = _nothing


def started() -> tuple[int, int]:
    """Return the number of this process among those that torchrun started, and how many these are; (0, 1) without torchrun."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


def require_one(what: str) -> None:
    """Raise SystemExit if torchrun started several processes."""
    if started()[1] > 1:
        raise SystemExit(f"{what} trains in one process: start it without torchrun")
