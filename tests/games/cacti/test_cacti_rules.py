"""The rules of Cacti, one test for each statement of the rulebook and of our reading of it.

Positions are set up as `cacti_tools` explains: they begin within a turn, its opening card taken. Cacti are
numbers: 0 barrel, 1 prickly pear, 2 saguaro, 3 star. Seat 0 is active unless a test says otherwise.
"""

import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
import tomli_w
from cacti_tools import DATA, Table, counts, made_up, position
from statistics_tools import uniform

from garden_core import kernels, make

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
KEYS = (
    "game current_player active_player asked middle nurseries special bonus starting_in_hand basic_in_hand "
    "arrangement_deck planted deck discards last_turn scores decisions terminated truncated"
)


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


# --- the cards ---


def test_basic_arrangements_are_the_ordered_pairs_of_types():
    for card, (a, b) in zip(DATA["basic"], itertools.permutations(range(4), 2), strict=True):
        rest = sorted({0, 1, 2, 3} - {a, b}, reverse=a > b)
        assert card["upper"] == {"cost": counts([a, a, b], 4), "points": 3}
        assert card["lower"] == {"cost": counts([rest[0]] * 3 + [rest[1]] * 2, 4), "points": 6}


def test_each_ordered_pair_stands_once_among_the_upper_and_once_among_the_lower_halves():
    for half, (many, few) in {"upper": (2, 1), "lower": (3, 2)}.items():
        costs = [card[half]["cost"] for card in DATA["basic"]]
        assert len({(cost.index(many), cost.index(few)) for cost in costs}) == 12


def test_there_are_48_cacti_four_bonus_planters_and_a_starting_arrangement_of_one_of_each():
    assert (DATA["types"], DATA["count"]) == (TYPES, [12] * 4)
    assert DATA["bonus"] == TYPES
    assert DATA["starting"] == {"cost": [1, 1, 1, 1], "points": 5}


# --- the deal ---


@pytest.fixture(scope="module")
def dealt():
    table = Table()
    return [table.deal(seed).now for seed in range(3000)]


def test_five_cacti_are_dealt_to_the_middle_and_the_first_opening_card_is_taken(dealt):
    for now in dealt:
        assert sum(now["middle"]) == 5
        assert [sum(nursery) for nursery in now["nurseries"]] == [1, 0]
        assert len(now["deck"]) == 42
        assert now["discards"] == [0] * 4
        everything = np.sum([now["middle"], *now["nurseries"], counts(now["deck"], 4)], axis=0)
        assert everything.tolist() == [12] * 4


def test_seat_0_begins_with_an_action(dealt):
    for now in dealt:
        assert (now["active_player"], now["current_player"], now["asked"]) == (0, 0, "action")
        assert now["decisions"] == 0
        assert not any(now[flag] for flag in ("last_turn", "terminated", "truncated"))


def test_each_player_holds_the_starting_arrangement_one_basic_one_and_the_special_planter(dealt):
    for now in dealt:
        assert now["starting_in_hand"] == [True, True]
        assert [len(held) for held in now["basic_in_hand"]] == [1, 1]
        assert now["special"] == [None, None]
        assert now["planted"] == [[], []]


def test_the_other_basic_arrangements_form_the_deck(dealt):
    for now in dealt:
        assert basics_in(now) == list(range(12))
        assert len(now["arrangement_deck"]) == 10


def test_the_two_bonus_planters_are_different_cards_at_random(dealt):
    assert uniform([tuple(now["bonus"]) for now in dealt], 12)


def test_the_basic_arrangements_are_dealt_at_random(dealt):
    assert uniform([str(now["basic_in_hand"]) for now in dealt], 12 * 11)
    for place in (0, 1, 9):
        assert uniform([now["arrangement_deck"][place] for now in dealt], 12)


def test_the_cacti_are_shuffled(dealt):
    for place in (0, 1, 20, 41):
        assert uniform([now["deck"][place] for now in dealt], 4)
    assert uniform([now["nurseries"][0].index(1) for now in dealt], 4)
    middles = np.array([now["middle"] for now in dealt])  # of each type hypergeometric
    assert abs(middles.mean(axis=0) - 5 / 4).max() < 0.08
    assert abs(middles.var(axis=0) - 5 / 4 * 3 / 4 * 43 / 47).max() < 0.1


def test_bonus_planters_basic_arrangements_and_cacti_are_drawn_independently(dealt):
    assert uniform([(now["bonus"][0], now["deck"][0]) for now in dealt], 16)
    assert uniform([(now["bonus"][0], now["arrangement_deck"][0]) for now in dealt], 48)
    assert uniform([(now["arrangement_deck"][0], now["deck"][0]) for now in dealt], 48)


def test_one_seed_gives_one_deal(dealt):
    assert [Table().deal(seed).now for seed in range(5)] == dealt[:5]


@pytest.mark.parametrize("seed", range(8))
def test_other_cards_are_dealt_alike(seed, tmp_path):
    path = tmp_path / "cards.toml"
    data = made_up(seed)
    path.write_text(tomli_w.dumps(data))
    now = Table(cards=str(path)).deal(seed).now
    n = len(data["types"])
    assert sum(now["middle"]) == 5
    assert [sum(nursery) for nursery in now["nurseries"]] == [1, 0]
    everything = np.sum([now["middle"], *now["nurseries"], counts(now["deck"], n)], axis=0)
    assert everything.tolist() == data["count"]
    assert basics_in(now) == list(range(len(data["basic"])))
    cards = Counter(data["types"].index(card) if isinstance(card, str) else card for card in data["bonus"])
    assert Counter(now["bonus"]) <= cards


# --- turns, opening card, refill ---


def test_the_turn_passes_to_the_other_player_after_an_action():
    table = in_hand(0, [2, 1, 0, 0]).take("plant basic 0 upper")
    assert turn(table) == (1, 1, "action")
    table.take("special star")
    assert turn(table) == (0, 0, "action")


def test_a_turn_begins_with_the_top_card_for_the_active_player():
    table = in_hand(0, [2, 1, 0, 0]).take("plant basic 0 upper")
    assert table.now["nurseries"] == [[0, 0, 0, 0], [1, 0, 0, 0]]
    assert len(table.now["deck"]) == 8


def test_the_opening_card_is_not_asked_for_before_the_last_turn():
    table = in_hand(0, [2, 1, 0, 0]).take("plant basic 0 upper")
    assert {"take card", "leave card"}.isdisjoint(table.legal)


def test_the_middle_is_refilled_from_the_top_before_the_next_opening_card():
    table = position(middle=FULL, deck=[3, 2, 1, 0, 0]).take("special barrel")
    assert table.now["middle"] == [0, 1, 2, 2]
    assert table.now["nurseries"] == [[0, 0, 0, 0], [0, 1, 0, 0]]
    assert table.now["deck"] == [0, 0]


def test_the_deck_is_drawn_in_its_order():
    deck = [3, 1, 2, 0, 0, 2, 1, 3, 3, 1]
    table = position(middle=[0, 0, 0, 0, 0], deck=deck).take("special barrel")
    assert table.now["middle"] == counts(deck[:5], 4)
    assert table.now["nurseries"][1] == counts(deck[5:6], 4)
    assert table.now["deck"] == deck[6:]


def test_the_middle_holds_five_and_is_refilled_no_further():
    table = in_hand(0, [2, 1, 0, 0]).take("plant basic 0 upper")
    assert table.now["middle"] == counts(FULL, 4)


def test_an_action_is_compulsory():
    table = position(middle=[2] * 5, deck=[0] * 9, special=([1], None))
    assert table.legal == ["grow saguaro"]


# --- Grow ---


@pytest.mark.parametrize("t", range(4))
def test_a_grow_takes_every_cactus_of_the_type_from_the_middle(t):
    middle = [t, t, t, (t + 1) % 4, (t + 2) % 4]
    table = position(middle=middle, nurseries=([t, (t + 1) % 4], [t]), deck=[0] * 9).take(GROWS[t])
    assert table.now["middle"] == counts(middle[3:], 4)
    assert table.now["nurseries"] == [counts([t] * 4 + [(t + 1) % 4], 4), counts([t], 4)]


def test_a_grow_needs_a_cactus_of_the_type_in_the_middle():
    table = position(middle=[0, 0, 2, 2, 2], nurseries=([1], [3]), special=([0], None))
    assert table.legal == ["grow barrel", "grow saguaro"]


def test_a_grow_is_responded_to_by_the_other_player_with_a_grow_or_a_plant():
    table = position(
        middle=FULL, nurseries=((), [0, 0, 1, 2, 3]), hands=((), ["starting", 0]), arrangement_deck=[1, 4],
        deck=[0] * 9,
    ).take("grow barrel")  # fmt: skip
    assert turn(table) == (0, 1, "response")
    assert table.legal == [*GROWS[1:], "plant basic 0 upper", "plant basic 1 upper", "plant starting"]


def test_the_second_players_grow_is_responded_to_alike():
    table = position(middle=FULL, deck=[0] * 9, active=1).take("grow barrel")
    assert turn(table) == (1, 0, "response")
    table.take("grow star")
    assert table.now["nurseries"] == [[1, 0, 0, 1], [2, 0, 0, 0]]
    assert turn(table) == (0, 0, "action")


def test_the_middle_is_not_refilled_between_grow_and_response():
    table = position(middle=FULL, deck=[2, 2, 2, 0, 3]).take("grow barrel")
    assert table.now["middle"] == [0, 1, 1, 1]
    assert table.now["deck"] == [2, 2, 2, 0, 3]
    table.take("grow prickly pear")
    assert table.now["middle"] == [0, 0, 4, 1]
    assert table.now["nurseries"] == [[2, 0, 0, 0], [1, 1, 0, 0]]
    assert table.now["deck"] == [3]


def test_the_responder_draws_no_opening_card():
    table = position(middle=FULL, deck=[2] * 9).take("grow barrel")
    assert table.now["nurseries"][1] == [0] * 4


def test_a_type_just_grown_cannot_be_grown_in_response():
    table = position(middle=FULL, deck=[0] * 9).take("grow barrel")
    assert table.legal == GROWS[1:]


def test_a_response_is_not_responded_to():
    table = position(middle=FULL, deck=[0] * 9).take("grow barrel").take("grow star")
    assert turn(table) == (1, 1, "action")


def test_a_special_is_no_response():
    table = position(middle=FULL, nurseries=((), [0, 1, 2, 3]), deck=[0] * 9).take("grow barrel")
    assert set(table.legal).isdisjoint(SPECIALS)


def test_a_response_is_compulsory_if_any_is_possible():
    table = position(middle=[0, 0, 0, 0, 3], deck=[0] * 9).take("grow barrel")
    assert (turn(table), table.legal) == ((0, 1, "response"), ["grow star"])
    table = position(
        middle=[0] * 5, nurseries=((), [0, 0, 1]), hands=((), [0]), deck=[0] * 9,
    ).take("grow barrel")  # fmt: skip
    assert (turn(table), table.legal) == ((0, 1, "response"), ["plant basic 0 upper"])


def test_an_impossible_response_is_skipped():
    table = position(
        middle=[0] * 5,
        nurseries=((), [0, 1]),
        hands=((), ["starting", 0]),
        arrangement_deck=[1],
        deck=[2] * 9,
    ).take("grow barrel")
    assert turn(table) == (1, 1, "action")
    assert table.now["middle"] == [0, 0, 5, 0]
    assert table.now["nurseries"] == [[5, 0, 0, 0], [1, 1, 1, 0]]
    assert table.now["decisions"] == 1


def test_a_response_can_plant_the_top_of_the_arrangement_deck_and_reveals_the_next():
    table = position(
        middle=FULL, nurseries=((), [0, 0, 1]), hands=((), [7]), arrangement_deck=[0, 4], deck=[2] * 9
    ).take("grow barrel")
    table.take("plant basic 0 upper")
    assert table.now["planted"] == [[], [[0, "upper"]]]
    assert table.now["discards"] == [2, 1, 0, 0]
    assert table.now["basic_in_hand"] == [[], [7]]
    assert table.now["arrangement_deck"] == [4]
    assert table.now["middle"] == [0, 1, 3, 1]
    assert table.now["nurseries"] == [[2, 0, 0, 0], [0, 0, 1, 0]]


def test_the_responder_plants_with_its_own_cacti_and_its_own_hand():
    table = position(
        middle=[2] * 5, nurseries=([0, 0, 1, 1, 1, 1, 3], []), hands=([0], [3]), deck=[0] * 9
    ).take("grow saguaro")  # fmt: skip
    assert turn(table) == (1, 1, "action")
    table = position(middle=[2] * 5, nurseries=([], [0, 0, 1]), hands=([0], [3]), deck=[0] * 9).take(
        "grow saguaro"
    )
    assert turn(table) == (1, 1, "action")


# --- Plant ---


@pytest.mark.parametrize(("label", "planted", "half"), HALVES)
def test_every_half_costs_its_cacti_and_gives_its_points(label, planted, half):
    hand = planted[:1]
    table = position(
        middle=FULL, nurseries=(cacti(half["cost"]), ()), hands=(hand, ()), deck=[0] * 9, bonus=(0, 0)
    )
    assert label in table.legal
    table.take(label)
    assert table.now["nurseries"][0] == [0] * 4
    assert table.now["discards"] == half["cost"]
    assert table.now["planted"] == [[planted], []]
    assert table.scores[0] == half["points"]
    assert (table.now["starting_in_hand"][0], table.now["basic_in_hand"][0]) == (False, [])


@pytest.mark.parametrize(("label", "planted", "half"), HALVES)
def test_a_half_is_illegal_with_one_cactus_too_few(label, planted, half):
    for t in range(4):
        if half["cost"][t]:
            few = [9] * 4
            few[t] = half["cost"][t] - 1
            table = position(middle=FULL, nurseries=(cacti(few), ()), hands=(planted[:1], ()))
            assert label not in table.legal


def test_with_cacti_enough_every_half_of_hand_and_top_is_legal_and_no_other():
    table = position(
        middle=FULL,
        nurseries=([0, 1, 2, 3] * 5, ()),
        hands=(["starting", 7], ["starting", 2]),
        arrangement_deck=[3, 5],
    )
    assert [label for label in table.legal if "plant" in label] == [
        "plant basic 3 upper",
        "plant basic 3 lower",
        "plant basic 7 upper",
        "plant basic 7 lower",
        "plant starting",
    ]


def test_only_the_cost_is_discarded():
    table = in_hand(0, [4, 3, 2, 1], discards=[3, 3, 0]).take("plant basic 0 upper")
    assert table.now["nurseries"][0] == [2, 2, 2, 1]
    assert table.now["discards"] == [3, 1, 0, 2]
    assert table.now["middle"] == counts(FULL, 4)


def test_the_cacti_must_be_in_the_own_nursery():
    table = position(
        middle=[0, 0, 1, 2, 3], nurseries=((), [0, 1, 2, 3] * 3), special=([0, 0, 0, 1, 1, 2, 3], None),
        hands=(["starting", 0], ()), arrangement_deck=[1], discards=[0, 1, 2, 3] * 3,
    )  # fmt: skip
    assert table.legal == GROWS


def test_only_one_half_of_a_card_is_ever_planted():
    table = in_hand(0, [3, 3, 3, 3]).take("plant basic 0 upper").take("special barrel")
    assert turn(table) == (0, 0, "action")
    assert not any("plant" in label for label in table.legal)


def test_the_plant_example():
    """The second player plants, from the hand, the half worth 3 points; other cacti stay where they are."""
    table = position(
        middle=FULL, nurseries=((), [0, 0, 0, 1, 2, 3]), hands=(["starting", 1], ["starting", 0]),
        arrangement_deck=[4], deck=[3] * 9, active=1, bonus=(3, 3),
    )  # fmt: skip
    before = table.scores[1]
    table.take("plant basic 0 upper")
    assert table.now["planted"] == [[], [[0, "upper"]]]
    assert table.now["nurseries"][1] == [1, 0, 1, 1]
    assert table.now["discards"] == [2, 1, 0, 0]
    assert table.now["basic_in_hand"] == [[1], []]
    assert table.now["starting_in_hand"] == [True, True]
    assert table.now["arrangement_deck"] == [4]
    assert table.scores[1] - before == 3 + (5 * 3 - 2 * 2)


def test_planting_the_top_reveals_the_next():
    table = position(
        middle=FULL,
        nurseries=([0, 0, 1], [0, 0, 2]),
        hands=([5], [6]),
        arrangement_deck=[0, 1, 2],
        deck=[3] * 9,
    )
    assert "plant basic 1 upper" not in table.legal
    table.take("plant basic 0 upper")
    assert table.now["arrangement_deck"] == [1, 2]
    assert table.now["basic_in_hand"] == [[5], [6]]
    assert "plant basic 1 upper" in table.legal
    assert "plant basic 0 upper" not in table.legal
    table.take("plant basic 1 upper")
    assert table.now["arrangement_deck"] == [2]


def test_planting_the_last_of_the_arrangement_deck_leaves_none():
    table = position(
        middle=FULL, nurseries=([0, 1, 2, 3] * 5, [0, 1, 2, 3] * 5), arrangement_deck=[0], deck=[0] * 9
    )
    table.take("plant basic 0 lower")
    assert table.now["arrangement_deck"] == []
    assert table.legal == GROWS + SPECIALS


def test_planting_from_the_hand_leaves_the_deck_and_draws_nothing():
    table = position(
        middle=FULL, nurseries=([0, 0, 1], ()), hands=([0], ()), arrangement_deck=[1, 2], deck=[3] * 9
    )
    table.take("plant basic 0 upper")
    assert table.now["arrangement_deck"] == [1, 2]
    assert table.now["basic_in_hand"] == [[], []]


@pytest.mark.parametrize("label", ["plant basic 0 upper", "special barrel"])
def test_plant_and_special_are_not_responded_to(label):
    table = position(
        middle=FULL, nurseries=([0, 0, 1], [0, 1, 2, 3]), hands=([0], ["starting"]), deck=[0] * 9
    ).take(label)  # fmt: skip
    assert turn(table) == (1, 1, "action")


def test_planted_keeps_the_order():
    table = position(
        middle=FULL, nurseries=([0, 1, 2, 3] * 5, ()), hands=(["starting", 8], ()), arrangement_deck=[3],
        deck=[0, 1, 2, 3] * 9, special=(None, [1]), planted=([[11, "upper"]], ()),
    )  # fmt: skip
    for label in ("plant basic 8 lower", "plant starting", "plant basic 3 upper"):
        table.take(label)
        table.take(table.legal[0])
        assert turn(table) == (1, 0, "response")
        table.take(next(label for label in table.legal if "grow" in label))
    assert table.now["planted"] == [[[11, "upper"], [8, "lower"], ["starting"], [3, "upper"]], []]


def test_there_is_no_limit_to_what_is_planted_or_held():
    planted = [[k, "lower"] for k in range(11)]
    table = position(
        middle=FULL,
        nurseries=([0, 1, 2, 3] * 9, ()),
        planted=(planted, ()),
        hands=(["starting", 11], ()),
        deck=[0] * 9,
    ).take("plant starting")
    table.take("special barrel").take("plant basic 11 lower")
    assert table.now["planted"][0] == [*planted, ["starting"], [11, "lower"]]


# --- Special ---


@pytest.mark.parametrize("t", range(4))
def test_special_takes_from_middle_and_nursery(t):
    table = position(
        middle=[t, t, *[(t + 1) % 4] * 3], nurseries=([0, 1, 2, 3, t], [t]), deck=[(t + 1) % 4] * 9
    )
    table.take(SPECIALS[t])
    nursery = [1] * 4
    nursery[t] = 0
    assert table.now["special"] == [counts([t] * 4, 4), None]
    assert table.now["nurseries"] == [nursery, counts([t, (t + 1) % 4], 4)]
    assert table.now["middle"] == counts([(t + 1) % 4] * 5, 4)
    assert table.now["discards"] == [0] * 4


def test_special_needs_a_cactus_in_the_middle_or_the_own_nursery():
    table = position(middle=[0] * 5, nurseries=([1], [2, 3]), discards=[2, 3])
    assert table.legal == ["grow barrel", "special barrel", "special prickly pear"]


def test_special_takes_from_the_middle_alone():
    table = position(middle=FULL, deck=[1] * 9).take("special barrel")
    assert table.now["special"] == [[2, 0, 0, 0], None]


def test_special_takes_from_the_nursery_alone_and_then_nothing_needs_a_refill():
    table = position(middle=[1] * 5, nurseries=([0, 0, 2], ()), deck=[1] * 9).take("special barrel")
    assert table.now["special"] == [[2, 0, 0, 0], None]
    assert table.now["nurseries"][0] == [0, 0, 1, 0]
    assert len(table.now["deck"]) == 8


def test_special_is_used_once_a_game_by_each_player():
    table = position(middle=FULL, deck=[0, 1, 2, 3] * 5).take("special barrel")
    table.take("special star")
    assert set(table.legal).isdisjoint(SPECIALS)
    table.take("grow barrel").take(table.legal[0])
    assert set(table.legal).isdisjoint(SPECIALS)


def test_the_others_special_does_not_count():
    assert set(SPECIALS) < set(position(middle=[0, 0, 1, 2, 3], special=(None, [0])).legal)


def test_cacti_under_the_special_planter_stay_there_and_no_more_come():
    table = position(
        middle=[0, 0, 0, 0, 0],
        nurseries=([1, 1, 2], ()),
        special=([0, 0], None),
        hands=([3], ()),
        deck=[1] * 9,
    )
    # The upper half of 3 asks for one barrel: those under the Planter are not to be had.
    assert table.legal == ["grow barrel"]
    table.take("grow barrel")
    assert table.now["special"] == [[2, 0, 0, 0], None]
    assert table.now["nurseries"][0] == [5, 2, 1, 0]


def test_special_may_take_the_type_of_the_own_bonus_planter():
    table = position(middle=[1] * 5, nurseries=([0, 0], ()), bonus=(0, 1), deck=[1] * 9).take(
        "special barrel"
    )
    assert table.scores[0] == 2


# --- the deck runs out ---


@pytest.mark.parametrize("seat", [0, 1])
def test_an_empty_deck_with_five_in_the_middle_goes_on_without_an_opening_card(seat):
    nurseries = [[0, 0, 1], ()][:: 1 - 2 * seat]
    table = position(
        middle=FULL, nurseries=nurseries, hands=([0], [0])[:: 1 - 2 * seat], discards=[3], active=seat
    ).take("plant basic 0 upper")
    assert turn(table) == (1 - seat, 1 - seat, "action")
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]
    assert not table.now["last_turn"]
    assert table.now["discards"] == [2, 1, 0, 1]  # nothing is shuffled yet


@pytest.mark.parametrize("seat", [0, 1])
def test_a_refill_that_takes_the_last_card_is_a_refill(seat):
    table = position(middle=FULL, deck=[3, 2], discards=[1] * 4, active=seat).take("special barrel")
    assert turn(table) == (1 - seat, 1 - seat, "action")
    assert table.now["middle"] == [0, 1, 2, 2]
    assert (table.now["deck"], table.now["discards"]) == ([], [0, 4, 0, 0])
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]
    assert not table.now["last_turn"]


@pytest.mark.parametrize("seat", [0, 1])
def test_an_opening_card_that_is_the_last_ends_nothing_yet(seat):
    table = position(middle=FULL, deck=[3, 2, 1], active=seat).take("special barrel")
    assert turn(table) == (1 - seat, 1 - seat, "action")
    assert table.now["nurseries"][1 - seat] == [0, 1, 0, 0]
    assert table.now["deck"] == []
    assert not table.now["last_turn"]


def test_turns_go_on_with_an_empty_deck_as_long_as_the_middle_holds_five():
    table = position(
        middle=FULL, nurseries=([0, 1, 2, 3] * 4, [0, 1, 2, 3] * 4), hands=(["starting", 0], ["starting", 1]),
        arrangement_deck=[4, 5],
    )  # fmt: skip
    seats = []
    for label in ("starting", "starting", "basic 0 upper", "basic 1 upper", "basic 4 upper", "basic 5 upper"):
        seats.append(table.to_move)
        table.take(f"plant {label}")
    assert seats == [0, 1] * 3
    assert turn(table) == (0, 0, "action")
    assert not table.now["last_turn"]


def test_the_second_player_cannot_refill_and_the_game_ends():
    table = position(middle=FULL, deck=[3], discards=[1] * 9, active=1).take("special barrel")
    assert table.now["asked"] == "over"
    assert (table.now["terminated"], table.now["truncated"]) == (True, False)
    assert table.legal == []
    assert table.now["middle"] == [0, 1, 1, 2]  # refilled as far as it went
    assert table.now["discards"] == [0, 9, 0, 0]  # which are not shuffled for this


def test_the_second_players_grow_is_responded_to_before_the_game_ends():
    table = position(middle=FULL, discards=[1] * 9, active=1).take("grow barrel")
    assert turn(table) == (1, 0, "response")
    table.take("grow star")
    assert table.over
    assert table.now["nurseries"] == [[0, 0, 0, 1], [2, 0, 0, 0]]
    assert table.now["middle"] == [0, 1, 1, 0]


def test_after_a_skipped_response_the_game_ends_alike():
    table = position(middle=[0] * 5, deck=[1], active=1).take("grow barrel")
    assert table.over
    assert table.now["middle"] == [0, 1, 0, 0]


# --- the last turn ---


def last(deck=(), middle=FULL, **others):
    """A position within the last turn, its opening card settled unless `asked` says otherwise."""
    return position(middle=middle, deck=deck, active=1, last_turn=True, **others)


def test_the_first_player_cannot_refill_and_the_discards_become_the_deck():
    table = position(middle=FULL, deck=[3], discards=[1, 1, 2, 2], hands=([0], ())).take("special barrel")
    now = table.now
    assert turn(table) == (1, 1, "last_card")
    assert now["last_turn"]
    assert now["discards"] == [0] * 4
    assert (sum(now["middle"]), len(now["deck"])) == (5, 3)
    assert (np.array(now["middle"]) + counts(now["deck"], 4)).tolist() == [0, 3, 3, 2]
    assert now["nurseries"] == [[0] * 4, [0] * 4]


def test_the_discards_are_shuffled():
    table = position(middle=FULL, discards=[0, 1, 2, 3, 3, 3])
    before = table.states.copy()
    often = Counter()
    for seed in range(3000):
        table.states[:] = before
        kernels.resample(table.state, table.params, 0, seed)  # another generator
        often[tuple(table.take("special barrel").now["deck"])] += 1
    # Four of six are left, of which three are alike: every sequence as often as it should be.
    orders = Counter(order[2:] for order in itertools.permutations([0, 1, 2, 3, 3, 3]))
    assert set(often) == set(orders)
    for order, n in orders.items():
        mean = 3000 * n / 720
        assert abs(often[order] - mean) < 6 * mean**0.5


def test_a_copied_state_shuffles_alike():
    table = position(middle=[0] * 5, discards=[0, 1, 2, 3] * 6)
    other = Table()
    other.states[:] = table.states
    label = "special barrel"
    assert table.take(label).now == other.take(label).now


def test_cacti_planted_for_in_that_very_turn_are_shuffled_too():
    table = position(middle=FULL, nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"])).take("grow barrel")
    assert turn(table) == (0, 1, "response")
    table.take("plant starting")
    now = table.now
    assert turn(table) == (1, 1, "last_card")
    assert (sum(now["middle"]), len(now["deck"]), now["discards"]) == (5, 2, [0] * 4)
    assert (np.array(now["middle"]) + counts(now["deck"], 4)).tolist() == [1, 2, 2, 2]


def test_cacti_under_special_planters_and_in_nurseries_are_not_shuffled():
    table = position(
        middle=FULL, nurseries=([0, 1], [2]), special=(None, [3, 3]), discards=[1] * 4
    ).take("special barrel")  # fmt: skip
    assert table.now["special"] == [[3, 0, 0, 0], [0, 0, 0, 2]]
    assert table.now["nurseries"] == [[0, 1, 0, 0], [0, 0, 1, 0]]


def test_the_last_turn_begins_with_the_choice_of_the_opening_card():
    table = position(middle=FULL, discards=[1] * 4).take("special barrel")
    assert table.legal == ["take card", "leave card"]


def test_taking_adds_the_top_card():
    table = last([3, 0, 1], asked="last_card").take("take card")
    assert turn(table) == (1, 1, "action")
    assert table.now["nurseries"] == [[0] * 4, [0, 0, 0, 1]]
    assert table.now["deck"] == [0, 1]


def test_leaving_leaves_the_card_on_the_deck():
    table = last([3, 0, 1], asked="last_card").take("leave card")
    assert turn(table) == (1, 1, "action")
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]
    assert table.now["deck"] == [3, 0, 1]


def test_a_card_taken_can_be_planted_at_once():
    for label, legal in (("take card", True), ("leave card", False)):
        table = last([1], asked="last_card", nurseries=((), [0, 0]), hands=((), [0])).take(label)
        assert ("plant basic 0 upper" in table.legal) == legal


@pytest.mark.parametrize(("discards", "asked"), [(2, "action"), (3, "last_card")])
def test_the_opening_card_is_asked_for_only_if_the_deck_has_a_card(discards, asked):
    table = position(middle=FULL, discards=[1] * discards).take("special barrel")
    assert turn(table) == (1, 1, asked)
    assert table.now["middle"] == [0, 3, 1, 1]
    assert table.now["last_turn"]


def test_the_refill_is_completed_as_far_as_the_discards_go():
    table = position(middle=[0, 0, 0, 2, 3], deck=[2], discards=[1]).take("special barrel")
    assert turn(table) == (1, 1, "action")
    assert table.now["middle"] == [0, 1, 2, 1]
    assert (table.now["deck"], table.now["discards"]) == ([], [0] * 4)


def test_without_discards_there_is_a_last_turn_all_the_same():
    table = position(middle=FULL).take("special barrel")
    assert turn(table) == (1, 1, "action")
    assert table.now["middle"] == [0, 1, 1, 1]
    assert table.now["last_turn"]


def test_the_last_turn_allows_every_action():
    table = last(nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"]))
    assert table.legal == [*GROWS, "plant starting", *SPECIALS]


@pytest.mark.parametrize("label", ["plant starting", "special barrel"])
def test_the_game_ends_after_the_last_turn_even_if_the_middle_is_full(label):
    table = last([1] * 9, nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"])).take(label)
    assert table.now["asked"] == "over"
    assert table.now["terminated"]
    assert sum(table.now["middle"]) == 5
    assert table.now["last_turn"]


def test_the_first_player_responds_to_a_grow_in_the_last_turn():
    table = last([1] * 9, nurseries=([0, 0, 1], ()), hands=([0], ()), arrangement_deck=[3]).take(
        "grow barrel"
    )
    assert turn(table) == (1, 0, "response")
    assert table.legal == [*GROWS[1:], "plant basic 0 upper"]
    table.take("plant basic 0 upper")
    assert table.over
    assert table.now["planted"] == [[[0, "upper"]], []]


def test_an_impossible_response_in_the_last_turn_is_skipped():
    table = last([1] * 9, middle=[0] * 5, nurseries=([0, 0, 1], ())).take("grow barrel")
    assert table.over
    assert table.now["nurseries"] == [[2, 1, 0, 0], [5, 0, 0, 0]]


def test_the_middle_is_refilled_after_the_last_turn():
    table = last([3, 2, 1]).take("special barrel")
    assert table.over
    assert table.now["middle"] == [0, 1, 2, 2]
    assert table.now["deck"] == [1]
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]  # no opening card any more


def test_a_card_left_goes_into_the_refill():
    table = last([3, 2, 1], asked="last_card").take("leave card").take("special barrel")
    assert table.now["middle"] == [0, 1, 2, 2]


def test_discards_of_the_last_turn_are_not_shuffled_again():
    table = last(middle=[3], nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"])).take("plant starting")
    assert table.over
    assert table.now["middle"] == [0, 0, 0, 1]
    assert (table.now["deck"], table.now["discards"]) == ([], [1] * 4)


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({"special": (None, [1])}, id="Special used, nothing to plant"),
        pytest.param(
            {"special": (None, [1]), "nurseries": ((), [0, 1, 2])}, id="cacti, but no Arrangement to plant"
        ),
        pytest.param(
            {"special": (None, [1]), "nurseries": ((), [0, 1]), "hands": ((), ["starting", 0])},
            id="too few cacti",
        ),
        pytest.param({"special": (None, ())}, id="Special used, though nothing is under it"),
        pytest.param({}, id="Special unused, but no cactus anywhere"),
        pytest.param(
            {"hands": ((), ["starting", 0]), "arrangement_deck": [1, 2]},
            id="Special unused, Arrangements, no cactus",
        ),
        pytest.param(
            {"special": (None, [1]), "nurseries": ((), [0, 0, 1]), "arrangement_deck": [2, 0]},
            id="only under the top",
        ),
        pytest.param(
            {"special": (None, [1]), "nurseries": ([0, 0, 1], [0, 0, 1]), "hands": ([0], ())},
            id="in the other's hand",
        ),
    ],
)
def test_a_last_turn_in_which_nothing_can_be_done_is_passed_over(others):
    others = {"special": (None, None), **others}
    table = position(middle=[0] * 5, **others).take("special barrel")
    now = table.now
    assert now["asked"] == "over"
    assert (now["terminated"], now["truncated"], now["decisions"]) == (True, False, 1)
    assert now["middle"] == [0] * 4
    assert now["nurseries"][1] == counts(others.get("nurseries", ((), ()))[1], 4)
    assert sum(table.rewards) == 0


def test_a_last_turn_is_passed_over_after_a_grow_and_its_response():
    table = position(middle=[0, 0, 0, 1, 1], special=(None, [2])).take("grow barrel")
    assert not table.over
    table.take("grow prickly pear")
    assert table.over
    assert table.now["nurseries"] == [[3, 0, 0, 0], [0, 2, 0, 0]]


def test_a_last_turn_is_passed_over_after_a_grow_whose_response_is_skipped():
    table = position(middle=[0] * 5, special=(None, [2])).take("grow barrel")
    assert table.over
    assert table.now["decisions"] == 1


@pytest.mark.parametrize(
    ("others", "legal"),
    [
        ({"nurseries": ((), [2])}, ["special saguaro"]),
        ({"special": (None, [1]), "nurseries": ((), [0, 0, 1]), "hands": ((), [0])}, ["plant basic 0 upper"]),
        (
            {"special": (None, [1]), "nurseries": ((), [0, 0, 1]), "arrangement_deck": [0]},
            ["plant basic 0 upper"],
        ),
        (
            {"special": (None, [1]), "nurseries": ((), [0, 1, 2, 3]), "hands": ((), ["starting"])},
            ["plant starting"],
        ),
        ({"special": (None, [1]), "discards": [2]}, ["grow saguaro"]),
    ],
)
def test_a_last_turn_in_which_one_thing_can_be_done_is_asked_for(others, legal):
    table = position(middle=[0] * 5, **{"special": (None, None), **others}).take("special barrel")
    assert turn(table) == (1, 1, "action")
    assert table.legal == legal
    assert table.take(legal[0]).over


def test_nobody_has_a_turn_after_the_last():
    table = position(middle=FULL, discards=[1] * 4).take("special barrel")
    asked = []
    while not table.over:
        asked.append(turn(table))
        table.take(table.legal[0])
    assert asked == [(1, 1, "last_card"), (1, 1, "action"), (1, 0, "response")]


# --- scores ---


def test_the_scoring_example():
    """14 for Arrangements, 5 and 4 for Planters, minus 4 cacti of 3 types: 11."""
    kate = {
        "bonus": (0, 1),
        "special": ([2] * 5, [1]),
        "planted": (["starting", [0, "upper"], [5, "lower"]], ()),
    }
    table = position(
        middle=FULL, nurseries=([0, 0, 0, 0, 1, 2, 3, 3], [0, 0, 1]), hands=((), [0]), active=1, **kate
    )
    assert table.scores[0] == 14 + 9 - 12 == 11
    table.take("grow star").take("grow barrel")  # Kate's response: two more for her Bonus Planter
    assert table.over
    assert table.scores[0] == 13
    assert table.now["nurseries"][0] == [6, 1, 1, 2]


def test_the_scoring_example_at_the_end():
    table = position(
        middle=[1, 1], nurseries=([0, 0, 0, 0, 1, 2, 3, 3], [0, 0, 1]), hands=((), [0]), active=1,
        bonus=(0, 1), special=([2] * 5, [1]), planted=(["starting", [0, "upper"], [5, "lower"]], ()),
    ).take("plant basic 0 upper")  # fmt: skip
    assert table.over
    assert table.scores == [11, 3 + 1]
    assert table.rewards == [1, -1]


@pytest.mark.parametrize(("label", "planted", "half"), HALVES)
def test_a_half_planted_counts_its_points(label, planted, half):
    del label
    for seat in range(2):
        mine = ["starting" if planted == ["starting"] else planted]
        scores = position(middle=FULL, planted=(mine, ())[:: 1 - 2 * seat]).scores
        assert scores[:: 1 - 2 * seat] == [half["points"], 0]


@pytest.mark.parametrize("t", range(4))
def test_each_cactus_under_the_special_planter_is_worth_1_point(t):
    assert position(middle=FULL, special=([t] * 7, [t] * 3)).scores == [7, 3]


@pytest.mark.parametrize(
    ("nursery", "score"),
    [
        ([], 0),
        ([1], -1),
        ([1] * 5, -5),
        ([1, 2], -4),
        ([1, 1, 1, 2, 2], -10),
        ([1, 2, 3], -9),
        ([1, 2, 3, 3, 3], -15),
        ([0] * 6, 6),
        ([0, 1, 2, 3], 1 - 9),
        ([0, 0, 0, 1, 1, 3], 3 - 6),
    ],
)
def test_cacti_left_cost_their_number_times_their_types_without_those_of_the_bonus_planter(nursery, score):
    assert position(middle=FULL, nurseries=(nursery, ()), bonus=(0, 1)).scores == [score, 0]
    assert position(middle=FULL, nurseries=((), nursery), bonus=(1, 0)).scores == [0, score]


def test_each_players_own_bonus_planter_counts():
    table = position(middle=FULL, nurseries=([0, 0, 2], [0, 0, 2]), bonus=(0, 2))
    assert table.scores == [2 - 1, 1 - 2]


def test_two_players_may_have_bonus_planters_of_one_type():
    assert position(middle=FULL, nurseries=([3, 3], [3]), bonus=(3, 3)).scores == [2, 1]


def test_arrangements_in_the_hand_cost_nothing_and_cacti_in_the_middle_nobody():
    assert position(middle=FULL, hands=(["starting", 0], ["starting", 1]), discards=[0] * 9).scores == [0, 0]


def test_cacti_of_the_bonus_planter_stay_in_the_nursery_of_the_snapshot():
    table = last(middle=[3], nurseries=([0, 0, 1], [1, 1]), bonus=(0, 1)).take("special star")
    assert table.over
    assert table.now["nurseries"] == [[2, 1, 0, 0], [0, 2, 0, 0]]
    assert table.scores == [2 - 1, 2 + 1]


def test_scores_are_told_as_things_stand():
    table = position(middle=FULL, nurseries=([1, 3], ()), deck=[2] * 9, bonus=(0, 1))
    assert table.scores == [-4, 0]
    table.take("grow barrel")
    assert table.scores == [2 - 4, 0]
    table.take("grow star")
    assert table.scores == [2 - 4, -4]  # with the opening card: one star, one saguaro
    table.take("special star")
    assert table.scores == [2 - 9, -1 + 1]  # seat 0 has drawn a saguaro


# --- who wins ---


def ended(nursery=(), under=None, planted=()):
    """After the last turn: seat 1 has 5 points, all under Planters; the rest is seat 0's, who has Bonus 0."""
    table = last(middle=[3] * 5, nurseries=(nursery, ()), special=(under, None), planted=(planted, ()))
    table.take("special star")
    assert table.over
    assert table.scores[1] == 5
    return table


@pytest.mark.parametrize(
    ("seat_0", "score", "reward"),
    [
        ({"under": [1] * 6}, 6, 1),
        ({"under": [1] * 4}, 4, -1),
        ({"planted": [[0, "lower"]]}, 6, 1),
        ({"planted": ["starting"], "nursery": [1]}, 4, -1),
        ({"planted": [[0, "lower"]], "under": [1] * 9, "nursery": [1] * 11}, 4, -1),
    ],
)
def test_the_most_points_win(seat_0, score, reward):
    table = ended(**seat_0)
    assert table.scores[0] == score
    assert table.rewards == [reward, -reward]


@pytest.mark.parametrize(
    ("seat_0", "reward"),
    [
        ({"planted": ["starting"]}, -1),  # none under Planters against five
        ({"planted": [[0, "upper"]], "under": [1, 1]}, -1),
        ({"planted": [[0, "upper"]], "nursery": [0, 0]}, -1),
        ({"planted": [[0, "upper"]], "under": [1], "nursery": [0]}, -1),
        ({"nursery": [0] * 6 + [1]}, 1),  # six against five
        ({"under": [2] * 9, "nursery": [1, 3]}, 1),
        ({"under": [2] * 3, "nursery": [0] * 3 + [1]}, 1),
        ({"under": [0] * 3, "nursery": [0] * 3 + [1]}, 1),
    ],
)
def test_level_points_are_decided_by_the_cacti_under_both_planters(seat_0, reward):
    table = ended(**seat_0)
    assert table.scores == [5, 5]
    assert table.rewards == [reward, -reward]


@pytest.mark.parametrize(
    "seat_0",
    [
        {"under": [3] * 5},
        {"nursery": [0] * 5},
        {"under": [0] * 2, "nursery": [0] * 3},
        {"under": [1] * 5, "planted": [[0, "upper"]], "nursery": [2, 2, 2]},
    ],
)
def test_a_true_tie_gives_0_to_both(seat_0):
    table = ended(**seat_0)
    assert table.scores == [5, 5]
    assert table.rewards == [0, 0]


def test_negative_scores_win_too():
    table = last(middle=[3], nurseries=([1, 2, 3], [1, 2]), special=((), ()), bonus=(0, 0)).take("grow star")
    assert table.over
    assert table.scores == [-9, -9]
    assert table.rewards == [0, 0]
    table = last(middle=[1], nurseries=([1, 2, 3], [1, 2]), special=((), ()), bonus=(0, 0)).take(
        "grow prickly pear"
    )
    assert table.scores == [-9, -6]
    assert table.rewards == [-1, 1]


# --- rewards ---


def test_outcome_pays_nothing_before_the_end():
    table = position(middle=FULL, nurseries=([0, 0, 1], ()), hands=([0], ()), deck=[0] * 9)
    assert table.rewards == [0, 0]
    assert table.take("plant basic 0 upper").rewards == [0, 0]
    assert table.take("special barrel").rewards == [0, 0]


def tenths(own):
    """The rewards of whom seat 0 leads by `own` points more than before."""
    return pytest.approx([own / 10, -own / 10], abs=1e-6)


def test_margin_pays_arrangements_and_special_planters_at_once():
    table = position(
        middle=FULL, nurseries=([0, 0, 1], ()), hands=([0], ()), deck=[0] * 9, reward="margin"
    ).take("plant basic 0 upper")  # fmt: skip
    assert table.rewards == tenths(3)
    assert table.take("special barrel").rewards == tenths(-3)  # two from the middle and the opening card


def test_margin_pays_a_response_too():
    table = position(
        middle=FULL, nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"]), deck=[1] * 9, reward="margin"
    ).take("grow barrel")
    assert table.rewards == [0, 0]
    assert table.take("plant starting").rewards == tenths(-5)


def test_margin_betrays_no_bonus_planter_before_the_end():
    for bonus in range(4):
        table = position(
            middle=FULL, nurseries=([0, 1], [3]), deck=[2] * 9, bonus=(bonus, bonus), reward="margin"
        )
        assert table.take("grow barrel").rewards == [0, 0]
        assert table.take("grow star").rewards == [0, 0]


def test_margin_counts_no_penalty_before_the_end():
    table = position(
        middle=FULL, nurseries=([0, 1, 2, 3] * 2, ()), deck=[2] * 9, hands=(["starting"], ()), reward="margin"
    )
    assert table.take("plant starting").rewards == tenths(5)


def test_margin_pays_the_rest_with_the_last_step():
    table = last(
        middle=[3, 3],
        nurseries=([0, 0, 1, 2, 2], [1, 0]),
        planted=(["starting"], ()),
        bonus=(0, 1),
        reward="margin",
    ).take("special star")
    assert table.scores == [5 + 2 - 6, 2 + 1 - 1]
    # Seat 0's Arrangement was paid for before: now its Bonus Planter and penalty, and all of seat 1's.
    assert table.rewards == tenths((2 - 6) - (2 + 1 - 1))


def test_margin_pays_the_rest_when_the_last_turn_is_passed_over():
    table = position(middle=[0] * 5, nurseries=([1], ()), reward="margin").take("special barrel")
    assert table.over
    assert table.scores == [5 - 1, 0]
    assert table.rewards == tenths(4)


def test_margin_pays_the_rest_when_the_game_is_truncated():
    table = position(
        middle=FULL,
        nurseries=([0, 0, 1], [1, 1]),
        hands=([0], ()),
        deck=[2] * 9,
        reward="margin",
        max_decisions=1,
    ).take("plant basic 0 upper")
    assert table.now["truncated"]
    assert table.scores == [3, 2 - 1]
    assert table.rewards == tenths(2)


# --- the cap on decisions ---


def test_the_cap_is_200_decisions_unless_chosen_otherwise():
    assert make("cacti").chosen["max_decisions"] == 200


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    table = position(middle=FULL, nurseries=([0], [1, 2]), deck=[2] * 9, bonus=(0, 0), max_decisions=2)
    table.take("grow barrel")
    assert not table.over
    table.take("grow star")
    assert table.now["asked"] == "over"
    assert (table.now["truncated"], table.now["terminated"], table.now["decisions"]) == (True, False, 2)
    assert table.scores == [3, -4 * 3]  # the opening card, a saguaro, included
    assert table.rewards == [1, -1]
    assert table.legal == []


def test_a_response_still_asked_at_the_cap_does_not_happen():
    table = position(middle=FULL, nurseries=([0], ()), deck=[2] * 9, max_decisions=1).take("grow barrel")
    assert table.now["truncated"]
    assert table.now["middle"] == [0, 1, 1, 1]
    assert table.now["nurseries"] == [[3, 0, 0, 0], [0] * 4]
    assert table.rewards == [1, -1]


def test_level_points_at_the_cap_are_decided_by_the_planters_too():
    table = position(
        middle=FULL,
        nurseries=([2], ()),
        special=([1] * 5, None),
        planted=((), ["starting"]),
        bonus=(3, 1),
        max_decisions=1,
    ).take("grow star")
    assert table.now["truncated"]
    assert table.scores == [5 + 1 - 1, 5]
    assert table.rewards == [1, -1]


@pytest.mark.parametrize("label", ["special barrel", "plant starting"])
def test_a_game_just_ended_by_the_rules_is_not_truncated_also(label):
    table = last(nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"]), max_decisions=1).take(label)
    assert (table.now["terminated"], table.now["truncated"]) == (True, False)


# --- labels, snapshot ---


def test_there_are_35_actions_in_the_order_of_the_reading():
    basic = [f"plant basic {k} {half}" for k in range(12) for half in ("upper", "lower")]
    labels = (*GROWS, *basic, "plant starting", *SPECIALS, "take card", "leave card")
    assert make("cacti").labels == labels
    assert make("cacti").num_actions == len(labels) == 35


def test_other_cards_have_their_own_labels(tmp_path):
    path = tmp_path / "cards.toml"
    data = made_up(3)
    path.write_text(tomli_w.dumps(data))
    types, basics = data["types"], len(data["basic"])
    labels = [f"grow {name}" for name in types]
    labels += [f"plant basic {k} {half}" for k in range(basics) for half in ("upper", "lower")]
    labels += ["plant starting", *(f"special {name}" for name in types), "take card", "leave card"]
    game = make("cacti", cards=str(path))
    assert list(game.labels) == labels
    assert game.num_actions == 2 * len(types) + 2 * basics + 3


@pytest.mark.parametrize("num_players", [1, 3, 0, 4])
def test_there_are_exactly_two_players(num_players):
    with pytest.raises(ValueError, match="num_players"):
        make("cacti", num_players=num_players)


def test_a_snapshot_is_plain_json_with_the_keys_of_the_reading():
    for table in (
        Table().deal(),
        position(middle=FULL, special=([1], None)),
        last(middle=[3]).take("grow star"),
    ):
        now = table.now
        assert set(now) == set(KEYS.split())
        assert json.loads(json.dumps(now)) == now
        assert now["game"] == "cacti"


# --- whole games ---


def cost(label, data):
    """The cacti that an action discards, by type."""
    if label == "plant starting":
        return data["starting"]["cost"]
    if label.startswith("plant"):
        *_, k, half = label.split()
        return data["basic"][int(k)][half]["cost"]
    return [0] * len(data["types"])


def by_text(now, data):
    """What the text allows in a position, in the order of the labels."""
    if now["asked"] == "over":
        return []
    if now["asked"] == "last_card":
        return ["take card", "leave card"]
    seat, types = now["current_player"], data["types"]
    nursery = now["nurseries"][seat]
    plants = [
        f"plant basic {k} {half}"
        for k in sorted(now["basic_in_hand"][seat] + now["arrangement_deck"][:1])
        for half in ("upper", "lower")
    ] + ["plant starting"] * now["starting_in_hand"][seat]
    legal = [f"grow {types[t]}" for t, n in enumerate(now["middle"]) if n]
    legal += [label for label in plants if all(map(int.__ge__, nursery, cost(label, data)))]
    if now["asked"] == "action" and now["special"][seat] is None:
        legal += [f"special {types[t]}" for t, n in enumerate(now["middle"]) if n + nursery[t]]
    return legal


def visible(now, data):
    """Each seat's points of planted Arrangements and of the Special Planter."""
    return [
        sum(
            data["basic"][card[0]][card[1]]["points"] if card[1:] else data["starting"]["points"]
            for card in planted
        )
        + sum(under or ())
        for planted, under in zip(now["planted"], now["special"], strict=True)
    ]


def by_formula(now, data):
    """Each seat's score."""
    scores = visible(now, data)
    for seat, nursery in enumerate(now["nurseries"]):
        rest = [n for t, n in enumerate(nursery) if n and t != now["bonus"][seat]]
        scores[seat] += nursery[now["bonus"][seat]] - sum(rest) * len(rest)
    return scores


def preferring(*wishes, by):
    """A policy: actions of the first kind wished for that is legal; among equals, the least in `by`."""

    def policy(rng, now, legal, data):
        def rank(label):
            kind = [label.startswith(wish) for wish in wishes]
            return kind.index(True) if any(kind) else len(wishes), by(label, now, data), rng.random()

        return min(legal, key=rank)

    return policy


def small(label, now, data):
    """How many cacti a Grow takes, or an Arrangement costs."""
    if label.startswith("grow"):
        return now["middle"][data["types"].index(label.removeprefix("grow "))]
    return sum(cost(label, data))


def large(label, now, data):
    return -small(label, now, data)


POLICIES = {
    "uniform": lambda rng, now, legal, data: rng.choice(legal),
    "always the first": lambda rng, now, legal, data: legal[0],
    "always the last": lambda rng, now, legal, data: legal[-1],
    "plant cheaply, grow little": preferring("plant", "leave", "grow", by=small),
    "plant dearly, grow much": preferring("plant", "take", "grow", by=large),
    "plant from much": preferring("plant", "leave", "grow", by=large),
    "never plant, grow little": preferring("grow", "leave", by=small),
    "never plant, grow much": preferring("grow", "take", by=large),
    "special at once, then grow little": preferring("special", "leave", "grow", by=small),
    "special at once, then plant": preferring("special", "plant", "take", by=small),
    "special rather than plant": preferring("special", "grow", "leave", by=large),
}


class Record:
    """A whole game: its data, snapshots, actions and rewards."""

    def __init__(self, data, policy, seed, **options):
        table = Table(**options).deal(seed)
        rng = random.Random(seed)
        self.data, self.game = data, table.game
        self.nows, self.legal, self.taken, self.rewards = [table.now], [table.legal], [], []
        while not table.over:
            assert self.legal[-1], f"{table.game} seed {seed}: nothing is legal"
            self.taken.append(POLICIES[policy](rng, self.nows[-1], self.legal[-1], data))
            table.take(self.taken[-1])
            self.nows.append(table.now)
            self.legal.append(table.legal)
            self.rewards.append(table.rewards)

    @property
    def steps(self):
        """Triples of snapshot before, action, snapshot after."""
        return zip(self.nows, self.taken, self.nows[1:], strict=False)


def lasting():
    """Cards for long games: many cacti of many types, cheap Arrangements."""
    one = [{"cost": counts([t], 6), "points": t} for t in range(6)]
    basic = [{"upper": one[k % 6], "lower": one[(k + 1) % 6]} for k in range(32)]
    types = ["a", "b", "c", "d", "e", "f"]
    return {"types": types, "count": [20] * 6, "bonus": types, "starting": one[0], "basic": basic}


def scarce():
    """The fewest cards allowed: 12 cacti of two types, two Bonus Planters of one, 3 Basic Arrangements."""
    card = {"upper": {"cost": [1, 0], "points": 1}, "lower": {"cost": [0, 2], "points": 3}}
    types, starting = ["a", "b"], {"cost": [1, 1], "points": 2}
    return {"types": types, "count": [6, 6], "bonus": ["a", "a"], "starting": starting, "basic": [card] * 3}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games of every policy with the packaged cards and with others, half of them with reward="margin"."""
    folder = tmp_path_factory.mktemp("cards")
    played = []

    def play(data, seeds, **options):
        for seed, (i, policy) in itertools.product(seeds, enumerate(POLICIES)):
            reward = ("outcome", "margin")[(seed + i) % 2]
            played.append(Record(data, policy, seed, reward=reward, max_decisions=10**6, **options))

    play(DATA, range(12))
    for i, data in enumerate([lasting(), scarce(), *map(made_up, range(10, 26))]):
        path = folder / f"{i}.toml"
        path.write_text(tomli_w.dumps(data))
        play(data, range(2 if i > 1 else 6), cards=str(path))
    return played


def test_every_cactus_is_always_in_exactly_one_place(games):
    for game in games:
        n = len(game.data["types"])
        for now in game.nows:
            places = [now["middle"], *now["nurseries"], counts(now["deck"], n), now["discards"]]
            places += [under for under in now["special"] if under]
            assert np.min(places) >= 0
            assert np.sum(places, axis=0).tolist() == game.data["count"]


def test_every_arrangement_is_always_in_exactly_one_place(games):
    for game in games:
        for now in game.nows:
            assert basics_in(now) == list(range(len(game.data["basic"])))
            assert [["starting"] not in planted for planted in now["planted"]] == now["starting_in_hand"]
            assert all(planted.count(["starting"]) <= 1 for planted in now["planted"])


def test_what_is_legal_is_what_the_text_allows(games):
    for game in games:
        for now, legal in zip(game.nows, game.legal, strict=True):
            assert legal == by_text(now, game.data)


def test_scores_follow_the_formula_all_along(games):
    for game in games:
        for now in game.nows:
            assert now["scores"] == by_formula(now, game.data)


def test_outcome_pays_1_0_or_minus_1_at_the_end_only(games):
    paid = Counter()
    for game in games:
        if game.game.chosen["reward"] == "outcome":
            assert all(rewards == [0, 0] for rewards in game.rewards[:-1])
            now = game.nows[-1]
            planters = [now["nurseries"][p][now["bonus"][p]] + sum(now["special"][p] or ()) for p in range(2)]
            own, other = zip(now["scores"], planters, strict=True)
            sign = (own > other) - (own < other)
            assert game.rewards[-1] == [sign, -sign]
            paid[sign] += 1
    assert min(paid[1], paid[-1]) > 20


def test_margin_pays_what_all_can_see_and_sums_to_a_tenth_of_the_margin(games):
    seen = 0
    for game in games:
        if game.game.chosen["reward"] == "margin":
            leads = [np.subtract(*visible(now, game.data)) for now in game.nows[:-1]]
            leads.append(np.subtract(*game.nows[-1]["scores"]))
            assert np.allclose([r[0] for r in game.rewards], np.diff(leads) / 10, atol=1e-6)
            assert np.allclose(np.sum(game.rewards, axis=1), 0, atol=1e-6)
            own, other = game.nows[-1]["scores"]
            assert np.allclose(
                np.sum(game.rewards, axis=0), [(own - other) / 10, (other - own) / 10], atol=1e-5
            )
            seen += 1
    assert seen > 100


def test_margin_of_a_truncated_game_sums_to_a_tenth_of_the_margin():
    for cap, policy in itertools.product((1, 2, 7, 15), POLICIES):
        game = Record(DATA, policy, cap, reward="margin", max_decisions=cap)
        now = game.nows[-1]
        assert (now["truncated"], now["terminated"], now["decisions"]) == (True, False, cap)
        assert now["scores"] == by_formula(now, DATA)
        assert np.allclose(np.sum(game.rewards, axis=0)[0], np.subtract(*now["scores"]) / 10, atol=1e-6)


def test_games_end_by_the_rules_within_the_longest_length_told(games):
    longest = Counter()
    for game in games:
        now = game.nows[-1]
        assert (now["terminated"], now["truncated"]) == (True, False)
        assert now["decisions"] == len(game.taken) <= game.game.max_game_length
        longest[game.data is DATA] = max(longest[game.data is DATA], len(game.taken))
    assert longest[True] < 200  # which is the cap if none is chosen
    assert longest[False] > 60


def test_the_longest_length_told_is_no_more_than_the_cap():
    assert Table(max_decisions=9).game.max_game_length == 9
    assert Table().game.max_game_length <= 200


def test_turns_alternate(games):
    for game in games:
        for before, label, after in game.steps:
            if after["asked"] == "over":
                continue
            if after["asked"] == "response":
                assert label.startswith("grow")
                assert before["asked"] == "action"
                same = True
            else:
                same = before["asked"] == "last_card"
            assert (after["active_player"] == before["active_player"]) == same
            assert after["current_player"] == (after["active_player"] + (after["asked"] == "response")) % 2
            assert after["decisions"] == before["decisions"] + 1


def test_every_turn_but_the_last_begins_with_five_in_the_middle(games):
    for game in games:
        for now in game.nows:
            if now["asked"] == "action" and not now["last_turn"]:
                assert sum(now["middle"]) == 5
            if now["asked"] == "last_card":
                assert (sum(now["middle"]), bool(now["deck"])) == (5, True)


def test_the_last_turn_is_the_second_players_and_comes_once(games):
    met = Counter()
    for game in games:
        turns = [now["active_player"] for now in game.nows[:-1] if now["last_turn"]]
        assert set(turns) <= {1}
        assert len(turns) <= 3
        assert sum(now["asked"] == "last_card" for now in game.nows) <= 1
        flags = [now["last_turn"] for now in game.nows]
        assert flags == sorted(flags)
        met[flags[-1]] += 1
    assert min(met.values()) > 20


def test_a_game_without_a_last_turn_ends_when_the_second_player_cannot_refill(games):
    for game in games:
        now = game.nows[-1]
        if not now["last_turn"]:
            assert now["active_player"] == 1
            assert sum(now["middle"]) < 5
            assert now["deck"] == []


def test_what_is_under_a_special_planter_never_changes_and_only_plants_discard(games):
    for game in games:
        for before, label, after in game.steps:
            for old, new in zip(before["special"], after["special"], strict=True):
                assert old is None or old == new
            if after["last_turn"] == before["last_turn"]:
                assert (np.array(before["discards"]) + cost(label, game.data)).tolist() == after["discards"]
            assert before["bonus"] == after["bonus"]
            for old, new in zip(before["planted"], after["planted"], strict=True):
                assert new[: len(old)] == old


def test_the_decks_are_drawn_from_the_top_only(games):
    for game in games:
        for before, _, after in game.steps:
            if after["last_turn"] == before["last_turn"]:
                drawn = len(before["deck"]) - len(after["deck"])
                assert drawn >= 0
                assert before["deck"][drawn:] == after["deck"]
            assert after["arrangement_deck"] in (before["arrangement_deck"], before["arrangement_deck"][1:])


def test_games_of_one_seed_are_alike():
    for policy in POLICIES:
        assert Record(DATA, policy, 5).nows == Record(DATA, policy, 5).nows


# --- what a player sees of the hands ---


def test_each_player_sees_the_own_hand_only():
    def seen(hand, bonus, deck=(0, 1, 2), below=(6, 7), seat=0):
        table = position(
            middle=FULL, nurseries=([1], [2]), hands=(["starting", 3], hand), bonus=(0, bonus),
            deck=deck, arrangement_deck=[5, *below],
        )  # fmt: skip
        return table.observation(seat).tolist()

    first = seen(["starting", 4], 1)
    assert seen(["starting", 8], 1) == first
    assert seen(["starting", 4], 2) == first
    assert seen(["starting", 4], 1, deck=(3, 0, 0)) == first
    assert seen(["starting", 4], 1, below=(7, 6)) == first
    assert seen(["starting"], 1) != first  # how many are held is open
    own = seen(["starting", 4], 1, seat=1)
    assert seen(["starting", 8], 1, seat=1) != own
    assert seen(["starting", 4], 2, seat=1) != own


def observed(now, seat, n, basics):
    """The observation as the reading lists it."""

    def one_hot(chosen, size):
        return [int(i in chosen) for i in range(size)]

    def half(card):
        return 2 * basics if card == ["starting"] else 2 * card[0] + (card[1] == "lower")

    own, other = seat, 1 - seat
    under = [now["special"][p] or [0] * n for p in range(2)]
    planted = [one_hot([half(card) for card in now["planted"][p]], 2 * basics + 1) for p in range(2)]
    return [
        *now["middle"],
        *now["nurseries"][own],
        *now["nurseries"][other],
        *under[own],
        *under[other],
        *(int(now["special"][p] is not None) for p in (own, other)),
        *one_hot([now["bonus"][own]], n),
        int(now["starting_in_hand"][own]),
        *one_hot(now["basic_in_hand"][own], basics),
        *one_hot(now["arrangement_deck"][:1], basics),
        *planted[own],
        *planted[other],
        now["starting_in_hand"][other] + len(now["basic_in_hand"][other]),
        len(now["deck"]),
        *now["discards"],
        len(now["arrangement_deck"]),
        *one_hot([("action", "response", "last_card").index(now["asked"])], 3),
        seat,
        int(now["last_turn"]),
    ]


def test_an_observation_lists_what_the_reading_lists_in_its_order():
    rng = random.Random(4)
    for seed in range(12):
        table = Table().deal(seed)
        while not table.over:
            for seat in range(2):
                assert table.observation(seat).tolist() == observed(table.now, seat, 4, 12)
            table.take(rng.choice(table.legal))
