"""Self-play: the pool of opponents, and the reward that it is played for."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

import torch
from garden_agents.networks.files import weights_of
from garden_agents.networks.network_agent import new_policy
from garden_agents.training.pool import OpponentPool, PastSelf, SelfPlayVecEnv
from runs import SMALL
from variants import shortened

from garden_core import list_games, make
from garden_core.batch import Batch
from garden_core.policies import RandomPolicy
from mars_env import Mars


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
    [
        *((name, {}) for name in list_games()),
        ("mars", {"num_players": 3}),
        ("mars", {"num_players": 2, "cooperative": True}),
    ],
)
def test_reward_is_a_mix_of_margin_and_outcome(name, options):
    """Held against the game itself, played with the reward "outcome" and with "margin"."""
    paid = {}
    for share in (0.0, 0.25, 1.0):
        env = SelfPlayVecEnv(shortened(name, 60, reward="margin", **options), 16, OpponentPool((1, 0, 0), 0))
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
    game = shortened(name, 60, reward="outcome", **options)
    env = SelfPlayVecEnv(shortened(name, 60, reward="margin", **options), 16, OpponentPool((1, 0, 0), 0))
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
