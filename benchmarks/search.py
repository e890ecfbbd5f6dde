"""Speed of tree search: `python -m benchmarks.search [GAMES...]`.

Measures simulated decisions per second, in the tree and in rollouts, with 400 simulations per move in positions of random
games: the default search on one core and on two, searches with random rollouts of the same length and to the end of the game,
and 64 searches at once guided by the shipped network.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import garden_agents
import torch
import tyro
from garden_agents.search.agent import MCTSAgent

from benchmarks import common
from garden_core import list_games, make
from garden_core.batch.batch import Batch
from garden_core.batch.policies import RandomPolicy
from garden_core.game import Game

POSITIONS = 64
SEARCHES: dict[str, dict[str, Any]] = {
    "greedy playouts of 12": {},
    "greedy playouts of 12, two threads": {"threads": 2},
    "random playouts of 12": {"rollout": "random", "prior": "equal"},
    "random playouts to the end": {"rollout": "random", "prior": "equal", "depth": 1000},
    "network": {},
}


@dataclass
class Arguments:
    """Measure the simulated decisions per second of tree search."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    windows: int = 5
    """number of measured windows"""
    seconds: float = 1.0
    """length of a window, seconds"""
    output: Path = common.RESULTS
    """folder for search.json"""


def positions(game: Game) -> Batch:
    """Return 64 games, two for each number of random decisions from 0 to 31."""
    batch = Batch(game, POSITIONS)
    batch.reset(0)
    policy = RandomPolicy(0)
    for number in range(1, POSITIONS // 2):
        rows = batch.all_rows[2 * number :]
        batch.step(policy(batch, rows), rows)
    return batch


def work(batch: Batch, agent: MCTSAgent) -> common.Work:
    """Return the work of searching one position, or all at once with a network or threads; its units are decisions."""
    together = agent.network is not None or agent.threads > 1

    def search(amount: int) -> tuple[float, float]:
        before, start = agent.decisions, time.perf_counter()
        for number in range(amount):
            rows = batch.all_rows if together else batch.all_rows[[number % POSITIONS]]
            agent.search(batch, rows)
        return agent.decisions - before, time.perf_counter() - start

    return search


def main(arguments: Arguments) -> None:
    """Measure every game, print a table and write the result file."""
    torch.set_num_threads(1)
    measurements = []
    print(f"{'game':<12} {'search':<36} {'decisions/s':>12}")
    for name in arguments.games or list_games():
        game = make(name)
        batch = positions(game)
        searches = {
            what: MCTSAgent(400, network=garden_agents.load(game) if what == "network" else None, **settings)
            for what, settings in SEARCHES.items()
        }
        others = common.OtherCores()
        works = [work(batch, agent) for agent in searches.values()]
        measured = common.measure(*works, windows=arguments.windows, seconds=arguments.seconds)
        for what, rates in zip(searches, measured, strict=True):
            rate = common.spread(rates)
            measurements.append(
                {"game": name, "search": what, "decisions_per_second": rate, "other_cores": others()}
            )
            print(f"{name:<12} {what:<36} {rate['median']:>12,.0f}", flush=True)
    settings = {"windows": arguments.windows, "seconds": arguments.seconds, "simulations": 400}
    common.save(arguments.output, "search", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
