"""Describe the games by numbers: `python -m docs.report.games [GAMES...]`.

For each number of players, games are played by random agents, and by the pretrained network if there is one. The result file has
the mean number of decisions in a game, of decisions with more than one legal action and of legal actions there, the logarithm of
the number of action sequences (the sum of the logarithms of the numbers of legal actions, to base 10), and the wins of each seat.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.matches.meet import places, shares_of
from garden_agents.networks.network_agent import load, shipped

from benchmarks import common
from garden_core import Batch, Game, list_games, make
from garden_core.batch.policies import Policy, RandomPolicy, ask


@dataclass
class Arguments:
    """Describe the games by numbers."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    matches: int = 1000
    """number of games of each kind"""
    seed: int = 0
    """seed of the games"""
    output: Path = Path(__file__).parent
    """folder for games.json"""


def measured(game: Game, agent: Policy, matches: int, seed: int) -> dict[str, Any]:
    """Let an agent play all seats of many games; return the means."""
    batch = Batch(game, matches, autoreset=False)
    batch.reset(seed)
    decisions, choices, actions, digits = np.zeros((4, matches))
    rows = batch.all_rows
    while len(rows):
        legal = batch.action_mask[rows].sum(axis=1)
        decisions[rows] += 1
        choices[rows] += legal > 1
        actions[rows] += np.where(legal > 1, legal, 0)
        digits[rows] += np.log10(legal)
        batch.step(ask(agent, batch, rows), rows)
        rows = np.flatnonzero(~batch.over)
    wins = shares_of(places(game, batch.states)).mean(axis=0)
    return {
        "decisions": float(decisions.mean()),
        "choices": float(choices.mean()),
        "legal_actions": float(actions.sum() / choices.sum()),
        "log10_sequences": float(digits.mean()),
        "wins_by_seat": wins.tolist(),
    }


def main(arguments: Arguments) -> None:
    """Play, print the means and write the result file."""
    measurements = []
    for name in arguments.games or list_games():
        lowest = next(option.low for option in make(name).options if option.name == "num_players")
        for num_players in range(max(2, lowest or 2), make(name).max_players + 1):
            game = make(name, num_players=num_players)
            agents: dict[str, Policy] = {"random": RandomPolicy(arguments.seed)}
            if num_players in shipped(game):
                agents["network"] = load(game)
            for agent, policy in agents.items():
                means = measured(game, policy, arguments.matches, arguments.seed)
                about = {"game": name, "num_players": num_players, "agent": agent}
                size = {"num_actions": game.num_actions, "observation_size": game.observation_size}
                size |= {"state_bytes": game.state_dtype.itemsize}
                measurements.append(about | size | means)
                print(name, num_players, agent, means)
    common.save(
        arguments.output, "games", {"matches": arguments.matches, "seed": arguments.seed}, measurements
    )


if __name__ == "__main__":
    main(tyro.cli(Arguments))
