"""Files from strangers name no code and open no other files; code is named by the caller alone."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cacti_env import Cacti
from garden_core import Batch, make
from garden_core.data import LIMIT, DataFile
from garden_core.policies import GreedyPolicy, RandomPolicy
from garden_core.replay import LIMIT as REPLAY_LIMIT
from garden_core.replay import Replay, ReplayError, record

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
        "/dev/zero": "not a regular file", pipe: "not a regular file", folder: "Is a directory",
        tmp_path / "missing": "No such file", "a\0b": "null",
    }  # fmt: skip
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


MARK = "import pathlib\npathlib.Path({!r}).touch()\n"


@pytest.fixture
def trap(tmp_path, monkeypatch) -> Path:
    """A module `trap` on the path that leaves a mark when it is imported: the mark."""
    mark = tmp_path / "mark"
    (tmp_path / "trap.py").write_text(MARK.format(str(mark)) + "from pig import Pig\n")
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("trap", None)
    return mark


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


# --- runs ---

FAST = [
    "--steps", "256", "--envs", "8", "--rollout", "16", "--minibatches", "2", "--hidden", "8", "--eval-games", "0",
    "--threads", "1", "--panel-games", "2", "--evaluations", "1",
]  # fmt: skip


def command(*arguments, cwd=ROOT, **environment):
    return subprocess.run(
        [sys.executable, "-m", "garden_agents", *map(str, arguments)],
        env={**os.environ, **environment}, cwd=cwd, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


@pytest.fixture(scope="module")
def own_run(tmp_path_factory) -> Path:
    """A run on a game of one's own, without packaging."""
    pytest.importorskip("sb3_contrib")
    folder = tmp_path_factory.mktemp("runs") / "pig"
    done = command(
        "train",
        "pig:Pig",
        "--run",
        folder,
        "--panel",
        "random",
        *FAST,
        PYTHONPATH=str(ROOT / "examples"),
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_a_game_of_ones_own_is_trained_played_and_compared(own_run, tmp_path):
    assert (own_run / "game.json").is_file()
    path = {"PYTHONPATH": str(ROOT / "examples")}
    arena = command(
        "arena", "pig:Pig", "random", own_run, "--games", "4", "--processes", "2", "--output",
        tmp_path / "arena.json", **path,
    )  # fmt: skip
    assert arena.returncode == 0, arena.stderr
    assert "random" in arena.stdout
    assert "garden arena pig:Pig random" in json.loads((tmp_path / "arena.json").read_text())["command"]
    saved = tmp_path / "game.json"
    for seats, more in ((["random", "greedy"], ["--save", saved]), (["human", "greedy"], [])):
        played = command("play", "pig:Pig", "--seats", *seats, *more, **path)
        assert played.returncode == 0, played.stderr
    assert Replay.load(saved, game="pig:Pig").game.name == "pig"


def test_resume_runs_no_code_that_the_config_names(own_run, trap):
    """Its game and its panel must be named by the caller too; a pickle is no checkpoint."""
    from garden_agents.training.sb3 import Arguments, train

    config = own_run / "config.toml"
    before = config.read_text()
    try:
        config.write_text(before.replace("pig:Pig", "trap:Pig"))
        with pytest.raises(
            ValueError, match="names code as its game: to run it, give 'trap:Pig' on the command"
        ):
            train(Arguments(resume=own_run))
        config.write_text(before.replace('"random",', '"random", "trap:Pig",'))
        assert "trap" in config.read_text()
        with pytest.raises(ValueError, match="names code, networks or long searches in its panel"):
            train(Arguments(game="pig:Pig", resume=own_run))
    finally:
        config.write_text(before)
    assert not trap.exists()
    with pytest.raises(ValueError, match="give 'pig:Pig' on the command line too"):
        train(Arguments(resume=own_run))
    train(Arguments(game="pig:Pig", resume=own_run))


class _Bomb:
    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_no_file_of_a_run_is_unpickled(own_run, tmp_path):
    from garden_agents.training.sb3 import Arguments, train

    mark = tmp_path / "mark"
    bomb = pickle.dumps(_Bomb(mark))
    for name in ("checkpoint.safetensors", "config.toml", "metrics.csv", "evaluations.csv"):
        before = (own_run / name).read_bytes()
        try:
            (own_run / name).write_bytes(bomb)
            with pytest.raises(ValueError, match=name):
                train(Arguments(game="pig:Pig", resume=own_run))
        finally:
            (own_run / name).write_bytes(before)
    path = tmp_path / "network.safetensors"
    path.write_bytes(bomb)
    done = command("garden_agents.evaluation.arena", "cacti", "random", path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
    for kind in (Replay.load, lambda file: make("cacti", cards=file)):
        with pytest.raises(ValueError, match="network"):
            kind(path)
    assert not mark.exists()


@pytest.mark.parametrize("name", ["config.toml", "checkpoint.safetensors", "evaluations.csv"])
def test_damaged_files_of_a_run_end_in_one_line(own_run, tmp_path, name):
    folder = tmp_path / "run"
    folder.mkdir()
    for file in ("config.toml", "checkpoint.safetensors", "metrics.csv", "evaluations.csv"):
        (folder / file).write_bytes((own_run / file).read_bytes())
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2] + b"\0\xff[[\n")
    done = command("train", "pig:Pig", "--resume", folder, PYTHONPATH=str(ROOT / "examples"))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.strip().splitlines()[-1].startswith(f"error: {folder / name} is")


@pytest.mark.parametrize("name", ["train", "train --method expert-iteration", "arena", "play"])
def test_a_full_disk_takes_one_line(name, tmp_path):
    """Files may have 300 bytes, and none is left in part."""
    pytest.importorskip("sb3_contrib")
    resource = pytest.importorskip("resource")
    training = ["--run", tmp_path / "run", "--eval-games", "0", "--panel", "random", "--panel-games", "2"]
    arguments = {
        "train": training,
        "train --method expert-iteration": training,
        "arena": [
            "random",
            "greedy",
            "--games",
            "4",
            "--processes",
            "1",
            "--output",
            tmp_path / "arena.json",
        ],
        "play": ["--seats", "greedy", "greedy", "--save", tmp_path / "game.json"],
    }
    done = subprocess.run(
        [sys.executable, "-m", "garden_agents", *name.split(), "cacti", *map(str, arguments[name])],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300)),
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert "Traceback" not in done.stderr
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("error: ")
    assert last.endswith(": File too large")
    left = {path.name for path in tmp_path.rglob("*") if path.is_file() and "tfevents" not in path.name}
    assert left <= {"arena.games.jsonl"}


# --- opponents by name ---


def first_legal(game, seed):
    """An agent by import path: `test_strangers:first_legal`."""
    return lambda batch, rows: batch.action_mask[rows].argmax(1)


@pytest.mark.parametrize("name", ["mcts:4", "ppo", "test_strangers:first_legal", "run"])
def test_any_agent_by_name_is_an_opponent(name, tmp_path):
    pytest.importorskip("sb3_contrib")
    import gymnasium

    import cacti_env
    from garden_core.interfaces.gymnasium_env import VectorEnv
    from garden_core.interfaces.sb3 import GardenVecEnv

    if name == "run":
        shipped = Path(cacti_env.__file__).parent / "networks" / "2.safetensors"
        (tmp_path / "network.safetensors").write_bytes(shipped.read_bytes())
        name = str(tmp_path)
    env = gymnasium.make("garden/Cacti-v0", opponents=name)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    for vector in (
        VectorEnv("cacti", num_envs=3, opponents=["random", name]),
        GardenVecEnv("cacti", 3, name),
    ):
        vector.reset()
        for _ in range(3):
            vector.step(vector.action_masks().argmax(1))


def test_without_the_agents_the_message_says_what_to_install(monkeypatch):
    import gymnasium

    from garden_core import plugins

    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    with pytest.raises(ValueError, match=r"no agent 'ppo': .*pip install --editable '\.\[train\]'"):
        gymnasium.make("garden/Cacti-v0", opponents="ppo")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda batch, rows: [], r"shape \(\d,\), one for each row, not \(0,\)"),
        (lambda batch, rows: batch.action_mask[rows].argmax(1)[:-1], "one for each row"),
        (
            lambda batch, rows: batch.action_mask[rows].argmax(1).astype(float),
            "must be integers, not float64",
        ),
        (lambda batch, rows: np.ones(len(rows), bool), "must be integers, not bool"),
        (lambda batch, rows: 0, r"one for each row, not \(\)"),
        (lambda batch, rows: batch.action_mask[rows].argmax(1)[:, None], "one for each row"),
        (lambda batch, rows: None, "one for each row"),
        (lambda batch, rows: ["grow barrel"] * len(rows), "must be integers, not <U"),
        (lambda batch, rows: [[0], [0, 0]], "inhomogeneous"),
        (lambda batch, rows: batch.action_mask[rows].argmin(1), "is illegal"),
        (lambda batch, rows: np.full(len(rows), 10**6), "does not exist"),
    ],
)
def test_wrong_answers_of_policies_are_named_and_change_nothing(answer, words):
    from garden_agents.evaluation.matches import alone, play

    from garden_core.learner import Learner

    class Wrong:
        """Answers rightly until it is told otherwise."""

        right = True

        def __call__(self, batch, rows):
            return batch.action_mask[rows].argmax(1) if self.right else answer(batch, rows)

    policy = Wrong()
    learner = Learner(Cacti(), 4, [policy], seat=0)
    learner.reset(2)
    before = {
        n: a.copy() for o in (learner, learner.batch) for n, a in vars(o).items() if isinstance(a, np.ndarray)
    }
    policy.right = False
    actions = learner.action_mask.argmax(1)
    with pytest.raises(ValueError, match=rf"opponent 0 \(.*Wrong\): .*{words}"):
        learner.step(actions)
    after = {n: a for o in (learner, learner.batch) for n, a in vars(o).items() if isinstance(a, np.ndarray)}
    for name, value in before.items():
        assert value.tobytes() == after[name].tobytes(), name
    policy.right = True
    learner.step(actions)
    policy.right = False
    for played in (
        lambda: play(Cacti(), [policy, policy], alone(4, 2)),
        lambda: record(Cacti(), [policy, policy]),
    ):
        with pytest.raises(ValueError, match=rf"Wrong: .*{words}"):
            played()


def test_a_batch_takes_a_games_name():
    assert Batch("cacti", 2).game == Cacti()
    with pytest.raises(ValueError, match="unknown game 'chess'"):
        Batch("chess", 2)
