"""Measure generated cards against the packaged ones: `python -m docs.report.card_sets [GAMES...]`.

For each pairing of agents, each set of cards (`hints_of(game).private_data(seed)`) is played by two players, half of the games with
each agent in the first seat. The sets are of the first seeds for training and of the first ones for tests. The result file has, for
the packaged cards and as quantiles over the sets: the share of wins of the first of the two agents (of the first seat, if one agent
plays both), and the mean number of decisions. `beyond_chance` is the standard deviation of the sets' shares without the part that the
number of games explains.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents.games import TEST_SEEDS, TRAINING_SEEDS, hints_of
from garden_agents.registry import load_agent

from benchmarks import common
from garden_core import Batch, Game, make
from garden_core.batch.policies import ask

PAIRS = {"cacti": (400, 40), "botanicus": (100, 4)}
"""Games of each set, by game: of pairs without search and of pairs with it."""
PACKAGED = 20
"""The packaged cards are played so many times as often."""
QUANTILES = (0, 0.05, 0.5, 0.95, 1)


@dataclass
class Arguments:
    """Measure generated cards against the packaged ones."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("cacti", "botanicus")
    """names of games"""
    sets: int = 200
    """number of sets of cards, half of them with seeds for training"""
    share: float = 1.0
    """share of the games of each set that are played, to test the script"""
    seed: int = 0
    """seed of the games"""
    output: Path = Path(__file__).parent
    """folder for card-sets.json"""


def played(
    games: Sequence[Game], agents: tuple[str, str], matches: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Let two agents play; return the first one's share of wins and the number of decisions, float (games, matches)."""
    variants = np.repeat(np.arange(len(games)), matches)
    batch = Batch(list(games), len(variants), variants=variants, autoreset=False)
    batch.reset(seed)
    policies = [load_agent(name, games[0], seed + i) for i, name in enumerate(agents)]
    seats = np.arange(len(variants)) % 2 * (agents[0] != agents[1])  # of the first agent
    gained, decisions = np.zeros((2, len(variants)))
    rows = batch.all_rows
    while len(rows):
        actions, first = np.zeros(len(rows), np.int64), batch.current_player[rows] == seats[rows]
        for policy, mine in zip(policies, (first, ~first), strict=True):
            actions[mine] = ask(policy, batch, rows[mine])
        batch.step(actions, rows)
        decisions[rows] += 1
        gained[rows] += batch.rewards[rows, seats[rows]]
        rows = np.flatnonzero(~batch.over)
    return (1 + gained.reshape(-1, matches)) / 2, decisions.reshape(-1, matches)


def measured(
    game: Game, sets: Sequence[Game], agents: tuple[str, str], matches: int, seed: int
) -> dict[str, Any]:
    """Return the measurement of a pair of agents, as documented at the top."""
    (packaged,), (length,) = played([game], agents, PACKAGED * matches, seed)
    shares, lengths = played(sets, agents, matches, seed)
    chance = shares.var(axis=1, ddof=1).mean() / matches
    means = shares.mean(axis=1)
    return {
        "matches": matches,
        "share": {
            "packaged": float(packaged.mean()),
            "quantiles": np.quantile(means, QUANTILES).tolist(),
            "mean": float(means.mean()),
            "beyond_chance": float(np.sqrt(max(0.0, means.var(ddof=1) - chance))),
        },
        "decisions": {
            "packaged": float(length.mean()),
            "quantiles": np.quantile(lengths.mean(axis=1), QUANTILES).tolist(),
        },
    }


def main(arguments: Arguments) -> None:
    """Play, print the measurements and write the result file."""
    half, measurements = arguments.sets // 2, []
    for name in arguments.games:
        game, generate = make(name, num_players=2), hints_of(make(name)).private_data
        assert generate is not None
        seeds = [*TRAINING_SEEDS[:half], *TEST_SEEDS[: arguments.sets - half]]
        sets = [game.with_options(**generate(seed)) for seed in seeds]
        quick, slow = (max(2, round(arguments.share * matches)) for matches in PAIRS[name])
        for agents, matches in (
            (("greedy", "greedy"), quick),
            (("greedy", "random"), quick),
            (("mcts:50", "greedy"), slow),
        ):
            start = time.perf_counter()
            measurement = measured(game, sets, agents, matches, arguments.seed)
            measurements.append({"game": name, "agents": list(agents), **measurement})
            print(f"{time.perf_counter() - start:.0f} s", measurements[-1])
    about = {"sets": arguments.sets, "seed": arguments.seed, "quantiles": list(QUANTILES)}
    common.save(arguments.output, "card-sets", about, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
