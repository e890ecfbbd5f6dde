"""Networks by torch's own operations, on any device: what they read, their passes, what their outputs mean."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import torch

from garden_agents.networks.board_features import SCALE
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network

ILLEGAL = -1e8  # logit of an illegal action


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
        if not observation.is_cuda:
            return tuple(torch.from_numpy(array) for array in network.inputs(observation.numpy()))
        if isinstance(network, BoardNetwork):
            shape = len(observation), network.cells, network.features
            return self._filled(shape, observation), observation[:, network.split :] * SCALE
        assert isinstance(network, FlatNetwork)
        if network.features is None:
            return (observation.float(),)
        return (self._filled((len(observation), network.features.num), observation),)

    def _filled(self, shape: tuple[int, ...], observation: torch.Tensor) -> torch.Tensor:
        """Return features, float32, of observations on a GPU."""
        from garden_agents.networks import gpu_features  # loads numba.cuda

        if self._on_gpu is None:
            self._on_gpu = gpu_features.for_network(self.network)
        out = torch.empty(shape, device=observation.device)
        self._on_gpu(observation, out)
        return out


def forward(
    network: Network, parameters: torch.Tensor, inputs: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits and raw values by torch's own operations, on any device and in any precision.

    Args:
        network: the architecture.
        parameters: all weights, as `Network.parameters`.
        inputs: what `TensorInputs` returns.
    """
    shapes = network.shapes
    parts = parameters.split([math.prod(shape) for shape in shapes.values()])
    weights = {name: part.view(shapes[name]) for name, part in zip(shapes, parts, strict=True)}

    def dense(name: str, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    if not isinstance(network, BoardNetwork):
        assert isinstance(network, FlatNetwork)
        read = [
            torch.relu(dense(second, torch.relu(dense(first, inputs[0])))) for first, second in network.trunks
        ]
        return dense("logits", read[0]), dense("values", read[-1])
    features, scalars = inputs
    first = torch.relu(dense("first", features) + dense("from_scalars", scalars)[:, None])
    marked = features.index_select(2, _indexes(network.board.marks, features.device)).transpose(1, 2)
    at_marks = (marked @ first).flatten(1), (marked @ features).flatten(1)
    summary = torch.cat([first.mean(1), first.amax(1), *at_marks, scalars], 1)
    whole = torch.relu(dense("whole", summary))
    second = torch.relu(dense("second", first) + dense("from_whole", whole)[:, None])
    middle = torch.relu(dense("middle", torch.cat([second.mean(1), whole], 1)))
    on_cells = dense("cell_logits", second).transpose(1, 2).flatten(1)
    return torch.cat([on_cells, dense("other_logits", whole)], 1), dense("values", middle)


@functools.cache
def _indexes(numbers: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Return whole numbers on a device, copied there once."""
    return torch.tensor(numbers, dtype=torch.int64, device=device)


def chances_and_margins(raw: torch.Tensor) -> torch.Tensor:
    """`heads.chances_and_margins` for tensors."""
    n = raw.shape[1] // 2
    return torch.cat([raw[:, :n].softmax(1), raw[:, n:] - raw[:, n:].mean(1, keepdim=True)], 1)


def expected_values(raw: torch.Tensor, value_target: str) -> torch.Tensor:
    """`heads.expected_values` for tensors, but always in two dimensions, (N, seats or 1)."""
    if value_target == "seats":
        n = raw.shape[1] // 2
        return (n * raw[:, :n].softmax(1) - 1) / (n - 1)
    if value_target == "score":
        raw = raw / (1 + raw.abs())
    return raw.clamp(-1, 1)
