"""The folder of a training run: its configuration, metrics, evaluations, best network and pictures."""

from __future__ import annotations

import csv
import dataclasses
import io
import itertools
import json
import math
import platform
import shlex
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any, Self, TypeVar

import numpy as np
import tomli_w
import tyro
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from agents.loading import NETWORK, load_agent
from agents.matches import meet, play, scores, table
from agents.plots import COLOURS, plot
from agents.trained import NetworkAgent, save_network
from garden_core.files import write_atomically
from garden_core.game import Game
from garden_core.policies import GreedyPolicy, Policy
from garden_core.replay import record

__all__ = ["Interruption", "Run", "TrainingArguments", "command_line", "open_run", "plain"]

PACKAGES = ("garden-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
CONFIG, METRICS, EVALUATIONS = "config.toml", "metrics.csv", "evaluations.csv"
T = TypeVar("T", bound="TrainingArguments")
TEAM = "team"  # in place of opponents in a cooperative game


@dataclass
class TrainingArguments:
    """What every way of training can be told."""

    game: tyro.conf.Positional[str] = "mars"
    """name of an installed game"""
    num_players: int | None = None
    """players at the table; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, for example: --options peaks 2 gardeners 2"""
    minutes: float | None = None
    """of training, resumed ones included and evaluations not"""
    seed: int = 0
    """of the games, the networks and all draws"""
    run: Path | None = None
    """folder for the results; runs/GAME-DATE-TIME if not given"""
    resume: Path | None = None
    """go on with the run in this folder, by its own config; of the other arguments only limits (minutes, steps) count"""

    network: str = "auto"
    """auto (board where the game has one), board or flat"""
    channels: int = 32
    """channels of the board network"""
    hidden: int = 128
    """width of the hidden layers"""
    threads: int = 2
    """of torch and of search; 1 is safer on a busy machine"""

    panel: tuple[str, ...] = ("random", "greedy", "mcts:50")
    """agents that the network is held against while it trains; the best network by these is kept"""
    evaluations: int = 4
    """how often that is done, evenly spread over the training"""
    panel_games: int = 60
    """games against each of the panel"""
    eval_games: int = 600
    """games against random and against greedy at the end; 0 for none"""

    def __post_init__(self) -> None:
        self._at_least(1, "channels", "hidden", "threads", "panel_games")
        self._at_least(0, "seed", "evaluations", "eval_games")
        if self.minutes is not None and not self.minutes > 0:
            raise ValueError(f"minutes must be more than 0, not {self.minutes}")

    def _at_least(self, low: int, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            if value is not None and not value >= low:
                raise ValueError(f"{name} must be at least {low}, not {value}")

    @property
    def architecture(self) -> dict[str, Any]:
        """How the network is built, as `agents.trained.new_policy` takes it."""
        return {"kind": self.network, "channels": self.channels, "hidden": self.hidden}


class Interruption:
    """Within it Ctrl-C is a wish to stop soon, told by `wished`; a second one stops at once."""

    def __init__(self) -> None:
        self.wished = False

    def __enter__(self) -> Self:
        self._previous = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        signal.signal(signal.SIGINT, self._previous)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.wished:
            raise KeyboardInterrupt
        self.wished = True
        tqdm.write("stopping soon; press Ctrl-C again to drop what is not yet saved", sys.stderr)


class Run:
    """What a training run leaves in its folder.

    config.toml (everything needed to repeat it), metrics.csv and TensorBoard's events, evaluations.csv (against the
    panel, while training), network.safetensors (the best network by these), and in the end curve.png,
    evaluation.json and game.json (the replay of one game).

    Args:
        folder: of the run.
        game: what is played.
        network: how the network is built, as `agents.trained.new_policy` takes it.
        panel: names of the agents that the network is held against while it trains.
        panel_games: games against each of them.
        seed: of the evaluations.
    """

    def __init__(
        self,
        folder: Path,
        game: Game,
        network: dict[str, Any],
        panel: Sequence[str],
        panel_games: int,
        seed: int,
        command: str = "",
    ) -> None:
        self.folder, self.game, self.network, self.command = folder, game, network, command
        self.panel = (TEAM,) if game.cooperative else tuple(panel)
        self.panel_games, self.seed = panel_games, seed
        for name in panel if not game.cooperative else ():
            load_agent(name, game)  # an unknown name is told of at once, not at the first evaluation
        folder.mkdir(parents=True, exist_ok=True)
        self.past: list[dict[str, float]] = []
        """The evaluations so far."""
        self.seconds_before = 0.0
        """Seconds that the run had trained for when it was resumed."""
        self._start: float | None = None
        self._idle = 0.0
        self._board = SummaryWriter(str(folder))

    def begin(self) -> None:
        """Let the clock run."""
        self._start = time.monotonic()

    @property
    def seconds(self) -> float:
        """Seconds of training so far, evaluations left out."""
        now = 0.0 if self._start is None else time.monotonic() - self._start - self._idle
        return self.seconds_before + now

    def rewind(self, decisions: int, seconds: float | None = None) -> None:
        """Go back to what was known at so many decisions, the checkpoint's: training beyond them is lost.

        Args:
            seconds: of training till then; by the metrics if not given.
        """
        for name in (METRICS, EVALUATIONS):
            rows = [row for row in _read(self.folder / name) if float(row["decisions"]) <= decisions]
            if rows:
                text = io.StringIO()
                writer = csv.DictWriter(text, rows[0])
                writer.writeheader()
                writer.writerows(rows)
                write_atomically(self.folder / name, text.getvalue().encode())
                if name == METRICS:
                    self.seconds_before = float(rows[-1]["seconds"])
                else:
                    self.past = [{key: float(value) for key, value in row.items()} for row in rows]
            else:
                (self.folder / name).unlink(missing_ok=True)
        if seconds is not None:
            self.seconds_before = seconds

    def write_config(self, arguments: dict[str, Any]) -> None:
        """Keep the arguments, the game and the versions."""
        config = {
            "arguments": arguments,
            "game": {"name": self.game.name, "options": self.game.chosen, "data": self.game.data_digest},
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
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if new:
                writer.writeheader()
            writer.writerow({key: round(value, 5) for key, value in row.items()})

    def evaluate(self, policy: Any, decisions: int, foresees: str) -> None:
        """Hold the network against the panel, the same games each time; keep it if it is the best so far.

        Best is the highest mean of the win rates; of equal ones the latest. `foresees` is what the network's value
        is of, see `NetworkAgent`. The time does not count as training.
        """
        start, seconds = time.monotonic(), self.seconds
        agent = NetworkAgent(policy)
        rates = {name: self._rate(agent, name) for name in self.panel}
        row = {"decisions": float(decisions), "seconds": seconds, **rates}
        if not rates or self._mean(row) >= max(map(self._mean, self.past), default=-math.inf):
            self.keep(policy, decisions, seconds, foresees)
        self.past.append(row)
        self._add(EVALUATIONS, "evaluation", row)
        self._idle += time.monotonic() - start

    def _rate(self, agent: Policy, name: str) -> float:
        """Return the win rate against one of the panel; of a team, its mean score as the outcome pays it."""
        if self.game.cooperative:
            states = play(
                self.game, [agent], np.zeros((self.panel_games, self.game.num_players), np.int64), self.seed
            )
            return float(scores(self.game, states).min(1).mean() / self.game.reward_divisor)
        opponent = load_agent(name, self.game, self.seed + 1)
        return meet(self.game, ("network", name), (agent, opponent), self.panel_games, self.seed).win_rate

    def _mean(self, row: dict[str, float]) -> float:
        return sum(row[name] for name in self.panel) / len(self.panel)

    def keep(self, policy: Any, decisions: int, seconds: float, foresees: str) -> None:
        """Write the network with what made it."""
        origin = {
            "command": self.command,
            "seed": self.seed,
            "decisions": decisions,
            "seconds": round(seconds),
            "versions": {name: version(name) for name in PACKAGES},
        }
        save_network(self.folder / NETWORK, self.game, policy, self.network, foresees, origin)

    def finish(self, games: int, policy: Any, decisions: int, foresees: str) -> None:
        """Judge the last network too; draw the curves, let the best one meet random and greedy, keep a replay."""
        if not self.past or self.past[-1]["decisions"] < decisions:
            self.evaluate(policy, decisions, foresees)
        self._board.close()
        self._plot()
        agent = NetworkAgent.load(self.folder, self.game, self.seed)
        results = []
        if games > 0 and not self.game.cooperative:
            with tqdm(total=2 * games, unit="game", desc="evaluation") as bar:
                for number, name in enumerate(("random", "greedy")):
                    opponent: Policy = load_agent(name, self.game, self.seed + number)
                    seed = self.seed + 1_000_000 + number
                    results.append(
                        meet(self.game, ("network", name), (agent, opponent), games, seed, bar.update)
                    )
            print(table(results))
        report = {"decisions": decisions, "results": [dataclasses.asdict(result) for result in results]}
        write_atomically(self.folder / "evaluation.json", json.dumps(report, indent=1).encode())
        seats = [agent if s == 0 else GreedyPolicy(self.seed) for s in range(self.game.num_players)]
        record(self.game, seats, self.seed + 2_000_000).save(self.folder / "game.json")
        print(
            f"left in {self.folder}: {', '.join(sorted(p.name for p in self.folder.iterdir() if 'tfevents' not in p.name))}"
        )

    def _plot(self) -> None:
        """Draw the win rates against the panel over decisions and over time."""
        with plot(self.folder / "curve.png", 2, (9, 4), sharey=True) as (left, right):
            for name, colour in zip(self.panel, itertools.cycle(COLOURS), strict=False):
                rates = [row[name] for row in self.past]
                left.plot(
                    [row["decisions"] for row in self.past],
                    rates,
                    "o-",
                    color=colour,
                    label=f"against {name}",
                )
                right.plot([row["seconds"] / 60 for row in self.past], rates, "o-", color=colour)
            left.set(xlabel="decisions of the learner")
            left.set(ylabel="team score") if self.game.cooperative else left.set(
                ylabel="win rate", ylim=(0, 1.02)
            )
            right.set(xlabel="minutes of training")
            if self.panel and not self.game.cooperative:
                left.legend(title="against")


def open_run(arguments: T, module: str, checkpoint: str) -> tuple[Path, T, str]:
    """Return the folder of a run, its arguments, and the command that makes it anew.

    A run that is resumed has the arguments in its folder, but for the limits `steps` and `minutes`, if one is given.

    Args:
        module: of the command.
        checkpoint: the file that a run can be resumed from.

    Raises:
        SystemExit: if the folder holds a run already, or none to resume.
    """
    if arguments.resume is None:
        folder = arguments.run or Path("runs") / f"{arguments.game}-{time.strftime('%Y%m%d-%H%M%S')}"
        if (folder / checkpoint).exists():
            raise SystemExit(
                f"{folder} holds a run already: go on with --resume {folder}, or choose another --run"
            )
    else:
        folder = arguments.resume
        missing = [name for name in (CONFIG, checkpoint) if not (folder / name).is_file()]
        if missing:
            raise SystemExit(f"{folder} holds no run to resume: {' and '.join(missing)} missing")
        stored = tomllib.loads((folder / CONFIG).read_text())["arguments"]
        stored = {key: tuple(value) if isinstance(value, list) else value for key, value in stored.items()}
        limits = {name: getattr(arguments, name) for name in ("steps", "minutes") if hasattr(arguments, name)}
        if any(value is not None for value in limits.values()):
            stored |= limits
        arguments = dataclasses.replace(type(arguments)(), **stored, resume=folder)
    words = ["python", "-m", module]
    for name, value in plain(arguments).items():
        if name == "game":
            words.append(value)
        elif value != getattr(type(arguments)(), name):
            values = itertools.chain(*value.items()) if isinstance(value, dict) else value
            words += [f"--{name.replace('_', '-')}"]
            words += map(str, values) if isinstance(value, dict | tuple | list) else [str(value)]
    return folder, arguments, shlex.join(words)


def command_line(train: Callable[[Any], Path], kind: type[TrainingArguments]) -> None:
    """Train by the arguments of the command line; mistakes in them take one line."""
    try:
        train(tyro.cli(kind))
    except (ValueError, TypeError) as error:
        raise SystemExit(f"error: {error}") from error
    except KeyboardInterrupt:
        raise SystemExit("stopped; the same command with --resume and the run's folder goes on") from None


def plain(arguments: Any) -> dict[str, Any]:
    """Return arguments as config.toml keeps them: without what is not given, and without folders."""
    values = dataclasses.asdict(arguments)
    kept = {key: v for key, v in values.items() if v is not None and key not in ("run", "resume")}
    return {key: str(v) if isinstance(v, Path) else v for key, v in kept.items()}


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))
