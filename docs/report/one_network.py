"""Compare one network for all numbers of players with one for each: `python -m docs.report.one_network [GAMES...]`.

The one network learns from as many decisions in all as a specialist, or from as many for each number of players. Interrupted trainings are
resumed, finished ones are not repeated; each comparison writes a line of one-network.jsonl.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from garden_agents.matches.meet import meet
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.report.run_files import RESULTS

from benchmarks import common
from garden_core import make

NUMBERS = {"mars": (2, 3, 4, 5), "botanicus": (2, 3, 4)}
"""Numbers of players, by game."""


@dataclass
class Arguments:
    """Compare one network for all numbers of players with one for each."""

    games: tyro.conf.Positional[tuple[str, ...]] = tuple(NUMBERS)
    """names of games"""
    steps: int = 2_000_000
    """decisions that a specialist learns from"""
    seeds: int = 3
    """number of seeds: 0, 1, ..."""
    matches: int = 1000
    """games of each comparison, in both roles"""
    runs: Path = Path("runs/one-network")
    """folder for the runs' folders"""
    output: Path = Path(__file__).parent / "one-network.jsonl"
    """file of the results"""


def trained(folder: Path, game: str, options: str, steps: int, seed: int) -> Path:
    """Train a network; return its run's folder."""
    limits = (
        f"--steps {steps} --seed {seed} --threads 1 --evaluations 1 --evaluation-games 24 --final-games 0"
    )
    common.train(folder, RESULTS, ["train", game, *options.split(), *limits.split()], ["train"])
    return folder


def main(arguments: Arguments) -> None:
    """Train and compare what is missing."""
    a = arguments
    text = a.output.read_text("utf-8") if a.output.exists() else ""
    done = [json.loads(line) for line in text.splitlines()]
    for game, seed in ((game, seed) for game in a.games for seed in range(a.seeds)):
        numbers = NUMBERS[game]
        all_numbers = f"--variants num_players={','.join(map(str, numbers))}"
        for way, steps in (("in all", a.steps), ("each", a.steps * len(numbers))):
            for n in numbers:
                row: dict[str, Any] = {
                    "game": game,
                    "players": n,
                    "as many": way,
                    "steps": a.steps,
                    "seed": seed,
                }
                if any(each | row == each for each in done):
                    continue
                one = trained(a.runs / f"{game}-{steps}-{seed}", game, all_numbers, steps, seed)
                own = trained(
                    a.runs / f"{game}-{n}-players-{a.steps}-{seed}", game, f"--num-players {n}", a.steps, seed
                )
                made = make(game, num_players=n)
                names, agents = (
                    ("one", "specialist"),
                    (NetworkAgent.load(one, made), NetworkAgent.load(own, made)),
                )
                among = meet(made, names, agents, a.matches, seed=seed)
                against = meet(made, names[::-1], agents[::-1], a.matches, seed=1000 + seed)
                row |= {
                    "one": round(among.win_rate, 3),
                    "specialist": round(against.win_rate, 3),
                    "games": a.matches,
                }
                with a.output.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + os.linesep)
                print(row, flush=True)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
