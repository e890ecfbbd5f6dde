"""The network for games on a board: the same weights for all cells, and a summary of the whole board."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_agents.games import Board
from garden_agents.networks.board_features import SCALE, cell_features, num_cell_features
from garden_agents.networks.network import Multiply, Network, dense, dense_gradient, relu_backward
from garden_core.jit import compiled


class _Memory(NamedTuple):
    """Activations of n rows with C cells and c channels, float32, or the loss's derivatives by them.

    Attributes:
        first, second: (n, C, c), the cells after each of the two layers.
        shift: (n, c), what is added to all cells of a row.
        mean, highest: (n, c), mean and maximum of the cells after the first layer.
        summary: (n, width), what the summary layer reads.
        whole: (n, hidden), the summary.
        mean_whole: (n, c + hidden), what the value head reads: the mean of the cells, and the summary.
        middle: (n, hidden), the hidden layer of the value head.
        cell_logits: (n, C, blocks), logits of actions on cells.
    """

    first: np.ndarray
    second: np.ndarray
    shift: np.ndarray
    mean: np.ndarray
    highest: np.ndarray
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

    def inputs(self, observation: np.ndarray) -> tuple[np.ndarray, ...]:
        flat = observation.reshape(len(observation), -1)
        return cell_features(self.board, flat), flat[:, self.split :] * np.float32(SCALE)

    def memory(self, rows: int) -> _Memory:
        c, hidden, cells = self.channels, self.hidden, (rows, self.cells)
        width = self.layers["whole"][1]
        shapes = {
            "first": (*cells, c),
            "second": (*cells, c),
            "shift": (rows, c),
            "mean": (rows, c),
            "highest": (rows, c),
            "summary": (rows, width),
            "whole": (rows, hidden),
            "mean_whole": (rows, c + hidden),
            "middle": (rows, hidden),
            "cell_logits": (*cells, self.board.action_blocks),
        }
        return _Memory(**{name: np.empty(shape, np.float32) for name, shape in shapes.items()})

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
        products = multiply(features.reshape(-1, self.features), w["first.weight"].T, first)
        dense(scalars, w, "from_scalars", m.shift, multiply)
        m.shift[:] += w["first.bias"]
        first_layer(
            products.reshape(m.first.shape),
            m.shift,
            m.first,
            m.first.view(np.int32),
            m.mean,
            m.highest.view(np.int32),
        )
        m.summary[:, :c], m.summary[:, c : 2 * c] = m.mean, m.highest
        read_marks(m.first, features, self.marks, m.summary[:, 2 * c : self.read])
        m.summary[:, self.read :] = scalars
        whole = dense(m.summary, w, "whole", m.whole, multiply, relu=True)
        products = multiply(first, w["second.weight"].T, second)
        dense(whole, w, "from_whole", m.shift, multiply)
        m.shift[:] += w["second.bias"]
        second_layer(products.reshape(m.second.shape), m.shift, m.second, m.mean_whole)
        m.mean_whole[:, c:] = whole
        blocks = self.board.action_blocks
        products = multiply(second, w["cell_logits.weight"].T, m.cell_logits.reshape(-1, blocks))
        by_block = logits[:, : self.on_cells].reshape(n, blocks, self.cells)
        by_block[:] = products.reshape(m.cell_logits.shape).transpose(0, 2, 1)
        by_block += w["cell_logits.bias"][:, None]
        logits[:, self.on_cells :] = whole @ w["other_logits.weight"].T + w["other_logits.bias"]
        middle = dense(m.mean_whole, w, "middle", m.middle, multiply, relu=True)
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
        first, second, cells = m.first.reshape(-1, c), m.second.reshape(-1, c), m.first.shape
        # the value head
        dense_gradient(m.middle, d_values, "values", gradient, multiply)
        d_middle = multiply(d_values, w["values.weight"], d.middle)
        relu_backward(d_middle, m.middle)
        dense_gradient(m.mean_whole, d_middle, "middle", gradient, multiply)
        d_mean_whole = multiply(d_middle, w["middle.weight"], d.mean_whole)
        # the policy head
        d_other = np.ascontiguousarray(d_logits[:, self.on_cells :])
        dense_gradient(m.whole, d_other, "other_logits", gradient, multiply)
        by_block = d_logits[:, : self.on_cells].reshape(n, blocks, self.cells)
        d.cell_logits[:] = by_block.transpose(0, 2, 1)
        d_cell_logits = d.cell_logits.reshape(-1, blocks)
        dense_gradient(second, d_cell_logits, "cell_logits", gradient, multiply)
        d_second = multiply(d_cell_logits, w["cell_logits.weight"], d.second.reshape(-1, c))
        # the second layer
        second_layer_gradient(d_second.reshape(cells), m.second, d_mean_whole, d.shift)
        multiply(d_second.T, first, gradient["second.weight"], add=True)
        gradient["second.bias"] += d.shift.sum(0)
        dense_gradient(m.whole, d.shift, "from_whole", gradient, multiply)
        d_first = multiply(d_second, w["second.weight"], d.first.reshape(-1, c))
        # the summary
        d_whole = multiply(d.shift, w["from_whole.weight"], d.whole)
        multiply(d_other, w["other_logits.weight"], d_whole, add=True)
        d_whole += d_mean_whole[:, c:]
        relu_backward(d_whole, m.whole)
        dense_gradient(m.summary, d_whole, "whole", gradient, multiply)
        d_summary = multiply(d_whole, w["whole.weight"], d.summary)
        # the first layer
        d.mean[:], d.highest[:] = d_summary[:, :c], d_summary[:, c : 2 * c]
        read_marks_gradient(d_first.reshape(cells), features, self.marks, d_summary[:, 2 * c : self.read])
        first_layer_gradient(d_first.reshape(cells), m.first, m.highest, d.mean, d.highest, d.shift)
        multiply(d_first.T, features.reshape(-1, self.features), gradient["first.weight"], add=True)
        gradient["first.bias"] += d.shift.sum(0)
        dense_gradient(scalars, d.shift, "from_scalars", gradient, multiply)


@compiled
def first_layer(products, shift, x, bits, mean, highest_bits):
    """Add the shift to the products of every cell, cut off what is negative, and take mean and maximum of the cells.

    Args:
        products: float32 (n, C, c).
        shift: float32 (n, c).
        x: float32 (n, C, c), filled; it may be `products`.
        bits: the same memory as int32.
        mean: float32 (n, c), filled.
        highest_bits: int32 (n, c), the memory of the maxima, filled.
    """
    for i in range(x.shape[0]):
        _cut(products[i], shift[i], x[i])
        _sum(x[i], np.float32(1.0 / x.shape[1]), mean[i])
        _maximum(bits[i], highest_bits[i])


@compiled
def second_layer(products, shift, x, mean):
    """`first_layer` without maxima; `mean` may be wider, float32 (n, at least c)."""
    for i in range(x.shape[0]):
        _cut(products[i], shift[i], x[i])
        _sum(x[i], np.float32(1.0 / x.shape[1]), mean[i])


@compiled
def _cut(products, shift, x):
    """Fill `x` with the cells' products plus the shift, or 0 where that is negative."""
    cells, c = x.shape
    for cell in range(cells):
        for k in range(c):
            x[cell, k] = max(products[cell, k] + shift[k], np.float32(0))


@compiled
def _sum(x, factor, total):
    """Fill `total` with the sum of the cells times a factor; four at a time, as each waits for the total before it."""
    cells, c = x.shape
    for k in range(c):
        total[k] = 0
    rest = cells % 4
    for cell in range(rest):
        for k in range(c):
            total[k] += x[cell, k]
    for cell in range(rest, cells, 4):
        for k in range(c):
            total[k] += (x[cell, k] + x[cell + 1, k]) + (x[cell + 2, k] + x[cell + 3, k])
    for k in range(c):
        total[k] *= factor


@compiled
def _maximum(bits, highest):
    """Fill `highest` with the maxima of the cells, none of them negative, four at a time as in `_sum`.

    Such numbers are in the order of their bits, and maxima of integers are several times as fast.
    """
    cells, c = bits.shape
    for k in range(c):
        highest[k] = 0
    rest = cells % 4
    for cell in range(rest):
        for k in range(c):
            highest[k] = max(highest[k], bits[cell, k])
    for cell in range(rest, cells, 4):
        for k in range(c):
            one, other = max(bits[cell, k], bits[cell + 1, k]), max(bits[cell + 2, k], bits[cell + 3, k])
            highest[k] = max(highest[k], max(one, other))


@compiled
def first_layer_gradient(d, x, highest, d_mean, d_highest, d_shift):
    """Turn `d`, the loss's derivative by the cells as the second layer reads them, into that by the layer's products.

    Args:
        d: float32 (n, C, c), overwritten.
        x, highest: as `first_layer` left them, float32.
        d_mean: float32 (n, c).
        d_highest: float32 (n, c), overwritten. Of equal maxima the first cell has the derivative.
        d_shift: float32 (n, c), filled.
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        for cell in range(cells):
            for k in range(c):
                found = d_highest[i, k] if x[i, cell, k] == highest[i, k] else np.float32(0)
                total = d[i, cell, k] + d_mean[i, k] * part + found
                d_highest[i, k] -= found
                d[i, cell, k] = total if x[i, cell, k] > 0 else np.float32(0)
        _sum(d[i], np.float32(1), d_shift[i])


@compiled
def read_marks(x, features, marks, out):
    """Fill `out`, float32 (n, M * (c + F)): for each mark the marked cells' channels, then for each their features.

    x: float32 (n, C, c). features: float32 (n, C, F). marks: int64 (M,), features that mark cells.
    """
    n, cells, c = x.shape
    num_marks, num_features = marks.shape[0], features.shape[2]
    for i in range(n):
        for k in range(out.shape[1]):
            out[i, k] = 0
        for cell in range(cells):
            for j in range(num_marks):
                mark = features[i, cell, marks[j]]
                if mark != 0:
                    for k in range(c):
                        out[i, j * c + k] += mark * x[i, cell, k]
                    for k in range(num_features):
                        out[i, num_marks * c + j * num_features + k] += mark * features[i, cell, k]


@compiled
def read_marks_gradient(d, features, marks, d_out):
    """Add to `d`, float32 (n, C, c), the derivative by the cells that `read_marks` passes on; shapes as there."""
    n, cells, c = d.shape
    for i in range(n):
        for cell in range(cells):
            for j in range(marks.shape[0]):
                mark = features[i, cell, marks[j]]
                if mark != 0:
                    for k in range(c):
                        d[i, cell, k] += mark * d_out[i, j * c + k]


@compiled
def second_layer_gradient(d, x, d_mean, d_shift):
    """Turn `d`, the loss's derivative by the cells as the policy head reads them, into that by the layer's products.

    d: float32 (n, C, c), overwritten. x: as `second_layer` left it. d_mean: derivative by the mean. d_shift: filled.
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        for cell in range(cells):
            for k in range(c):
                total = d[i, cell, k] + d_mean[i, k] * part
                d[i, cell, k] = total if x[i, cell, k] > 0 else np.float32(0)
        _sum(d[i], np.float32(1), d_shift[i])
