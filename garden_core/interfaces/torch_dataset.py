"""A dataset of games for PyTorch's DataLoader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch.utils.data import IterableDataset, get_worker_info

from garden_core.checks import as_integer
from garden_core.recorded.dataset import Dataset
from garden_core.recorded.decisions import Decisions, Following


class TorchDataset(IterableDataset):
    """The decisions of games in batches: `DataLoader(TorchDataset(dataset), batch_size=None, num_workers=2)`.

    A batch is a dict of tensors with the names, shapes and dtypes of `garden_core.recorded.decisions.Decisions` and, with
    `following`, of `garden_core.recorded.decisions.Following`. Each iteration yields every decision once. The DataLoader's workers
    split the games; each makes its own batches, the last of which can be smaller. The order depends only on `generator`, in
    workers on the DataLoader's seed (`DataLoader(generator=…)`), by default on torch's generator (`torch.manual_seed`).

    Args:
        dataset: the games.
        batch_size: decisions in a batch, at least 1.
        games: the games to use, as for `Dataset.expand`.
        shuffle: take the games in random order and shuffle the decisions of successive games within a buffer of `mixed`
            decisions; otherwise keep the order.
        mixed: size of the buffer in decisions, at least 1; a longer game is taken whole.
        generator: determines the order without workers, because a DataLoader without workers does not pass on its own.
        following: add what the seat sees at its next decision, as `Dataset.following` returns it.

    Raises:
        IndexError: as `Dataset.expand`.
        ValueError: for a `batch_size` or `mixed` below 1.

    Example:
        >>> from torch.utils.data import DataLoader
        >>> from garden_core import Dataset
        >>> from garden_core.interfaces import TorchDataset
        >>> dataset = Dataset.load("games.safetensors")  # written by `garden record`
        >>> loader = DataLoader(TorchDataset(dataset, batch_size=64), batch_size=None)
        >>> next(iter(loader))["observation"].shape
        torch.Size([64, 113])
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int = 256,
        games: Any = None,
        shuffle: bool = True,
        mixed: int = 16_384,
        generator: torch.Generator | None = None,
        following: bool = False,
    ) -> None:
        as_integer(batch_size, "batch_size", "at least 1", 1)
        as_integer(mixed, "mixed", "at least 1", 1)
        self.dataset, self.batch_size, self.shuffle, self.mixed = dataset, batch_size, shuffle, mixed
        self.games, self.following = dataset.numbers(games), following
        self.generator = generator
        self._epochs: Counter[int] = Counter()  # number of epochs by seed, in a persistent worker

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the generator: workers have seeds."""
        return {**self.__dict__, "generator": None}

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        """Iterate over the batches of one epoch, or of a worker's part of it."""
        worker = get_worker_info()
        if worker is None:
            part, parts, epoch = 0, 1, 0
            seed = int(torch.empty((), dtype=torch.int64).random_(generator=self.generator))
        else:
            part, parts, seed = worker.id, worker.num_workers, worker.seed - worker.id
            epoch = self._epochs[seed]
            self._epochs[seed] += 1
        rng = np.random.default_rng([seed, epoch])
        games = rng.permutation(self.games) if self.shuffle else self.games
        rest: list[np.ndarray] = []  # the last chunk's remaining decisions, less than a batch
        for chunk in self.dataset.chunks(games[part::parts], self.mixed):
            n = len(chunk.action)
            arrays = [*chunk, *(self.dataset.following(chunk) if self.following else ())]
            order = rng.permutation(n) if self.shuffle else np.arange(n)
            for start in range(-len(rest[0]) if rest else 0, n, self.batch_size):
                end = start + self.batch_size
                batch = [array[order[max(start, 0) : end]] for array in arrays]
                if rest:
                    batch = [np.concatenate(pair) for pair in zip(rest, batch, strict=True)]
                rest = batch if end > n else []
                if not rest:
                    yield _tensors(batch)
        if rest:
            yield _tensors(rest)


def _tensors(arrays: list[np.ndarray]) -> dict[str, torch.Tensor]:
    names = (*Decisions._fields, *Following._fields)
    return dict(zip(names, map(torch.from_numpy, arrays), strict=False))
