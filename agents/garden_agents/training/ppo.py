"""PPO by self-play: `garden train mars --minutes 10`.

Every seat that the current network plays is learned from; a decision is credited with all that its seat gets until the
seat's own next decision (J. Schulman et al., "Proximal policy optimization algorithms", 2017; advantages as in J. Schulman
et al., "High-dimensional continuous control using generalized advantage estimation", 2016, without discount). In a share
of the games one seat is the network's and the others are drawn from an opponent pool. The training begins by imitating
greedy play, whose weight in the loss then falls to 0.

A run's folder holds the files that `garden_agents.training.run_folder.Run` lists, and a checkpoint. Ctrl-C saves the
checkpoint; `--resume FOLDER` continues from it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import torch

from garden_agents.registry import load_agent
from garden_agents.training import ppo_arguments
from garden_agents.training.arguments import in_words, open_run
from garden_agents.training.credit import Rollout
from garden_agents.training.loop import Loop, carry_out
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_update import Schedule, Update
from garden_agents.training.run_folder import Run
from garden_agents.training.self_play import SelfPlay
from garden_agents.training.tensor_self_play import TensorSelfPlay
from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy
from garden_core.game import Game

Arguments = ppo_arguments.Arguments
A = TypeVar("A", bound="Arguments")
Source = SelfPlay | TensorSelfPlay
"""Where rollouts come from, on the CPU or on a GPU."""


class Training(Loop):
    """The training loop: games, updates, evaluations, checkpoints.

    Args:
        arguments: the training's arguments.
        run: the run's folder.
        game: the game with the reward "margin".
        agents: the further agents in the pool.
    """

    title = "training on"
    arguments: Arguments
    pool: OpponentPool

    def __init__(self, arguments: Arguments, run: Run, game: Game, agents: Sequence[Policy] = ()) -> None:
        super().__init__(arguments, run, game, arguments.device)
        a = arguments
        self.bar_settings = {"unit": "decision", "unit_scale": True, "smoothing": 0.1}
        self.update = Update(game, self.torch_network, a)
        self.optimizer, self.rng = self.update.optimizer, self.update.rng
        self.agents, self.pool = agents, a.pool(agents)
        self.steps = (2_000_000 if a.minutes is None else 10**12) if a.steps is None else a.steps
        self.limit = math.inf if a.minutes is None else a.minutes * 60

    @property
    def done(self) -> float:
        """Completed share of the training, 0 to 1, by decisions or by time, whichever is larger."""
        return min(
            1.0, max(self.decisions / self.steps if self.steps else 1.0, self.run.seconds / self.limit)
        )

    @property
    def imitation(self) -> float:
        """Weight of imitation in the loss, 1 to 0; that of PPO's loss is the rest."""
        share = self.arguments.imitation
        if self.arguments.values_only or not share:
            return 0.0
        return max(0.0, 1 - max(self.done / share, self.decisions / ppo_arguments.IMITATION_DECISIONS))

    def _between(self, first: float, last: float) -> float:
        """Interpolate linearly from `first` to `last` over the training."""
        return first + (last - first) * self.done

    @property
    def schedule(self) -> Schedule:
        """The settings as they are now."""
        a = self.arguments
        entropy = self._between(a.entropy, ppo_arguments.FINAL_ENTROPY)
        rate = self._between(*a.learning_rates)
        return Schedule(self._between(a.outcome, 1.0), entropy, self.imitation, rate)

    def source(self) -> Source:
        a, seed = self.arguments, self.arguments.seed + self.decisions
        games = self._games(a.pool(self.agents), 0)
        self.update.compile(games.rollout(with_greedy=a.imitation > 0))
        return self._games(self.pool, seed)

    def _games(self, pool: OpponentPool, seed: int) -> Source:
        """Return games on the device of the network."""
        games = TensorSelfPlay if self.torch_network.by_torch else SelfPlay
        return games(self.game, self.torch_network, pool, self.arguments, seed)

    def learn_from(self, source: Source) -> None:
        a = self.arguments
        self.run.begin(self.done, a.evaluation_count(a.minutes))
        self.bar.reset(None if a.minutes else self.steps)
        self.bar.update(self.decisions)
        self.run.report("training")
        snapshot_every = max(1, a.checkpoint_every // 4)
        snapshots, checkpoints = self.decisions // snapshot_every, self.decisions // a.checkpoint_every
        while self.done < 1:
            rollout = source.rollout(with_greedy=self.imitation > 0)
            self.run.check()
            if not len(rollout.chosen):  # too short for a seat to come to its next decision
                continue
            losses = self.learn(rollout)
            if a.pool_share and self.decisions // snapshot_every > snapshots:
                snapshots = self.decisions // snapshot_every
                self.pool.freeze(self.network)
            if self.decisions // a.checkpoint_every > checkpoints:
                checkpoints = self.decisions // a.checkpoint_every
                self.save()
            self._log(losses)
            if self.run.is_due(self.done):
                self.run.evaluate(self.network, self.decisions, self.target)
                self.save()
                self.run.report("training")

    def learn(self, rollout: Rollout) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses."""
        losses = self.update(rollout, self.schedule, self.run.check)
        self.decisions += len(rollout.chosen)
        self.torch_network.synchronise()
        return losses

    def _log(self, losses: dict[str, float]) -> None:
        """Show and write the progress."""
        seconds = self.run.seconds
        if self.arguments.minutes is not None:  # the length that the present speed will reach
            self.bar.total = max(self.decisions, min(self.steps, int(self.decisions / seconds * self.limit)))
        self.bar.update(self.decisions - self.bar.n)
        self.run.log(
            {
                "decisions": self.decisions,
                "seconds": seconds,
                "decisions_per_second": self.decisions / seconds,
                **self.pool.report(self.bar, ("random", "greedy", "agents", "self")),
                **losses,
                "imitation": self.imitation,
                "first_place_share": self.schedule.outcome,
                "learning_rate": self.optimizer.param_groups[0]["lr"],
            }
        )

    def load(self) -> None:
        super().load()
        self.update.rng = self.rng


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: as `arguments.open_run`, after Ctrl-C (a checkpoint is saved), and where `device` is cuda and games or
            torch find no GPU.
        ValueError: for a config, checkpoint or initial network that is damaged or does not fit, and unknown agents.
    """
    return trained(arguments)[0]


def trained(arguments: A) -> tuple[Path, A, Game]:
    """Do what `train` does; return the run's folder, its arguments and its game."""
    folder, arguments, game, command = open_run(arguments)
    # config.toml is to hold it, given or not
    arguments = dataclasses.replace(arguments, learning_rate=arguments.learning_rates[0])
    if arguments.device == "cuda":
        if not torch.cuda.is_available():
            raise SystemExit(f"--device cuda: torch {torch.__version__} finds no GPU")
        try:
            Batch(game, 1, device="cuda")
        except (ImportError, RuntimeError) as error:
            raise SystemExit(f"--device cuda: {error}") from None
    if game.cooperative and arguments.pool_share:
        raise SystemExit(f"in {in_words(game)} there are no opponents for a pool: leave out pool_share")
    agents = [load_agent(name, game, arguments.seed + i) for i, name in enumerate(arguments.pool_agents)]
    carry_out(Training, folder, arguments, game, command, agents)
    return folder, arguments, game
