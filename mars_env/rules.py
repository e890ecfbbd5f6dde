"""The compiled rules of Gardens of Mars: one function per rule, in the order of a game.

A whole number handed to another function is an np.int64: a bare literal has its own Numba type and triggers another
compilation.
Numbers in brackets name the sections and paragraphs of `rules.md`, next to this file.
"""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled
from garden_core.jit.rng import bounded, seed_rng, shuffle
from mars_env.board import (
    CELLS,
    CENTRE,
    FLOWERS_PER_COLOUR,
    MAX_DIE,
    NEIGHBOURS,
    NUM_COLOURS,
    NUM_HEXES,
    RAYS,
    STEPS,
    WIDTH,
)
from mars_env.hex_sets import bit, group_size
from mars_env.state import MAX_PLAYERS, MOVE, PLACE, PLANT

SPECIAL_SPACE = 25  # special actions count above this space of the score track [6.1]

# The blocks of actions: a block of hexes for each gardener, then these.
NUM_GIVE_UPS = MAX_DIE

# Observation: board planes, then scalars.
GARDENER_PLANES = NUM_COLOURS
NUM_BOARD_PLANES = 14  # 6 flowers, 5 gardeners, peaks, reachable, pending; with two gardeners 6, 4, 1, 2, 1
SEAT_SCALARS = NUM_COLOURS + 2
NUM_SCALARS = MAX_PLAYERS * SEAT_SCALARS + MAX_PLAYERS + MAX_DIE + 3 + 1 + NUM_COLOURS
FLAT_SIZE = NUM_BOARD_PLANES * NUM_HEXES + NUM_SCALARS
PLANE_SIZE = WIDTH * WIDTH
NUM_PLANES = NUM_BOARD_PLANES + NUM_SCALARS

_BAG = np.array([colour for colour in range(NUM_COLOURS) for _ in range(FLOWERS_PER_COLOUR)], np.int8)
_ZERO = np.uint64(0)


# --- setup ---


@compiled
def deal(state, params, seed):
    """Put up the peaks and start with placing; the flowers are drawn when all gardeners are placed [1]."""
    seed_rng(state.rng, seed)
    state.blocked[:] = 0
    state.garden[:, :] = _ZERO
    state.score[:] = 0
    state.flowers[:] = -1
    state.peaks[:] = 0
    state.gardeners[:, :] = -1
    state.stocks[:, :] = 0
    state.planted[:] = 0
    state.dice[:] = 0
    state.num_dice = 0
    state.phase = PLACE
    state.pending = -1
    state.extra_turn = 0
    state.current_player = 0
    _place_peaks(state, params)


@compiled
def _place_peaks(state, params):
    """Draw distinct hexes other than the centre until the rest of the board is connected [1.4]."""
    if params.num_peaks == 0:
        return
    while True:
        state.blocked[:] = 0
        placed = 0
        while placed < params.num_peaks:
            hex_ = bounded(state.rng, np.int64(NUM_HEXES))
            if hex_ != CENTRE and not state.blocked[hex_]:
                state.blocked[hex_] = 1
                placed += 1
        if _is_connected(state, params):
            break
    for hex_ in range(NUM_HEXES):
        state.peaks[hex_] = state.blocked[hex_]


@compiled
def _is_connected(state, params):
    """Return whether the hexes that are neither peak nor centre are connected [1.4]."""
    low, high, start = _ZERO, _ZERO, np.int64(0)
    for hex_ in range(NUM_HEXES):
        if hex_ != CENTRE and not state.blocked[hex_]:
            start = hex_
            if hex_ < 64:
                low |= bit(hex_)
            else:
                high |= bit(hex_)
    return group_size(start, low, high) == NUM_HEXES - 1 - params.num_peaks


@compiled
def _draw_flowers(state, params):
    """Shuffle all flowers and deal them out evenly [1.7]."""
    # The board, still without flowers, holds them while they are shuffled.
    n = _BAG.shape[0]
    for i in range(n):
        state.flowers[i] = _BAG[i]
    shuffle(state.rng, state.flowers, n)
    each = n // params.num_players
    for p in range(params.num_players):
        for i in range(p * each, (p + 1) * each):
            state.stocks[p, state.flowers[i]] += 1
    state.flowers[:] = -1


# --- turns ---


@compiled
def _begin_turn(state, params):
    """Start the current player's turn, skipping players who can neither use nor roll dice [2.1, 2.4, 5.2]."""
    state.phase = MOVE
    state.pending = -1
    state.extra_turn = 0
    if state.num_dice > 0:
        return
    for _ in range(params.num_players):
        dice = _dice_to_roll(state, params, np.int64(state.current_player))
        if dice > 0:
            for _ in range(dice):
                state.dice[1 + bounded(state.rng, np.int64(MAX_DIE))] += 1
            state.num_dice = dice
            return
        state.current_player = (state.current_player + 1) % params.num_players
    state.terminated = 1  # no player can roll


@compiled
def _dice_to_roll(state, params, player):
    """Count hexes without a flower around the player's gardener; of two, the larger count [2.2, 2.3, 7.3]."""
    most = 0
    for g in range(params.gardeners):
        count = 0
        hex_ = np.int64(state.gardeners[player, g])
        for direction in range(6):
            neighbour = np.int64(NEIGHBOURS[hex_, direction])
            count += neighbour >= 0 and state.flowers[neighbour] < 0
        most = max(most, count)
    return most


@compiled
def _end_turn(state, params):
    """Pass the turn on, or give the same player the extra one that the turn earned [3.8, 6.3]."""
    if not (state.extra_turn and state.num_dice > 0):
        state.current_player = (state.current_player + 1) % params.num_players
    _begin_turn(state, params)


# --- the decisions ---


@compiled
def apply_action(state, params, action):
    """Carry out a legal action up to the next decision."""
    hexes = NUM_HEXES * np.int64(params.gardeners)
    if state.phase == PLACE:
        _place(state, params, action % NUM_HEXES, action // NUM_HEXES)
    elif state.phase == PLANT:
        _plant(state, params, action - hexes - NUM_GIVE_UPS)
    elif action >= hexes:
        _give_up(state, params, action - hexes + 1)
    else:
        _move(state, params, action // NUM_HEXES, action % NUM_HEXES)


@compiled
def _place(state, params, hex_, round_):
    """Put the player's next gardener on a hex; after the last, draw flowers, and seat 0 begins [1.6, 1.7, 7.1]."""
    state.gardeners[state.current_player, round_] = hex_
    state.blocked[hex_] = 1
    last_seat = state.current_player == params.num_players - 1
    state.current_player = (state.current_player + 1) % params.num_players
    if last_seat and round_ == params.gardeners - 1:
        _draw_flowers(state, params)
        _begin_turn(state, params)


@compiled
def _move(state, params, gardener, target):
    """Use the die that leads the gardener to the target; plant there, or lose a point for a flower [3.2, 3.4, 3.5, 3.8]."""
    player = np.int64(state.current_player)
    start = np.int64(state.gardeners[player, gardener])
    _use_die(state, np.int64(STEPS[start, target]))
    state.blocked[start] = 0
    state.blocked[target] = 1
    state.gardeners[player, gardener] = target
    if state.flowers[target] >= 0:
        _move_scorer(state, params, player, np.int64(-1))
        _end_turn(state, params)
        return
    state.pending = target
    state.phase = PLANT
    kinds, last_kind = 0, np.int64(0)
    for colour in range(NUM_COLOURS):
        if state.stocks[player, colour] > 0:
            kinds, last_kind = kinds + 1, colour
    if kinds == 1:  # nothing to decide
        _plant(state, params, last_kind)


@compiled
def _give_up(state, params, value):
    """Use up a die with which no gardener can move, for a point [3.7, 3.8]."""
    _use_die(state, value)
    _move_scorer(state, params, np.int64(state.current_player), np.int64(-1))
    _end_turn(state, params)


@compiled
def _plant(state, params, colour):
    """Plant an own flower and score its group; the last own flower ends the game [3.5, 3.6, 5.1, 6.1, 6.4]."""
    player, hex_ = np.int64(state.current_player), np.int64(state.pending)
    state.pending = -1
    state.flowers[hex_] = colour
    state.garden[colour, hex_ >> 6] |= bit(hex_)
    state.stocks[player, colour] -= 1
    state.planted[colour] += 1
    _move_scorer(state, params, player, group_size(hex_, state.garden[colour, 0], state.garden[colour, 1]))
    if params.special_actions and state.planted[colour] == FLOWERS_PER_COLOUR:
        state.extra_turn = 1
    left = 0
    for c in range(NUM_COLOURS):
        left += np.int64(state.stocks[player, c])
    if left == 0:
        state.terminated = 1
    else:
        _end_turn(state, params)


@compiled
def _use_die(state, value):
    state.dice[value] -= 1
    state.num_dice -= 1


@compiled
def _move_scorer(state, params, player, points):
    """Move along the score track, past spaces that others occupy; space 0 is free for all [4, 6.1, 6.2]."""
    space = max(np.int64(state.score[player]) + points, 0)
    if params.special_actions and space > SPECIAL_SPACE and _is_occupied(state, params, player, space):
        state.extra_turn = 1
    onward = 1 if points > 0 else -1
    while space > 0 and _is_occupied(state, params, player, space):
        space += onward
    state.score[player] = space


@compiled
def _is_occupied(state, params, player, space):
    """Return whether another player's scorer is on this space."""
    for p in range(params.num_players):
        if p != player and state.score[p] == space:
            return True
    return False


# --- legal actions ---


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (num_actions,), for the player to move; return how many are legal."""
    mask[:] = 0
    if state.phase == PLACE:
        return _legal_places(state, mask)
    hexes = NUM_HEXES * np.int64(params.gardeners)
    player = np.int64(state.current_player)
    if state.phase == PLANT:
        n = 0
        for colour in range(NUM_COLOURS):
            if state.stocks[player, colour] > 0:
                mask[hexes + NUM_GIVE_UPS + colour] = 1
                n += 1
        return n
    n = 0
    for value in range(1, MAX_DIE + 1):  # a die may be given up unless a gardener can move with it
        if state.dice[value] > 0:
            mask[hexes + value - 1] = 1
            n += 1
    for g in range(params.gardeners):
        n += _legal_moves(state, np.int64(state.gardeners[player, g]), g * NUM_HEXES, hexes, mask)
    return n


@compiled
def _legal_places(state, mask):
    """Mark the hexes without peak or gardener, but not the centre [1.6]."""
    offset = NUM_HEXES if state.gardeners[state.current_player, 0] >= 0 else 0
    n = 0
    for hex_ in range(NUM_HEXES):
        if hex_ != CENTRE and not state.blocked[hex_]:
            mask[offset + hex_] = 1
            n += 1
    return n


@compiled
def _legal_moves(state, start, offset, hexes, mask):
    """Mark the hexes that a gardener can reach; a die that moves cannot be given up [3.2, 3.3, 3.7, 7.2, 7.4]."""
    n = 0
    for direction in range(6):
        for value in range(1, MAX_DIE + 1):
            target = np.int64(RAYS[start, direction, value])
            if target < 0 or state.blocked[target]:
                break
            usable = np.int64(
                (state.dice[value] > 0) & (target != CENTRE)
            )  # no branch: the dice are unpredictable
            mask[offset + target] = usable
            n += usable & ~np.int64(mask[hexes + value - 1])
            mask[hexes + value - 1] &= 1 - usable
    return n


# --- observations ---


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8 (1335,), (1336,) or (75 * 121,), with the observation of seat `player`; nothing is hidden [1.8]."""
    if params.planes:
        # The flat view is written to the end of `out` and spread out from the start: plane 14 + s fills cells
        # up to 121 (15 + s), which first passes entry s of the scalars after that has been read.
        flat = out[out.shape[0] - FLAT_SIZE :]
        _observe_flat(state, params, player, flat)
        _spread(flat, out)
        return
    _observe_flat(state, params, player, out)
    if out.shape[0] > FLAT_SIZE:
        out[FLAT_SIZE] = params.special_actions


@compiled
def num_gardener_planes(each):
    """Return the number of gardener planes in an observation for `each` gardeners per player (two only with two players)."""
    return MAX_PLAYERS if each == 1 else 2 * each


@compiled
def _observe_flat(state, params, player, out):
    n = params.num_players
    over = state.terminated or state.truncated
    to_move = player == state.current_player and not over
    flowers = state.flowers
    for colour in range(NUM_COLOURS):
        for hex_ in range(NUM_HEXES):
            out[colour * NUM_HEXES + hex_] = flowers[hex_] == np.int8(colour)
    at = GARDENER_PLANES * NUM_HEXES
    out[at:] = 0
    each = np.int64(params.gardeners)
    for offset in range(n):
        seat = player + offset - n * (player + offset >= n)
        for g in range(each):
            hex_ = np.int64(state.gardeners[seat, g])
            if hex_ >= 0:
                out[at + (offset * each + g) * NUM_HEXES + hex_] = 1
    at += num_gardener_planes(each) * NUM_HEXES
    if params.num_peaks > 0:
        for hex_ in range(NUM_HEXES):
            out[at + hex_] = state.peaks[hex_]
    at += NUM_HEXES
    if to_move and state.phase == MOVE:
        for g in range(each):
            _mark_reachable(state, np.int64(state.gardeners[player, g]), out, at + g * NUM_HEXES)
    at += each * NUM_HEXES
    if state.pending >= 0:
        out[at + np.int64(state.pending)] = 1
    at += NUM_HEXES

    for offset in range(n):
        seat = player + offset - n * (player + offset >= n)
        for colour in range(NUM_COLOURS):
            out[at + offset * SEAT_SCALARS + colour] = state.stocks[seat, colour]
        score = np.int64(state.score[seat])
        out[at + offset * SEAT_SCALARS + NUM_COLOURS] = score // 16
        out[at + offset * SEAT_SCALARS + NUM_COLOURS + 1] = score % 16
    at += MAX_PLAYERS * SEAT_SCALARS
    if not over:
        out[at + (state.current_player - player + n) % n] = 1
    at += MAX_PLAYERS
    for value in range(1, MAX_DIE + 1):
        out[at + value - 1] = state.dice[value]
    at += MAX_DIE
    if not over:
        out[at + np.int64(state.phase)] = 1
    at += 3
    out[at] = n
    at += 1
    for colour in range(NUM_COLOURS):
        out[at + colour] = state.planted[colour]


@compiled
def _mark_reachable(state, start, out, at):
    for direction in range(6):
        for value in range(1, MAX_DIE + 1):
            target = np.int64(RAYS[start, direction, value])
            if target < 0 or state.blocked[target]:
                break
            out[at + target] = (state.dice[value] > 0) & (target != CENTRE)


@compiled
def _spread(flat, planes):
    """Make the view `planes` of the flat one: boards on the 11 x 11 square, scalars as constant planes."""
    for plane in range(NUM_BOARD_PLANES):
        at = plane * PLANE_SIZE
        planes[at : at + PLANE_SIZE] = 0
        for hex_ in range(NUM_HEXES):
            planes[at + np.int64(CELLS[hex_])] = flat[plane * NUM_HEXES + hex_]
    for scalar in range(NUM_SCALARS):
        at = (NUM_BOARD_PLANES + scalar) * PLANE_SIZE
        value = flat[NUM_BOARD_PLANES * NUM_HEXES + scalar]
        planes[at : at + PLANE_SIZE] = value


# --- the outcome ---


@compiled
def points(state, params, out):
    """Fill `out`, int32 (5,), with the scores."""
    for p in range(MAX_PLAYERS):
        out[p] = state.score[p]


@compiled
def standings(state, params, out):
    """Fill `out`, int32 (5,): the scores, or for all seats the team's, which is the lowest [5.3, 8.1]."""
    points(state, params, out)
    if params.cooperative:
        lowest = out[0]
        for p in range(1, params.num_players):
            lowest = min(lowest, out[p])
        for p in range(params.num_players):
            out[p] = lowest
