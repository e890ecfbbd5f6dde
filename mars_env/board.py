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


def _rays() -> np.ndarray:
    rays = np.full((NUM_HEXES, len(DIRECTIONS), MAX_DIE + 1), -1, np.int8)
    for index, (q, r) in enumerate(HEXES):
        for direction, (dq, dr) in enumerate(DIRECTIONS):
            for steps in range(MAX_DIE + 1):
                rays[index, direction, steps] = INDEX.get((q + dq * steps, r + dr * steps), -1)
    return rays


RAYS = _rays()
"""int8 (91, 6, 7): the hex 0 … 6 steps from a hex in each direction, -1 off the board."""

NEIGHBOURS = np.ascontiguousarray(RAYS[:, :, 1])
"""int8 (91, 6): the neighbour in each direction, -1 off the board."""


def _steps() -> np.ndarray:
    steps = np.zeros((NUM_HEXES, NUM_HEXES), np.int8)
    for start, direction, distance in np.argwhere(RAYS >= 0):
        steps[start, RAYS[start, direction, distance]] = distance
    return steps


STEPS = _steps()
"""int8 (91, 91): number of steps in a straight line from one hex to another, 0 if not 1 … 6."""


def _neighbour_sets() -> np.ndarray:
    sets = np.zeros((NUM_HEXES, 2), np.uint64)
    for index in range(NUM_HEXES):
        bits = sum(1 << int(neighbour) for neighbour in NEIGHBOURS[index] if neighbour >= 0)
        sets[index] = bits & (2**64 - 1), bits >> 64
    return sets


NEIGHBOUR_SETS = _neighbour_sets()
"""uint64 (91, 2): the neighbours of a hex as a set; bit h of the 128 bits is hex h."""
