"""PPO by self-play, with sb3-contrib's MaskablePPO: `garden train mars --num-players 2 --steps 1_000_000`.

A run leaves in its folder what `garden_agents.training.run_folder.Run` lists, and a checkpoint. Ctrl-C saves a checkpoint; `--resume FOLDER`
goes on.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from garden_agents.networks.network_agent import NetworkAgent, empty_policy
from garden_agents.networks.policies import policy_for
from garden_agents.training.arguments import TrainingArguments, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, load, save
from garden_agents.training.pool import OpponentPool, SelfPlayVecEnv
from garden_agents.training.run_folder import Interrupted, Interruption, Run
from garden_core.game import Game
from garden_core.interfaces.sb3 import GardenVecEnv

__all__ = ["Arguments", "new_model", "train"]


@dataclass
class Arguments(TrainingArguments):
    """Train MaskablePPO by self-play on one game, evaluate it, and keep everything in a folder."""

    method = "ppo"

    steps: int | None = None
    """decisions of the learner to train for, if `minutes` do not end sooner; 2,000,000 if neither is given"""

    outcome: float = 0.0
    """initial share of the outcome in the reward; the rest is the margin of points"""
    final_outcome: float = 1.0
    """the same when it ends; in between it changes evenly"""

    envs: int = 128
    """games played at once"""
    rollout: int = 32
    """decisions in each game between two updates"""
    epochs: int = 3
    """passes over a rollout in an update"""
    minibatches: int = 8
    """parts that a pass is cut into"""
    learning_rate: float = 1e-3
    """of Adam, when training begins"""
    final_learning_rate: float = 1e-4
    """the same when it ends; in between it changes evenly"""
    discount: float = 0.995
    """of future rewards, for each decision of the learner"""
    gae_lambda: float = 0.95
    """of generalised advantage estimation"""
    entropy: float = 0.01
    """weight of the entropy bonus when training begins"""
    final_entropy: float = 0.002
    """the same when it ends; in between it changes evenly"""

    start: Path | None = None
    """a network's file to begin with, for example of another number of players, in place of an untrained one"""

    random_share: float = 0.1
    """share of opponents that play at random"""
    greedy_share: float = 0.4
    """share of opponents that play greedily"""
    self_share: float = 0.5
    """share of opponents that are past selves, the hard ones more often"""
    past_selves: int = 6
    """past selves kept; the one beaten most often makes room for a new one"""
    snapshot_every: int = 50_000
    """decisions between two frozen selves"""
    checkpoint_every: int = 200_000
    """decisions between two checkpoints"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "envs", "rollout", "epochs", "minibatches", "snapshot_every", "checkpoint_every")
        self._at_least(0, "steps", "random_share", "greedy_share", "self_share", "past_selves")
        self._at_most(65_536, "envs", "rollout")
        self._at_most(1000, "past_selves")
        self._at_most(10**15, "steps")


def new_model(
    game: Game,
    env: GardenVecEnv,
    network: dict[str, Any],
    *,
    rollout: int = 32,
    epochs: int = 4,
    minibatches: int = 4,
    learning_rate: float = 1e-3,
    discount: float = 0.995,
    gae_lambda: float = 0.95,
    entropy: float = 0.01,
    seed: int = 0,
) -> MaskablePPO:
    """Return an untrained model whose rollouts are `rollout` decisions in every row of `env`.

    `network` has the arguments of `garden_agents.networks.policies.policy_for`: kind, channels, hidden.
    """
    policy, policy_kwargs = policy_for(game, **network)
    return MaskablePPO(
        policy,
        env,
        n_steps=rollout,
        batch_size=rollout * env.num_envs // minibatches,
        n_epochs=epochs,
        learning_rate=learning_rate,
        gamma=discount,
        gae_lambda=gae_lambda,
        ent_coef=entropy,
        policy_kwargs=policy_kwargs,
        seed=seed,
        device="cpu",
    )


def save_checkpoint(run: Run, model: MaskablePPO, pool: OpponentPool) -> None:
    """Write the run's checkpoint: network, optimizer, pool, how far it has come.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
    """
    progress = Progress(model.num_timesteps, run.seconds, pool.ahead.tolist(), pool.met.tolist())
    save(run.folder / CHECKPOINT, model.policy, model.policy.optimizer, progress, pool.networks)


def load_checkpoint(run: Run, model: MaskablePPO, pool: OpponentPool) -> None:
    """Restore what `save_checkpoint` wrote, and go back to what the run knew then.

    Raises:
        ValueError: if the checkpoint cannot be read, is damaged, or is of another network or pool.
    """
    path = run.folder / CHECKPOINT
    progress, past = load(path, model.policy, model.policy.optimizer)
    try:
        pool.restore(progress.ahead, progress.met, past, model.policy)
    except ValueError as error:
        raise ValueError(f"{path} is no checkpoint of this training: {error}") from None
    model.num_timesteps = progress.decisions
    run.rewind(progress.decisions, progress.seconds)


class _Progress(BaseCallback):
    """What happens beside learning: schedules, progress bar, metrics, frozen selves, evaluations, checkpoints."""

    def __init__(self, arguments: Arguments, run: Run, env: SelfPlayVecEnv) -> None:
        super().__init__()
        self.arguments, self.run, self.env, self.pool = arguments, run, env, env.pool
        self.evaluations = arguments.evaluation_count(arguments.minutes)
        self.bar: Any = None
        default = 2_000_000 if arguments.minutes is None else 10**12
        self.steps: int = default if arguments.steps is None else arguments.steps
        self.limit = math.inf if arguments.minutes is None else arguments.minutes * 60
        self.evaluated = 0

    @property
    def _ppo(self) -> MaskablePPO:
        assert isinstance(self.model, MaskablePPO)
        return self.model

    @property
    def late(self) -> bool:
        """Whether the time is over."""
        return self.run.seconds >= self.limit

    @property
    def value_target(self) -> str:
        """What the network's value value_target, mostly."""
        if self.env.game.cooperative:
            return "score"
        return "outcome" if self.env.outcome_share >= 0.5 else "margin"

    def _progress(self) -> float:
        """How much of the training is done, 0 to 1, by decisions or by time."""
        return min(1.0, max(self.num_timesteps / self.steps, self.run.seconds / self.limit))

    def _on_training_start(self) -> None:
        self.run.begin()  # not earlier: the first reset may have compiled for a while
        self.next_freeze = self._next(self.arguments.snapshot_every)
        self.next_checkpoint = self._next(self.arguments.checkpoint_every)
        self.evaluated = int(self._progress() * self.evaluations)
        self.bar.reset(None if self.arguments.minutes else self.steps)
        self.bar.update(self.num_timesteps)
        self.run.report("training")
        self._set_schedules()

    def _next(self, interval: int) -> int:
        return (self.num_timesteps // interval + 1) * interval

    def _on_step(self) -> bool:
        self.run.check()
        self.bar.update(self.num_timesteps - self.bar.n)
        return not self.late

    def _on_rollout_end(self) -> None:
        self._expect()
        rates = self.pool.rates()
        self.bar.set_postfix_str(", ".join(f"{name} {rate:.0%}" for name, rate in rates.items()))
        self._set_schedules()
        if self.num_timesteps >= self.next_freeze:
            self.next_freeze = self._next(self.arguments.snapshot_every)
            self.pool.freeze(self.model.policy)
        self.env.learner.set_weights(self.pool.weights)
        if self.num_timesteps >= self.next_checkpoint:
            self.next_checkpoint = self._next(self.arguments.checkpoint_every)
            save_checkpoint(self.run, self._ppo, self.pool)
        self._log(rates)
        due = int(self._progress() * self.evaluations)
        if self.evaluated < due < self.evaluations:  # the last one comes after the last update
            self.evaluated = due
            self.run.evaluate(self.model.policy, self.num_timesteps, self.value_target)
            self.model.policy.set_training_mode(True)
            self.run.report("training")

    def _set_schedules(self) -> None:
        """Set what changes evenly over the training."""
        a, done = self.arguments, self._progress()

        def between(first: float, last: float) -> float:
            return first + (last - first) * done

        self.env.outcome_share = between(a.outcome, a.final_outcome)
        rate = between(a.learning_rate, a.final_learning_rate)
        self._ppo.lr_schedule = lambda _: rate
        self._ppo.ent_coef = between(a.entropy, a.final_entropy)

    def _expect(self) -> None:
        """With a limit of time, have the bar end where the present pace will lead."""
        if self.arguments.minutes is not None:
            pace = self.num_timesteps / self.run.seconds
            self.bar.total = max(self.num_timesteps, min(self.steps, int(pace * self.limit)))

    def _log(self, rates: dict[str, float]) -> None:
        losses = self.model.logger.name_to_value
        self.run.log(
            {
                "decisions": self.num_timesteps,
                "seconds": self.run.seconds,
                "decisions_per_second": self.num_timesteps / self.run.seconds,
                **{
                    f"ahead_of_{name}": rates.get(name, float("nan")) for name in ("random", "greedy", "self")
                },
                **{key: float(losses.get(f"train/{key}", "nan")) for key in _LOSSES},
                "outcome_share": self.env.outcome_share,
                "learning_rate": self._ppo.lr_schedule(1),
                "entropy_weight": self._ppo.ent_coef,
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
    """Train, evaluate and write the run's folder; return it.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), for a folder that cannot be resumed, or for the option
            "reward", which training sets itself.
    """
    folder, arguments, game, command = open_run(arguments)
    if "reward" in arguments.options:
        raise SystemExit("training sets the reward: choose by --outcome and --final-outcome, 0 (margin) to 1")
    torch.set_num_threads(arguments.threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    game = type(game)(**{**game.arguments, "reward": "margin"})
    pool = OpponentPool(
        (arguments.random_share, arguments.greedy_share, arguments.self_share), arguments.past_selves
    )
    env = SelfPlayVecEnv(game, arguments.envs, pool)
    network = arguments.architecture
    if arguments.resume is not None:  # before memory is taken for what a config claims
        check(folder / CHECKPOINT, empty_policy(game, network))
    settings = {name: getattr(arguments, name) for name in MODEL_SETTINGS}
    model = new_model(game, env, network, **settings)
    if arguments.resume is None and arguments.start is not None:
        _begin_with(arguments.start, model, game, network)
    run = Run.of(folder, game, arguments, command)
    if arguments.resume is not None:
        load_checkpoint(run, model, pool)
        env.learner.set_weights(pool.weights)
    else:
        run.rewind(0, 0.0)
    run.write_config(arguments)
    save_checkpoint(run, model, pool)
    env.seed((arguments.seed + model.num_timesteps) % 2**64)  # after a resume other games than at the start

    print(f"training on {game!r} in {folder}")
    progress = _Progress(arguments, run, env)
    rest = progress.steps - model.num_timesteps
    if rest > 0 and not progress.late:
        _learn(model, rest, progress)
    run.finish(arguments.eval_games, model.policy, model.num_timesteps, progress.value_target)
    return folder


def _begin_with(path: Path, model: MaskablePPO, game: Game, network: dict[str, Any]) -> None:
    """Give the model the weights of a network's file."""
    first = NetworkAgent.load(path, game, allow_other_options=True)
    if first.config["network"] != network:
        raise ValueError(f"{path} is built as {first.config['network']}, not as {network}")
    model.policy.load_state_dict(first.policy.state_dict())


def _learn(model: MaskablePPO, steps: int, progress: _Progress) -> None:
    """Learn for so many decisions more; the bar says what is going on.

    Raises:
        SystemExit: after Ctrl-C, once a checkpoint is saved.
    """
    run = progress.run
    with tqdm(unit="decision", unit_scale=True, smoothing=0.1, desc="compiling") as progress.bar:
        run.report = progress.bar.set_description
        SelfPlayVecEnv(progress.env.game, 1, progress.pool).reset()
        run.warm_up(model.policy)
        with Interruption() as interruption:
            run.check = interruption.check
            model.policy.optimizer.register_step_post_hook(lambda *_: interruption.check())
            with contextlib.suppress(Interrupted):
                model.learn(steps, callback=progress, reset_num_timesteps=False)
            save_checkpoint(run, model, progress.pool)
    if interruption.requested:
        raise SystemExit(
            f"stopped at {model.num_timesteps:,} decisions; go on with: garden train --resume {run.folder}"
        )


MODEL_SETTINGS = (
    "rollout", "epochs", "minibatches", "learning_rate", "discount", "gae_lambda", "entropy", "seed",
)  # fmt: skip
