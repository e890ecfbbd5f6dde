"""What workers on a Ray cluster give: `python -m benchmarks.scaling [GAMES...]`, where Ray is installed (`make test-ray`).

Trainings begin with the shipped network and a learning rate of 0, so that the work stays the same while it is measured. For
both trainers of this project the parts of a training are measured one by one (games, learning, what it costs to send
decisions and weights), and a model puts them together:

- PPO: the learner waits for the rollouts of all W workers and then learns from them,
  `seconds = play + call + W * n * (join + learn)`, for n decisions of each worker;
- expert iteration: workers play on while the learner learns from what comes,
  `decisions per second = the least of W * rate of a worker, 1 / learn`.

On a machine with fewer cores than busy processes these share it; how much faster two processes are than one is measured
too. The model is then held against trainings with one and with two workers, and asked for larger numbers, each worker with
a core of its own. RLlib's PPO in self-play against a league (`garden_agents.training.rllib`) is measured with one runner.
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import pickle
import statistics
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
from garden_agents.training import expert_iteration, ppo, search_games
from garden_agents.training.ray_workers import (
    MOVES,
    SearchWorker,
    SearchWorkers,
    Workers,
    joined,
    only_chosen,
)
from garden_agents.training.rllib import league_config
from garden_agents.training.run_folder import Run
from garden_agents.training.self_play import SelfPlay

from benchmarks import common
from garden_core import make

MEASURED = (1, 2)
ASKED = (10, 100, 1000)


@dataclass
class Arguments:
    """Measure trainings with workers, and a model of them."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("cacti", "mars")
    """names of games"""
    seconds: float = 20.0
    """length of each measurement of a training"""
    repeats: int = 9
    """how often each part is measured"""
    output: Path = common.RESULTS
    """folder for scaling-GAME.json"""


def settings(name: str, folder: Path) -> dict[str, Any]:
    """Return arguments that keep the work the same: the shipped network, which does not change."""
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


def seconds_of(work: Callable[[], Any], repeats: int) -> float:
    """Return the median of the seconds that `work` takes."""
    found = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return statistics.median(found)


# --- PPO ---


def ppo_training(name: str, folder: Path) -> ppo.Training:
    """Return a training by PPO with the game's own defaults, without imitation."""
    arguments = ppo.Arguments.for_game(name, imitation=0.0, **settings(name, folder))
    game = make(name, reward="margin")
    return ppo.Training(arguments, Run.of(folder, game, arguments, ""), game)


def games_of(training: ppo.Training) -> SelfPlay:
    """Return games of this process."""
    return SelfPlay(training.game, training.torch_network, training.pool, training.arguments, 0)


class Echo:
    """Sends back what it holds, as a worker sends its rollout."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def rollout(self, weights: Any) -> Any:
        """Return it; `weights` are taken in and left."""
        return self.held


def ppo_parts(name: str, folder: Path, repeats: int) -> dict[str, float]:
    """Return the parts of the model: seconds, and sizes in bytes."""
    training = ppo_training(name, folder)
    games = games_of(training)
    for _ in range(3):  # compiles, and spreads the games over all phases
        training.learn(games.rollout(with_greedy=False))
    play, learn, counts = [], [], []
    for _ in range(repeats):
        start = time.perf_counter()
        rollout = games.rollout(with_greedy=False)
        play.append(time.perf_counter() - start)
        counts.append(len(rollout.chosen))
    sent = only_chosen(rollout)
    n, weights = len(sent.chosen), training.network.parameters
    echo: Any = ray.remote(Echo).remote(sent)
    for _ in range(repeats):
        received = ray.get(echo.rollout.remote(weights))
        start = time.perf_counter()
        training.learn(received)
        learn.append((time.perf_counter() - start) / n)
    return {
        "decisions": statistics.mean(counts),
        "play": statistics.median(play),
        "learn": statistics.median(learn),
        "join": seconds_of(lambda: joined([sent, sent]), repeats) / (2 * n),
        "call": seconds_of(lambda: ray.get(echo.rollout.remote(ray.put(weights))), repeats),
        "bytes_of_a_decision": len(pickle.dumps(sent, protocol=5)) / n,
        "bytes_of_the_weights": weights.nbytes,
    }


def ppo_predicted(parts: dict[str, float], workers: int, slower: float = 1.0) -> float:
    """Return the decisions per second of a training, its games taking `slower` times as long as those of one process."""
    n = workers * parts["decisions"]
    joining = parts["join"] if workers > 1 else 0.0
    return n / (parts["play"] * slower + parts["call"] + n * (joining + parts["learn"]))


def ppo_measured(name: str, folder: Path, workers: int, seconds: float) -> dict[str, float]:
    """Return the decisions per second of a training, and of its workers alone."""
    training = ppo_training(name, folder)
    training.arguments.workers = workers
    t = training
    source = Workers(t.game, t.network, t.pool, t.arguments, 0)
    for _ in range(3):
        training.learn(source.rollout(with_greedy=False))

    def sample() -> int:
        return len(source.rollout(with_greedy=False).chosen)

    def train() -> int:
        rollout = source.rollout(with_greedy=False)
        training.learn(rollout)
        return len(rollout.chosen)

    return {"sampled": rate_of(sample, seconds), "trained": rate_of(train, seconds)}


# --- expert iteration ---


def expert_training(name: str, folder: Path) -> expert_iteration.Training:
    """Return a training by expert iteration with the game's own defaults."""
    arguments = expert_iteration.Arguments.for_game(name, threads=1, **settings(name, folder))
    game = make(name, reward="margin")
    return expert_iteration.Training(arguments, Run.of(folder, game, arguments, ""), game)


def expert_parts(name: str, folder: Path, repeats: int) -> dict[str, float]:
    """Return the parts of the model: seconds for a decision, and sizes in bytes."""
    t = expert_training(name, folder)
    weights = t.network.parameters
    made_of = t.game, t.arguments, weights, 0
    worker: Any = ray.remote(num_cpus=1)(SearchWorker).remote(*made_of)
    play = learn = 0.0
    decisions, found = 0, []
    while t.positions.added < 2 * t.arguments.minibatch * repeats:
        start = time.perf_counter()
        received = ray.get(worker.play.remote(weights, True))
        between = time.perf_counter()
        for played in received:
            t.positions.add(played.positions)
            t._learn(0.0)
            found.append(played.positions)
        if t.used:  # it has begun
            learn += time.perf_counter() - between
            play += between - start
            decisions += sum(played.decisions for played in received)
    sent = search_games.joined(found)
    return {
        "decisions": MOVES * t.arguments.envs,
        "play": play / decisions,
        "learn": learn / decisions,
        "bytes_of_a_decision": len(pickle.dumps(sent, protocol=5)) / (len(found) * t.arguments.envs),
        "bytes_of_the_weights": weights.nbytes,
    }


def expert_predicted(parts: dict[str, float], workers: int, capacity: float | None = None) -> float:
    """Return the decisions per second of a training; `capacity` is that of the machine, where processes share it."""
    rate = min(workers / parts["play"], 1 / parts["learn"])
    return rate if capacity is None else min(rate, capacity / (parts["play"] + parts["learn"]))


def expert_measured(name: str, folder: Path, workers: int, seconds: float) -> dict[str, float]:
    """Return the decisions per second of a training, and of its workers alone."""
    t = expert_training(name, folder)
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


# --- RLlib ---


def rllib_measured(name: str, seconds: float) -> dict[str, float]:
    """Return the learner's decisions per second that one runner samples, and those of a training with it."""

    def sample(runner: Any) -> float:
        return rate_of(lambda: sum(map(len, runner.sample(num_timesteps=16_384))), seconds)

    def train() -> int:
        algorithm.train()
        return 16_384

    config = league_config(name, num_env_runners=1, network={"kind": "flat", "hidden": 64})
    algorithm = config.training(train_batch_size_per_learner=16_384).build_algo()
    for _ in range(6):  # the league's first member comes after five
        algorithm.train()
    (sampled,) = algorithm.env_runner_group.foreach_env_runner(sample, local_env_runner=False)
    found = {"sampled": sampled, "trained": rate_of(train, seconds)}
    algorithm.stop()
    return found


# --- all ---


def rate_of(work: Callable[[], int], seconds: float) -> float:
    """Return the units per second of work that is repeated for some time; work() returns how many it has done."""
    done, start = 0, time.perf_counter()
    while (spent := time.perf_counter() - start) < seconds:
        done += work()
    return done / spent


def _play_for(trainer: str, name: str, seconds: float, folder: str, found: Any) -> None:
    """Play without Ray; put the decisions per second on the queue `found`."""
    torch.set_num_threads(1)
    if trainer == "ppo":
        games = games_of(ppo_training(name, Path(folder)))
        games.rollout(with_greedy=False)
        rate = rate_of(lambda: len(games.rollout(with_greedy=False).chosen), seconds)
    else:
        t = expert_training(name, Path(folder))
        searched = search_games.Games(t.game, t.arguments, t.network, 1, 0)
        searched.compile()
        rate = rate_of(lambda: searched.play(guided=True).decisions, seconds)
    found.put(rate)


def together(trainer: str, name: str, processes: int, seconds: float) -> float:
    """Return the decisions per second that several processes without Ray play together."""
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        found = spawn.Queue()
        arguments = [(trainer, name, seconds, f"{folder}/{i}", found) for i in range(processes)]
        started = [spawn.Process(target=_play_for, args=each) for each in arguments]
        for process in started:
            process.start()
        rates = [found.get(timeout=60 + 3 * seconds) for _ in started]
        for process in started:
            process.join()
    return sum(rates)


TRAINERS: dict[str, tuple[Callable[..., dict[str, float]], Callable[..., dict[str, float]]]] = {
    "ppo": (ppo_parts, ppo_measured),
    "expert-iteration": (expert_parts, expert_measured),
}


def main(arguments: Arguments) -> None:
    """Measure, print, and write the result file."""
    a = arguments
    torch.set_num_threads(1)
    cores = os.cpu_count() or 1
    ray.init(num_cpus=max(MEASURED) + 1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    about = {"ray": ray.__version__, "seconds": a.seconds}
    with tempfile.TemporaryDirectory() as top:
        folders = (Path(top) / str(i) for i in itertools.count())
        for name in a.games:
            measurements: list[dict[str, Any]] = []
            for trainer, (parts_of, measured) in TRAINERS.items():
                one, two = (together(trainer, name, processes, a.seconds / 2) for processes in MEASURED)
                parts = parts_of(name, next(folders), a.repeats)
                found: dict[str, Any] = {
                    "game": name,
                    "trainer": trainer,
                    "parts": parts,
                    "two_to_one": two / one,
                }
                found["workers"] = []
                for workers in (*MEASURED, *ASKED):
                    if trainer == "ppo":
                        shared = workers / (two / one) if cores >= workers > 1 else 1.0
                        predicted = ppo_predicted(parts, workers, shared if workers in MEASURED else 1.0)
                    else:
                        predicted = expert_predicted(
                            parts, workers, two / one if workers in MEASURED else None
                        )
                    row: dict[str, Any] = {"workers": workers, "predicted": predicted}
                    if workers in MEASURED:
                        row |= measured(name, next(folders), workers, a.seconds)
                    found["workers"].append(row)
                    shown = ", ".join(f"{key} {value:,.0f}" for key, value in row.items())
                    print(f"{name:10} {trainer:17} {shown}", flush=True)
                measurements.append(found)
            row = {"workers": 1, **rllib_measured(name, a.seconds)}
            measurements.append({"game": name, "trainer": "rllib", "workers": [row]})
            print(f"{name:10} rllib             {row}", flush=True)
            common.save(a.output, f"scaling-{name}", about, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
