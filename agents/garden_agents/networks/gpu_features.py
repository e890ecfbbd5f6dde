"""Features on a GPU, an observation a thread: those of each cell of a board, or those that a game has without one."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from garden_agents.games import Board, Features
from garden_agents.networks.board_features import fill_one, scale
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network
from garden_core.batch.gpu import THREADS, launch, put, striped
from garden_core.batch.gpu_kernels import cuda, kernel
from garden_core.jit import compiled


@compiled
def nothing(observation, scratch, out):
    """Fill no features of a game's own."""


@functools.cache
def filler(fill_own: Callable[..., None] | None) -> Any:
    """Return a kernel that fills the features of many observations; `fill_own` fills the game's own."""
    own = nothing if fill_own is None else fill_own

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
def flat_filler(fill_own: Callable[..., None]) -> Any:
    """Return a kernel that fills the features of many observations without a board."""

    @kernel
    def fill(observation, params, out):
        i = cuda.grid(1)
        if i < observation.shape[0]:
            fill_own(observation[i : i + 1], params, out[i : i + 1])

    return fill


class GpuFeatures:
    """Fills features of cells in arrays of the GPU.

    Args:
        board: the game's board.
    """

    def __init__(self, board: Board) -> None:
        self.board = board
        self._neighbours = put(board.neighbours)
        self._scratch: Any = None

    def __call__(self, observation: Any, out: Any) -> None:
        """Fill `out`, float32 (N, cells, F), from observations int8 (N, observation size): see `cell_features`."""
        n = min(observation.shape[0], THREADS)
        if self._scratch is None or self._scratch.shape[0] < n:
            self._scratch = striped((n, self.board.work_rows, len(self.board.neighbours)), np.int16)
        given = self._neighbours, self.board.planes, self.board.colours, self._scratch
        launch(filler(self.board.fill_features), self._scratch.shape[0], put(observation), *given, put(out))


class GpuFlatFeatures:
    """Fills features without a board in arrays of the GPU.

    Args:
        features: the features.
    """

    def __init__(self, features: Features) -> None:
        self.fill = features.fill
        self._params = put(features.params)

    def __call__(self, observation: Any, out: Any) -> None:
        """Fill `out`, float32 (N, num), from observations int8 (N, observation size)."""
        launch(flat_filler(self.fill), observation.shape[0], put(observation), self._params, put(out))


def for_network(network: Network) -> GpuFeatures | GpuFlatFeatures:
    """Return what fills the features that a network reads."""
    if isinstance(network, BoardNetwork):
        return GpuFeatures(network.board)
    assert isinstance(network, FlatNetwork)
    assert network.features is not None
    return GpuFlatFeatures(network.features)
