"""The rules of Cacti: the deal, turns, Grow, Plant and Special.

`cacti_tools` explains the positions: each begins within a turn, after its opening card. Cacti are
numbers: 0 barrel, 1 prickly pear, 2 saguaro, 3 star. Seat 0 is active unless a test says otherwise.
"""

import numpy as np
import pytest
from cacti_tools import FULL, GROWS, HALVES, SPECIALS, Table, cacti, position, turn
from statistics_tools import uniform

# --- 2: the deal ---


@pytest.fixture(scope="module")
def dealt():
    table = Table()
    return [table.deal(seed).now for seed in range(3000)]


def test_the_deal(dealt):
    """[2.2] to [2.5], and the first opening card [3.2]. The agreement test checks the deals of other cards."""
    for now in dealt:
        assert (sum(now["middle"]), len(now["deck"]), now["discards"]) == (5, 42, [0] * 4)
        assert [sum(nursery) for nursery in now["nurseries"]] == [1, 0]
        assert now["starting_in_hand"] == [True, True]
        assert [len(held) for held in now["basic_in_hand"]] == [1, 1]
        assert (now["special"], now["planted"]) == ([None, None], [[], []])
        assert sorted(sum(now["basic_in_hand"], now["arrangement_deck"])) == list(range(12))


def test_bonus_planters_and_basic_arrangements_are_dealt_at_random(dealt):
    """[2.3, 2.5]."""
    assert uniform([tuple(now["bonus"]) for now in dealt], 12)
    assert uniform([str(now["basic_in_hand"]) for now in dealt], 12 * 11)
    for place in (0, 1, 9):
        assert uniform([now["arrangement_deck"][place] for now in dealt], 12)


def test_the_cacti_are_shuffled(dealt):
    """[2.2]."""
    for place in (0, 1, 20, 41):
        assert uniform([now["deck"][place] for now in dealt], 4)
    assert uniform([now["nurseries"][0].index(1) for now in dealt], 4)
    middles = np.array([now["middle"] for now in dealt])  # of each type hypergeometric
    assert abs(middles.mean(axis=0) - 5 / 4).max() < 0.08
    assert abs(middles.var(axis=0) - 5 / 4 * 3 / 4 * 43 / 47).max() < 0.1


def test_bonus_planters_basic_arrangements_and_cacti_are_drawn_independently(dealt):
    """[2.2, 2.3, 2.5]."""
    assert uniform([(now["bonus"][0], now["deck"][0]) for now in dealt], 16)
    assert uniform([(now["bonus"][0], now["arrangement_deck"][0]) for now in dealt], 48)
    assert uniform([(now["arrangement_deck"][0], now["deck"][0]) for now in dealt], 48)


# --- 3: turns ---


def test_the_middle_is_refilled_from_the_top_before_the_next_opening_card():
    """[3.2, 3.8]."""
    table = position(middle=FULL, deck=[3, 2, 1, 0, 0]).take("special barrel")
    assert table.now["middle"] == [0, 1, 2, 2]
    assert table.now["nurseries"] == [[0] * 4, [0, 1, 0, 0]]
    assert table.now["deck"] == [0, 0]


# --- Grow ---


def test_a_grow_takes_every_cactus_of_the_type_from_the_middle():
    """[3.4]."""
    table = position(middle=[2, 2, 2, 3, 0], nurseries=([2, 3], [2]), deck=[0] * 9).take("grow saguaro")
    assert table.now["middle"] == [1, 0, 0, 1]
    assert table.now["nurseries"] == [[0, 0, 4, 1], [0, 0, 1, 0]]


def test_an_action_is_compulsory_and_a_grow_needs_a_cactus_of_the_type_in_the_middle():
    """[3.3, 3.4]."""
    table = position(middle=[0, 0, 2, 2, 2], nurseries=([1], [3]), special=([0], None))
    assert table.legal == ["grow barrel", "grow saguaro"]


def test_the_other_player_responds_to_a_grow_with_a_grow_or_a_plant():
    """[3.5]."""
    table = position(
        middle=FULL,
        nurseries=((), [0, 0, 1, 2, 3]),
        hands=((), ["starting", 0]),
        arrangement_deck=[1, 4],
        deck=[0] * 9,
    ).take("grow barrel")
    assert turn(table) == (0, 1, "response")
    assert table.legal == [*GROWS[1:], "plant basic 0 upper", "plant basic 1 upper", "plant starting"]


def test_the_middle_is_not_refilled_between_grow_and_response():
    """[3.5]."""
    table = position(middle=FULL, deck=[2, 2, 2, 0, 3]).take("grow barrel")
    assert table.now["middle"] == [0, 1, 1, 1]
    table.take("grow prickly pear")
    assert table.now["middle"] == [0, 0, 4, 1]
    assert table.now["nurseries"] == [[2, 0, 0, 0], [1, 1, 0, 0]]
    assert table.now["deck"] == [3]


def test_a_response_is_compulsory_if_any_is_possible():
    """[3.5]."""
    table = position(middle=[0] * 5, nurseries=((), [0, 0, 1]), hands=((), [0]), deck=[0] * 9)
    table.take("grow barrel")
    assert (turn(table), table.legal) == ((0, 1, "response"), ["plant basic 0 upper"])


def test_an_impossible_response_is_skipped():
    """Cacti and Arrangements of the other player do not count [3.5, 3.6]."""
    table = position(
        middle=[0] * 5,
        nurseries=([0, 1, 2, 3] * 2, [0, 1, 1]),
        hands=([3], ["starting", 0]),
        arrangement_deck=[1],
        deck=[2] * 9,
    ).take("grow barrel")
    assert turn(table) == (1, 1, "action")
    assert table.now["middle"] == [0, 0, 5, 0]
    assert table.now["nurseries"] == [[7, 2, 2, 2], [1, 2, 1, 0]]
    assert table.now["decisions"] == 1


@pytest.mark.parametrize("label", ["plant basic 0 upper", "special barrel"])
def test_after_a_plant_or_a_special_the_other_player_has_the_turn(label):
    """[3.1, 3.5]."""
    table = position(
        middle=FULL, nurseries=([0, 0, 1], [0, 1, 2, 3]), hands=([0], ["starting"]), deck=[0] * 9
    )
    assert turn(table.take(label)) == (1, 1, "action")


# --- Plant ---


@pytest.mark.parametrize(("label", "planted", "half"), HALVES)
def test_every_half_costs_its_cacti_and_scores_its_points(label, planted, half):
    """[3.6]; nothing of the card is left in the hand [1.2]."""
    hand = planted[:1]
    table = position(
        middle=FULL, nurseries=(cacti(half["cost"]), ()), hands=(hand, ()), deck=[0] * 9, bonus=(0, 0)
    ).take(label)
    assert table.now["nurseries"][0] == [0] * 4
    assert table.now["discards"] == half["cost"]
    assert table.now["planted"] == [[planted], []]
    assert table.scores[0] == half["points"]
    assert (table.now["starting_in_hand"][0], table.now["basic_in_hand"][0]) == (False, [])


def test_the_own_nursery_must_hold_the_cacti():
    """[3.6]."""
    table = position(
        middle=FULL,
        nurseries=((), [0, 1, 2, 3] * 3),
        special=([0, 0, 0, 1, 1, 2, 3], None),
        hands=(["starting", 0], ()),
        arrangement_deck=[1],
        discards=[0, 1, 2, 3] * 3,
    )
    assert table.legal == GROWS


def test_planting_the_top_of_the_arrangement_deck_reveals_the_next():
    """[3.6]."""
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
    table.take("plant basic 1 upper")


def test_planting_the_last_of_the_arrangement_deck_leaves_none():
    """[3.6]."""
    table = position(
        middle=FULL, nurseries=([0, 1, 2, 3] * 5, [0, 1, 2, 3] * 5), arrangement_deck=[0], deck=[0] * 9
    )
    table.take("plant basic 0 lower")
    assert table.now["arrangement_deck"] == []
    assert table.legal == GROWS + SPECIALS


# --- Special ---


def test_special_takes_from_middle_and_nursery():
    """[3.7]."""
    table = position(middle=[2, 2, 3, 3, 3], nurseries=([0, 1, 2, 3, 2], [2]), deck=[3] * 9)
    table.take("special saguaro")
    assert table.now["special"] == [[0, 0, 4, 0], None]
    assert table.now["nurseries"] == [[1, 1, 0, 1], [0, 0, 1, 1]]
    assert table.now["middle"] == [0, 0, 0, 5]
    assert table.now["discards"] == [0] * 4


def test_special_needs_a_cactus_in_the_middle_or_the_own_nursery():
    """[3.7]."""
    table = position(middle=[0] * 5, nurseries=([1], [2, 3]), discards=[2, 3])
    assert table.legal == ["grow barrel", "special barrel", "special prickly pear"]


def test_each_player_uses_the_special_once():
    """[3.7]."""
    table = position(middle=FULL, deck=[0, 1, 2, 3] * 5).take("special barrel").take("special star")
    assert set(table.legal).isdisjoint(SPECIALS)
    table.take("grow barrel").take(table.legal[0])
    assert set(table.legal).isdisjoint(SPECIALS)


def test_cacti_under_the_special_planter_stay_there_and_no_more_come():
    """[3.7]. The upper half of 3 asks for one barrel: those under the Planter cannot be discarded."""
    table = position(
        middle=[0] * 5, nurseries=([1, 1, 2], ()), special=([0, 0], None), hands=([3], ()), deck=[1] * 9
    )
    assert table.legal == ["grow barrel"]
    table.take("grow barrel")
    assert table.now["special"] == [[2, 0, 0, 0], None]
    assert table.now["nurseries"][0] == [5, 2, 1, 0]
