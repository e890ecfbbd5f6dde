"""`garden replay`: the moves, one position, step by step; pages, films and pictures."""

import base64
import gzip
import json
import re

import numpy as np
import pytest
from garden_agents.commands import main
from garden_agents.play import recorded
from PIL import Image

from garden_core import RandomPolicy, Replay, make, record


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A game of Cacti in a file, and its replay."""
    path = tmp_path_factory.mktemp("replay") / "game.json"
    replay = record(make("cacti"), [RandomPolicy(1), RandomPolicy(2)], 5)
    replay.save(path)
    return path, replay


def test_all_moves(saved, capsys):
    path, replay = saved
    main(["replay", str(path)])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Cacti: ")
    assert len(lines) == len(replay.actions) + 2
    assert all(label in line for label, line in zip(replay.actions, lines[1:], strict=False))


def test_a_page_with_estimates(saved, tmp_path):
    path, replay = saved
    main(["replay", str(path), "--page", str(tmp_path / "game.html"), "--judge", "network"])
    assert Replay.load(tmp_path / "game.html").actions == replay.actions
    packed = re.search(r'id="film">([^<]*)<', (tmp_path / "game.html").read_text())[1]
    estimates = np.array(json.loads(gzip.decompress(base64.b64decode(packed)))["estimates"])
    assert estimates.shape == (len(replay.actions) + 1, 2)
    np.testing.assert_allclose(estimates.sum(1), 1, atol=2e-3)
    winner = int(np.argmax(replay.scores))
    assert estimates[-2, winner] > 0.9


def test_a_film_and_a_picture(saved, tmp_path):
    path, _ = saved
    film, picture = tmp_path / "game.gif", tmp_path / "end.png"
    main(["replay", str(path), "--film", str(film), "--picture", str(picture), "--width", "200", "--dark"])
    for file in (film, picture):
        with Image.open(file) as found:
            assert found.width == 200


def test_step_by_step(saved, capsys, monkeypatch):
    path, replay = saved
    keys = iter([""] * 3)

    def enter(_):
        try:
            return next(keys)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", enter)
    main(["replay", str(path), "--steps", "--seat", "0"])
    shown = capsys.readouterr().out
    assert shown.count("Cacti deck: ") == 4
    assert replay.actions[2] in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--judge", "greedy", "--page", "game.html"],
            "must be a network that values every seat, not greedy",
        ),
        (["--film", "game.avi"], r"a film is \.gif or \.mp4"),
        (["--picture", "game.jpg"], r"a picture is \.svg or \.png"),
        (["--position", "999"], "--position must be"),
    ],
)
def test_wrong_arguments(saved, words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=message):
        main(["replay", str(saved[0]), *words])
    assert not list(tmp_path.iterdir())


def test_without_the_package_for_mp4(saved, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(SystemExit, match="pip install av"):
        recorded.main(recorded.Arguments(saved[0], film=tmp_path / "game.mp4"))
