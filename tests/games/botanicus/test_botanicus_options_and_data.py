"""Botanicus: options, labels, snapshot, games with other data."""

import json

import pytest
from botanicus_tools import (
    ASKED,
    BEDS,
    CROSSINGS,
    DATA,
    KEYS,
    KINDS,
    W1,
    WATER_2,
    Table,
    changed,
    last,
    mine,
    of,
    planted,
    turn,
    written,
)

from garden_core import make

# --- options, labels, snapshot ---


@pytest.mark.parametrize(
    ("option", "value"), [("num_players", 1), ("num_players", 5), ("num_players", 0), ("max_decisions", 0)]
)
def test_options_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=option):
        make("botanicus", **{option: value})


def test_there_are_81_actions_with_the_labels_of_the_reading():
    cards = [card["action"] for card in DATA["cards"]] + ["kind 9", "kind 10", "kind 11"]
    labels = ["pass"]
    labels += [f"walk {r},{c}" for r, c in CROSSINGS]
    labels += [f"bed {r},{c}" for r, c in BEDS]
    labels += [f"resolve {kind}" for kind in KINDS]
    labels += ["advance upper", "advance lower"]
    labels += [f"use {card}" for card in cards] + [f"sell {card}" for card in cards]
    labels += [f"flower {s}" for s in range(4)] + [f"neutral {s}" for s in range(4)]
    labels += [f"assign {j}" for j in range(5)]
    assert list(make("botanicus").labels) == labels
    assert make("botanicus").num_actions == len(labels) == len(set(labels)) == 81


def test_a_snapshot_is_plain_json_with_the_keys_of_the_reading():
    tables = [
        Table().deal(),
        mine(column=2, tiles={(0, 2): 10}).take("flower 2"),
        mine(column=6, tiles={(2, 0): 1}).take("flower 0").take("resolve wheelbarrow").take("advance upper"),
        mine(hand=[WATER_2], garden={(1, 1): 1}).take("use water 2"),
        last(started=2, stack=[1, 2, 0]).take("pass"),
    ]
    for table in tables:
        now = table.now
        assert set(now) == set(KEYS.split())
        assert json.loads(json.dumps(now)) == now
        assert now["game"] == "botanicus"
        assert now["asked"] in ASKED


def test_steps_taken_counts_only_for_the_track_action_at_hand():
    table = mine(column=5, coins=20).take("flower 2")
    for steps in range(3):
        assert (table.now["steps_taken"], table.now["hand_action"]) == (steps, ["wheelbarrow", 3 - steps])
        table.take("advance upper")
    assert (table.now["steps_taken"], table.now["hand_action"]) == (3, ["wheelbarrow", 0])
    table.take("pass").take("resolve plant_1")
    assert table.now["steps_taken"] == 0


# --- other data ---


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("board__1__0", "coins 0"),
        ("board__1__0", "nonsense 2"),
        ("cards__0__action", "plant_2 2"),  # two kinds with the same action
        ("cards__0__copies", 0),
        ("cards__0__copies", 61),
        ("tracks__money__1__gains", ["shovel 1"]),  # steps on a track by a track
        ("tracks__money__1__gains", ["coins 1"] * 4),
        ("tiles__striped__0", ["animal 1", "animal 1"]),  # turning it over would change nothing
        ("tracks__money__1__upper__to", "nowhere"),
        ("tracks__money__2__upper__to", "M1"),
        ("special", DATA["special"][:19]),
        ("special", DATA["special"] * 2),
        ("tiles__spotted", DATA["tiles"]["spotted"][:7]),
        ("tiles__striped", DATA["tiles"]["striped"] + [["coins 1", "coins 2"]]),
        ("prizes__money", [1] * 9),
        ("beds", [[1, 1, 1, 0]] * 5),  # a column without a bed
        ("fountain", [4, 0]),
        ("columns", [1, 2, 3]),
        ("animals", [1, 2]),
        ("basic", DATA["basic"][:4]),
    ],
)
def test_a_faulty_data_file_is_refused_with_the_key_at_fault(key, value, tmp_path):
    with pytest.raises(ValueError, match=key.split("__")[0]):
        make("botanicus", tables=written(changed(**{key: value}), tmp_path)).new_states(1)


def test_other_values_change_the_game(tmp_path):
    data = changed(
        fountain=[3, 0],
        animals=[1, 1, 1, 1, 1],
        board__0__0="pole 5",
        board__0__1="plant_4 1",
        columns=[1, 1, 1, 20],
    )
    table = Table(num_players=3, tables=written(data, tmp_path)).deal(0)
    while table.now["asked"] == "assign":
        table.take(table.legal[0])
    first, second = table.now["order"][:2]
    assert table.now["gardeners"] == [9] * 3
    table.take("flower 1")
    assert table.legal == ["pass", "bed 3,1", "bed 4,0", "bed 4,1"]
    table.take("bed 4,0")
    assert planted(table, first) == {(4, 0): 4}
    table.take("flower 0")
    assert table.now["coins"][second] == 11


def test_a_pole_position_in_a_column_with_tiles_keeps_the_tile(tmp_path):
    data = changed(board__1__0="pole 3")
    table = mine(column=2, tiles={(0, 0): 3}, coins=0, tables=written(data, tmp_path)).take("flower 0")
    assert of(table, "coins") == 6
    table.state["coins"][1] = 0
    table.take("flower 0")
    assert table.now["coins"][1] == 0


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


def test_a_node_without_gains_gives_nothing_and_the_turn_goes_on(tmp_path):
    data = changed(tracks__wheelbarrow__1__gains=[])
    table = mine(tables=written(data, tmp_path)).take("flower 1").take("advance upper").take("pass")
    assert turn(table) == (1, "start")
    assert (of(table, "points"), of(table, "tracks")) == (1, [0, W1, 0])


def test_prizes_on_spaces_tiles_and_cards_are_taken_at_once(tmp_path):
    data = changed(
        board__0__1="prize shovel", board__1__0="prize money", tiles__spotted__3=["prize money", "coins 1"]
    )
    path = written(data, tmp_path)
    table = mine(tables=path).take("flower 1")
    assert (of(table, "points"), table.now["prizes"][1]) == (20, [16, 12, 8, 4])
    table = mine(column=2, tiles={(0, 0): 3}, tables=path).take("flower 0")
    assert (of(table, "points"), table.now["prizes"][0]) == (15 + 12, [9, 6, 3])


def test_a_sixth_animal_among_several_gains_nothing(tmp_path):
    path = written(changed(board__0__1="animal 3"), tmp_path)
    table = mine(animals=3, tables=path).take("flower 1")
    assert (of(table, "points"), of(table, "animals")) == (15 + 21, 5)
