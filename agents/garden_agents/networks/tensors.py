"""Networks in torch's operations, on any device: inputs, forward pass, and the meaning of the outputs."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
import torch

from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network

ILLEGAL = -1e8  # logit of an illegal action


def inputs(network: Network, observation: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return the inputs of a network's first layers, float32 (N, ...), for observations int8 (N, observation size) on the CPU."""
    return tuple(torch.from_numpy(array) for array in network.inputs(observation.numpy()))


def forward(
    network: Network, parameters: torch.Tensor, inputs: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return logits and raw values by torch's operations, on any device and in any precision.

    Args:
        network: the architecture.
        parameters: all weights, like `Network.parameters`.
        inputs: see `inputs`.
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
