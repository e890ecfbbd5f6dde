"""Features from playing out the two rounds after a move, in which all players make the largest groups that they can.

The rounds are played on a copy of the board as the mover sees it, in two scenarios. Dice not yet rolled have no values:
a turn with them gains the mean of its points, and its move is the one of a poor best die in the first scenario and of
a good one in the second. The scenarios break ties between moves and colours differently. Extra turns are ignored.
Numbers in brackets refer to `rules.md` in `mars_env`.
"""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled
from mars_env.board import (
    CENTRE,
    MAX_DIE,
    NEIGHBOUR_SETS,
    NEIGHBOURS,
    NUM_COLOURS,
    NUM_HEXES,
    RAYS,
    STEPS,
)
from mars_env.hex_sets import bit, group, lowest
from mars_env.rules import GARDENER_PLANES, NUM_BOARD_PLANES, SEAT_SCALARS, num_gardener_planes
from mars_env.state import MAX_GARDENERS, MAX_PLAYERS, MOVE

_ROUNDS = 2
_SCENARIOS = 2
NUM_COLUMNS = 2 * _ROUNDS
"""Number of features per gardener of a player."""

# Rows of working memory, int16 (NUM_ROWS, 91). First a table:
_FLOWERS = 0  # colour of the flower on each hex, or -1
_BLOCKED = 1  # 1 for hexes with a gardener or a peak
_SIZES = 2  # a row per colour: the size of the group that a flower planted there makes
_GAINS = _SIZES + NUM_COLOURS  # a row per seat: the largest group that it can make there, or -1 for a flower
_SETS = _GAINS + MAX_PLAYERS  # per colour, and for all, the set of hexes with a flower: 12 entries of 8 bits
_SEATS = _SETS + 1  # the state off the board, see below
_TABLE = _SEATS + 1  # number of rows of the table
# The next _TABLE rows keep the observed position, from which the table starts. Then, per value of a die, 7 entries
# each: the gain of the best move with it, its target, its gardener.
_BEST = 2 * _TABLE
NUM_ROWS = _BEST + 1
"""Number of rows of working memory."""

# Entries of the row _SEATS. Seats are counted from the observer.
_GARDENERS = 0  # per seat, its gardeners' hexes
_STOCKS = _GARDENERS + MAX_PLAYERS * MAX_GARDENERS  # per seat, its flowers by colour
_SCORES = _STOCKS + MAX_PLAYERS * NUM_COLOURS
_DICE = _SCORES + MAX_PLAYERS  # dice on the table by value, 7 entries
_UNROLLED = _DICE + MAX_DIE + 1  # dice on the table that are not yet rolled
_OVER = _UNROLLED + 1  # 1 after a player's last flower

_ALL_COLOURS = NUM_COLOURS  # the set of all flowers
_WORDS = 12  # entries of a set

# Indexes in an observation: the scalars, among them the player to move, the dice, the phase, the number of players
SCALARS = NUM_BOARD_PLANES * NUM_HEXES
_TURN = SCALARS + MAX_PLAYERS * SEAT_SCALARS
_VALUES = _TURN + MAX_PLAYERS
PHASES = _VALUES + MAX_DIE
_PLAYERS = PHASES + 3

_AT_MOST = np.arange(MAX_DIE + 1) ** np.arange(7)[:, None]  # at most 6 dice are rolled
"""int64 (7, 7): the number of rolls of n dice, of `_AT_MOST[n, 6]`, whose best die is among the k lowest values."""
_WEIGHT = np.diff(_AT_MOST, axis=1)
"""int64 (7, 6): the number of these rolls whose best die has the value of rank 0 … 5, counted from the lowest."""
_QUANTILE = (np.arange(_SCENARIOS) + 0.5) / _SCENARIOS
_RANK = (_AT_MOST[None, :, 1:] < _QUANTILE[:, None, None] * _AT_MOST[:, -1:]).sum(2)
"""int64 (scenarios, 7): the rank of the best of n dice in a scenario."""
_ORDER = (np.arange(6) + 2 * np.arange(_SCENARIOS)[:, None]) % 6
"""int64 (scenarios, 6): the order of directions, colours and values of dice in a scenario."""


@compiled
def fill_look_ahead(seen, work, hexes, each, groups, first):
    """Fill four features per reachable hex and gardener, in points; 0 for other hexes, and if no move is due.

    These are: the points of all others until the mover's next turn, the mover's points in that turn, and both for the
    round after it.

    Args:
        seen: int8 (size,), a flat observation.
        work: int16 (NUM_ROWS, 91), overwritten.
        hexes: float32 (91, F), features; the group sizes are read from column `groups` on, and `NUM_COLUMNS` columns per
            gardener are filled from column `first` on.
        each: gardeners per player.
    """
    hexes[:, first : first + NUM_COLUMNS * each] = 0
    if not seen[PHASES + MOVE] or not seen[_TURN]:
        return
    n = np.int64(seen[_PLAYERS])
    _read(seen, work, hexes, each, groups, n)
    reach = (GARDENER_PLANES + num_gardener_planes(each) + 1) * NUM_HEXES
    for g in range(each):
        for hex_ in range(NUM_HEXES):
            if seen[reach + g * NUM_HEXES + hex_]:
                out = hexes[hex_, first + NUM_COLUMNS * g : first + NUM_COLUMNS * (g + 1)]
                for scenario in range(_SCENARIOS):
                    _play_on(work, g, np.int64(hex_), n, each, scenario, out)
                for k in range(NUM_COLUMNS):
                    out[k] /= np.float32(_SCENARIOS)


@compiled
def _play_on(work, g, hex_, n, each, scenario, out):
    """Move to a hex, play the next rounds, and add their points to `out`."""
    for row in range(_TABLE):
        for k in range(NUM_HEXES):
            work[row, k] = work[_TABLE + row, k]
    start = np.int64(work[_SEATS, _GARDENERS + g])
    work[_SEATS, _DICE + np.int64(STEPS[start, hex_])] -= 1
    _go(work, np.int64(0), g, hex_, n, scenario)
    for round_ in range(_ROUNDS):
        for seat in range(1, n):
            out[2 * round_] += _take_turn(work, np.int64(seat), n, each, scenario)
        out[2 * round_ + 1] += _take_turn(work, np.int64(0), n, each, scenario)


@compiled
def _read(seen, work, hexes, each, groups, n):
    """Fill the second `_TABLE` rows with the observed position."""
    table, planes = work[_TABLE : 2 * _TABLE], num_gardener_planes(each)
    seats = table[_SEATS]
    for hex_ in range(NUM_HEXES):
        table[_FLOWERS, hex_] = -1
        table[_BLOCKED, hex_] = seen[(GARDENER_PLANES + planes) * NUM_HEXES + hex_]
        for colour in range(NUM_COLOURS):
            if seen[colour * NUM_HEXES + hex_]:
                table[_FLOWERS, hex_] = colour
            table[_SIZES + colour, hex_] = np.int16(hexes[hex_, groups + colour])
        for plane in range(planes):
            if seen[(GARDENER_PLANES + plane) * NUM_HEXES + hex_]:
                table[_BLOCKED, hex_] = 1
                seats[_GARDENERS + plane // each * MAX_GARDENERS + plane % each] = hex_
    for seat in range(MAX_PLAYERS):
        at = SCALARS + seat * SEAT_SCALARS
        for colour in range(NUM_COLOURS):
            seats[_STOCKS + seat * NUM_COLOURS + colour] = seen[at + colour]
        seats[_SCORES + seat] = 16 * np.int16(seen[at + NUM_COLOURS]) + seen[at + NUM_COLOURS + 1]
    for value in range(1, MAX_DIE + 1):
        seats[_DICE + value] = seen[_VALUES + value - 1]
    table[_SETS, :] = 0
    for hex_ in range(NUM_HEXES):
        if table[_FLOWERS, hex_] >= 0:
            _add_to_sets(table, np.int64(hex_), np.int64(table[_FLOWERS, hex_]))
    seats[_UNROLLED] = 0
    seats[_OVER] = 0
    for seat in range(n):
        _find_gains(table, seat)


@compiled
def _take_turn(table, seat, n, each, scenario):
    """Play a turn for the most points; return the points, or their mean over dice not yet rolled [2, 3]."""
    seats, best = table[_SEATS], table[_BEST]
    if seats[_OVER]:
        return np.float32(0)
    dice = np.int64(0)
    for value in range(1, MAX_DIE + 1):
        dice += np.int64(seats[_DICE + value])
    if dice == 0 and seats[_UNROLLED] == 0:
        seats[_UNROLLED] = _dice_to_roll(table, seat, each)
        if seats[_UNROLLED] == 0:
            return np.float32(0)
    _find_best_moves(table, seat, each, scenario)
    chosen, points, rolls = np.int64(0), np.int64(0), np.int64(1)
    if dice > 0:
        for k in range(MAX_DIE):
            value = 1 + _ORDER[scenario, k]
            if seats[_DICE + value] > 0 and (chosen == 0 or best[value] > best[chosen]):
                chosen = value
        points = _space(table, seat, np.int64(best[chosen]), n) - np.int64(seats[_SCORES + seat])
        seats[_DICE + chosen] -= 1
    else:
        unrolled = np.int64(seats[_UNROLLED])
        rolls = _AT_MOST[unrolled, MAX_DIE]
        for value in range(1, MAX_DIE + 1):
            rank = np.int64(0)  # number of worse values; of equal ones the lower is worse
            for other in range(1, MAX_DIE + 1):
                rank += best[other] < best[value] or (best[other] == best[value] and other < value)
            gain = _space(table, seat, np.int64(best[value]), n) - np.int64(seats[_SCORES + seat])
            points += _WEIGHT[unrolled, rank] * gain
            if rank == _RANK[scenario, unrolled]:
                chosen = value
        seats[_UNROLLED] -= 1
    target = np.int64(best[7 + chosen])
    if target < 0:
        seats[_SCORES + seat] = _space(table, seat, np.int64(-1), n)
    else:
        _go(table, seat, np.int64(best[14 + chosen]), target, n, scenario)
    return np.float32(points) / np.float32(rolls)


@compiled
def _dice_to_roll(table, seat, each):
    """Return the number of hexes without a flower around the player's gardener, of two the larger [2.2, 2.3, 7.3]."""
    most = np.int64(0)
    for g in range(each):
        hex_ = np.int64(table[_SEATS, _GARDENERS + seat * MAX_GARDENERS + g])
        count = np.int64(0)
        for direction in range(6):
            neighbour = np.int64(NEIGHBOURS[hex_, direction])
            count += neighbour >= 0 and table[_FLOWERS, neighbour] < 0
        most = max(most, count)
    return most


@compiled
def _find_best_moves(table, seat, each, scenario):
    """Fill the row `_BEST`: the largest group per value of a die, or -1, its target, -1 without a move, and its gardener [3]."""
    best, gains = table[_BEST], table[_GAINS + seat]
    for value in range(1, MAX_DIE + 1):
        best[value], best[7 + value] = -1, -1
    for g in range(each):
        start = np.int64(table[_SEATS, _GARDENERS + seat * MAX_GARDENERS + g])
        for k in range(6):
            direction = _ORDER[scenario, k]
            for value in range(1, MAX_DIE + 1):
                target = np.int64(RAYS[start, direction, value])
                if target < 0 or table[_BLOCKED, target]:
                    break
                if target == CENTRE:
                    continue
                if best[7 + value] < 0 or gains[target] > best[value]:
                    best[value], best[7 + value], best[14 + value] = gains[target], target, g


@compiled
def _find_gains(table, seat):
    """Fill a player's row of `_GAINS`."""
    gains, flowers = table[_GAINS + seat], table[_FLOWERS]
    gains[:] = 0
    for colour in range(NUM_COLOURS):
        if table[_SEATS, _STOCKS + seat * NUM_COLOURS + colour] > 0:
            sizes = table[_SIZES + colour]
            for hex_ in range(NUM_HEXES):
                gains[hex_] = max(gains[hex_], sizes[hex_])
    for hex_ in range(NUM_HEXES):
        gains[hex_] = gains[hex_] if flowers[hex_] < 0 else np.int16(-1)


@compiled
def _best_colour(table, seat, hex_, scenario):
    """Return the player's colour that makes the largest group there."""
    best, size = np.int64(0), np.int64(0)
    for k in range(NUM_COLOURS):
        colour = _ORDER[scenario, k]
        if table[_SEATS, _STOCKS + seat * NUM_COLOURS + colour] > 0 and table[_SIZES + colour, hex_] > size:
            best, size = colour, np.int64(table[_SIZES + colour, hex_])
    return best


@compiled
def _go(table, seat, g, target, n, scenario):
    """Move a gardener; plant the best colour there, or lose points for a flower [3.4, 3.5]."""
    seats = table[_SEATS]
    at = _GARDENERS + seat * MAX_GARDENERS + g
    table[_BLOCKED, np.int64(seats[at])] = 0
    table[_BLOCKED, target] = 1
    seats[at] = target
    points = np.int64(-1)
    if table[_FLOWERS, target] < 0:
        points = _plant(table, seat, target, _best_colour(table, seat, target, scenario), n)
    seats[_SCORES + seat] = _space(table, seat, points, n)


@compiled
def _plant(table, seat, hex_, colour, n):
    """Plant a flower; return the size of its group [3.6, 5.1]."""
    seats = table[_SEATS]
    table[_FLOWERS, hex_] = colour
    _add_to_sets(table, hex_, colour)
    seats[_STOCKS + seat * NUM_COLOURS + colour] -= 1
    left = np.int64(0)
    for c in range(NUM_COLOURS):
        left += np.int64(seats[_STOCKS + seat * NUM_COLOURS + c])
    seats[_OVER] = left == 0
    low, high = _set(table, colour)
    size, group_low, group_high, near_low, near_high = group(hex_, low, high)
    low, high = low & ~group_low, high & ~group_high
    all_low, all_high = _set(table, _ALL_COLOURS)
    near_low, near_high = near_low & ~all_low, near_high & ~all_high
    while near_low | near_high:
        near = lowest(near_low, near_high)
        if near < 64:
            near_low ^= bit(near)
        else:
            near_high ^= bit(near)
        joined = 1 + size + _adjacent_size(near, low, high)
        table[_SIZES + colour, near] = joined
        for other in range(n):
            if seats[_STOCKS + other * NUM_COLOURS + colour] > 0:
                table[_GAINS + other, near] = max(np.int64(table[_GAINS + other, near]), joined)
    for other in range(n):
        table[_GAINS + other, hex_] = -1
    if seats[_STOCKS + seat * NUM_COLOURS + colour] == 0:
        _find_gains(table, seat)
    return size


@compiled
def _adjacent_size(hex_, low, high):
    """Return the total size of the groups of a set that are adjacent to a hex."""
    size = np.int64(0)
    near_low, near_high = NEIGHBOUR_SETS[hex_, 0] & low, NEIGHBOUR_SETS[hex_, 1] & high
    while near_low | near_high:
        more, group_low, group_high, _, _ = group(lowest(near_low, near_high), low, high)
        size += more
        near_low, near_high = near_low & ~group_low, near_high & ~group_high
    return size


@compiled
def _add_to_sets(table, hex_, colour):
    for chosen in (colour, np.int64(_ALL_COLOURS)):
        table[_SETS, chosen * _WORDS + hex_ // 8] |= 1 << (hex_ % 8)


@compiled
def _set(table, colour):
    """Return the set of hexes with a flower of a colour, in two words."""
    low, high = np.uint64(0), np.uint64(0)
    for k in range(8):
        low |= np.uint64(table[_SETS, colour * _WORDS + k]) << np.uint64(8 * k)
    for k in range(4):
        high |= np.uint64(table[_SETS, colour * _WORDS + 8 + k]) << np.uint64(8 * k)
    return low, high


@compiled
def _space(table, seat, points, n):
    """Return the space that `points` lead to on the score track, past occupied spaces; space 0 is shared [4]."""
    seats = table[_SEATS]
    space = max(np.int64(seats[_SCORES + seat]) + points, 0)
    onward = 1 if points > 0 else -1
    other = 0
    while space > 0 and other < n:
        if other != seat and seats[_SCORES + other] == space:
            space, other = space + onward, -1  # check all of them again
        other += 1
    return space
