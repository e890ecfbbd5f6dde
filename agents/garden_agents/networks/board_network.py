"""The network for games on a board: the same weights for all cells, and a summary of the whole board."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_agents.networks.board_features import SCALE, cell_features, num_cell_features
from garden_agents.networks.network import Multiply, Network, dense, dense_gradient, orthogonal
from garden_core.game import Board
from garden_core.jit import compiled

__all__ = ["BoardNetwork"]


class _Memory(NamedTuple):
    """Activations of n rows with C cells and c channels, float32, or the loss's derivatives by them.

    Attributes:
        first, second: (n, C, c), the cells after each of the two layers.
        shift: (n, c), what is added to all cells of a row.
        summary: (n, width), what the summary layer reads.
        whole: (n, hidden), the summary.
        mean_whole: (n, c + hidden), what the value head reads: the mean of the cells, and the summary.
        middle: (n, hidden), the hidden layer of the value head.
        cell_logits: (n, C, blocks), logits of actions on cells.
    """

    first: np.ndarray
    second: np.ndarray
    shift: np.ndarray
    summary: np.ndarray
    whole: np.ndarray
    mean_whole: np.ndarray
    middle: np.ndarray
    cell_logits: np.ndarray

    def rows(self, n: int) -> _Memory:
        """Return the first n rows."""
        return _Memory(*(part[:n] for part in self))


class BoardNetwork(Network):
    """Two layers applied to every cell with the same weights, and between them a summary of the whole board.

    The first layer reads each cell's features (`cell_features`) and the scalars. The summary layer reads the mean and
    the maximum over the cells, the cells that the board's marked planes point to, and the scalars. The second layer
    reads each cell and the summary. The logit of an action on a cell is read from that cell, other logits from the
    summary, and the values from the summary and the mean over the cells.

    Args:
        board: the game's board.
        size: length of the flat observation.
        num_actions, num_values: see `Network`.
        channels: channels of a cell.
        hidden: width of the summary and of the value head.
    """

    def __init__(
        self, board: Board, size: int, num_actions: int, num_values: int, channels: int, hidden: int
    ) -> None:
        self.board, self.channels, self.hidden = board, channels, hidden
        self.marks = np.array(board.marks, np.int64)
        self.cells, self.features, marks = len(board.neighbours), num_cell_features(board), len(board.marks)
        self.split = board.planes * self.cells
        scalars = size - self.split
        self.on_cells = board.action_blocks * self.cells
        """Number of actions on cells; they come first."""
        self.read = (2 + marks) * channels + marks * self.features
        """Width of the part of the summary that is read from the cells; the scalars follow."""
        layers = {
            "first": (channels, self.features),
            "from_scalars": (channels, scalars),
            "whole": (hidden, self.read + scalars),
            "second": (channels, channels),
            "from_whole": (channels, hidden),
            "cell_logits": (board.action_blocks, channels),
            "other_logits": (num_actions - self.on_cells, hidden),
            "middle": (hidden, channels + hidden),
            "values": (num_values, hidden),
        }
        super().__init__(layers, num_actions, num_values)

    def initialize(self, rng: np.random.Generator) -> None:
        for name, weight in self.weights.items():
            if name.endswith("weight"):
                gain = 0.01 if "logits" in name else 1.0 if name == "values.weight" else math.sqrt(2)
                weight[:] = orthogonal(rng, weight.shape, gain)

    def inputs(self, observation: np.ndarray) -> tuple[np.ndarray, ...]:
        flat = observation.reshape(len(observation), -1)
        return cell_features(self.board, flat), flat[:, self.split :] * np.float32(SCALE)

    def memory(self, rows: int) -> _Memory:
        c, hidden, cells = self.channels, self.hidden, (rows, self.cells)
        width = self.layers["whole"][1]
        shapes: dict[str, tuple[int, ...]] = {
            "first": (*cells, c),
            "second": (*cells, c),
            "shift": (rows, c),
            "summary": (rows, width),
            "whole": (rows, hidden),
            "mean_whole": (rows, c + hidden),
            "middle": (rows, hidden),
            "cell_logits": (*cells, self.board.action_blocks),
        }
        return _Memory(**{name: np.empty(shape, np.float32) for name, shape in shapes.items()})

    scratch = memory

    def forward(
        self,
        memory: _Memory,
        inputs: tuple[np.ndarray, ...],
        logits: np.ndarray,
        values: np.ndarray,
        multiply: Multiply,
    ) -> None:
        features, scalars = inputs
        n, c, w = len(features), self.channels, self.weights
        m = memory.rows(n)
        first, second = m.first.reshape(-1, c), m.second.reshape(-1, c)
        multiply(features.reshape(-1, self.features), w["first.weight"].T, first)
        dense(scalars, w, "from_scalars", m.shift, multiply)
        m.shift[:] += w["first.bias"]
        first_layer(m.first, m.shift, features, self.marks, m.summary)
        m.summary[:, self.read :] = scalars
        whole = dense(m.summary, w, "whole", m.whole, multiply)
        np.maximum(whole, 0, out=whole)
        multiply(first, w["second.weight"].T, second)
        dense(whole, w, "from_whole", m.shift, multiply)
        m.shift[:] += w["second.bias"]
        second_layer(m.second, m.shift, m.mean_whole)
        m.mean_whole[:, c:] = whole
        multiply(second, w["cell_logits.weight"].T, m.cell_logits.reshape(-1, self.board.action_blocks))
        by_block = logits[:, : self.on_cells].reshape(n, self.board.action_blocks, self.cells)
        by_block[:] = m.cell_logits.transpose(0, 2, 1)
        by_block += w["cell_logits.bias"][:, None]
        logits[:, self.on_cells :] = whole @ w["other_logits.weight"].T + w["other_logits.bias"]
        middle = dense(m.mean_whole, w, "middle", m.middle, multiply)
        np.maximum(middle, 0, out=middle)
        dense(middle, w, "values", values, multiply)

    def backward(
        self,
        memory: _Memory,
        scratch: _Memory,
        inputs: tuple[np.ndarray, ...],
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
        multiply: Multiply,
    ) -> None:
        features, scalars = inputs
        n, c, w, blocks = len(features), self.channels, self.weights, self.board.action_blocks
        m, d = memory.rows(n), scratch.rows(n)
        first, second = m.first.reshape(-1, c), m.second.reshape(-1, c)
        d_first, d_second = d.first.reshape(-1, c), d.second.reshape(-1, c)
        # the value head
        dense_gradient(m.middle, d_values, "values", gradient, multiply)
        multiply(d_values, w["values.weight"], d.middle)
        d.middle[m.middle <= 0] = 0
        dense_gradient(m.mean_whole, d.middle, "middle", gradient, multiply)
        multiply(d.middle, w["middle.weight"], d.mean_whole)
        # the policy head
        d_other = np.ascontiguousarray(d_logits[:, self.on_cells :])
        dense_gradient(m.whole, d_other, "other_logits", gradient, multiply)
        by_block = d_logits[:, : self.on_cells].reshape(n, blocks, self.cells)
        d.cell_logits[:] = by_block.transpose(0, 2, 1)
        d_cell_logits = d.cell_logits.reshape(-1, blocks)
        dense_gradient(second, d_cell_logits, "cell_logits", gradient, multiply)
        multiply(d_cell_logits, w["cell_logits.weight"], d_second)
        # the second layer
        second_layer_gradient(d.second, m.second, d.mean_whole, d.shift)
        weight = np.empty_like(w["second.weight"])
        multiply(d_second.T, first, weight)
        gradient["second.weight"] += weight
        gradient["second.bias"] += d.shift.sum(0)
        dense_gradient(m.whole, d.shift, "from_whole", gradient, multiply)
        multiply(d_second, w["second.weight"], d_first)
        # the summary
        multiply(d.shift, w["from_whole.weight"], d.whole)
        d.whole[:] += d_other @ w["other_logits.weight"]
        d.whole[:] += d.mean_whole[:, c:]
        d.whole[m.whole <= 0] = 0
        dense_gradient(m.summary, d.whole, "whole", gradient, multiply)
        multiply(d.whole, w["whole.weight"], d.summary)
        # the first layer
        first_layer_gradient(d.first, m.first, features, self.marks, m.summary, d.summary, d.shift)
        weight = np.empty_like(w["first.weight"])
        multiply(d_first.T, features.reshape(-1, self.features), weight)
        gradient["first.weight"] += weight
        gradient["first.bias"] += d.shift.sum(0)
        dense_gradient(scalars, d.shift, "from_scalars", gradient, multiply)


@compiled
def first_layer(x, shift, features, marks, summary):
    """Add the shift to every cell, cut off what is negative, and write what the summary reads of the cells.

    x: float32 (n, C, c), overwritten. shift: float32 (n, c). features: float32 (n, C, F). marks: int64 (M,), features
    that mark cells. summary: float32 (n, at least (2 + M) * c + M * F): mean of the cells, maximum, for each mark the
    marked cells' channels, for each mark their features.
    """
    n, cells, c = x.shape
    num_features, part = features.shape[2], np.float32(1.0 / cells)
    at_features = (2 + marks.shape[0]) * c
    for i in range(n):
        out = summary[i]
        out[: at_features + marks.shape[0] * num_features] = np.float32(0)
        total, highest = out[:c], out[c : 2 * c]
        for cell in range(cells):
            here = x[i, cell]
            for k in range(c):
                here[k] = max(here[k] + shift[i, k], np.float32(0))
                total[k] += here[k]
                highest[k] = max(highest[k], here[k])
            for j in range(marks.shape[0]):
                mark = features[i, cell, marks[j]]
                if mark != 0:
                    for k in range(c):
                        out[(2 + j) * c + k] += mark * here[k]
                    for k in range(num_features):
                        out[at_features + j * num_features + k] += mark * features[i, cell, k]
        for k in range(c):
            total[k] *= part


@compiled
def first_layer_gradient(d, x, features, marks, summary, d_summary, d_shift):
    """Turn `d`, the loss's derivative by the cells as the second layer reads them, into that by the layer's products.

    d: float32 (n, C, c), overwritten. x, features, marks, summary: as `first_layer` left them. d_summary: derivative by
    the summary, overwritten. d_shift: float32 (n, c), filled. Of equal maxima the first cell has the derivative.
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        d_out = d_summary[i]
        missing = d_out[c : 2 * c]  # of the maxima whose cell is not yet found
        for k in range(c):
            d_shift[i, k] = 0
        for cell in range(cells):
            here, d_here = x[i, cell], d[i, cell]
            for j in range(marks.shape[0]):
                mark = features[i, cell, marks[j]]
                if mark != 0:
                    for k in range(c):
                        d_here[k] += mark * d_out[(2 + j) * c + k]
            for k in range(c):
                found = missing[k] if here[k] == summary[i, c + k] else np.float32(0)
                missing[k] -= found
                total = d_here[k] + d_out[k] * part + found
                total = total if here[k] > 0 else np.float32(0)
                d_here[k] = total
                d_shift[i, k] += total


@compiled
def second_layer(x, shift, mean):
    """Add the shift to every cell, cut off what is negative, and write the mean of the cells; shapes as `first_layer`.

    mean: float32 (n, at least c).
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        total = mean[i, :c]
        total[:] = np.float32(0)
        for cell in range(cells):
            for k in range(c):
                x[i, cell, k] = max(x[i, cell, k] + shift[i, k], np.float32(0))
                total[k] += x[i, cell, k]
        for k in range(c):
            total[k] *= part


@compiled
def second_layer_gradient(d, x, d_mean, d_shift):
    """Turn `d`, the loss's derivative by the cells as the policy head reads them, into that by the layer's products.

    d: float32 (n, C, c), overwritten. x: as `second_layer` left it. d_mean: derivative by the mean. d_shift: filled.
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        for k in range(c):
            d_shift[i, k] = 0
        for cell in range(cells):
            for k in range(c):
                total = d[i, cell, k] + d_mean[i, k] * part
                total = total if x[i, cell, k] > 0 else np.float32(0)
                d[i, cell, k] = total
                d_shift[i, k] += total
