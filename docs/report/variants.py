"""Measure networks in variants of the games: `python -m docs.report.variants [GAMES...]`.

Trains a network in each of VARIANTS by `garden train GAME … --minutes M --threads 1`, and lets it play one seat among copies
of greedy play and of a small search; in a cooperative game, compares its team with a team of greedy play. The shipped network
also plays if it fits the variant, though it was trained with other options. Interrupted trainings are resumed, finished ones are
not repeated.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.matches.meet import meet, play, scores
from garden_agents.networks.network_agent import NetworkAgent, load
from garden_agents.registry import load_agent
from garden_agents.report.run_files import RESULTS

from benchmarks import common
from garden_core import Game, make
from garden_core.batch.policies import GreedyPolicy, Policy

VARIANTS: dict[str, dict[str, dict[str, Any]]] = {
    "botanicus": {"3 players": {"num_players": 3}},
    "mars": {
        "3 players": {"num_players": 3},
        "5 players": {"num_players": 5},
        "2 gardeners": {"gardeners": 2},
        "special actions": {"special_actions": True},
        "cooperative, 2 players": {"cooperative": True},
    },
}
"""Options other than the defaults, by game and name."""
OPPONENTS = ("greedy", "mcts:50")


@dataclass
class Arguments:
    """Train and measure networks in variants of the games."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all that have variants if none is given"""
    minutes: float = 10.0
    """training time of a network, minutes"""
    matches: int = 400
    """games against each opponent"""
    processes: int = 2
    """number of trainings at the same time"""
    runs: Path = Path("runs/variants")
    """folder for the runs' folders"""
    output: Path = Path(__file__).parent
    """folder for variants-GAME.json"""


def measured(game: Game, agent: Policy, matches: int) -> list[dict[str, Any]]:
    """Return the results against OPPONENTS; in a cooperative game, the mean scores of the agent's and of greedy's team."""
    if not game.cooperative:
        results = [
            meet(game, ("network", name), (agent, load_agent(name, game, 1)), matches) for name in OPPONENTS
        ]
        return [dataclasses.asdict(result) for result in results]
    teams = np.zeros((matches, game.num_players), np.int64)
    both = [scores(game, play(game, [each], teams).states).min(1) for each in (agent, GreedyPolicy(1))]
    means = [float(points.mean()) for points in both]
    return [
        {"opponent": "greedy", "games": matches, "mean_score": means[0], "opponents_mean_score": means[1]}
    ]


def one(game: str, arguments: Arguments, variant: str) -> list[dict[str, Any]]:
    """Train a network in a variant; return its results, and the results of the shipped network."""
    options = VARIANTS[game][variant]
    players = options.get("num_players")
    others = [f"{name} {str(value).lower()}" for name, value in options.items() if name != "num_players"]
    way = "garden train" + (f" --num-players {players}" if players else "")
    way += "".join(f" --options {words}" for words in others)
    folder = arguments.runs / f"{game}-{variant}".replace(",", "").replace(" ", "-")
    limits = f"--minutes {arguments.minutes:g} --threads 1 --seed 0 --evaluations 2 --final-games 0"
    command = [*way.replace("train", f"train {game}", 1).split()[1:], *limits.split()]
    common.train(folder, RESULTS, command, ["train"])
    made = make(game, **options)
    agents = {"trained": NetworkAgent.load(folder, made)}
    with contextlib.suppress(ValueError):
        agents["comes with the game"] = load(made, allow_other_options=True)
    measurements: list[dict[str, Any]] = []
    for name, agent in agents.items():
        results = measured(made, agent, arguments.matches)
        measurements.append(
            {"game": game, "variant": variant, "network": name, "way": way, "results": results}
        )
        print(
            game,
            variant,
            name,
            *[result.get("win_rate", result["mean_score"]) for result in results],
            flush=True,
        )
    return measurements


def main(arguments: Arguments) -> None:
    """Train, play, print the results and write the result files."""
    about = {"minutes": arguments.minutes, "matches": arguments.matches, "processes": arguments.processes}
    for game in arguments.games or VARIANTS:
        with ThreadPoolExecutor(arguments.processes) as executor:
            variants = executor.map(functools.partial(one, game, arguments), VARIANTS[game])
            measurements = [each for results in variants for each in results]
        common.save(arguments.output, f"variants-{game}", about, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
