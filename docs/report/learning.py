"""Measure learning curves: `python -m docs.report.learning [GAMES...]`; with `--compare`, compare training settings.

Trains each game with several seeds in each of WAYS by `garden train GAME --minutes M --threads 1 --seed S`, and plots the win
rates against a small search over decisions and over time, one picture per game and time. `--compare` trains for two minutes
with other settings instead. Every network also plays against the network of the default setting with the same seed. `--short`
trains for two minutes with the default setting, with an evaluation against greedy play about every five seconds.
Interrupted trainings are resumed, finished ones are not repeated.
"""

from __future__ import annotations

import csv
import itertools
import json
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.matches.meet import meet
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.plots import COLOURS, plot
from garden_agents.report.run_files import EVALUATIONS, KEPT, RESULTS

from benchmarks import common
from garden_core import list_games, make

CURVES = "--evaluations 16 --panel-games 100"
SHORT = "--evaluations 24 --panel greedy --panel-games 400"
COMPARED = "--evaluations 1 --panel-games 400"
PLOTTED = "mcts:50"
"""Opponent in the plots: greedy play is beaten too soon for a curve."""
DEFAULT = "garden train"
WAYS = {
    DEFAULT: "own PPO",
    "garden train --trainer sb3": "SB3's PPO",
}
SHORT_MINUTES = 2.0
DUEL = 1000
"""Games of a network against the network of the default setting."""
EVERYWHERE = ("", "--imitation 0", "--trainer sb3")
IN_GAME = {"cacti": ("--hidden 256", "--separate-values")}


@dataclass
class Arguments:
    """Train every game with several seeds and plot the learning curves."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    seeds: int = 3
    """number of runs of each game, with seeds 0, 1, ..."""
    minutes: float = 5.0
    """training time of learning curves, minutes"""
    ways: tuple[str, ...] = tuple(WAYS)
    """commands to train with, without the game"""
    compare: bool = False
    """compare settings, in place of learning curves"""
    short: bool = False
    """measure how soon trainings beat greedy play, in place of learning curves"""
    processes: int = 2
    """number of trainings at the same time"""
    runs: Path = Path("runs/learning")
    """folder for the runs' folders"""
    output: Path = Path(__file__).parent
    """folder for learning-GAME-MINUTES.json and .png, compared-GAME.json, or short-GAME.json"""


def run(game: str, seed: int, minutes: float, way: str, folder: Path, evaluations: str) -> dict[str, Any]:
    """Train, unless the run is finished; return its evaluations by column, and the final results.

    Args:
        game: name of the game.
        seed: seed of the training.
        minutes: training time.
        way: the training command without its game.
        folder: folder of the run.
        evaluations: arguments for the evaluations during the training.

    Raises:
        RuntimeError: if the training fails; the message ends with the training's last output.
    """
    arguments = way.removeprefix(DEFAULT).split()
    limits = f"--minutes {minutes:g} --threads 1 --seed {seed} {evaluations}"
    command = ["train", game, *arguments, *limits.split()]
    common.train(folder, RESULTS, command, ["train", *arguments])
    with (folder / EVALUATIONS).open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {key: [round(float(row[key]), 4) for row in rows] for key in rows[0] if key != KEPT}
    final = json.loads((folder / RESULTS).read_text("utf-8"))["results"]
    about = {"game": game, "seed": seed, "minutes": minutes, "way": way}
    return about | {"evaluations": columns, "final": final}


def main(arguments: Arguments) -> None:
    """Train, print the final results, write the result files and the plots."""
    for game in arguments.games or list_games():
        if arguments.compare:
            settings = EVERYWHERE + IN_GAME.get(game, ())
            ways = tuple(f"{DEFAULT} {setting}".strip() for setting in settings)
            measured(f"compared-{game}", game, SHORT_MINUTES, ways, COMPARED, arguments)
        elif arguments.short:
            measured(f"short-{game}", game, SHORT_MINUTES, (DEFAULT,), SHORT, arguments)
        else:
            name = f"learning-{game}-{arguments.minutes:g}"
            measurements = measured(name, game, arguments.minutes, arguments.ways, CURVES, arguments)
            draw(arguments.output / f"{name}.png", measurements)


def measured(
    name: str, game: str, minutes: float, ways: tuple[str, ...], evaluations: str, arguments: Arguments
) -> list[dict[str, Any]]:
    """Train a game in each way with each seed, and write the results to NAME.json."""

    def folder_of(seed: int, way: str) -> Path:
        # with the name, as runs of the same time differ in their evaluations
        return arguments.runs / "-".join([name, str(seed), *re.findall(r"[\w.]+", way)])

    def one(job: tuple[int, str]) -> dict[str, Any]:
        folder = folder_of(*job)
        result = run(game, job[0], minutes, job[1], folder, evaluations)
        rates = ", ".join(f"{r['opponent']} {r['win_rate']:.1%}" for r in result["final"])
        print(f"{folder.name}: {result['evaluations']['decisions'][-1]:,.0f} decisions; {rates}", flush=True)
        return result

    jobs = list(itertools.product(range(arguments.seeds), ways))
    with ThreadPoolExecutor(arguments.processes) as executor:
        measurements = list(executor.map(one, jobs))
    for (seed, way), result in zip(jobs, measurements, strict=True):
        if way != DEFAULT and DEFAULT in ways:
            agents = [NetworkAgent.load(folder_of(seed, each), make(game)) for each in (way, DEFAULT)]
            names, policies = (way, DEFAULT), (agents[0], agents[1])
            result["against_default"] = meet(make(game), names, policies, DUEL, seed).win_rate
    about = {"seeds": arguments.seeds, "processes": arguments.processes}
    common.save(arguments.output, name, about, measurements)
    return measurements


def draw(path: Path, measurements: list[dict[str, Any]]) -> None:
    """Plot the runs of a game: each way's mean over the seeds, in a band from the lowest to the highest seed."""
    units = (("decisions", 1e6, "million decisions"), ("seconds", 60, "minutes"))
    with plot(path, len(units), (10.4, 3.4), sharey=True) as axes:
        for colour, (way, name) in zip(COLOURS, WAYS.items(), strict=False):
            runs = [result["evaluations"] for result in measurements if result["way"] == way]
            if not runs:
                continue
            points = min(len(each["seconds"]) for each in runs)
            rates = np.array([each[PLOTTED][:points] for each in runs])
            for axis, (key, unit, label) in zip(axes, units, strict=True):
                x = np.mean([each[key][:points] for each in runs], axis=0) / unit
                axis.plot(x, rates.mean(0), "o-", color=colour, label=name)
                axis.fill_between(x, rates.min(0), rates.max(0), color=colour, alpha=0.18, linewidth=0)
                axis.set(ylim=(0, 1.02), xlim=(0, None), title=f"against {PLOTTED}", xlabel=label)
        axes[0].set(ylabel=f"win rate, {make(measurements[0]['game']).title}")
        handles, names = axes[0].get_legend_handles_labels()
        axes[0].figure.legend(handles, names, loc="outside right center")


if __name__ == "__main__":
    main(tyro.cli(Arguments))
