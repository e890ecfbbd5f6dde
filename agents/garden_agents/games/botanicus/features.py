"""Features instead of the observation: its entries, scaled, and the current score of each seat.

In the observation the score is spread over many entries (points, coins, the plants of each column), which a network would
have to add up and compare to predict the winner. Numbers in brackets refer to `rules.md` in `botanicus_env`.
"""

from __future__ import annotations

import numpy as np

from botanicus_env.rules import COINS_PER_POINT, SEAT_SIZE, SPACE_SIZE, TILE_SIZE
from botanicus_env.state import ASKED, TILED_COLUMNS
from botanicus_env.tables import (
    BEDS,
    CHOSEN,
    COLUMNS,
    CROSSINGS,
    LEVELS,
    MAX_ANIMALS,
    MAX_CARD_KINDS,
    MAX_NODES,
    MAX_PLAYERS,
    PRIZES,
    ROWS,
    SPACES,
    TASKS_EACH,
    TRACKS,
)
from garden_core.jit import compiled

_EACH = 4
NUM_SCORES = MAX_PLAYERS * _EACH + MAX_PLAYERS
"""Number of features after the entries of the observation. For each seat in the same order: its score if the game ended now,
the points of its next animal, the points for its coins, and the coins left over. Then the observer's lead over each
opponent, and over the best opponent."""

_COINS = LEVELS * BEDS + len(CROSSINGS)  # in the entries of a seat
_HALF_POINTS = _COINS + 1
_ANIMALS = _COINS + 2

# The divisor of each entry of an observation: about its maximum with the printed data [10].
_TASK = [*[4] * LEVELS, 16]
_SEAT = [
    *[1] * _COINS,
    *(32, 64, 4, 4),
    *[1] * (len(TRACKS) * MAX_NODES + 2 * ROWS),
    *[*_TASK, 1] * ROWS,
    *[1] * SPACES,
    *(4, 4),
]
_SPACE = [*[1] * (SPACE_SIZE - 2), 4, 4]
_TILE = [*[1] * (TILE_SIZE - 1), 4]
_UNITS = [
    *_SEAT * MAX_PLAYERS,
    *[4] * MAX_CARD_KINDS,
    *_SPACE * SPACES * 2,
    *_TILE * SPACES * TILED_COLUMNS,
    *(12, 4) * len(PRIZES),
    *[4] * MAX_CARD_KINDS,
    *(16, 4, 8),
    *[1] * (len(ASKED) + len(CHOSEN)),
    *(4, 4),
    *[4] * len(CHOSEN),
    *_TASK * TASKS_EACH * MAX_PLAYERS,
    4,
]
_SCALES = 1 / np.array(_UNITS, np.float32)

# The bed whose plant an entry encodes, -1 for other entries.
_BEDS_OF_SEAT = [*np.repeat(np.arange(BEDS), LEVELS), *[-1] * (SEAT_SIZE - LEVELS * BEDS)]
_BEDS = np.array([*_BEDS_OF_SEAT * MAX_PLAYERS, *[-1] * (len(_UNITS) - MAX_PLAYERS * SEAT_SIZE)])

_SCORE_UNIT = np.float32(1 / 8)
_ANIMAL_UNIT = np.float32(1 / 4)


def num_entries(params: np.ndarray) -> int:
    """Return the number of entries read from an observation, all but plants without a bed; `params` are records (1,)."""
    return len(_UNITS) - MAX_PLAYERS * LEVELS * int((params[0]["bed"] == 0).sum())


@compiled
def fill_features(observation, params, features):
    """Fill `features`, float32 (N, num_entries + NUM_SCORES), for observations, int8 (N, 1224); `params` are records (1,).

    Entries of the observation are divided by about their maximum; plants without a bed, which are always 0, are left out.
    Scores are in units of 8 points, without odd points, which are hidden [10], animals in units of 4 points, points for
    coins and coins left over in units of 1. Unused seats are 0.
    """
    n = np.int64(params[0].num_players)
    for i in range(observation.shape[0]):
        scores = features[i, _fill_entries(observation[i], params[0], features[i]) :]
        scores[:] = 0
        highest = np.float32(0)
        for seat in range(n):
            _fill_seat(observation[i, seat * SEAT_SIZE :], params[0], scores[seat * _EACH :])
        for seat in range(1, n):
            score = scores[seat * _EACH]
            highest = max(highest, score)
            scores[MAX_PLAYERS * _EACH + seat - 1] = scores[0] - score
        scores[NUM_SCORES - 1] = scores[0] - highest


@compiled
def _fill_entries(seen, params, out):
    """Fill the first columns of `out` with the observation's entries; return their number."""
    at = 0
    for k in range(seen.shape[0]):
        if _BEDS[k] < 0 or params.bed[_BEDS[k]]:
            out[at] = seen[k] * _SCALES[k]
            at += 1
    return at


@compiled
def _fill_seat(seen, params, out):
    coins, animals = np.int64(seen[_COINS]), np.int64(seen[_ANIMALS])
    score = 2 * np.int64(seen[_HALF_POINTS]) + coins // COINS_PER_POINT
    for column in range(COLUMNS):
        score += _column_points(seen, params, column)
    out[0] = score * _SCORE_UNIT
    if animals < MAX_ANIMALS:
        out[1] = params.animal_points[animals] * _ANIMAL_UNIT
    out[2] = coins // COINS_PER_POINT
    out[3] = coins % COINS_PER_POINT


@compiled
def _column_points(seen, params, column):
    """Return the points of a column: 0 unless there is a plant in each bed, else by the highest level [9.1]."""
    highest = 0
    for row in range(ROWS):
        bed = COLUMNS * row + column
        level = 0
        for k in range(LEVELS):
            if seen[LEVELS * bed + k]:
                level = k + 1
        if params.bed[bed] and level == 0:
            return np.int64(0)
        highest = max(highest, level)
    return np.int64(params.column_points[highest - 1])
