"""The training loop of both trainers: preparation, games and updates, evaluations, checkpoints."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

from garden_agents.networks.architecture import check_inputs, empty_network, new_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network_agent import start_from
from garden_agents.progress import progress_bar
from garden_agents.training.arguments import TrainingArguments, in_words
from garden_agents.training.checkpoint import CHECKPOINT, check
from garden_agents.training.pool import OpponentPool
from garden_agents.training.run_folder import Run
from garden_agents.training.torch_network import TorchNetwork
from garden_core.batch.batch import Batch
from garden_core.batch.games import games_of
from garden_core.game import Game


class Loop(ABC):
    """A new or resumed training.

    Args:
        folder, arguments, game, command: see `open_run`.
        device: device on which the network learns.
        target: value target of the network, one of `heads.VALUE_TARGETS`; default: `heads.target_of(game)`.
        run: the class of the run.

    Attributes:
        network, torch_network: the network and its torch parameters.
        optimizer: the network's optimizer; subclasses make it.
        games: the game, or the variants to learn from, whose first one is `game`.
        rng: generator for minibatches.
        pool: the opponent pool; subclasses make it.
        decisions: number of decisions so far.

    Raises:
        ValueError: for a checkpoint or an initial network that is damaged or does not fit, and for unknown agents; before the
            folder is made.
    """

    optimizer: torch.optim.Optimizer
    pool: OpponentPool

    def __init__(
        self,
        folder: Path,
        arguments: TrainingArguments,
        game: Game,
        command: str = "",
        device: str = "cpu",
        target: str | None = None,
        run: type[Run] = Run,
    ) -> None:
        torch.set_num_threads(1)  # `TorchNetwork` has its own threads
        self.games = arguments.played.of(game)
        game = self.games[0]
        self.arguments, self.game, self.target = arguments, game, target or target_of(game)
        architecture, start = arguments.architecture, getattr(arguments, "start", None)
        games_of(self.games)  # raises ValueError unless they go together
        check_inputs(self.games, architecture)
        n = max(each.num_players for each in self.games)
        if arguments.resume is not None:  # before memory is allocated for the widths in the config
            check(folder / CHECKPOINT, game, empty_network(game, architecture, self.target, n).shapes)
        self.network = new_network(game, architecture, self.target, arguments.seed, n)
        if start is not None and arguments.resume is None:
            start_from(start, self.network, game, architecture)
        self.run = run(folder, arguments, game, command, self.games)
        self.torch_network = TorchNetwork(self.network, device, arguments.threads)
        self.rng = np.random.default_rng(arguments.seed)
        self.decisions = self._saved = 0

    @property
    def done(self) -> float:
        """Completed share of the training; it ends at 1."""
        a = self.arguments
        return self._share(a.max_steps, a.minutes)

    @property
    def seconds(self) -> float:
        """Seconds of training so far, for limits and schedules."""
        return self.run.seconds

    @property
    def schedule_done(self) -> float:
        """Completed share of the schedules; they keep their length when a resumed training gets another one."""
        return self._share(*self.arguments.schedule_limits.values())

    def _share(self, steps: float | None, minutes: float | None) -> float:
        """Return the completed share of a length in decisions and minutes, None for no limit; at most 1."""
        by_steps = 0.0 if steps is None else self.decisions / steps if steps else 1.0
        return min(1.0, max(by_steps, 0.0 if minutes is None else self.seconds / (60 * minutes)))

    @abstractmethod
    def source(self) -> Any:
        """Return the games, after compiling everything that the training needs."""

    @abstractmethod
    def learn_from(self, source: Any) -> None:
        """Play and learn until the training is done."""

    def train(self) -> Path:
        """Train and evaluate; write the run's folder and return its path.

        Raises:
            SystemExit: after Ctrl-C, once a checkpoint is saved.
            ValueError: for a checkpoint that is damaged or does not fit, and if the training diverges (`check_finite`).
        """
        with contextlib.closing(self.run):
            self._train()
        return self.run.folder

    def _train(self) -> None:
        if self.arguments.resume is None:
            self.run.rewind(0, 0.0)
        else:
            self.load()
        self.run.write_config()
        self.save()
        if self.run.shown:
            several = f", {len(self.games):,} variants" if len(self.games) > 1 else ""
            print(f"training on {in_words(self.game)}{several}, in {self.run.folder}", flush=True)
            if same := _seen_alike(self.games[:100]):
                print(f"observations do not tell {same[0]} and {same[1]} apart at the deal", flush=True)
        if self.done < 1:
            if self.run.shown:
                self._report_schedules()
            look = {"unit": "decision", "unit_scale": True, "smoothing": 0.1, "disable": not self.run.shown}
            with progress_bar(desc="compiling", **look) as self.bar:
                self.run.report = self.bar.set_description
                source = self.source()
                self.run.warm_up(self.network, self.target)
                with self.run.interruptible(self.save):
                    self.learn_from(source)
        self.run.finish(self.network, self.decisions, self.target)

    def _report_schedules(self) -> None:
        """Print a sentence if a resumed training has another length than its schedules."""
        a = self.arguments
        if not (a.schedule_steps or a.schedule_minutes):
            return
        if self.schedule_done == 1:
            print(
                "the schedules of this run have ended: learning rate, objective and entropy bonus keep their final values"
            )
            return
        steps = "" if a.schedule_steps is None else f"{a.schedule_steps:,} decisions"
        minutes = "" if a.schedule_minutes is None else f"{a.schedule_minutes:g} minutes"
        length = " or ".join(filter(None, (steps, minutes)))
        print(f"the schedules of this run keep the length that it started with, {length}")

    def save(self) -> int:
        """Write the checkpoint and return the number of decisions.

        Raises:
            ValueError: see `check_finite`.
        """
        self.torch_network.synchronise()
        self.check_finite()
        self._saved = self.run.save(self.network, self.optimizer, self.decisions, self.pool)
        return self._saved

    def check_finite(self, *losses: float) -> None:
        """Check after an update that the training did not diverge.

        Args:
            losses: losses of the update.

        Raises:
            ValueError: if a loss or a weight is not finite. The last checkpoint stays as it is.
        """
        if np.isfinite(losses).all() and np.isfinite(self.network.parameters.sum()):
            return
        rate = self.optimizer.param_groups[0]["lr"]
        raise ValueError(
            f"the training diverged: after the update at {self.decisions:,} decisions losses or weights are not finite. "
            f"The learning rate, {rate:.2g}, is probably too high: begin a new run with a lower --learning-rate. "
            f"The last checkpoint, at {self._saved:,} decisions, is kept: {self.run.again}"
        )

    def load(self) -> None:
        """Restore the training and the run from the checkpoint.

        Raises:
            ValueError: if the checkpoint cannot be read, is damaged, or its network or pool does not fit.
        """
        self.decisions = self._saved = self.run.load(self.network, self.optimizer, self.pool)
        self.torch_network.take_weights()
        self.rng = np.random.default_rng((self.arguments.seed, self.decisions))

    def evaluate(self) -> None:
        """Evaluate the network."""
        self.run.evaluate(self.network, self.decisions, self.target)
        self.run.report("training")

    def interpolated(self, first: float, last: float) -> float:
        """Interpolate linearly from `first` to `last` over the schedules' length."""
        return first + (last - first) * self.schedule_done

    def begin(self) -> None:
        """Start the clock and the progress bar."""
        a = self.arguments
        self.run.begin(self.done, a.minutes)
        self._previous, self._kept = self.decisions, self._kept_due()
        self.bar.reset(None if a.minutes else a.max_steps)
        self.bar.update(self.decisions)
        self.run.report("training")

    def _passed(self, interval: int) -> bool:
        """Return whether the last update completed another `interval` decisions."""
        return self.decisions // interval > self._previous // interval

    def freeze(self) -> None:
        """Add a past self to the pool if one is due."""
        if self._passed(max(1, self.arguments.checkpoint_every // 4)):
            self.pool.freeze(self.network)

    def _kept_due(self) -> int:
        """Return how many networks should have been kept by now."""
        return int(self.done * self.arguments.keep_checkpoints)

    def conclude(self, metrics: Mapping[str, float]) -> None:
        """Log an update's metrics, show the progress, and save, keep the network and evaluate if due."""
        a = self.arguments
        if self._passed(a.checkpoint_every):
            self.save()
        self._previous = self.decisions
        seconds = self.seconds
        rate = self.decisions / seconds
        if a.minutes is not None:  # the number of decisions at the present speed
            self.bar.total = max(self.decisions, min(a.max_steps, int(rate * a.max_seconds)))
        self.bar.update(self.decisions - self.bar.n)
        progress = {"decisions": self.decisions, "seconds": seconds, "decisions_per_second": rate}
        self.run.log(progress | dict(metrics))
        if (due := self._kept_due()) > self._kept:
            self._kept = due
            self.run.keep(self.network, self.decisions, seconds, self.target, checkpoint=True)
        if self.run.is_due(self.done):
            self.evaluate()
            self.save()


def _seen_alike(games: Sequence[Game]) -> tuple[Game, Game] | None:
    """Return two games whose observations after the same deal are equal, if there are any."""
    found: dict[bytes, Game] = {}
    for game in games:
        batch = Batch(game, 1)
        batch.reset(0)
        first = found.setdefault(batch.flat.tobytes(), game)
        if first is not game:
            return first, game
    return None
