"""The records of Gardens of Mars: every field of a state and of the params, with its meaning.

A hex is its index 0 … 90, a colour its index 0 … 5, a seat 0 … 4; -1 means none. The core adds `rng`,
`current_player`, `decisions`, `terminated`, `truncated` and `rewards` to the state, and `num_players` and
`max_decisions` to the params.
"""

from __future__ import annotations

from mars_env.board import MAX_DIE, NUM_COLOURS, NUM_HEXES

MAX_PLAYERS = 5
MAX_GARDENERS = 2
PLACE, MOVE, PLANT = 0, 1, 2
PHASES = ("place", "move", "plant")  # in the order of the codes above

STATE_FIELDS = [
    ("garden", "u8", (NUM_COLOURS, 2)),  # by colour the set of hexes with a flower: bit h of 128 is hex h
    ("score", "i2", MAX_PLAYERS),  # space of the score track
    ("flowers", "i1", NUM_HEXES),  # colour of the flower on each hex, or -1
    ("blocked", "u1", NUM_HEXES),  # 1 on gardeners and peaks
    ("peaks", "u1", NUM_HEXES),  # 1 on peaks
    ("gardeners", "i1", (MAX_PLAYERS, MAX_GARDENERS)),  # hex of each gardener, -1 while unplaced
    ("stocks", "i1", (MAX_PLAYERS, NUM_COLOURS)),  # flowers that a seat has left, by colour; 0 while placing
    ("planted", "i1", NUM_COLOURS),  # flowers on the board, by colour
    ("dice", "i1", MAX_DIE + 1),  # dice on the table, by value; entry 0 is unused
    ("num_dice", "i1"),  # dice on the table
    ("phase", "i1"),  # PLACE, MOVE or PLANT
    ("pending", "i1"),  # the hex that waits for a flower in phase PLANT, else -1
    ("extra_turn", "u1"),  # 1 if the current turn has earned another one (variant)
]

PARAMS_FIELDS = [
    ("num_peaks", "i4"),
    ("gardeners", "i4"),  # gardeners per player, 1 or 2
    ("special_actions", "u1"),  # 1 with the variant
    ("planes", "u1"),  # 1 if observations are the view "planes"
]
