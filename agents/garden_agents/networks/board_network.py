"""The network for games with a board: the same weights for all cells, and a summary of the board."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_agents.games import Board
from garden_agents.networks.board_features import SCALE, cell_features, num_cell_features
from garden_agents.networks.network import Inputs, Multiply, Network, dense, dense_gradient, relu_backward
from garden_core.jit import compiled


class _Memory(NamedTuple):
    """Activations of n rows with C cells and c channels, float32, or the derivatives of the loss by them.

    Attributes:
        first, second: (n, C, c), the cells after each of the two layers.
        shift: (n, c), added to all cells of a row.
        summary: (n, width), inputs of the summary layer: mean and maximum over the cells after the first layer, the
            marked cells, the scalars.
        whole: (n, hidden), the summary.
        mean_whole: (n, c + hidden), inputs of the value head: the mean of the cells, and the summary.
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
    """Two layers applied to every cell with the same weights, and between them a summary of the board.

    The first layer reads each cell's features (`cell_features`) and the scalars. The summary layer reads the mean and
    the maximum over the cells, the cells that the board's marked planes point to, and the scalars. The second layer
    reads each cell and the summary. Logits of actions on a cell are read from that cell, other logits from the
    summary, and the values from the summary and the mean over the cells.

    Args:
        board: the game's board.
        size: length of the flat observation.
        num_actions, num_values: see `Network`.
        channels: channels per cell.
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
        """Number of inputs of the summary layer that come from the cells; the scalars follow."""
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

    def inputs(self, observation: np.ndarray) -> Inputs:
        flat = observation.reshape(len(observation), -1)
        return cell_features(self.board, flat), flat[:, self.split :] * np.float32(SCALE)

    def memory(self, rows: int) -> _Memory:
        hidden, cells, c = self.hidden, self.cells, self.channels
        summary, blocks = self.layers["whole"][1], self.board.action_blocks
        layers, vectors = [(cells, c), (cells, c)], [(c,), (summary,), (hidden,), (c + hidden,), (hidden,)]
        shapes = [*layers, *vectors, (cells, blocks)]  # in the order of the fields
        return _Memory(*(np.empty((rows, *shape), np.float32) for shape in shapes))

    def forward(
        self, memory: _Memory, inputs: Inputs, logits: np.ndarray, values: np.ndarray, multiply: Multiply
    ) -> None:
        features, scalars = inputs
        n, c, w, blocks = len(features), self.channels, self.weights, self.board.action_blocks
        m = memory.rows(n)
        first, second, cells = m.first.reshape(-1, c), m.second.reshape(-1, c), m.first.shape
        # the first layer
        products = multiply(features.reshape(-1, self.features), w["first.weight"].T, first)
        dense(scalars, w, "from_scalars", m.shift, multiply)
        m.shift[:] += w["first.bias"]
        bits = m.first.view(np.int32), m.summary.view(np.int32)
        first_layer(products.reshape(cells), m.shift, m.first, m.summary, *bits)
        # the summary
        read_marks(m.first, features, self.marks, m.summary[:, 2 * c : self.read])
        m.summary[:, self.read :] = scalars
        whole = dense(m.summary, w, "whole", m.whole, multiply, relu=True)
        # the second layer
        products = multiply(first, w["second.weight"].T, second)
        dense(whole, w, "from_whole", m.shift, multiply)
        m.shift[:] += w["second.bias"]
        second_layer(products.reshape(cells), m.shift, m.second, m.mean_whole)
        m.mean_whole[:, c:] = whole
        # the policy head
        products = multiply(second, w["cell_logits.weight"].T, m.cell_logits.reshape(-1, blocks))
        by_block = logits[:, : self.on_cells].reshape(n, blocks, self.cells)
        by_block[:] = products.reshape(m.cell_logits.shape).transpose(0, 2, 1)
        by_block += w["cell_logits.bias"][:, None]
        logits[:, self.on_cells :] = whole @ w["other_logits.weight"].T + w["other_logits.bias"]
        # the value head
        middle = dense(m.mean_whole, w, "middle", m.middle, multiply, relu=True)
        dense(middle, w, "values", values, multiply)

    def backward(
        self,
        memory: _Memory,
        scratch: _Memory,
        inputs: Inputs,
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
        read_marks_gradient(d_first.reshape(cells), features, self.marks, d_summary[:, 2 * c : self.read])
        first_layer_gradient(d_first.reshape(cells), m.first, m.summary, d_summary, d.shift)
        multiply(d_first.T, features.reshape(-1, self.features), gradient["first.weight"], add=True)
        gradient["first.bias"] += d.shift.sum(0)
        dense_gradient(scalars, d.shift, "from_scalars", gradient, multiply)


@compiled
def first_layer(products, shift, x, summary, bits, summary_bits):
    """Add the shift to every cell's products, apply a relu, and take the mean and the maximum over the cells.

    Args:
        products: float32 (n, C, c).
        shift: float32 (n, c).
        x: float32 (n, C, c), filled; may be `products`.
        summary: float32 (n, 2c or more); the first c columns are filled with the means, the next c with the maxima.
        bits, summary_bits: the memory of `x` and `summary` as int32.
    """
    for i in range(x.shape[0]):
        _relu_and_mean(products[i], shift[i], x[i], summary[i])
        _maximum(bits[i], summary_bits[i, x.shape[2] :])


@compiled
def second_layer(products, shift, x, mean):
    """`first_layer` without maxima; `mean`, float32 (n, c or more), is filled in its first c columns."""
    for i in range(x.shape[0]):
        _relu_and_mean(products[i], shift[i], x[i], mean[i])


@compiled
def _relu_and_mean(products, shift, x, mean):
    """Fill `x` with the relu of the cells' products plus the shift, and `mean` with its mean over the cells."""
    cells, c = x.shape
    for cell in range(cells):
        for k in range(c):
            x[cell, k] = max(products[cell, k] + shift[k], np.float32(0))
    _sum(x, np.float32(1.0 / cells), mean)


@compiled
def _sum(x, factor, total):
    """Fill `total` with the sum over the cells times a factor; adds four cells at a time to shorten the chain of additions."""
    cells, c = x.shape
    total[:c] = 0
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
    """Fill `highest` with the maxima over the cells, four cells at a time as in `_sum`.

    Floats that are not negative have the order of their bits, and maxima of integers are several times as fast.
    """
    cells, c = bits.shape
    highest[:c] = 0
    rest = cells % 4
    for cell in range(rest):
        for k in range(c):
            highest[k] = max(highest[k], bits[cell, k])
    for cell in range(rest, cells, 4):
        for k in range(c):
            one, other = max(bits[cell, k], bits[cell + 1, k]), max(bits[cell + 2, k], bits[cell + 3, k])
            highest[k] = max(highest[k], max(one, other))


@compiled
def first_layer_gradient(d, x, summary, d_summary, d_shift):
    """Turn `d`, the derivative of the loss by the cells as inputs of the second layer, into the one by the layer's products.

    Args:
        d: float32 (n, C, c), overwritten.
        x, summary: as `first_layer` filled them.
        d_summary: the derivative by `summary`; the one by the maxima is overwritten. Of equal maxima the first cell has
            the derivative.
        d_shift: float32 (n, c), filled.
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        highest, d_mean, d_highest = summary[i, c:], d_summary[i], d_summary[i, c:]
        for cell in range(cells):
            for k in range(c):
                by_maximum = d_highest[k] if x[i, cell, k] == highest[k] else np.float32(0)
                total = d[i, cell, k] + d_mean[k] * part + by_maximum
                d_highest[k] -= by_maximum
                d[i, cell, k] = total if x[i, cell, k] > 0 else np.float32(0)
        _sum(d[i], np.float32(1), d_shift[i])


@compiled
def read_marks(x, features, marks, out):
    """Fill `out`, float32 (n, M * (c + F)), with the marked cell's channels per mark, then its features per mark.

    x: float32 (n, C, c). features: float32 (n, C, F). marks: int64 (M,), features that mark cells.
    """
    n, cells, c = x.shape
    num_marks, num_features = marks.shape[0], features.shape[2]
    out[:] = 0
    for i in range(n):
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
    """Add the derivative by the marked cells to `d`, float32 (n, C, c); `d_out` is the derivative by the result of `read_marks`."""
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
    """Turn `d`, the derivative of the loss by the cells as inputs of the policy head, into the one by the layer's products.

    d: float32 (n, C, c), overwritten. x: as `second_layer` filled it. d_mean: derivative by the mean. d_shift: filled.
    """
    n, cells, c = x.shape
    part = np.float32(1.0 / cells)
    for i in range(n):
        for cell in range(cells):
            for k in range(c):
                total = d[i, cell, k] + d_mean[i, k] * part
                d[i, cell, k] = total if x[i, cell, k] > 0 else np.float32(0)
        _sum(d[i], np.float32(1), d_shift[i])
