"""Expert iteration: runs that go on, what is learned from, and arguments out of range."""

import numpy as np
import pytest
import torch
from garden_agents.training import expert_iteration as expert
from garden_agents.training import search_games
from garden_agents.training.torch_network import value_loss
from small_runs import rows_of, tiny_expert

from garden_core import make


def test_expert_iteration_goes_on(tmp_path):
    folder = expert.train(tiny_expert(run=tmp_path / "run"))
    before = rows_of(folder / "evaluations.csv")
    seconds = float(before[-1]["seconds"]) + 3
    expert.train(expert.Arguments(resume=folder, minutes=seconds / 60))
    after = rows_of(folder / "evaluations.csv")
    assert after[: len(before)] == before
    assert float(after[-1]["decisions"]) > float(before[-1]["decisions"])
    assert seconds <= float(after[-1]["seconds"]) < seconds + 30  # the last move ends after the limit
    with pytest.raises(SystemExit, match="no run to resume"):
        expert.train(expert.Arguments(resume=tmp_path))


def begun(folder, **changes):
    """Expert iteration on Cacti: the training, and games not yet begun."""
    game = make("cacti", reward="margin")
    arguments = tiny_expert(game="cacti", options={}, **changes)
    training = expert.Training(folder, arguments, game)
    return training, search_games.SearchGames(game, arguments, training.network, 1, 0)


def test_expert_iteration_learns_what_search_chose(tmp_path):
    """Positions hold visits, winners and the margin to come; learning lowers both losses."""
    training, games = begun(tmp_path, envs=32, simulations=16, positions=2000, minibatch=64, full_share=0.5)
    while training.positions.added < 1000:
        training.positions.add(games.play(guided=False).positions)
    held = training.positions.held
    sums = held.shares[:1000].sum(1)
    assert 0.4 < np.isclose(sums, 1, atol=2e-3).mean() < 0.6
    assert 0.4 < (sums == 0).mean() < 0.6
    assert not held.shares[:1000][held.mask[:1000] == 0].any()
    assert set(np.unique(held.values[:1000, :2])) <= {0.0, 0.5, 1.0}
    np.testing.assert_allclose(held.values[:1000, :2].sum(1), 1)
    np.testing.assert_allclose(held.values[:1000, 2:].sum(1), 0, atol=1e-6)
    before = losses(training)
    for _ in range(10):
        training.used = 0
        training._learn(0.0)
    after = losses(training)
    assert after[0] < before[0] - 0.02
    assert after[1] < before[1] - 0.02


def losses(training):
    """Losses of policy and value over the first thousand positions."""
    held = training.positions.held
    with torch.no_grad():
        logits, raw = training.torch_network(
            tuple(map(torch.from_numpy, training.network.inputs(held.observation[:1000])))
        )
        logs = logits.masked_fill(torch.as_tensor(held.mask[:1000]) == 0, -1e8).log_softmax(1)
        policy = -(torch.as_tensor(held.shares[:1000]).float() * logs).sum(1).mean()
        return float(policy), float(value_loss(raw, torch.as_tensor(held.values[:1000]), torch.ones(1000)))


def test_positions_mix_the_outcome_with_the_value_of_search(tmp_path, monkeypatch):
    training, games = begun(tmp_path, envs=1, simulations=8, positions=500, search_value_share=0.25)
    decisions = []
    finish = games._finish
    monkeypatch.setattr(
        games, "_finish", lambda row: (decisions.extend(games.trajectories[row]), finish(row))[1]
    )
    while not training.positions.added:
        training.positions.add(games.play(guided=True).positions)
    game = games.batch.game
    scores = np.array(game.scores(games.batch.last_states[0]))
    assert scores[0] != scores[1], "another seed is needed: the scores are level"
    held = training.positions.held.values[: len(decisions)]
    for kept, decision in zip(held, decisions, strict=True):
        own = decision.player
        won = float(scores[own] > scores[1 - own])
        chance = 0.25 * (decision.values[0] + 1) / 2 + 0.75 * won
        margin = (scores[own] - scores[1 - own]) / game.reward_divisor - decision.paid[own]
        np.testing.assert_allclose(kept, [chance, 1 - chance, margin, -margin], atol=1e-5)
    assert len({float(decision.values[0]) for decision in decisions}) > 5
