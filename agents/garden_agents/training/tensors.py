"""Arrays of a batch as tensors of torch, and what a network reads as tensors, on the CPU or a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from garden_agents.networks.board_features import SCALE, cell_features
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.network import Network

__all__ = ["TensorInputs", "as_tensor"]


def as_tensor(array: Any) -> torch.Tensor:
    """Return an array of a batch as a tensor that has the same memory."""
    if isinstance(array, np.ndarray):
        return torch.from_numpy(array)
    return torch.as_tensor(array, device="cuda")


class TensorInputs:
    """What the first layers of a network read, as tensors: `Network.inputs` on any device."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self._on_gpu: Any = None

    def __call__(self, observation: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return float32 tensors (N, ...), for observations int8 (N, observation size)."""
        network = self.network
        if not isinstance(network, BoardNetwork):
            return (observation.float(),)
        scalars = observation[:, network.split :] * SCALE
        if not observation.is_cuda:
            return torch.from_numpy(cell_features(network.board, observation.numpy())), scalars
        if self._on_gpu is None:
            from garden_agents.networks.gpu_features import GpuFeatures  # loads numba.cuda

            self._on_gpu = GpuFeatures(network.board)
        cells = torch.empty((len(observation), network.cells, network.features), device=observation.device)
        self._on_gpu(observation, cells)
        return cells, scalars
