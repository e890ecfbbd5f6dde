"""The rules of Botanicus: tracks, planting, watering, the walk action.

The agreement test compares the gains of every node.
"""

import pytest
from botanicus_tools import (
    ANIMAL_1,
    BEDS,
    CROSSINGS,
    M1,
    M2L,
    M4U,
    MONEY_3,
    NO_BEDS,
    PLANT_2,
    PLANT_3,
    S1,
    S2,
    S4,
    SHOVEL_END,
    W1,
    W2U,
    W3,
    WALK_5,
    WATER_2,
    WHEELBARROW_2,
    WHEELBARROW_END,
    beds,
    mine,
    of,
    planted,
    printed,
    turn,
    walks,
)

# --- 7: tracks ---


def test_the_money_example_with_a_bought_step():
    """[7.2, 7.4]."""
    table = mine(column=2, tiles={(0, 1): "money 1"}, pile=[ANIMAL_1, WATER_2], coins=4).take("flower 1")
    assert table.now["hand_action"] == ["money", 1]
    table.take("advance upper")
    assert (of(table, "coins"), table.now["hand_action"], table.now["steps_taken"]) == (4, ["money", 0], 1)
    table.take("advance lower")
    assert of(table, "coins") == 4 - 3 + 2
    assert of(table, "hands")[ANIMAL_1] == 1
    assert of(table, "points") == 2  # printed next to the tile; no unused step
    assert of(table, "tracks") == [M2L, 0, 0]
    assert turn(table) == (1, "start")


def test_the_wheelbarrow_example_past_the_end():
    """[7.3, 7.5]: the piece returns after the waterings."""
    table = mine(column=3, pieces=(0, W3, 0), garden={(1, 1): 1, (2, 1): 1})
    table.take("flower 3", "advance upper", "advance upper")
    assert of(table, "points") == 7 + 1
    assert of(table, "tracks")[1] == WHEELBARROW_END
    assert table.now["hand_action"] == ["water", 2]
    table.take("bed 1,1", "bed 2,1")
    assert planted(table) == {(1, 1): 2, (2, 1): 2}
    assert of(table, "tracks")[1] == 0
    assert turn(table) == (1, "start")


def test_the_shovel_example_with_a_path_for_2_coins():
    """[7.2]."""
    table = mine(coins=2).take("flower 3", "advance upper", "advance upper")
    assert (of(table, "coins"), of(table, "tracks")) == (0, [0, 0, S2])
    assert table.now["hand_action"] == ["plant_1", 2]


def test_a_shovel_action_that_cannot_pay_its_first_path_scores_its_steps():
    """[7.2, 7.3]."""
    table = mine(coins=1, pieces=(0, 0, S1)).take("flower 3")
    assert (of(table, "points"), of(table, "coins"), of(table, "tracks")) == (2, 1, [0, 0, S1])
    assert turn(table) == (1, "start")
    assert mine(coins=2, pieces=(0, 0, S1)).take("flower 3").legal == ["pass", "advance upper"]


def test_without_any_step_the_unused_steps_score_but_nothing_is_gained():
    """[7.3, 7.4]."""
    table = mine(column=5, pieces=(M1, 0, 0)).take("flower 3", "pass")
    assert (of(table, "points"), of(table, "coins"), of(table, "tracks")) == (3, 6, [M1, 0, 0])


def test_used_and_bought_steps_score_nothing():
    """[7.2, 7.3]."""
    table = mine(coins=20).take("flower 2", *["advance upper"] * 4)
    assert of(table, "coins") == 20 - 6
    assert table.now["steps_taken"] == 4
    table.take("pass")
    assert (of(table, "points"), of(table, "coins"), of(table, "tracks")) == (0, 20 - 6 + 6, [M4U, 0, 0])


def test_the_player_chooses_the_order_of_two_different_gains_of_a_node():
    """[6.3]."""
    table = mine(pieces=(0, W2U, 0), coins=0).take("flower 1", "advance upper", "pass")
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve plant_1", *["bed 1,1"] * 3)
    assert planted(table) == {(1, 1): 3}


def test_a_card_can_give_a_track_action_and_its_gains_can_be_forfeited():
    """[5.5, 6.4]."""
    table = mine(hand=[WHEELBARROW_2], coins=2).take("use wheelbarrow 2", "advance upper", "pass")
    assert table.now["pending"] == [[], [["plant_1", 1], ["water", 1]]]
    assert of(table, "points") == 1
    assert table.now["in_play"] == WHEELBARROW_2
    table.take("pass")
    assert turn(table) == (0, "start")
    assert (table.now["in_play"], table.now["discards"][WHEELBARROW_2]) == (None, 1)
    assert of(table, "tracks") == [0, W1, 0]


def test_the_piece_returns_even_if_the_gains_of_the_end_are_forfeited():
    """[7.5]."""
    table = mine(pieces=(0, 0, S4)).take("flower 3", "advance upper")
    assert of(table, "tracks") == [0, 0, SHOVEL_END]
    assert of(table.take("pass"), "tracks") == [0, 0, 0]


def test_prizes_are_taken_from_the_top_and_may_all_go_to_one_player():
    """[6.10, 7.5]."""
    table = mine(num_players=4, pieces=(M4U, 0, 0), hand=[MONEY_3], coins=20)
    table.take("use money 3", "advance upper")
    assert of(table, "points") == 2 + 18
    assert table.now["prizes"] == [[15, 12, 9, 6, 3], [24, 20, 16, 12, 8, 4]]
    table.take("flower 2", *["advance upper"] * 5)
    assert of(table, "points") == 20 + 15
    assert table.now["prizes"][0] == [12, 9, 6, 3]


def test_an_empty_stack_gives_no_prize():
    """[6.10]."""
    table = mine(pieces=(M4U, 0, 0), prizes_taken=[6, 3]).take("flower 2", "advance upper")
    assert (of(table, "points"), of(table, "coins"), of(table, "tracks")) == (1, 6 + 4, [0, 0, 0])
    assert table.now["prizes"] == [[], [12, 8, 4]]


# --- 6.5, 6.6: planting and watering ---


@pytest.mark.parametrize("crossing", CROSSINGS)
def test_existing_beds_in_range_of_the_gardener_can_be_planted_and_watered(crossing):
    """[1.4]."""
    r, c = crossing
    reach = [(r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)]
    labels = [f"bed {i},{j}" for i, j in reach if (i, j) not in NO_BEDS]
    assert beds(mine(hand=[PLANT_3], gardener=crossing).take("use plant_3 1").legal) == labels
    garden = {bed: 1 for bed in BEDS if bed not in NO_BEDS}
    assert beds(mine(hand=[WATER_2], gardener=crossing, garden=garden).take("use water 2").legal) == labels


def test_a_plant_goes_on_an_empty_bed_or_replaces_one_of_another_level():
    """[6.5]."""
    garden = {(1, 1): 1, (1, 2): 2, (2, 1): 3}
    table = mine(hand=[PLANT_2], garden=garden).take("use plant_2 2")
    assert beds(table.legal) == ["bed 1,1", "bed 2,1", "bed 2,2"]
    table.take("bed 2,1", "bed 2,2")
    assert planted(table) == garden | {(2, 1): 2, (2, 2): 2}


@pytest.mark.parametrize("level", range(5))
def test_watering_raises_levels_1_to_3_by_one(level):
    """[6.6]."""
    table = mine(hand=[WATER_2], garden={(1, 1): level, (2, 2): 1}).take("use water 2")
    assert ("bed 1,1" in table.legal) == (level in (1, 2, 3))
    if level in (1, 2, 3):
        table.take("bed 1,1")
        assert planted(table) == {(1, 1): level + 1, (2, 2): 1}


# --- 6.7: the walk action ---


@pytest.mark.parametrize(("column", "space", "n"), [(2, 2, 3), (6, 0, 2)])
def test_a_walk_action_is_free_and_up_to_its_number_of_steps(column, space, n):
    """[6.7]; unused steps give nothing."""
    table = printed(column, space, gardener=(0, 0), coins=0)
    assert turn(table) == (0, "walk")
    assert table.legal == ["pass"] + [f"walk {r},{c}" for r, c in CROSSINGS if 0 < r + c <= n]
    table.take("walk 1,1")
    assert of(table, "gardeners") == CROSSINGS.index((1, 1))
    assert of(table, "points") == of(table, "coins") == 0
    assert turn(table) == (1, "start")


def test_a_walk_by_a_card_leaves_the_walk_for_coins():
    """[6.7]."""
    table = mine(hand=[WALK_5]).take("use walk 5", "walk 3,2")
    assert (of(table, "coins"), table.now["walked"]) == (4, False)
    table.take("walk 2,2")
    assert of(table, "coins") == 3
    assert not walks(table.legal)
