"""The data file of Cacti: the packaged one [1], others, and messages about faults."""

import itertools
import pickle

import numpy as np
import pytest
from cacti_tools import DATA, made_up
from data_tools import changed, written

from cacti_env import Cacti, load_cards
from cacti_env.cards import PACKAGED
from garden_core.testing import check_game


def test_the_packaged_cards():
    cards = load_cards()
    assert cards.types == ("barrel", "prickly pear", "saguaro", "star")
    assert cards.count == (12, 12, 12, 12)
    assert cards.bonus_types == [0, 1, 2, 3]
    assert (cards.starting.cost, cards.starting.points) == ((1, 1, 1, 1), 5)
    for card, (a, b) in zip(cards.basic, itertools.permutations(range(4), 2), strict=True):
        c, d = sorted(set(range(4)) - {a, b}, reverse=a > b)
        assert (card.upper.cost[a], card.upper.cost[b], sum(card.upper.cost)) == (2, 1, 3)
        assert (card.lower.cost[c], card.lower.cost[d], sum(card.lower.cost)) == (3, 2, 5)
        assert (card.upper.points, card.lower.points) == (3, 6)


@pytest.mark.parametrize("seed", range(8))
def test_another_file_makes_another_game(seed, tmp_path):
    data = made_up(seed)
    game = Cacti(cards=written(tmp_path, data))
    types, basics = len(data["types"]), len(data["basic"])
    assert game.num_actions == 2 * types + 2 * basics + 3
    assert game.observation_shape == (7 * types + 6 * basics + 13,)
    assert game.labels[:types] == tuple(f"grow {name}" for name in data["types"])
    assert game.params["count"][0, :types].tolist() == data["count"]
    assert game.params["cost"][0, 2 * basics, :types].tolist() == data["starting"]["cost"]
    assert game.state_dtype == Cacti().state_dtype  # nothing is compiled again


def test_games_with_equal_cards_are_equal(tmp_path):
    same, other = Cacti(cards=written(tmp_path, DATA)), Cacti()
    assert same.data_digest == other.data_digest
    dearer = written(tmp_path, changed(DATA, ("starting", "points"), 6))
    assert Cacti(cards=dearer).data_digest != other.data_digest
    assert Cacti(cards=None) == Cacti(cards="") == other


def test_a_relative_path_starts_at_the_folder_of_the_call(tmp_path, monkeypatch):
    written(tmp_path, made_up(1))
    monkeypatch.chdir(tmp_path)
    game = Cacti(cards="data.toml")
    monkeypatch.chdir("/")
    again = pickle.loads(pickle.dumps(game))
    assert again == game
    assert np.array_equal(again.params, game.params)


FAULTS = {  # case: (place, value, words of the message)
    "one type": (("types",), ["star"], ["types"]),
    "equal types": (("types",), ["a", "b", "a", "c"], ["types", "'a'"]),
    "blank type": (("types",), ["a", "b", " ", "c"], ["types[2]"]),
    "type not a name": (("types",), ["a", "b", 3, "c"], ["types[2]", "int"]),
    "count of none": (("count",), [12, 0, 12, 12], ["count[1]"]),
    "count not whole": (("count",), [12, 12.5, 12, 12], ["count[1]", "int"]),
    "too few cacti": (("count",), [2, 3, 3, 3], ["count", "12", "11"]),
    "one Bonus Planter": (("bonus",), ["star"], ["bonus"]),
    "Bonus Planter of no type": (("bonus",), ["star", "cactus"], ["bonus[1]", "'cactus'"]),
    "two Basic Arrangements": (("basic",), DATA["basic"][:2], ["basic"]),
    "half asks for nothing": (("basic", 3, "lower", "cost"), [0, 0, 0, 0], ["basic[3].lower.cost"]),
    "half without points": (("basic", 5, "upper"), {"cost": [1, 0, 1, 0]}, ["basic[5].upper", "points"]),
    "points below zero": (("basic", 0, "lower", "points"), -1, ["basic[0].lower.points"]),
    "half missing": (("basic", 11), {"upper": {"cost": [1, 0, 0, 0], "points": 1}}, ["basic[11]", "lower"]),
    "starting asks for nothing": (("starting", "cost"), [0, 0, 0, 0], ["starting.cost"]),
    "key that there is not": (("colour",), "green", ["colour"]),
    "key in a half that there is not": (("basic", 2, "upper", "price"), 1, ["basic[2].upper", "price"]),
}


@pytest.mark.parametrize(("where", "value", "words"), FAULTS.values(), ids=FAULTS)
def test_the_message_names_a_fault_in_the_file(where, value, words, tmp_path):
    file = written(tmp_path, changed(DATA, where, value))
    with pytest.raises(ValueError, match=r"^cards: ") as raised:
        Cacti(cards=str(file))
    for word in [str(file), *words]:
        assert word in str(raised.value)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"cards: .*nothing\.toml cannot be read: No such file"):
        Cacti(cards=tmp_path / "nothing.toml")
    with pytest.raises(ValueError, match=r"cards: .* cannot be read: Is a directory"):
        Cacti(cards=tmp_path)


def test_a_line_that_is_not_toml_is_named(tmp_path):
    file = tmp_path / "data.toml"
    file.write_text(PACKAGED.read_text("utf-8").replace("points = 5", "points = "), "utf-8")
    with pytest.raises(ValueError, match=r"cards: .*not a TOML file.*line 11"):
        Cacti(cards=file)
    file.write_bytes(b"types = ['\xff']")
    with pytest.raises(ValueError, match="not a TOML file"):
        Cacti(cards=file)


@pytest.mark.parametrize("value", [1, True, 2.5, ["a"]])
def test_cards_must_be_a_path(value):
    with pytest.raises(ValueError, match="cards must be the path of a file"):
        Cacti(cards=value)


@pytest.mark.parametrize("value", [1, 3, "2", None])
def test_there_are_always_two_players(value):
    with pytest.raises(ValueError, match="num_players must be"):
        Cacti(num_players=value)


@pytest.mark.many_games
@pytest.mark.thorough
def test_games_with_other_cards_keep_the_contract(tmp_path):
    for seed in range(4):
        folder = tmp_path / str(seed)
        folder.mkdir()
        check_game(Cacti(cards=written(folder, made_up(seed))), games=5)
