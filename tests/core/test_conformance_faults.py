"""check_game names the fault in what does not keep the contract.

The faulty games run as plain Python (this file is run again under NUMBA_DISABLE_JIT=1), as compiling each
would take minutes.
"""

import json
from functools import partial
from operator import itemgetter

import numpy as np
import pig
import pytest
from pig import Pig
from processes import python
from toys import (
    DECK,
    Cards,
    Nim,
    cards_deal,
    cards_observe,
    cards_points,
    cards_resample,
    nim_apply_action,
    nim_deal,
)

from garden_core import Game, Option, compiled
from garden_core.game import Part
from garden_core.jit import bounded, seed_rng, shuffle
from garden_core.positions import require
from garden_core.testing import check_game

# --- what does not: faulty rules, each with what the message must say ---

FAULTS = {}
"""By name: a game, and words of the message that it must get."""


def add_fault(name, words, base=Pig, **card):
    """Add the game `base`, a short one, with other class attributes."""
    assert name not in FAULTS
    faulty = type(name, (base,), {"__module__": __name__, "__doc__": "Faulty.", "name": name, **card})
    globals()[name] = faulty  # so that it can be pickled
    FAULTS[name] = (faulty(goal=20) if base is Pig else faulty(), words)
    return faulty


def faulty_rule(words, base=Pig, **card):
    """Add the game `base` with the decorated function for the kernel that its name begins with."""

    def add(function):
        kernel = function.__name__.split("__")[0]
        rules = base.rules._replace(**{kernel: compiled(function)})
        return add_fault(function.__name__, words, base, rules=rules, **card)

    return add


faulty_cards = partial(faulty_rule, base=Cards)


@faulty_rule("legal_actions returns 2 but marks 1")
def legal_actions__count(state, params, mask):
    return min(2, 2 * pig.legal_actions(state, params, mask))


@faulty_rule("must write 0 or 1 into every entry")
def legal_actions__part(state, params, mask):
    mask[pig.ROLL] = 1
    return 1


@faulty_rule("the game is not over, so something must be legal")
def legal_actions__none(state, params, mask):
    mask[:] = 0
    return 0


@faulty_rule("legal_actions leaks the random state")
def legal_actions__by_the_generator(state, params, mask):
    mask[:] = 0
    mask[state.rng[0] & np.uint64(1)] = 1
    return 1


@faulty_rule("observe for seat 0 does not write every entry")
def observe__part(state, params, player, out):
    kept = out[-1]
    pig.observe(state, params, player, out)
    out[-1] = max(kept, 0)


@faulty_rule("observe for seat 1 gives negative entries")
def observe__negative(state, params, player, out):
    pig.observe(state, params, player, out)
    out[0] -= player


@faulty_rule("observe changes the state")
def observe__writes(state, params, player, out):
    pig.observe(state, params, player, out)
    state.turn_sum += 1


@faulty_rule("public_points leaks the random state")
def public_points__generator(state, params, out):
    pig.points(state, params, out)
    out[0] += np.int64(state.rng[0] & np.uint64(7))


@faulty_rule("standings does not write every entry")
def standings__part(state, params, out):
    out[0] = state.score[0]


@faulty_rule("deal must fill every field, but leaves turn_sum in part")
def deal__part(state, params, seed):
    seed_rng(state.rng, seed)
    state.score[:] = 0
    state.current_player = 0


@faulty_rule("deal must seed the generator from the seed")
def deal__seed(state, params, seed):
    pig.deal(state, params, 5)


@faulty_rule("playing has changed params")
def deal__params(state, params, seed):
    params.goal = 30
    pig.deal(state, params, seed)


@faulty_rule("decisions must go up by 1")
def apply_action__counts(state, params, action):
    state.decisions += 1
    pig.apply_action(state, params, action)


@faulty_rule("truncated is for the cap alone")
def apply_action__truncates(state, params, action):
    pig.apply_action(state, params, action)
    if state.decisions == 7:
        state.truncated = 1


@faulty_rule("terminated and truncated are (1, 1)")
def apply_action__ends_twice(state, params, action):
    pig.apply_action(state, params, action)
    state.truncated = state.terminated


@faulty_rule("over before the cap")
def apply_action__knows_the_cap(state, params, action):
    pig.apply_action(state, params, action)
    if state.decisions == params.max_decisions - 1:
        state.terminated = 1


@faulty_rule("in all, but by points or standings it is")
def apply_action__pays(state, params, action):
    state.paid[0] += 1
    pig.apply_action(state, params, action)


CALLS = [0]


@faulty_rule("does not play on alike")
def apply_action__remembers(state, params, action):
    CALLS[0] += 1
    pig.apply_action(state, params, action)
    state.turn_sum += CALLS[0] % 2


@faulty_rule("current_player is 2")
def apply_action__player(state, params, action):
    pig.apply_action(state, params, action)
    state.current_player = 2


@faulty_rule("the generator is still the same")
def resample__nothing(state, params, player, seed):
    pass


@faulty_rule("resample must draw from its seed alone")
def resample__old_generator(state, params, player, seed):
    state.rng[0] ^= seed


@faulty_rule("['current_player'] must not change")
def resample__mover(state, params, player, seed):
    Pig.rules.resample(state, params, player, seed)
    state.current_player = (state.current_player + 1) % params.num_players


@faulty_cards("is no longer the same")
def observe__other_card(state, params, player, out):
    cards_observe(state, params, player, out)
    out[1] = 1 + state.hand[(player + 1) % params.num_players]


@faulty_cards("is no longer the same")
def public_points__hidden(state, params, out):
    cards_points(state, params, out)


@faulty_rule("have changed", base=Cards, information="perfect")
def resample__perfect(state, params, player, seed):
    cards_resample(state, params, player, seed)


@faulty_rule("but the generator has decided here", base=Nim)
def apply_action__chance(state, params, action):
    nim_apply_action(state, params, action)
    state.asked_seats += bounded(state.rng, 2)


@faulty_rule("chance is 'none', but deals differ", base=Nim)
def deal__chance(state, params, seed):
    nim_deal(state, params, seed)
    state.asked_seats = bounded(state.rng, 3)


# --- faulty cards and snapshots, over good rules ---


def changed(**keys):
    return {"snapshot": lambda self, state: {**Pig.snapshot(self, state), **keys}}


class Lenient(Option):
    def check(self, value):
        return value


class Nameless(Option):
    def check(self, value):
        if value != self.default:
            raise ValueError("wrong")
        return value


num_players, goal, cap = Pig.options
add_fault("twice_roll", "labels must be distinct", labels=("roll", "roll"))
add_fault("chance_cards", "chance is 'cards'", chance="cards")
add_fault("chance_missing", "chance is 'deal', but 3 seeds give the same game", Nim, chance="deal")
add_fault(
    "imperfect",
    "information is 'imperfect', but resample never redraws",
    information="imperfect",
    seen=lambda self, snapshot, seat: snapshot,
)
add_fault("low_range", "in all, but reward_range is (-0.5, 0.5)", reward_range=(-0.5, 0.5))
add_fault("team", "in a cooperative game", cooperative=True)
add_fault("short", "should be over, max_game_length is reached", max_game_length=3)
add_fault(
    "default_refused",
    "the defaults of the options are refused",
    options=(num_players, Option("goal", 121, "", low=1, high=120), cap),
)
add_fault("unchecked", "goal=0 must raise", options=(num_players, Lenient("goal", 9, "", low=1), cap))
add_fault("nameless", "lacks its name: wrong", options=(num_players, Nameless("goal", 20, "", low=1), cap))
add_fault("numpy_in_snapshot", "is not plain JSON", **changed(sum=np.int32(3)))
add_fault("uncounted", "snapshot['decisions'] is None", **changed(decisions=None))
add_fault("endless", "the snapshot says 'turn'", **changed(phase="turn"))
add_fault("no_phase", "needs 'phase' or 'asked'", **changed(phase=None))
add_fault("no_text", "text must give a str", text=lambda self, state, seat=None: None)
add_fault("unpicklable", "cannot be pickled", __module__="elsewhere")
add_fault("pickled", "pickling gives another game", __reduce__=lambda self: (Pig, ()))
add_fault(
    "fills_nothing",
    "from_snapshot refuses the game's own snapshot",
    fill_state=lambda self, state, snapshot: None,
)


# --- what shows hidden cards, or lets search see them; and other mistakes in a game with hidden cards ---


@compiled
def resample_deck(state, params, player, seed):
    seed_rng(state.rng, seed)
    shuffle(state.rng, state.deck[3:], DECK - 3)


@compiled
def resample_hands(state, params, player, seed):
    """Redraw the cards of the other hands from one another."""
    seed_rng(state.rng, seed)
    one, other = (player + 1) % 3, (player + 2) % 3
    if bounded(state.rng, 2):
        card = np.int64(state.hand[one])
        state.hand[one] = state.hand[other]
        state.hand[other] = card


@faulty_cards("seen hides hands[1] from seat 0, but resample does not redraw it")
def resample__keeps_the_hands(state, params, player, seed):
    resample_deck(state, params, player, seed)


@compiled
def stamped_deal(state, params, seed):
    cards_deal(state, params, seed)
    state.stamp = np.int64(state.rng[0] >> np.uint64(1))


class Stamped(Cards):
    """Cards with a number that all see, so that no two deals look the same."""

    name = "stamped"
    state_fields = (*Cards.state_fields, ("stamp", "i8"))
    rules = Cards.rules._replace(deal=stamped_deal)

    def own_snapshot(self, state):
        return super().own_snapshot(state) | {"stamp": int(state["stamp"])}


@faulty_rule("seen hides hands[1] from seat 0, but resample does not redraw it", base=Stamped)
def resample__keeps_the_hands_of_stamped(state, params, player, seed):
    resample_deck(state, params, player, seed)


ROUND = (Part("asked", 1, "seats asked", "≥ 0"), Part("next card", 1, "cards drawn", "≥ 0"))
add_fault(
    "UnmarkedPrivate",
    "parts of the observation that only seat 0 sees must be marked as private",
    Cards,
    observation_parts=(Part("hands", 3, "the own card, at the end all cards", "≥ 0"), *ROUND),
)
add_fault(
    "NamedTwice",
    "names of parts must be distinct",
    Cards,
    observation_parts=(Part("asked", 3, "the own card", "≥ 0", private=True), *ROUND),
)
add_fault(
    "NothingWritten",
    "observe_hidden for seat 0 does not write every entry",
    Cards,
    hidden_parts=(Part("hands", 2, "the other hands", "≥ 0"),),
)


@faulty_cards("observe_hidden shows nothing of", hidden_parts=(Part("hands", 2, "the other hands", "≥ 0"),))
def observe_hidden__nothing(state, params, player, out):
    out[:] = 0


@faulty_cards("seen hides deck from seat 0, but resample does not redraw it")
def resample__keeps_the_deck(state, params, player, seed):
    resample_hands(state, params, player, seed)


@faulty_cards("seen hides hands[1] from seat 0, but resample does not redraw it")
def resample__does_not_shuffle(state, params, player, seed):
    """The cards that the seat does not see are handed out from the lowest."""
    seed_rng(state.rng, seed)
    cards = [card for card in range(DECK) if card != state.hand[player]]
    for p in range(3):
        if p != player:
            state.hand[p] = cards.pop(0)
    state.deck[3:] = cards


@faulty_cards("resample for seat 0 redraws too little")
def resample__swaps_one_card(state, params, player, seed):
    """The deck stays in its order, but for the card that another gives for one of it."""
    seed_rng(state.rng, seed)
    other, i = (player + 1 + bounded(state.rng, 2)) % 3, 3 + bounded(state.rng, DECK - 3)
    state.hand[other], state.deck[i] = int(state.deck[i]), int(state.hand[other])


@faulty_cards("resample for seat 0 draws otherwise than deal")
def resample__orders_the_deck(state, params, player, seed):
    """The hands are redrawn, but the deck is put in order."""
    cards_resample(state, params, player, seed)
    state.deck[3:7] = np.sort(state.deck[3:7])


@faulty_rule(
    "resample for seat 0 redraws too little",
    base=Cards,
    own_snapshot=lambda self, state: Cards.own_snapshot(self, state) | {"deck": []},
)
def resample__keeps_what_no_snapshot_shows(state, params, player, seed):
    resample_hands(state, params, player, seed)


@faulty_cards("observe for seat 1 is no longer the same")
def resample__for_the_mover(state, params, player, seed):
    cards_resample(state, params, state.current_player, seed)


def fill_state__checked(self, state, snapshot):
    require(len({*snapshot["hands"]}) == 3, "hands: a card is there twice")
    state["hand"], state["next_card"] = snapshot["hands"], DECK - len(snapshot["deck"])
    state["deck"][int(state["next_card"]) :] = snapshot["deck"]
    state["asked_seats"], state["current_player"] = snapshot["decisions"], snapshot["current_player"]


@faulty_rule(
    "a position that cannot be: hands: a card is there twice", base=Cards, fill_state=fill_state__checked
)
def resample__a_card_twice(state, params, player, seed):
    cards_resample(state, params, player, seed)
    for p in range(3):
        if p != player:
            state.hand[p] = bounded(state.rng, DECK)


@faulty_cards("legal_actions is no longer the same")
def legal_actions__by_anothers_card(state, params, mask):
    mask[0] = 1
    mask[1] = state.hand[(state.current_player + 1) % params.num_players] > 3
    return 1 + np.int64(mask[1])


def seen__changed(**keys):
    """A `seen` that leaves in the snapshot what these functions of it say."""

    def seen(self, snapshot, seat):
        return Cards.seen(self, snapshot, seat) | {key: value(snapshot) for key, value in keys.items()}

    return {"seen": seen}


def seen__in_place(self, snapshot, seat):
    snapshot.pop("deck")
    return Cards.seen(self, snapshot | {"deck": []}, seat)


def draws(self, view, seat, look):
    return f"<svg>{view['hands']}</svg>"


add_fault("seen_missing", "so the class needs seen", Cards, seen=Game.seen)
for key in ("hands", "deck", "scores"):
    add_fault(
        f"seen_leaves_{key}",
        "what seen leaves is no longer the same",
        Cards,
        **seen__changed(**{key: itemgetter(key)}),
    )
add_fault(
    "seen_hides_the_own_card",
    "seen hides hands[0] from seat 0, but resample does not redraw it",
    Cards,
    **seen__changed(hands=lambda snapshot: [None] * 3, scores=lambda snapshot: None),
)
add_fault("seen_in_place", "seen changes the snapshot", Cards, seen=seen__in_place)
add_fault("seen_a_set", "seat_view is not plain JSON", Cards, **seen__changed(deck=lambda snapshot: {1}))
add_fault(
    "describes_the_next_card",
    "describe is no longer the same",
    Cards,
    describe=lambda self, state, action: f"change for {state['deck'][state['next_card']]}",
)
add_fault(
    "text_of_everything",
    "text is no longer the same",
    Cards,
    text=lambda self, state, seat=None: str(self.snapshot(state)),
)
add_fault(
    "picture_of_everything",
    "svg is no longer the same",
    Cards,
    own_svg=draws,
    svg=lambda self, state, seat=None, **look: draws(self, self.snapshot(state), None, None),
)
add_fault(
    "own_snapshot_forgets_truncated",
    "the snapshot says 'change'",
    Cards,
    own_snapshot=lambda self, state: (
        Cards.own_snapshot(self, state) | {"asked": "over" if state["terminated"] else "change"}
    ),
)
add_fault(
    "own_snapshot_of_other_scores",
    "snapshot['scores'] is [0, 0], not",
    Cards,
    own_snapshot=lambda self, state: Cards.own_snapshot(self, state) | {"scores": [0, 0]},
)


TOYS = [Cards(), Cards(num_players=3, reward="margin"), Stamped(num_players=3), Nim(), Nim(num_players=3)]
"""The other games that faults are added to."""


def message(game, games):
    """Return what check_game says of a game, or None."""
    try:
        check_game(game, games)
    except AssertionError as error:
        return str(error)
    return None


@pytest.fixture(scope="module")
def plain_python():
    return json.loads(python(__file__, NUMBA_DISABLE_JIT="1").stdout)


@pytest.mark.parametrize("name", FAULTS)
def test_fault_is_named(plain_python, name):
    game, words = FAULTS[name]
    assert plain_python[name] is not None, "the fault was not found"
    assert words in plain_python[name]
    assert repr(game).partition("(")[0] in plain_python[name]


@pytest.mark.parametrize("toy", TOYS, ids=repr)
def test_without_the_fault_nothing_is_found(plain_python, toy):
    assert plain_python[repr(toy)] is None


if __name__ == "__main__":
    faulty = {name: message(game, 3) for name, (game, _) in FAULTS.items()}
    print(json.dumps(faulty | {repr(toy): message(toy, 20) for toy in TOYS}))
