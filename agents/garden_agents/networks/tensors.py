"""Networks in torch's operations, on any device: inputs, forward pass, and the meaning of the outputs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from garden_agents.networks.board_features import COUNT_SCALE
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network

ILLEGAL = -1e8  # logit of an illegal action


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
            return tuple(torch.from_numpy(array) for array in network.inputs(observation.numpy()))
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
        from garden_agents.networks import gpu_features  # loads numba.cuda

        network: Any = self.network
        if isinstance(network, BoardNetwork):
            return gpu_features.GpuFeatures(network.board)
        return gpu_features.GpuFlatFeatures(network.features)


def forward(
    network: Network, parameters: torch.Tensor, inputs: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits and raw values by torch's operations, on any device and in any precision.

    Args:
        network: the architecture.
        parameters: all weights, like `Network.parameters`.
        inputs: the result of `TensorInputs`.
    """
    shapes = network.shapes
    parts = parameters.split([math.prod(shape) for shape in shapes.values()])
    weights = {name: part.view(shapes[name]) for name, part in zip(shapes, parts, strict=True)}

    def dense(name: str, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))

    if isinstance(network, FlatNetwork):
        hidden = [dense(second, dense(first, inputs[0]).relu()).relu() for first, second in network.trunks]
        return dense("logits", hidden[0]), dense("values", hidden[-1])
    assert isinstance(network, BoardNetwork)
    return _board_forward(network, dense, *inputs)


def _board_forward(
    network: BoardNetwork,
    dense: Callable[[str, torch.Tensor], torch.Tensor],
    features: torch.Tensor,
    scalars: torch.Tensor,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits and raw values of a board network; `dense` applies a layer."""
    columns, scalar_columns, plain, marks = (
        _indexes(part.tobytes(), part.shape, features.device)
        for part in (network.columns, network.scalar_columns, network.plain, network.marks)
    )
    on_cells = features[:, :, columns].transpose(2, 3)  # (n, C, K, f)
    owned = scalars[:, scalar_columns].transpose(1, 2)  # (n, K, s)
    spread = owned[:, None].expand(-1, on_cells.shape[1], -1, -1)
    colours = dense("colour", torch.cat([on_cells, spread], 3)).relu()
    highest = colours.amax(2) if network.board.colours else colours.sum(2)
    x = torch.cat([features[:, :, plain], colours.sum(2), highest], 2)
    cells = (dense("first", x) + dense("from_scalars", scalars)[:, None]).relu()
    marked = features[:, :, marks].transpose(1, 2)
    at_marks = (marked @ cells).flatten(1), (marked @ features).flatten(1)
    summary = torch.cat([cells.mean(1), cells.amax(1), *at_marks, scalars], 1)
    whole = dense("whole", summary).relu()
    hidden = (dense("cell_hidden", cells) + dense("cell_shift", whole)[:, None]).relu()
    cell_logits = dense("cell_logits", hidden)
    if network.board.targets is not None:
        cell_logits = cell_logits * (features[:, :, network.board.targets, None] != 0)
    logits = [cell_logits.transpose(1, 2).flatten(1), dense("other_logits", whole)]
    if network.board.colour_actions:
        here = torch.einsum("nc,nckf->nkf", marked[:, -1], on_cells)
        hidden = dense("colour_hidden", torch.cat([here, owned], 2)) + dense("colour_shift", whole)[:, None]
        logits.append(dense("colour_logits", hidden.relu())[:, :, 0])
    return torch.cat(logits, 1), dense("values", dense("middle", whole).relu())


@functools.cache
def _indexes(numbers: bytes, shape: tuple[int, ...], device: torch.device) -> torch.Tensor:
    """Return int64 indexes on a device, copied there once."""
    return torch.from_numpy(np.frombuffer(numbers, np.int64).reshape(shape).copy()).to(device)


def chances_and_margins(raw: torch.Tensor) -> torch.Tensor:
    """`heads.chances_and_margins` for tensors."""
    n = raw.shape[1] // 2
    return torch.cat([raw[:, :n].softmax(1), raw[:, n:] - raw[:, n:].mean(1, keepdim=True)], 1)
