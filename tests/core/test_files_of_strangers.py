"""Data files and replays from strangers name no code and open no other files; code is named by the caller alone."""

import json
import pickle

import pytest
from sealed import sealed_replay

from cacti_env import Cacti
from cacti_env.cards import PACKAGED
from garden_core import GreedyPolicy, RandomPolicy, Replay, ReplayError, make, record
from garden_core.files.data import LIMIT, DataFile
from garden_core.files.replay import LIMIT as REPLAY_LIMIT

CARDS = PACKAGED.read_text().replace("points = 5", "points = 9")


@pytest.fixture
def own_cards(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(CARDS)
    return path


# --- data files ---


def test_large_files_are_not_read(tmp_path):
    large = tmp_path / "large"
    large.write_bytes(b"#" * (LIMIT + 1))
    with pytest.raises(ValueError, match="it has 1,000,001 bytes; 1,000,000 are allowed"):
        Cacti(cards=large)
    large.write_bytes(b"[" * (REPLAY_LIMIT + 1))
    with pytest.raises(ReplayError, match="it has 10,000,001 bytes; 10,000,000 are allowed"):
        Replay.load(large)


def test_data_is_read_once(own_cards):
    game = Cacti(cards=own_cards)
    own_cards.unlink()
    again = pickle.loads(pickle.dumps(game))
    assert again == game
    assert again.cards.starting.points == 9
    assert Cacti(cards=DataFile("elsewhere.toml", CARDS)) == game
    assert Cacti() != game


# --- replays ---


def test_a_replay_carries_its_data_and_no_path(own_cards, tmp_path):
    game = Cacti(cards=own_cards)
    assert game.shown_options == Cacti().option_values | {"cards": "own.toml"}
    replay = record(game, [GreedyPolicy(), RandomPolicy()], seed=3)
    replay.save(tmp_path / "game.json")
    content = json.loads((tmp_path / "game.json").read_text())
    assert content["options"]["cards"] == "own.toml"
    assert str(tmp_path) not in (tmp_path / "game.json").read_text()
    own_cards.unlink()
    assert Replay.load(tmp_path / "game.json") == replay


def test_a_replay_opens_no_path(own_cards, tmp_path):
    replay = record(Cacti(cards=own_cards), [GreedyPolicy(), RandomPolicy()], seed=3)
    replay.save(tmp_path / "game.json")
    content = json.loads((tmp_path / "game.json").read_text())
    del content["data_files"]
    content["options"]["cards"] = str(own_cards)
    path = tmp_path / "path.json"
    path.write_bytes(sealed_replay(content))
    with pytest.raises(ReplayError, match=r"played with cards='.*own.toml'; pass data="):
        Replay.load(path)
    assert Replay.load(path, data=own_cards) == replay
    content["options"]["cards"] = "/dev/zero"
    path.write_bytes(sealed_replay(content))
    with pytest.raises(ReplayError, match="pass data="):
        Replay.load(path)


def test_a_replay_names_no_code(tmp_path, trap):
    replay = record(make("pig:Pig", goal=20), [RandomPolicy(), RandomPolicy(1)])
    path = tmp_path / "game.json"
    replay.save(path)
    content = json.loads(path.read_text())
    assert content["game"] == "pig"
    with pytest.raises(ReplayError, match="unknown game 'pig'"):
        Replay.load(path)
    assert Replay.load(path, game="pig:Pig") == replay
    assert Replay.load(path, game=type(replay.game)) == replay
    with pytest.raises(ReplayError, match="it is a game of 'pig', not of mars"):
        Replay.load(path, game="mars")
    path.write_bytes(sealed_replay(content | {"game": "trap:Pig"}))
    with pytest.raises(ReplayError, match=r"it names code, 'trap:Pig'; pass game="):
        Replay.load(path)
    assert not trap.exists()
