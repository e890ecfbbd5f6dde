"""The folder of a training run: configuration, metrics, evaluations, best network and plots."""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import io
import math
import platform
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Self

import numpy as np
import tomli_w
import torch
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from garden_agents.evaluation.matches import meet, places, play, scores, table
from garden_agents.evaluation.plots import learning_curves, plot
from garden_agents.evaluation.run_files import (
    CONFIG,
    EVALUATIONS,
    METRICS,
    RESULTS,
    TEAM,
    read_config,
    read_rows,
)
from garden_agents.identity import identity_of
from garden_agents.networks import NETWORK
from garden_agents.networks.architecture import Architecture
from garden_agents.networks.network import Network
from garden_agents.networks.network_agent import NetworkAgent, save_network
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_agents.training.arguments import TrainingArguments, plain
from garden_agents.training.checkpoint import CHECKPOINT, Progress, load, named, save
from garden_agents.training.pool import OpponentPool
from garden_core.batch.batch import Batch
from garden_core.batch.policies import GreedyPolicy, Policy, ask
from garden_core.files.disk import write_atomically, write_json
from garden_core.files.replay import record
from garden_core.game import Game

PACKAGES = ("garden-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")


class Interrupted(KeyboardInterrupt):
    """Ctrl-C was pressed, and the training has reached a point where it can be saved."""


class Run:
    """A training run and the files in its folder.

    These are config.toml (everything that is needed to repeat the run), metrics.csv and TensorBoard's event files,
    evaluations.csv (win rates against the panel during the training), network.safetensors (the network with the best
    evaluation), and at the end curve.png, evaluation.json and game.json (a replay of one game).

    Args:
        folder: folder of the run.
        game: the game.
        architecture: the network's architecture.
        panel: names of the agents that evaluations play against.
        panel_games: games against each agent of the panel.
        seed: seed of the evaluations.
        command: the command that repeats the run.
        threads: threads of the searches in the panel; their moves do not depend on it.

    Attributes:
        report: called with a description of what the run is doing; does nothing by default.
        check: called often during an evaluation; what it raises ends the evaluation.

    Raises:
        ValueError: for an unknown agent in the panel, before the folder is made.
    """

    def __init__(
        self,
        folder: Path,
        game: Game,
        architecture: Architecture,
        panel: Sequence[str],
        panel_games: int,
        seed: int,
        command: str = "",
        threads: int = 1,
    ) -> None:
        self.folder, self.game, self.architecture, self.command = folder, game, architecture, command
        self.panel = (TEAM,) if game.cooperative else tuple(panel)
        self.panel_games, self.seed, self.threads = panel_games, seed, threads
        self.report: Callable[[str], object] = lambda text: None
        self.check: Callable[[], None] = lambda: None
        # Made here, so that an unknown name is an error now and not at the first evaluation.
        self._digests = {name: identity_of(name, game).digest for name in panel if not game.cooperative}
        folder.mkdir(parents=True, exist_ok=True)
        self.past: list[dict[str, float]] = []
        """The rows of evaluations.csv."""
        self._comparable = 0  # how many of them are of the panel as it was before an agent in it changed
        self.seconds_before = 0.0
        """Seconds of training before the run was resumed."""
        self._start: float | None = None
        self._idle = 0.0
        self._board = SummaryWriter(str(folder))

    @classmethod
    def of(cls, folder: Path, game: Game, arguments: TrainingArguments, command: str) -> Self:
        """Return the run with these arguments; raises as the constructor does."""
        a = arguments
        return cls(folder, game, a.architecture, a.panel, a.panel_games, a.seed, command, a.threads)

    def warm_up(self, network: Network, value_target: str) -> None:
        """Compile what evaluations need, before the clock starts."""
        agent: Policy = NetworkAgent(network, value_target)
        others = () if self.game.cooperative else self.panel
        for other in (agent, *(load_agent(name, self.game) for name in others)):
            batch = Batch(self.game, 1, autoreset=False)
            batch.reset(self.seed)
            batch.step(ask(other, batch, batch.all_rows))
        places(self.game, batch.states)
        scores(self.game, batch.states)

    def begin(self, done: float = 0.0, evaluations: int = 0) -> None:
        """Start the clock of a training of which the share `done` is completed, with so many evaluations in all."""
        self._start = time.monotonic()
        self._evaluations = evaluations
        self._evaluated = min(int(done * evaluations), len(self.past))  # one that was interrupted is made up

    def is_due(self, done: float) -> bool:
        """Return whether the next evaluation is due when the share `done` of the training is completed, and count it.

        The last evaluation is part of `finish`.
        """
        due = int(done * self._evaluations)
        if not self._evaluated < due < self._evaluations:
            return False
        self._evaluated = due
        return True

    @contextlib.contextmanager
    def interruptible(self, save: Callable[[], int], command: str) -> Iterator[None]:
        """Context manager of a training: in the end or after Ctrl-C, `save` writes the checkpoint and returns the decisions.

        Ctrl-C takes effect at the next `check`, where the training can be saved. A second Ctrl-C stops at once.

        Raises:
            SystemExit: after Ctrl-C.
        """
        requested = False

        def note(*_: object) -> None:
            nonlocal requested
            if requested:
                raise KeyboardInterrupt
            requested = True
            tqdm.write("stopping; press Ctrl-C again to stop at once without saving", sys.stderr)

        def check() -> None:
            if requested:
                raise Interrupted

        self.check = check
        before = signal.signal(signal.SIGINT, note)
        try:
            with contextlib.suppress(Interrupted):
                yield
            decisions = save()
        finally:
            signal.signal(signal.SIGINT, before)
        if requested:
            raise SystemExit(
                f"stopped at {decisions:,} decisions; continue with: {command} --resume {self.folder}"
            )

    def save(
        self,
        network: Network,
        optimizer: torch.optim.Optimizer,
        decisions: int,
        pool: OpponentPool | None = None,
    ) -> int:
        """Write the checkpoint; return the number of decisions.

        Raises:
            OSError: if the disk is full or the folder cannot be written.
        """
        progress, past = Progress(decisions, self.seconds), []
        if pool is not None:
            progress.ahead, progress.met = pool.ahead.tolist(), pool.met.tolist()
            past = [network.weights for network in pool.networks]
        save(self.folder / CHECKPOINT, self.game, network.weights, optimizer, progress, past)
        return decisions

    def load(
        self, network: Network, optimizer: torch.optim.Optimizer, pool: OpponentPool | None = None
    ) -> int:
        """Restore network, optimizer and pool from the checkpoint, and remove what follows it in the run's files.

        Raises:
            ValueError: if the checkpoint cannot be read or is damaged, or its network or pool is another one.

        Returns:
            The number of decisions.
        """
        path = self.folder / CHECKPOINT
        progress, weights, past = load(path, self.game, network.shapes, optimizer)
        if pool is not None:
            with named(path):
                pool.restore(progress.ahead, progress.met, past, network)
        network.set_weights(weights)
        self.rewind(progress.decisions, progress.seconds)
        return progress.decisions

    @property
    def seconds(self) -> float:
        """Seconds of training so far, evaluations excluded."""
        now = 0.0 if self._start is None else time.monotonic() - self._start - self._idle
        return self.seconds_before + now

    def rewind(self, decisions: int, seconds: float) -> None:
        """Remove the metrics and evaluations after a checkpoint.

        Args:
            decisions: decisions at the checkpoint.
            seconds: seconds of training at the checkpoint.
        """
        for name in (METRICS, EVALUATIONS):
            needed = {"decisions", "seconds", *(self.panel if name == EVALUATIONS else ())}
            rows = [
                row for row in read_rows(self.folder / name, needed) if float(row["decisions"]) <= decisions
            ]
            if rows:
                text = io.StringIO()
                writer = csv.DictWriter(text, rows[0])
                writer.writeheader()
                writer.writerows(rows)
                write_atomically(self.folder / name, text.getvalue().encode())
                if name == EVALUATIONS:
                    self.past = [{key: float(value) for key, value in row.items()} for row in rows]
            else:
                (self.folder / name).unlink(missing_ok=True)
        self.seconds_before = seconds

    def write_config(self, arguments: TrainingArguments) -> None:
        """Write config.toml: the command, the arguments, the game, the versions of the packages and the panel's digests.

        If an agent of a resumed run's panel has changed, say so; which network is the best then depends on evaluations from
        now on alone.
        """
        if self.past:
            before = read_config(self.folder / CONFIG).panel
            changed = [name for name, digest in self._digests.items() if before.get(name, digest) != digest]
            if changed:
                self._comparable = len(self.past)
                print(
                    f"{' and '.join(changed)} changed since the evaluations of this run so far; the best network is chosen "
                    "from the next one on",
                    flush=True,
                )
        config = {
            "command": self.command,
            "trainer": arguments.trainer,
            "arguments": plain(arguments),
            "game": {
                "name": self.game.name,
                "version": self.game.version,
                "options": self.game.option_values,
                "data": self.game.data_digest,
            },
            "panel": self._digests,
            "data_files": {name: file.content for name, file in self.game.data.items()},
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        }
        write_atomically(self.folder / CONFIG, tomli_w.dumps(config).encode())

    def log(self, row: dict[str, float]) -> None:
        """Add a row, with "decisions" and "seconds", to metrics.csv and TensorBoard."""
        self._add(METRICS, "train", row)

    def _add(self, name: str, group: str, row: dict[str, float]) -> None:
        for key, value in row.items():
            if key != "decisions":
                self._board.add_scalar(f"{group}/{key}", value, int(row["decisions"]))
        path = self.folder / name
        new = not path.exists()
        with path.open("a", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, row)
            if new:
                writer.writeheader()
            writer.writerow({key: round(value, 5) for key, value in row.items()})

    def evaluate(self, network: Network, decisions: int, value_target: str) -> None:
        """Evaluate the network against the panel, with the same deals each time; keep it if it is the best so far.

        The best network has the highest mean of the win rates; of equal ones the latest is kept. The time does not
        count as training, in an evaluation that `check` ends neither, which writes nothing.

        Args:
            network: the network.
            decisions: decisions of the learner so far.
            value_target: what the value head predicts, one of `heads.VALUE_TARGETS`.
        """
        start, seconds = time.monotonic(), self.seconds
        agent = NetworkAgent(network, value_target)
        try:
            rates = {name: self._rate(agent, name) for name in self.panel}
            row = {"decisions": float(decisions), "seconds": seconds, **rates}
            if not rates or self._mean(row) >= max(
                map(self._mean, self.past[self._comparable :]), default=-math.inf
            ):
                self.keep(network, decisions, seconds, value_target)
            self.past.append(row)
            self._add(EVALUATIONS, "evaluation", row)
        finally:
            self._idle += time.monotonic() - start

    def _rate(self, agent: Policy, name: str) -> float:
        """Return the win rate against an agent of the panel; in cooperative games the mean outcome of the team."""
        game, n = self.game, self.game.num_players
        games = self.panel_games if game.cooperative else -(-self.panel_games // n) * n
        finished = 0

        def report(ended: int) -> None:
            nonlocal finished
            if ended:
                finished += ended
                self.report(f"evaluating against {name}, {finished} of {games}")
            self.check()

        self.report(f"evaluating against {name}, 0 of {games}")
        if game.cooperative:
            states = play(game, [agent], np.zeros((games, n), np.int64), self.seed, report).states
            return float(scores(game, states).min(1).mean() / game.reward_divisor)
        opponent = load_agent(name, game, self.seed + 1, threads=self.threads)
        return meet(game, ("network", name), (agent, opponent), games, self.seed, report).win_rate

    def _mean(self, row: dict[str, float]) -> float:
        return sum(row[name] for name in self.panel) / len(self.panel)

    def keep(self, network: Network, decisions: int, seconds: float, value_target: str) -> None:
        """Write network.safetensors, with the command and the versions that made it."""
        origin = {
            "command": self.command,
            "seed": self.seed,
            "decisions": decisions,
            "seconds": round(seconds),
            "versions": {name: version(name) for name in PACKAGES},
        }
        save_network(self.folder / NETWORK, self.game, network, self.architecture, value_target, origin)

    def finish(self, games: int, network: Network, decisions: int, value_target: str) -> None:
        """Evaluate the last network, draw the curves, and play the final evaluation and a replay with the best network.

        Args:
            games: games against random and against greedy in the final evaluation; 0 for none.
            network: the last network.
            decisions: decisions of the learner.
            value_target: what the value head predicts.
        """
        if not self.past or self.past[-1]["decisions"] < decisions:
            self.evaluate(network, decisions, value_target)
        self._board.close()
        self._plot()
        agent = NetworkAgent.load(self.folder, self.game, self.seed)
        results = []
        if games > 0 and not self.game.cooperative:
            with progress_bar(total=2 * games, unit="game", desc="evaluation") as bar:
                for number, name in enumerate(("random", "greedy")):
                    opponent = load_agent(name, self.game, self.seed + number)
                    seed = self.seed + 1_000_000 + number
                    results.append(
                        meet(self.game, ("network", name), (agent, opponent), games, seed, bar.update)
                    )
        report = {"decisions": decisions, "results": [dataclasses.asdict(result) for result in results]}
        write_json(self.folder / RESULTS, report)
        seats = [agent if s == 0 else GreedyPolicy(self.seed) for s in range(self.game.num_players)]
        record(self.game, seats, self.seed + 2_000_000).save(self.folder / "game.json")
        if results:
            print(table(results))
        names = sorted(path.name for path in self.folder.iterdir() if "tfevents" not in path.name)
        print(f"files in {self.folder}: {', '.join(names)}")

    def _plot(self) -> None:
        """Plot the win rates against the panel over decisions and over time."""
        columns = {
            name: np.array([row[name] for row in self.past]) for name in ("decisions", "seconds", *self.panel)
        }
        n, team = self.game.num_players, self.game.cooperative
        games = None if team else -(-self.panel_games // n) * n
        with plot(self.folder / "curve.png", 2, (9, 4), sharey=True) as (left, right):
            learning_curves(left, right, columns, games, None if team else 1 / n)
