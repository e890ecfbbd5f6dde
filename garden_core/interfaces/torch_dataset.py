"""A dataset of games for torch's DataLoader."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from garden_core.checks import as_integer
from garden_core.files.dataset import Dataset, Decisions


class TorchDataset(IterableDataset):
    """The decisions of games in batches: `DataLoader(TorchDataset(dataset), batch_size=None, num_workers=2)`.

    A batch is a dict of tensors, by the names, shapes and types of `garden_core.files.dataset.Decisions`. Each iteration yields
    every decision once. Workers of the DataLoader share the games among them; each makes batches of its own, the last of
    which may be smaller. The order is drawn from `generator`, in workers from the seed that the DataLoader gives them
    (`DataLoader(generator=…)`), by default from torch's own (`torch.manual_seed`), and from nothing else.

    Args:
        dataset: the games.
        batch_size: decisions in a batch, at least 1.
        games: which of the games, as for `Dataset.expand`.
        shuffle: take the games in random order, and mix the decisions of as many as come to `mixed` decisions; otherwise
            games and decisions come in their order.
        mixed: decisions that are in memory at a time, at least 1; a longer game is taken whole.
        generator: draws the order where there are no workers; a DataLoader without workers keeps its own to itself.

    Raises:
        IndexError: as `Dataset.expand`.
        ValueError: for a `batch_size` or `mixed` below 1.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int = 256,
        games: Any = None,
        shuffle: bool = True,
        mixed: int = 16_384,
        generator: torch.Generator | None = None,
    ) -> None:
        as_integer(batch_size, "batch_size", "at least 1", 1)
        as_integer(mixed, "mixed", "at least 1", 1)
        self.dataset, self.batch_size, self.shuffle, self.mixed = dataset, batch_size, shuffle, mixed
        self.games = dataset.numbers(games)
        self.generator = generator
        self._worker_epochs = 0, 0  # the seed of a worker, which keeps it, and how many epochs it has made

    def __getstate__(self) -> dict[str, Any]:
        """Leave the generator out: workers have seeds."""
        return {**self.__dict__, "generator": None}

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        """Yield the batches of one epoch, or of a worker's part of it."""
        worker = get_worker_info()
        if worker is None:
            part, parts, epoch = 0, 1, 0
            seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))
        else:
            part, parts, seed = worker.id, worker.num_workers, worker.seed - worker.id
            before, epoch = self._worker_epochs
            epoch = epoch if before == seed else 0
            self._worker_epochs = seed, epoch + 1
        rng = np.random.default_rng([seed, epoch])
        games = rng.permutation(self.games) if self.shuffle else self.games
        rest: list[np.ndarray] = []  # the decisions, less than a batch, that are left of the last chunk
        for chunk in self.dataset.chunks(games[part::parts], self.mixed):
            n = len(chunk.action)
            order = rng.permutation(n) if self.shuffle else np.arange(n)
            for start in range(-len(rest[0]) if rest else 0, n, self.batch_size):
                end = start + self.batch_size
                batch = [array[order[max(start, 0) : end]] for array in chunk]
                if rest:
                    batch = [np.concatenate(pair) for pair in zip(rest, batch, strict=True)]
                rest = batch if end > n else []
                if not rest:
                    yield _tensors(batch)
        if rest:
            yield _tensors(rest)


def _tensors(arrays: list[np.ndarray]) -> dict[str, torch.Tensor]:
    return dict(zip(Decisions._fields, map(torch.from_numpy, arrays), strict=True))
