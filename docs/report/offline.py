"""Measure offline learning by `examples/offline.py`: `python -m docs.report.offline`.

Records games of `random` and `greedy`, and lets behaviour cloning and Q-learning, with and without its penalty, learn from
them, with several seeds and numbers of games. Datasets that exist already are not recorded again.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from pathlib import Path

import tyro
from garden_agents.matches import record

from benchmarks import common
from examples import offline
from garden_core import make
from garden_core.recorded.game_files import content_of

AGENTS = ["random", "greedy"]


@dataclass
class Arguments:
    """Learn offline from games of Cacti."""

    seeds: int = 3
    """number of datasets of each size, with seeds 1, 2, ..."""
    sizes: tuple[int, ...] = (500, 40_000)
    """numbers of games in the datasets"""
    steps: int = 8000
    """updates of each network"""
    games: int = 4000
    """games of each evaluation against greedy"""
    runs: Path = Path("runs/offline")
    """folder for the datasets"""
    output: Path = Path(__file__).parent
    """folder for offline.json"""


def main(arguments: Arguments) -> None:
    """Record, learn, evaluate, and write the result file."""
    a, measurements = arguments, []
    a.runs.mkdir(parents=True, exist_ok=True)
    for size, seed in itertools.product(a.sizes, range(1, a.seeds + 1)):
        data = a.runs / f"{size}-{seed}.safetensors"
        common.check_same(data, {"agents": AGENTS, "games": size, "seed": seed, **content_of(make("cacti"))})
        if not data.exists():
            options = {"reward": "margin"}
            record.main(
                record.Arguments(
                    game="cacti",
                    agents=AGENTS,
                    output=data,
                    games=size,
                    options=options,
                    seed=seed,
                    processes=1,
                )
            )
        learner = offline.Arguments(data, a.steps, games=a.games, seed=seed)
        rates = offline.main(learner)
        without = offline.main(dataclasses.replace(learner, penalty=0.0))["q-learning"]
        measurements.append(
            {"games": size, "seed": seed, "rates": rates | {"q-learning without penalty": without}}
        )
    about = {"seeds": a.seeds, "steps": a.steps, "games": a.games}
    common.save(a.output, "offline", about, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
