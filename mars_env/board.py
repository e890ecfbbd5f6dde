"""The board of Gardens of Mars [1.1]: 91 hexes in axial coordinates, and the tables that the rules look up."""

from __future__ import annotations

import numpy as np

SIDE = 6  # hexes along one side
RADIUS = SIDE - 1
WIDTH = 2 * RADIUS + 1  # rows and columns of the square that holds the board: row = r + 5, column = q + 5
COLOURS = ("blue", "yellow", "white", "grey", "red", "green")
NUM_COLOURS = len(COLOURS)
FLOWERS_PER_COLOUR = 10
DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
MAX_DIE = 6

HEXES: tuple[tuple[int, int], ...] = tuple(
    (q, r) for q in range(-RADIUS, SIDE) for r in range(-RADIUS, SIDE) if abs(q + r) <= RADIUS
)
"""The axial coordinates (q, r) of hex 0 … 90."""
NUM_HEXES = len(HEXES)
INDEX: dict[tuple[int, int], int] = {hex_: index for index, hex_ in enumerate(HEXES)}
CENTRE = INDEX[0, 0]

CELLS = np.array([(r + RADIUS) * WIDTH + q + RADIUS for q, r in HEXES], np.int16)
"""int16 (91,): the cell of a hex in a plane of 11 x 11 = 121 cells."""


RAYS = np.array(
    [
        [[INDEX.get((q + dq * n, r + dr * n), -1) for n in range(MAX_DIE + 1)] for dq, dr in DIRECTIONS]
        for q, r in HEXES
    ],
    np.int8,
)
"""int8 (91, 6, 7): the hex 0 … 6 steps from a hex in each direction, -1 off the board."""

NEIGHBOURS = np.array([[ray[1] for ray in rays] for rays in RAYS.tolist()], np.int8)
"""int8 (91, 6): the neighbour in each direction, -1 off the board."""


def _steps() -> list[list[int]]:
    steps = [[0] * NUM_HEXES for _ in HEXES]
    for start, rays in enumerate(RAYS.tolist()):
        for ray in rays:
            for distance, hex_ in enumerate(ray):
                if hex_ >= 0:
                    steps[start][hex_] = distance
    return steps


STEPS = np.array(_steps(), np.int8)
"""int8 (91, 91): number of steps in a straight line from one hex to another, 0 if not 1 … 6."""


_SETS = [sum(1 << hex_ for hex_ in near if hex_ >= 0) for near in NEIGHBOURS.tolist()]
NEIGHBOUR_SETS = np.array([(bits & (2**64 - 1), bits >> 64) for bits in _SETS], np.uint64)
"""uint64 (91, 2): the neighbours of a hex as a set; bit h of the 128 bits is hex h."""
