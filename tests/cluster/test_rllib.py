"""RLlib: its own check, the same games as a Batch and a Learner, and training."""

import doctest
import warnings

import numpy as np
import pytest
from garden_agents import load_agent, meet

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of many kinds

import ppo_rllib
from playing import dealt
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from cacti_env import Cacti
from garden_core import Learner, list_games, make
from garden_core.interfaces import LearnerVectorEnv, MultiAgentGame, rllib

LEAVE_CARD = Cacti().labels.index("leave card")
"""An illegal action at the beginning of a game."""


def test_examples_in_docstrings_run():
    failed, attempted = doctest.testmod(rllib)
    assert attempted
    assert not failed


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


# --- environments ---


@pytest.mark.parametrize("name", list_games())
def test_checks_of_rllib(name):
    check_multiagent_environments(MultiAgentGame({"game": name, "illegal": "terminate"}))


def test_all_seats_play_the_games_of_a_batch():
    env = MultiAgentGame({"game": "mars", "num_players": 3})
    seen, _ = env.reset(seed=5)
    batch = dealt(make("mars", num_players=3), 1, 5, autoreset=False)
    over = False
    while not over:
        (agent,) = seen
        assert agent == f"player_{batch.current_player[0]}"
        assert env.observation_spaces[agent].contains(seen[agent])
        np.testing.assert_array_equal(seen[agent]["observations"], batch.observation[0])
        np.testing.assert_array_equal(seen[agent]["action_mask"], batch.action_mask[0])
        action = int(batch.action_mask[0].argmax())
        batch.step([action])
        seen, rewards, terminated, truncated, _ = env.step({agent: action})
        assert list(rewards.values()) == batch.rewards[0].tolist()
        over = terminated["__all__"]
        assert over == bool(batch.terminated[0] | batch.truncated[0])
        assert not truncated["__all__"]
    assert set(seen) == set(rewards) == set(env.agents)
    for seat, agent in enumerate(env.agents):
        np.testing.assert_array_equal(seen[agent]["observations"], batch.observe(seat)[0])


def test_wrong_actions():
    env = MultiAgentGame({"game": Cacti()})
    env.reset(seed=1)
    for actions in ({}, {"player_1": 0}, {"player_0": 0, "player_1": 0}):
        with pytest.raises(ValueError, match="only player_0 can move now"):
            env.step(actions)
    with pytest.raises(ValueError, match="illegal"):
        env.step({"player_0": LEAVE_CARD})
    ending = MultiAgentGame({"game": "cacti", "illegal": "terminate"})
    ending.reset(seed=1)
    seen, rewards, terminated, *_ = ending.step({"player_0": LEAVE_CARD})
    assert rewards == {"player_0": -1.0, "player_1": 0.0}
    assert terminated["__all__"]
    assert set(seen) == {"player_0", "player_1"}


def test_a_learner_meets_the_games_of_a_learner():
    env = LearnerVectorEnv({"game": "cacti", "num_envs": 3, "opponents": "greedy"})
    learner = Learner(Cacti(), 3, "greedy", autoreset="next_step")
    seen, _ = env.reset(seed=2)
    learner.reset(2)
    for _ in range(40):
        assert env.observation_space.contains(seen)
        np.testing.assert_array_equal(seen["observations"], learner.observation)
        actions = learner.action_mask.argmax(1)
        learner.step(actions)
        seen, rewards, terminated, _, _ = env.step(actions)
        np.testing.assert_array_equal(rewards, learner.rewards)
        np.testing.assert_array_equal(terminated, learner.terminated)


# --- training ---


def test_the_example_learns_cacti(cluster, tmp_path):
    """The mean reward is -1 to 1, and 0 for an agent that wins as often as random play. Its checkpoint plays, too."""
    folder = tmp_path / "checkpoint"
    assert ppo_rllib.main(ppo_rllib.Arguments(output=folder)) > 0.2
    game = make("cacti")
    agents = load_agent(f"ppo_rllib:make?checkpoint={folder}", game), load_agent("random", game)
    assert meet(game, ("ppo", "random"), agents, games=200).interval[0] > 0.5


def test_the_example_plays_and_learns_in_other_processes(cluster):
    small = ppo_rllib.Arguments(runners=1, learners=1, num_envs=32, iterations=1, batch=2048)
    assert -1 <= ppo_rllib.main(small) <= 1


def test_all_seats_learn_in_the_multi_agent_environment(cluster):
    spec = RLModuleSpec(module_class=ActionMaskingTorchRLModule)
    config = (
        PPOConfig()
        .environment(MultiAgentGame, env_config={"game": "cacti", "illegal": "terminate"})
        .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *_, **__: "shared")
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={"shared": spec}))
        .env_runners(num_env_runners=0)
        .training(train_batch_size_per_learner=200, minibatch_size=50, num_epochs=1)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        algorithm = config.build_algo()
        result = algorithm.train()
    assert result["env_runners"]["num_episodes"] > 0
    algorithm.stop()
