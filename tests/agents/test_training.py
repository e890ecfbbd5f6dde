"""Training: the pool of opponents, rewards, and runs by PPO and by expert iteration that can be interrupted and resumed."""

from __future__ import annotations

import csv
import json
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from garden_agents.networks.files import weights_of
from garden_agents.networks.network_agent import NetworkAgent, new_policy
from garden_agents.registry import load_agent
from garden_agents.training import expert_iteration as expert
from garden_agents.training.arguments import METHODS
from garden_agents.training.checkpoint import CHECKPOINT
from garden_agents.training.pool import OpponentPool, PastSelf, SelfPlayVecEnv
from garden_agents.training.run_folder import Run
from garden_agents.training.sb3 import Arguments, load_checkpoint, new_model, save_checkpoint, train

from garden_core import make
from garden_core.batch import Batch
from garden_core.policies import RandomPolicy
from garden_core.replay import Replay
from mars_env import Mars

SMALL = {"kind": "auto", "channels": 4, "hidden": 16}
LEFT = {
    "config.toml", "metrics.csv", "evaluations.csv", "network.safetensors", "curve.png", "evaluation.json", "game.json",
    CHECKPOINT,
}  # fmt: skip


def tiny(**changes) -> Arguments:
    settings = {
        "game": "mars", "steps": 1024, "envs": 16, "rollout": 32, "minibatches": 2, "channels": 4, "hidden": 16, "eval_games": 6,
        "threads": 1, "snapshot_every": 500, "checkpoint_every": 500, "panel": ("random", "greedy"), "panel_games": 4,
        "evaluations": 2,
    }  # fmt: skip
    return Arguments(**(settings | changes))


def tiny_expert(**changes) -> expert.Arguments:
    settings = {
        "game": "mars", "minutes": 0.05, "envs": 16, "simulations": 4, "minibatch": 32, "channels": 4, "hidden": 16, "eval_games": 6,
        "panel": ("random", "greedy"), "panel_games": 4, "evaluations": 2, "options": {"max_decisions": "40"},
    }  # fmt: skip
    return expert.Arguments(**(settings | changes))


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open() as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> Path:
    """A run of a few thousand decisions."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    return train(tiny(run=folder))


# --- self-play ---


def test_pool_draws_past_selves_once_there_are_some():
    pool = OpponentPool((0.2, 0.3, 0.5), 2)
    np.testing.assert_allclose(pool.weights, [0.7, 0.3, 0, 0])
    policy = new_policy(Mars(), SMALL)
    pool.freeze(policy)
    np.testing.assert_allclose(pool.weights, [0.2, 0.3, 0.5, 0])
    pool.freeze(policy)
    np.testing.assert_allclose(pool.weights, [0.2, 0.3, 0.25, 0.25])
    assert policy.optimizer is not None


def test_pool_draws_hard_opponents_more_often_and_drops_the_easiest():
    pool = OpponentPool((0.0, 0.0, 1.0), 3)
    policies = [new_policy(Mars(), SMALL) for _ in range(4)]
    for policy in policies[:3]:
        pool.freeze(policy)
    for _ in range(200):
        pool.count(2, 0.0)
        pool.count(3, 1.0)
        pool.count(4, 0.5)
    assert pool.weights[2] > pool.weights[4] > pool.weights[3] > 0
    assert pool.rates()["self"] == pytest.approx(0.5, abs=0.01)
    pool.freeze(policies[3])
    kept = [next(iter(past.policy.parameters())) for past in pool.selves]
    for place, number in enumerate((0, 3, 2)):
        assert (kept[place] == next(iter(policies[number].parameters()))).all()


def test_pool_is_kept_and_restored():
    pool, other = OpponentPool((0.1, 0.2, 0.7), 3), OpponentPool((0.1, 0.2, 0.7), 3)
    policy = new_policy(Mars(), SMALL)
    pool.freeze(policy)
    pool.freeze(policy)
    pool.count(1, 1.0)
    kept = [weights_of(network) for network in pool.networks]
    other.restore(pool.ahead.tolist(), pool.met.tolist(), kept, new_policy(Mars(), SMALL))
    np.testing.assert_array_equal(pool.weights, other.weights)
    assert other.frozen == 2
    for one, two in zip(pool.selves[1].policy.parameters(), other.selves[1].policy.parameters(), strict=True):
        assert (one == two).all()


def test_a_frozen_self_stays_as_it_was():
    game = Mars()
    policy = new_policy(game, SMALL)
    past = PastSelf()
    past.freeze(policy)
    batch = Batch(game, 8)
    batch.reset(0)
    before = past.policy.masked_logits(batch.observation, batch.action_mask).detach()
    with torch.no_grad():
        for parameter in policy.parameters():
            parameter.add_(1.0)
    torch.testing.assert_close(
        past.policy.masked_logits(batch.observation, batch.action_mask).detach(), before
    )
    actions = past(batch, np.arange(8))
    assert batch.action_mask[np.arange(8), actions].all()


@pytest.mark.parametrize(
    ("name", "options"),
    [("cacti", {}), ("mars", {"num_players": 3}), ("mars", {"num_players": 2, "cooperative": True})],
)
def test_reward_is_a_mix_of_margin_and_outcome(name, options):
    """Held against the game itself, played with the reward "outcome" and with "margin"."""
    paid = {}
    for share in (0.0, 0.25, 1.0):
        env = SelfPlayVecEnv(
            make(name, reward="margin", max_decisions=60, **options), 16, OpponentPool((1, 0, 0), 0)
        )
        env.outcome_share = share
        env.seed(3)
        env.reset()
        totals, ended = np.zeros(16), []
        for _ in range(60):
            _, rewards, dones, _ = env.step(env.action_masks().argmax(1))
            totals += rewards
            ended += totals[dones].tolist()
            totals[dones] = 0
        paid[share] = np.array(ended)
    assert len(paid[0.0]) > 10
    np.testing.assert_allclose(paid[0.25], 0.75 * paid[0.0] + 0.25 * paid[1.0], atol=1e-5)
    game = make(name, reward="outcome", max_decisions=60, **options)
    env = SelfPlayVecEnv(
        make(name, reward="margin", max_decisions=60, **options), 16, OpponentPool((1, 0, 0), 0)
    )
    plain = type(env).__mro__[1](game, 16)
    plain.seed(3)
    plain.reset()
    ended = []
    for _ in range(60):
        _, rewards, dones, _ = plain.step(plain.action_masks().argmax(1))
        ended += rewards[dones].tolist()
    np.testing.assert_allclose(paid[1.0], ended, atol=1e-6)


def test_pool_learns_how_games_ended():
    pool = OpponentPool((0.0, 1.0, 0.0), 0)
    env = SelfPlayVecEnv(make("cacti", reward="margin"), 16, pool)
    env.seed(0)
    env.reset()
    policy = RandomPolicy(0)
    for _ in range(200):
        env.step(policy(env.learner.batch, env.learner.batch.all_rows))
    assert pool.ahead[1] < 0.4
    assert pool.ahead[0] == 0.5
    assert pool.rates() == {"greedy": pool.ahead[1]}


# --- training ---


def test_a_run_leaves_everything(small_run):
    left = {path.name for path in small_run.iterdir()}
    assert {name for name in left if "tfevents" not in name} == LEFT
    assert len(left) == len(LEFT) + 1
    config = tomllib.loads((small_run / "config.toml").read_text())
    assert config["arguments"]["steps"] == 1024
    assert config["game"]["options"]["num_players"] == 2
    assert config["versions"]["numpy"] == np.__version__
    assert Replay.load(small_run / "game.json").ended in ("terminated", "truncated")
    results = json.loads((small_run / "evaluation.json").read_text())["results"]
    assert [r["opponent"] for r in results] == ["random", "greedy"]
    assert all(r["games"] == 6 and len(r["by_seat"]) == 2 for r in results)
    assert [int(row["decisions"]) for row in rows_of(small_run / "metrics.csv")] == [512, 1024]
    evaluations = rows_of(small_run / "evaluations.csv")
    assert list(evaluations[0]) == ["decisions", "seconds", "random", "greedy"]
    assert float(evaluations[-1]["decisions"]) == 1024
    agent = load_agent(str(small_run), Mars())
    assert agent.config["network"] == SMALL
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


def test_a_run_cut_off_goes_on_from_its_last_checkpoint(tmp_path):
    """What came after the checkpoint is forgotten: metrics, evaluations, time."""
    folder = tmp_path / "run"
    train(tiny(run=folder, steps=512, eval_games=0))
    with (folder / "metrics.csv").open("a") as file:
        file.write(",".join(["1024", "999"] + ["0"] * 12) + "\n")
    with pytest.raises(SystemExit, match="go on with --resume"):
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
    one = NetworkAgent.load(small_run, Mars()).policy.state_dict()
    other = NetworkAgent.load(folder, Mars(num_players=3)).policy.state_dict()
    assert all((one[name] == other[name]).all() for name in one)
    assert tomllib.loads((folder / "config.toml").read_text())["arguments"]["start"].endswith(".safetensors")
    with pytest.raises(ValueError, match=r"is built as .*'channels': 4"):
        train(tiny(run=tmp_path / "other", start=small_run / "network.safetensors", channels=8))


def test_training_by_time(tmp_path):
    start = time.monotonic()
    folder = train(tiny(run=tmp_path / "run", steps=None, minutes=0.03, eval_games=0))
    assert time.monotonic() - start < 60
    last = rows_of(folder / "evaluations.csv")[-1]
    assert float(last["seconds"]) == pytest.approx(1.8, abs=1)
    assert NetworkAgent.load(folder, Mars()).foresees == "outcome"


@pytest.mark.parametrize("options", [{}, {"cooperative": "true"}])
def test_training_at_tables_of_three(options, tmp_path):
    folder = train(
        tiny(run=tmp_path / "run", num_players=3, options=options | {"max_decisions": "60"}, steps=512)
    )
    evaluation = rows_of(folder / "evaluations.csv")[-1]
    assert set(evaluation) == {"decisions", "seconds"} | ({"team"} if options else {"random", "greedy"})
    assert float(evaluation.get("team", 0)) >= 0


def test_interrupt_saves_a_checkpoint(tmp_path):
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
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (folder / "metrics.csv").exists():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 1
    assert f"--resume {folder}" in errors
    assert (folder / CHECKPOINT).exists()


def small_model(folder: Path, hidden: int = 16):
    """A run, a model and a pool, as training makes them, at the folder of a run."""
    game, network = Mars(), SMALL | {"hidden": hidden}
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
    agents = [NetworkAgent.load(folder, Mars()).policy.state_dict() for folder in (first, second)]
    for name, weights in agents[0].items():
        torch.testing.assert_close(weights, agents[1][name])


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
    with pytest.raises(SystemExit, match="choose by --outcome and --final-outcome"):
        train(tiny(run=tmp_path / "run", options={"reward": "margin"}))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"panel": ("random", "grandmaster")}, "unknown agent 'grandmaster'"),
        ({"network": "deep"}, "network must be"),
    ],
)
def test_mistakes_are_told_of_before_there_is_a_folder(changes, message, tmp_path):
    for run, arguments in ((train, tiny), (expert.train, tiny_expert)):
        with pytest.raises(ValueError, match=message):
            run(arguments(run=tmp_path / "run", **changes))
        assert not (tmp_path / "run").exists()


def test_mistakes_on_the_command_line_take_one_line():
    for method in METHODS:
        command = [sys.executable, "-m", "garden_agents", "train", "chess", "--method", method]
        done = subprocess.run(command, check=False, capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].startswith("error: ")
        assert "Traceback" not in done.stderr


def test_schedules_change_evenly(small_run):
    first, last = rows_of(small_run / "metrics.csv")
    for row, done in ((first, 0.5), (last, 1.0)):
        assert float(row["outcome_share"]) == pytest.approx(done)
        assert float(row["learning_rate"]) == pytest.approx(1e-3 - 9e-4 * done, abs=1e-5)
        assert float(row["entropy_weight"]) == pytest.approx(0.01 - 0.008 * done, abs=1e-5)


# --- what runs keep ---


def test_the_best_network_is_kept(tmp_path, monkeypatch):
    run = Run(tmp_path, Mars(), SMALL, ("random", "greedy"), 4, 0)
    rates = {"random": iter([0.9, 0.9, 1.0, 0.8]), "greedy": iter([0.1, 0.3, 0.1, 0.4])}
    monkeypatch.setattr(run, "_rate", lambda agent, name: next(rates[name]))
    policy = new_policy(Mars(), SMALL)
    kept = []
    for decisions in range(4):
        run.evaluate(policy, decisions, "outcome")
        kept.append(NetworkAgent.load(tmp_path, Mars()).config["origin"]["decisions"])
    assert kept == [0, 1, 1, 3]  # of equal ones the latest
    again = Run(tmp_path, Mars(), SMALL, ("random", "greedy"), 4, 0)
    again.rewind(2)
    assert [row["greedy"] for row in again.past] == [0.1, 0.3, 0.1]
    assert [row["decisions"] for row in rows_of(tmp_path / "evaluations.csv")] == ["0.0", "1.0", "2.0"]
    again = Run(tmp_path, Mars(), SMALL, (), 4, 0)
    again.rewind(0)
    assert [row["greedy"] for row in again.past] == [0.1]


# --- expert iteration ---


@pytest.fixture(scope="module")
def expert_run(tmp_path_factory) -> Path:
    return expert.train(tiny_expert(run=tmp_path_factory.mktemp("runs") / "expert"))


def test_expert_iteration_leaves_everything(expert_run):
    left = {path.name for path in expert_run.iterdir() if "tfevents" not in path.name}
    assert left == LEFT
    config = tomllib.loads((expert_run / "config.toml").read_text())
    assert config["arguments"]["simulations"] == 4
    assert NetworkAgent.load(expert_run, Mars()).config["network"] == SMALL
    assert float(rows_of(expert_run / "evaluations.csv")[-1]["decisions"]) > 0


@pytest.mark.parametrize(
    ("name", "num_players", "options"),
    [
        ("cacti", 2, {}),
        ("mars", 3, {"max_decisions": "40"}),
        ("mars", 1, {"cooperative": "true", "max_decisions": "40"}),
    ],
)
def test_expert_iteration_for_any_game(name, num_players, options, tmp_path):
    arguments = tiny_expert(
        game=name, num_players=num_players, options=options, run=tmp_path / "run", minutes=0.03
    )
    folder = expert.train(arguments)
    assert (folder / "network.safetensors").is_file()


def test_expert_iteration_goes_on(expert_run, tmp_path):
    folder = tmp_path / "again"
    folder.mkdir()
    for name in ("config.toml", CHECKPOINT, "metrics.csv", "evaluations.csv", "network.safetensors"):
        (folder / name).write_bytes((expert_run / name).read_bytes())
    before = rows_of(folder / "evaluations.csv")
    seconds = float(rows_of(folder / "metrics.csv")[-1]["seconds"]) + 3
    expert.train(expert.Arguments(resume=folder, minutes=seconds / 60))
    after = rows_of(folder / "evaluations.csv")
    assert after[: len(before)] == before
    assert float(after[-1]["decisions"]) > float(before[-1]["decisions"])
    assert seconds <= float(after[-1]["seconds"]) < seconds + 30  # the last move ends after the limit
    with pytest.raises(SystemExit, match="no run to resume"):
        expert.train(expert.Arguments(resume=tmp_path))


def at_work(folder: Path, **changes):
    """Expert iteration on Cacti: the training, and games not yet begun."""
    game = make("cacti")
    arguments = tiny_expert(game="cacti", options={}, **changes)
    training = expert._Training(arguments, Run(folder, game, SMALL, (), 1, 0), game)
    return training, expert._Games(game, arguments, training.positions, training.rng)


def test_expert_iteration_learns_what_search_chose(tmp_path):
    """Positions hold visits and a mix of search's value and the outcome; learning lowers both losses."""
    training, games = at_work(tmp_path, envs=32, simulations=16, positions=2000, minibatch=64, lookahead=0.0)
    while training.positions.added < 1000:
        games.step(training.teacher)
    held = training.positions
    np.testing.assert_allclose(held.choice[:1000].sum(1), 1, atol=2e-3)
    assert not held.choice[:1000][held.mask[:1000] == 0].any()
    assert set(np.unique(held.value[:1000])) <= {-1.0, 0.0, 1.0}
    before = losses(training)
    for _ in range(10):
        training.learned = 0
        training._learn(0.0)
    after = losses(training)
    assert after[0] < before[0] - 0.02
    assert after[1] < before[1] - 0.02


def losses(training) -> tuple[float, float]:
    """Losses of policy and value over the first thousand positions."""
    held = training.positions
    with torch.no_grad():
        seen, choice = (
            torch.as_tensor(held.observation[:1000]).float(),
            torch.as_tensor(held.choice[:1000]).float(),
        )
        logits, values = training.policy.logits_and_values(seen, held.mask[:1000])
        policy = -(choice * logits.log_softmax(1)).sum(1).mean()
        return float(policy), float((values[:, 0] - torch.as_tensor(held.value[:1000])).square().mean())


def test_positions_mix_the_outcome_with_what_search_foresaw(tmp_path, monkeypatch):
    training, games = at_work(tmp_path, envs=1, simulations=8, positions=500, lookahead=0.25, noise=0.0)
    assert games._noise(games.batch.action_mask) is None
    told: list = []
    finish = games._finish
    monkeypatch.setattr(games, "_finish", lambda row: (told.extend(games.told[row]), finish(row)))
    while not training.positions.added:
        games.step(training.student)
    scores = games.batch.game.scores(games.batch.last_states[0])
    won = np.sign([scores[0] - scores[1], scores[1] - scores[0]])
    assert won[0] != 0, "another seed is needed: the scores are level"
    expected = [0.25 * value + 0.75 * won[player] for *_, player, value in told]
    np.testing.assert_allclose(training.positions.value[: len(told)], expected, atol=1e-6)
    assert len({value for *_, value in told}) > 5


def test_noise_is_over_legal_actions(tmp_path):
    _, games = at_work(tmp_path, envs=64)
    mask = games.batch.action_mask
    noise = games._noise(mask)
    np.testing.assert_allclose(noise.sum(1), 1)
    assert not noise[mask == 0].any()
    assert noise[mask == 1].std() > 0.05


@pytest.mark.parametrize(
    ("make_arguments", "wrong", "message"),
    [
        (tiny, {"panel_games": 0}, "panel_games must be at least 1, not 0"),
        (tiny, {"minutes": 0}, "minutes must be more than 0, not 0"),
        (tiny, {"minibatches": 0}, "minibatches must be at least 1, not 0"),
        (tiny, {"steps": -1}, "steps must be at least 0, not -1"),
        (tiny, {"greedy_share": float("nan")}, "greedy_share must be a finite number, not nan"),
        (tiny_expert, {"minibatch": 0}, "minibatch must be at least 1, not 0"),
        (tiny_expert, {"temperature": 0}, "temperature must be more than 0, not 0"),
    ],
)
def test_refuses_arguments_out_of_range(make_arguments, wrong, message):
    with pytest.raises(ValueError, match=message):
        make_arguments(**wrong)


def test_no_steps_are_no_training(tmp_path):
    folder = train(tiny(run=tmp_path / "run", steps=0))
    assert json.loads((folder / "evaluation.json").read_text())["decisions"] == 0


def test_a_resumed_expert_knows_how_long_it_has_trained(tmp_path):
    training, _ = at_work(tmp_path)
    training.run.seconds_before, training.decisions = 7.0, 3
    training.save()
    again, _ = at_work(tmp_path)
    again.load()
    assert (again.run.seconds, again.decisions) == (7.0, 3)


@pytest.mark.parametrize("method", METHODS)
def test_ctrl_c_is_answered_during_an_evaluation(method, tmp_path):
    """The bar says that an evaluation is going on; Ctrl-C then ends it, and what is saved can be resumed."""
    folder = tmp_path / "run"
    limit = {
        "ppo": ["--steps", "100000", "--envs", "16"],
        "expert-iteration": ["--minutes", "9", "--envs", "16", "--simulations", "2"],
    }
    small = ["--channels", "4", "--hidden", "16", "--threads", "1", "--eval-games", "0"]
    panel = ["--panel", "mcts:20", "--panel-games", "400", "--evaluations", "200"]
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
        process = subprocess.Popen(command + limit[method] + small + panel, stderr=errors)
        deadline = time.monotonic() + 120
        while "evaluating against mcts:20, 0 of 400" not in (tmp_path / "errors").read_text():
            assert process.poll() is None, (tmp_path / "errors").read_text()
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=20)
    told = (tmp_path / "errors").read_text()
    assert process.returncode == 1
    assert "compiling" in told
    assert told.rstrip().endswith(f"--resume {folder}")
    assert "Traceback" not in told
    assert (folder / CHECKPOINT).is_file()
    assert not (folder / "evaluations.csv").exists()
