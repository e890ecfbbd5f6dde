"""Self-play in tensors, here on the CPU; test_ppo.py has a test of its credit."""

import numpy as np
import pytest
import torch
from garden_agents.networks.architecture import new_network
from garden_agents.networks.heads import chances_and_margins, target_of
from garden_agents.training import ppo
from garden_agents.training.gpu.self_play import TensorSelfPlay
from garden_agents.training.pool import OpponentPool
from garden_agents.training.torch_network import TorchNetwork
from small_runs import SMALL, score_of
from variants import shortened

ENVS = 12
GAMES = [
    ("cacti", {}, 0.0),
    ("cacti", {}, 1.0),
    ("mars", {"num_players": 3}, 0.4),
    ("mars", {"num_players": 1, "cooperative": True}, 0.0),
    ("botanicus", {"num_players": 4}, 0.3),
]


@pytest.mark.parametrize(("name", "options", "pool_share"), GAMES, ids=str)
def test_decisions_are_the_networks_own(name, options, pool_share):
    """Of the network that plays, in the positions that it learns from."""
    game, network = small_network(name, **options)
    arguments = ppo.Arguments(name, envs=ENVS, rollout=25, pool_share=pool_share)
    pool = OpponentPool((0.4, 0.4, 0.2), 1)
    pool.freeze(network.network)
    games = TensorSelfPlay([game], network, pool, arguments, 5)
    for _ in range(3):
        d, inputs, chosen, _ = games.rollout(with_greedy=True)
        assert len(chosen) > ENVS
        assert (d.masks.sum(1) > 1).all()
        logits, raw = (part.detach() for part in network(inputs))
        probabilities = logits.masked_fill(d.masks == 0, -np.inf).softmax(1).numpy()
        each = np.arange(games.count)
        np.testing.assert_allclose(np.exp(d.log_probabilities), probabilities[each, d.actions], rtol=1e-5)
        assert (probabilities[each, d.greedy] > 0).all()
        values = raw.numpy() if game.cooperative else chances_and_margins(raw.numpy())
        np.testing.assert_allclose(d.values, values, rtol=1e-5, atol=1e-5)
    assert pool.met.any() == (pool_share > 0)


def test_a_training_in_tensors_learns_and_is_resumed(tmp_path, by_torch):
    by_torch()
    few = {"game": "cacti", "envs": 64, "rollout": 16, "minibatch": 256, "pool_share": 0.2}
    settings = few | {"run": tmp_path / "run", "evaluation_games": 12, "final_games": 400}
    folder = ppo.train(ppo.Arguments(steps=4000, checkpoint_every=8000, **settings))
    ppo.train(ppo.Arguments(resume=folder, steps=10_000))
    assert score_of(folder)["rating"] > 100


def small_network(name="cacti", **options):
    """A game, and a network for it."""
    game = shortened(name, 40, reward="margin", **options)
    return game, TorchNetwork(new_network(game, SMALL, target_of(game), 3))


def test_only_opponents_in_play_are_evaluated():
    """A past self's weights are moved to the device once, and again when the pool is restored."""
    game, network = small_network()
    pool = OpponentPool((0.0, 0.0, 1.0), 2)
    pool.freeze(network.network)
    pool.policies[:2] = [None, None]
    games = TensorSelfPlay(
        [game], network, pool, ppo.Arguments("cacti", envs=8, rollout=30, pool_share=1.0), 5
    )
    games.rollout(with_greedy=False)
    ((held, parameters),) = games._parameters.values()
    assert held is pool.selves[0].network
    games.rollout(with_greedy=False)
    assert games._parameters[pool.selves[0]][1] is parameters
    pool.restore([0.5] * 4, [False] * 4, [network.network.weights], network.network)
    games.rollout(with_greedy=False)
    assert games._parameters[pool.selves[0]][0] is pool.selves[0].network is not held


def test_a_missing_gpu_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit, match=r"--device cuda: torch .* finds no GPU"):
        ppo.train(ppo.Arguments("cacti", device="cuda", run=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_further_agents_of_the_pool_need_the_cpu():
    with pytest.raises(ValueError, match="on a GPU the pool has no further agents"):
        ppo.Arguments("cacti", device="cuda", pool_share=0.5, pool_agents=("greedy",))
