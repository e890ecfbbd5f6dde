"""The rules of Cacti: the deal, turns, Grow, Plant and Special.

Positions are set up as `cacti_tools` explains: they begin within a turn, its opening card taken. Cacti are
numbers: 0 barrel, 1 prickly pear, 2 saguaro, 3 star. Seat 0 is active unless a test says otherwise.
"""

from collections import Counter

import numpy as np
import pytest
import tomli_w
from cacti_tools import (
    FULL,
    GROWS,
    HALVES,
    SPECIALS,
    Table,
    basics_in,
    cacti,
    counts,
    in_hand,
    made_up,
    position,
    turn,
)
from statistics_tools import uniform

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


def test_the_middle_is_refilled_from_the_top_before_the_next_opening_card():
    table = position(middle=FULL, deck=[3, 2, 1, 0, 0]).take("special barrel")
    assert table.now["middle"] == [0, 1, 2, 2]
    assert table.now["nurseries"] == [[0, 0, 0, 0], [0, 1, 0, 0]]
    assert table.now["deck"] == [0, 0]


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
        middle=FULL,
        nurseries=((), [0, 0, 1, 2, 3]),
        hands=((), ["starting", 0]),
        arrangement_deck=[1, 4],
        deck=[0] * 9,
    ).take("grow barrel")
    assert turn(table) == (0, 1, "response")
    assert table.legal == [*GROWS[1:], "plant basic 0 upper", "plant basic 1 upper", "plant starting"]


def test_the_middle_is_not_refilled_between_grow_and_response():
    table = position(middle=FULL, deck=[2, 2, 2, 0, 3]).take("grow barrel")
    assert table.now["middle"] == [0, 1, 1, 1]
    assert table.now["deck"] == [2, 2, 2, 0, 3]
    table.take("grow prickly pear")
    assert table.now["middle"] == [0, 0, 4, 1]
    assert table.now["nurseries"] == [[2, 0, 0, 0], [1, 1, 0, 0]]
    assert table.now["deck"] == [3]


def test_a_response_is_compulsory_if_any_is_possible():
    table = position(middle=[0, 0, 0, 0, 3], deck=[0] * 9).take("grow barrel")
    assert (turn(table), table.legal) == ((0, 1, "response"), ["grow star"])
    table = position(
        middle=[0] * 5,
        nurseries=((), [0, 0, 1]),
        hands=((), [0]),
        deck=[0] * 9,
    ).take("grow barrel")
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


def test_the_responder_plants_with_its_own_cacti_and_its_own_hand():
    table = position(
        middle=[2] * 5, nurseries=([0, 0, 1, 1, 1, 1, 3], []), hands=([0], [3]), deck=[0] * 9
    ).take("grow saguaro")
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


def test_the_cacti_must_be_in_the_own_nursery():
    table = position(
        middle=[0, 0, 1, 2, 3],
        nurseries=((), [0, 1, 2, 3] * 3),
        special=([0, 0, 0, 1, 1, 2, 3], None),
        hands=(["starting", 0], ()),
        arrangement_deck=[1],
        discards=[0, 1, 2, 3] * 3,
    )
    assert table.legal == GROWS


def test_only_one_half_of_a_card_is_ever_planted():
    table = in_hand(0, [3, 3, 3, 3]).take("plant basic 0 upper").take("special barrel")
    assert turn(table) == (0, 0, "action")
    assert not any("plant" in label for label in table.legal)


def test_the_plant_example():
    """The second player plants, from the hand, the half worth 3 points; other cacti stay where they are."""
    table = position(
        middle=FULL,
        nurseries=((), [0, 0, 0, 1, 2, 3]),
        hands=(["starting", 1], ["starting", 0]),
        arrangement_deck=[4],
        deck=[3] * 9,
        active=1,
        bonus=(3, 3),
    )
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


@pytest.mark.parametrize("label", ["plant basic 0 upper", "special barrel"])
def test_plant_and_special_are_not_responded_to(label):
    table = position(
        middle=FULL, nurseries=([0, 0, 1], [0, 1, 2, 3]), hands=([0], ["starting"]), deck=[0] * 9
    ).take(label)
    assert turn(table) == (1, 1, "action")


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


def test_special_is_used_once_a_game_by_each_player():
    table = position(middle=FULL, deck=[0, 1, 2, 3] * 5).take("special barrel")
    table.take("special star")
    assert set(table.legal).isdisjoint(SPECIALS)
    table.take("grow barrel").take(table.legal[0])
    assert set(table.legal).isdisjoint(SPECIALS)


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
