"""RLlib: its own check, the same games as a Batch and a Learner, self-play against a league, killed runners, checkpoints."""

import os
import signal
import time
import warnings

import numpy as np
import pytest

ray = pytest.importorskip("ray")
pytest.importorskip("ray.rllib")
pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of many kinds

from garden_agents.evaluation.matches import meet
from garden_agents.training.rllib import LeagueEnv, MaskedModule, agent_of, league_config
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.utils.pre_checks.env import check_multiagent_environments

from cacti_env import Cacti
from garden_core import Batch, list_games, make
from garden_core.batch.learner import Learner
from garden_core.batch.policies import RandomPolicy
from garden_core.interfaces.rllib import LearnerVectorEnv, MultiAgentGame


@pytest.fixture(scope="module")
def cluster():
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()


def quick(config):
    """Return a configuration with small batches."""
    return config.training(train_batch_size_per_learner=4096, minibatch_size=512, num_epochs=2)


# --- environments ---


@pytest.mark.parametrize("name", list_games())
def test_checks_of_rllib(name):
    check_multiagent_environments(MultiAgentGame({"game": name, "illegal": "terminate"}))


def test_all_seats_play_the_games_of_a_batch():
    env, batch = (
        MultiAgentGame({"game": "mars", "num_players": 3}),
        Batch(make("mars", num_players=3), 1, False),
    )
    seen, _ = env.reset(seed=5)
    batch.reset(seed=5)
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
        with pytest.raises(ValueError, match="player_0 is to move"):
            env.step(actions)
    with pytest.raises(ValueError, match="illegal"):
        env.step({"player_0": 34})
    ending = MultiAgentGame({"game": "cacti", "illegal": "terminate"})
    ending.reset(seed=1)
    seen, rewards, terminated, *_ = ending.step({"player_0": 34})
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


def test_self_play_against_a_league_learns_cacti(cluster, tmp_path):
    """In 200 games against random play the lower end of a 95 % interval lies above one half; a checkpoint goes on."""
    config = quick(league_config("cacti", num_envs=128, every=2))
    algorithm = config.build_algo()
    for _ in range(12):
        result = algorithm.train()
    assert result["league"] == 5
    env = algorithm.env_runner.env.unwrapped
    assert isinstance(env, LeagueEnv)
    assert len(np.unique(env.learner.final_drawn)) > 2
    rate = meet(make("cacti"), ("rllib", "random"), (agent_of(algorithm), RandomPolicy(1)), 200)
    assert rate.interval[0] > 0.5
    algorithm.save_to_path(tmp_path / "checkpoint")
    algorithm.stop()
    other = config.build_algo()
    other.restore_from_path(tmp_path / "checkpoint")
    again = meet(make("cacti"), ("rllib", "random"), (agent_of(other), RandomPolicy(1)), 200)
    assert again.win_rate == rate.win_rate
    assert other.train()["training_iteration"] == 13
    other.stop()


def test_a_killed_runner_does_not_end_a_training(cluster):
    algorithm = quick(league_config("cacti", num_env_runners=1, num_envs=64)).build_algo()
    before = algorithm.train()["env_runners"]["num_env_steps_sampled_lifetime"]
    (process,) = algorithm.env_runner_group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    os.kill(process, signal.SIGKILL)
    end, sampled = time.monotonic() + 120, before
    while sampled == before and time.monotonic() < end:
        sampled = algorithm.train()["env_runners"].get("num_env_steps_sampled_lifetime", before)
        time.sleep(1)
    assert sampled > before
    (other,) = algorithm.env_runner_group.foreach_env_runner(lambda _: os.getpid(), local_env_runner=False)
    assert other != process
    algorithm.stop()


def test_the_board_network_in_mars(cluster):
    config = league_config("mars", num_envs=32, network={"channels": 8, "hidden": 16}, num_players=3)
    algorithm = config.training(
        train_batch_size_per_learner=256, minibatch_size=128, num_epochs=1
    ).build_algo()
    algorithm.train()
    game = make("mars", num_players=3)
    agent, batch = agent_of(algorithm), Batch(game, 4)
    batch.reset(1)
    batch.step(agent(batch, batch.all_rows))
    module = algorithm.get_module()
    import torch

    seen = {
        "observations": torch.from_numpy(batch.observation.astype(np.float32)),
        "action_mask": torch.from_numpy(batch.action_mask.astype(np.float32)),
    }
    with torch.no_grad():
        logits = module.forward_inference({"obs": seen})["action_dist_inputs"].numpy()
    own, _ = agent.network.evaluate(batch.flat)
    legal = batch.action_mask != 0
    np.testing.assert_allclose(logits[legal], own[legal], atol=1e-4)
    assert (logits[~legal] < -1e6).all()
    algorithm.stop()


def test_all_seats_learn_in_the_multi_agent_environment(cluster):
    spec = RLModuleSpec(module_class=MaskedModule, model_config={"game": "cacti", "network": {"hidden": 16}})
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
