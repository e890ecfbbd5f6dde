"""The folder of a training run: configuration, metrics, evaluations, best network and plots."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import platform
import shlex
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np
import tomli_w
import torch
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from garden_agents.evaluation.sequential import SequentialTest
from garden_agents.matches.jobs import blocks
from garden_agents.matches.meet import alone, alone_shares, places, play, scores
from garden_agents.matches.pairs import BLOCK
from garden_agents.networks import NETWORK, SUFFIX
from garden_agents.networks.network import Network
from garden_agents.networks.network_agent import NetworkAgent, save_network
from garden_agents.plots import plot
from garden_agents.report.curves import learning_curves
from garden_agents.report.run_files import (
    CONFIG,
    EVALUATIONS,
    KEPT,
    METRICS,
    RESULTS,
    read_config,
    read_rows,
)
from garden_agents.training.arguments import TrainingArguments, check_empty, plain
from garden_agents.training.checkpoint import CHECKPOINT, Progress, load, named, save
from garden_agents.training.measures import measure_of
from garden_agents.training.pool import OpponentPool
from garden_core.batch.batch import Batch
from garden_core.batch.policies import GreedyPolicy, Policy, ask
from garden_core.files.disk import Lock, append, new_folder, open_to_append, write_atomically, write_json
from garden_core.game import Game
from garden_core.recorded.replay import record

CHECKPOINTS = "checkpoints"
"""Subfolder with the networks of --keep-checkpoints."""
PACKAGES = ("garden-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
COMPARED_ELO = (-40.0, 0.0)
"""A network replaces the kept one if it leads by more than the first, not if by less than the second, see `SequentialTest`.

One that is as strong has learned longer, so it is seldom rejected."""
COMPARED_ERRORS = (0.1, 0.1)
COMPARED_GAMES = 400
"""Largest number of games of two networks; if a comparison is still open then, the later network replaces the kept one."""


class Interrupted(KeyboardInterrupt):
    """Raised after Ctrl-C at the next point where the training can be saved."""


class Run:
    """A training run and the files in its folder.

    The files are config.toml (everything needed to repeat the run), metrics.csv and TensorBoard's event files,
    evaluations.csv (ratings, or win rates, during the training), network.safetensors (the best network so far), and
    at the end curve.png, evaluation.json and game.json (a replay of one game).

    Args:
        folder, arguments, game, command: see `open_run`. A new folder gets a number after its name if another process took
            the name, unless the arguments name it.
        games: the variants that the network learns, the first one `game`; `game` alone if there are none.

    Attributes:
        shown: whether this process prints and shows the progress.
        report: called with a description of the run's current work; does nothing by default.
        check: called often during an evaluation; an exception that it raises ends the evaluation.
        past: rows of evaluations.csv.
        seconds_before: seconds of training before the run was resumed.

    Raises:
        ValueError: for an unknown opponent, before the folder is made, and for a folder that another process uses.
        SystemExit: if the folder of a new run already contains a run.
    """

    shown = True

    def __init__(
        self,
        folder: Path,
        arguments: TrainingArguments,
        game: Game,
        command: str = "",
        games: Sequence[Game] = (),
    ) -> None:
        self.folder, self.arguments, self.game, self.command = folder, arguments, game, command
        self.games = games or [game]
        self.report: Callable[[str], object] = lambda text: None
        self.check: Callable[[], None] = lambda: None
        self.past: list[dict[str, float]] = []
        self.seconds_before = 0.0
        self._start: float | None = None
        self._idle = 0.0
        self._rewound = 0  # decisions at the checkpoint
        self._board: SummaryWriter | None = (
            None  # from the first row on, as its file removes later events of older ones
        )
        self.open()

    def open(self) -> None:
        """Choose what evaluations measure, and make the folder this process's own; errors as the class."""
        a = self.arguments  # now, so that an unknown opponent is no error of the first evaluation
        generated = a.played.card_sets > 0
        self.measure = measure_of(self.games, a.evaluation_games, a.seed, a.opponents, a.threads, generated)
        if a.run is None and a.resume is None:
            self.folder = new_folder(self.folder)
        else:
            self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = Lock(self.folder)
        if a.resume is None:
            check_empty(self.folder)  # again, as another process may have trained there in the meantime

    def close(self) -> None:
        """Write everything to the disk, and let other processes use the folder."""
        if self._board is not None:
            self._board.close()
        self._lock.close()

    def warm_up(self, network: Network, value_target: str) -> None:
        """Compile the code of evaluations, before the clock starts."""
        agents: list[Policy] = [NetworkAgent(network, value_target)]
        agents += self.measure.opponents()
        for agent in agents:
            batch = Batch(self.game, 1, autoreset=False)
            batch.reset(self.arguments.seed)
            batch.step(ask(agent, batch, batch.all_rows))
        places(self.game, batch.states)
        scores(self.game, batch.states)

    def begin(self, done: float = 0.0, minutes: float | None = None) -> None:
        """Start the clock.

        Args:
            done: completed share of the training.
            minutes: length of the whole training; None if it is limited by steps only.
        """
        self._start = time.monotonic()
        default = 4 if minutes is None else max(2, round(minutes / 5))
        given = self.arguments.evaluations
        self._evaluations = default if given is None else given
        self._evaluated = min(int(done * self._evaluations), len(self.past))  # repeats an interrupted one

    def is_due(self, done: float) -> bool:
        """Return whether the next evaluation is due at the completed share `done` of the training, and count it.

        `finish` makes the last evaluation.
        """
        due = int(done * self._evaluations)
        if not self._evaluated < due < self._evaluations:
            return False
        self._evaluated = due
        return True

    @contextlib.contextmanager
    def interruptible(self, save: Callable[[], int]) -> Iterator[None]:
        """Context manager of a training: at its end, call `save`, which returns the number of decisions.

        So too if a file cannot be written, and after Ctrl-C, which takes effect at the next `check`, when the training can be
        saved. A second Ctrl-C stops at once. In a thread that is not the main one, Ctrl-C is left to the caller.

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
        main = threading.current_thread() is threading.main_thread()
        previous = signal.signal(signal.SIGINT, note) if main else None
        try:
            try:
                yield
            except Interrupted:
                pass
            except OSError as error:
                with contextlib.suppress(OSError):  # the first one tells what is wrong
                    save()
                    error.add_note(f"the training is saved; continue with: {self.again}")
                raise
            decisions = save()
        finally:
            if main:
                signal.signal(signal.SIGINT, previous)
        if requested:
            raise SystemExit(f"stopped at {decisions:,} decisions; continue with: {self.again}")

    @property
    def again(self) -> str:
        """The command that continues the run."""
        return f"{self.arguments.command} --resume {shlex.quote(str(self.folder))}"

    def save(
        self,
        network: Network,
        optimizer: torch.optim.Optimizer,
        decisions: int,
        pool: OpponentPool,
    ) -> int:
        """Write the checkpoint; return the number of decisions.

        Raises:
            OSError: if the disk is full or the folder cannot be written.
        """
        progress = Progress(decisions, self.seconds, pool.ahead.tolist(), pool.met.tolist())
        past = [network.weights for network in pool.networks]
        save(self.folder / CHECKPOINT, self.game, network.weights, optimizer, progress, past)
        return decisions

    def load(self, network: Network, optimizer: torch.optim.Optimizer, pool: OpponentPool) -> int:
        """Restore network, optimizer and pool from the checkpoint, remove later metrics and return the number of decisions.

        Raises:
            ValueError: if the checkpoint cannot be read, is damaged, or its network or pool does not fit.
        """
        path = self.folder / CHECKPOINT
        progress, weights, past = load(path, self.game, network.shapes, optimizer)
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
        """Remove the metrics, evaluations and kept networks after a checkpoint, in TensorBoard too.

        Args:
            decisions: decisions at the checkpoint.
            seconds: seconds of training at the checkpoint.
        """
        for name in (METRICS, EVALUATIONS):
            needed = {"decisions", "seconds", *((KEPT, *self.measure.columns) if name == EVALUATIONS else ())}
            rows = [
                row for row in read_rows(self.folder / name, needed) if float(row["decisions"]) <= decisions
            ]
            if name == EVALUATIONS:
                self.past = [{key: float(value) for key, value in row.items()} for row in rows]
            if not rows:
                (self.folder / name).unlink(missing_ok=True)
                continue
            text = io.StringIO()
            writer = csv.DictWriter(text, rows[0])
            writer.writeheader()
            writer.writerows(rows)
            write_atomically(self.folder / name, text.getvalue().encode())
        for path in (self.folder / CHECKPOINTS).glob(f"*{SUFFIX}"):
            if path.stem.isdecimal() and int(path.stem) > decisions:
                path.unlink()
        self.seconds_before = seconds
        self._rewound = decisions

    def write_config(self) -> None:
        """Write config.toml: the command, the arguments, the game, the versions of the packages and what is measured.

        If a resumed run measured something else before, print a message.
        """
        *_, build = self.game.state_dtype.names or ()
        if self.past:
            config_before = read_config(self.folder / CONFIG)
            if config_before.game.get("rules", build) != build:
                print(
                    f"the code of {self.game.name}'s rules changed since this run began: if it plays differently now, give it another version, "
                    "and begin a new run",
                    flush=True,
                )
            before, now = config_before.measure, self.measure.identity
            changed = [name for name, what in now.items() if before.get(name, what) != what]
            if changed:
                print(
                    f"{' and '.join(changed)} changed since the evaluations of this run so far: "
                    "they do not compare with later ones",
                    flush=True,
                )
        config = {
            "command": self.command,
            "trainer": self.arguments.trainer,
            "arguments": plain(self.arguments),
            "game": {
                "name": self.game.name,
                "version": self.game.version,
                "options": self.game.option_values,
                "data": self.game.data_digest,
                "rules": build,
            },
            "measure": self.measure.identity,
            "data_files": {name: file.content for name, file in self.game.data.items()},
            "versions": {"python": platform.python_version(), **_versions()},
        }
        write_atomically(self.folder / CONFIG, tomli_w.dumps(config).encode())

    def log(self, row: dict[str, float]) -> None:
        """Add a row, with "decisions" and "seconds", to metrics.csv and TensorBoard."""
        self._add(METRICS, "train", row)

    def _add(self, name: str, group: str, row: dict[str, float]) -> None:
        """Add a row to the file `name`, and to the group `group` of TensorBoard."""
        if self._board is None:
            self._board = SummaryWriter(str(self.folder), purge_step=self._rewound + 1)
        for key, value in row.items():
            if key != "decisions":
                self._board.add_scalar(f"{group}/{key}", value, int(row["decisions"]))
        text = io.StringIO()
        writer = csv.DictWriter(text, row)
        with open_to_append(self.folder / name) as file:
            if not file.seek(0, os.SEEK_END):
                writer.writeheader()
            writer.writerow({key: round(value, 5) for key, value in row.items()})
            append(file, text.getvalue().encode())

    def evaluate(self, network: Network, decisions: int, value_target: str) -> None:
        """Evaluate the network, with the same deals each time; keep it if it is not weaker than the kept one.

        The network replaces the kept one unless it is weaker in games between them, see `_is_weaker`. If there are no such games (in
        cooperative games, for best responses and several numbers of players), it replaces it if the mean of its numbers is not below the highest one.
        Training time excludes evaluations. An interrupted evaluation writes nothing.

        Args:
            network: the network.
            decisions: decisions of the learner so far.
            value_target: value target of the network, one of `heads.VALUE_TARGETS`.
        """
        start, seconds = time.monotonic(), self.seconds
        agent = NetworkAgent(network, value_target)
        try:
            finished = self._counted("evaluating", None)
            row = {
                "decisions": float(decisions),
                "seconds": seconds,
                **self.measure.measured(agent, finished),
            }
            if not self.past:
                better = True
            elif not self._compared:
                better = self._mean(row) >= max(map(self._mean, self.past))
            else:
                better = not self._is_weaker(agent, NetworkAgent.load(self.folder, self.game))
            if better:
                self.keep(network, decisions, seconds, value_target)
            self.past.append(row | {KEPT: row["decisions"] if better else self.past[-1][KEPT]})
            self._add(EVALUATIONS, "evaluation", self.past[-1])
        finally:
            self._idle += time.monotonic() - start

    @property
    def _compared(self) -> bool:
        """Whether networks are compared by games between them, all with equally many players."""
        numbers = {game.num_players for game in self.games}
        return self.arguments.compared and len(numbers) == 1 and not self.game.cooperative

    def _is_weaker(self, agent: Policy, kept: Policy) -> bool:
        """Return whether an agent is weaker than the kept network, by a sequential test; each block has another variant."""
        n = self.game.num_players
        test = SequentialTest(n, COMPARED_ELO, COMPARED_ERRORS)
        for number, size in blocks(COMPARED_GAMES, BLOCK, n):
            game = self.games[number % len(self.games)]
            finished = self._counted("comparing with the kept network", COMPARED_GAMES, number * size)
            seed = self.arguments.seed + 4_000_000 + 1000 * len(self.past) + number  # new deals each time
            states = play(game, [agent, kept], alone(size, n), seed, finished, rotations=n).states
            test.add(alone_shares(places(game, states)))
            if test.decision != "open":
                return test.decision == "below"
        return False

    def _counted(self, work: str, games: int | None, finished: int = 0) -> Callable[[int], None]:
        """Return a function that reports finished games, of `games` if that is known, and can be interrupted."""
        of = "" if games is None else f" of {games}"

        def report(ended: int) -> None:
            nonlocal finished
            if ended:
                finished += ended
                self.report(f"{work}, {finished}{of} games")
            self.check()

        self.report(f"{work}, {finished}{of} games")
        return report

    def _mean(self, row: dict[str, float]) -> float:
        return float(np.mean([row[name] for name in self.measure.columns]))

    def keep(
        self, network: Network, decisions: int, seconds: float, value_target: str, checkpoint: bool = False
    ) -> None:
        """Write network.safetensors, or a file in checkpoints/, with its command and the versions of the packages."""
        origin = {
            "command": self.command,
            "seed": self.arguments.seed,
            "decisions": decisions,
            "seconds": round(seconds),
            "versions": _versions(),
        }
        path = self.folder / NETWORK
        if checkpoint:
            path = self.folder / CHECKPOINTS / f"{decisions}{SUFFIX}"
            path.parent.mkdir(exist_ok=True)
        architecture, variants = self.arguments.architecture, self.arguments.played
        save_network(path, self.game, network, architecture, value_target, origin, variants)

    def finish(self, network: Network, decisions: int, value_target: str) -> None:
        """Evaluate the last network, draw the curves, and play the final evaluation and a replay with the best network.

        Args:
            network, decisions, value_target: see `evaluate`.
        """
        game, games, seed = self.game, self.arguments.final_games, self.arguments.seed
        if not self.past or self.past[-1]["decisions"] < decisions:
            self.evaluate(network, decisions, value_target)
        names = ("decisions", "seconds", *self.measure.columns)
        columns = {name: np.array([row[name] for row in self.past]) for name in names}
        with plot(self.folder / "curve.png", 2, (9, 4), sharey=True) as (left, right):
            learning_curves(left, right, columns, **self.measure.drawn)
        agent = NetworkAgent.load(self.folder, game, seed)
        found, text = self.measure.final(agent, games) if games != 0 else ({"results": []}, "")
        write_json(self.folder / RESULTS, {"decisions": decisions, **found})
        seats: list[Policy] = [agent, *(GreedyPolicy(seed) for _ in range(1, game.num_players))]
        players = [self.folder.name, *["greedy"] * (game.num_players - 1)]
        record(game, seats, seed + 2_000_000, players).save(self.folder / "game.json")
        if text:
            print(text)
        names_of_files = sorted(path.name for path in self.folder.iterdir() if "tfevents" not in path.name)
        print(f"files in {self.folder}: {', '.join(names_of_files)}")


def _versions() -> dict[str, str]:
    return {name: version(name) for name in PACKAGES}
