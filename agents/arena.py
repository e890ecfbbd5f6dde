"""Round robin between named agents: who wins how often, with 95 % intervals.

    python -m agents.arena mars random greedy runs/mars-… --games 600

Every pair meets in all seats equally often. With more than two players an agent meets another as one against a
table of the other, in each seat in turn: with n equal players it would win 1/n of those games.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated

import numpy as np
import tyro
from tqdm import tqdm

from agents.loading import load_agent, make_game
from garden_core import loops
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.policies import Policy

__all__ = ["Result", "meet", "play", "shares", "wilson"]


def play(
    game: Game,
    agents: Sequence[Policy],
    lineups: np.ndarray,
    seed: int = 0,
    tell: Callable[[int], object] | None = None,
) -> np.ndarray:
    """Play one game for each row of `lineups`, all at once; return the final states, records (G,).

    Args:
        lineups: int (G, num_players), by seat an index into `agents`.
        tell: called with the number of games that have just ended.
    """
    batch = Batch(game, len(lineups), autoreset=False)
    batch.reset(seed)
    running = np.arange(len(lineups))
    while len(running):
        asked = lineups[running, batch.current_player[running]]
        actions = np.zeros(len(running), np.int64)
        for index in np.unique(asked):
            actions[asked == index] = agents[index](batch, running[asked == index])
        batch.step(actions, running)
        over = batch.terminated[running] | batch.truncated[running]
        if tell is not None and over.any():
            tell(int(over.sum()))
        running = running[~over]
    return batch.states


def shares(game: Game, states: np.ndarray) -> np.ndarray:
    """Return float (G, num_players): each seat's share of the win, 1 if first alone, 1/k if k are first."""
    standings = np.zeros((len(states), game.state_dtype["paid"].shape[0]), np.int32)
    loops.standings_rows(states, game.params, standings)
    standings = standings[:, : game.num_players]
    first = standings == standings.max(axis=1, keepdims=True)
    return first / first.sum(axis=1, keepdims=True)


def scores(game: Game, states: np.ndarray) -> np.ndarray:
    """Return int (G, num_players): the points of finished games."""
    points = np.zeros((len(states), game.state_dtype["paid"].shape[0]), np.int32)
    loops.points_rows(states, game.params, points)
    return points[:, : game.num_players]


def wilson(wins: float, games: int, z: float = 1.959964) -> tuple[float, float]:
    """Return the 95 % interval of a win rate (E. B. Wilson, 1927); `wins` may count ties as ½."""
    if games == 0:
        return 0.0, 1.0
    rate = wins / games
    centre = (rate + z * z / (2 * games)) / (1 + z * z / games)
    half = z / (1 + z * z / games) * math.sqrt(rate * (1 - rate) / games + z * z / (4 * games * games))
    return max(0.0, centre - half), min(1.0, centre + half)


@dataclass
class Result:
    """How one agent did against another, alone at a table of it; by seat and in all."""

    agent: str
    opponent: str
    games: int
    win_rate: float
    interval: tuple[float, float]
    mean_score: float
    opponents_mean_score: float
    by_seat: list[float]
    """Win rate in each seat; every seat had games / num_players."""


def meet(
    game: Game,
    names: tuple[str, str],
    agents: tuple[Policy, Policy],
    games: int,
    seed: int = 0,
    tell: Callable[[int], object] | None = None,
) -> Result:
    """Let the first agent meet the second, in every seat equally often (`games` is rounded up to that)."""
    n = game.num_players
    games = -(-games // n) * n
    lineups = np.ones((games, n), np.int64)
    seats = np.arange(games) % n
    lineups[np.arange(games), seats] = 0
    states = play(game, agents, lineups, seed, tell)
    won = shares(game, states)[np.arange(games), seats]
    points = scores(game, states)
    own = points[np.arange(games), seats]
    others = (points.sum(axis=1) - own) / max(n - 1, 1)
    return Result(
        *names,
        games,
        float(won.mean()),
        wilson(float(won.sum()), games),
        float(own.mean()),
        float(others.mean()),
        [float(won[seats == seat].mean()) for seat in range(n)],
    )


def table(results: Sequence[Result]) -> str:
    """Return the results as a table in text."""
    lines = [
        f"{'agent':<24} {'against':<24} {'games':>6} {'win rate':>9} {'95 % interval':>16} {'scores':>13}  by seat"
    ]
    for r in results:
        low, high = r.interval
        lines.append(
            f"{r.agent[-24:]:<24} {r.opponent[-24:]:<24} {r.games:>6} {r.win_rate:>9.1%} {low:>7.1%} … {high:<6.1%}"
            f" {r.mean_score:>5.1f} : {r.opponents_mean_score:<5.1f}  "
            + " ".join(f"{rate:.1%}" for rate in r.by_seat)
        )
    return "\n".join(lines)


@dataclass
class Arguments:
    """Let agents meet in a round robin."""

    game: tyro.conf.Positional[str]
    """name of an installed game"""
    agents: tyro.conf.Positional[list[str]]
    """two or more of: random, greedy, a run's folder, a model.zip, module:attribute"""
    games: int = 600
    """games of each pair (rounded up so that all seats are equally often taken)"""
    num_players: Annotated[int | None, tyro.conf.arg(name="num-players")] = None
    """players at the table; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, for example --options peaks 2"""
    seed: int = 0
    """of the games and of the agents' choices"""
    output: Path | None = None
    """file for the results as JSON"""


def main(arguments: Arguments) -> list[Result]:
    """Play the round robin and print its table."""
    if len(arguments.agents) < 2:
        raise SystemExit("the arena needs at least two agents")
    game = make_game(arguments.game, arguments.num_players, arguments.options)
    pairs = [(a, b) for i, a in enumerate(arguments.agents) for b in arguments.agents[i + 1 :]]
    if game.num_players > 2:
        pairs += [(b, a) for a, b in pairs]  # one A among Bs is not one B among As
    results = []
    with tqdm(total=len(pairs) * arguments.games, unit="game") as bar:
        for first, second in pairs:
            agents = (
                load_agent(first, game, arguments.seed),
                load_agent(second, game, arguments.seed + 1),
            )
            bar.set_description(f"{first[-16:]} - {second[-16:]}")
            results.append(meet(game, (first, second), agents, arguments.games, arguments.seed, bar.update))
    print(table(results))
    if arguments.output is not None:
        report = {
            "game": game.name,
            "options": game.chosen,
            "seed": arguments.seed,
            "results": [asdict(r) for r in results],
        }
        arguments.output.write_text(json.dumps(report, indent=1))
    return results


if __name__ == "__main__":
    main(tyro.cli(Arguments))
