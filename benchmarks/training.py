"""Speed of PPO training, our own trainer and Stable-Baselines3's side by side: `python -m benchmarks.training [GAMES...]`.

Measures the decisions per second of `--trainer own` and `--trainer sb3`, games and updates together, with the same
architecture (the game's default), number of games, rollout length, epochs and minibatch size, with one thread and with two; the
windows of the two trainers alternate. For our own trainer the result file also contains the shares of time by part.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import tyro
from garden_agents.networks.architecture import new_network
from garden_agents.training import ppo, sb3
from garden_agents.training.arguments import PAST_SELVES
from garden_agents.training.pool import OpponentPool, SelfPlayVecEnv
from garden_agents.training.self_play import SelfPlay

from benchmarks import common
from garden_core import list_games, make

ENVS, ROLLOUT, EPOCHS, MINIBATCH = 128, 32, 3, 512
EQUAL: dict[str, Any] = {"envs": ENVS, "rollout": ROLLOUT, "epochs": EPOCHS}
PARTS = {  # of our own trainer: path to an object, and its timed method
    "features and inference": (("games", "network"), "evaluate"),
    "environment": (("games", "batch"), "step"),
    "update": (("training",), "learn"),
}


@dataclass
class Arguments:
    """Measure the decisions per second of a training by PPO, with both trainers."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    windows: int = 3
    """number of measured windows"""
    seconds: float = 3.0
    """length of a window"""
    output: Path = common.RESULTS
    """folder for training.json"""


class Own:
    """Our own trainer, without imitation, which only the first part of a training has."""

    def __init__(self, name: str, threads: int, folder: Path) -> None:
        arguments = ppo.Arguments(
            name, minibatch=MINIBATCH, threads=threads, imitation=0.0, run=folder, **EQUAL
        )
        game = make(name, reward="margin")
        self.training = ppo.Training(folder, arguments, game)
        self.games = SelfPlay([game], self.training.torch_network, self.training.pool, arguments, 0)
        self.spent: defaultdict[str, float] = defaultdict(float)
        for part, (path, function) in PARTS.items():
            self._time(part, path, function)

    def _time(self, part: str, path: tuple[str, ...], function: str) -> None:
        """Add the time of a method's calls to `spent`."""
        where: Any = self
        for step in path:
            where = getattr(where, step)
        method = getattr(where, function)

        def timed(*arguments: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*arguments)
            finally:
                self.spent[part] += time.perf_counter() - start

        setattr(where, function, timed)

    def __call__(self, rollouts: int) -> tuple[float, float]:
        """Play and learn; return the number of decisions learned from and the seconds."""
        torch.set_num_threads(1)  # it has its own threads
        before, start = self.training.decisions, time.perf_counter()
        for _ in range(rollouts):
            self.training.learn(self.games.rollout(with_greedy=False))
        spent = time.perf_counter() - start
        self.spent["all"] += spent
        return self.training.decisions - before, spent

    @property
    def shares(self) -> dict[str, float]:
        """Shares of the time by part."""
        shares = {part: round(self.spent[part] / self.spent["all"], 3) for part in PARTS}
        return shares | {"rest": round(1 - sum(shares.values()), 3)}


class SB3:
    """Stable-Baselines3's trainer; a third of the opponents are past selves, a third random and a third greedy."""

    def __init__(self, name: str, threads: int) -> None:
        self.threads = threads
        minibatches = ENVS * ROLLOUT // MINIBATCH
        arguments = sb3.Arguments(name, minibatches=minibatches, **EQUAL)
        game = make(name, reward="margin")
        pool = OpponentPool((1 / 3, 1 / 3, 1 / 3), PAST_SELVES)
        env = SelfPlayVecEnv(game, ENVS, pool)
        network = new_network(game, arguments.architecture, "outcome")
        self.model = sb3.new_model(env, arguments, network)
        for _ in range(PAST_SELVES):
            pool.freeze(network)
        env.learner.set_weights(pool.weights)

    def __call__(self, rollouts: int) -> tuple[float, float]:
        """Play and learn; return the number of decisions learned from and the seconds."""
        torch.set_num_threads(self.threads)
        start = time.perf_counter()
        self.model.learn(rollouts * ROLLOUT * ENVS, reset_num_timesteps=False)
        return rollouts * ROLLOUT * ENVS, time.perf_counter() - start


@contextlib.contextmanager
def both(name: str, threads: int) -> Iterator[tuple[Own, SB3]]:
    """Return the two trainers."""
    with tempfile.TemporaryDirectory() as folder:
        yield Own(name, threads, Path(folder)), SB3(name, threads)


def main(arguments: Arguments) -> None:
    """Measure every game, print a table and write the result file."""
    torch.distributions.Distribution.set_default_validate_args(False)
    measurements = []
    print(f"{'game':<12} {'threads':>7} {'own':>12} {'sb3':>12} {'ratio':>6}   decisions/s, medians")
    for name in arguments.games or list_games():
        for threads in (1, 2):
            others = common.OtherCores()
            with both(name, threads) as (own, sb3_trainer):
                for trainer in (own, sb3_trainer):
                    trainer(2)  # compiles, and spreads the games over all phases
                own.spent.clear()
                rates = common.measure(own, sb3_trainer, windows=arguments.windows, seconds=arguments.seconds)
                shares = own.shares
            ratios = [one / other for one, other in zip(*rates, strict=True)]
            measured = {"decisions_per_second": common.spread(rates[0]), "shares_of_time": shares}
            compared = {"decisions_per_second": common.spread(rates[1]), "ratio": common.spread(ratios)}
            measurements.append(
                {"game": name, "threads": threads, **measured, "sb3": compared, "other_cores": others()}
            )
            medians = [common.spread(part)["median"] for part in (*rates, ratios)]
            print(
                f"{name:<12} {threads:>7} {medians[0]:>12,.0f} {medians[1]:>12,.0f} {medians[2]:>6.2f}   "
                + ", ".join(f"{part} {share:.0%}" for part, share in shares.items()),
                flush=True,
            )
    settings = {**EQUAL, "minibatch": MINIBATCH, "windows": arguments.windows, "seconds": arguments.seconds}
    common.save(arguments.output, "training", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
