"""Features instead of the observation: its entries, scaled, the current score of each seat, and what is at hand with values shown.

In the observation the score is spread over many entries (points, coins, the plants of each column), which a network would
have to add up and compare to predict the winner. With `cards_shown="values"` the features are a function of the observation
alone, and what a track action leads to stands next to what gives it. Numbers in brackets refer to `rules.md` in `botanicus_env`.
"""

from __future__ import annotations

import numpy as np

from botanicus_env.game import Botanicus
from botanicus_env.rules import COINS_PER_POINT, SEAT_SIZE, SPACE_SIZE, TILE_SIZE
from botanicus_env.shown import (
    AMOUNTS,
    BY_EDGE,
    FURTHER,
    OF_CARD,
    OF_NODE,
    OF_SPACE,
    PLACE_SIZE,
    PRIZES_TO_COME,
    STEP_SIZE,
    STEPS,
    TRACK_SIZE,
    add_amount,
)
from botanicus_env.state import ASKED, TILED_COLUMNS
from botanicus_env.tables import (
    BEDS,
    CHOSEN,
    COLUMNS,
    CROSSINGS,
    KINDS,
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
from garden_agents.games import Features
from garden_core.game import Game
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
_AMOUNT_UNITS = [2 if kind.startswith("plant") or kind in ("water", *TRACKS) else 4 for kind in AMOUNTS]
_AMOUNT_UNITS[AMOUNTS.index("animal") : AMOUNTS.index("plant_1")] = [1] * (2 + len(PRIZES))  # cards, too
_PLACE = [*_AMOUNT_UNITS[:OF_NODE], 1, 1, 1, 4, 4]
_VALUE_UNITS = [
    *_UNITS,
    *[*_AMOUNT_UNITS[:OF_NODE], *_PLACE * (STEPS * STEP_SIZE // PLACE_SIZE)] * len(TRACKS),
    *_AMOUNT_UNITS * (FURTHER * SPACES),
    *[12] * (len(PRIZES) * PRIZES_TO_COME),
    *[*_AMOUNT_UNITS[:OF_CARD], 4] * MAX_CARD_KINDS,
    *[16] * (LEVELS + MAX_ANIMALS),
    *_TASK * ROWS,
    *[1] * BEDS,
]
_SCALES = 1 / np.array(_VALUE_UNITS, np.float32)  # of the default, too, the first ones

# The bed whose plant an entry encodes, -1 for other entries.
_BEDS_OF_SEAT = [*np.repeat(np.arange(BEDS), LEVELS), *[-1] * (SEAT_SIZE - LEVELS * BEDS)]
_BEDS = np.array([*_BEDS_OF_SEAT * MAX_PLAYERS, *[-1] * (len(_UNITS) - MAX_PLAYERS * SEAT_SIZE)])

_SCORE_UNIT = np.float32(1 / 8)
_ANIMAL_UNIT = np.float32(1 / 4)


# Where parts of an observation begin.
_AT = {name: part.start for name, part in Botanicus(cards_shown="values").observation_slices.items()}
_PLAYERS, _COLUMN, _AT_HAND = _AT["number of players"], _AT["counts"] + 2, _AT["action at hand"]
_CURRENT, _TILES, _AHEAD = _AT["current column"], _AT["tiles"], _AT["tracks ahead"]
_COLUMN_POINTS, _ANIMAL_POINTS, _PLACES = _AT["column points"], _AT["animal points"], _AT["places of beds"]

_POLE, _FIRST_TRACK = KINDS.index("pole"), KINDS.index(TRACKS[0])
_SPACE_FEATURES = OF_SPACE + STEP_SIZE
_AMOUNT_SCALES = 1 / np.array(_AMOUNT_UNITS, np.float32)


def features(game: Game) -> Features:
    """Return the features of a game, with the same params for all numbers of players, and with values shown for all tables."""
    params = game.params.copy()
    if game.option_values["cards_shown"] == "values":
        num = len(_VALUE_UNITS) + NUM_SCORES + TRACK_SIZE + SPACES * _SPACE_FEATURES
        return Features(num, fill_values, np.zeros_like(params))
    params["num_players"] = params["max_decisions"] = 0
    no_beds = int((params[0]["bed"] == 0).sum())
    entries = len(_UNITS) - MAX_PLAYERS * LEVELS * no_beds
    return Features(entries + NUM_SCORES, fill_features, params)


@compiled
def fill_values(observation, params, features):
    """Fill `features`, float32 (N, F), for observations with values shown, int8 (N, 2414); `params` are not read.

    The features are the entries, divided by about their maximum; the scores, as in `fill_features`; the track at hand, as the
    entries of each track, without what the node gives before the first step; and for each space of the current column the
    amounts by kind that a Flower gains now, then the two nodes to which all steps of a track action lead, or as many as there
    are.
    """
    for i in range(observation.shape[0]):
        seen, out = observation[i], features[i]
        for k in range(seen.shape[0]):
            out[k] = seen[k] * _SCALES[k]
        at = np.int64(seen.shape[0])
        columns, animals, beds = seen[_COLUMN_POINTS:], seen[_ANIMAL_POINTS:], seen[_PLACES:]
        _fill_scores(seen, columns, animals, beds, out[at : at + NUM_SCORES])
        at += NUM_SCORES
        out[at:] = 0
        for track in range(len(TRACKS)):
            if seen[_AT_HAND + len(CHOSEN) - len(TRACKS) + track]:
                begin = OF_NODE * (seen[_AT_HAND + len(CHOSEN) + 1] == 0)
                for k in range(begin, TRACK_SIZE):
                    out[at + k] = out[_AHEAD + TRACK_SIZE * track + k]
        at += TRACK_SIZE
        for space in range(SPACES):
            _fill_space(seen, out, np.int64(space), out[at : at + _SPACE_FEATURES])
            at += _SPACE_FEATURES


@compiled
def _fill_space(seen, entries, space, out):
    """Write what a Flower on a space of the current column gains now to `out`, which is 0 [5.6, 5.7, 5.8]."""
    here, column = _CURRENT + SPACE_SIZE * space, np.int64(seen[_COLUMN])
    first = seen[here + len(KINDS) + 1] == 0
    if first or not seen[here + _POLE]:
        _fill_action(seen[here:], np.int64(len(KINDS)), entries, out)
    if first and column % 2 == 0:
        tile = _TILES + TILE_SIZE * (SPACES * (column // 2 - 1) + space)
        _fill_action(seen[tile:], np.int64(_POLE), entries, out)
    for k in range(OF_SPACE):
        out[k] *= _AMOUNT_SCALES[k]


@compiled
def _fill_action(seen, kinds, entries, out):
    """Add the amount of an action, seen as its kind one-hot and its amount, and write the nodes that its steps lead to."""
    amount = np.int64(seen[kinds])
    for kind in range(kinds):
        if seen[kind]:
            add_amount((kind, amount), out)
    for track in range(len(TRACKS)):
        if seen[_FIRST_TRACK + track]:
            step = min(amount, np.int64(STEPS))
            at = _AHEAD + TRACK_SIZE * track + OF_NODE + STEP_SIZE * (step - 1)
            while step > 1 and not (entries[at + BY_EDGE] or entries[at + BY_EDGE + 1]):
                step, at = step - 1, at - STEP_SIZE
            for k in range(STEP_SIZE):
                out[OF_SPACE + k] = entries[at + k]


@compiled
def fill_features(observation, params, features):
    """Fill `features`, float32 (N, F), for observations, int8 (N, 1224); `params` are records (1,).

    Entries of the observation are divided by about their maximum; plants without a bed, which are always 0, are left out.
    Scores are in units of 8 points, without odd points, which are hidden [10], animals in units of 4 points, points for
    coins and coins left over in units of 1. Unused seats are 0.
    """
    own = params[0]
    for i in range(observation.shape[0]):
        scores = features[i, _fill_entries(observation[i], own, features[i]) :]
        _fill_scores(observation[i], own.column_points, own.animal_points, own.bed, scores)


@compiled
def _fill_scores(seen, columns, animals, beds, scores):
    """Fill `scores`, float32 (NUM_SCORES,), given the points of columns and animals, and where beds are."""
    n = np.int64(seen[_PLAYERS])
    scores[:] = 0
    highest = np.float32(0)
    for seat in range(n):
        _fill_seat(seen[seat * SEAT_SIZE :], columns, animals, beds, scores[seat * _EACH :])
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
def _fill_seat(seen, column_points, animal_points, places, out):
    coins, animals = np.int64(seen[_COINS]), np.int64(seen[_ANIMALS])
    score = 2 * np.int64(seen[_HALF_POINTS]) + coins // COINS_PER_POINT
    for column in range(COLUMNS):
        score += _points_of_column(seen, column_points, places, column)
    out[0] = score * _SCORE_UNIT
    if animals < MAX_ANIMALS:
        out[1] = animal_points[animals] * _ANIMAL_UNIT
    out[2] = coins // COINS_PER_POINT
    out[3] = coins % COINS_PER_POINT


@compiled
def _points_of_column(seen, column_points, places, column):
    """Return the points of a column: 0 unless there is a plant in each bed, else by the highest level [9.1]."""
    highest = 0
    for row in range(ROWS):
        bed = COLUMNS * row + column
        level = 0
        for k in range(LEVELS):
            if seen[LEVELS * bed + k]:
                level = k + 1
        if places[bed] and level == 0:
            return np.int64(0)
        highest = max(highest, level)
    return np.int64(column_points[highest - 1])
