"""Expert iteration with workers on a Ray cluster: `python -m benchmarks.scaling [GAMES...]`, where Ray is installed.

Trainings begin with the shipped network and a learning rate of 0, so that the work stays the same during a measurement. The
parts of a training (games, learning) are measured separately, and a model combines them: workers play while the learner
learns, so `decisions per second = min(W * rate of a worker, 1 / learn)`.

With fewer cores than busy processes, the processes share the machine; the speed of two processes relative to one is measured
too. The model is then compared with trainings with one and with two workers, and predicts larger numbers of workers, each on
its own core. `make test-ray` installs Ray.
"""

from __future__ import annotations

import itertools
import multiprocessing
import pickle
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray
import torch
import tyro
from garden_agents.networks.network_agent import NetworkAgent, shipped
from garden_agents.training import expert_iteration, search_games
from garden_agents.training.ray_workers import MOVES, SearchWorker, SearchWorkers

from benchmarks import common
from garden_core import make

MEASURED = (1, 2)
ASKED = (10, 100, 1000)


@dataclass
class Arguments:
    """Measure trainings with workers, and compare them with a model."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("cacti", "mars")
    """names of games"""
    seconds: float = 20.0
    """length of each measurement of a training"""
    repeats: int = 9
    """number of measurements of each part"""
    output: Path = common.RESULTS
    """folder for scaling-GAME.json"""


def settings(name: str, folder: Path) -> dict[str, Any]:
    """Return arguments that keep the work the same: the shipped network with a learning rate of 0."""
    game = make(name, reward="margin")
    start = shipped(game)[2]
    network = NetworkAgent.load(start, game, allow_other_options=True).config["network"]
    return {
        "start": start,
        "network": network["kind"],
        "channels": network["channels"],
        "hidden": network["hidden"],
        "learning_rate": 0.0,
        "final_learning_rate": 0.0,
        "panel": (),
        "run": folder,
    }


def training(name: str, folder: Path) -> expert_iteration.Training:
    """Return a training by expert iteration with the game's own defaults."""
    arguments = expert_iteration.Arguments.for_game(name, threads=1, **settings(name, folder))
    game = make(name, reward="margin")
    return expert_iteration.Training(folder, arguments, game)


def parts_of(name: str, folder: Path, repeats: int) -> dict[str, float]:
    """Return the parts of the model: seconds per decision, and sizes in bytes."""
    t = training(name, folder)
    weights = t.network.parameters
    made_of = t.game, t.arguments, weights, 0
    worker: Any = ray.remote(num_cpus=1)(SearchWorker).remote(*made_of)
    play = learn = 0.0
    decisions, positions = 0, []
    while t.positions.added < 2 * t.arguments.minibatch * repeats:
        start = time.perf_counter()
        received = ray.get(worker.play.remote(weights, True))
        between = time.perf_counter()
        for played in received:
            t.positions.add(played.positions)
            t._learn(0.0)
            positions.append(played.positions)
        if t.used:  # it has begun
            learn += time.perf_counter() - between
            play += between - start
            decisions += sum(played.decisions for played in received)
    sent = search_games.joined(positions)
    return {
        "decisions": MOVES * t.arguments.envs,
        "play": play / decisions,
        "learn": learn / decisions,
        "bytes_of_a_decision": len(pickle.dumps(sent, protocol=5)) / (len(positions) * t.arguments.envs),
        "bytes_of_the_weights": weights.nbytes,
    }


def predicted(parts: dict[str, float], workers: int, capacity: float | None = None) -> float:
    """Return the decisions per second of a training; `capacity` is the machine's in processes, None for one core each."""
    rate = min(workers / parts["play"], 1 / parts["learn"])
    return rate if capacity is None else min(rate, capacity / (parts["play"] + parts["learn"]))


def measured(name: str, folder: Path, workers: int, seconds: float) -> dict[str, float]:
    """Return the decisions per second of a training, and of its workers alone."""
    t = training(name, folder)
    t.arguments.workers = workers
    source = SearchWorkers(t.game, t.network, t.arguments, 0)

    def sample() -> int:
        return sum(source.play(guided=True).decisions for _ in range(MOVES))

    def train() -> int:
        decisions = 0
        for _ in range(MOVES):
            played = source.play(guided=True)
            t.positions.add(played.positions)
            t._learn(0.0)
            decisions += played.decisions
        return decisions

    while not t.used:
        train()
    return {"trained": rate_of(train, seconds), "sampled": rate_of(sample, seconds)}


def rate_of(work: Callable[[], int], seconds: float) -> float:
    """Return the units per second of `work`, repeated for some seconds; work() returns its number of units."""
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        done += work()
    return done / spent


def _play_for(name: str, seconds: float, folder: str, rates: Any) -> None:
    """Play without Ray; put the decisions per second on the queue `rates`."""
    torch.set_num_threads(1)
    t = training(name, Path(folder))
    games = search_games.SearchGames(t.game, t.arguments, t.network, 1, 0)
    games.compile()
    rates.put(rate_of(lambda: games.play(guided=True).decisions, seconds))


def together(name: str, processes: int, seconds: float) -> float:
    """Return the decisions per second of several processes together, without Ray."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        rates = spawn.Queue()
        arguments = [(name, seconds, f"{folder}/{i}", rates) for i in range(processes)]
        started = [spawn.Process(target=_play_for, args=each) for each in arguments]
        for process in started:
            process.start()
        total = sum(rates.get(timeout=60 + 3 * seconds) for _ in started)
        for process in started:
            process.join()
    return total


def main(arguments: Arguments) -> None:
    """Measure, print, and write the result file."""
    a = arguments
    torch.set_num_threads(1)
    ray.init(num_cpus=max(MEASURED) + 1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    about = {"ray": ray.__version__, "seconds": a.seconds}
    with tempfile.TemporaryDirectory() as top:
        folders = (Path(top) / str(i) for i in itertools.count())
        for name in a.games:
            one, two = (together(name, processes, a.seconds / 2) for processes in MEASURED)
            parts = parts_of(name, next(folders), a.repeats)
            rows = []
            for workers in (*MEASURED, *ASKED):
                capacity = two / one if workers in MEASURED else None
                row: dict[str, Any] = {"workers": workers, "predicted": predicted(parts, workers, capacity)}
                if workers in MEASURED:
                    row |= measured(name, next(folders), workers, a.seconds)
                rows.append(row)
                shown = ", ".join(f"{key} {value:,.0f}" for key, value in row.items())
                print(f"{name:10} {shown}", flush=True)
            measurement = {"game": name, "parts": parts, "two_to_one": two / one, "workers": rows}
            common.save(a.output, f"scaling-{name}", about, [measurement])


if __name__ == "__main__":
    main(tyro.cli(Arguments))
