"""The rules of Botanicus: costs and gains of a Flower, Pole Position, the neutral Flower, forfeits and automatic passes."""

import itertools

import pytest
from botanicus_tools import (
    ASKED,
    DATA,
    KINDS,
    PLANT_1,
    PLANT_3,
    WATER_2,
    Table,
    laid,
    mine,
    of,
    planted,
    position,
    printed,
    put,
    through,
    turn,
)
from data_tools import changed, written

# --- 5.6, 5.7: costs and gains of a Flower ---


@pytest.mark.parametrize("height", range(4))
def test_each_flower_already_there_costs_3_coins(height):
    """[5.6]."""
    there = [1, 2, 3][:height]
    for coins in (3 * height - 1, 3 * height):
        table = position(
            num_players=4,
            stack=[1, 2, 3, 0],
            started=3,
            flowers=[[], there, [], []],
            coins=[max(coins, 0)] * 4,
        )
        assert ("flower 1" in table.legal) == (table.now["coins"][0] >= 3 * height)
    table.take("flower 1")
    assert table.now["flowers"][1] == [*there, 0]
    assert of(table, "coins") == 0
    assert table.now["hand_action"] == ["wheelbarrow", 2]


@pytest.mark.parametrize(("column", "space"), list(itertools.product(range(1, 9), range(4))))
def test_every_space_gives_its_printed_action(column, space):
    """[5.7, 12.3]; a Pole Position costs nothing, so that the 3 coins of `printed` are left [5.8]."""
    kind, n = DATA["board"][column - 1][space].split()
    table = printed(column, space, garden={(1, 1): 1}, pile=[PLANT_3])
    got = of(table, "coins") - 6, of(table, "points"), of(table, "animals"), sum(of(table, "hands"))
    at_once = {"coins": (int(n), 0, 0, 0), "points": (0, int(n), 0, 0), "animal": (0, 3, 1, 0)}
    at_once |= {"card": (0, 0, 0, 1), "pole": (3, 0, 0, 0)}
    assert got == at_once.get(kind, (0, 0, 0, 0))
    assert table.now["hand_action"] == ([kind, int(n)] if kind in KINDS else None)
    assert table.to_move == (0 if kind in KINDS else 1)


def test_a_tile_gives_its_action_to_the_first_flower_and_stays():
    """[5.7]."""
    tiles = {(0, 0): "coins 3"}
    table = put(mine(column=2, tiles=tiles), "flower 0")
    assert table.now["covered"][0] == [True, False, False, False]
    assert table.now["tiles"] == laid(tiles)
    table.take("flower 0")
    assert table.now["coins"] == [6 + 2 + 3, 6 - 3 + 2, 6]


def test_the_neutral_flower_covers_a_tile_too():
    """[4.6]."""
    table = mine(num_players=2, column=8, tiles={(3, 0): "coins 3"})
    table.state["asked"] = ASKED.index("neutral")
    table.take("neutral 0")
    assert table.now["covered"][3][0]
    table.take("flower 0")
    assert of(table, "coins") == 6 - 3 + 2


def test_printed_action_and_tile_are_carried_out_in_either_order():
    """[6.3]."""
    table = mine(column=2, tiles={(0, 2): "shovel 1"}).take("flower 2")
    assert turn(table) == (0, "choose")
    assert table.legal == ["pass", "resolve walk", "resolve shovel"]
    table.take("resolve shovel")
    assert table.now["pending"] == [[["walk", 3]]]
    table.take("advance upper", "pass", "bed 1,1")
    assert (table.now["hand_action"], table.now["pending"], table.to_move) == (["walk", 3], [[]], 0)


def test_at_once_gains_come_first_and_leave_no_choice():
    """[6.2]."""
    table = mine(column=2, tiles={(0, 2): "animal 1"}).take("flower 2")
    assert (of(table, "animals"), of(table, "points")) == (1, 3)
    assert turn(table) == (0, "walk")


def test_of_one_kind_the_printed_one_goes_first_without_a_choice():
    """[6.3]."""
    table = mine(column=6, tiles={(2, 0): "walk 3"}).take("flower 0")
    assert (table.now["hand_action"], table.now["pending"]) == (["walk", 2], [[["walk", 3]]])


def test_of_one_kind_among_others_the_first_gained_goes_first(tmp_path):
    """[6.3], with other data: there is nothing to water."""
    data = changed(DATA, ("tracks", "wheelbarrow", 1, "gains"), ["plant_1 2", "water 1", "plant_1 3"])
    table = mine(tables=written(tmp_path, data)).take("flower 1", "advance upper", "pass")
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    other = table.copy().take("resolve water")
    assert (other.now["hand_action"], other.now["pending"][-1]) == (["plant_1", 2], [["plant_1", 3]])
    table.take("resolve plant_1")
    assert table.now["hand_action"] == ["plant_1", 2]
    table.take("pass", "resolve water")
    assert table.now["hand_action"] == ["plant_1", 3]


def test_one_action_is_completed_before_the_next_begins():
    """[6.5, 6.6]: the second watering, and no planting in between."""
    table = mine(column=2, tiles={(0, 3): "water 2"}, garden={(1, 1): 1})
    table.take("flower 3", "resolve water", "bed 1,1")
    assert turn(table) == (0, "water")
    table.take("bed 1,1")
    assert turn(table) == (0, "plant")


def test_resolve_stays_legal_for_an_action_that_turns_out_impossible():
    """[6.4]; there is nothing to water."""
    table = mine(column=4, tiles={(1, 3): "shovel 2"}).take("flower 3")
    assert table.legal == ["pass", "resolve water", "resolve shovel"]
    table.take("resolve water")
    assert table.now["hand_action"] == ["shovel", 2]


# --- 5.8: Pole Position ---


def test_the_pole_position_example_with_a_second_flower():
    """[5.8]."""
    yellow, blue = 0, 1
    table = position(num_players=3, stack=[yellow, blue, 2], coins=[0, 0, 6], column=3).take("flower 0")
    assert table.now["coins"][yellow] == 3
    assert turn(table) == (blue, "start")
    table.take("flower 0")
    assert table.now["coins"][blue] == 0
    put(table, "flower 2")
    assert turn(table) == (blue, "start")
    assert table.now["stack"] == [blue, yellow, 2]


def test_under_a_neutral_flower_a_pole_position_is_free_and_gives_nothing():
    """[5.8]."""
    table = mine(num_players=2, flowers=[["neutral"], [], [], []], coins=1).take("flower 0")
    assert of(table, "coins") == 1


# --- 4.6: the neutral Flower ---


def test_the_first_player_of_a_column_places_the_neutral_flower_first():
    """[4.6]; in the last turn there is none."""
    table = Table(num_players=2).deal(3)
    while table.now["asked"] == "assign":
        table.take(table.legal[0])
    for first_space, second_space in ((0, 2), (1, 0)):
        first, second = table.now["stack"]
        assert turn(table) == (first, "neutral")
        assert table.legal == [f"neutral {s}" for s in range(4)]
        table.take("neutral 3")
        assert table.now["flowers"] == [[], [], [], ["neutral"]]
        assert turn(table) == (first, "start")
        put(table, f"flower {first_space}")
        assert turn(table) == (second, "start")
        put(table, f"flower {second_space}")
    assert turn(table) == (second, "neutral")
    table = mine(num_players=2, round=2, column=8, started=1, stack=[1, 0], flowers=[[1], [], [], []])
    assert turn(put(table, "flower 1")) == (1, "start")


def test_the_neutral_flower_makes_its_space_dearer_and_takes_no_turn():
    """[4.6]."""
    table = put(mine(num_players=2, flowers=[[], ["neutral"], [], []], coins=7), "flower 1")
    assert of(table, "coins") == 4
    table.take("flower 1")
    assert table.now["coins"][1] == 0  # two Flowers were there
    through(table)
    assert table.now["stack"] == [1, 0]
    assert turn(table) == (1, "neutral")


# --- 6.4: forfeits, automatic passes ---


def test_the_rest_of_an_action_can_be_forfeited():
    """[6.4]."""
    table = mine(hand=[PLANT_1]).take("use plant_1 3", "bed 1,1", "pass")
    assert planted(table) == {(1, 1): 1}
    assert turn(table) == (0, "start")


def test_pass_in_a_choice_forfeits_the_whole_group():
    """[6.4]; the unused step of a track action never begun scores nothing [7.3]."""
    table = mine(column=2, tiles={(0, 2): "shovel 1"}).take("flower 2", "pass")
    assert turn(table) == (1, "start")
    assert of(table, "points") == 0


def test_pass_in_a_choice_forfeits_only_the_innermost_group():
    """[6.3, 6.4]."""
    table = mine(column=6, tiles={(2, 0): "wheelbarrow 1"})
    table.take("flower 0", "resolve wheelbarrow", "advance upper", "pass")  # no more steps
    assert table.now["pending"] == [[["walk", 2]], [["plant_1", 1], ["water", 1]]]
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("pass")
    assert turn(table) == (0, "walk")
    assert (table.now["pending"], planted(table)) == ([[]], {})


def test_watering_with_nothing_to_water_is_passed_automatically():
    """[6.4, 6.6]."""
    table = mine(hand=[WATER_2], garden={(1, 1): 4, (0, 0): 1}).take("use water 2")
    assert turn(table) == (0, "start")
    assert (of(table, "coins"), table.now["discards"][WATER_2]) == (4, 1)


def test_planting_without_a_possible_bed_is_passed_automatically():
    """[6.4, 6.5]."""
    table = mine(hand=[PLANT_1], garden=dict.fromkeys([(1, 2), (2, 1), (2, 2)], 1)).take("use plant_1 3")
    assert table.legal == ["pass", "bed 1,1"]
    table.take("bed 1,1")
    assert turn(table) == (0, "start")


def test_a_track_on_which_no_step_can_be_paid_is_stopped_automatically():
    """[7.2]."""
    table = mine(coins=2).take("flower 2", "advance upper", "advance upper")
    assert of(table, "coins") == 2 + 5
    assert turn(table) == (1, "start")
    table = mine(coins=3).take("flower 2", "advance upper", "advance upper")
    assert table.legal == ["pass", "advance upper"]
