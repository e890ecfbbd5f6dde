"""What observations with `cards_shown="values"` add: the printed tables, as amounts by kind, without numbers of components.

Nodes of tracks are shown relative to the observer's piece, and columns in the order in which they come, as what comes next is
worth the same on any board. Numbers in brackets name the sections and paragraphs of `rules.md`, next to this file.
"""

from __future__ import annotations

import numpy as np

from botanicus_env.tables import (
    AT_ONCE,
    BEDS,
    BOARD_COLUMNS,
    CHOSEN,
    KINDS,
    LEVELS,
    MAX_ANIMALS,
    MAX_CARD_KINDS,
    MAX_EDGES,
    MAX_PRIZES,
    PRIZES,
    ROWS,
    SPACES,
    TRACKS,
)
from garden_core.game import Part
from garden_core.jit import compiled

_PRIZE = KINDS.index("prize")
AMOUNTS = (*AT_ONCE[:_PRIZE], *(f"prize {stack}" for stack in PRIZES), *CHOSEN, "pole")
"""Kinds of actions in the order of their amounts: as KINDS, but a prize of each stack is a kind of its own."""
OF_SPACE = len(AMOUNTS)
OF_CARD = OF_SPACE - 1  # as no card is a pole
OF_NODE = OF_CARD - len(TRACKS)  # as no node gives steps on a track

STEPS, _PLACES = 5, 2
"""How many steps ahead of a piece are shown, and how many nodes for each."""
_END = OF_NODE  # after the amounts of a node: whether it is the last one
BY_EDGE = _END + 1  # for the upper and for the lower edge of the piece's node, whether a way begins with it
_COINS = BY_EDGE + MAX_EDGES  # and what that way costs
PLACE_SIZE = _COINS + MAX_EDGES
STEP_SIZE = _PLACES * PLACE_SIZE
TRACK_SIZE = OF_NODE + STEPS * STEP_SIZE
FURTHER = BOARD_COLUMNS - 2  # columns after the next one
PRIZES_TO_COME = MAX_PRIZES - 1  # of a stack, below the top one


def parts() -> tuple[Part, ...]:
    """Return the parts that follow those of the default, in order."""
    return (
        Part(
            "tracks ahead",
            len(TRACKS) * TRACK_SIZE,
            f"each track from the observer's piece: amounts of its node; for 1 to {STEPS} steps ahead {_PLACES} nodes each: "
            "amounts, end, ways that begin with the upper and with the lower edge, coins for each",
            "≥ 0",
        ),
        Part(
            "further columns",
            FURTHER * SPACES * OF_SPACE,
            "spaces of the columns that still come after the next, in order: amounts",
            "≥ 0",
        ),
        Part(
            "further prizes",
            len(PRIZES) * PRIZES_TO_COME,
            "prizes by stack: the second one left, the third, …",
            "≥ 0",
        ),
        Part("card kinds", MAX_CARD_KINDS * (OF_CARD + 1), "by kind of Garden card: amounts, copies", "≥ 0"),
        Part("column points", LEVELS, "points of a full column, by its highest level", "≥ 0"),
        Part("animal points", MAX_ANIMALS, "points of the first, second, … animal", "≥ 0"),
        Part("basic tasks", ROWS * (LEVELS + 1), "basic task by row: plants by level, points", "≥ 0"),
        Part("places of beds", BEDS, "where there is a bed"),
    )


@compiled
def observe_values(state, params, player, out):
    """Fill `out`, int8 (1190,) of zeros, with the values as seat `player` sees them."""
    at = np.int64(0)
    for track in range(len(TRACKS)):
        _observe_track(
            params, np.int64(track), np.int64(state.piece[player, track]), out[at : at + TRACK_SIZE]
        )
        at += TRACK_SIZE
    for ahead in range(2, 2 + FURTHER):
        column = column_ahead(state, np.int64(ahead))
        for space in range(SPACES):
            if column < BOARD_COLUMNS:
                add_amount(params.board[column, space], out[at : at + OF_SPACE])
            at += OF_SPACE
    for stack in range(len(PRIZES)):
        first = np.int64(state.prizes_taken[stack]) + 1
        for k in range(first, params.num_prizes[stack]):
            out[at + k - first] = params.prize[stack, k]
        at += PRIZES_TO_COME
    for kind in range(MAX_CARD_KINDS):
        if params.copies[kind]:
            add_amount(params.card[kind], out[at : at + OF_CARD])
            out[at + OF_CARD] = params.copies[kind]
        at += OF_CARD + 1
    for k in range(LEVELS):
        out[at + k] = params.column_points[k]
    at += LEVELS
    for k in range(MAX_ANIMALS):
        out[at + k] = params.animal_points[k]
    at += MAX_ANIMALS
    for row in range(ROWS):
        for k in range(LEVELS):
            out[at + k] = params.basic[row, k]
        out[at + LEVELS] = params.basic_points[row]
        at += LEVELS + 1
    for bed in range(BEDS):
        out[at + bed] = params.bed[bed]


@compiled
def column_ahead(state, ahead):
    """Return the column that comes after so many others, from 0 on; BOARD_COLUMNS or more for none [4.1]."""
    column = np.int64(state.column) - 1 + ahead
    return column - BOARD_COLUMNS * (column >= BOARD_COLUMNS and state.round_number == 1)


@compiled
def add_amount(action, out):
    """Add the amount of an action, a pair of kind and amount, to those by kind; a prize counts 1."""
    kind, amount = np.int64(action[0]), np.int64(action[1])
    if kind == _PRIZE:
        out[_PRIZE + amount - 1] += 1
    else:
        out[kind + (len(PRIZES) - 1) * (kind > _PRIZE)] += amount


@compiled
def _observe_track(params, track, here, out):
    """Write what a piece on a node can reach [7.1].

    One step ahead, the nodes are those of the upper and of the lower edge. Further ahead, they are those to which the edges of
    the nodes before lead, each once, in the order of these edges; a third one is left out until the piece is closer. The coins
    are those of the cheapest way through the nodes shown that begins with each edge.
    """
    _observe_gains(params, track, here, out)
    at = np.int64(OF_NODE)
    for edge in range(MAX_EDGES):
        if params.edge[track, here, edge] >= 0:
            out[at + PLACE_SIZE * edge + BY_EDGE + edge] = 1
            out[at + PLACE_SIZE * edge + _COINS + edge] = params.cost[track, here, edge]
    first, second = np.int64(params.edge[track, here, 0]), np.int64(params.edge[track, here, 1])
    for step in range(STEPS):
        to_first, to_second = np.int64(-1), np.int64(-1)
        for place in range(_PLACES):
            node = second if place else first
            if node < 0:
                continue
            shown = out[at + PLACE_SIZE * place :]
            _observe_gains(params, track, node, shown)
            shown[_END] = params.edge[track, node, 0] < 0
            if step == STEPS - 1:
                continue
            for edge in range(MAX_EDGES):
                to = np.int64(params.edge[track, node, edge])
                if to < 0:
                    continue
                if to_first < 0 or to == to_first:
                    to_first, further = to, np.int64(0)
                elif to_second < 0 or to == to_second:
                    to_second, further = to, np.int64(1)
                else:
                    continue
                reached = out[at + STEP_SIZE + PLACE_SIZE * further :]
                for begin in range(MAX_EDGES):
                    if shown[BY_EDGE + begin]:
                        coins = np.int64(shown[_COINS + begin]) + np.int64(params.cost[track, node, edge])
                        if reached[BY_EDGE + begin]:
                            coins = min(coins, np.int64(reached[_COINS + begin]))
                        reached[BY_EDGE + begin] = 1
                        reached[_COINS + begin] = coins
        first, second = to_first, to_second
        at += STEP_SIZE


@compiled
def _observe_gains(params, track, node, out):
    for i in range(params.num_gains[track, node]):
        add_amount(params.gains[track, node, i], out)
