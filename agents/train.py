"""Train MaskablePPO by self-play: `python -m agents.train mars --num-players 2 --steps 1_000_000`.

A run leaves in its folder: model.zip and pool.pt (checkpoint), config.toml (everything needed to repeat it),
metrics.csv, curve.png, evaluation.json and game.json (the replay of one game). Ctrl-C saves a checkpoint;
`--resume FOLDER` goes on.
"""

from __future__ import annotations

import csv
import dataclasses
import json
import platform
import signal
import time
import tomllib
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import tomli_w
import torch
import tyro
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from tqdm import tqdm

from agents.arena import Result, meet, shares, table
from agents.loading import load_agent, make_game
from agents.ppo import PPOAgent, load_checkpoint, new_model, save_checkpoint
from agents.selfplay import OpponentPool
from garden_core.game import Game
from garden_core.policies import GreedyPolicy
from garden_core.replay import record, write_atomically
from garden_core.sb3 import GardenVecEnv

__all__ = ["Arguments", "main", "train"]

PACKAGES = ("garden-envs", "numpy", "numba", "torch", "stable-baselines3", "sb3-contrib")


@dataclass
class Arguments:
    """Train MaskablePPO by self-play on one game, evaluate it, and keep everything in a folder."""

    game: tyro.conf.Positional[str] = "mars"
    """name of an installed game"""
    num_players: int | None = None
    """players at the table; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, for example: --options peaks 2 reward margin"""
    steps: int = 2_000_000
    """decisions of the learner to train for"""
    minutes: float | None = None
    """stop after so many minutes of training, even before `steps`"""
    seed: int = 0
    """of the games, the networks and all draws"""
    run: Path | None = None
    """folder for the results; runs/GAME-DATE-TIME if not given"""
    resume: Path | None = None
    """go on with the run in this folder, by its own config; of the other arguments only steps and minutes count"""

    envs: int = 128
    """games played at once"""
    rollout: int = 32
    """decisions in each game between two updates"""
    epochs: int = 3
    """passes over a rollout in an update"""
    minibatches: int = 8
    """parts that a pass is cut into"""
    learning_rate: float = 1e-3
    """of Adam"""
    discount: float = 0.995
    """of future rewards, for each decision of the learner"""
    gae_lambda: float = 0.95
    """of generalised advantage estimation"""
    entropy: float = 0.01
    """weight of the entropy bonus"""

    network: str = "auto"
    """auto (board where the game has one), board or flat"""
    channels: int = 16
    """channels of the board network"""
    hidden: int = 128
    """width of the hidden layers"""
    threads: int = 2
    """threads of torch; 1 is safer on a busy machine"""

    random_share: float = 0.2
    """share of opponents that play at random"""
    greedy_share: float = 0.4
    """share of opponents that play greedily"""
    self_share: float = 0.4
    """share of opponents that are past selves"""
    past_selves: int = 4
    """past selves kept"""
    snapshot_every: int = 50_000
    """decisions between two frozen selves"""
    checkpoint_every: int = 200_000
    """decisions between two checkpoints"""

    eval_games: int = 600
    """games against random and against greedy at the end; 0 for none"""


class _Progress(BaseCallback):
    """What happens beside learning: progress bar, metrics, frozen selves, checkpoints, stopping."""

    def __init__(
        self, arguments: Arguments, folder: Path, game: Game, env: GardenVecEnv, pool: OpponentPool
    ) -> None:
        super().__init__()
        self.arguments, self.folder, self.game = arguments, folder, game
        self.env, self.pool = env, pool
        self.stopping = False
        self.rates: dict[str, float] = {}
        self.spent_before = _last_seconds(folder / "metrics.csv")

    @property
    def _ppo(self) -> MaskablePPO:
        assert isinstance(self.model, MaskablePPO)
        return self.model

    def _on_training_start(self) -> None:
        self.start = time.monotonic()  # not earlier: the first reset may have compiled for a while
        self.began = self.num_timesteps
        self.next_checkpoint = self.num_timesteps + self.arguments.checkpoint_every
        self.next_freeze = (
            self.num_timesteps // self.arguments.snapshot_every + 1
        ) * self.arguments.snapshot_every
        self.bar = tqdm(
            total=self.arguments.steps,
            initial=self.num_timesteps,
            unit="decision",
            unit_scale=True,
            smoothing=0.1,
        )
        self.previous = signal.signal(signal.SIGINT, self._interrupted)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            raise KeyboardInterrupt
        self.stopping = True
        self.bar.write("stopping after this decision; press Ctrl-C again to drop what is not yet saved")

    def _on_step(self) -> bool:
        self._count_wins()
        self.bar.update(self.num_timesteps - self.bar.n)
        minutes = self.arguments.minutes
        late = minutes is not None and time.monotonic() - self.start > minutes * 60
        return not (self.stopping or late)

    def _count_wins(self) -> None:
        learner = self.env.learner
        rows = np.flatnonzero(learner.terminated)
        if not len(rows) or self.game.num_players == 1:
            return
        seats = learner.final_seats[rows]
        won = shares(self.game, learner.batch.last_states[rows])[np.arange(len(rows)), seats]
        drawn = learner.final_drawn[rows]
        for share, seat, opponents in zip(won, seats, drawn, strict=True):
            met = {self.pool.names[o] for other, o in enumerate(opponents) if other != seat}
            if len(met) == 1:  # a table of one kind of opponent
                name = met.pop()
                self.rates[name] = self.rates.get(name, share) * 0.99 + 0.01 * share

    def _on_rollout_end(self) -> None:
        rates = {name: self.rates[name] for name in ("random", "greedy", "self") if name in self.rates}
        self._expect()
        self.bar.set_postfix_str(", ".join(f"{name} {rate:.0%}" for name, rate in rates.items()))
        if self.num_timesteps >= self.next_freeze:
            self.next_freeze += self.arguments.snapshot_every
            self.pool.freeze(self.model.policy)
            self.env.learner.set_weights(self.pool.weights)
        if self.num_timesteps >= self.next_checkpoint:
            self.next_checkpoint += self.arguments.checkpoint_every
            save_checkpoint(self.folder, self._ppo, self.pool)
        self._write_metrics()

    def _expect(self) -> None:
        """With a limit of time, have the bar end where the present pace will lead."""
        if self.arguments.minutes is not None:
            pace = (self.num_timesteps - self.began) / (time.monotonic() - self.start)
            expected = self.began + int(pace * self.arguments.minutes * 60)
            self.bar.total = max(self.num_timesteps, min(self.arguments.steps, expected))

    def _write_metrics(self) -> None:
        seconds = time.monotonic() - self.start
        losses = self.model.logger.name_to_value
        row = {
            "decisions": self.num_timesteps,
            "seconds": round(seconds + self.spent_before, 2),
            "decisions_per_second": round((self.num_timesteps - self.began) / seconds, 1),
            **{f"win_rate_{name}": _rounded(self.rates.get(name)) for name in ("random", "greedy", "self")},
            **{key: _rounded(losses.get(f"train/{key}")) for key in _LOSSES},
        }
        path = self.folder / "metrics.csv"
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, row)
            if new:
                writer.writeheader()
            writer.writerow(row)

    def _on_training_end(self) -> None:
        signal.signal(signal.SIGINT, self.previous)
        self.bar.close()


_LOSSES = (
    "entropy_loss",
    "policy_gradient_loss",
    "value_loss",
    "approx_kl",
    "clip_fraction",
    "explained_variance",
)


def _rounded(value: float | None) -> float | str:
    return "" if value is None else round(float(value), 5)


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return it.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), or for a folder that cannot be resumed.
    """
    if arguments.resume is not None:
        folder = arguments.resume
        arguments = _resumed(arguments)
    else:
        folder = arguments.run or Path("runs") / f"{arguments.game}-{time.strftime('%Y%m%d-%H%M%S')}"
        if (folder / "config.toml").exists():
            raise SystemExit(
                f"{folder} holds a run already: go on with --resume {folder}, or choose another --run"
            )
    torch.set_num_threads(arguments.threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    game = make_game(arguments.game, arguments.num_players, arguments.options)
    folder.mkdir(parents=True, exist_ok=True)
    pool = OpponentPool(
        (arguments.random_share, arguments.greedy_share, arguments.self_share), arguments.past_selves
    )
    env = GardenVecEnv(game, arguments.envs, pool.opponents, pool.weights)
    if arguments.resume is not None:
        model = load_checkpoint(folder, env, pool)
        env.learner.set_weights(pool.weights)
    else:
        settings = {name: getattr(arguments, name) for name in MODEL_SETTINGS}
        model = new_model(game, env, **settings)
        _write_config(folder, arguments, game)
    env.seed(arguments.seed + model.num_timesteps)  # after a resume other games than at the start

    print(f"training on {game!r} in {folder}; compiling on first use")
    progress = _Progress(arguments, folder, game, env, pool)
    rest = arguments.steps - model.num_timesteps
    if rest > 0:
        model.learn(rest, callback=progress, reset_num_timesteps=False)
    save_checkpoint(folder, model, pool)
    if progress.stopping:
        raise SystemExit(f"stopped at {model.num_timesteps:,} decisions; go on with: --resume {folder}")
    _plot(folder)
    _evaluate(arguments, folder, game, model)
    return folder


MODEL_SETTINGS = (
    "network", "channels", "hidden", "rollout", "epochs", "minibatches", "learning_rate", "discount", "gae_lambda",
    "entropy", "seed",
)  # fmt: skip


def _write_config(folder: Path, arguments: Arguments, game: Game) -> None:
    chosen = {k: v for k, v in asdict(arguments).items() if v is not None and k not in ("resume", "run")}
    config = {
        "arguments": chosen,
        "game": {"name": game.name, "options": game.chosen, "data": game.data_digest},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
    }
    write_atomically(folder / "config.toml", tomli_w.dumps(config).encode())


def _resumed(arguments: Arguments) -> Arguments:
    assert arguments.resume is not None
    path = arguments.resume / "config.toml"
    if not path.is_file():
        raise SystemExit(f"{arguments.resume} holds no run to resume: config.toml is missing")
    stored = tomllib.loads(path.read_text())["arguments"]
    stored["resume"] = arguments.resume
    defaults = Arguments()
    for name in ("steps", "minutes"):
        if getattr(arguments, name) != getattr(defaults, name):
            stored[name] = getattr(arguments, name)
    return dataclasses.replace(defaults, **stored)


def _last_seconds(metrics: Path) -> float:
    if not metrics.exists():
        return 0.0
    with metrics.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return float(rows[-1]["seconds"]) if rows else 0.0


def _plot(folder: Path) -> None:
    """Draw the win rates of training over decisions."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    path = folder / "metrics.csv"
    if not path.exists():
        return
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, colour in (("random", "tab:blue"), ("greedy", "tab:orange"), ("self", "tab:green")):
        points = [(int(r["decisions"]), float(r[f"win_rate_{name}"])) for r in rows if r[f"win_rate_{name}"]]
        if points:
            axes.plot(*zip(*points, strict=True), label=f"against {name}", color=colour)
    axes.set(xlabel="decisions of the learner", ylabel="win rate while training", ylim=(0, 1))
    axes.grid(alpha=0.3)
    if axes.lines:
        axes.legend()
    figure.savefig(folder / "curve.png", dpi=120)
    plt.close(figure)


def _evaluate(arguments: Arguments, folder: Path, game: Game, model: Any) -> None:
    """Meet random and greedy in all seats, and keep the replay of a game against greedy."""
    agent = PPOAgent(model.policy)
    results: list[Result] = []
    if arguments.eval_games > 0:
        total = 2 * arguments.eval_games
        with tqdm(total=total, unit="game", desc="evaluation") as bar:
            for number, name in enumerate(("random", "greedy")):
                opponent = load_agent(name, game, arguments.seed + number)
                seed = arguments.seed + 1_000_000 + number
                results.append(
                    meet(game, ("ppo", name), (agent, opponent), arguments.eval_games, seed, bar.update)
                )
        print(table(results))
        report = {"decisions": model.num_timesteps, "results": [asdict(result) for result in results]}
        write_atomically(folder / "evaluation.json", json.dumps(report, indent=1).encode())
    seats = [agent if seat == 0 else GreedyPolicy(arguments.seed) for seat in range(game.num_players)]
    record(game, seats, arguments.seed + 2_000_000).save(folder / "game.json")
    print(f"left in {folder}: model.zip, config.toml, metrics.csv, curve.png, game.json")


def main() -> None:
    """Run from the command line."""
    train(tyro.cli(Arguments))


if __name__ == "__main__":
    main()
