"""Games on a GPU: `python -m benchmarks.cuda [GAMES...]`, which needs `pip install '.[bench,cuda]'` and a GPU of NVIDIA.

Decisions per second for growing numbers of games, in windows that take turns:

- "kernel": mask, observation of the player to move, a uniformly random legal action, the transition, a new game after each
  end, many decisions in one kernel (`Gpu.random_play`);
- "Batch.step": the same with a policy and a step from Python for each decision of all games, actions checked;
- "pgx": Connect Four of pgx on the same GPU, as in `benchmarks.peers`, where pgx is installed and JAX has the GPU.

`bandwidth` is the share of the GPU's memory bandwidth needed to read and write each state and to write each observation and
mask once per decision. "trainer" is the number of decisions per second of `garden train --device cuda`.
"""

from __future__ import annotations

import csv
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import tyro
from garden_agents.games import hints_of
from garden_agents.report.run_files import METRICS
from garden_agents.training import ppo

from benchmarks import common
from garden_core import Batch, make
from garden_core.batch.gpu.kernels import cuda
from garden_core.batch.policies import RandomPolicy
from garden_core.game import Game

SEED = 1
OF_PGX = {"connect_four:ConnectFour": "connect_four"}
NETWORKS: tuple[Literal["flat", "board"], ...] = ("flat", "board")


@dataclass
class Arguments:
    """Measure games on a GPU."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("connect_four:ConnectFour", "cacti", "mars", "botanicus")
    """names of games"""
    sizes: tuple[int, ...] = tuple(1 << k for k in range(10, 21, 2))
    """numbers of games at once"""
    windows: int = 9
    """number of windows"""
    seconds: float = 0.5
    """length of a window"""
    minutes: float = 1.0
    """length of a training; none if 0"""
    envs: int = 16_384
    """games at once in a training"""
    output: Path = common.RESULTS
    """folder for cuda-GAME.json"""


def kernel(game: Game, size: int) -> common.Work:
    """Return the work of random play in one kernel; its amount is the number of decisions per game."""
    batch = Batch(game, size, device="cuda")
    batch.reset(SEED)
    rng_states = batch.target.put(
        np.random.default_rng(SEED).integers(2**63, size=(size, 4), dtype=np.uint64)
    )

    def work(steps: int) -> tuple[float, float]:
        start = time.perf_counter()
        batch.target.random_play(batch.rows, steps, True, rng_states)  # waits until the GPU is done
        return steps * size, time.perf_counter() - start

    return work


def step(game: Game, size: int) -> common.Work:
    """Return the work of `Batch.step`; its amount is the number of steps."""
    batch, policy = Batch(game, size, device="cuda"), RandomPolicy(SEED)
    batch.reset(SEED)

    def work(steps: int) -> tuple[float, float]:
        start = time.perf_counter()
        for _ in range(steps):
            batch.step(policy(batch, batch.all_rows))
        cuda.synchronize()
        return steps * size, time.perf_counter() - start

    return work


def of_pgx(name: str, size: int) -> common.Work | None:
    """Return the work of a game of pgx; None without it, or if JAX has no GPU."""
    try:
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # or JAX takes most of the memory
        import jax

        from benchmarks import peers
    except ModuleNotFoundError:
        return None
    return peers.of_pgx(OF_PGX[name], size) if name in OF_PGX and jax.default_backend() == "gpu" else None


def bandwidth() -> float | None:
    """Return the GPU's memory bandwidth in bytes per second; None where it is unknown."""
    device = cuda.get_current_device()
    clock, width = (getattr(device, name, None) for name in ("MEMORY_CLOCK_RATE", "GLOBAL_MEMORY_BUS_WIDTH"))
    return 2e3 * clock * width / 8 if clock and width else None


def moved(game: Game) -> int:
    """Return the minimum number of bytes read and written per decision."""
    return 2 * game.state_dtype.itemsize + game.observation_size + game.num_actions


def trained(name: str, network: Literal["flat", "board"], arguments: Arguments) -> float:
    """Return the decisions per second of a training."""
    with tempfile.TemporaryDirectory() as folder:
        run = ppo.train(
            ppo.Arguments(
                name,
                minutes=arguments.minutes,
                network=network,
                device="cuda",
                envs=arguments.envs,
                minibatch=arguments.envs,
                evaluations=0,
                evaluation_games=10,
                final_games=0,
                run=Path(folder) / "run",
            )
        )
        with (run / METRICS).open(newline="") as file:
            rows = list(csv.DictReader(file))
    return float(rows[-1]["decisions"]) / float(rows[-1]["seconds"])


def main(arguments: Arguments) -> None:
    """Measure, print, and write the result files."""
    a, limit = arguments, bandwidth()
    about = {"gpu": str(getattr(cuda.get_current_device(), "name", "")), "bandwidth": limit}
    for name in a.games:
        game = make(name)
        measurements: list[dict[str, Any]] = []
        for size in a.sizes:
            works = {"kernel": kernel(game, size), "Batch.step": step(game, size), "pgx": of_pgx(name, size)}
            there = {what: work for what, work in works.items() if work is not None}
            for what, rates in zip(
                there, common.measure(*there.values(), windows=a.windows, seconds=a.seconds), strict=True
            ):
                row: dict[str, Any] = {"game": name, "what": what, "num_envs": size}
                row["decisions_per_second"] = common.spread(rates)
                rate = row["decisions_per_second"]["median"]
                if limit and what != "pgx":
                    row["bandwidth"] = round(rate * moved(game) / limit, 4)
                measurements.append(row)
                print(f"{game.name:14} {what:10} N = {size:7}: {rate:>14,.0f}", flush=True)
        for network in NETWORKS if a.minutes else ():
            if network == "flat" or hints_of(game).board(game) is not None:
                rate = trained(name, network, a)
                measurements.append({"game": name, "what": f"trainer, {network} network", "num_envs": a.envs})
                measurements[-1]["decisions_per_second"] = round(rate)
                print(f"{game.name:14} trainer, {network} network: {rate:>14,.0f}", flush=True)
        settings = about | {"windows": a.windows, "seconds": a.seconds}
        common.save(a.output, f"cuda-{game.name}", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
