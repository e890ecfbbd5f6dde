"""Networks' forward passes for one position, entirely in compiled code.

The weights are one float32 vector: the parts of `Network.parameters` in the same order, with each weight matrix transposed. A
forward pass is compiled for a network's game and architecture; `forward_of` returns it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from garden_agents.networks.board_features import COUNT_SCALE, fill_rows, num_cell_features, scale
from garden_agents.networks.board_network import (
    BoardNetwork,
    first_layer,
    read_cells,
    read_colours,
    read_marks,
)
from garden_agents.networks.colour_layer import COLOUR_CHANNELS, colour_layer
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.network import Network
from garden_agents.wasm.c_functions import part_of
from garden_core.jit import compiled
from garden_core.jit.decorator import OPTIONS
from garden_core.jit.numba_private import compile_later

Forward = Callable[..., None]
"""Arguments: a flat observation, int8 (size,); params, records (1,); the weights; work, float32 (`work_size`,), and narrow_work, int16
(`narrow_work_size`,), both overwritten; logits, float32 (num_actions,), and raw values, float32 (num_values,), both filled."""


@compiled
def dense(weights, at, x, has_bias, relu, out):
    """Fill `out` with a layer, whose weights start at index `at`, applied to `x`; return the index after the layer's weights."""
    inputs, width = x.shape[0], out.shape[0]
    end = at + inputs * width
    for k in range(width):
        out[k] = weights[end + k] if has_bias else np.float32(0)
    for i in range(inputs):
        factor = x[i]
        if factor != 0:
            row = weights[at + i * width : at + (i + 1) * width]
            for k in range(width):
                out[k] += factor * row[k]
    if relu:
        for k in range(width):
            out[k] = max(out[k], np.float32(0))
    return end + width * has_bias


def forward_of(network: Network) -> tuple[Forward, int, int]:
    """Return the forward pass of networks like `network`, compiled, and the lengths of its two work arrays.

    Raises:
        ValueError: for a network of another kind than board or flat.
    """
    if isinstance(network, BoardNetwork):
        return _board(network)
    if isinstance(network, FlatNetwork):
        return _flat(network)
    raise ValueError(f"a {type(network).__name__} cannot be exported")


def _jit(function: Any) -> Any:
    """Compile a function with constants of an architecture; without a cache, as these are not part of its key."""
    return compile_later(function, OPTIONS, inline=False)


def _flat(network: FlatNetwork) -> tuple[Forward, int, int]:
    features, hidden, trunks = network.features, network.hidden, len(network.trunks)
    size = network.layers["first"][1]

    @_jit
    def read(observation, params, x):
        for i in range(size):
            x[i] = observation[i]

    if features is not None:
        fill = features.fill

        @_jit
        def read(observation, params, x):
            fill(part_of(observation, 0, (1, observation.shape[0])), params, part_of(x, 0, (1, size)))

    @_jit
    def forward(observation, params, weights, work, narrow_work, logits, values):
        x, first = work[:size], work[size : size + hidden]
        read(observation, params, x)
        at = 0
        for trunk in range(trunks):
            start = size + hidden * (trunk + 1)
            at = dense(weights, at, x, True, True, first)
            at = dense(weights, at, first, True, True, work[start : start + hidden])
        last = size + hidden * trunks
        at = dense(weights, at, work[size + hidden : size + 2 * hidden], True, False, logits)
        dense(weights, at, work[last : last + hidden], True, False, values)

    return forward, size + hidden * (1 + trunks), 0


def _board(network: BoardNetwork) -> tuple[Forward, int, int]:
    board, c, h, cells = network.board, network.channels, network.hidden, network.cells
    columns, scalar_columns, plain, marks = (
        network.columns,
        network.scalar_columns,
        network.plain,
        network.marks,
    )
    neighbours, planes, colours, split = board.neighbours, board.planes, board.colours, network.split
    fill, work_rows = board.fill_features, board.work_rows
    targets = -1 if board.targets is None else board.targets % num_cell_features(board)
    blocks, colour_actions, colour_mark = board.action_blocks, board.colour_actions, int(marks[-1])
    on_cells, of_colours, read_width = network.on_cells, network.of_colours, network.read
    f, each = network.columns.shape[0], network.columns.shape[0] + network.scalar_columns.shape[0]
    num_features, scalars_size = num_cell_features(board), network.layers["from_scalars"][1]
    x_width, wide = network.layers["first"][1], 2 * c
    sizes = {
        "features": cells * num_features,
        "scalars": scalars_size,
        "shifts": colours * COLOUR_CHANNELS,
        "planes": (colours + 2) * f * cells,
        "sums": 2 * COLOUR_CHANNELS * cells,
        "x": cells * x_width,
        "cells": cells * c,
        "shift": c,
        "summary": read_width + scalars_size,
        "whole": h,
        "middle": h,
        "hidden": wide,
        "added": wide,
        "of_colours": colours * each,
    }
    starts = dict(zip(sizes, np.cumsum([0, *sizes.values()]), strict=False))
    a_features, a_scalars, a_shifts, a_planes, a_sums, a_x, a_cells = (
        int(starts[name]) for name in ("features", "scalars", "shifts", "planes", "sums", "x", "cells")
    )
    a_shift, a_summary, a_whole, a_middle, a_hidden, a_added, a_colours = (
        int(starts[name]) for name in ("shift", "summary", "whole", "middle", "hidden", "added", "of_colours")
    )
    end = int(sum(sizes.values()))
    scale_of_scalars = np.float32(COUNT_SCALE)

    def nothing(observation, scratch, out):
        """Fill nothing: a game without features of its own."""

    fill_own = _jit(nothing) if fill is None else fill

    @_jit
    def score(weights, at, x, whole, hidden, added, out):
        """Fill `out` with the logits of an action that reads `x`; return the index after the weights of the three layers."""
        at = dense(weights, at, x, True, False, hidden)
        at = dense(weights, at, whole, True, False, added)
        for k in range(hidden.shape[0]):
            hidden[k] = max(hidden[k] + added[k], np.float32(0))
        return dense(weights, at, hidden, False, False, out)

    @_jit
    def forward(observation, params, weights, work, narrow_work, logits, values):
        features = part_of(work, a_features, (1, cells, num_features))
        scalars = part_of(work, a_scalars, (1, scalars_size))
        sums = part_of(work, a_sums, (1, 2 * COLOUR_CHANNELS, cells))
        x, board_cells = part_of(work, a_x, (1, cells, x_width)), part_of(work, a_cells, (1, cells, c))
        shift, summary = work[a_shift:a_summary], work[a_summary:a_whole]
        whole, middle = work[a_whole:a_middle], work[a_middle:a_hidden]
        hidden, added = work[a_hidden:a_added], work[a_added:a_colours]
        seen = part_of(observation, 0, (1, observation.shape[0]))
        scratch = part_of(narrow_work, 0, (work_rows, cells))
        fill_rows(seen, neighbours, planes, colours, scratch, features)
        fill_own(seen, scratch, features)
        scale(features, planes)
        for k in range(scalars_size):
            scalars[0, k] = observation[split + k] * scale_of_scalars
        # the colours and the cells
        at = each * COLOUR_CHANNELS
        weight, bias = part_of(weights, 0, (each, COLOUR_CHANNELS)), weights[at : at + COLOUR_CHANNELS]
        shifts = part_of(work, a_shifts, (1, colours, COLOUR_CHANNELS))
        by_colour = part_of(work, a_planes, (1, colours + 2, f, cells))
        colour_layer(features, scalars, columns, scalar_columns, weight, bias, shifts, by_colour, sums)
        read_cells(features, plain, sums, x)
        first, at = at + COLOUR_CHANNELS, 0
        for cell in range(cells):
            at = dense(weights, first, x[0, cell], True, False, board_cells[0, cell])
        at = dense(weights, at, scalars[0], True, False, shift)
        rows = part_of(summary, 0, (1, read_width + scalars_size))
        bits, summary_bits = board_cells.view(np.int32), rows.view(np.int32)
        first_layer(board_cells, part_of(shift, 0, (1, c)), board_cells, rows, bits, summary_bits)
        # the summary
        read_marks(board_cells, features, marks, rows[:, wide:read_width])
        for k in range(scalars_size):
            summary[read_width + k] = scalars[0, k]
        at = dense(weights, at, summary, True, True, whole)
        # the policy head
        logits[:] = 0
        cell_layers = at
        for cell in range(cells):
            if targets < 0 or features[0, cell, targets] != 0:
                score(
                    weights,
                    cell_layers,
                    board_cells[0, cell],
                    whole,
                    hidden,
                    added,
                    logits[cell:on_cells:cells],
                )
        at += (c + 1) * wide + (h + 1) * wide + wide * blocks
        if colour_actions:
            own = part_of(work, a_colours, (colours, each))
            read_colours(features, scalars, columns, scalar_columns, colour_mark, own)
            for colour in range(colours):
                index = of_colours + colour
                score(weights, at, own[colour], whole, hidden, added, logits[index : index + 1])
        at += (each + 1) * wide + (h + 1) * wide + wide
        at = dense(weights, at, whole, True, False, logits[on_cells:of_colours])
        # the value head
        at = dense(weights, at, whole, True, True, middle)
        dense(weights, at, middle, True, False, values)

    return forward, end, work_rows * cells
