"""Runs from strangers name no code and open no other files; a full disk and damaged files take one line."""

import functools
import json
import re
import shutil
import subprocess

import pytest
from pig import Pig
from processes import ROOT, garden_here, started

from garden_core import Replay

FAST = "--steps 256 --envs 8 --rollout 16 --minibatch 64 --hidden 8 --final-games 0 --threads 1 --evaluation-games 6"


@pytest.fixture(scope="module")
def own_run(tmp_path_factory):
    """Train on a game outside of any package; return the run's folder."""
    folder = tmp_path_factory.mktemp("runs") / "pig"
    assert garden_here(f"train pig:Pig {FAST} --run", folder)[1] is None
    return folder


def test_a_game_without_a_package_is_trained_played_and_compared(own_run, tmp_path):
    assert (own_run / "game.json").is_file()
    output = tmp_path / "arena.json"
    words = "arena pig:Pig --games 4 --processes 2 random"
    printed, message = garden_here(words, own_run, "--output", output)
    assert (message, "random" in printed) == (None, True)
    assert "garden arena pig:Pig random" in json.loads(output.read_text("utf-8"))["command"]
    saved = tmp_path / "game.json"
    for seats in (["random greedy --save", saved], ["human greedy"]):
        assert garden_here(f"play pig:Pig --seats {seats[0]}", *seats[1:])[1] is None
    assert Replay.load(saved, game="pig:Pig").game.name == "pig"


def test_a_report_of_a_game_without_a_package(own_run, tmp_path):
    output = tmp_path / "report.html"
    assert garden_here("report --games 3 --game pig:Pig --output", output, own_run)[1] is None
    text = output.read_text("utf-8")
    assert "3 of the best network" in text
    assert all(f"<td>{label}</td>" in text for label in Pig().labels)
    assert "has no picture" in text


def test_resume_runs_no_code_that_the_config_names(own_run, trap, tmp_path):
    """Its game and its agents must be named by the caller too."""
    from garden_agents.training.ppo import Arguments, train

    folder = shutil.copytree(own_run, tmp_path / "run")
    config, before = folder / "config.toml", (own_run / "config.toml").read_text("utf-8")

    def refused(message, *changes, **arguments):
        config.write_text(
            functools.reduce(lambda text, change: text.replace(*change), changes, before), "utf-8"
        )
        assert "trap" in config.read_text("utf-8")
        with pytest.raises(ValueError, match=message):
            train(Arguments(resume=folder, **arguments))

    refused("names code as its game: to run it, give 'trap:Pig' on the command", ("pig:Pig", "trap:Pig"))
    agents = ("pool_agents = []", 'pool_agents = ["trap:Pig"]'), ("share = 0.0", "share = 0.5")
    refused("names code, networks or long searches in --pool-agents", *agents, game="pig:Pig")
    assert not trap.exists()
    config.write_text(before, "utf-8")
    with pytest.raises(ValueError, match="give 'pig:Pig' on the command line too"):
        train(Arguments(resume=folder))
    train(Arguments(game="pig:Pig", resume=folder))


SHORT = "--final-games 0 --evaluation-games 6 --run"


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("train", SHORT),
        ("arena", "random greedy --games 4 --processes 1 --output"),
        ("play", "--seats greedy greedy --save"),
    ],
)
def test_a_full_disk_takes_one_line(command, words, tmp_path):
    """Files may have 300 bytes, and none is left in part."""
    resource = pytest.importorskip("resource")
    process = started(
        f"{command} cacti {words}",
        tmp_path / "written.json",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 1, errors
    assert "Traceback" not in errors
    assert re.search(r"^error: .*: File too large\n\Z", errors, re.MULTILINE)
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and "tfevents" not in path.name}
    assert left <= {"written.games.jsonl"}
