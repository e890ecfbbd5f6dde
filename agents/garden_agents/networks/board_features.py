"""Features of each cell of a board, computed from the observation: planes, group sizes, empty neighbours."""

from __future__ import annotations

import numpy as np

from garden_core.game import Board
from garden_core.jit import compiled

__all__ = ["cell_features", "num_cell_features"]

SCALE = 0.1  # counts up to a few tens become numbers of about 1


def num_cell_features(board: Board) -> int:
    """Return F, the number of features of a cell: board planes, a group size for each colour, empty neighbours."""
    return board.planes + board.colours + 1


def cell_features(board: Board, observation: np.ndarray) -> np.ndarray:
    """Return float32 (N, cells, F) for observations int8 (N, ...).

    The features of a cell are, in this order, the board planes; for each colour the size, x 0.1, of the group that
    the piece on this cell belongs to, or would join if it were placed there; and the number, x 0.1, of neighbouring
    cells without a coloured piece.
    """
    cells = len(board.neighbours)
    out = np.empty((len(observation), cells, num_cell_features(board)), np.float32)
    scratch = np.empty((3, cells), np.int64)
    fill_cell_features(observation, board.neighbours, board.planes, board.colours, scratch, out)
    return out


@compiled
def fill_cell_features(observation, neighbours, planes, colours, scratch, out):
    """Fill `out`, float32 (N, cells, F); `scratch`, int64 (3, cells), is overwritten."""
    cells, around = neighbours.shape
    group, sizes, stack = scratch[0], scratch[1], scratch[2]
    for i in range(observation.shape[0]):
        seen = observation[i]
        for cell in range(cells):
            for plane in range(planes):
                out[i, cell, plane] = seen[plane * cells + cell]
            empty = 0
            for k in range(around):
                neighbour = np.int64(neighbours[cell, k])
                if neighbour >= 0:
                    held = 0
                    for colour in range(colours):
                        held += seen[colour * cells + neighbour]
                    empty += held == 0
            out[i, cell, planes + colours] = SCALE * empty
        for colour in range(colours):
            _groups(seen[colour * cells : (colour + 1) * cells], neighbours, group, sizes, stack)
            for cell in range(cells):
                size = 1
                if group[cell] >= 0:
                    size = sizes[group[cell]]
                else:
                    for k in range(around):
                        size += _new_group(cell, k, neighbours, group, sizes)
                out[i, cell, planes + colour] = SCALE * size


@compiled
def _groups(plane, neighbours, group, sizes, stack):
    """Find the connected groups of ones in `plane`.

    Fills `group` with the index of each cell's group, -1 where the plane is 0, and `sizes` with each group's number of
    cells. `stack` is overwritten.
    """
    count = 0
    group[:] = -1
    for start in range(plane.shape[0]):
        if plane[start] and group[start] < 0:
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
                    if neighbour >= 0 and plane[neighbour] and group[neighbour] < 0:
                        group[neighbour] = count
                        stack[height] = neighbour
                        height += 1
            count += 1


@compiled
def _new_group(cell, k, neighbours, group, sizes):
    """Return the size of the k-th neighbour's group; 0 if it has none, or an earlier neighbour is in the same group."""
    neighbour = np.int64(neighbours[cell, k])
    if neighbour < 0 or group[neighbour] < 0:
        return 0
    for other in range(k):
        earlier = np.int64(neighbours[cell, other])
        if earlier >= 0 and group[earlier] == group[neighbour]:
            return 0
    return sizes[group[neighbour]]
