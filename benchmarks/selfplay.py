"""What makes self-play hard to beat: `python -m benchmarks.selfplay [GAMES...]`.

Trains networks with several seeds by each of SETTINGS, and then a best response to each (`garden exploit`). Every network
also plays against that of the default setting with the same seed. An interrupted training is resumed, a finished one is not
repeated.
"""

from __future__ import annotations

import itertools
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.evaluation.matches import meet
from garden_agents.networks.heads import probabilities
from garden_agents.networks.network_agent import NetworkAgent

from benchmarks import common, exploit, learning
from garden_core import Batch, Game, make

SETTINGS = {
    "botanicus": (
        "",
        "--entropy 0.05 --final-entropy 0.05",
        "--magnet 0.2",
        "--pool-share 0.5",
    ),
    "cacti": (
        "",
        "--entropy 0.05 --final-entropy 0.05",
        "--magnet 0.2",
        "--pool-share 0.5",
        "--options memory history",
    ),
}
"""Arguments of `garden train`, by game; the first are the default."""


@dataclass
class Arguments:
    """Train networks by several settings, and best responses to them."""

    games: tyro.conf.Positional[tuple[str, ...]] = tuple(SETTINGS)
    """names of games"""
    seeds: int = 3
    """number of runs of each setting, with seeds 0, 1, ..."""
    minutes: float = 4.0
    """training time of a network, minutes"""
    response_minutes: float = 3.0
    """training time of a best response, minutes"""
    matches: int = 1000
    """games of a best response, and of a network against that of the default setting"""
    processes: int = 2
    """number of trainings at the same time"""
    runs: Path = Path("runs/selfplay")
    """folder for the runs' folders"""
    output: Path = common.RESULTS
    """folder for selfplay-GAME.json"""


class Among:
    """A network's likeliest actions in a game that may show more than the network reads; that follows what it reads."""

    def __init__(self, path: Path, game: Game) -> None:
        self.network, self.size = NetworkAgent.load(path, game).network, game.observation_size

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action for each of `rows`."""
        logits, _ = self.network.evaluate(np.ascontiguousarray(batch.flat[rows][:, : self.size]))
        return probabilities(logits, batch.action_mask[rows]).argmax(1)


def game_of(name: str, setting: str) -> Game:
    """Return the game that a setting trains in."""
    return make(name, **({"memory": "history"} if "memory" in setting else {}))


def main(arguments: Arguments) -> None:
    """Train, play, print the results and write the result files."""
    a = arguments
    about = {"seeds": a.seeds, "minutes": a.minutes, "response_minutes": a.response_minutes}
    for game in a.games:
        common.save(a.output, f"selfplay-{game}", about | {"matches": a.matches}, measured(game, a))


def measured(game: str, arguments: Arguments) -> list[dict[str, Any]]:
    """Return the results of each setting of a game with each seed."""

    def folder_of(seed: int, setting: str) -> Path:
        return arguments.runs / "-".join([game, str(seed), *re.findall(r"[\w.]+", setting)])

    def one(job: tuple[int, str]) -> dict[str, Any]:
        (seed, setting), folder = job, folder_of(*job)
        way = f"garden train {setting}".strip()
        trained = learning.run(game, seed, arguments.minutes, way, folder, 1, 400)
        made = game_of(game, setting)
        options = ("memory", "history") if "memory" in setting else ()
        network = folder / "network.safetensors"
        response = exploit.Job(game, made.num_players, "network", network, options=options)
        settings = exploit.Arguments(minutes=arguments.response_minutes, matches=arguments.matches, search=0)
        found = exploit.run(response, settings, folder.with_name(f"{folder.name}-response"))
        print(f"{folder.name}: a best response wins {found['results'][0]['win_rate']:.1%}", flush=True)
        return trained | {"setting": setting, "responses": found["results"]}

    jobs = list(itertools.product(range(arguments.seeds), SETTINGS[game]))
    with ThreadPoolExecutor(arguments.processes) as executor:
        measurements = list(executor.map(one, jobs))
    for (seed, setting), found in zip(jobs, measurements, strict=True):
        if setting:
            agents = [Among(folder_of(seed, each), game_of(game, each)) for each in (setting, "")]
            names, policies = (setting, "default"), (agents[0], agents[1])
            duel = meet(game_of(game, setting), names, policies, arguments.matches, seed)
            found["against_default"] = duel.win_rate
    return measurements


if __name__ == "__main__":
    main(tyro.cli(Arguments))
