"""Learning curves: `python -m benchmarks.learning [GAMES...]`; with `--compare`, what other settings would do.

Trains each game with several seeds in each of WAYS by `garden train GAME --minutes M --threads 1 --seed S`, and plots the
win rates against greedy and a small search over decisions and over time, a picture for each game and time. With
`--compare` it trains for two minutes with other settings instead. Every network also plays against that of the default
setting with the same seed. An interrupted training is resumed, a finished one is not repeated.
"""

from __future__ import annotations

import csv
import itertools
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
from garden_agents.evaluation.matches import meet
from garden_agents.evaluation.plots import COLOURS, plot
from garden_agents.networks.network_agent import NetworkAgent

from benchmarks import common
from garden_core import list_games, make

MINUTES = {"mars": (10.0, 40.0)}
OTHER_MINUTES = (10.0,)  # for other games
KEYS = ("decisions", "seconds")
DEFAULT = "garden train"
WAYS = {
    DEFAULT: "own PPO",
    "garden train --trainer sb3": "SB3's PPO",
    "garden train --method expert-iteration": "expert iteration",
}
COMPARED_MINUTES = 2.0
DUEL = 1000
"""Games of a network against that of the default setting."""
EVERYWHERE = (
    "",
    "--imitation 0",
    "--value-lambda 1",
    "--trainer sb3",
    "--method expert-iteration",
)
IN_MARS = (
    "--minibatch 1024",
    "--network flat",
    "--channels 16 --hidden 64",
    "--channels 48 --hidden 192",
)
ELSEWHERE = ("--hidden 256",)


@dataclass
class Arguments:
    """Train every game with several seeds and plot the learning curves."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    seeds: int = 3
    """number of runs of each game, with seeds 0, 1, ..."""
    minutes: tuple[float, ...] = ()
    """training times, minutes; 10 and 40 for mars and 10 for other games if not given"""
    ways: tuple[str, ...] = tuple(WAYS)
    """commands to train with, without the game"""
    compare: bool = False
    """compare settings, in place of learning curves"""
    processes: int = 2
    """number of trainings at the same time"""
    runs: Path = Path("runs/learning")
    """folder for the runs' folders"""
    output: Path = common.RESULTS
    """folder for learning.json and learning-GAME-MINUTES.png, or compared.json"""


def run(
    game: str, seed: int, minutes: float, way: str, folder: Path, evaluations: int, games: int
) -> dict[str, Any]:
    """Train, unless the run is finished already; return its evaluations by column, and the final results.

    Args:
        game: name of the game.
        seed: seed of the training.
        minutes: training time.
        way: the training command without its game.
        folder: folder of the run.
        evaluations: number of evaluations in the course of the training.
        games: games against each agent in an evaluation.

    Raises:
        RuntimeError: if the training fails; the message ends with the training's last output.
    """
    if not (folder / "evaluation.json").exists():
        arguments = way.removeprefix(DEFAULT).split()
        command = [sys.executable, "-m", "garden_agents", "train"]
        if (folder / "config.toml").exists():
            command += [*arguments, "--resume", str(folder)]
        else:
            limits = f"--minutes {minutes:g} --threads 1 --seed {seed} --evaluations {evaluations} --panel-games {games}"
            command += [game, *arguments, *limits.split(), "--run", str(folder)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    with (folder / "evaluations.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {key: [round(float(row[key]), 4) for row in rows] for key in rows[0]}
    final = json.loads((folder / "evaluation.json").read_text())["results"]
    found = {"game": game, "seed": seed, "minutes": minutes, "way": way}
    return found | {"evaluations": columns, "final": final}


def main(arguments: Arguments) -> None:
    """Train, print the final results, write the result file and the plot."""
    jobs = []
    for game in arguments.games or list_games():
        times, ways = MINUTES.get(game, OTHER_MINUTES), arguments.ways
        if arguments.compare:
            settings = EVERYWHERE + (IN_MARS if game == "mars" else ELSEWHERE)
            times, ways = (COMPARED_MINUTES,), tuple(f"{DEFAULT} {setting}".strip() for setting in settings)
        each = itertools.product(arguments.minutes or times, range(arguments.seeds), ways)
        jobs += [(game, seed, minutes, way) for minutes, seed, way in each]

    def folder_of(game: str, seed: int, minutes: float, way: str) -> Path:
        return arguments.runs / "-".join([game, f"{minutes:g}min", str(seed), *re.findall(r"[\w.]+", way)])

    def one(job: tuple[str, int, float, str]) -> dict[str, Any]:
        game, seed, minutes, way = job
        folder = folder_of(*job)
        evaluations, games = (1, 400) if arguments.compare else (8, 100)
        found = run(game, seed, minutes, way, folder, evaluations, games)
        rates = ", ".join(f"{r['opponent']} {r['win_rate']:.1%}" for r in found["final"])
        print(f"{folder.name}: {found['evaluations']['decisions'][-1]:,.0f} decisions; {rates}", flush=True)
        return found

    with ThreadPoolExecutor(arguments.processes) as executor:
        measurements = list(executor.map(one, jobs))
    for job, found in zip(jobs, measurements, strict=True):
        game, seed, minutes, way = job
        if way != DEFAULT and (game, seed, minutes, DEFAULT) in jobs:
            agents = [
                NetworkAgent.load(folder_of(game, seed, minutes, each), make(game)) for each in (way, DEFAULT)
            ]
            found["against_default"] = meet(
                make(game), (way, DEFAULT), (agents[0], agents[1]), DUEL, seed
            ).win_rate
    about = {"seeds": arguments.seeds, "processes": arguments.processes}
    if arguments.compare:
        common.save(arguments.output, "compared", about, measurements)
    else:
        common.save(arguments.output, "learning", about, measurements)
        for game, minutes in sorted({(found["game"], found["minutes"]) for found in measurements}):
            chosen = [found for found in measurements if (found["game"], found["minutes"]) == (game, minutes)]
            draw(arguments.output / f"learning-{game}-{minutes:g}.png", chosen)


def draw(path: Path, measurements: list[dict[str, Any]]) -> None:
    """Plot the runs of one game: of each way the mean over the seeds, in a band from the lowest to the highest seed."""
    opponents = [name for name in measurements[0]["evaluations"] if name not in (*KEYS, "random")]
    with plot(path, 2 * len(opponents), (4.2 * len(opponents) + 2, 3.4), sharey=True) as axes:
        for colour, (way, name) in zip(COLOURS, WAYS.items(), strict=False):
            runs = [found["evaluations"] for found in measurements if found["way"] == way]
            if not runs:
                continue
            points = min(len(each["seconds"]) for each in runs)
            for i, (opponent, (key, unit)) in enumerate(
                itertools.product(opponents, zip(KEYS, (1e3, 60), strict=True))
            ):
                x = np.mean([each[key][:points] for each in runs], axis=0) / unit
                rates = np.array([each[opponent][:points] for each in runs])
                axes[i].plot(x, rates.mean(0), "o-", color=colour, label=name)
                axes[i].fill_between(x, rates.min(0), rates.max(0), color=colour, alpha=0.18, linewidth=0)
                label = "thousand decisions" if key == "decisions" else "minutes"
                axes[i].set(ylim=(0, 1.02), xlim=(0, None), title=f"against {opponent}", xlabel=label)
        axes[0].set(ylabel=f"win rate, {measurements[0]['game']}")
        handles, names = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, names, loc="outside right center")


if __name__ == "__main__":
    main(tyro.cli(Arguments))
