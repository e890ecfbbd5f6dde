"""Replays that strangers made or that were damaged: a replay that plays as it says, or a ReplayError that names the file."""

import json
import random

import fuzzing
import pytest
import tomli_w
from cacti_tools import made_up
from sealed import sealed_replay
from variants import GAMES, shortened

from garden_core import GreedyPolicy, RandomPolicy, Replay, ReplayError, make, record
from garden_core.files.data import DataFile
from garden_core.recorded.replay import LIMIT

LONG = 25
"""Decisions of a replay; more would make its thousands of copies slow to check."""


OWN = "cacti with own cards"


@pytest.fixture(scope="module", params=[*GAMES, OWN])
def content(request, tmp_path_factory):
    """The content of a replay's file."""
    if request.param == OWN:
        game = make("cacti", cards=DataFile("cards.toml", tomli_w.dumps(made_up(3))))
    else:
        game = shortened(request.param, LONG)
    path = tmp_path_factory.mktemp("replay") / "game.json"
    players = [GreedyPolicy(), *[RandomPolicy()] * (game.num_players - 1)]
    record(game, players, seed=4).save(path)
    return json.loads(path.read_text("utf-8"))


def loaded(path):
    """Load a file; what comes out can be played, shown, kept and loaded again."""
    replay, _ = fuzzing.outcome(lambda: Replay.load(path), ReplayError, names=path.name)
    if replay is not None:
        again = path.with_name("again.json")
        replay.save(again)
        assert Replay.load(again).actions == replay.actions
        assert all(label.isprintable() for label in replay.actions)
    return replay


of_own_cards = pytest.mark.parametrize("content", [OWN], indirect=True)


@fuzzing.each_block
def test_changed_content_with_a_checksum_that_fits(content, numbers, tmp_path):
    fuzzing.load_changed(loaded, tmp_path / "game.json", content, sealed_replay, numbers)


@of_own_cards
@fuzzing.each_block
def test_changed_data_within(content, numbers, tmp_path):
    path = tmp_path / "game.json"
    text = content["data_files"]["cards"].encode()
    for number in numbers:
        changed = fuzzing.damaged(text, random.Random(number)).decode("utf-8", "surrogateescape")
        path.write_bytes(sealed_replay(content | {"data_files": {"cards": changed}}))
        loaded(path)


@fuzzing.each_block
def test_damaged_bytes(content, numbers, tmp_path):
    path, whole = tmp_path / "game.json", sealed_replay(content)
    path.write_bytes(whole)
    plain = loaded(path)

    def same_or_refused(path):
        assert loaded(path) in (None, plain)

    fuzzing.load_damaged(same_or_refused, path, whole, numbers)


def test_no_file_and_pickles(tmp_path):
    fuzzing.load_no_files(loaded, tmp_path / "game.json")
    assert fuzzing.outcome(lambda: Replay.load("a\0b"), ReplayError)[1] is not None


CLAIMS = fuzzing.RECORD_CLAIMS | {
    "a path with control characters": {
        "options": {"cards": "\x1b[2J\n" * 9},
        "data_files": {"cards": "a="},
        "game": "cacti",
    },
    "many actions": {"actions": ["pass"] * 1_000_000},
    "a long action": {"actions": ["\x1b[2J" * 100_000]},
    "many scores": {"scores": [10**300] * 10_000},
    "an end": {"ended": "\x1b[2J" * 1000},
}


@pytest.mark.parametrize("content", [GAMES[0], OWN], indirect=True)
@pytest.mark.parametrize("claim", CLAIMS)
def test_false_claims(content, claim, tmp_path):
    (tmp_path / "game.json").write_bytes(sealed_replay(content | CLAIMS[claim]))
    assert loaded(tmp_path / "game.json") is None


@of_own_cards
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
        claim = {"game": "cacti", "options": {"cards": "x"}, "data_files": {"cards": bomb}}
        path.write_bytes(sealed_replay(content | claim))
    else:
        path.write_text(texts[kind], "utf-8")
    assert loaded(path) is None
