"""Features per hex: points for a flower there, the best moves from there, a lookahead.

Networks learn them badly from the observation: points depend on single spaces of the score track, moves on straight
lines. Numbers in brackets refer to `rules.md` in `mars_env`.
"""

from __future__ import annotations

import numpy as np

from garden_agents.games.mars.look_ahead import NUM_COLUMNS, PHASES, SCALARS, fill_look_ahead
from garden_core.jit import compiled
from mars_env.board import CENTRE, MAX_DIE, NUM_COLOURS, NUM_HEXES, RAYS
from mars_env.rules import GARDENER_PLANES, NUM_BOARD_PLANES, SEAT_SCALARS, num_gardener_planes
from mars_env.state import PLACE

_NUM_OWN = NUM_COLOURS + 3  # number of the features filled in this file

_GROUPS = NUM_BOARD_PLANES  # column of the first group size
_FIRST = _GROUPS + NUM_COLOURS + 1  # column of the first feature filled here
_SPACES = 63  # number of spaces ahead on the score track that count
_ONE = np.uint64(1)


def num_features(gardeners: int) -> int:
    """Return the number of features per hex with `gardeners` gardeners per player.

    These are: per colour the points for planting here, and their maximum; mean and maximum of the gain of a move from
    here over the values of the die; per gardener the gains of the others and the player in the two rounds after
    moving here (`fill_look_ahead`); and 1 where a gardener can be put or moved to now.
    """
    return _NUM_OWN + NUM_COLUMNS * gardeners + 1


@compiled
def with_one_gardener(observation, scratch, features):
    """Fill the last `num_features(1)` columns of `features`, float32 (N, 91, F), in points.

    Args:
        observation: flat observations, int8 (N, 1335).
        scratch: int16 (NUM_ROWS, 91), overwritten.
        features: as described by `garden_agents.games.Board`; reads the group sizes.
    """
    _fill_rows(observation, scratch, features, np.int64(1))


@compiled
def with_two_gardeners(observation, scratch, features):
    """`with_one_gardener` for two gardeners per player."""
    _fill_rows(observation, scratch, features, np.int64(2))


@compiled
def _fill_rows(observation, scratch, features, each):
    for i in range(observation.shape[0]):
        _fill(observation[i], scratch, features[i], each)
        fill_look_ahead(observation[i], scratch, features[i], each, _GROUPS, _FIRST + _NUM_OWN)
        _mark_targets(observation[i], scratch[0], features[i, :, features.shape[2] - 1], each)


@compiled
def _fill(seen, scratch, hexes, each):
    blocked, gain, most = scratch[0], scratch[1], scratch[2]
    _find_blocked(seen, each, each, blocked)  # by the others [3.3]
    held = _spaces_ahead(seen)
    lost = _points_for_a_flower(seen)
    for hex_ in range(NUM_HEXES):
        has_flower = False
        for colour in range(NUM_COLOURS):
            has_flower |= seen[colour * NUM_HEXES + hex_] != 0
        largest, best = 0, 0
        for colour in range(NUM_COLOURS):
            size, points = 0, 0
            if seen[SCALARS + colour] > 0 and not has_flower and hex_ != CENTRE:
                size = np.int64(hexes[hex_, _GROUPS + colour])
                points = _onward(size, held)
            hexes[hex_, _FIRST + colour] = points
            largest, best = max(largest, size), max(best, points)
        hexes[hex_, _FIRST + NUM_COLOURS] = lost if has_flower else best
        gain[hex_] = -1 if has_flower else largest
    gain[CENTRE] = -1  # no move ends there
    for hex_ in range(NUM_HEXES):
        mean, best = _reach(hex_, blocked, gain, most)
        hexes[hex_, _FIRST + NUM_COLOURS + 1] = mean
        hexes[hex_, _FIRST + NUM_COLOURS + 2] = best


@compiled
def _find_blocked(seen, each, first, blocked):
    """Fill `blocked` with 1 for hexes with a peak or a gardener, from gardener `first` on, else 0."""
    last = GARDENER_PLANES + num_gardener_planes(each)  # the plane of peaks
    blocked[:] = 0
    for plane in range(GARDENER_PLANES + first, last + 1):
        for hex_ in range(NUM_HEXES):
            blocked[hex_] |= seen[plane * NUM_HEXES + hex_]


@compiled
def _mark_targets(seen, blocked, out, each):
    """Fill `out`, float32 (91,), with 1 where the observer can put a gardener [1.6] or move one [3.2], else 0."""
    if seen[PHASES + PLACE]:
        _find_blocked(seen, each, np.int64(0), blocked)
        for hex_ in range(NUM_HEXES):
            out[hex_] = blocked[hex_] == 0
        out[CENTRE] = 0
        return
    out[:] = 0
    reach = GARDENER_PLANES + num_gardener_planes(each) + 1  # the planes after the peaks
    for plane in range(reach, reach + each):
        for hex_ in range(NUM_HEXES):
            if seen[plane * NUM_HEXES + hex_]:
                out[hex_] = 1


@compiled
def _score(seen, offset):
    at = SCALARS + offset * SEAT_SCALARS + NUM_COLOURS
    return 16 * np.int64(seen[at]) + np.int64(seen[at + 1])


@compiled
def _num_players(seen):
    return np.int64(seen[seen.shape[0] - NUM_COLOURS - 1])


@compiled
def _spaces_ahead(seen):
    """Return the occupied spaces ahead of the observer as bits: bit k is the space k points ahead."""
    own, held = _score(seen, np.int64(0)), np.uint64(0)
    for offset in range(1, _num_players(seen)):
        ahead = _score(seen, offset) - own
        if 0 < ahead <= _SPACES:
            held |= _ONE << np.uint64(ahead)
    return held


@compiled
def _onward(points, held):
    """Return the points that `points`, 1 or more, become on the score track, past occupied spaces [4]."""
    while points <= _SPACES and (held >> np.uint64(points)) & _ONE:
        points += 1
    return points


@compiled
def _points_for_a_flower(seen):
    """Return the points for going to a hex with a flower: -1, less past occupied spaces, 0 on space 0 [3.4, 4]."""
    own = _score(seen, np.int64(0))
    space = max(own - 1, 0)
    offset = 1
    while space > 0 and offset < _num_players(seen):
        if _score(seen, offset) == space:  # occupied: check all players again for the space below
            space, offset = space - 1, 0
        offset += 1
    return space - own


@compiled
def _reach(hex_, blocked, gain, most):
    """Return mean and maximum over the values of a die of the largest gain of a gardener's move from this hex.

    A move gains the size of the largest group that it can make, or -1 on a flower; the score track is ignored.
    """
    for value in range(1, MAX_DIE + 1):
        most[value] = -1  # an unusable die costs a point [3.7]
    for direction in range(6):
        for value in range(1, MAX_DIE + 1):
            target = np.int64(RAYS[hex_, direction, value])
            if target < 0 or blocked[target]:
                break
            most[value] = max(most[value], gain[target])
    total, highest = np.int64(0), np.int64(-1)
    for value in range(1, MAX_DIE + 1):
        total += most[value]
        highest = max(highest, np.int64(most[value]))
    return total / np.float32(MAX_DIE), highest
