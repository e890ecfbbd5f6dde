"""Data files and replays from strangers name no code and open no other files; code is named by the caller alone."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
from pathlib import Path

import pytest

from cacti_env import Cacti
from cacti_env.cards import PACKAGED
from garden_core import make
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.errors import ReplayError
from garden_core.files.data import LIMIT, DataFile
from garden_core.files.replay import LIMIT as REPLAY_LIMIT
from garden_core.files.replay import Replay, record

ROOT = Path(__file__).parents[2]
CARDS = (ROOT / "cacti_env" / "cacti.toml").read_text().replace("points = 5", "points = 9")


@pytest.fixture
def own_cards(tmp_path) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(CARDS)
    return path


def sealed(path: Path, content: dict) -> Path:
    """Write a replay's content with a checksum that fits."""
    content = {key: value for key, value in content.items() if key != "checksum"}
    content["checksum"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content))
    return path


# --- data files ---


def test_special_files_are_refused_at_once(tmp_path):
    pipe, folder, large = tmp_path / "pipe", tmp_path / "folder", tmp_path / "large.toml"
    os.mkfifo(pipe)
    folder.mkdir()
    large.write_bytes(b"#" * (LIMIT + 1))
    refused = {
        "/dev/zero": "not a regular file",
        pipe: "not a regular file",
        folder: "Is a directory",
        tmp_path / "missing": "No such file",
        "a\0b": "null",
    }
    for path, reason in refused.items():
        for name, option in (("cacti", "cards"), ("botanicus", "tables")):
            with pytest.raises(ValueError, match=f"{option}: .*{reason}"):
                make(name, **{option: path})
        with pytest.raises(ReplayError, match=reason):
            Replay.load(path)
    with pytest.raises(ValueError, match="it has 1,000,001 bytes; 1,000,000 are allowed"):
        Cacti(cards=large)
    large.write_bytes(b"[" * (REPLAY_LIMIT + 1))
    with pytest.raises(ReplayError, match="it has 10,000,001 bytes; 10,000,000 are allowed"):
        Replay.load(large)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("types = " + "[" * 50_000, "is not a TOML file"),
        ("types = 1" + "0" * 5000, "is not a TOML file"),
        (CARDS.replace('"barrel"', '"' + "b" * 10_000 + '"'), "types"),
        (CARDS.replace('"barrel"', '"\\u001b[2J"'), "types"),
    ],
)
def test_odd_data_files_get_a_short_message(tmp_path, content, words):
    path = tmp_path / "odd.toml"
    path.write_text(content)
    with pytest.raises(ValueError, match=words) as caught:
        Cacti(cards=path)
    assert "odd.toml" in str(caught.value)
    assert len(str(caught.value)) < 1000
    assert str(caught.value).count("\n") < 4


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
    path = sealed(tmp_path / "path.json", content)
    with pytest.raises(ReplayError, match=r"played with cards='.*own.toml'; pass data="):
        Replay.load(path)
    assert Replay.load(path, data=own_cards) == replay
    content["options"]["cards"] = "/dev/zero"
    with pytest.raises(ReplayError, match="pass data="):
        Replay.load(sealed(path, content))


def test_a_replay_names_no_code(tmp_path, trap):
    replay = record(make("pig:Pig", goal=20), [RandomPolicy(), RandomPolicy(1)])
    path = tmp_path / "game.json"
    replay.save(path)
    content = json.loads(path.read_text())
    assert content["game"] == "pig"
    if "pig" not in __import__("garden_core").list_games():
        with pytest.raises(ReplayError, match="unknown game 'pig'"):
            Replay.load(path)
    assert Replay.load(path, game="pig:Pig") == replay
    assert Replay.load(path, game=type(replay.game)) == replay
    with pytest.raises(ReplayError, match="it is a game of 'pig', not of mars"):
        Replay.load(path, game="mars")
    forged = sealed(tmp_path / "forged.json", content | {"game": "trap:Pig"})
    with pytest.raises(ReplayError, match=r"it names code, 'trap:Pig'; pass game="):
        Replay.load(forged)
    assert not trap.exists()


def test_a_path_of_this_machine_does_not_leave_it(tmp_path):
    """Files and messages hold a data file's name, and its content where it is needed."""
    own = tmp_path / "own.toml"
    own.write_text(PACKAGED.read_text())
    game = make("cacti", cards=own)
    assert game.option_values["cards"] == str(own)
    assert game.shown_options == {**make("cacti").option_values, "cards": "own.toml"}
    replay = record(game, [RandomPolicy(1), RandomPolicy(2)])
    assert str(tmp_path) not in json.dumps(replay.content())
