"""Shared by the tests of Cacti: positions set up by hand, other card files, choosers of actions."""

import random
import tomllib

import numpy as np
import table

from cacti_env import Cacti
from cacti_env.cards import PACKAGED
from garden_core.jit import kernels

DATA = tomllib.loads(PACKAGED.read_text("utf-8"))


class Table(table.Table):
    """One game and its state; `now` is the snapshot."""

    def __init__(self, **options):
        super().__init__(Cacti(**options))

    @property
    def over(self):
        return self.now["asked"] == "over"


def position(
    *,
    middle,
    nurseries=((), ()),
    deck=(),
    discards=(),
    hands=((), ()),
    arrangement_deck=(),
    bonus=(0, 1),
    planted=((), ()),
    special=(None, None),
    active=0,
    asked="action",
    current=None,
    last_turn=False,
    seed=0,
    **options,
):
    """Set up a position, without a check that a game can reach it.

    Cacti are lists of types by index, decks begin with the top card. A hand is a list: "starting" and
    at most one k. Per seat, `planted` is a list of halves [k, "upper"] or "starting", and `special` is None or
    a list of the cacti under the Special Planter. `asked` is "action", "response" or "last_card"; `current` is
    the player to move, by default the active one. No opening card is taken.
    """
    made = Table(**options).deal(seed)
    state, types = made.state, len(made.game.cards.types)
    state["middle"][:types] = counts(middle, types)
    state["discards"][:types] = counts(discards, types)
    state["deck"][: len(deck)] = list(deck)[::-1]
    state["deck_left"] = len(deck)
    state["arrangement_deck"][: len(arrangement_deck)] = list(arrangement_deck)[::-1]
    state["arrangements_left"] = len(arrangement_deck)
    halves = made.game.cards.halves
    for p in range(2):
        state["nursery"][p, :types] = counts(nurseries[p], types)
        state["starting_in_hand"][p] = "starting" in hands[p]
        state["basic_in_hand"][p] = next((k for k in hands[p] if k != "starting"), -1)
        numbers = [
            len(halves) - 1 if half == "starting" else 2 * half[0] + (half[1] == "lower")
            for half in planted[p]
        ]
        state["planted"][p, : len(numbers)] = numbers
        state["num_planted"][p] = len(numbers)
        state["arrangement_points"][p] = sum(halves[number].points for number in numbers)
        state["special_used"][p] = special[p] is not None
        state["under_special"][p, :types] = counts(special[p] or (), types)
    state["bonus"][:] = bonus
    state["active_player"] = active
    state["current_player"] = active if current is None else current
    state["asked"] = ("action", "response", "last_card").index(asked)
    state["last_turn"] = last_turn
    if made.game.option_values["reward"] == "margin":
        kernels.public_points(state, made.params, state["paid"])
    return made


def counts(cacti, types):
    """Return a list of types as counts by type."""
    return np.bincount(list(cacti), minlength=types).tolist()


def made_up(seed):
    """Return the content of a random valid data file: 2 to 6 types, 3 to 32 Basic Arrangements."""
    rng = random.Random(seed)
    n = rng.randint(2, 6)
    count = [rng.randint(1, 20) for _ in range(n)]
    while sum(count) < 12:
        count[rng.randrange(n)] += 1

    def arrangement():
        cost = [rng.choice([0, 0, 1, 1, 2, 3]) for _ in range(n)]
        cost[rng.randrange(n)] += not any(cost)
        return {"cost": cost, "points": rng.randint(0, 9)}

    types = [f"type {t}" for t in range(n)]
    bonus = [rng.choice([t, types[t]]) for t in rng.choices(range(n), k=rng.randint(2, 8))]
    basic = [{"upper": arrangement(), "lower": arrangement()} for _ in range(rng.randint(3, 32))]
    return {"types": types, "count": count, "bonus": bonus, "starting": arrangement(), "basic": basic}


POLICIES = ("uniform", "planter", "hoarder")


def choose(policy, rng, labels):
    """Return one of the legal `labels`: any; planting where possible; growing and leaving where possible."""
    liked = {"uniform": "", "planter": "plant", "hoarder": "grow"}[policy]
    fitting = [label for label in labels if label.startswith(liked)]
    return rng.choice(fitting or labels) if rng.random() < 0.8 else rng.choice(labels)


# --- names and positions for tests of the rules ---

TYPES = ["barrel", "prickly pear", "saguaro", "star"]
GROWS = [f"grow {name}" for name in TYPES]
SPECIALS = [f"special {name}" for name in TYPES]
HALVES = [
    *(
        (f"plant basic {k} {half}", [k, half], card[half])
        for k, card in enumerate(DATA["basic"])
        for half in card
    ),
    ("plant starting", ["starting"], DATA["starting"]),
]
FULL = [0, 0, 1, 2, 3]  # a middle that needs no refill


def cacti(by_type):
    """Return counts by type as a list of types."""
    return [t for t, n in enumerate(by_type) for _ in range(n)]


def turn(table):
    """Return the active player, the player to move and the kind of decision."""
    return tuple(table.now[key] for key in ("active_player", "current_player", "asked"))


def last(deck=(), middle=FULL, **others):
    """Set up the last turn, after the opening card unless `asked` says otherwise."""
    return position(middle=middle, deck=deck, active=1, last_turn=True, **others)
