"""Features per cell of a board, computed from the observation: planes, group sizes, empty neighbours, the game's own."""

from __future__ import annotations

import numpy as np

from garden_agents.games import Board
from garden_core.jit import compiled

COUNT_SCALE = 0.1  # brings counts of up to a few tens to about 1


def num_cell_features(board: Board) -> int:
    """Return F, the number of features per cell."""
    return board.planes + board.colours + 1 + board.num_features


def cell_features(board: Board, observation: np.ndarray) -> np.ndarray:
    """Return float32 (N, cells, F) for observations int8 (N, ...).

    A cell has, in this order: the board planes; per colour, the size of the group that its piece belongs to, or that a
    piece placed there would join; the number of neighbouring cells without a coloured piece; and the game's own features
    (`Board.fill_features`). All but the planes are multiplied by COUNT_SCALE.
    """
    cells = len(board.neighbours)
    out = np.empty((len(observation), cells, num_cell_features(board)), np.float32)
    scratch = np.empty((board.work_rows, cells), np.int16)
    fill_rows(observation, board.neighbours, board.planes, board.colours, scratch, out)
    if board.fill_features is not None:
        board.fill_features(observation, scratch, out)
    scale(out, board.planes)
    return out


@compiled
def fill_rows(observation, neighbours, planes, colours, scratch, out):
    """Fill the features that every board has in `out`, float32 (N, cells, F), unscaled; overwrites `scratch`, int16 (>= 4, cells)."""
    for i in range(observation.shape[0]):
        fill_one(observation[i], neighbours, planes, colours, scratch, out[i])


@compiled
def scale(out, planes):
    """Multiply all features in `out`, float32 (N, cells, F), except the planes by COUNT_SCALE."""
    for i in range(out.shape[0]):
        for cell in range(out.shape[1]):
            for k in range(planes, out.shape[2]):
                out[i, cell, k] *= COUNT_SCALE


@compiled
def fill_one(seen, neighbours, planes, colours, scratch, out):
    """Fill the features that every board has in `out`, float32 (cells, F), from one observation, unscaled."""
    cells = neighbours.shape[0]
    colour_of, group, sizes = scratch[0], scratch[1], scratch[2]
    for plane in range(planes):
        for cell in range(cells):
            out[cell, plane] = seen[plane * cells + cell]
    colour_of[:] = -1
    for colour in range(colours):
        for cell in range(cells):
            if seen[colour * cells + cell]:
                colour_of[cell] = colour
    _groups(colour_of, neighbours, group, sizes, scratch[3])
    for cell in range(cells):
        _around(cell, colour_of, neighbours, group, sizes, out[cell, planes : planes + colours + 1])


@compiled
def _groups(colour_of, neighbours, group, sizes, stack):
    """Find the connected groups of cells of the same colour.

    Fills `group` with the index of each cell's group, -1 for cells without a colour, and `sizes` with the number of cells
    per group. Overwrites `stack`.
    """
    count = 0
    group[:] = -1
    for start in range(colour_of.shape[0]):
        if colour_of[start] >= 0 and group[start] < 0:
            group[start] = count
            sizes[count] = 0
            stack[0] = start
            height = 1
            while height > 0:
                height -= 1
                cell = stack[height]
                sizes[count] += 1
                for k in range(neighbours.shape[1]):
                    neighbour = np.int64(neighbours[cell, k])
                    if neighbour >= 0 and colour_of[neighbour] == colour_of[start] and group[neighbour] < 0:
                        group[neighbour] = count
                        stack[height] = neighbour
                        height += 1
            count += 1


@compiled
def _around(cell, colour_of, neighbours, group, sizes, out):
    """Fill `out`, float32 (colours + 1,), with a cell's group sizes and its number of neighbours without a colour."""
    colours = out.shape[0] - 1
    empty = 0
    out[:] = 1
    for k in range(neighbours.shape[1]):
        neighbour = np.int64(neighbours[cell, k])
        if neighbour < 0:
            continue
        if colour_of[neighbour] < 0:
            empty += 1
            continue
        counted = False
        for earlier in range(k):
            other = np.int64(neighbours[cell, earlier])
            counted = counted or (other >= 0 and group[other] == group[neighbour])
        if not counted:
            out[colour_of[neighbour]] += sizes[group[neighbour]]
    if colour_of[cell] >= 0:
        out[colour_of[cell]] = sizes[group[cell]]
    out[colours] = empty
