"""Learning curves: `python -m benchmarks.learning [GAMES...]`; with `--compare`, methods compared at equal time.

Trains each game with several seeds by `garden train GAME --minutes M --threads 1 --seed S`, and plots the win rates
against random, greedy and a small search over decisions and over time. With `--compare` it trains each game once with
each command in COMPARED, for the same time. An interrupted training is resumed, a finished one is not repeated.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.evaluation.plots import COLOURS, plot

from benchmarks import common
from garden_core import list_games

MINUTES = {"mars": 10.0, "cacti": 3.0}
OTHER_MINUTES = 2.0  # for other games
KEYS = ("decisions", "seconds")
DEFAULT = "garden train"
FLAT = [f"garden train --network flat --hidden {hidden}" for hidden in (64, 128, 256)]
COMPARED = {
    "mars": [
        FLAT[1],
        "garden train --network board --channels 16 --hidden 64",
        "garden train --network board --channels 32 --hidden 128",
        "garden train --method expert-iteration --network board --channels 32 --hidden 128",
    ],
    "cacti": [*FLAT, "garden train --method expert-iteration --network flat --hidden 128"],
    "botanicus": [*FLAT, "garden train --method expert-iteration --network flat --hidden 128"],
}


@dataclass
class Arguments:
    """Train every game with several seeds and plot the learning curves."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    seeds: int = 3
    """number of runs of each game, with seeds 0, 1, ..."""
    minutes: float | None = None
    """training time of each run, minutes; 10 for mars, 3 for cacti and 2 for other games if not given"""
    compare: bool = False
    """compare networks and training methods with seed 0, in place of learning curves"""
    processes: int = 2
    """number of trainings at the same time"""
    runs: Path = Path("runs/learning")
    """folder for the runs' folders"""
    output: Path = common.RESULTS
    """folder for learning.json and learning.png, or compared.json"""


def run(game: str, seed: int, minutes: float, way: str, folder: Path) -> dict[str, Any]:
    """Train, unless the run is finished already; return its evaluations by column, and the final results.

    Args:
        game: name of the game.
        seed: seed of the training.
        minutes: training time.
        way: the training command without its game.
        folder: folder of the run.

    Raises:
        RuntimeError: if the training fails; the message ends with the training's last output.
    """
    if not (folder / "evaluation.json").exists():
        arguments = way.removeprefix(DEFAULT).split()
        command = [sys.executable, "-m", "garden_agents", "train", *arguments]
        if (folder / "config.toml").exists():
            command += ["--resume", str(folder)]
        else:
            limits = f"--minutes {minutes:g} --threads 1 --seed {seed} --evaluations 8 --panel-games 100"
            command += [game, *limits.split(), "--run", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    with (folder / "evaluations.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    evaluations = {key: [round(float(row[key]), 4) for row in rows] for key in rows[0]}
    final = json.loads((folder / "evaluation.json").read_text())["results"]
    found = {"game": game, "seed": seed, "minutes": minutes, "way": way}
    return found | {"evaluations": evaluations, "final": final}


def main(arguments: Arguments) -> None:
    """Train, print the final results, write the result file and the plot."""
    games = arguments.games or tuple(list_games())
    if arguments.compare:
        jobs = [(game, 0, way) for game in games for way in COMPARED.get(game, FLAT)]
    else:
        jobs = [(game, seed, DEFAULT) for game in games for seed in range(arguments.seeds)]

    def one(job: tuple[str, int, str]) -> dict[str, Any]:
        game, seed, way = job
        minutes = MINUTES.get(game, OTHER_MINUTES) if arguments.minutes is None else arguments.minutes
        folder = arguments.runs / "-".join([game, f"{minutes:g}min", str(seed), *re.findall(r"\w+", way)])
        found = run(game, seed, minutes, way, folder)
        rates = ", ".join(f"{r['opponent']} {r['win_rate']:.1%}" for r in found["final"])
        print(f"{folder.name}: {found['evaluations']['decisions'][-1]:,.0f} decisions; {rates}", flush=True)
        return found

    with ThreadPoolExecutor(arguments.processes) as executor:
        measurements = list(executor.map(one, jobs))
    settings = {"seeds": arguments.seeds, "processes": arguments.processes}
    if arguments.compare:
        common.save(arguments.output, "compared", settings, measurements)
    else:
        common.save(arguments.output, "learning", settings, measurements)
        draw(arguments.output / "learning.png", measurements)


def draw(path: Path, measurements: list[dict[str, Any]]) -> None:
    """Plot the mean over the seeds, in a band from the lowest to the highest seed."""
    games = sorted({found["game"] for found in measurements})
    with plot(path, 2 * len(games), (4.2 * len(games), 3.2), sharey=True) as axes:
        for i, game in enumerate(games):
            runs = [found["evaluations"] for found in measurements if found["game"] == game]
            points = min(len(each["seconds"]) for each in runs)
            for axis, key, unit in zip(axes[2 * i :], KEYS, (1e3, 60), strict=False):
                x = np.mean([each[key][:points] for each in runs], axis=0) / unit
                for colour, opponent in zip(COLOURS, [k for k in runs[0] if k not in KEYS], strict=False):
                    rates = np.array([each[opponent][:points] for each in runs])
                    axis.plot(x, rates.mean(0), "o-", color=colour, label=opponent)
                    axis.fill_between(x, rates.min(0), rates.max(0), color=colour, alpha=0.18, linewidth=0)
                axis.set(ylim=(0, 1.02), xlim=(0, None))
            axes[2 * i].set(title=game, xlabel="thousand decisions", ylabel="win rate" if i == 0 else None)
            axes[2 * i + 1].set(xlabel="minutes")
        handles, names = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, names, title="against", loc="outside right center")


if __name__ == "__main__":
    main(tyro.cli(Arguments))
