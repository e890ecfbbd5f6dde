"""Data files that strangers made or that were damaged: a game that can be played, or a ValueError that names the file."""

import tomllib

import fuzzing
import numpy as np
import pytest
import tomli_w
from data_tools import written
from playing import positions
from variants import own_file

from cacti_env.cards import PACKAGED as CACTI
from garden_core import list_games, make
from garden_core.files.data import LIMIT, DataFile
from garden_core.registry import game_class

READING = [name for name in list_games() if any(option.is_file for option in game_class(name).options)]
FILES = {name: own_file(name) for name in READING}
games = pytest.mark.parametrize("name", [name for name in READING if FILES[name][1] is not None])


def test_printed_data_are_found():
    """Other packages' games may have no file."""
    assert FILES["cacti"][1] == CACTI


def made(name, file):
    """Return the game with a file, or None after an error that names the file."""
    known = file.name if isinstance(file, DataFile) else file
    return fuzzing.outcome(lambda: make(name, **{FILES[name][0]: file}), ValueError, names=known)[0]


def check_playable(game, seed):
    """Play a game to its end; all that people are shown is plain text."""
    *_, last = positions(game, seed)
    assert last["decisions"] <= game.max_game_length
    assert np.isfinite(last["rewards"]).all()
    assert all(label.isprintable() and len(label) < 100 for label in game.labels)
    drawn = game.text(last) + game.svg(last)
    assert not [c for c in drawn if not c.isprintable() and c not in "\n\xa0"]
    assert "<script" not in drawn.partition("<svg")[2]


def loader(name):
    """Return a function that makes and plays the game of a file, or returns None for a refused one."""

    def load(path):
        game = made(name, path)
        if game is not None:
            check_playable(game, 1)
        return game

    return load


@games
@fuzzing.each_block
def test_changed_content(name, numbers, tmp_path):
    content = tomllib.loads(FILES[name][1].read_text("utf-8"))
    path = tmp_path / "data.toml"
    assert fuzzing.load_changed(
        loader(name), path, content, lambda changed: tomli_w.dumps(changed).encode(), numbers
    )


@games
@fuzzing.each_block
def test_damaged_bytes(name, numbers, tmp_path):
    fuzzing.load_damaged(loader(name), tmp_path / "data.toml", FILES[name][1].read_bytes(), numbers)


@games
def test_no_file_and_pickles(name, tmp_path):
    fuzzing.load_no_files(
        lambda path: None if path.name == "null" else made(name, path), tmp_path / "data.toml"
    )
    assert fuzzing.outcome(lambda: make(name, **{FILES[name][0]: "a\0b"}), ValueError)[1] is not None


def grown(start, part, end=""):
    """As much as fits into a data file."""
    return start + part * ((LIMIT - len(start) - len(end)) // len(part)) + end


BOMBS = {
    "dotted key": grown("a", ".a", "=1"),
    "dotted header": grown("[a", ".a", "]"),
    "dotted header of a list": grown("[[a", ".a", "]]"),
    "dotted keys in an inline table": "x={" + ".".join("a" * 450_000) + "=1}",
    "headers": "\n".join(f"[a{number}]" for number in range(100_000)),
    "lists": grown("a=", "["),
    "inline tables": grown("a=", "{a="),
    "digits": grown("a=", "1"),
    "digits in a bonus": "types=['a','b']\ncount=[9,9]\nbonus=[0x" + "f" * 9000 + ",1]",
    "escapes": grown('a="', "\\u0041", '"'),
    "comments": grown("", "#a\n"),
    "time": grown("a=", "1979-05-27T07:32:00.9"),
    "name": grown("types=['", "x", "','y']"),
    "key with control characters": '"\\u001b[2J\\n\\n\\n\\n\\n\\n\\n" = 1',
}


@pytest.mark.parametrize("kind", BOMBS)
def test_bombs_end_soon_with_a_message(kind):
    assert made("cacti", DataFile("a file", BOMBS[kind])) is None


@games
def test_content_within_other_files_is_held_to_the_same_limits(name):
    text = FILES[name][1].read_text("utf-8")
    for content in (text + "#" * LIMIT, text + "#\ud800", text + "\0"):
        assert made(name, DataFile("a file", content)) is None


@pytest.mark.parametrize(
    "name", ["\x1b[2J", "a\0b", "a\u202eb", "a\u2028b", "a\u200bb", "x" * 10_000, "\x7f"]
)
def test_names_are_plain_text(name, tmp_path):
    content = tomllib.loads(CACTI.read_text("utf-8"))
    content["types"][0] = name
    assert made("cacti", written(tmp_path, content)) is None
