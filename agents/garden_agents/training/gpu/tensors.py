"""Network inputs as tensors, on a GPU or, for tests, on the CPU."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import torch

from garden_agents.networks.board_features import COUNT_SCALE
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network
from garden_agents.networks.tensors import inputs


def as_tensor(array: Any) -> torch.Tensor:
    """Return an array of a batch as a tensor that shares its memory."""
    if isinstance(array, np.ndarray):
        return torch.from_numpy(array)
    return torch.as_tensor(array, device="cuda")


class TensorInputs:
    """The inputs of a network's first layers as tensors: `Network.inputs` on any device."""

    def __init__(self, network: Network) -> None:
        self.network = network

    def __call__(self, observation: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return float32 tensors (N, ...), for observations int8 (N, observation size)."""
        network = self.network
        if not observation.is_cuda:
            return inputs(network, observation)
        if isinstance(network, BoardNetwork):
            features = self._features(observation, network.cells, network.features)
            return features, observation[:, network.split :] * COUNT_SCALE
        assert isinstance(network, FlatNetwork)
        if network.features is None:
            return (observation.float(),)
        return (self._features(observation, network.features.num),)

    def _features(self, observation: torch.Tensor, *shape: int) -> torch.Tensor:
        """Return features, float32 (N, *shape), of observations on a GPU."""
        out = torch.empty((len(observation), *shape), device=observation.device)
        self._fill(observation, out)
        return out

    @functools.cached_property
    def _fill(self) -> Any:
        from garden_agents.training.gpu import features  # loads numba.cuda

        network: Any = self.network
        if isinstance(network, BoardNetwork):
            return features.GpuFeatures(network.board)
        return features.GpuFlatFeatures(network.features)
