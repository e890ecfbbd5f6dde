"""RLlib's PPO on one learner's seat of many games, with masks: `python examples/ppo_rllib.py`."""

from __future__ import annotations

from dataclasses import dataclass

import tyro
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from garden_core.interfaces import LearnerVectorEnv


@dataclass
class Arguments:
    """Train a network against an opponent."""

    game: str = "cacti"
    opponents: str = "random"
    num_envs: int = 128
    """number of games at once"""
    iterations: int = 20
    """updates of the network, each from `batch` decisions"""
    batch: int = 8192
    minibatch: int = 1024
    epochs: int = 3
    learning_rate: float = 1e-3
    entropy: float = 0.01


def main(arguments: Arguments) -> float:
    """Train; return the mean reward of the last games, from -1 (all lost) to 1 (all won)."""
    a = arguments
    config = (
        PPOConfig()
        .environment(LearnerVectorEnv, env_config={"game": a.game, "opponents": a.opponents})
        .env_runners(
            num_env_runners=0,
            num_envs_per_env_runner=a.num_envs,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .rl_module(rl_module_spec=RLModuleSpec(module_class=ActionMaskingTorchRLModule))
        .training(
            train_batch_size_per_learner=a.batch,
            minibatch_size=a.minibatch,
            num_epochs=a.epochs,
            lr=a.learning_rate,
            gamma=1.0,
            entropy_coeff=a.entropy,
        )
    )
    algorithm = config.build_algo()
    mean = -1.0
    for i in range(a.iterations):
        mean = algorithm.train()["env_runners"]["episode_return_mean"]
        print(f"update {i + 1}: mean reward {mean:.2f}", flush=True)
    algorithm.stop()
    return mean


if __name__ == "__main__":
    main(tyro.cli(Arguments))
