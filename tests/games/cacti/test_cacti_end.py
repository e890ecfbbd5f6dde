"""The rules of Cacti: the deck runs out, the last turn."""

import itertools
from collections import Counter

import numpy as np
import pytest
from cacti_tools import FULL, GROWS, counts, last, position, turn

from garden_core.jit import kernels

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
def test_an_opening_card_that_is_the_last_ends_nothing_yet(seat):
    table = position(middle=FULL, deck=[3, 2, 1], active=seat).take("special barrel")
    assert turn(table) == (1 - seat, 1 - seat, "action")
    assert table.now["nurseries"][1 - seat] == [0, 1, 0, 0]
    assert table.now["deck"] == []
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


# --- the last turn ---


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


def test_cacti_planted_for_in_that_very_turn_are_shuffled_too():
    table = position(middle=FULL, nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"])).take("grow barrel")
    assert turn(table) == (0, 1, "response")
    table.take("plant starting")
    now = table.now
    assert turn(table) == (1, 1, "last_card")
    assert (sum(now["middle"]), len(now["deck"]), now["discards"]) == (5, 2, [0] * 4)
    assert (np.array(now["middle"]) + counts(now["deck"], 4)).tolist() == [1, 2, 2, 2]


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


def test_the_middle_is_refilled_after_the_last_turn():
    table = last([3, 2, 1]).take("special barrel")
    assert table.over
    assert table.now["middle"] == [0, 1, 2, 2]
    assert table.now["deck"] == [1]
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]  # no opening card any more


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
