"""The PettingZoo environment: the toy game decision by decision, and every game by PettingZoo's own tests."""

import warnings

import numpy as np
import pytest
from pig import HOLD, ROLL, Pig
from variants import each_table, each_variant, has_picture

from garden_core import Batch, make
from garden_core.interfaces import pettingzoo_env
from garden_core.interfaces.pettingzoo_env import GardenEnv, module_env
from mars_env import Mars

with warnings.catch_warnings():  # PettingZoo's own tests import what PettingZoo deprecates
    warnings.simplefilter("ignore", DeprecationWarning)
    from pettingzoo.test import api_test, render_test, seed_test


def pig_env(seed=1, **arguments):
    env = GardenEnv(Pig, **arguments)
    env.reset(seed=seed)
    return env


def play_env(env, steps=10_000):
    """Hold whenever possible, at most `steps` times, until the game is over."""
    for _ in range(steps):
        agent = env.agent_selection
        if env.terminations[agent] or env.truncations[agent]:
            return
        env.step(HOLD if env.observe(agent)["action_mask"][HOLD] else ROLL)


def test_illegal_action_can_end_the_game():
    env = pig_env(illegal="terminate", num_players=3)
    env.step(ROLL)
    offender = env.agent_selection
    action = HOLD if not env.observe(offender)["action_mask"][HOLD] else 5
    env.step(action)
    assert env.rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.agents}
    assert all(env.terminations.values())
    assert not any(env.truncations.values())
    rewards = {}
    for agent in env.agent_iter():
        _, rewards[agent], terminated, _, _ = env.last()
        assert terminated
        env.step(None)
    assert rewards == {agent: -1.0 if agent == offender else 0.0 for agent in env.possible_agents}


def test_agents_leave_by_dead_steps():
    env = pig_env(num_players=3, goal=10, render_mode="ansi")
    play_env(env)
    assert len(env.agents) == 3
    left = []
    while env.agents:
        left.append(env.agent_selection)
        for value in (0, False, -1, "0", [], np.int64(1)):
            with pytest.raises(ValueError, match=f"{left[-1]}'s game is over; its only action is None, not"):
                env.step(value)
        env.step(None)
    assert sorted(left) == env.possible_agents
    for call in (env.last, lambda: env.step(None), lambda: env.step(0)):
        with pytest.raises(RuntimeError, match=r"the game is over for all agents; call reset\(\)"):
            call()
    assert env.render()
    env.reset()
    assert env.agents == env.possible_agents


def test_observe_after_the_end():
    env = pig_env(num_players=3, goal=10)
    play_env(env)
    score = env.states["score"][0].tolist()
    for _ in range(4):  # also while agents leave, and when none is left
        for seat, agent in enumerate(env.possible_agents):
            seen = env.observe(agent)
            assert seen["observation"][:3].tolist() == [score[(seat + offset) % 3] for offset in range(3)]
            assert not seen["action_mask"].any()
        if env.agents:
            env.step(None)
    assert env.agents == []


def test_observations_are_the_callers_own():
    env = pig_env()
    seen = env.observe("player_0")
    seen["observation"][:] = 9
    seen["action_mask"][:] = 9
    assert env.observe("player_0")["action_mask"].tolist() == [1, 0]
    assert env.observe("player_0")["observation"][0] == 0
    assert not env.observe("player_1")["action_mask"].any(), "not the player to move"
    for agent in env.agents:
        assert env.observation_space(agent) is env.observation_space(agent)
        assert env.observation_space(agent).contains(env.observe(agent))


def test_cumulative_rewards_are_cleared_for_the_mover_alone():
    env = pig_env(reward="margin", num_players=3, seed=4)
    expected = dict.fromkeys(env.agents, 0.0)
    rewarded = 0
    while not any(env.terminations.values()):
        agent = env.agent_selection
        assert env.last()[1] == pytest.approx(expected[agent])
        env.step(HOLD if env.observe(agent)["action_mask"][HOLD] else ROLL)
        expected[agent] = 0.0
        for other in env.agents:
            expected[other] += env.rewards[other]
        assert env._cumulative_rewards == pytest.approx(expected)
        rewarded += any(env.rewards.values())
    assert rewarded > 10
    for agent in env.agent_iter():
        assert env.last()[1] == pytest.approx(expected[agent])
        env.step(None)


def test_reset_without_seed_goes_on_as_a_batch_does():
    env, batch = pig_env(seed=5), Batch(Pig(), 1)
    batch.reset(seed=5)
    for _ in range(3):
        assert env.states[0].tobytes() == batch.states[0].tobytes()
        env.reset()
        batch.reset()
    env.reset(seed=5)
    batch.reset(seed=5)
    assert env.states[0].tobytes() == batch.states[0].tobytes()
    one, other = GardenEnv(Pig), GardenEnv(Pig)
    one.reset()
    other.reset()
    assert one.states.tobytes() != other.states.tobytes(), "the first time from a random seed"


def test_environment_of_a_game_takes_no_options():
    assert GardenEnv(Pig(goal=50)).game == GardenEnv(Pig, goal=50).game
    with pytest.raises(ValueError, match="goal must be"):
        GardenEnv(Pig, goal=0)
    with pytest.raises(TypeError, match="options are chosen already; not taken: goal"):
        GardenEnv(Pig(), goal=50)


# PettingZoo's own warnings for every environment with an action mask in a dict of observations.
MASKED = [
    "ignore:Observation is not a NumPy array:UserWarning",
    "ignore:Observation space for each agent probably should be:UserWarning",
]


@each_variant
@pytest.mark.filterwarnings(*MASKED)
def test_pettingzoo_api(name, options):
    api_test(pettingzoo_env.env(name, **options), num_cycles=300)


@each_variant
def test_pettingzoo_seed(name, options):
    seed_test(lambda: pettingzoo_env.env(name, **options), num_cycles=100)


@each_table
def test_pettingzoo_render(name, options):
    if has_picture(make(name)):
        pytest.importorskip("pygame")

        def env_fn(render_mode):
            env = pettingzoo_env.env(name, render_mode=render_mode, **options)
            env.metadata["render_fps"] = 1000
            if options:  # a window for each game is enough
                env.metadata["render_modes"].remove("human")
            return env

        render_test(env_fn)
        return
    env = pettingzoo_env.env(name, render_mode="rgb_array", **options)
    env.reset(seed=1)
    with pytest.raises(ValueError, match="has no picture; use render_mode='ansi'"):
        env.render()


def test_a_module_of_another_version_is_refused():
    with pytest.raises(ValueError, match="mars_v1 must end with _v0, the version of Mars"):
        module_env(Mars, "mars_env.mars_v1")


def test_truncated_environment():
    env = pig_env(max_decisions=2)
    play_env(env)
    assert all(env.truncations.values())
    assert not any(env.terminations.values())
