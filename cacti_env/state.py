"""The records of Cacti: every field of a state and of the params, with its meaning.

A type of cactus is its index in the data file, a seat 0 or 1; -1 means none. A Basic Arrangement k is its place in the
data file; with params.cards_shown its place in the order of values (`Cacti.file_places`). A half is what can be planted: 2 k the upper half of Basic Arrangement k, 2 k + 1 the lower half, and after
them all the Starting Arrangement. A deck is a stack: its top is the last of the cards that are left in it. The
core adds `rng`, `current_player`, `decisions`, `terminated`, `truncated` and `rewards` to the state, and
`num_players` and `max_decisions` to the params.
"""

from __future__ import annotations

from cacti_env.cards import MAX_BASIC, MAX_BONUS, MAX_CACTI, MAX_TYPES, NUM_PLAYERS

ACTION, RESPONSE, LAST_CARD = 0, 1, 2
ASKED = ("action", "response", "last_card")  # in the order of the codes above
MAX_HALVES = 2 * MAX_BASIC + 1

STATE_FIELDS = [
    ("arrangement_points", "i2", NUM_PLAYERS),  # of the Arrangements that a seat has planted
    ("deck", "i1", MAX_CACTI),  # types of the Cacti cards, a stack
    ("deck_left", "i1"),  # cards in it
    ("arrangement_deck", "i1", MAX_BASIC),  # Basic Arrangements, a stack
    ("arrangements_left", "i1"),  # cards in it
    ("middle", "i1", MAX_TYPES),  # face-up cacti by type
    ("nursery", "i1", (NUM_PLAYERS, MAX_TYPES)),  # cacti of a seat by type
    ("under_special", "i1", (NUM_PLAYERS, MAX_TYPES)),  # cacti under its Special Planter by type
    ("special_used", "u1", NUM_PLAYERS),  # 1 once the Special Planter is used
    ("bonus", "i1", NUM_PLAYERS),  # type of its Bonus Planter
    ("starting_in_hand", "u1", NUM_PLAYERS),  # 1 until the Starting Arrangement is planted
    ("basic_in_hand", "i1", NUM_PLAYERS),  # the dealt Basic Arrangement, -1 once it is planted
    ("planted", "i1", (NUM_PLAYERS, MAX_BASIC + 1)),  # halves that a seat has planted, in this order
    ("num_planted", "i1", NUM_PLAYERS),  # how many
    ("discards", "i1", MAX_TYPES),  # by type
    ("active_player", "i1"),  # seat whose turn it is; `current_player` may be the responder
    ("asked", "i1"),  # ACTION, RESPONSE or LAST_CARD
    ("last_turn", "u1"),  # 1 from the reshuffle on
    # what each seat has taken and passed up since the deal, open to both; zeros unless params.memory
    ("grown", "i1", (NUM_PLAYERS, MAX_TYPES)),  # how often it has grown a type
    ("passed_by", "i1", (NUM_PLAYERS, MAX_TYPES)),  # … did something else while the type was in the middle
    ("not_planted", "i1", (NUM_PLAYERS, MAX_HALVES)),  # … while its Nursery held what a half costs
]
MOST_COUNTED = 127  # largest count

PARAMS_FIELDS = [
    ("num_types", "i4"),
    ("num_basic", "i4"),  # Basic Arrangements
    ("num_bonus", "i4"),  # Bonus Planters
    ("points", "i2", MAX_HALVES),  # of a half
    ("cost", "i1", (MAX_HALVES, MAX_TYPES)),  # of a half, by type
    ("count", "i1", MAX_TYPES),  # Cacti cards by type
    ("bonus", "i1", MAX_BONUS),  # types of all Bonus Planters
    ("memory", "u1"),  # whether observations count what the players have taken and passed up
    ("cards_shown", "u1"),  # whether observations and actions show values instead of places
]
