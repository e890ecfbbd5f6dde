"""Self-play in tensors, here on the CPU, has the same games, rewards and targets as self-play in arrays."""

import numpy as np
import pytest
import torch
from garden_agents.networks.architecture import new_network
from garden_agents.networks.heads import target_of
from garden_agents.training import credit, ppo
from garden_agents.training.gpu.self_play import TensorSelfPlay
from garden_agents.training.pool import OpponentPool
from garden_agents.training.self_play import SelfPlay
from garden_agents.training.torch_network import TorchNetwork
from small_runs import SMALL, score_of
from variants import shortened

ENVS, ROLLOUT = 12, 25
GAMES = [
    ("cacti", {}, 0.0),
    ("cacti", {}, 1.0),
    ("mars", {"num_players": 3}, 0.4),
    ("mars", {"num_players": 1, "cooperative": True}, 0.0),
    ("botanicus", {"num_players": 4}, 0.3),
]


class SideBySide:
    """Games in tensors, and the same games in arrays, which take the same actions."""

    def __init__(self, name, options, pool_share):
        game, network = small_network(name, **options)
        pools = [OpponentPool((0.4, 0.4, 0.2), 1) for _ in range(2)]
        for pool in pools:
            pool.freeze(network.network)
        arguments = ppo.Arguments(name, envs=ENVS, rollout=ROLLOUT, pool_share=pool_share)
        self.tensors = TensorSelfPlay(game, network, pools[0], arguments, 5)
        self.arrays = SelfPlay(game, network, pools[1], arguments, 5)
        self.places = {}  # of the arrays' decisions, by their numbers
        self.tensors._link, self._link = self._noted_link, self.tensors._link
        self.tensors._pay, self._pay = self._followed_pay, self.tensors._pay
        self.arrays._seat_opponents = lambda rows: None

    def rollout(self):
        """Play a rollout in both; return the one in tensors, and the indexes and advantages of the other."""
        self.arrays._keep_open_decisions()
        open_decisions = np.ndenumerate(self.arrays.latest)
        self.places = {number: seat * ENVS + row for (row, seat), number in open_decisions if number >= 0}
        return self.tensors.rollout(with_greedy=False), *self.arrays.advantages()

    def _noted_link(self, own, mover, first):
        arrays, d, rows = self.arrays, self.tensors.decisions, np.flatnonzero(own.numpy())
        self.arrays.opponents[:] = self.tensors.opponents.numpy()
        assert (arrays.batch.current_player == mover.numpy()).all()
        for i, row in enumerate(rows.tolist()):
            self.places[arrays.count + i] = first + row
        new = slice(arrays.count, arrays.count + len(rows))
        into = arrays.decisions
        into.values[new] = d.values[first + rows].numpy()
        into.rewards[new], into.paid[new], into.deciders[new] = 0, 0, mover.numpy()[rows]
        credit.link(arrays.latest, arrays.last, into.next, into.after, rows, into.deciders[new], arrays.count)
        arrays.count += len(rows)
        self._link(own, mover, first)

    def _followed_pay(self):
        self._pay()
        self.arrays.batch.step(self.taken)
        self.arrays._pay()


@pytest.mark.parametrize(("name", "options", "pool_share"), GAMES, ids=str)
def test_rewards_and_targets_are_as_in_arrays(name, options, pool_share, monkeypatch):
    both = SideBySide(name, options, pool_share)
    step = both.tensors.batch.step

    def noted_step(actions):
        both.taken = actions.copy()
        step(actions)

    monkeypatch.setattr(both.tensors.batch, "step", noted_step)
    settled = ends = 0
    for _ in range(4):
        rollout, chosen, computed = both.rollout()
        d, into, count = rollout.decisions, both.arrays.decisions, both.arrays.count
        places = np.array([both.places[number] for number in range(count)])
        assert sorted(places) == torch.nonzero(both.tensors.valid)[:, 0].tolist()
        assert sorted(places[chosen]) == rollout.chosen.tolist()
        ahead = {place: number for number, place in both.places.items()}
        for name_ in ("next", "after"):
            theirs = getattr(d, name_)[places].tolist()
            numbers = [ahead.get(place, place) if place >= 0 else place for place in theirs]
            assert numbers == getattr(into, name_)[:count].tolist(), name_
        for name_ in ("rewards", "paid", "deciders", "targets"):
            theirs, ours = getattr(d, name_)[places].numpy(), getattr(into, name_)[:count]
            np.testing.assert_allclose(theirs, ours, rtol=1e-5, atol=1e-5, err_msg=name_)
        np.testing.assert_allclose(rollout.advantages[places], computed, rtol=1e-5, atol=1e-5)
        settled += (into.after[:count] == credit.TARGET_FINAL).sum()
        ends += (into.after[:count] == credit.OVER).sum()
    assert ends > 10
    assert settled > 10 or options.get("num_players") == 1 or pool_share == 1
    np.testing.assert_allclose(both.tensors.pool.ahead, both.arrays.pool.ahead, atol=1e-6)
    assert both.tensors.pool.met.tolist() == both.arrays.pool.met.tolist() == [pool_share > 0] * 3


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
    games = TensorSelfPlay(game, network, pool, ppo.Arguments("cacti", envs=8, rollout=30, pool_share=1.0), 5)
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
