"""The folder of a training run: its configuration, metrics, evaluations, best network and pictures."""

from __future__ import annotations

import csv
import itertools
import json
import platform
import shlex
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tomli_w
from torch.utils.tensorboard import SummaryWriter
from tqdm import tqdm

from agents.loading import NETWORK, load_agent
from agents.matches import Result, meet, play, scores, table
from agents.plots import COLOURS, plot
from agents.trained import NetworkAgent, save_network
from garden_core.game import Game
from garden_core.policies import GreedyPolicy, Policy
from garden_core.replay import record, write_atomically

__all__ = ["Run"]

PACKAGES = ("garden-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")
CONFIG = "config.toml"
TEAM = "team"  # in place of opponents in a cooperative game


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
    ) -> None:
        self.folder, self.game, self.network = folder, game, network
        self.panel = (TEAM,) if game.cooperative else tuple(panel)
        self.panel_games, self.seed = panel_games, seed
        folder.mkdir(parents=True, exist_ok=True)
        self.past = [
            {key: float(value) for key, value in row.items()} for row in _read(folder / "evaluations.csv")
        ]
        self.seconds_before = float(rows[-1]["seconds"]) if (rows := _read(folder / "metrics.csv")) else 0.0
        """Seconds that the run had trained for when it was resumed."""
        self._board = SummaryWriter(str(folder))
        for name in panel if not game.cooperative else ():
            load_agent(name, game)  # an unknown name is told of at once, not at the first evaluation

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
        self._add("metrics.csv", "train", row)

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

    def evaluate(self, policy: Any, decisions: int, seconds: float) -> dict[str, float]:
        """Hold the network against the panel, the same games each time; keep it if it is the best so far.

        Best is the highest mean of the win rates; of equal ones the latest.
        """
        agent = NetworkAgent(policy)
        rates = {name: self._rate(agent, name) for name in self.panel}
        row = {"decisions": float(decisions), "seconds": seconds, **rates}
        if not rates or self._mean(row) >= max(map(self._mean, self.past), default=0.0):
            self.keep(policy, decisions, seconds)
        self.past.append(row)
        self._add("evaluations.csv", "evaluation", row)
        return rates

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

    def keep(self, policy: Any, decisions: int, seconds: float) -> None:
        """Write the network with what made it."""
        origin = {
            "command": _command(),
            "seed": self.seed,
            "decisions": decisions,
            "seconds": round(seconds),
            "versions": {name: version(name) for name in PACKAGES},
        }
        save_network(self.folder / NETWORK, self.game, policy, self.network, origin)

    def finish(self, games: int, decisions: int) -> list[Result]:
        """Draw the curves, let the best network meet random and greedy, keep the replay of a game against greedy."""
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
        report = {"decisions": decisions, "results": [asdict(result) for result in results]}
        write_atomically(self.folder / "evaluation.json", json.dumps(report, indent=1).encode())
        seats = [agent if s == 0 else GreedyPolicy(self.seed) for s in range(self.game.num_players)]
        record(self.game, seats, self.seed + 2_000_000).save(self.folder / "game.json")
        print(
            f"left in {self.folder}: {', '.join(sorted(p.name for p in self.folder.iterdir() if 'tfevents' not in p.name))}"
        )
        return results

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
            left.set(xlabel="decisions of the learner", ylabel="win rate", ylim=(0, 1.02))
            right.set(xlabel="minutes of training")
            if self.panel:
                left.legend()


def _command() -> str:
    """Return the command that is running, without the folder that it writes to."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    words = ["python", "-m", spec.name] if spec else ["python", Path(sys.argv[0]).name]
    rest = sys.argv[1:]
    if "--run" in rest:
        at = rest.index("--run")
        rest = rest[:at] + rest[at + 2 :]
    return shlex.join(words + rest)


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def new_folder(game: str) -> Path:
    """Return the folder of a run that was given none: runs/GAME-DATE-TIME."""
    return Path("runs") / f"{game}-{time.strftime('%Y%m%d-%H%M%S')}"
