"""The rules of Botanicus: what a Flower costs and gives, Pole Position, the neutral Flower, forfeits and automatic passes."""

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
    changed,
    laid,
    mine,
    neutrals,
    of,
    planted,
    position,
    printed,
    put,
    through,
    turn,
    written,
)

# --- the Flower: costs, what it gives ---


def test_each_flower_already_there_costs_3_coins():
    for height in range(4):
        flowers_there = [[], [1, 2, 3][:height], [], []]
        for coins in (3 * height, 3 * height - 1):
            if coins < 0:
                continue
            table = position(
                num_players=4, stack=[1, 2, 3, 0], started=3, flowers=flowers_there, coins=[coins] * 4
            )
            assert ("flower 1" in table.legal) == (coins >= 3 * height)
        table = position(num_players=4, stack=[1, 2, 3, 0], started=3, flowers=flowers_there, coins=[9] * 4)
        table.take("flower 1")
        assert table.now["flowers"][1][: height + 1] == [*[1, 2, 3][:height], 0]
        assert of(table, "coins") == 9 - 3 * height
        assert table.now["hand_action"] == ["wheelbarrow", 2]


@pytest.mark.parametrize(("column", "space"), list(itertools.product(range(1, 9), range(4))))
def test_every_space_gives_its_printed_action(column, space):
    action, n = DATA["board"][column - 1][space].split()
    table = printed(column, space, garden={(1, 1): 1}, pile=[PLANT_3])
    got = of(table, "coins") - 6, of(table, "points"), of(table, "animals"), sum(of(table, "hands"))
    at_once = {
        "coins": (int(n), 0, 0, 0),
        "points": (0, int(n), 0, 0),
        "animal": (0, 3, 1, 0),
        "card": (0, 0, 0, 1),
    }
    if action == "pole":
        assert got == (3, 0, 0, 0)  # what is paid in `printed`: a pole costs nothing
    else:
        assert got == at_once.get(action, (0, 0, 0, 0))
    if action in KINDS:
        assert table.now["hand_action"] == [action, int(n)]
        assert table.to_move == 0
    else:
        assert turn(table) == (1, "start")


def test_a_tile_gives_its_action_besides_the_printed_one_and_stays():
    table = mine(column=2, tiles={(0, 0): 3}).take("flower 0")
    assert of(table, "coins") == 6 + 2 + 3
    assert table.now["covered"][0] == [True, False, False, False]
    assert table.now["tiles"] == laid({(0, 0): 3})


def test_a_tile_is_only_for_the_first_flower():
    table = mine(column=2, tiles={(0, 0): 3})
    put(table, "flower 0").take("flower 0")
    assert table.now["coins"][1] == 6 - 3 + 2


def test_the_neutral_flower_covers_a_tile_too():
    table = mine(num_players=2, column=8, round=1, tiles={(3, 0): 3})
    table.state["asked"] = ASKED.index("neutral")
    table.take("neutral 0")
    assert table.now["covered"][3][0]
    table.take("flower 0")
    assert of(table, "coins") == 6 - 3 + 2


@pytest.mark.parametrize("first", ["walk", "shovel"])
def test_printed_action_and_tile_are_carried_out_in_either_order(first):
    table = mine(column=2, tiles={(0, 2): 10}).take("flower 2")
    assert turn(table) == (0, "choose")
    assert table.legal == ["pass", "resolve walk", "resolve shovel"]
    assert table.now["pending"] == [[["walk", 3], ["shovel", 1]]]
    table.take(f"resolve {first}")
    other = {"walk": ["shovel", 1], "shovel": ["walk", 3]}[first]
    assert table.now["pending"] == [[other]]
    if first == "walk":
        table.take("walk 0,0")
    else:
        table.take("advance upper").take("pass").take("bed 1,1")
    assert table.now["hand_action"] == other
    assert table.now["pending"] == [[]]
    assert table.to_move == 0


def test_at_once_gains_come_first_and_leave_no_choice():
    table = mine(column=2, tiles={(0, 2): 8}).take("flower 2")  # walk 3 and an animal
    assert (of(table, "animals"), of(table, "points")) == (1, 3)
    assert turn(table) == (0, "walk")
    table = mine(column=6, tiles={(2, 1): 0}).take("flower 1")  # coins 3 and a step on Money
    assert of(table, "coins") == 9
    assert turn(table) == (0, "track")


def test_of_one_kind_the_printed_one_goes_first_without_a_choice():
    table = mine(column=2, tiles={(0, 3): 15}, gardener=(1, 1)).take("flower 3")  # plant_1 2, and plant_1 2
    assert turn(table) == (0, "plant")
    assert table.now["hand_action"] == ["plant_1", 2]
    assert table.now["pending"] == [[["plant_1", 2]]]
    for bed in ("1,1", "1,2", "2,1"):
        assert turn(table) == (0, "plant")
        table.take(f"bed {bed}")
    assert table.now["hand_action"] == ["plant_1", 1]
    table.take("bed 2,2")
    assert table.to_move == 1
    table = mine(column=6, tiles={(2, 0): 5}).take("flower 0")  # walk 2, and walk 3 by the tile
    assert table.now["hand_action"] == ["walk", 2]
    assert table.now["pending"] == [[["walk", 3]]]


def test_one_action_is_completed_before_the_next_begins():
    table = mine(column=2, tiles={(0, 3): 14}, garden={(1, 1): 1}).take("flower 3")  # plant_1 2, and water 2
    table.take("resolve water").take("bed 1,1")
    assert table.legal == ["pass", "bed 1,1"]  # the second watering, no planting in between
    assert turn(table) == (0, "water")
    table.take("bed 1,1")
    assert turn(table) == (0, "plant")


def test_resolve_stays_legal_for_an_action_that_turns_out_impossible():
    table = mine(column=4, tiles={(1, 3): 11}).take("flower 3")  # water 2, and shovel 2; nothing to water
    assert table.legal == ["pass", "resolve water", "resolve shovel"]
    table.take("resolve water")
    assert table.now["hand_action"] == ["shovel", 2]


# --- several gains of a node, with other data ---


def test_three_gains_of_a_node_wait_beside_the_other_action_of_the_space(tmp_path):
    data = changed(tracks__wheelbarrow__1__gains=["water 1", "walk 2", "plant_4 2"])
    table = mine(column=6, tiles={(2, 0): 1}, garden={(1, 1): 1}, tables=written(data, tmp_path)).take(
        "flower 0"
    )
    table.take("resolve wheelbarrow").take("advance upper").take("pass")
    assert table.now["pending"] == [[["walk", 2]], [["water", 1], ["walk", 2], ["plant_4", 2]]]
    assert table.legal == ["pass", "resolve plant_4", "resolve water", "resolve walk"]
    table.take("resolve walk").take("walk 0,1")
    assert table.now["pending"] == [[["walk", 2]], [["water", 1], ["plant_4", 2]]]
    table.take("resolve plant_4").take("bed 0,1").take("pass")
    assert turn(table) == (0, "water")
    table.take("bed 1,1")
    assert turn(table) == (0, "walk")
    assert table.now["pending"] == [[]]
    assert planted(table) == {(0, 1): 4, (1, 1): 2}


def test_of_one_kind_the_first_gained_goes_first_among_others(tmp_path):
    data = changed(tracks__wheelbarrow__1__gains=["plant_1 2", "water 1", "plant_1 3"])
    table = mine(tables=written(data, tmp_path)).take("flower 1").take("advance upper").take("pass")
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve plant_1")
    assert table.now["hand_action"] == ["plant_1", 2]
    table.take("pass")  # the first two only
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve water")  # nothing to water
    assert table.now["hand_action"] == ["plant_1", 3]


# --- Pole Position ---


def test_the_pole_position_example_with_a_second_flower():
    yellow, blue = 0, 1
    table = position(num_players=3, stack=[yellow, blue, 2], coins=[0, 0, 6], column=3)
    table.take("flower 0")
    assert table.now["coins"][yellow] == 3
    assert turn(table) == (blue, "start")
    assert "flower 1" in table.legal
    table.take("flower 0")
    assert table.now["coins"][blue] == 0
    put(table, "flower 2")
    assert turn(table) == (blue, "start")
    assert table.now["stack"] == [blue, yellow, 2]


def test_under_a_neutral_flower_a_pole_position_is_free_and_gives_nothing():
    table = mine(num_players=2, flowers=[["neutral"], [], [], []], coins=1).take("flower 0")
    assert of(table, "coins") == 1


# --- two players: the neutral Flower ---


def test_who_is_first_in_a_column_places_the_neutral_flower_first():
    table = Table(num_players=2).deal(3)
    while table.now["asked"] == "assign":
        table.take("assign 0" if "assign 0" in table.legal else table.legal[0])
    for round_number, column in itertools.product((1, 2), range(1, 9)):
        now = table.now
        assert (now["round"], now["column"]) == (round_number, column)
        assert turn(table) == (now["stack"][0], "neutral")
        assert table.legal == [f"neutral {s}" for s in range(4)]
        table.take("neutral 3")
        assert table.now["flowers"] == [[], [], [], ["neutral"]]
        assert turn(table) == (now["stack"][0], "start")
        assert table.now["order"] == now["stack"]
        put(table, "flower 0" if column % 2 else "flower 1")
        assert turn(table) == (now["stack"][1], "start")
        put(table, "flower 2" if round_number == 1 else "flower 0")
    assert (table.now["round"], table.now["asked"]) == (3, "start")
    assert not neutrals(table.legal)


def test_the_neutral_flower_costs_whoever_comes_upon_it_and_takes_no_turn():
    table = mine(num_players=2, flowers=[[], ["neutral"], [], []], coins=7)
    put(table, "flower 1")
    assert of(table, "coins") == 4
    table.take("flower 1")
    assert table.now["coins"][1] == 0  # two Flowers lay there
    through(table)
    assert table.now["stack"] == [1, 0]
    assert turn(table) == (1, "neutral")


# --- forfeits, automatic passes ---


def test_what_is_left_of_an_action_can_be_forfeited():
    table = mine(hand=[PLANT_1]).take("use plant_1 3").take("bed 1,1").take("pass")
    assert planted(table) == {(1, 1): 1}
    assert turn(table) == (0, "start")


def test_pass_in_a_choice_forfeits_the_whole_group():
    table = mine(column=2, tiles={(0, 2): 10}).take("flower 2").take("pass")
    assert turn(table) == (1, "start")
    assert of(table, "points") == 0  # the unused step of a track action never begun scores nothing
    assert of(table, "tracks") == [0, 0, 0]


def test_pass_in_a_choice_forfeits_only_the_innermost_group():
    table = mine(column=6, tiles={(2, 0): 1}).take("flower 0")  # walk 2, and a step on Wheelbarrow
    table.take("resolve wheelbarrow").take("advance upper").take("pass")  # no more steps
    assert table.now["pending"] == [[["walk", 2]], [["plant_1", 1], ["water", 1]]]
    assert (table.now["asked"], table.now["hand_action"]) == ("choose", None)
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("pass")
    assert turn(table) == (0, "walk")
    assert table.now["pending"] == [[]]
    assert not planted(table)


def test_watering_with_nothing_to_water_is_passed_by_itself():
    table = mine(hand=[WATER_2], garden={(1, 1): 4, (0, 0): 1}).take("use water 2")
    assert turn(table) == (0, "start")
    assert of(table, "coins") == 4
    assert table.now["discards"][WATER_2] == 1


def test_planting_without_a_possible_bed_is_passed_by_itself():
    full = dict.fromkeys([(1, 1), (1, 2), (2, 1), (2, 2)], 1)
    table = mine(hand=[PLANT_1], garden=full).take("use plant_1 3")
    assert turn(table) == (0, "start")
    table = mine(hand=[PLANT_1], garden={bed: 1 for bed in full if bed != (1, 1)}).take("use plant_1 3")
    assert table.legal == ["pass", "bed 1,1"]
    table.take("bed 1,1")
    assert turn(table) == (0, "start")


def test_a_track_where_no_step_can_be_paid_any_more_is_stopped_by_itself():
    table = mine(coins=2).take("flower 2").take("advance upper").take("advance upper")
    assert of(table, "coins") == 2 + 5
    assert turn(table) == (1, "start")
    table = mine(coins=3).take("flower 2").take("advance upper").take("advance upper")
    assert table.legal == ["pass", "advance upper"]
    assert of(table, "coins") == 3
