"""What a network is told of a board beside the observation: groups and neighbourhoods, worked out from it."""

from __future__ import annotations

import numpy as np

from garden_core.game import Board
from garden_core.jit import compiled

__all__ = ["cell_features", "num_cell_features"]

SCALE = 0.1  # counts up to a few tens become numbers of about 1


def num_cell_features(board: Board) -> int:
    """Return F, the numbers told of a cell: its planes, a group size per colour, empty neighbours."""
    return board.planes + board.colours + 1


def cell_features(board: Board, observation: np.ndarray) -> np.ndarray:
    """Return float32 (N, cells, F) for observations int8 (N, ...).

    For each cell the board planes; for each colour the size x 0.1 of the group that a piece there belongs to, or
    would make if it came there; and the number x 0.1 of neighbouring cells without a coloured piece.
    """
    cells = len(board.neighbours)
    out = np.empty((len(observation), cells, num_cell_features(board)), np.float32)
    scratch = np.empty((3, cells), np.int64)
    fill_cell_features(observation, board.neighbours, board.planes, board.colours, scratch, out)
    return out


@compiled
def fill_cell_features(observation, neighbours, planes, colours, scratch, out):
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
    """Number the connected groups of the ones in `plane` (-1 elsewhere) and count their cells."""
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
    """Return the size of the group at the k-th neighbour, 0 if there is none or an earlier one is of it too."""
    neighbour = np.int64(neighbours[cell, k])
    if neighbour < 0 or group[neighbour] < 0:
        return 0
    for other in range(k):
        earlier = np.int64(neighbours[cell, other])
        if earlier >= 0 and group[earlier] == group[neighbour]:
            return 0
    return sizes[group[neighbour]]
