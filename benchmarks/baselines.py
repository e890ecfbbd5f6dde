"""Train the benchmark's baselines and rate them: `python -m benchmarks.baselines`.

Each run is a method with a seed and a number of decisions to learn from, in a task, and a line of `baselines.jsonl`; runs that have a line
are not repeated, interrupted trainings are continued. By default all runs of `plan` are made, which take about 30 hours of one core;
`--tasks`, `--methods`, `--decisions` and `--seeds` choose some. The network that a training kept is rated by `garden_agents.score`.
"""

from __future__ import annotations

import csv
import functools
import importlib.metadata
import json
import re
import resource
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro
from garden_agents import score
from garden_agents.evaluation.tasks import field_of, task_of, tasks
from garden_agents.matches import record
from garden_agents.matches.jobs import CORES, finished
from garden_agents.plots import COLOURS, plot
from garden_agents.progress import progress_bar
from garden_agents.report.curves import member_lines
from garden_agents.report.run_files import EVALUATIONS, METRICS, RESULTS

from benchmarks import common
from garden_core.files.disk import write_atomically
from garden_core.recorded.dataset import Dataset

FILE = common.RESULTS / "baselines.jsonl"
GARDEN = {
    "garden train": "",
    "without imitation": "--imitation 0",
    "imitation alone": "--network plain",
    "plain observation": "--network plain --imitation 0",
    "MaskablePPO": "--trainer sb3 --network plain",
}
"""Methods that are trained by `garden train`, with its arguments."""
PARTS = ("without imitation", "imitation alone")
"""Parts of its knowledge; they run if they are named."""
EXAMPLES = {"examples/ppo.py": "ppo", "DQN": "dqn_torchrl"}
"""Methods that are trained by an example, with its module."""
CLONING = "behaviour cloning"
METHODS = (*GARDEN, *EXAMPLES, CLONING)
KNOWLEDGE = ("garden train", "without imitation", "imitation alone", CLONING)
"""Methods that use knowledge of the game: features, look-ahead, or imitation of `greedy`."""
EVALUATIONS_OF_A_RUN = 5
EPOCHS = 3  # of behaviour cloning


class Run(NamedTuple):
    """A training."""

    task: str
    method: str
    decisions: int
    seed: int

    @property
    def name(self) -> str:
        """A name for its files."""
        return re.sub(r"[^\w.]+", "-", "-".join(map(str, self)))


@dataclass
class Arguments:
    """Train and rate baselines."""

    tasks: tuple[str, ...] = tuple(name for name, task in tasks().items() if not task.card_sets)
    """tasks, such as cacti-2"""
    methods: tuple[str, ...] = tuple(method for method in METHODS if method not in PARTS)
    """methods"""
    decisions: tuple[int, ...] = (1_000_000, 10_000_000, 100_000_000)
    """numbers of decisions to learn from"""
    seeds: int = 5
    """number of seeds: 0, 1, ..."""
    processes: int = CORES
    """number of trainings at the same time"""
    runs: Path = Path("runs/baselines")
    """folder for the runs' folders"""
    output: Path = FILE
    """file of the results; pictures are written next to it"""


def plan(arguments: Arguments) -> list[Run]:
    """Return the runs that the arguments choose, short ones first."""
    a, runs = arguments, []
    for decisions in sorted(a.decisions):
        for seed in range(a.seeds):
            for task in a.tasks:
                few = task_of(task).make().num_players > 2 and decisions > 1_000_000 and seed > 2
                for method in a.methods:
                    if decisions > 1_000_000 and (method not in GARDEN or few):
                        continue
                    if decisions > 10_000_000 and (method != "garden train" or task != "cacti-2"):
                        continue
                    runs.append(Run(task, method, decisions, seed))
    return runs


# --- runs ---


class Trained(NamedTuple):
    """A trained agent.

    Attributes:
        agent: its name, or a policy.
        seconds: of processor time, for a run of `garden train` of training time on one thread, evaluations excluded.
        curve: decisions and rating of each evaluation.
    """

    agent: Any
    seconds: float
    curve: Sequence[tuple[int, int]] = ()


def trained_by_garden(run: Run, folder: Path) -> Trained:
    """Train by `garden train`."""
    task = task_of(run.task)
    command = f"train {task.game} --num-players {task.options['num_players']} --steps {run.decisions} --seed {run.seed}"
    limits = f"--threads 1 --evaluations {EVALUATIONS_OF_A_RUN} --evaluation-games 200 --final-games 0"
    options = GARDEN[run.method].split()
    trainer = options[:2] if "--trainer" in options else []
    common.train(folder, RESULTS, [*command.split(), *options, *limits.split()], ["train", *trainer])
    with (folder / METRICS).open(newline="") as file:
        seconds = float(list(csv.DictReader(file))[-1]["seconds"])
    with (folder / EVALUATIONS).open(newline="") as file:
        curve = [(int(float(row["decisions"])), round(float(row["rating"]))) for row in csv.DictReader(file)]
    return Trained(str(folder), seconds, curve)


def trained_by_example(run: Run, folder: Path) -> Trained:
    """Train by an example."""
    task, weights, example = task_of(run.task), folder.with_suffix(".pt"), EXAMPLES[run.method]
    words = f"--game {task.game} --num-players {task.options['num_players']} --decisions {run.decisions} --seed {run.seed}"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, f"examples/{example}.py", *words.split(), "--output", str(weights)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Trained(f"examples.{example}:make?weights={weights}", after.ru_utime - before.ru_utime)


def cloned(run: Run, folder: Path) -> Trained:
    """Clone `greedy`, by `examples/offline.py`."""
    from examples import offline

    task, data = task_of(run.task), folder.with_suffix(".safetensors")

    def recorded(games: int) -> Dataset:
        data.unlink(missing_ok=True)
        arguments = record.Arguments(
            task.game,
            num_players=task.options["num_players"],
            options={"reward": "margin"},
            agents=["greedy"],
            output=data,
            games=games,
            seed=1 + run.seed,
            processes=1,
        )
        return record.main(arguments)

    few = recorded(100)
    dataset = recorded(100 * run.decisions // few.num_decisions + 1)
    learner = offline.Arguments(data, EPOCHS * dataset.num_decisions // 256, seed=run.seed)
    before = resource.getrusage(resource.RUSAGE_SELF)
    agent = offline.learn(dataset, learner, values=False)
    data.unlink()
    return Trained(agent, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before.ru_utime)


def line_of(run: Run, folder: Path) -> dict[str, Any]:
    """Train and rate; return the line of the result file."""
    folder.mkdir(parents=True, exist_ok=True)
    train = (
        trained_by_garden
        if run.method in GARDEN
        else trained_by_example
        if run.method in EXAMPLES
        else cloned
    )
    trained = train(run, folder / run.name)
    found, facts = score(trained.agent, run.task), common.facts()
    return {
        **run._asdict(),
        "version": found.version,
        "rating": round(found.rating),
        "interval": found.plain["interval"],
        "games": found.games,
        "surprises": [each.agent for each in found.surprises],
        "knowledge": run.method in KNOWLEDGE,
        "seconds": round(trained.seconds),
        "curve": trained.curve,
        "garden-envs": importlib.metadata.version("garden-envs"),
        **{name: facts[name] for name in ("commit", "processor", "date")},
    }


# --- results ---


def read(path: Path = FILE) -> list[dict[str, Any]]:
    """Return the results of all runs."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def by_method(rows: Sequence[dict[str, Any]], task: str) -> dict[tuple[str, int], list[dict[str, Any]]]:
    """Return the runs of a task's present version by method and number of decisions, in the order of METHODS."""
    found = defaultdict(list)
    for row in rows:
        if (row["task"], row["version"]) == (task, task_of(task).version):
            found[row["method"], row["decisions"]].append(row)
    return dict(sorted(found.items(), key=lambda item: (METHODS.index(item[0][0]), item[0][1])))


def draw(path: Path, rows: Sequence[dict[str, Any]], task: str) -> None:
    """Draw the ratings of all methods in a task over decisions, each with its longest runs, and the field's members as lines."""
    runs = by_method(rows, task)
    longest = {
        method: (method, decisions) for method, decisions in runs
    }  # of a method, the last are the longest
    with plot(path, 1, (7, 4.5)) as (axes,):
        for number, method in enumerate(METHODS):
            if method in longest:
                _band(axes, runs[longest[method]], COLOURS[number], method)
        _over_decisions(axes, f"rating in {task}")
        member_lines(axes, axes, {m.agent: m.rating for m in field_of(task).members})


def draw_tasks(path: Path, rows: Sequence[dict[str, Any]], method: str) -> None:
    """Draw the ratings of a method in all tasks over decisions, each with its longest runs."""
    with plot(path, 1, (7, 4)) as (axes,):
        for number, task in enumerate(Arguments.tasks):
            of_method = [runs for (name, _), runs in by_method(rows, task).items() if name == method]
            if of_method:
                _band(axes, of_method[-1], COLOURS[number], task)
        _over_decisions(axes, f"rating of {method}")


def _band(axes: Any, runs: Sequence[dict[str, Any]], colour: str, name: str) -> None:
    """Draw the mean of runs over decisions and the range of their seeds; a point if they have no evaluations."""
    curves = [np.array(row["curve"] or [(row["decisions"], row["rating"])], float) for row in runs]
    x = np.mean([curve[:, 0] for curve in curves], 0)
    y = np.array([curve[:, 1] for curve in curves])
    axes.plot(x, y.mean(0), "o-", color=colour, label=f"{name}, {len(curves)} seed{'s' * (len(curves) > 1)}")
    if len(x) > 1:
        axes.fill_between(x, y.min(0), y.max(0), color=colour, alpha=0.15, linewidth=0)
    else:
        axes.vlines(x, y.min(0), y.max(0), color=colour)


def _over_decisions(axes: Any, what: str) -> None:
    from matplotlib.ticker import EngFormatter, LogLocator, NullLocator

    axes.set(xscale="log", xlabel="decisions learned from", ylabel=what)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(EngFormatter(sep=" "))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.figure.legend(loc="outside lower center", ncols=3)


def main(arguments: Arguments) -> None:
    """Make the runs that have no line yet, add their lines, and draw the pictures."""
    a, rows = arguments, read(arguments.output)
    done = {(*(row[key] for key in Run._fields), row["version"]) for row in rows}
    missing = [run for run in plan(a) if (*run, task_of(run.task).version) not in done]
    a.output.parent.mkdir(parents=True, exist_ok=True)
    with progress_bar(total=len(missing), unit="run") as bar:
        for run, row in finished(
            functools.partial(line_of, folder=a.runs), missing, a.processes, lambda run: run.name
        ):
            rows = [*read(a.output), row]  # another process may have added some
            ordered = sorted(
                rows, key=lambda row: (row["task"], row["method"], row["decisions"], row["seed"])
            )
            text = "".join(f"{json.dumps(each)}\n" for each in ordered)
            write_atomically(a.output, text.encode())
            bar.write(f"{run.name}: {row['rating']}, {row['seconds']} s")
            bar.update()
    for task in a.tasks:
        if by_method(rows, task):
            draw(a.output.with_name(f"baselines-{task}.png"), rows, task)
    draw_tasks(a.output.with_name("baselines-sb3.png"), rows, "MaskablePPO")


if __name__ == "__main__":
    main(tyro.cli(Arguments))
