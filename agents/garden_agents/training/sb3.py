"""PPO by self-play, with sb3-contrib's MaskablePPO: `garden train mars --trainer sb3 --steps 1_000_000`.

A run's folder has a checkpoint and the files that `garden_agents.training.run_folder.Run` lists. Ctrl-C saves the checkpoint;
`--resume FOLDER` continues from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from garden_agents.networks.network import Network
from garden_agents.training.arguments import TrainingArguments, open_run
from garden_agents.training.loop import Loop
from garden_agents.training.pool import SelfPlayVecEnv
from garden_agents.training.ppo_arguments import FINAL_ENTROPY
from garden_agents.training.processes import require_one
from garden_agents.training.sb3_policies import NetworkPolicy
from garden_core.game import Game
from garden_core.interfaces.sb3 import GardenVecEnv

LOSSES = (
    "entropy_loss",
    "policy_gradient_loss",
    "value_loss",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
)
"""Stable-Baselines3's metrics of an update that are logged."""


@dataclass
class Arguments(TrainingArguments):
    """Train a network by PPO in self-play and evaluate it; write a folder with all results.

    `--trainer own` (default) trains from all seats; `--trainer sb3` is Stable-Baselines3's MaskablePPO, with a few other options.
    """

    trainer = "sb3"
    command = "garden train --trainer sb3"
    pool_shares = (0.1, 0.4, 0.5)

    minibatches: int = 8
    """number of minibatches in a pass"""
    learning_rate: float = 1e-3
    """initial learning rate (Adam), falling linearly to a tenth"""
    discount: float = 0.995
    """discount factor of future rewards, per decision of the learner"""
    checkpoint_every: int = 200_000
    """decisions of the learner between two checkpoints; past selves join the pool four times as often"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, math.inf, "minibatches")
        self._within(0, 1, "discount")
        self._within(0, math.inf, "learning_rate")
        rows, left = divmod(self.envs * self.rollout, self.minibatches)
        if left or rows < 2:
            raise ValueError("envs x rollout must be a multiple of minibatches, twice as much or more")


def new_model(env: GardenVecEnv, arguments: Arguments, network: Network) -> MaskablePPO:
    """Return a model that trains `network`, whose memory it shares, on the games of `env`."""
    a = arguments
    return MaskablePPO(
        NetworkPolicy,
        env,
        n_steps=a.rollout,
        batch_size=a.rollout * env.num_envs // a.minibatches,
        n_epochs=a.epochs,
        learning_rate=a.learning_rate,
        gamma=a.discount,
        gae_lambda=a.gae_lambda,
        ent_coef=a.entropy,
        policy_kwargs={"network": network},
        seed=a.seed % 2**32,
        device="cpu",
    )


class Training(Loop, BaseCallback):
    """The training loop, as a callback of Stable-Baselines3; for the arguments see `Loop`."""

    arguments: Arguments
    model: MaskablePPO

    def __init__(self, folder: Path, arguments: Arguments, game: Game, command: str = "") -> None:
        target = "score" if game.cooperative else "outcome"
        super().__init__(folder, arguments, game, command, target=target)
        BaseCallback.__init__(self)
        torch.set_num_threads(arguments.threads)
        self.pool = arguments.pool()
        self.env = SelfPlayVecEnv(game, arguments.envs, self.pool)
        self.model = new_model(self.env, arguments, self.network)
        self.optimizer = self.model.policy.optimizer

    def source(self) -> None:
        SelfPlayVecEnv(self.game, 1, self.pool).reset()

    def learn_from(self, source: None) -> None:
        a, model = self.arguments, self.model
        model.num_timesteps = self.decisions
        self.env.learner.set_weights(self.pool.weights)
        self.env.seed((a.seed + self.decisions) % 2**64)  # other games after a resume than at the start
        self.optimizer.register_step_post_hook(lambda *_: self.run.check())
        model.learn(a.max_steps - self.decisions, callback=self, reset_num_timesteps=False)
        self._set_schedules()

    def _on_training_start(self) -> None:
        self.begin()  # here, as the environment's first reset may have compiled
        self._set_schedules()

    def _on_rollout_start(self) -> None:
        losses = self.model.logger.name_to_value  # of the last update, if there was one
        self.check_finite(
            *(float(losses.get(f"train/{key}", 0)) for key in LOSSES if key != "explained_variance")
        )

    def _on_step(self) -> bool:
        self.decisions = self.num_timesteps
        self.run.check()
        self.bar.update(self.decisions - self.bar.n)
        return self.run.seconds < self.arguments.max_seconds

    def _on_rollout_end(self) -> None:
        ahead = self.pool.report(self.bar, ("random", "greedy", "self"))
        self._set_schedules()
        self.freeze()
        self.env.learner.set_weights(self.pool.weights)
        losses = self.model.logger.name_to_value
        self.conclude(
            {
                **ahead,
                **{key: float(losses.get(f"train/{key}", "nan")) for key in LOSSES},
                "outcome_share": self.env.outcome_share,
                "learning_rate": self.model.lr_schedule(1),
                "entropy_weight": self.model.ent_coef,
            }
        )

    def _set_schedules(self) -> None:
        """Set the interpolated settings: reward, learning rate, entropy bonus."""
        a = self.arguments
        self.env.outcome_share = self.interpolated(a.outcome, 1.0)
        if not self.game.cooperative:  # the value head mostly predicts the larger part of the reward
            self.target = "outcome" if self.env.outcome_share >= 0.5 else "margin"
        rate = self.interpolated(a.learning_rate, a.learning_rate / 10)
        self.model.lr_schedule = lambda _: rate
        self.model.ent_coef = self.interpolated(a.entropy, FINAL_ENTROPY)


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), for a folder that cannot be resumed, or for the game's option
            "reward", which the training sets itself.
    """
    require_one("--trainer sb3")
    return Training(*open_run(arguments)).train()
