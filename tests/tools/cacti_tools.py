"""What the tests of Cacti share: positions set up by hand, other card files, choosers of actions."""

import itertools
import random
import tomllib

import numpy as np
import table

from cacti_env import Cacti
from cacti_env.cards import PACKAGED
from garden_core.jit import kernels

DATA = tomllib.loads(PACKAGED.read_text())


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
    """Set up a position; nothing checks that it can come about.

    Cacti are lists of types by index, decks with the top first. A hand is a list of what is held: "starting" and
    at most one k. `planted` is a list of halves [k, "upper"] or "starting" per seat; `special` per seat None or
    the list of cacti under the Special Planter. `asked` is "action", "response" or "last_card", `current` who is
    asked if it is not the active player. The opening card of the turn is not taken by this.
    """
    made = Table(**options)
    made.deal(seed)
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
        basics = [k for k in hands[p] if k != "starting"]
        assert len(basics) <= 1, "a hand holds one Basic Arrangement at most"
        state["basic_in_hand"][p] = basics[0] if basics else -1
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
    """Counts by type of a list of types."""
    return np.bincount(list(cacti), minlength=types).tolist()


def made_up(seed):
    """A data file's content, allowed but otherwise drawn at random: 2 to 6 types, 3 to 32 Basic Arrangements."""
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


class Record:
    """A whole game: its data, snapshots, actions and rewards."""

    def __init__(self, data, policy, seed, **options):
        table = Table(**options).deal(seed)
        rng = random.Random(seed)
        self.data, self.game = data, table.game
        self.nows, self.taken, self.rewards = [table.now], [], []
        while not table.over:
            self.taken.append(choose(policy, rng, table.legal))
            table.take(self.taken[-1])
            self.nows.append(table.now)
            self.rewards.append(table.rewards)


# --- what tests of the rules set up and ask ---

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
    """The list of types of counts by type."""
    return [t for t, n in enumerate(by_type) for _ in range(n)]


def basics_in(now):
    """The Basic Arrangements in hands, in the deck and planted, sorted."""
    planted = [card[0] for own in now["planted"] for card in own if card != ["starting"]]
    return sorted([*itertools.chain(*now["basic_in_hand"]), *now["arrangement_deck"], *planted])


def turn(table):
    """Who is active, who is asked, and what."""
    now = table.now
    return now["active_player"], now["current_player"], now["asked"]


def in_hand(k, cost=(0, 0, 0, 0), **others):
    """A position in which seat 0 holds Basic Arrangement k and has the cacti of `cost`; 5 in the middle."""
    return position(middle=FULL, deck=[0] * 9, nurseries=(cacti(cost), ()), hands=([k], ()), **others)


def last(deck=(), middle=FULL, **others):
    """A position within the last turn, its opening card settled unless `asked` says otherwise."""
    return position(middle=middle, deck=deck, active=1, last_turn=True, **others)
