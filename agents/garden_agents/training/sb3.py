"""PPO by self-play, with sb3-contrib's MaskablePPO: `garden train mars --trainer sb3 --steps 1_000_000`.

A run's folder holds the files that `garden_agents.training.run_folder.Run` lists, and a checkpoint. Ctrl-C saves the
checkpoint; `--resume FOLDER` continues from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

from garden_agents.networks.architecture import empty_network, new_network
from garden_agents.networks.network import Network
from garden_agents.progress import progress_bar
from garden_agents.training.arguments import TrainingArguments, in_words, open_run
from garden_agents.training.checkpoint import CHECKPOINT, check
from garden_agents.training.pool import OpponentPool, SelfPlayVecEnv
from garden_agents.training.ppo_arguments import FINAL_ENTROPY, PAST_SELVES
from garden_agents.training.run_folder import Run
from garden_agents.training.sb3_policies import NetworkPolicy
from garden_core.game import Game
from garden_core.interfaces.sb3 import GardenVecEnv

POOL_SHARES = (0.1, 0.4, 0.5)
"""Shares of the opponents that play at random, greedily, and as past selves do."""


@dataclass
class Arguments(TrainingArguments):
    """Train a network by PPO in self-play, evaluate it, and keep everything in a folder."""

    trainer = "sb3"
    command = "garden train --trainer sb3"

    steps: int | None = None
    """training length, decisions of the learner; not limited with --minutes and otherwise 2,000,000 if not given"""

    outcome: float = 0.0
    """initial share of the outcome in the reward, 0 to 1; the rest is the margin of points; rises linearly to 1"""

    envs: int = 128
    """number of games played at once"""
    rollout: int = 32
    """length of a PPO rollout: decisions of the learner in each game between two updates"""
    epochs: int = 3
    """number of passes over a rollout in an update"""
    minibatches: int = 8
    """number of minibatches in a pass"""
    learning_rate: float = 1e-3
    """initial learning rate (Adam), which falls linearly to a tenth"""
    discount: float = 0.995
    """discount factor of future rewards, for each decision of the learner"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation"""
    entropy: float = 0.01
    """initial weight of the entropy bonus, which falls linearly to 0.002"""

    checkpoint_every: int = 200_000
    """decisions of the learner between two checkpoints; a past self joins the pool four times as often"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "envs", "rollout")
        self._within(1, math.inf, "epochs", "minibatches", "checkpoint_every")
        self._within(0, 1, "outcome", "discount", "gae_lambda")
        self._within(0, math.inf, "entropy", "learning_rate")
        self._within(0, 10**15, "steps")
        rows, left = divmod(self.envs * self.rollout, self.minibatches)
        if left or rows < 2:
            raise ValueError("envs x rollout must be a multiple of minibatches, twice as much or more")


def new_model(game: Game, env: GardenVecEnv, arguments: Arguments) -> MaskablePPO:
    """Return an untrained model that learns from the games of `env`."""
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
        policy_kwargs={"network": new_network(game, a.architecture, "outcome", a.seed)},
        seed=a.seed % 2**32,
        device="cpu",
    )


def policy_of(model: MaskablePPO) -> NetworkPolicy:
    """Return a model's policy."""
    assert isinstance(model.policy, NetworkPolicy)
    return model.policy


def save_checkpoint(run: Run, model: MaskablePPO, pool: OpponentPool) -> int:
    """Write the run's checkpoint: network, optimizer, opponent pool and progress; return the number of decisions.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
    """
    return run.save(policy_of(model).exported(), model.policy.optimizer, model.num_timesteps, pool)


def load_checkpoint(run: Run, model: MaskablePPO, pool: OpponentPool) -> None:
    """Restore what `save_checkpoint` wrote, and remove the run's metrics after it.

    Raises:
        ValueError: if the checkpoint cannot be read or is damaged, or its network or pool is another one.
    """
    network = policy_of(model).exported()
    model.num_timesteps = run.load(network, model.policy.optimizer, pool)
    policy_of(model).set_weights(network)


class _Progress(BaseCallback):
    """Everything besides PPO itself: schedules, progress bar, metrics, past selves, evaluations, checkpoints."""

    model: MaskablePPO

    def __init__(self, arguments: Arguments, run: Run, env: SelfPlayVecEnv) -> None:
        super().__init__()
        self.arguments, self.run, self.env, self.pool = arguments, run, env, env.pool
        self.bar: Any = None
        default = 2_000_000 if arguments.minutes is None else 10**12
        self.steps: int = default if arguments.steps is None else arguments.steps
        self.limit = math.inf if arguments.minutes is None else arguments.minutes * 60
        self.snapshot_every = max(1, arguments.checkpoint_every // 4)

    @property
    def network(self) -> Network:
        """A copy of the network in its present state."""
        return policy_of(self.model).exported()

    @property
    def time_is_up(self) -> bool:
        """Whether the time limit is reached."""
        return self.run.seconds >= self.limit

    @property
    def value_target(self) -> str:
        """What the value head mostly predicts: the larger part of the reward."""
        if self.env.game.cooperative:
            return "score"
        return "outcome" if self.outcome_share >= 0.5 else "margin"

    @property
    def outcome_share(self) -> float:
        """Share of the outcome in the reward as far as the training has come."""
        return self._between(self.arguments.outcome, 1.0)

    def _progress(self) -> float:
        """Return the completed share of the training, 0 to 1, by decisions or by time, whichever is larger."""
        by_decisions = self.num_timesteps / self.steps if self.steps else 1.0
        return min(1.0, max(by_decisions, self.run.seconds / self.limit))

    def _between(self, first: float, last: float) -> float:
        """Interpolate linearly from `first` to `last` over the training."""
        return first + (last - first) * self._progress()

    def _on_training_start(self) -> None:
        # here, as the first reset, before it, may have compiled
        self.run.begin(self._progress(), self.arguments.evaluation_count(self.arguments.minutes))
        self.next_freeze = self._next(self.snapshot_every)
        self.next_checkpoint = self._next(self.arguments.checkpoint_every)
        self.bar.reset(None if self.arguments.minutes else self.steps)
        self.bar.update(self.num_timesteps)
        self.run.report("training")
        self._set_schedules()

    def _next(self, interval: int) -> int:
        return (self.num_timesteps // interval + 1) * interval

    def _on_step(self) -> bool:
        self.run.check()
        self.bar.update(self.num_timesteps - self.bar.n)
        return not self.time_is_up

    def _on_rollout_end(self) -> None:
        if self.arguments.minutes is not None:  # the length that the present speed will reach
            per_second = self.num_timesteps / self.run.seconds
            self.bar.total = max(self.num_timesteps, min(self.steps, int(per_second * self.limit)))
        ahead = self.pool.report(self.bar, ("random", "greedy", "self"))
        self._set_schedules()
        if self.num_timesteps >= self.next_freeze:
            self.next_freeze = self._next(self.snapshot_every)
            self.pool.freeze(self.network)
        self.env.learner.set_weights(self.pool.weights)
        if self.num_timesteps >= self.next_checkpoint:
            self.next_checkpoint = self._next(self.arguments.checkpoint_every)
            save_checkpoint(self.run, self.model, self.pool)
        self._log(ahead)
        if self.run.is_due(self._progress()):
            self.run.evaluate(self.network, self.num_timesteps, self.value_target)
            save_checkpoint(self.run, self.model, self.pool)
            self.run.report("training")

    def _set_schedules(self) -> None:
        """Set what is interpolated over the training: reward, learning rate, entropy bonus."""
        a = self.arguments
        self.env.outcome_share = self.outcome_share
        rate = self._between(a.learning_rate, a.learning_rate / 10)
        self.model.lr_schedule = lambda _: rate
        self.model.ent_coef = self._between(a.entropy, FINAL_ENTROPY)

    def _log(self, ahead: dict[str, float]) -> None:
        losses = self.model.logger.name_to_value
        self.run.log(
            {
                "decisions": self.num_timesteps,
                "seconds": self.run.seconds,
                "decisions_per_second": self.num_timesteps / self.run.seconds,
                **ahead,
                **{key: float(losses.get(f"train/{key}", "nan")) for key in _LOSSES},
                "outcome_share": self.env.outcome_share,
                "learning_rate": self.model.lr_schedule(1),
                "entropy_weight": self.model.ent_coef,
            }
        )


_LOSSES = (
    "entropy_loss",
    "policy_gradient_loss",
    "value_loss",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
)


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), for a folder that cannot be resumed, or for the game's option
            "reward", which the training sets itself.
    """
    folder, arguments, game, command = open_run(arguments)
    torch.set_num_threads(arguments.threads)
    pool = OpponentPool(POOL_SHARES, PAST_SELVES)
    env = SelfPlayVecEnv(game, arguments.envs, pool)
    if arguments.resume is not None:  # before memory is allocated for the widths in the config
        check(folder / CHECKPOINT, game, empty_network(game, arguments.architecture, "outcome").shapes)
    model = new_model(game, env, arguments)
    run = Run.of(folder, game, arguments, command)
    if arguments.resume is not None:
        load_checkpoint(run, model, pool)
        env.learner.set_weights(pool.weights)
    else:
        run.rewind(0, 0.0)
    run.write_config(arguments)
    save_checkpoint(run, model, pool)
    env.seed((arguments.seed + model.num_timesteps) % 2**64)  # other games after a resume than at the start

    print(f"training on {in_words(game)}, in {folder}", flush=True)
    progress = _Progress(arguments, run, env)
    progress.num_timesteps = model.num_timesteps
    rest = progress.steps - model.num_timesteps
    if rest > 0 and not progress.time_is_up:
        _learn(model, rest, progress)
    network = policy_of(model).exported()
    run.finish(arguments.eval_games, network, model.num_timesteps, progress.value_target)
    return folder


def _learn(model: MaskablePPO, steps: int, progress: _Progress) -> None:
    """Train for `steps` more decisions of the learner.

    Raises:
        SystemExit: after Ctrl-C, once a checkpoint is saved.
    """
    run = progress.run
    with progress_bar(unit="decision", unit_scale=True, smoothing=0.1, desc="compiling") as progress.bar:
        run.report = progress.bar.set_description
        SelfPlayVecEnv(progress.env.game, 1, progress.pool).reset()
        run.warm_up(policy_of(model).exported(), progress.value_target)
        with run.interruptible(lambda: save_checkpoint(run, model, progress.pool), Arguments.command):
            model.policy.optimizer.register_step_post_hook(lambda *_: run.check())
            model.learn(steps, callback=progress, reset_num_timesteps=False)
