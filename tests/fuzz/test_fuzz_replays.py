"""Replays that strangers made or that were damaged: a replay that plays as it says, or a ReplayError that names the file."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import fuzzing
import pytest
import tomli_w
from cacti_tools import made_up
from variants import GAMES, shortened

from garden_core import make
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.errors import ReplayError
from garden_core.files.data import DataFile
from garden_core.files.replay import LIMIT, Replay, record
from garden_core.interfaces.pettingzoo_env import GardenEnv

LONG = 25
"""Decisions of a replay; more would make its thousands of copies slow to check."""


OWN = "cacti with own cards"


@pytest.fixture(scope="module", params=[*GAMES, OWN])
def content(request, tmp_path_factory) -> dict[str, Any]:
    """What a replay's file holds, but for its checksum."""
    if request.param == OWN:
        game = make("cacti", cards=DataFile("cards.toml", tomli_w.dumps(made_up(3))))
    else:
        game = shortened(request.param, LONG)
    path = tmp_path_factory.mktemp("replay") / "game.json"
    players = [GreedyPolicy(), *[RandomPolicy()] * (game.num_players - 1)]
    record(game, players, seed=4).save(path)
    found = json.loads(path.read_text())
    found.pop("checksum")
    return found


def write(path: Path, content: Any) -> None:
    """Write a replay's content with a checksum that fits."""
    if isinstance(content, dict):
        text = json.dumps(content, sort_keys=True)
        content = content | {"checksum": hashlib.sha256(text.encode()).hexdigest()}
    path.write_text(json.dumps(content))


def loaded(path: Path) -> tuple[Replay | None, BaseException | None]:
    """Load a file; what comes out can be played, shown, kept and loaded again."""
    replay, error = fuzzing.outcome(lambda: Replay.load(path), ReplayError, names=path.name)
    if replay is not None:
        env = GardenEnv(replay.game)
        env.reset(0)
        env.set_state(env.get_state())
        again = path.with_name("again.json")
        replay.save(again)
        assert Replay.load(again).actions == replay.actions
        assert all(label.isprintable() for label in replay.actions)
    return replay, error


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_changed_content_with_a_checksum_that_fits(content, numbers, tmp_path):
    path = tmp_path / "game.json"
    for number in numbers:
        rng = random.Random(number)
        try:
            write(path, fuzzing.mutated(content, rng, faults=number % 2))
        except (ValueError, RecursionError, TypeError, AttributeError):  # nothing that JSON can hold
            continue
        loaded(path)


@pytest.mark.parametrize("content", [OWN], indirect=True)
@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_changed_data_within(content, numbers, tmp_path):
    path = tmp_path / "game.json"
    text = content["data_files"]["cards"].encode()
    for number in numbers:
        changed = fuzzing.damaged(text, random.Random(number)).decode("utf-8", "surrogateescape")
        write(path, content | {"data_files": {"cards": changed}})
        loaded(path)


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_damaged_bytes(content, numbers, tmp_path):
    path = tmp_path / "game.json"
    write(path, content)
    whole, plain = path.read_bytes(), loaded(path)[0]
    for number in numbers:
        path.write_bytes(fuzzing.damaged(whole, random.Random(number)))
        replay, _ = loaded(path)
        assert replay is None or replay == plain


def test_no_file_and_pickles(tmp_path):
    for path in fuzzing.special_paths(tmp_path):
        assert (
            fuzzing.outcome(lambda path=path: Replay.load(path), ReplayError, names=path.name)[1] is not None
        )
    for content in fuzzing.pickles(tmp_path / "marker"):
        (tmp_path / "game.json").write_bytes(content)
        assert loaded(tmp_path / "game.json")[1] is not None
    assert not (tmp_path / "marker").exists()
    assert fuzzing.outcome(lambda: Replay.load("a\0b"), ReplayError)[1] is not None


CLAIMS: dict[str, dict[str, Any]] = {
    "a path": {"options": {"cards": "/dev/zero"}, "game": "cacti", "data_files": {}},
    "a long path": {"options": {"cards": "x" * 100_000}, "game": "cacti", "data_files": {}},
    "a path with control characters": {
        "options": {"cards": "\x1b[2J\n" * 9},
        "data_files": {"cards": "a="},
        "game": "cacti",
    },
    "code as game": {"game": "os:system"},
    "long game": {"game": "x" * 100_000},
    "control characters": {"game": "\x1b[2J\n\n\n\n\n\n\n"},
    "many options": {"options": {f"option {i}": i for i in range(50_000)}},
    "a long option": {"options": {"\x1b" * 50_000: 1}},
    "a long key": {"\x1b[2J" * 50_000: 1},
    "huge numbers": {"options": {"num_players": 10**4000}},
    "many players": {"options": {"num_players": 2**31 - 1}},
    "a huge cap": {"options": {"max_decisions": 2**31 - 1}},
    "a cap beyond": {"options": {"max_decisions": 2**31}},
    "a huge seed": {"seed": 10**4000},
    "a negative seed": {"seed": -1},
    "a seed that is none": {"seed": True},
    "many actions": {"actions": ["pass"] * 1_000_000},
    "a long action": {"actions": ["\x1b[2J" * 100_000]},
    "many scores": {"scores": [10**300] * 10_000},
    "an end": {"ended": "\x1b[2J" * 1000},
    "a digest": {"data": "\x1b[2J\n" * 1000},
    "a format": {"format": "\x1b[2J\n" * 1000},
}


@pytest.mark.parametrize("content", [GAMES[0], OWN], indirect=True)
@pytest.mark.parametrize("claim", CLAIMS)
def test_false_claims(content, claim, tmp_path):
    write(tmp_path / "game.json", content | CLAIMS[claim])
    assert loaded(tmp_path / "game.json")[1] is not None


@pytest.mark.parametrize("content", [OWN], indirect=True)
@pytest.mark.parametrize("kind", ["lists", "objects", "digits", "text", "keys", "data"])
def test_bombs_end_soon_with_a_message(content, kind, tmp_path):
    path, n = tmp_path / "game.json", LIMIT - 200_000
    keyed = "".join(f'"{i}":0,' for i in range(n // 12))
    texts = {
        "lists": "[" * n,
        "objects": '{"a":' * (n // 5),
        "digits": "9" * n,
        "text": json.dumps("\\" * (n // 3)),
        "keys": f'{{{keyed}"format":0}}',
    }
    if kind == "data":
        bomb = "a" + ".a" * (n // 2 - 10_000) + "=1"
        write(path, content | {"game": "cacti", "options": {"cards": "x"}, "data_files": {"cards": bomb}})
    else:
        path.write_text(texts[kind])
    assert loaded(path)[1] is not None
