"""`garden replay`: the moves, one position, step by step; pages, films and pictures."""

import base64
import gzip
import json
import re
import sys

import numpy as np
import pytest
from PIL import Image
from processes import garden_here

from garden_core import RandomPolicy, Replay, make, record


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A game of Cacti in a file, and its replay."""
    path = tmp_path_factory.mktemp("replay") / "game.json"
    replay = record(make("cacti"), [RandomPolicy(1), RandomPolicy(2)], 5, ["random", "another"])
    replay.save(path)
    return path, replay


def test_all_moves(saved):
    path, replay = saved
    lines = garden_here("replay", path)[0].splitlines()
    assert lines[0].startswith("Cacti: ")
    assert lines[1:3] == ["player_0: random", "player_1: another"]
    assert len(lines) == len(replay.actions) + 4
    assert all(label in line for label, line in zip(replay.actions, lines[3:], strict=False))


def test_a_page_with_estimates(saved, tmp_path):
    path, replay = saved
    garden_here("replay --judge network --page", tmp_path / "game.html", path)
    assert Replay.load(tmp_path / "game.html").actions == replay.actions
    packed = re.search(r'id="film">([^<]*)<', (tmp_path / "game.html").read_text("utf-8"))[1]
    estimates = np.array(json.loads(gzip.decompress(base64.b64decode(packed)))["estimates"])
    assert estimates.shape == (len(replay.actions) + 1, 2)
    np.testing.assert_allclose(estimates.sum(1), 1, atol=2e-3)
    winner = int(np.argmax(replay.scores))
    assert estimates[-2, winner] > 0.9


def test_a_film_and_a_picture(saved, tmp_path):
    film, picture = tmp_path / "game.gif", tmp_path / "end.png"
    printed, _ = garden_here("replay --width 200 --dark --film", film, "--picture", picture, saved[0])
    assert len(printed.splitlines()) == 4, "moves are printed only without a page, film or picture"
    for file in (film, picture):
        with Image.open(file) as image:
            assert image.width == 200


def test_step_by_step(saved):
    path, replay = saved
    shown, _ = garden_here("replay --steps --seat 0", path, typed="\n" * 3)
    assert shown.count("Cacti deck: ") == 4
    assert replay.actions[2] in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--judge greedy --page game.html", "must be a network that values every seat, not greedy"),
        ("--film game.avi", "a film is .gif or .mp4"),
        ("--picture game.jpg", "a picture is .svg or .png"),
        ("--position 999", "--position must be"),
    ],
)
def test_wrong_arguments(saved, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert message in garden_here(f"replay {words}", saved[0])[1]
    assert not list(tmp_path.iterdir())


def test_without_the_package_for_mp4(saved, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    assert "pip install av" in garden_here("replay --film", tmp_path / "game.mp4", saved[0])[1]
