"""Self-play: the pool of opponents, and the reward that it is played for."""

import numpy as np
import pytest
from garden_agents.networks.architecture import new_network
from garden_agents.training.pool import OpponentPool, SelfPlayVecEnv
from small_runs import SMALL
from variants import shortened

from garden_core import RandomPolicy, make
from garden_core.interfaces import GardenVecEnv
from mars_env import Mars


def small_network(seed=0):
    return new_network(Mars(), SMALL, "outcome", seed)


def test_pool_draws_past_selves_once_there_are_some():
    pool = OpponentPool((0.2, 0.3, 0.5), 2)
    np.testing.assert_allclose(pool.weights, [0.7, 0.3, 0, 0])
    network = small_network()
    pool.freeze(network)
    np.testing.assert_allclose(pool.weights, [0.2, 0.3, 0.5, 0])
    network.parameters += 1
    assert (pool.networks[0].parameters != network.parameters).all(), "a past self does not learn"
    pool.freeze(network)
    np.testing.assert_allclose(pool.weights, [0.2, 0.3, 0.25, 0.25])


def test_pool_can_have_other_agents():
    agents = [RandomPolicy(1), RandomPolicy(2)]
    pool = OpponentPool((0.25, 0.5, 0.75), 2, agents)
    assert pool.policies[2:4] == pool.opponents[2:4] == agents
    np.testing.assert_allclose(pool.weights, [1, 0.5, 0.5, 0.5, 0, 0])
    pool.freeze(small_network())
    for _ in range(200):
        pool.count(3, 1.0)
    among = np.array([0.3, 0.05]) / 0.35  # an agent that was beaten always is drawn seldom
    np.testing.assert_allclose(pool.weights, [0.25, 0.5, *among, 0.75, 0], atol=0.05)
    assert pool.rates() == {"agents": pytest.approx(1, abs=0.02)}


def test_pool_draws_hard_opponents_more_often_and_drops_the_easiest():
    pool = OpponentPool((0.0, 0.0, 1.0), 3)
    networks = [small_network(seed) for seed in range(4)]
    for network in networks[:3]:
        pool.freeze(network)
    for _ in range(200):
        pool.count(2, 0.0)
        pool.count(3, 1.0)
        pool.count(4, 0.5)
    assert pool.weights[2] > pool.weights[4] > pool.weights[3] > 0
    assert pool.rates()["self"] == pytest.approx(0.5, abs=0.01)
    pool.freeze(networks[3])
    for kept, number in zip(pool.networks, (0, 3, 2), strict=True):
        np.testing.assert_array_equal(kept.parameters, networks[number].parameters)


def test_pool_is_kept_and_restored():
    pool, other = OpponentPool((0.1, 0.2, 0.7), 3), OpponentPool((0.1, 0.2, 0.7), 3)
    for seed in (1, 2):
        pool.freeze(small_network(seed))
    pool.count(1, 1.0)
    kept = [past.weights for past in pool.networks]
    other.restore(pool.ahead.tolist(), pool.met.tolist(), kept, small_network())
    np.testing.assert_array_equal(pool.weights, other.weights)
    assert other.frozen == 2
    for one, again in zip(pool.networks, other.networks, strict=True):
        np.testing.assert_array_equal(one.parameters, again.parameters)
    with pytest.raises(ValueError, match="another pool than one with 0 agents and 1 past selves"):
        OpponentPool((0.1, 0.2, 0.7), 1).restore(
            pool.ahead.tolist(), pool.met.tolist(), kept, small_network()
        )


def returns(env, steps=60):
    """Return the learner's total reward in each finished game; it always takes the first legal action."""
    env.seed(3)
    env.reset()
    totals, ended = np.zeros(16), []
    for _ in range(steps):
        _, rewards, dones, _ = env.step(env.action_masks().argmax(1))
        totals += rewards
        ended += totals[dones].tolist()
        totals[dones] = 0
    return np.array(ended)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("botanicus", {}),
        ("cacti", {}),
        ("mars", {"num_players": 3}),
        ("mars", {"num_players": 2, "cooperative": True}),
    ],
)
def test_reward_is_a_mix_of_margin_and_outcome(name, options):
    """Compared with games whose reward is "outcome" or "margin"."""

    def mixed(share):
        env = SelfPlayVecEnv(shortened(name, 60, reward="margin", **options), 16, OpponentPool((1, 0, 0), 0))
        env.outcome_share = share
        return returns(env)

    margin, outcome = (
        returns(GardenVecEnv(shortened(name, 60, reward=reward, **options), 16))
        for reward in ("margin", "outcome")
    )
    assert len(margin) > 10
    np.testing.assert_allclose(mixed(0.0), margin, atol=1e-5)
    np.testing.assert_allclose(mixed(1.0), outcome, atol=1e-6)
    np.testing.assert_allclose(mixed(0.25), 0.75 * margin + 0.25 * outcome, atol=1e-5)


def test_pool_estimates_how_often_opponents_are_beaten():
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
