"""Baselines: networks, self-play pool, training runs that can be interrupted and resumed, and the arena."""

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

from agents import arena, ppo
from agents.arena import meet, play, shares, wilson
from agents.loading import load_agent
from agents.mcts import MCTSAgent
from agents.networks import sample
from agents.ppo import PPOAgent, new_model, save_checkpoint
from agents.selfplay import OpponentPool, PastSelf
from agents.train import Arguments, train
from garden_core import make
from garden_core.batch import Batch
from garden_core.policies import GreedyPolicy, RandomPolicy
from garden_core.replay import Replay
from garden_core.sb3 import GardenVecEnv
from mars_env import Mars

# Gymnasium 1.4 and Stable-Baselines3 2.9 disagree about nothing that concerns us; torch warns about its own future.
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")


def first_legal(game, seed):
    """An agent by import path: `tests.test_agents:first_legal`."""
    return lambda batch, rows: batch.action_mask[rows].argmax(1)


@pytest.fixture(scope="module")
def small_run(tmp_path_factory) -> Path:
    """A run of a few thousand decisions."""
    folder = tmp_path_factory.mktemp("runs") / "small"
    return train(tiny(run=folder))


def tiny(**changes) -> Arguments:
    settings = {
        "steps": 1024, "envs": 16, "rollout": 32, "minibatches": 2, "channels": 4, "hidden": 16, "eval_games": 6,
        "threads": 1, "snapshot_every": 500, "checkpoint_every": 500,
    }  # fmt: skip
    return Arguments(**(settings | changes))


# --- search ---


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("mars", {"num_players": 3}),
        ("mars", {"num_players": 1, "cooperative": True}),
        ("cacti", {}),
        ("botanicus", {"num_players": 4}),
    ],
)
def test_search_plays_whole_games_by_the_rules_and_alike_for_a_seed(name, options):
    game = make(name, max_decisions=40, **options)
    lineups = np.zeros((2, game.num_players), int)
    first, again, other = (play(game, [MCTSAgent(20, seed=seed)], lineups, 5) for seed in (3, 3, 4))
    assert first.tobytes() == again.tobytes() != other.tobytes()


def test_search_leaves_the_games_alone():
    batch = Batch(make("cacti"), 3)
    batch.reset(1)
    before = batch.states.tobytes(), batch.action_mask.tobytes()
    MCTSAgent(20)(batch, np.array([0, 2]))
    assert (batch.states.tobytes(), batch.action_mask.tobytes()) == before


def test_search_beats_random_play():
    game = make("cacti")
    results = meet(game, ("mcts", "random"), (MCTSAgent(30, seed=1), RandomPolicy(2)), 60, 3)
    assert results.interval[0] > 0.7


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"simulations": 0}, "simulations must be at least 1"),
        ({"depth": -1}, "depth and exploration at least 0"),
        ({"rollout": "clever"}, "rollout must be 'random' or 'greedy', not 'clever'"),
    ],
)
def test_search_refuses_arguments_out_of_range(arguments, message):
    with pytest.raises(ValueError, match=message):
        MCTSAgent(**arguments)


# --- networks ---


@pytest.mark.parametrize(
    ("network", "options"),
    [("board", {}), ("board", {"gardeners": 2}), ("flat", {}), ("flat", {"view": "planes"})],
)
def test_network_gives_a_logit_an_action(network, options):
    game = Mars(**options)
    env = GardenVecEnv(game, 4, seed=0)
    model = new_model(game, env, network=network, channels=4, hidden=16, rollout=8)
    observation = env.reset()
    logits = model.policy.masked_logits(observation, env.action_masks())
    assert logits.shape == (4, game.num_actions)
    assert (logits[~torch.as_tensor(env.action_masks())] == -1e8).all()
    assert set(sample(logits).tolist()) <= set(np.flatnonzero(env.action_masks().any(0)))
    distribution = model.policy.get_distribution(torch.as_tensor(observation), env.action_masks())
    expected = distribution.distribution.logits
    torch.testing.assert_close(torch.log_softmax(logits, 1), expected, atol=1e-4, rtol=1e-3)
    model.learn(64)


@pytest.mark.parametrize("network", ["board", "flat"])
def test_policy_gives_what_the_distribution_of_sb3_contrib_gives(network):
    game = Mars()
    env = GardenVecEnv(game, 64, seed=0)
    policy = new_model(game, env, network=network, channels=4, hidden=16, rollout=8).policy
    torch.nn.init.normal_(
        policy.action_net.weight if network == "flat" else policy.action_net.other_logits.weight
    )
    observation, masks = torch.as_tensor(env.reset()), env.action_masks()
    with torch.no_grad():
        distribution = policy.get_distribution(observation, masks)
        best, values, _ = policy(observation, deterministic=True, action_masks=masks)
        actions, _, log_probabilities = policy(observation, action_masks=masks)
        again = policy.evaluate_actions(observation, actions, torch.as_tensor(masks))
        expected = policy.predict_values(observation), distribution.log_prob(actions), distribution.entropy()
    assert masks[np.arange(64), actions.numpy()].all()
    assert (best == distribution.mode()).all()
    for got, should in zip((*again, values, log_probabilities), (*expected, *expected[:2]), strict=True):
        torch.testing.assert_close(got, should, atol=1e-4, rtol=1e-4)


def test_board_network_reads_cells_where_they_are():
    """The logit of a hex changes with a flower beside it, and not with one across the board."""
    game = Mars()
    model = new_model(game, GardenVecEnv(game, 1, seed=0), channels=8, hidden=16)
    torch.nn.init.normal_(model.policy.action_net.cell_logits.weight)
    torch.nn.init.zeros_(model.policy.action_net.query.weight)
    mask = np.ones((1, 103), np.int8)
    empty = np.zeros((1, 1335), np.int8)
    with torch.no_grad():
        before = model.policy.masked_logits(empty, mask)[0, :91]
        empty[0, 0] = 1  # a blue flower on hex 0, at (-5, 0)
        after = model.policy.masked_logits(empty, mask)[0, :91]
    changed = {i for i in range(91) if abs(before[i] - after[i]) > 1e-6}
    assert 0 in changed
    assert changed <= {
        game.board.cells.tolist().index(c) for c in game.board.cells if c // 11 < 8 and c % 11 < 3
    }


def test_network_names_are_checked():
    game = Mars(view="planes")
    with pytest.raises(ValueError, match="network must be"):
        new_model(game, GardenVecEnv(game, 1, seed=0), network="board")


# --- self-play ---


def test_pool_draws_past_selves_once_there_are_some():
    pool = OpponentPool((0.2, 0.3, 0.5), 2)
    np.testing.assert_allclose(pool.weights, [0.7, 0.3, 0, 0])
    game = Mars()
    policy = new_model(game, GardenVecEnv(game, 1, seed=0), channels=4, hidden=16).policy
    pool.freeze(policy)
    np.testing.assert_allclose(pool.weights, [0.2, 0.3, 0.5, 0])
    pool.freeze(policy)
    pool.freeze(policy)
    np.testing.assert_allclose(pool.weights, [0.2, 0.3, 0.25, 0.25])
    assert policy.optimizer is not None


def test_a_frozen_self_stays_as_it_was():
    game = Mars()
    policy = new_model(game, GardenVecEnv(game, 1, seed=0), channels=4, hidden=16).policy
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


# --- training ---


def test_a_run_leaves_everything(small_run):
    left = {path.name for path in small_run.iterdir()}
    assert left == {
        "model.zip", "pool.pt", "config.toml", "metrics.csv", "curve.png", "evaluation.json", "game.json"
    }  # fmt: skip
    config = tomllib.loads((small_run / "config.toml").read_text())
    assert config["arguments"]["steps"] == 1024
    assert config["game"]["options"]["num_players"] == 2
    assert config["versions"]["numpy"] == np.__version__
    assert Replay.load(small_run / "game.json").ended in ("terminated", "truncated")
    results = json.loads((small_run / "evaluation.json").read_text())["results"]
    assert [r["opponent"] for r in results] == ["random", "greedy"]
    assert all(r["games"] == 6 and len(r["by_seat"]) == 2 for r in results)
    with (small_run / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["decisions"]) for row in rows] == [512, 1024]


def test_a_finished_run_is_not_overwritten(small_run):
    with pytest.raises(SystemExit, match="--resume"):
        train(tiny(run=small_run))


def test_resume_goes_on(small_run, tmp_path):
    folder = tmp_path / "again"
    train(tiny(run=folder, eval_games=0))
    train(Arguments(resume=folder, steps=2048))
    with (folder / "metrics.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["decisions"]) for row in rows] == [512, 1024, 1536, 2048]
    assert float(rows[-1]["seconds"]) > float(rows[1]["seconds"])
    with pytest.raises(SystemExit, match="no run to resume"):
        train(Arguments(resume=tmp_path))


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
    command = [sys.executable, "-m", "agents.train", "mars", "--run", str(folder), *options]
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
    assert (folder / "model.zip").exists()
    assert (folder / "pool.pt").exists()


def test_a_full_disk_leaves_the_old_checkpoint_whole(small_run, monkeypatch):
    game = Mars()
    model = new_model(game, GardenVecEnv(game, 1, seed=0), channels=4, hidden=16)
    before = (small_run / "model.zip").read_bytes()

    def full_disk(self, content):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(small_run, model, OpponentPool((1, 0, 0), 1))
    monkeypatch.undo()
    assert (small_run / "model.zip").read_bytes() == before


def test_same_seed_same_training(tmp_path):
    first, second = (train(tiny(run=tmp_path / name, eval_games=0, seed=3)) for name in "ab")
    agents = [PPOAgent.load(folder, Mars()).policy.state_dict() for folder in (first, second)]
    for name, weights in agents[0].items():
        torch.testing.assert_close(weights, agents[1][name])


@pytest.mark.slow
def test_training_learns_to_beat_random(tmp_path):
    folder = train(Arguments(run=tmp_path / "run", steps=100_000, eval_games=600))
    result = json.loads((folder / "evaluation.json").read_text())["results"][0]
    assert result["interval"][0] >= 0.95


# --- arena ---


def test_wilson_interval():
    assert wilson(8, 10) == pytest.approx((0.4902, 0.9433), abs=5e-5)  # a textbook's example
    assert wilson(570, 600) == pytest.approx((0.92952, 0.96475), abs=1e-5)
    assert wilson(0, 100)[0] == 0
    assert wilson(100, 100)[1] == 1
    assert wilson(0, 0) == (0, 1)


def test_shares_of_the_win():
    game = Mars(num_players=3)
    states = game.new_states(4)
    states["score"][:, :3] = [[5, 3, 1], [0, 0, 0], [4, 7, 2], [0, 0, 9]]
    expected = [[1, 0, 0], [1 / 3, 1 / 3, 1 / 3], [0, 1, 0], [0, 0, 1]]
    np.testing.assert_allclose(shares(game, states), expected)


@pytest.mark.parametrize("num_players", [2, 3, 5])
def test_every_seat_is_taken_equally_often(num_players):
    game = Mars(num_players=num_players)
    result = meet(game, ("greedy", "random"), (GreedyPolicy(), RandomPolicy()), 31, seed=1)
    assert result.games == -(-31 // num_players) * num_players
    assert len(result.by_seat) == num_players
    assert result.win_rate == pytest.approx(np.mean(result.by_seat))
    assert result.win_rate > 1 / num_players
    assert result.mean_score > result.opponents_mean_score


def test_each_agent_plays_its_own_seats():
    game = Mars(num_players=3)
    asked: dict[int, set] = {0: set(), 1: set()}

    def watched(index):
        def policy(batch, rows):
            asked[index] |= {(int(row), int(batch.current_player[row])) for row in rows}
            return batch.action_mask[rows].argmax(1)

        return policy

    lineups = np.array([[0, 1, 1], [1, 0, 1]])
    play(Mars(num_players=3, max_decisions=30), [watched(0), watched(1)], lineups)
    assert asked == {0: {(0, 0), (1, 1)}, 1: {(0, 1), (0, 2), (1, 0), (1, 2)}}
    assert game.num_players == 3


def test_agents_by_name(small_run):
    game = Mars()
    batch = Batch(game, 5)
    batch.reset(0)
    for name in (
        "random",
        "greedy",
        str(small_run),
        str(small_run / "model.zip"),
        "tests.test_agents:first_legal",
    ):
        actions = load_agent(name, game)(batch, np.arange(5))
        assert batch.action_mask[np.arange(5), actions].all()
    with pytest.raises(ValueError, match="unknown agent 'grandmaster'; known are random, greedy"):
        load_agent("grandmaster", game)
    with pytest.raises(ValueError, match=r"103 actions; .* has .* 194"):
        load_agent(str(small_run), Mars(gardeners=2))


def test_arena_from_the_command_line(tmp_path, capsys):
    output = tmp_path / "arena.json"
    arguments = arena.Arguments("mars", ["random", "greedy"], games=10, num_players=3, options={"peaks": "1"})
    arguments.output = output
    results = arena.main(arguments)
    assert [(r.agent, r.opponent, r.games) for r in results] == [
        ("random", "greedy", 12),
        ("greedy", "random", 12),
    ]
    assert "greedy" in capsys.readouterr().out
    report = json.loads(output.read_text())
    assert report["options"]["peaks"] == 1
    assert report["results"][0]["games"] == 12
    with pytest.raises(SystemExit, match="at least two"):
        arena.main(arena.Arguments("mars", ["random"]))


def test_checkpoint_errors_are_explained(tmp_path):
    game = Mars()
    env = GardenVecEnv(game, 1, seed=0)
    with pytest.raises(FileNotFoundError, match=r"model\.zip is missing"):
        ppo.load_checkpoint(tmp_path, env, OpponentPool((1, 0, 0), 1))
