"""RLlib's PPO on one learner's seat of many games, with masks.

python examples/ppo_rllib.py --game cacti --output rllib-cacti
RAY_ADDRESS=auto python examples/ppo_rllib.py --runners 16 --learners 2 --output rllib-cacti    # on a cluster
garden arena cacti random "examples.ppo_rllib:make?checkpoint=rllib-cacti"
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module.rl_module import RLModule, RLModuleSpec
from ray.rllib.examples.rl_modules.classes.action_masking_rlm import ActionMaskingTorchRLModule

from garden_core import Batch, Game
from garden_core.interfaces import LearnerVectorEnv


@dataclass
class Arguments:
    """Train a network against an opponent."""

    game: str = "cacti"
    opponents: str = "random"
    num_envs: int = 128
    """number of games at once, per process that plays"""
    runners: int = 0
    """number of processes that play, on all machines of a Ray cluster; 0: this process plays"""
    learners: int = 0
    """number of processes that share each update; 0: this process learns"""
    iterations: int = 20
    """updates of the network, each from `batch` decisions per learner"""
    batch: int = 8192
    minibatch: int = 1024
    epochs: int = 3
    learning_rate: float = 1e-3
    entropy: float = 0.01
    output: Path | None = None
    """folder for the checkpoint"""


def main(arguments: Arguments) -> float:
    """Train and save; return the mean reward of the last games, from -1 (all lost) to 1 (all won)."""
    a = arguments
    config = (
        PPOConfig()
        .environment(LearnerVectorEnv, env_config={"game": a.game, "opponents": a.opponents})
        .env_runners(
            num_env_runners=a.runners,
            num_envs_per_env_runner=a.num_envs,
            gym_env_vectorize_mode="vector_entry_point",
        )
        .learners(num_learners=a.learners)
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
    if a.output is not None:
        algorithm.save_to_path(a.output.absolute())
    algorithm.stop()
    return mean


class Agent:
    """RLlib's network as an agent, which plays its most likely action."""

    def __init__(self, module: RLModule) -> None:
        self.module = module

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        observations = torch.from_numpy(batch.observation[rows]).float()
        masks = torch.from_numpy(batch.action_mask[rows]).float()
        with torch.no_grad():
            out = self.module.forward_inference({"obs": {"observations": observations, "action_mask": masks}})
        return out["action_dist_inputs"].argmax(1).numpy()


def make(game: Game, seed: int, checkpoint: str = "rllib-cacti") -> Agent:
    """Return the agent in a checkpoint, for `garden arena` and other commands."""
    path = Path(checkpoint).absolute() / "learner_group" / "learner" / "rl_module" / "default_policy"
    return Agent(RLModule.from_checkpoint(path))


if __name__ == "__main__":
    main(tyro.cli(Arguments))
