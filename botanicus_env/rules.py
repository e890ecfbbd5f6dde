"""The compiled rules of Botanicus: one function per rule, in the order of a game.

Gained actions come in groups: the printed action and the tile of a space, a Garden card, or a node of a track. `_gain`
carries out coins, points, animals, cards and prizes at once and queues the rest as a group of pending actions.
`_to_next_decision` takes them to hand one by one until the player must decide or the turn is done. Groups nest two deep
at most.

A whole number handed to another function is an np.int64: a bare literal has its own Numba type and triggers another
compilation.
Numbers in brackets name the sections and paragraphs of `rules.md`, next to this file.
"""

from __future__ import annotations

import numpy as np

from botanicus_env.shown import column_ahead, observe_values
from botanicus_env.state import (
    ASSIGN,
    CHOOSE,
    LAST_ROUND,
    NEUTRAL,
    NEUTRAL_ASKED,
    NODE_GROUP,
    PLANT,
    START,
    TILED_COLUMNS,
    TRACK,
    WALK,
    WATER,
)
from botanicus_env.tables import (
    AT_ONCE,
    BEDS,
    BOARD_COLUMNS,
    CHOSEN,
    COLUMNS,
    CROSSINGS,
    KINDS,
    LEVELS,
    MAX_ANIMALS,
    MAX_CARD_KINDS,
    MAX_EDGES,
    MAX_NODES,
    MAX_PLAYERS,
    PRIZES,
    ROWS,
    SPACES,
    TASKS_EACH,
    TILES,
    TRACKS,
)
from garden_core.jit import compiled
from garden_core.jit.rng import seed_rng, shuffle

COINS_AT_START = 6  # [3.2]
COINS_TO_USE, COINS_FOR_SALE = 2, 3  # a Garden card [5.3]
COINS_PER_FLOWER = 3  # that is on a space already [5.6]
COINS_PER_STEP = 3  # beyond those that a track action gives [7.2]
COINS_PER_POINT = 3  # in final scoring [9.2]

_COINS, _POINTS, _ANIMAL, _CARD, _PRIZE = range(len(AT_ONCE))
_PLANT_1, _WATER, _WALK, _MONEY = (KINDS.index(kind) for kind in ("plant_1", "water", "walk", "money"))
_POLE = KINDS.index("pole")

# The blocks of actions.
_PASS = 0
_WALKS = 1
_BEDS = _WALKS + len(CROSSINGS)
_RESOLVES = _BEDS + BEDS
_ADVANCES = _RESOLVES + len(CHOSEN)
_USES = _ADVANCES + MAX_EDGES
_SALES = _USES + MAX_CARD_KINDS
_FLOWERS = _SALES + MAX_CARD_KINDS
_NEUTRALS = _FLOWERS + SPACES
_ASSIGNS = _NEUTRALS + SPACES

DISTANCE = np.array([[abs(r - s) + abs(c - d) for s, d in CROSSINGS] for r, c in CROSSINGS], np.int8)
"""int8 (12, 12): steps of the Gardener from one crossing to another [1.3]."""

AROUND = np.array(
    [[COLUMNS * (r + i) + c + j for i in (0, 1) for j in (0, 1)] for r, c in CROSSINGS], np.int8
)
"""int8 (12, 4): the places for beds around a crossing [1.4]."""


# --- setup ---


@compiled
def deal(state, params, seed):
    """Set up everything; the first player of the stack assigns the first special task [3]."""
    seed_rng(state.rng, seed)
    n = np.int64(params.num_players)
    state.points[:] = 0
    state.animals[:] = 0
    state.hand[:, :] = 0
    state.piece[:, :] = 0
    state.task[:, :] = -1
    state.basic_done[:, :] = 0
    state.special_done[:, :] = 0
    state.covered[:, :] = 0
    state.pending[:, :, :] = 0
    state.group_size[:] = 0
    for p in range(MAX_PLAYERS):
        state.coins[p] = COINS_AT_START
        state.gardener[p] = params.fountain
        for bed in range(BEDS):
            state.garden[p, bed] = params.bed[bed] - 1
    for stack in range(len(PRIZES)):
        state.prizes_taken[stack] = MAX_PLAYERS - n
    state.depth = 0
    state.at_hand = -1
    state.left = 0
    state.steps_taken = 0
    state.in_play = -1
    state.walked = 0
    state.played = 0
    _lay_tiles(state)
    _deal_tasks(state, params)
    state.pile[:] = 0
    for kind in range(MAX_CARD_KINDS):  # the pile is made of the discards, so all cards begin there
        state.discards[kind] = params.copies[kind]
    _shuffle_discards(state)
    state.stack[:] = -1
    for p in range(n):
        state.stack[p] = p
    shuffle(state.rng, state.stack, n)
    state.round_number = 1
    state.column = 1
    _clear_column(state)
    state.asked = ASSIGN
    state.current_player = state.stack[0]


@compiled
def _lay_tiles(state):
    """Lay spotted tiles at random on the upper spaces of each even column, striped ones on the lower [3.4]."""
    for sort in range(2):
        tiles = state.pile  # not in use yet
        for tile in range(TILES):
            tiles[tile] = TILES * sort + tile
        shuffle(state.rng, tiles, np.int64(TILES))
        for column in range(TILED_COLUMNS):
            for i in range(2):
                state.tiles[column, 2 * sort + i] = tiles[2 * column + i]


@compiled
def _deal_tasks(state, params):
    """Deal five special tasks to each player, open to all [3.7]."""
    n = np.int64(params.num_special)
    tasks = state.pile  # not in use yet
    for task in range(n):
        tasks[task] = task
    shuffle(state.rng, tasks, n)
    state.dealt[:, :] = -1
    for p in range(params.num_players):
        for j in range(TASKS_EACH):
            state.dealt[p, j] = tasks[TASKS_EACH * p + j]


@compiled
def _assign(state, params, j):
    """Give a special task to the next row, the last one to the last row; the next player follows [3.7]."""
    player = np.int64(state.current_player)
    row = np.int64(0)
    while state.task[player, row] >= 0:
        row += 1
    state.task[player, row] = state.dealt[player, j]
    if row < ROWS - 2:
        return
    for last in range(TASKS_EACH):
        if not _is_assigned(state, player, np.int64(state.dealt[player, last])):
            state.task[player, ROWS - 1] = state.dealt[player, last]
    for place in range(params.num_players - 1):
        if state.stack[place] == player:
            state.current_player = state.stack[place + 1]
            return
    _begin_column(state, params)


@compiled
def _is_assigned(state, player, task):
    for row in range(ROWS):
        if state.task[player, row] == task:
            return True
    return False


# --- the order of turns ---


@compiled
def _clear_column(state):
    state.flowers[:, :] = -1
    state.num_flowers[:] = 0
    state.started = 0


@compiled
def _begin_column(state, params):
    """Go on to the next column; with two players the neutral Flower comes first [4.1, 4.6]."""
    _clear_column(state)
    _begin_turn(state)
    if params.num_players == 2 and state.round_number < LAST_ROUND:
        state.asked = NEUTRAL_ASKED


@compiled
def _begin_turn(state):
    state.current_player = state.stack[state.started]
    state.asked = START


@compiled
def _end_turn(state, params):
    """Pass on to the next player of the column; after the last, to the next column, or end the game [4.1]."""
    state.walked = 0
    state.played = 0
    if state.started < params.num_players:
        _begin_turn(state)
    elif state.round_number == LAST_ROUND:
        state.terminated = 1
    else:
        _stack_flowers(state)
        if state.column < BOARD_COLUMNS:
            state.column += 1
        else:
            _end_round(state)
        _begin_column(state, params)


@compiled
def _stack_flowers(state):
    """Order the players by their Flowers: by space, then from the top of a stack down [4.2, 4.4]."""
    place = 0
    for space in range(SPACES):
        for height in range(np.int64(state.num_flowers[space]) - 1, -1, -1):
            if state.flowers[space, height] != NEUTRAL:
                state.stack[place] = state.flowers[space, height]
                place += 1


@compiled
def _end_round(state):
    """Go back to column 1 with all tiles turned to the dark side, or on to the last turn [4.5, 8.1]."""
    state.round_number += 1
    if state.round_number < LAST_ROUND:
        state.column = 1
        state.covered[:, :] = 0


# --- phase 1 ---


@compiled
def _walk_for_coins(state, crossing):
    """Move the Gardener for a coin a step [5.2]."""
    player = np.int64(state.current_player)
    state.coins[player] -= DISTANCE[state.gardener[player], crossing]
    state.gardener[player] = crossing
    state.walked = 1


@compiled
def _use_card(state, params, kind):
    """Pay for a Garden card and gain its action; it is discarded once that is resolved [5.3, 5.5]."""
    player = np.int64(state.current_player)
    state.coins[player] -= COINS_TO_USE
    state.hand[player, kind] -= 1
    state.played = 1
    state.in_play = kind
    _queue(state, np.int64(0), np.int64(params.card[kind, 0]), np.int64(params.card[kind, 1]))
    _gain(state, params, np.int64(1))


@compiled
def _sell_card(state, kind):
    """Discard a Garden card for coins [5.3, 5.5]."""
    player = np.int64(state.current_player)
    state.coins[player] += COINS_FOR_SALE
    state.hand[player, kind] -= 1
    state.discards[kind] += 1
    state.played = 1


# --- phase 2 ---


@compiled
def _space_cost(state, params, space):
    """Return the cost of a space: coins for each Flower on it, nothing on a pole [5.6, 5.8]."""
    if params.board[state.column - 1, space, 0] == _POLE:
        return np.int64(0)
    return COINS_PER_FLOWER * np.int64(state.num_flowers[space])


@compiled
def _put_flower(state, flower, space):
    """Put a Flower on top of those on a space, covering the tile; return whether it is the first [5.6, 5.7]."""
    height = np.int64(state.num_flowers[space])
    state.flowers[space, height] = flower
    state.num_flowers[space] = height + 1
    if state.column % 2 == 0:
        state.covered[state.column // 2 - 1, space] = 1
    return height == 0


@compiled
def _place_flower(state, params, space):
    """Pay for a space, place the Flower, gain the printed action, the tile's if it is the first [5.6, 5.7, 5.8]."""
    player = np.int64(state.current_player)
    state.coins[player] -= _space_cost(state, params, space)
    state.started += 1
    first = _put_flower(state, player, space)
    column = np.int64(state.column) - 1
    kind, amount = np.int64(params.board[column, space, 0]), np.int64(params.board[column, space, 1])
    gained = np.int64(0)
    if kind != _POLE:
        _queue(state, gained, kind, amount)
        gained += 1
    elif first:
        state.coins[player] += amount
    if first and column % 2 == 1:
        tile, side = np.int64(state.tiles[column // 2, space]), np.int64(state.round_number) - 1
        _queue(state, gained, np.int64(params.tile[tile, side, 0]), np.int64(params.tile[tile, side, 1]))
        gained += 1
    _gain(state, params, gained)


@compiled
def _last_action(state, track):
    """Begin a step on a track in the last turn, in an empty group [8.2]."""
    state.started += 1
    state.depth = 1
    state.group_size[0] = 0
    state.at_hand = track
    state.left = 1


# --- gained actions ---


@compiled
def _queue(state, place, kind, amount):
    """Queue a gained action for `_gain`."""
    state.pending[state.depth, place, 0] = kind
    state.pending[state.depth, place, 1] = amount


@compiled
def _gain(state, params, n):
    """Carry out the n queued actions: those without a decision at once, by kind; the rest is a group [6.2, 6.3]."""
    group = np.int64(state.depth)
    for kind in range(len(AT_ONCE)):
        for i in range(n):
            if state.pending[group, i, 0] == kind:
                _gain_at_once(state, params, np.int64(kind), np.int64(state.pending[group, i, 1]))
    size = 0
    for i in range(n):
        if state.pending[group, i, 0] >= len(AT_ONCE):
            state.pending[group, size, 0] = state.pending[group, i, 0]
            state.pending[group, size, 1] = state.pending[group, i, 1]
            size += 1
    state.group_size[group] = size
    if size > 0:
        state.depth = group + 1


@compiled
def _gain_at_once(state, params, kind, amount):
    """Carry out an action that is no decision [6.1, 6.2]."""
    player = np.int64(state.current_player)
    if kind == _COINS:
        state.coins[player] += amount
    elif kind == _POINTS:
        state.points[player] += amount
    elif kind == _PRIZE:
        _take_prize(state, params, player, amount - 1)
    else:
        for _ in range(amount):
            if kind == _ANIMAL:
                _take_animal(state, params, player)
            else:
                _draw_card(state, player)


@compiled
def _take_prize(state, params, player, stack):
    """Score the top token of a stack, if there is one [6.10]."""
    if state.prizes_taken[stack] < params.num_prizes[stack]:
        state.points[player] += params.prize[stack, state.prizes_taken[stack]]
        state.prizes_taken[stack] += 1


@compiled
def _take_animal(state, params, player):
    """Score the next animal, if there is one [6.8]."""
    if state.animals[player] < MAX_ANIMALS:
        state.points[player] += params.animal_points[state.animals[player]]
        state.animals[player] += 1


@compiled
def _draw_card(state, player):
    """Draw a Garden card, from the discards if the pile is empty [6.9]."""
    if state.pile_left == 0:
        _shuffle_discards(state)
    if state.pile_left > 0:
        state.pile_left -= 1
        state.hand[player, state.pile[state.pile_left]] += 1


@compiled
def _shuffle_discards(state):
    """Make a new pile of the discards [6.9]."""
    n = 0
    for kind in range(MAX_CARD_KINDS):
        for _ in range(state.discards[kind]):
            state.pile[n] = kind
            n += 1
        state.discards[kind] = 0
    shuffle(state.rng, state.pile, n)
    state.pile_left = n


@compiled
def _to_next_decision(state, params):
    """Take gained actions to hand until one needs a decision; after the last, end the card or the turn [5.9, 6.3]."""
    while True:
        if state.at_hand >= 0:
            if _can_continue(state, params):
                state.asked = _asked_for(np.int64(state.at_hand))
                return
            _drop_action(state, params)
        elif state.depth == 0:
            break
        else:
            group = np.int64(state.depth) - 1
            if state.group_size[group] == 0:
                state.depth = group
                if group == NODE_GROUP:
                    _return_pieces(state, params)
            elif _is_choice(state, group):
                state.asked = CHOOSE
                return
            else:
                _take_to_hand(state, group, np.int64(0))
    if state.in_play >= 0:
        state.discards[state.in_play] += 1
        state.in_play = -1
        state.asked = START
    else:
        _end_turn(state, params)


@compiled
def _is_choice(state, group):
    """Return whether different kinds of actions are pending in the innermost group [6.3]."""
    for i in range(1, state.group_size[group]):
        if state.pending[group, i, 0] != state.pending[group, 0, 0]:
            return True
    return False


@compiled
def _take_to_hand(state, group, place):
    """Take a pending action to hand; the later ones move up."""
    state.at_hand = state.pending[group, place, 0]
    state.left = state.pending[group, place, 1]
    state.steps_taken = 0
    state.group_size[group] -= 1
    for i in range(place, state.group_size[group]):
        state.pending[group, i, 0] = state.pending[group, i + 1, 0]
        state.pending[group, i, 1] = state.pending[group, i + 1, 1]


@compiled
def _resolve(state, kind):
    """Take the first gained action of a kind to hand [6.3]."""
    group = np.int64(state.depth) - 1
    place = np.int64(0)
    while state.pending[group, place, 0] != kind:
        place += 1
    _take_to_hand(state, group, place)


@compiled
def _asked_for(kind):
    if kind < _WATER:
        return PLANT
    if kind == _WATER:
        return WATER
    return WALK if kind == _WALK else TRACK


@compiled
def _can_continue(state, params):
    """Return whether the action at hand allows anything but to pass [6.4]."""
    player = np.int64(state.current_player)
    kind = np.int64(state.at_hand)
    if kind >= _MONEY:
        for edge in range(MAX_EDGES):
            if _can_advance(state, params, player, np.int64(edge)):
                return True
        return False
    if state.left == 0:
        return False
    if kind == _WALK:
        return True
    for i in range(4):
        if _fits_bed(state, player, kind, np.int64(AROUND[state.gardener[player], i])):
            return True
    return False


@compiled
def _drop_action(state, params):
    """Forfeit the rest of the action at hand; on a track, stop [6.4, 7.3]."""
    if state.at_hand >= _MONEY:
        _stop(state, params)
    else:
        state.at_hand = -1
        state.left = 0


# --- planting, watering, walking ---


@compiled
def _fits_bed(state, player, kind, bed):
    """Return whether the action can change a bed: plant what is not there yet, or water a plant that grows [6.5, 6.6]."""
    level = np.int64(state.garden[player, bed])
    if kind == _WATER:
        return level >= 1 and level < LEVELS
    return level >= 0 and level != kind - _PLANT_1 + 1


@compiled
def _change_bed(state, params, bed):
    """Plant or water, then check the tasks of the row [2.4, 6.5, 6.6]."""
    player = np.int64(state.current_player)
    if state.at_hand == _WATER:
        state.garden[player, bed] += 1
    else:
        state.garden[player, bed] = state.at_hand - _PLANT_1 + 1
    state.left -= 1
    if state.left == 0:
        state.at_hand = -1
    _check_tasks(state, params, player, bed // COLUMNS)


@compiled
def _check_tasks(state, params, player, row):
    """Score the basic task of a row once it is met, and after it the special one [2.2, 2.3]."""
    if not state.basic_done[player, row] and _meets(state, player, row, params.basic[row]):
        state.basic_done[player, row] = 1
        state.points[player] += params.basic_points[row]
    if state.basic_done[player, row] and not state.special_done[player, row]:
        task = np.int64(state.task[player, row])
        if _meets(state, player, row, params.special[task]):
            state.special_done[player, row] = 1
            state.points[player] += params.special_points[task]


@compiled
def _meets(state, player, row, plants):
    """Return whether a row holds the plants that a task asks for [2.1]."""
    for level in range(1, LEVELS + 1):
        missing = np.int64(plants[level - 1])
        for bed in range(COLUMNS * row, COLUMNS * (row + 1)):
            missing -= state.garden[player, bed] == level
        if missing > 0:
            return False
    return True


@compiled
def _walk(state, crossing):
    """Move the Gardener for free, in one go [6.7]."""
    state.gardener[state.current_player] = crossing
    state.at_hand = -1
    state.left = 0


# --- tracks ---


@compiled
def _advance_cost(state, params, player, edge):
    """Coins for an edge, a step beyond those given included; -1 where there is no such edge [7.2]."""
    track = np.int64(state.at_hand) - _MONEY
    node = np.int64(state.piece[player, track])
    if params.edge[track, node, edge] < 0:
        return np.int64(-1)
    return np.int64(params.cost[track, node, edge]) + COINS_PER_STEP * (state.left == 0)


@compiled
def _can_advance(state, params, player, edge):
    cost = _advance_cost(state, params, player, edge)
    return cost >= 0 and cost <= state.coins[player]


@compiled
def _advance(state, params, edge):
    """Move the piece by an edge; on the last node it must stop, as no edge leads on [7.2, 7.5]."""
    player = np.int64(state.current_player)
    track = np.int64(state.at_hand) - _MONEY
    state.coins[player] -= _advance_cost(state, params, player, edge)
    state.piece[player, track] = params.edge[track, state.piece[player, track], edge]
    if state.left > 0:
        state.left -= 1
    state.steps_taken += 1


@compiled
def _stop(state, params):
    """Score the steps not taken; after a step, gain the node's actions [7.3, 7.4]."""
    player = np.int64(state.current_player)
    track = np.int64(state.at_hand) - _MONEY
    moved = state.steps_taken > 0
    state.points[player] += state.left
    state.at_hand = -1
    state.left = 0
    state.steps_taken = 0
    if moved:
        node = np.int64(state.piece[player, track])
        n = np.int64(params.num_gains[track, node])
        for i in range(n):
            gained = params.gains[track, node, i]
            _queue(state, np.int64(i), np.int64(gained[0]), np.int64(gained[1]))
        _gain(state, params, n)
        if state.depth == NODE_GROUP:  # none of its gains is pending
            _return_pieces(state, params)


@compiled
def _return_pieces(state, params):
    """Move a piece on the last node back to the start [7.5]."""
    player = np.int64(state.current_player)
    for track in range(len(TRACKS)):
        if params.edge[track, state.piece[player, track], 0] < 0:
            state.piece[player, track] = 0


# --- the decisions ---


@compiled
def apply_action(state, params, action):
    """Carry out a legal action up to the next decision."""
    if state.asked == ASSIGN:
        _assign(state, params, action - _ASSIGNS)
    elif state.asked == NEUTRAL_ASKED:
        _put_flower(state, np.int64(NEUTRAL), action - _NEUTRALS)
        state.asked = START
    elif state.asked == START:
        _start(state, params, action)
    else:
        if action == _PASS:
            if state.asked == CHOOSE:
                state.group_size[state.depth - 1] = 0
            else:
                _drop_action(state, params)
        elif state.asked == CHOOSE:
            _resolve(state, action - _RESOLVES + len(AT_ONCE))
        elif state.asked == TRACK:
            _advance(state, params, action - _ADVANCES)
        elif state.asked == WALK:
            _walk(state, action - _WALKS)
        else:
            _change_bed(state, params, action - _BEDS)
        _to_next_decision(state, params)


@compiled
def _start(state, params, action):
    """Carry out an action of phase 1 or the choice that ends it [5.1, 8.2, 8.3]."""
    if action == _PASS:
        state.started += 1
        _end_turn(state, params)
    elif action < _BEDS:
        _walk_for_coins(state, action - _WALKS)
    elif action >= _SALES and action < _FLOWERS:
        _sell_card(state, action - _SALES)
    else:
        if action >= _FLOWERS:
            _place_flower(state, params, action - _FLOWERS)
        elif action >= _USES:
            _use_card(state, params, action - _USES)
        else:
            _last_action(state, action - _RESOLVES + len(AT_ONCE))
        _to_next_decision(state, params)


# --- legal actions ---


@compiled
def legal_actions(state, params, mask):
    """Fill `mask`, int8 (81,), for the player to move; return how many are legal."""
    mask[:] = 0
    player = np.int64(state.current_player)
    if state.asked == ASSIGN:
        n = 0
        for j in range(TASKS_EACH):
            mask[_ASSIGNS + j] = not _is_assigned(state, player, np.int64(state.dealt[player, j]))
            n += mask[_ASSIGNS + j]
        return n
    if state.asked == NEUTRAL_ASKED:
        mask[_NEUTRALS : _NEUTRALS + SPACES] = 1
        return SPACES
    if state.asked == START:
        return _legal_at_start(state, params, player, mask)
    mask[_PASS] = 1
    if state.asked == CHOOSE:
        return 1 + _legal_choices(state, mask)
    if state.asked == WALK:
        return 1 + _legal_walks(state, player, np.int64(state.left), mask)
    n = 1
    if state.asked == TRACK:
        for edge in range(MAX_EDGES):
            mask[_ADVANCES + edge] = _can_advance(state, params, player, np.int64(edge))
            n += mask[_ADVANCES + edge]
        return n
    for i in range(4):
        bed = np.int64(AROUND[state.gardener[player], i])
        mask[_BEDS + bed] = _fits_bed(state, player, np.int64(state.at_hand), bed)
        n += mask[_BEDS + bed]
    return n


@compiled
def _legal_at_start(state, params, player, mask):
    """Mark the actions of phase 1 and those that end it [5.1, 5.2, 5.3, 5.6, 8.2, 8.3]."""
    n = 0
    coins = np.int64(state.coins[player])
    if not state.walked:
        n += _legal_walks(state, player, coins, mask)
    if not state.played:
        for kind in range(params.num_card_kinds):
            if state.hand[player, kind] > 0:
                mask[_SALES + kind] = 1
                mask[_USES + kind] = coins >= COINS_TO_USE
                n += 1 + mask[_USES + kind]
    if state.round_number == LAST_ROUND:
        mask[_PASS] = 1
        for track in range(len(TRACKS)):
            mask[_RESOLVES + _MONEY - len(AT_ONCE) + track] = 1
        return n + 1 + len(TRACKS)
    for space in range(SPACES):
        if _space_cost(state, params, space) <= coins:
            mask[_FLOWERS + space] = 1
            n += 1
    return n


@compiled
def _legal_walks(state, player, steps, mask):
    n = 0
    here = np.int64(state.gardener[player])
    for crossing in range(len(CROSSINGS)):
        distance = DISTANCE[here, crossing]
        if distance > 0 and distance <= steps:
            mask[_WALKS + crossing] = 1
            n += 1
    return n


@compiled
def _legal_choices(state, mask):
    n = 0
    group = np.int64(state.depth) - 1
    for i in range(state.group_size[group]):
        resolve = _RESOLVES + np.int64(state.pending[group, i, 0]) - len(AT_ONCE)
        n += 1 - mask[resolve]
        mask[resolve] = 1
    return n


# --- observations ---

TASK_SIZE = LEVELS + 1  # the plants required by level, and points
_OWN_SIZE = 4 * BEDS + len(CROSSINGS) + 4 + len(TRACKS) * MAX_NODES
SEAT_SIZE = _OWN_SIZE + 2 * ROWS + (TASK_SIZE + 1) * ROWS + SPACES + 1 + 1
SPACE_SIZE = len(KINDS) + 2
TILE_SIZE = len(KINDS)  # as no tile is a pole: one kind less, and the amount
_MOST = 127


@compiled
def observe(state, params, player, out):
    """Fill `out`, int8 (1224,), or (2414,) with values shown, with the observation of seat `player` [10]."""
    out[:] = 0
    n = np.int64(params.num_players)
    for offset in range(n):
        seat = player + offset - n * (player + offset >= n)
        _observe_seat(state, params, seat, n, out[offset * SEAT_SIZE : (offset + 1) * SEAT_SIZE])
    at = np.int64(MAX_PLAYERS * SEAT_SIZE)
    for kind in range(MAX_CARD_KINDS):
        out[at + kind] = state.hand[player, kind]
    at += MAX_CARD_KINDS
    at = _observe_columns(state, params, out, at)
    at = _observe_tiles(state, params, out, at)
    for stack in range(len(PRIZES)):
        taken, all_of_them = np.int64(state.prizes_taken[stack]), np.int64(params.num_prizes[stack])
        if taken < all_of_them:
            out[at] = params.prize[stack, taken]
            out[at + 1] = all_of_them - taken
        at += 2
    for kind in range(MAX_CARD_KINDS):
        out[at + kind] = state.discards[kind]
    at += MAX_CARD_KINDS
    out[at] = state.pile_left
    out[at + 1] = state.round_number
    out[at + 2] = state.column
    at += 3
    over = state.terminated or state.truncated
    if not over:
        out[at + np.int64(state.asked)] = 1
    at += TRACK + 1
    if state.at_hand >= 0:
        out[at + np.int64(state.at_hand) - len(AT_ONCE)] = 1
        out[at + len(CHOSEN)] = state.left
        out[at + len(CHOSEN) + 1] = min(np.int64(state.steps_taken), _MOST)
    at += len(CHOSEN) + 2
    for group in range(state.depth):
        for i in range(state.group_size[group]):
            out[at + np.int64(state.pending[group, i, 0]) - len(AT_ONCE)] += state.pending[group, i, 1]
    at += len(CHOSEN)
    for offset in range(n):
        seat = player + offset - n * (player + offset >= n)
        for j in range(TASKS_EACH):
            task = np.int64(state.dealt[seat, j])
            if not _is_assigned(state, seat, task):
                _observe_task(params, task, out, at + TASK_SIZE * (TASKS_EACH * offset + j))
    at += MAX_PLAYERS * TASKS_EACH * TASK_SIZE
    out[at] = n
    if params.values_shown:
        observe_values(state, params, player, out[at + 1 :])


@compiled
def _observe_seat(state, params, seat, n, out):
    for bed in range(BEDS):
        level = np.int64(state.garden[seat, bed])
        if level > 0:
            out[LEVELS * bed + level - 1] = 1
    at = LEVELS * BEDS
    out[at + np.int64(state.gardener[seat])] = 1
    at += len(CROSSINGS)
    cards = 0
    for kind in range(MAX_CARD_KINDS):
        cards += np.int64(state.hand[seat, kind])
    out[at] = min(np.int64(state.coins[seat]), _MOST)
    out[at + 1] = min(np.int64(state.points[seat]) // 2, _MOST)
    out[at + 2] = state.animals[seat]
    out[at + 3] = cards
    at += 4
    for track in range(len(TRACKS)):
        out[at + track * MAX_NODES + np.int64(state.piece[seat, track])] = 1
    at += len(TRACKS) * MAX_NODES
    for row in range(ROWS):
        out[at + row] = state.basic_done[seat, row]
        out[at + ROWS + row] = state.special_done[seat, row]
    at += 2 * ROWS
    for row in range(ROWS):
        task = np.int64(state.task[seat, row])
        if task >= 0:
            plants = _observe_task(params, task, out, at)
            out[at + TASK_SIZE] = plants <= params.row_beds[row]
        at += TASK_SIZE + 1
    for space in range(SPACES):
        for height in range(state.num_flowers[space]):
            if state.flowers[space, height] == seat:
                out[at + space] = 1
                out[at + SPACES] = height + 1
    at += SPACES + 1
    for place in range(n):
        if state.stack[place] == seat:
            out[at] = place + 1


@compiled
def _observe_task(params, task, out, at):
    """Write the plants and points of a special task; return how many plants it asks for."""
    plants = 0
    for level in range(LEVELS):
        out[at + level] = params.special[task, level]
        plants += np.int64(params.special[task, level])
    out[at + LEVELS] = params.special_points[task]
    return plants


@compiled
def _observe_columns(state, params, out, at):
    """Write the spaces of the current column and of the next one; after round two there is no next one."""
    for ahead in range(2):
        column = column_ahead(state, np.int64(ahead))
        if column < BOARD_COLUMNS:
            for space in range(SPACES):
                out[at + np.int64(params.board[column, space, 0])] = 1
                out[at + len(KINDS)] = params.board[column, space, 1]
                if ahead == 0:
                    out[at + len(KINDS) + 1] = state.num_flowers[space]
                at += SPACE_SIZE
        else:
            at += SPACES * SPACE_SIZE
    return at


@compiled
def _observe_tiles(state, params, out, at):
    side = np.int64(state.round_number > 1)
    for column in range(TILED_COLUMNS):
        for space in range(SPACES):
            if not state.covered[column, space]:
                tile = np.int64(state.tiles[column, space])
                out[at + np.int64(params.tile[tile, side, 0])] = 1
                out[at + len(KINDS) - 1] = params.tile[tile, side, 1]
            at += TILE_SIZE
    return at


# --- the outcome ---


@compiled
def points(state, params, out):
    """Fill `out`, int32 (4,): points scored so far plus final scoring as of now [9.1, 9.2, 11.2]."""
    for p in range(MAX_PLAYERS):
        out[p] = 0
    for p in range(params.num_players):
        out[p] = state.points[p] + state.coins[p] // COINS_PER_POINT
        for column in range(COLUMNS):
            highest, full = 0, True
            for row in range(ROWS):
                level = np.int64(state.garden[p, COLUMNS * row + column])
                full = full and level != 0
                highest = max(highest, level)
            if full:
                out[p] += params.column_points[highest - 1]


@compiled
def standings(state, params, out):
    """Fill `out`, int32 (4,): by score, level ones by the Flower's place in the last stack [9.3]."""
    points(state, params, out)
    for place in range(params.num_players):
        p = state.stack[place]
        out[p] = out[p] * MAX_PLAYERS + params.num_players - 1 - place


# --- hidden information ---


@compiled
def observe_hidden(state, params, player, out):
    """Fill `out`, int8 (3 hands by kind + the pile,), with what seat `player` cannot see."""
    out[:] = 0
    n = np.int64(params.num_players)
    for offset in range(1, n):
        other, at = (player + offset) % n, (offset - 1) * MAX_CARD_KINDS
        for kind in range(MAX_CARD_KINDS):
            out[at + kind] = state.hand[other, kind]
    at, left = (MAX_PLAYERS - 1) * MAX_CARD_KINDS, np.int64(state.pile_left)
    for i in range(left):
        out[at + i] = state.pile[left - 1 - i] + 1


@compiled
def resample(state, params, player, seed):
    """Redraw the pile and the others' hands: put the hands onto the pile, shuffle it, deal as many cards again [10]."""
    seed_rng(state.rng, seed)
    n = np.int64(state.pile_left)
    for p in range(params.num_players):
        if p != player:
            for kind in range(MAX_CARD_KINDS):
                for _ in range(state.hand[p, kind]):
                    state.pile[n] = kind
                    n += 1
    shuffle(state.rng, state.pile, n)
    for p in range(params.num_players):
        if p != player:
            cards = 0
            for kind in range(MAX_CARD_KINDS):
                cards += np.int64(state.hand[p, kind])
                state.hand[p, kind] = 0
            for _ in range(cards):
                n -= 1
                state.hand[p, state.pile[n]] += 1
