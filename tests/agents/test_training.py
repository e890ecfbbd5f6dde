"""Training by PPO: what runs leave, how they are interrupted, resumed and refused."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import msgspec
import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
import tyro
from garden_agents.evaluation.report import page
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.network_agent import NetworkAgent, shipped
from garden_agents.registry import load_agent
from garden_agents.training import expert_iteration as expert
from garden_agents.training import ppo
from garden_agents.training.arguments import METHODS, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, save
from garden_agents.training.pool import OpponentPool, SelfPlayVecEnv
from garden_agents.training.run_folder import Interrupted, Run
from garden_agents.training.sb3 import Arguments, load_checkpoint, new_model, save_checkpoint, train
from own_agents import change_weights
from processes import environment, garden_here
from small_runs import LEFT, SHORT, SMALL, rows_of, tiny, tiny_expert

from garden_core.files.replay import Replay
from mars_env import Mars


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> Path:
    """A run of a few thousand decisions."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    return train(tiny(run=folder))


# --- training ---


def test_a_run_leaves_everything(small_run):
    left = {path.name for path in small_run.iterdir()}
    assert {name for name in left if "tfevents" not in name} == LEFT
    assert len(left) == len(LEFT) + 1
    config = tomllib.loads((small_run / "config.toml").read_text())
    assert config["arguments"]["steps"] == 1024
    assert config["game"]["options"]["num_players"] == 2
    assert config["versions"]["numpy"] == np.__version__
    assert set(config["panel"]) == {"random", "greedy"}
    assert Replay.load(small_run / "game.json").ended in ("terminated", "truncated")
    results = json.loads((small_run / "evaluation.json").read_text())["results"]
    assert [r["opponent"] for r in results] == ["random", "greedy"]
    assert all(r["games"] == 6 and len(r["by_seat"]) == 2 for r in results)
    assert [int(row["decisions"]) for row in rows_of(small_run / "metrics.csv")] == [512, 1024]
    report = page(small_run, games=2)
    assert "This training is finished." in report
    assert "<dt>trainer</dt><dd>sb3</dd>" in report
    assert "<code>garden train mars --trainer sb3" in report
    assert report.count("<iframe") == 3
    assert all("<td>" in part or "<svg" in part or "<iframe" in part for part in report.split("<h2>")[1:])
    evaluations = rows_of(small_run / "evaluations.csv")
    assert list(evaluations[0]) == ["decisions", "seconds", "random", "greedy"]
    assert float(evaluations[-1]["decisions"]) == 1024
    agent = load_agent(str(small_run), Mars())
    assert agent.config["network"] == msgspec.to_builtins(SMALL)
    assert agent.config["origin"]["seed"] == 0


def test_a_finished_run_is_not_overwritten(small_run):
    with pytest.raises(SystemExit, match="--resume"):
        train(tiny(run=small_run))


def test_resume_goes_on(small_run, tmp_path):
    folder = tmp_path / "again"
    train(tiny(run=folder, eval_games=0))
    train(Arguments(resume=folder, steps=2048))
    rows = rows_of(folder / "metrics.csv")
    assert [int(row["decisions"]) for row in rows] == [512, 1024, 1536, 2048]
    assert float(rows[-1]["seconds"]) > float(rows[1]["seconds"])
    with pytest.raises(SystemExit, match="no run to resume"):
        train(Arguments(resume=tmp_path))


def test_resume_by_default_values_and_after_the_end(tmp_path):
    folder = tmp_path / "run"
    train(tiny(run=folder, steps=512, eval_games=0, evaluations=0))
    assert [row["decisions"] for row in rows_of(folder / "evaluations.csv")] == ["512.0"]
    train(Arguments(resume=folder))  # nothing is left to do, and nothing is added
    assert [row["decisions"] for row in rows_of(folder / "evaluations.csv")] == ["512.0"]
    train(Arguments(resume=folder, steps=1000))
    assert [row["decisions"] for row in rows_of(folder / "evaluations.csv")] == ["512.0", "1024.0"]


def test_an_interrupted_evaluation_is_no_training(tmp_path, monkeypatch):
    def interrupted(agent, name):
        time.sleep(0.5)
        raise Interrupted

    run = Run(tmp_path, Mars(), SMALL, ("random",), 4, 0)
    monkeypatch.setattr(run, "_rate", interrupted)
    run.begin()
    with pytest.raises(Interrupted):
        run.evaluate(new_network(Mars(), SMALL, "outcome"), 1, "outcome")
    assert run.seconds < 0.5
    assert not run.past


@pytest.mark.parametrize("kind", ["sb3", "ppo", "expert"])
def test_a_run_of_another_version_of_the_game_is_not_resumed(kind, tmp_path, monkeypatch):
    def tiny_ppo(**changes):
        return ppo.Arguments(**(SHORT | {"steps": 1000, "minibatch": 128} | changes))

    makers = {"sb3": (train, tiny), "ppo": (ppo.train, tiny_ppo), "expert": (expert.train, tiny_expert)}
    start, arguments = makers[kind]
    folder = start(arguments(run=tmp_path / "run"))
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr(Mars, "version", 1)
    with pytest.raises(
        ValueError, match="no checkpoint of this training: it is of 'mars' version 0, not of 'mars' version 1"
    ):
        start(arguments(resume=folder))
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_checkpoint_of_other_options_is_refused(tmp_path):
    network = new_network(Mars(), SMALL, "outcome")
    save(tmp_path / CHECKPOINT, Mars(), network.weights, torch.optim.Adam([torch.zeros(3)]), Progress(1, 1.0))
    check(tmp_path / CHECKPOINT, Mars(reward="margin", max_decisions=50), network.shapes)
    with pytest.raises(ValueError, match=r"it is of mars with other options or data than Mars\(peaks=1\)"):
        check(tmp_path / CHECKPOINT, Mars(peaks=1), network.shapes)


def test_a_checkpoint_of_numbers_that_are_none_is_not_written(tmp_path):
    weights = {"layer": np.zeros(3, np.float32)}
    optimizer = torch.optim.Adam([torch.zeros(3)])
    save(tmp_path / CHECKPOINT, Mars(), weights, optimizer, Progress(1, 1.0))
    before = (tmp_path / CHECKPOINT).read_bytes()
    weights["layer"][1] = np.nan
    with pytest.raises(ValueError, match=r"not finite: network\.layer"):
        save(tmp_path / CHECKPOINT, Mars(), weights, optimizer, Progress(2, 2.0))
    assert (tmp_path / CHECKPOINT).read_bytes() == before


def test_a_run_cut_off_goes_on_from_its_last_checkpoint(tmp_path):
    """What came after the checkpoint is forgotten: metrics, evaluations, time."""
    folder = tmp_path / "run"
    train(tiny(run=folder, steps=512, eval_games=0))
    with (folder / "metrics.csv").open("a") as file:
        file.write(",".join(["1024", "999"] + ["0"] * 12) + "\n")
    with pytest.raises(SystemExit, match="continue it with --resume"):
        train(tiny(run=folder))
    train(Arguments(resume=folder, steps=1024))
    rows = rows_of(folder / "metrics.csv")
    assert [row["decisions"] for row in rows] == ["512", "1024"]
    assert float(rows[1]["seconds"]) < 900
    (folder / CHECKPOINT).unlink()
    with pytest.raises(SystemExit, match=r"no run to resume: checkpoint\.safetensors missing"):
        train(Arguments(resume=folder))


def test_the_origin_tells_the_command(small_run, tmp_path):
    command = NetworkAgent.load(small_run, Mars()).config["origin"]["command"]
    assert command.startswith("garden train mars ")
    assert "--steps 1024 --envs 16 " in command
    assert "--panel random greedy --evaluations 2" in command
    assert "--run" not in command


@pytest.mark.parametrize("separate", [True, False])
def test_the_command_can_be_given_again(separate, tmp_path):
    _, arguments, _, command = open_run(tiny(run=tmp_path, separate_values=separate))
    assert ("--separate-values" in command) == separate
    words = command.removeprefix("garden train ").replace(" --trainer sb3", "").split()
    again = tyro.cli(Arguments, args=[*words, "--run", str(tmp_path)], prog="garden train")
    assert again == arguments


def test_training_begins_with_a_network(small_run, tmp_path):
    """With a learning rate of 0 it stays what it was, at another table."""
    still = {
        "learning_rate": 0.0,
        "final_learning_rate": 0.0,
        "eval_games": 0,
        "num_players": 3,
        "steps": 512,
    }
    folder = train(tiny(run=tmp_path / "run", start=small_run / "network.safetensors", **still))
    one = NetworkAgent.load(small_run, Mars()).network.parameters
    other = NetworkAgent.load(folder, Mars(num_players=3)).network.parameters
    np.testing.assert_array_equal(one, other)
    assert tomllib.loads((folder / "config.toml").read_text())["arguments"]["start"].endswith(".safetensors")
    with pytest.raises(ValueError, match=r"has the architecture .*'channels': 4"):
        train(tiny(run=tmp_path / "other", start=small_run / "network.safetensors", channels=8))


def test_training_by_time(tmp_path):
    start = time.monotonic()
    folder = train(tiny(run=tmp_path / "run", steps=None, minutes=0.03, eval_games=0))
    assert time.monotonic() - start < 60
    last = rows_of(folder / "evaluations.csv")[-1]
    assert float(last["seconds"]) == pytest.approx(1.8, abs=1)
    assert NetworkAgent.load(folder, Mars()).value_target == "outcome"


@pytest.mark.parametrize("options", [{}, {"cooperative": "true"}])
def test_training_at_tables_of_three(options, tmp_path):
    folder = train(
        tiny(run=tmp_path / "run", num_players=3, options=options | {"max_decisions": "60"}, steps=512)
    )
    evaluation = rows_of(folder / "evaluations.csv")[-1]
    assert set(evaluation) == {"decisions", "seconds"} | ({"team"} if options else {"random", "greedy"})
    assert float(evaluation.get("team", 0)) >= 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_interrupt_saves_a_checkpoint(number, tmp_path):
    folder = tmp_path / "run"
    options = [
        "--steps",
        "10_000_000",
        "--envs",
        "16",
        "--channels",
        "4",
        "--hidden",
        "16",
        "--threads",
        "1",
        "--eval-games",
        "0",
    ]
    command = [sys.executable, "-m", "garden_agents", "train", "mars", "--run", str(folder), *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, env=environment(), **pipes)
    deadline = time.monotonic() + 120
    while not (folder / "metrics.csv").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"--resume {folder}" in errors
    assert (folder / CHECKPOINT).exists()


def small_model(folder: Path, hidden: int = 16):
    """A run, a model and a pool, as training makes them, at the folder of a run."""
    game, network = Mars(), Architecture("auto", channels=4, hidden=hidden)
    pool = OpponentPool((1, 0, 0), 6)
    model = new_model(game, SelfPlayVecEnv(game, 1, pool), network)
    return Run(folder, game, network, (), 1, 0), model, pool


def test_a_full_disk_leaves_the_old_checkpoint_whole(small_run, monkeypatch):
    before = (small_run / CHECKPOINT).read_bytes()

    def full_disk(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(*small_model(small_run))
    monkeypatch.undo()
    assert (small_run / CHECKPOINT).read_bytes() == before


def test_same_seed_same_training(tmp_path):
    first, second = (train(tiny(run=tmp_path / name, eval_games=0, seed=3)) for name in "ab")
    one, other = (NetworkAgent.load(folder, Mars()).network.parameters for folder in (first, second))
    np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.slow
def test_training_learns_to_beat_random(tmp_path):
    folder = train(Arguments("mars", run=tmp_path / "run", steps=100_000, eval_games=600))
    result = json.loads((folder / "evaluation.json").read_text())["results"][0]
    assert result["interval"][0] >= 0.95


@pytest.mark.parametrize("name", ["cut", "noise", "other network", "other pool", "not finite", "missing"])
def test_damaged_checkpoints_are_explained_and_change_nothing(name, small_run, tmp_path):
    run, model, pool = small_model(tmp_path, hidden=24 if name == "other network" else 16)
    content = (small_run / CHECKPOINT).read_bytes()
    if name == "other pool":
        pool = OpponentPool((1, 0, 0), 1)
    elif name == "not finite":
        at = content.index(b"{") + int.from_bytes(content[:8], "little") + 4096
        content = content[:at] + b"\xff" * 64 + content[at + 64 :]
    elif name == "cut":
        content = content[:-50]
    elif name == "noise":
        content = b"\x80\x04K\x01." * 100
    if name != "missing":
        (tmp_path / CHECKPOINT).write_bytes(content)
    before = {key: value.clone() for key, value in model.policy.state_dict().items()}
    with pytest.raises(ValueError, match="is no checkpoint of this training: ") as caught:
        load_checkpoint(run, model, pool)
    assert "\n" not in str(caught.value)
    if name != "other pool":
        assert all((before[key] == value).all() for key, value in model.policy.state_dict().items())


def test_training_sets_the_reward_itself(tmp_path):
    with pytest.raises(SystemExit, match="training sets the option reward itself"):
        train(tiny(run=tmp_path / "run", options={"reward": "margin"}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel": ("random", "grandmaster")}, "unknown agent 'grandmaster'"),
        ({"network": "deep"}, "network must be"),
    ],
)
def test_mistakes_are_reported_before_there_is_a_folder(changes, message, tmp_path):
    for run, arguments in ((train, tiny), (expert.train, tiny_expert)):
        with pytest.raises(ValueError, match=message):
            run(arguments(run=tmp_path / "run", **changes))
        assert not (tmp_path / "run").exists()


def test_mistakes_on_the_command_line_take_one_line():
    for method in METHODS:
        _, message = garden_here("train", "chess", "--method", method)
        assert message.startswith("error: ")
        assert "\n" not in message


def test_schedules_change_evenly(small_run):
    first, last = rows_of(small_run / "metrics.csv")
    for row, done in ((first, 0.5), (last, 1.0)):
        assert float(row["outcome_share"]) == pytest.approx(done)
        assert float(row["learning_rate"]) == pytest.approx(1e-3 - 9e-4 * done, abs=1e-5)
        assert float(row["entropy_weight"]) == pytest.approx(0.01 - 0.008 * done, abs=1e-5)


@pytest.mark.parametrize(
    ("make_arguments", "wrong", "message"),
    [
        (tiny, {"panel_games": 0}, "panel_games must be at least 1, not 0"),
        (tiny, {"minutes": 0}, "minutes must be more than 0, not 0"),
        (tiny, {"minibatches": 0}, "minibatches must be at least 1, not 0"),
        (tiny, {"minibatches": 3}, "must be a multiple of minibatches"),
        (tiny, {"envs": 1, "rollout": 8, "minibatches": 8}, "twice as much or more"),
        (tiny, {"discount": 1.1}, "discount must be at most 1, not 1.1"),
        (tiny, {"random_share": 0, "greedy_share": 0, "self_share": 0}, "must be more than 0"),
        (tiny, {"steps": -1}, "steps must be at least 0, not -1"),
        (tiny, {"greedy_share": float("nan")}, "greedy_share must be a finite number, not nan"),
        (tiny_expert, {"minibatch": 0}, "minibatch must be at least 1, not 0"),
        (tiny_expert, {"considered": 1}, "considered must be at least 2, not 1"),
        (tiny_expert, {"scale": -1.0}, "scale must be at least 0, not -1.0"),
    ],
)
def test_refuses_arguments_out_of_range(make_arguments, wrong, message):
    with pytest.raises(ValueError, match=message):
        make_arguments(**wrong)


def test_no_steps_are_no_training(tmp_path):
    folder = train(tiny(run=tmp_path / "run", steps=0))
    assert json.loads((folder / "evaluation.json").read_text())["decisions"] == 0


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_is_answered_during_an_evaluation(method, tmp_path):
    """A line says that an evaluation is going on; Ctrl-C then ends it, and what is saved can be resumed."""
    folder = tmp_path / "run"
    limit = {
        "ppo": ["--steps", "100000", "--envs", "16"],
        "expert-iteration": ["--minutes", "9", "--envs", "16", "--simulations", "2"],
    }
    small = ["--channels", "4", "--hidden", "16", "--threads", "1", "--eval-games", "0"]
    panel = ["--panel", "mcts:200", "--panel-games", "400", "--evaluations", "200"]
    command = [
        sys.executable,
        "-m",
        "garden_agents",
        "train",
        "mars",
        "--method",
        method,
        "--run",
        str(folder),
    ]
    with (tmp_path / "errors").open("w+") as errors:
        process = subprocess.Popen(command + limit[method] + small + panel, env=environment(), stderr=errors)
        deadline = time.monotonic() + 120
        while "evaluating against mcts:200, " not in (tmp_path / "errors").read_text():
            assert process.poll() is None, (tmp_path / "errors").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
    errors = (tmp_path / "errors").read_text()
    assert process.returncode == 1
    assert "compiling" in errors
    assert errors.rstrip().endswith(f"--resume {folder}")
    assert "Traceback" not in errors
    assert (folder / CHECKPOINT).is_file()
    assert not (folder / "evaluations.csv").exists()


# --- what runs keep ---


def test_a_panel_that_has_changed_is_compared_anew(tmp_path, monkeypatch, capsys):
    """Else a network would be kept, or not, by games against other opponents."""
    other = tmp_path / "other.safetensors"
    shutil.copy(shipped(Mars())[2], other)
    arguments = tiny(run=tmp_path / "run", panel=("random", str(other)))
    network = new_network(Mars(), SMALL, "outcome")
    rates = {"random": iter([0.9, 0.5, 0.4]), str(other): iter([0.9, 0.5, 0.4])}

    def resumed(decisions):
        run = Run(tmp_path / "run", Mars(), SMALL, arguments.panel, 4, 0)
        monkeypatch.setattr(run, "_rate", lambda agent, name: next(rates[name]))
        run.rewind(decisions, 0.0)
        run.write_config(arguments)
        run.evaluate(network, decisions + 1, "outcome")
        return NetworkAgent.load(tmp_path / "run", Mars()).config["origin"]["decisions"]

    assert resumed(0) == 1
    assert resumed(1) == 1  # not as good
    assert "changed since" not in capsys.readouterr().out
    change_weights(other, Mars())
    assert resumed(2) == 3
    assert f"{other} changed since the evaluations of this run so far" in capsys.readouterr().out


def test_the_best_network_is_kept(tmp_path, monkeypatch):
    run = Run(tmp_path, Mars(), SMALL, ("random", "greedy"), 4, 0)
    rates = {"random": iter([0.9, 0.9, 1.0, 0.8]), "greedy": iter([0.1, 0.3, 0.1, 0.4])}
    monkeypatch.setattr(run, "_rate", lambda agent, name: next(rates[name]))
    network = new_network(Mars(), SMALL, "outcome")
    kept = []
    for decisions in range(4):
        run.evaluate(network, decisions, "outcome")
        kept.append(NetworkAgent.load(tmp_path, Mars()).config["origin"]["decisions"])
    assert kept == [0, 1, 1, 3]  # of equal ones the latest
    again = Run(tmp_path, Mars(), SMALL, ("random", "greedy"), 4, 0)
    again.rewind(2, 0.0)
    assert [row["greedy"] for row in again.past] == [0.1, 0.3, 0.1]
    assert [row["decisions"] for row in rows_of(tmp_path / "evaluations.csv")] == ["0.0", "1.0", "2.0"]
    again = Run(tmp_path, Mars(), SMALL, (), 4, 0)
    again.rewind(0, 0.0)
    assert [row["greedy"] for row in again.past] == [0.1]
