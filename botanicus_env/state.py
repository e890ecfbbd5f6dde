"""The records of Botanicus: every field of a state and of the params, with its meaning.

An action is a pair: the code of its kind in `tables.KINDS`, and an amount. A crossing is its index 0 … 11, a bed its
index 0 … 19, a Flower its player or NEUTRAL, a card the code of its kind, a tile 0 … 7 spotted, 8 … 15 striped; -1
means none. The pile is a stack: its top is the last of the cards that are left in it. The core adds `rng`,
`current_player`, `decisions`, `terminated`, `truncated` and `rewards` to the state, and `num_players` and
`max_decisions` to the params.
"""

from __future__ import annotations

from botanicus_env.tables import (
    BEDS,
    BOARD_COLUMNS,
    LEVELS,
    MAX_ANIMALS,
    MAX_CARD_KINDS,
    MAX_CARDS,
    MAX_EDGES,
    MAX_GAINS,
    MAX_NODES,
    MAX_PLAYERS,
    MAX_PRIZES,
    MAX_SPECIAL,
    PRIZES,
    ROWS,
    SPACES,
    TASKS_EACH,
    TILES,
    TRACKS,
)

ASSIGN, NEUTRAL_ASKED, START, CHOOSE, PLANT, WATER, WALK, TRACK = range(8)
ASKED = (
    "assign",
    "neutral",
    "start",
    "choose",
    "plant",
    "water",
    "walk",
    "track",
)  # in the order of the codes
NEUTRAL = MAX_PLAYERS  # the Flower without an owner
LAST_ROUND = 3  # the last turn
TILED_COLUMNS = BOARD_COLUMNS // 2

# Gains nest two deep: a space, a tile or a card can give a track action, and the node where it ends gives more;
# no node gives track actions. A group holds the actions that need a decision: of a space and its tile, or of a node.
MAX_DEPTH = 2
NODE_GROUP = 1  # depth of a node's gains, within the group that gave the track action
MAX_GROUP = max(2, MAX_GAINS)

STATE_FIELDS = [
    ("coins", "i2", MAX_PLAYERS),
    ("points", "i2", MAX_PLAYERS),  # scored so far, without final scoring
    ("garden", "i1", (MAX_PLAYERS, BEDS)),  # level of the plant in each bed, 0 empty, -1 no bed
    ("gardener", "i1", MAX_PLAYERS),  # crossing
    ("animals", "i1", MAX_PLAYERS),
    ("hand", "i1", (MAX_PLAYERS, MAX_CARD_KINDS)),  # Garden cards by kind
    ("piece", "i1", (MAX_PLAYERS, len(TRACKS))),  # node on each track
    ("dealt", "i1", (MAX_PLAYERS, TASKS_EACH)),  # special tasks
    ("task", "i1", (MAX_PLAYERS, ROWS)),  # the special task assigned to each row, -1 while there is none
    ("basic_done", "u1", (MAX_PLAYERS, ROWS)),
    ("special_done", "u1", (MAX_PLAYERS, ROWS)),
    ("pile", "i1", MAX_CARDS),  # Garden cards, a stack
    ("pile_left", "i1"),
    ("discards", "i1", MAX_CARD_KINDS),
    ("prizes_taken", "i1", len(PRIZES)),  # of each stack, those left in the box included
    ("tiles", "i1", (TILED_COLUMNS, SPACES)),  # of the columns 2, 4, 6, 8
    ("covered", "u1", (TILED_COLUMNS, SPACES)),  # 1 where the tile is gone for this round
    ("flowers", "i1", (SPACES, MAX_PLAYERS)),  # on the spaces of the current column, bottom to top
    ("num_flowers", "i1", SPACES),
    ("stack", "i1", MAX_PLAYERS),  # players in the order of the last full column
    ("started", "i1"),  # how many of them have left phase 1 of this column
    ("round_number", "i1"),  # 1, 2, LAST_ROUND
    ("column", "i1"),  # 1 … 8
    ("asked", "i1"),  # ASSIGN … TRACK
    ("walked", "u1"),  # 1 once the Gardener was moved for coins in this turn
    ("played", "u1"),  # 1 once a Garden card was used or sold in this turn
    ("in_play", "i1"),  # the Garden card whose action is being resolved, else -1
    ("at_hand", "i1"),  # kind of the action at hand, else -1
    ("left", "i1"),  # its amount that is left
    ("steps_taken", "i1"),  # by the track action at hand
    ("depth", "i1"),  # groups of gained actions that are being resolved
    ("group_size", "i1", MAX_DEPTH),
    ("pending", "i1", (MAX_DEPTH, MAX_GROUP, 2)),  # the actions of each group, in the order gained
]

PARAMS_FIELDS = [
    ("num_special", "i4"),
    ("num_card_kinds", "i4"),
    ("column_points", "i2", LEVELS),
    ("animal_points", "i2", MAX_ANIMALS),
    ("basic_points", "i2", ROWS),
    ("special_points", "i2", MAX_SPECIAL),
    ("prize", "i2", (len(PRIZES), MAX_PRIZES)),
    ("num_prizes", "i1", len(PRIZES)),
    ("bed", "i1", BEDS),  # 1 where there is one
    ("row_beds", "i1", ROWS),
    ("fountain", "i1"),
    ("basic", "i1", (ROWS, LEVELS)),  # plants that a task asks for, by level
    ("special", "i1", (MAX_SPECIAL, LEVELS)),
    ("board", "i1", (BOARD_COLUMNS, SPACES, 2)),
    ("tile", "i1", (2 * TILES, 2, 2)),  # by tile and side, light and dark
    ("card", "i1", (MAX_CARD_KINDS, 2)),
    ("copies", "i1", MAX_CARD_KINDS),
    ("gains", "i1", (len(TRACKS), MAX_NODES, MAX_GAINS, 2)),  # actions of a node
    ("num_gains", "i1", (len(TRACKS), MAX_NODES)),
    ("edge", "i1", (len(TRACKS), MAX_NODES, MAX_EDGES)),  # node that an edge leads to, -1 none
    ("cost", "i1", (len(TRACKS), MAX_NODES, MAX_EDGES)),
    ("values_shown", "u1"),  # 1 with cards_shown="values"
]
