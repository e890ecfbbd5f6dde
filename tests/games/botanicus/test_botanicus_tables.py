"""The data file of Botanicus: the packaged one, others, and messages about faults."""

import pytest
from botanicus_tools import DATA, made_up
from data_tools import changed, written

from botanicus_env import Botanicus
from garden_core.testing import check_game


@pytest.mark.parametrize("seed", range(12))
def test_another_file_makes_another_game(seed, tmp_path):
    data = made_up(seed)
    game, packaged = Botanicus(tables=written(tmp_path, data)), Botanicus()
    for name in ("num_actions", "observation_shape", "state_dtype"):  # nothing is compiled again
        assert getattr(game, name) == getattr(packaged, name)
    assert f"use {data['cards'][0]['action']}" in game.labels
    assert ("use kind 11" in game.labels) == (len(data["cards"]) < 12)
    assert game.params["special_points"][0, : len(data["special"])].tolist() == [
        t["points"] for t in data["special"]
    ]


NODE = {"name": "X", "gains": [], "upper": {"to": "end"}}
FAULTS = {  # case: (place, value, words of the message)
    "no bed in a column": (("beds",), [[1, 1, 1, 0]] * 5, ["beds", "column 3"]),
    "bed of two": (("beds", 2, 1), 2, ["beds[2][1]"]),
    "fountain outside the garden": (("fountain",), [4, 0], ["fountain", "[4, 0]"]),
    "points below zero": (("columns", 1), -1, ["columns[1]"]),
    "task of nothing": (("basic", 2, "plants"), [0, 0, 0, 0], ["basic[2].plants", "at least one"]),
    "task of five plants": (("special", 3, "plants"), [5, 0, 0, 0], ["special[3].plants[0]"]),
    "nineteen special tasks": (("special",), DATA["special"][:19], ["special"]),
    "space of a strange kind": (("board", 2, 1), "dance 2", ["board[2][1]", "'dance 2'", "wheelbarrow"]),
    "amount of none": (("board", 2, 1), "water 0", ["board[2][1]", "'water 0'"]),
    "amount too large": (("board", 2, 1), "water 21", ["board[2][1]", "1 to 20"]),
    "prize of a strange stack": (("board", 2, 1), "prize gold", ["board[2][1]", "prize"]),
    "two cards alike": (("cards", 3, "action"), "water 2", ["cards[3].action", "'water 2'"]),
    "61 cards": (("cards", 0, "copies"), 46, ["cards", "60"]),
    "tile of one side": (("tiles", "spotted", 0), ["coins 1"], ["tiles.spotted[0]"]),
    "tile the same on both sides": (
        ("tiles", "striped", 0),
        ["animal 1", "animal 1"],
        ["tiles.striped[0]", "both sides", "'animal 1'"],
    ),
    "two actions on a card": (
        ("cards", 3, "action"),
        ["coins 1", "water 1"],
        ["cards[3].action", "has one action, as observations and labels have room for one"],
    ),
    "nine prizes": (("prizes", "shovel"), [1] * 9, ["prizes.shovel"]),
    "track action on a track": (
        ("tracks", "money", 2, "gains"),
        ["shovel 1"],
        ["tracks.money[2].gains[0]", "shovel 1", "without end"],
    ),
    "pole on a track": (("tracks", "money", 2, "gains"), ["pole 1"], ["tracks.money[2].gains[0]"]),
    "four gains": (("tracks", "money", 2, "gains"), ["coins 1"] * 4, ["tracks.money[2].gains"]),
    "gains at the start": (("tracks", "money", 0, "gains"), ["coins 1"], ["tracks.money[0].gains"]),
    "edge back": (("tracks", "shovel", 4, "upper", "to"), "S1", ["tracks.shovel[4]", "'S1'"]),
    "node without edge": (("tracks", "shovel", 2), {"name": "S2"}, ["tracks.shovel[2]"]),
    "lower edge alone": (
        ("tracks", "shovel", 2),
        {"name": "S2", "lower": {"to": "S3"}},
        ["tracks.shovel[2]", "upper"],
    ),
    "edge from the end": (("tracks", "shovel", 5, "upper"), {"to": "end"}, ["tracks.shovel[5]"]),
    "two nodes of a name": (("tracks", "shovel", 2, "name"), "S3", ["tracks.shovel[3].name", "'S3'"]),
    "node never reached": (
        ("tracks", "money"),
        [*DATA["tracks"]["money"][:-1], NODE, DATA["tracks"]["money"][-1]],
        ["tracks.money[7]", "reached"],
    ),
    "eleven nodes": (
        ("tracks", "money"),
        [{"name": f"{i}", "upper": {"to": f"{i + 1}"}} for i in range(10)] + [{"name": "10"}],
        ["tracks.money"],
    ),
    "table missing": (("prizes",), None, ["prizes"]),
    "key that there is not": (("bees",), 3, ["bees"]),
}


@pytest.mark.parametrize(("where", "value", "words"), FAULTS.values(), ids=FAULTS)
def test_the_message_names_a_fault_in_the_file(where, value, words, tmp_path):
    file = written(tmp_path, changed(DATA, where, value))
    with pytest.raises(ValueError, match=r"^tables: ") as raised:
        Botanicus(tables=str(file))
    for word in [str(file), *words]:
        assert word in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"tables: .*nothing\.toml cannot be read: No such file"):
        Botanicus(tables=tmp_path / "nothing.toml")


@pytest.mark.parametrize("value", [1, 5, "2", None, True])
def test_there_are_two_to_four_players(value):
    with pytest.raises(ValueError, match="num_players must be a whole number from 2 to 4"):
        Botanicus(num_players=value)


@pytest.mark.many_games
@pytest.mark.thorough
def test_games_with_other_tables_keep_the_contract(tmp_path):
    for seed in range(2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_game(Botanicus(tables=written(folder, made_up(seed)), num_players=2 + seed), games=3)
