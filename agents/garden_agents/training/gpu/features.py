"""Network inputs on a GPU. Features take one thread per observation: per cell of a board, or of games without one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from garden_agents.games import Board, Features
from garden_agents.networks.board_features import COUNT_SCALE, fill_one, scale
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network
from garden_core.batch.gpu.kernels import cuda, kernel
from garden_core.batch.gpu.target import THREADS, launch, put, striped
from garden_core.jit import compiled


@compiled
def nothing(observation, scratch, out):
    """Fill nothing, for games that add no features to a board's."""


@functools.cache
def _board_kernel(own: Any) -> Any:
    """Return the kernel that fills the features of a board's cells; `own` fills the game's own."""

    @kernel
    def fill(observation, neighbours, planes, colours, scratch, out):
        thread = cuda.grid(1)
        if thread < scratch.shape[0]:
            for i in range(thread, observation.shape[0], scratch.shape[0]):
                fill_one(observation[i], neighbours, planes, colours, scratch[thread], out[i])
                own(observation[i : i + 1], scratch[thread], out[i : i + 1])
                scale(out[i : i + 1], planes)

    return fill


@functools.cache
def _flat_kernel(own: Any) -> Any:
    """Return the kernel that fills the features of a game without a board."""

    @kernel
    def fill(observation, params, out):
        i = cuda.grid(1)
        if i < observation.shape[0]:
            own(observation[i : i + 1], params, out[i : i + 1])

    return fill


class GpuFeatures:
    """Fills features of cells in arrays on the GPU.

    Args:
        board: the game's board.
    """

    def __init__(self, board: Board) -> None:
        self.board, self._fill = board, _board_kernel(board.fill_features or nothing)
        self._neighbours = put(board.neighbours)
        self._scratch: Any = None

    def __call__(self, observation: Any, out: Any) -> None:
        """Fill `out`, float32 (N, cells, F), from observations int8 (N, observation size): see `cell_features`."""
        n = min(observation.shape[0], THREADS)
        if self._scratch is None or self._scratch.shape[0] < n:
            self._scratch = striped((n, self.board.work_rows, len(self.board.neighbours)), np.int16)
        given = self._neighbours, self.board.planes, self.board.colours, self._scratch
        launch(self._fill, self._scratch.shape[0], put(observation), *given, put(out))


class GpuFlatFeatures:
    """Fills features of games without a board in arrays on the GPU.

    Args:
        features: the features.
    """

    def __init__(self, features: Features) -> None:
        self._fill, self._params = _flat_kernel(features.fill), put(features.params)

    def __call__(self, observation: Any, out: Any) -> None:
        """Fill `out`, float32 (N, num), from observations int8 (N, observation size)."""
        launch(self._fill, observation.shape[0], put(observation), self._params, put(out))


def reader(network: Network) -> Callable[[torch.Tensor], tuple[torch.Tensor, ...]]:
    """Return a function that returns `Network.inputs` of observations, int8 (N, observation size), on the GPU."""

    def features(observation: torch.Tensor, fill: Any, *shape: int) -> torch.Tensor:
        out = torch.empty((len(observation), *shape), device=observation.device)
        fill(observation, out)
        return out

    if isinstance(network, BoardNetwork):
        fill, shape = GpuFeatures(network.board), (network.cells, network.features)
        split = network.split
        return lambda seen: (features(seen, fill, *shape), seen[:, split:] * COUNT_SCALE)
    assert isinstance(network, FlatNetwork)
    if network.features is None:
        return lambda seen: (seen.float(),)
    flat, num = GpuFlatFeatures(network.features), network.features.num
    return lambda seen: (features(seen, flat, num),)
