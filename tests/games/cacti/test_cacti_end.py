"""The rules of Cacti: the deck runs out, the last turn."""

import itertools
from collections import Counter

import numpy as np
import pytest
from cacti_tools import FULL, GROWS, counts, last, position, turn

# --- 4.1 to 4.3: the deck runs out ---


def test_an_empty_deck_ends_nothing_while_five_are_in_the_middle():
    """[4.1]; such turns have no opening card, and nothing is shuffled."""
    table = position(
        middle=FULL, deck=[3, 2, 1], nurseries=([0, 0], ()), hands=([0], ()), discards=[3], active=1
    ).take("special barrel")
    assert (turn(table), table.now["deck"]) == ((0, 0, "action"), [])
    assert table.now["nurseries"] == [[2, 1, 0, 0], [0] * 4]
    table.take("plant basic 0 upper")
    assert turn(table) == (1, 1, "action")
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]
    assert (table.now["last_turn"], table.now["discards"]) == (False, [2, 1, 0, 1])


def test_the_game_ends_after_the_response_if_the_second_player_cannot_refill():
    """[4.2]."""
    table = position(middle=FULL, deck=[3], discards=[1] * 9, active=1).take("grow barrel")
    assert turn(table) == (1, 0, "response")
    table.take("grow star")
    now = table.now
    assert (now["asked"], now["terminated"], now["truncated"], table.legal) == ("over", True, False, [])
    assert now["nurseries"] == [[0, 0, 0, 1], [2, 0, 0, 0]]
    assert now["middle"] == [0, 1, 1, 1]  # refilled as far as the deck goes
    assert now["discards"] == [0, 9, 0, 0]  # not shuffled


def test_the_discards_become_the_deck_if_the_first_player_cannot_refill():
    """[4.3]; cacti discarded in the response are among them."""
    table = position(
        middle=FULL,
        deck=[3],
        discards=[1, 1, 2, 2],
        nurseries=((), [0, 1, 2, 3]),
        hands=((), ["starting"]),
    )
    now = table.take("grow barrel").take("plant starting").now
    assert turn(table) == (1, 1, "last_card")
    assert (now["last_turn"], now["discards"]) == (True, [0] * 4)
    assert (sum(now["middle"]), len(now["deck"])) == (5, 7)
    assert (np.array(now["middle"]) + counts(now["deck"], 4)).tolist() == [1, 4, 4, 3]
    assert now["nurseries"] == [[2, 0, 0, 0], [0] * 4]


def test_the_discards_are_shuffled():
    """[4.3]."""
    table = position(middle=FULL, discards=[0, 1, 2, 3, 3, 3])
    often = Counter()
    for seed in range(3000):
        other = table.resampled(0, seed)  # another generator
        often[tuple(other.take("special barrel").now["deck"])] += 1
    # Four of six are left, of which three are alike: every sequence as often as it should be.
    orders = Counter(order[2:] for order in itertools.permutations([0, 1, 2, 3, 3, 3]))
    assert set(often) == set(orders)
    for order, n in orders.items():
        mean = 3000 * n / 720
        assert abs(often[order] - mean) < 6 * mean**0.5


@pytest.mark.parametrize(("discards", "asked"), [(1, "action"), (2, "action"), (3, "last_card")])
def test_the_refill_goes_as_far_as_the_discards_and_an_opening_card_needs_a_deck(discards, asked):
    """[4.3, 4.4]."""
    table = position(middle=FULL, discards=[1] * discards).take("special barrel")
    assert turn(table) == (1, 1, asked)
    assert table.now["middle"] == [0, 1 + min(discards, 2), 1, 1]
    assert table.now["last_turn"]


# --- 4.4 to 4.6: the last turn ---


@pytest.mark.parametrize(("label", "legal"), [("take card", True), ("leave card", False)])
def test_the_second_player_may_take_the_last_opening_card(label, legal):
    """[4.4]; the card can be planted at once."""
    table = last([1], asked="last_card", nurseries=((), [0, 0]), hands=((), [0])).take(label)
    assert ("plant basic 0 upper" in table.legal) == legal


def test_the_first_player_responds_to_a_grow_in_the_last_turn():
    """[4.5]."""
    table = last([1] * 9, nurseries=([0, 0, 1], ()), hands=([0], ()), arrangement_deck=[3])
    table.take("grow barrel")
    assert turn(table) == (1, 0, "response")
    assert table.legal == [*GROWS[1:], "plant basic 0 upper"]
    assert table.take("plant basic 0 upper").over


def test_the_middle_is_refilled_after_the_last_turn_and_the_game_ends():
    """[4.5]; cards are left in the deck, and there is no opening card any more."""
    table = last([3, 2, 1]).take("special barrel")
    assert table.now["terminated"]
    assert (table.now["middle"], table.now["deck"]) == ([0, 1, 2, 2], [1])
    assert table.now["nurseries"] == [[0] * 4, [0] * 4]


USED = (None, [1])  # by the Second Player, the Special


@pytest.mark.parametrize(
    "others",
    [
        pytest.param({}, id="no cactus anywhere"),
        pytest.param({"special": (None, ()), "nurseries": ((), [0, 1, 2])}, id="no Arrangement"),
        pytest.param(
            {"special": USED, "nurseries": ((), [0, 1]), "hands": ((), ["starting", 0])}, id="too few cacti"
        ),
        pytest.param(
            {"special": USED, "nurseries": ((), [0, 0, 1]), "hands": ([0], ()), "arrangement_deck": [2, 0]},
            id="in the other's hand, under the top",
        ),
    ],
)
def test_the_game_ends_if_nothing_can_be_done_in_the_last_turn(others):
    """[4.6]."""
    table = position(middle=[0] * 5, **others).take("special barrel")
    now = table.now
    assert (now["asked"], now["terminated"], now["truncated"], now["decisions"]) == ("over", True, False, 1)
    assert now["middle"] == [0] * 4
    assert sum(table.rewards) == 0


@pytest.mark.parametrize(
    ("others", "legal"),
    [
        ({"nurseries": ((), [2])}, "special saguaro"),
        (
            {"special": USED, "nurseries": ((), [0, 0, 1]), "arrangement_deck": [0]},
            "plant basic 0 upper",
        ),
        ({"special": USED, "nurseries": ((), [0, 0, 1]), "hands": ((), [0])}, "plant basic 0 upper"),
        ({"special": USED, "nurseries": ((), [0, 1, 2, 3]), "hands": ((), ["starting"])}, "plant starting"),
        ({"special": USED, "discards": [2]}, "grow saguaro"),
    ],
)
def test_a_last_turn_in_which_one_thing_can_be_done_is_not_passed_over(others, legal):
    """[4.6]."""
    table = position(middle=[0] * 5, **others).take("special barrel")
    assert turn(table) == (1, 1, "action")
    assert table.legal == [legal]
    assert table.take(legal).over
