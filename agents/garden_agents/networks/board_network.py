"""The network for games with a board: the same weights for all cells and for all colours, and a summary of the board."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_agents.games import Board
from garden_agents.networks.board_features import COUNT_SCALE, cell_features, num_cell_features
from garden_agents.networks.colour_layer import COLOUR_CHANNELS, colour_gradient, colour_layer
from garden_agents.networks.network import Inputs, Network, dense, dense_gradient, relu_backward
from garden_core.jit import compiled


class _Rows(NamedTuple):
    """Activations of n rows with C cells, c channels and K colours, float32, or the derivatives of the loss by them.

    Attributes:
        colour_shifts, colour_planes, colour_sums: see `colour_layer`.
        x: (n, C, inputs of the first layer).
        cells: (n, C, c), the cells after the first layer.
        shift: (n, c), added to all cells of a row.
        summary: (n, width), inputs of the summary layer: mean and maximum over the cells, the marked cells, the scalars.
        whole: (n, hidden), the summary.
        middle: (n, hidden), the hidden layer of the value head.
    """

    colour_shifts: np.ndarray
    colour_planes: np.ndarray
    colour_sums: np.ndarray
    x: np.ndarray
    cells: np.ndarray
    shift: np.ndarray
    summary: np.ndarray
    whole: np.ndarray
    middle: np.ndarray


class _Actions(NamedTuple):
    """Activations or derivatives of T actions in n rows, all on cells or all choosing a colour, float32.

    Attributes:
        x: (T, inputs), the cell or the colour.
        shift: (n, 2c), added to all actions of a row.
        hidden: (T, 2c), the hidden layer.
        logits: (T, logits per x).
    """

    x: np.ndarray
    shift: np.ndarray
    hidden: np.ndarray
    logits: np.ndarray

    def take(self, actions: int, rows: int) -> _Actions:
        """Return the first actions and the first rows."""
        return _Actions(self.x[:actions], self.shift[:rows], self.hidden[:actions], self.logits[:actions])


class _Memory(NamedTuple):
    """Activations or derivatives: of the rows, and of both kinds of actions."""

    rows: _Rows
    on_cells: _Actions
    of_colours: _Actions


class BoardNetwork(Network):
    """Layers with the same weights for all cells, for all colours on a cell, and for all actions of a kind.

    The colour layer reads each colour on each cell (`colour_layer`). The first layer reads a cell's colours, as sum and
    maximum, its other features, and the scalars. The summary layer reads the mean and the maximum over the cells, the cells
    that the board's marked planes point to, and the scalars. One hidden layer reads a cell and the summary, and gives the
    logits of the actions on that cell; another reads a colour on the last marked cell and the summary, and gives the logit
    of choosing that colour. Other logits and the values are read from the summary.

    Logits of actions on cells without a legal action (`Board.targets`) are 0.

    Args:
        board: the game's board.
        size: length of the flat observation.
        num_actions, num_values: see `Network`.
        channels: channels per cell.
        hidden: width of the summary and of the value head.
    """

    without_bias = (
        "cell_logits",
        "colour_logits",
    )  # most often it would be the same for all legal actions, without effect

    def __init__(
        self, board: Board, size: int, num_actions: int, num_values: int, channels: int, hidden: int
    ) -> None:
        self.board, self.channels, self.hidden = board, channels, hidden
        self.marks = np.array(board.marks, np.int64)
        self.cells, self.features, marks = len(board.neighbours), num_cell_features(board), len(board.marks)
        self.split = board.planes * self.cells
        scalars, k = size - self.split, board.colours
        starts = [0, board.planes, *(board.planes + k + 1 + k * i for i in range(board.colour_features))]
        self.columns = np.add.outer(starts, np.arange(k))
        """int64 (f, K), the features that come one per colour."""
        self.plain = np.setdiff1d(np.arange(self.features), self.columns)
        """int64 (p,), the other features."""
        self.scalar_columns = np.array(board.colour_scalars, np.int64).reshape(len(board.colour_scalars), k)
        """int64 (s, K), the scalars that come one per colour."""
        per_colour = len(self.columns) + len(self.scalar_columns)
        self.on_cells = board.action_blocks * self.cells
        """Number of actions on cells; they come first."""
        self.of_colours = num_actions - k if board.colour_actions else num_actions
        """Number of the first action that chooses a colour; they come last."""
        self.read = (2 + marks) * channels + marks * self.features
        """Number of inputs of the summary layer that come from the cells; the scalars follow."""
        layers = {
            "colour": (COLOUR_CHANNELS, per_colour),
            "first": (channels, len(self.plain) + 2 * COLOUR_CHANNELS),
            "from_scalars": (channels, scalars),
            "whole": (hidden, self.read + scalars),
            "cell_hidden": (2 * channels, channels),
            "cell_shift": (2 * channels, hidden),
            "cell_logits": (board.action_blocks, 2 * channels),
            "colour_hidden": (2 * channels, per_colour),
            "colour_shift": (2 * channels, hidden),
            "colour_logits": (1, 2 * channels),
            "other_logits": (self.of_colours - self.on_cells, hidden),
            "middle": (hidden, hidden),
            "values": (num_values, hidden),
        }
        super().__init__(layers, num_actions, num_values)

    def inputs(self, observation: np.ndarray) -> Inputs:
        flat = observation.reshape(len(observation), -1)
        return cell_features(self.board, flat), flat[:, self.split :] * np.float32(COUNT_SCALE)

    def memory(self, rows: int) -> _Memory:
        h, cells, c, (f, k) = self.hidden, self.cells, self.channels, self.columns.shape
        padded = -(-cells // 32) * 32  # loops over cells are then vectorised without a rest
        colours = (k, COLOUR_CHANNELS), (k + 2, f, padded), (2 * COLOUR_CHANNELS, padded)
        whole, x = self.layers["whole"][1], self.layers["first"][1]
        shapes = [*colours, (cells, x), (cells, c), (c,), (whole,), (h,), (h,)]  # in the order of the fields
        return _Memory(
            _Rows(*(np.zeros((rows, *shape), np.float32) for shape in shapes)),
            self._actions(rows, cells, "cell"),
            self._actions(rows, k, "colour"),
        )

    def _actions(self, rows: int, each: int, kind: str) -> _Actions:
        """Return memory for up to `each` actions of a kind per row."""
        (width, inputs), logits = self.layers[f"{kind}_hidden"], self.layers[f"{kind}_logits"][0]
        shapes = (rows * each, inputs), (rows, width), (rows * each, width), (rows * each, logits)
        return _Actions(*(np.empty(shape, np.float32) for shape in shapes))

    def forward(self, memory: _Memory, inputs: Inputs, logits: np.ndarray, values: np.ndarray) -> None:
        features, scalars = inputs
        n, c, w = len(features), self.channels, self.weights
        m = _Rows(*(part[:n] for part in memory.rows))
        # the cells
        weight, bias = np.ascontiguousarray(w["colour.weight"].T), w["colour.bias"]
        colours = m.colour_shifts, m.colour_planes, m.colour_sums
        colour_layer(features, scalars, self.columns, self.scalar_columns, weight, bias, *colours)
        read_cells(features, self.plain, m.colour_sums, m.x)
        flat = m.cells.reshape(-1, c)
        products = np.matmul(m.x.reshape(len(flat), -1), w["first.weight"].T, flat)
        dense(scalars, w, "from_scalars", m.shift)
        m.shift[:] += w["first.bias"]
        bits = m.cells.view(np.int32), m.summary.view(np.int32)
        first_layer(products.reshape(m.cells.shape), m.shift, m.cells, m.summary, *bits)
        # the summary
        read_marks(m.cells, features, self.marks, m.summary[:, 2 * c : self.read])
        m.summary[:, self.read :] = scalars
        whole = dense(m.summary, w, "whole", m.whole, relu=True)
        # the policy head
        logits[:, self.on_cells : self.of_colours] = (
            whole @ w["other_logits.weight"].T + w["other_logits.bias"]
        )
        rows, cells = self._targets(features)
        logits[:, : self.on_cells] = 0
        if len(rows):
            actions = memory.on_cells.take(len(rows), n)
            np.take(flat, rows * self.cells + cells, 0, out=actions.x, mode="clip")
            found = self._score("cell", actions, rows, whole)
            logits[:, : self.on_cells].reshape(n, -1, self.cells)[rows, :, cells] = found
        if self.board.colour_actions:
            actions, rows = self._of_colours(memory, n)
            read_colours(features, scalars, self.columns, self.scalar_columns, self.marks[-1], actions.x)
            found = self._score("colour", actions, rows, whole)
            logits[:, self.of_colours :] = found.reshape(n, -1)
        # the value head
        middle = dense(whole, w, "middle", m.middle, relu=True)
        dense(middle, w, "values", values)

    def _targets(self, features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the rows and the cells, int64 (T,), that have actions."""
        if self.board.targets is None:
            return np.divmod(np.arange(len(features) * self.cells), self.cells)
        return np.divmod(np.flatnonzero(features[:, :, self.board.targets]), self.cells)

    def _of_colours(self, memory: _Memory, n: int) -> tuple[_Actions, np.ndarray]:
        """Return the memory of the actions that choose a colour, and their rows."""
        k = self.board.colours
        return memory.of_colours.take(n * k, n), np.repeat(np.arange(n), k)

    def _score(self, kind: str, actions: _Actions, rows: np.ndarray, whole: np.ndarray) -> np.ndarray:
        """Return the logits of actions in `rows`, int64 (T,), float32 (T, logits per x)."""
        w, (x, shift, hidden, logits) = self.weights, actions
        products = np.matmul(x, w[f"{kind}_hidden.weight"].T, hidden)
        dense(whole, w, f"{kind}_shift", shift)
        shift[:] += w[f"{kind}_hidden.bias"]
        add_shift(products, shift, rows, hidden)
        return np.matmul(hidden, w[f"{kind}_logits.weight"].T, logits)

    def backward(
        self,
        memory: _Memory,
        scratch: _Memory,
        inputs: Inputs,
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
    ) -> None:
        features, scalars = inputs
        n, c, w = len(features), self.channels, self.weights
        m, d = (_Rows(*(part[:n] for part in each.rows)) for each in (memory, scratch))
        # the value head
        dense_gradient(m.middle, d_values, "values", gradient)
        d_middle = np.matmul(d_values, w["values.weight"], d.middle)
        relu_backward(d_middle, m.middle)
        dense_gradient(m.whole, d_middle, "middle", gradient)
        d_whole = np.matmul(d_middle, w["middle.weight"], d.whole)
        # the policy head
        d_other = np.ascontiguousarray(d_logits[:, self.on_cells : self.of_colours])
        dense_gradient(m.whole, d_other, "other_logits", gradient)
        d_whole += d_other @ w["other_logits.weight"]
        flat, d_flat = m.cells.reshape(-1, c), d.cells.reshape(-1, c)
        d_flat[:] = 0
        rows, cells = self._targets(features)
        if len(rows):
            actions, d_actions = (each.on_cells.take(len(rows), n) for each in (memory, scratch))
            d_actions.logits[:] = d_logits[:, : self.on_cells].reshape(n, -1, self.cells)[rows, :, cells]
            d_hidden = self._score_gradient("cell", actions, d_actions, rows, m.whole, d_whole, gradient)
            d_flat[rows * self.cells + cells] = np.matmul(d_hidden, w["cell_hidden.weight"], d_actions.x)
        if self.board.colour_actions:
            (actions, rows), (d_actions, _) = (self._of_colours(each, n) for each in (memory, scratch))
            d_actions.logits[:] = d_logits[:, self.of_colours :].reshape(-1, 1)
            self._score_gradient("colour", actions, d_actions, rows, m.whole, d_whole, gradient)
        # the summary
        relu_backward(d_whole, m.whole)
        dense_gradient(m.summary, d_whole, "whole", gradient)
        d_summary = np.matmul(d_whole, w["whole.weight"], d.summary)
        # the cells
        read_marks_gradient(d.cells, features, self.marks, d_summary[:, 2 * c : self.read])
        first_layer_gradient(d.cells, m.cells, m.summary, d_summary, d.shift)
        # a small product per row, which is twice as fast as one large product
        gradient["first.weight"] += (m.x.transpose(0, 2, 1) @ d.cells).sum(0).T
        gradient["first.bias"] += d.shift.sum(0)
        dense_gradient(scalars, d.shift, "from_scalars", gradient)
        d_sums = d.x.reshape(-1)[: len(flat) * 2 * COLOUR_CHANNELS].reshape(len(flat), -1)
        d_sums = np.matmul(d_flat, w["first.weight"][:, len(self.plain) :], d_sums)
        d.colour_sums[:, :, : self.cells] = d_sums.reshape(n, self.cells, -1).transpose(0, 2, 1)
        weight = np.ascontiguousarray(w["colour.weight"].T)
        d_weight = np.zeros_like(weight)
        colours = weight, m.colour_shifts, m.colour_planes, m.colour_sums, d.colour_sums, d.colour_planes
        colour_gradient(scalars, self.scalar_columns, *colours, d_weight, gradient["colour.bias"])
        gradient["colour.weight"] += d_weight.T

    def _score_gradient(
        self,
        kind: str,
        actions: _Actions,
        d: _Actions,
        rows: np.ndarray,
        whole: np.ndarray,
        d_whole: np.ndarray,
        gradient: dict[str, np.ndarray],
    ) -> np.ndarray:
        """Add to `d_whole` and the gradient, given `d.logits`; return the derivatives by the hidden layer's products."""
        gradient[f"{kind}_logits.weight"] += d.logits.T @ actions.hidden
        d_hidden = np.matmul(d.logits, self.weights[f"{kind}_logits.weight"], d.hidden)
        relu_backward(d_hidden, actions.hidden)
        dense_gradient(actions.x, d_hidden, f"{kind}_hidden", gradient)
        d.shift[:] = 0
        sum_by_row(d_hidden, rows, d.shift)
        dense_gradient(whole, d.shift, f"{kind}_shift", gradient)
        d_whole += d.shift @ self.weights[f"{kind}_shift.weight"]
        return d_hidden


@compiled
def read_cells(features, plain, sums, x):
    """Fill `x`, float32 (n, C, p + s), with the plain features, then the sums of the colours.

    features: float32 (n, C, F). plain: int64 (p,), columns of the features. sums: float32 (n, s, C).
    """
    for i in range(x.shape[0]):
        for cell in range(x.shape[1]):
            for q in range(plain.shape[0]):
                x[i, cell, q] = features[i, cell, plain[q]]
            for j in range(sums.shape[1]):
                x[i, cell, plain.shape[0] + j] = sums[i, j, cell]


@compiled
def read_colours(features, scalars, columns, scalar_columns, mark, out):
    """Fill `out`, float32 (n * K, f + s), with each colour's features on the marked cell, 0 without one, and its scalars.

    features, scalars, columns, scalar_columns: see `colour_layer`. mark: the feature that marks a cell.
    """
    f, colours = columns.shape
    for i in range(features.shape[0]):
        own = out[i * colours : (i + 1) * colours]
        own[:, :f] = 0
        for cell in range(features.shape[1]):
            if features[i, cell, mark] != 0:
                for colour in range(colours):
                    for q in range(f):
                        own[colour, q] = features[i, cell, columns[q, colour]]
        for colour in range(colours):
            for s in range(scalar_columns.shape[0]):
                own[colour, f + s] = scalars[i, scalar_columns[s, colour]]


@compiled
def add_shift(products, shift, rows, out):
    """Fill `out`, float32 (T, m), with the relu of the products plus the shift, float32 (n, m), of their rows, int64 (T,)."""
    for i in range(out.shape[0]):
        for k in range(out.shape[1]):
            out[i, k] = max(products[i, k] + shift[rows[i], k], np.float32(0))


@compiled
def sum_by_row(x, rows, out):
    """Add each of `x`, float32 (T, m), to the row of `out`, float32 (n, m), that `rows`, int64 (T,), says."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[rows[i], k] += x[i, k]


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
