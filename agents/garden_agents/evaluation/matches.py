"""Games between agents: playing many at once, who won how often, with 95 % intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from garden_core import loops
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.policies import Policy, ask

__all__ = [
    "Result",
    "alone",
    "meet",
    "places",
    "play",
    "result_of",
    "scores",
    "shares_of",
    "table",
    "wilson",
]


def play(
    game: Game,
    agents: Sequence[Policy],
    lineups: np.ndarray,
    seed: int = 0,
    on_finished: Callable[[int], object] | None = None,
) -> np.ndarray:
    """Play one game for each row of `lineups`, all at once; return the final states, records (G,).

    Args:
        lineups: int (G, num_players), by seat an index into `agents`.
        on_finished: called after each decision with the number of games that have just ended; what it raises ends all.

    Raises:
        ValueError: if an agent's answer is wrong; it names the agent.
    """
    batch = Batch(game, len(lineups), autoreset=False)
    batch.reset(seed)
    running = np.arange(len(lineups))
    while len(running):
        asked = lineups[running, batch.current_player[running]]
        actions = np.zeros(len(running), np.int64)
        for index in np.unique(asked):
            actions[asked == index] = ask(agents[index], batch, running[asked == index])
        batch.step(actions, running)
        over = batch.terminated[running] | batch.truncated[running]
        if on_finished is not None:
            on_finished(int(over.sum()))
        running = running[~over]
    return batch.states


def alone(games: int, num_players: int) -> np.ndarray:
    """Return lineups, int (games, num_players), of agent 0 alone among copies of agent 1, in each seat in turn."""
    return (np.arange(num_players) != np.arange(games)[:, None] % num_players).astype(np.int64)


def places(game: Game, states: np.ndarray) -> np.ndarray:
    """Return int (G, num_players): how many seats are ahead of each; 0 for whoever won or tied for it."""
    standings = np.zeros((len(states), game.max_players), np.int32)
    loops.standings_rows(states, game.params, standings)
    standings = standings[:, : game.num_players]
    return (standings[:, None, :] > standings[:, :, None]).sum(axis=2)


def shares_of(placed: np.ndarray) -> np.ndarray:
    """Return float (G, num_players): each seat's share of the win, 1 if first alone, 1/k if k are first."""
    first = placed == 0
    return first / first.sum(axis=1, keepdims=True)


def scores(game: Game, states: np.ndarray) -> np.ndarray:
    """Return int (G, num_players): the points of finished games."""
    points = np.zeros((len(states), game.max_players), np.int32)
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
    on_finished: Callable[[int], object] | None = None,
) -> Result:
    """Let the first agent meet the second, in every seat equally often (`games` is rounded up to that)."""
    n = game.num_players
    states = play(game, agents, alone(-(-games // n) * n, n), seed, on_finished)
    return result_of(names, places(game, states), scores(game, states))


def result_of(names: tuple[str, str], placed: np.ndarray, points: np.ndarray) -> Result:
    """Sum up games in the order of `alone`: the first agent is in seat 0, 1, … n - 1, 0, …"""
    games, n = placed.shape
    first = alone(games, n) == 0
    won, own = shares_of(placed)[first], points[first]
    others = (points.sum(axis=1) - own) / max(n - 1, 1)
    return Result(
        *names,
        games,
        float(won.mean()),
        wilson(float(won.sum()), games),
        float(own.mean()),
        float(others.mean()),
        won.reshape(-1, n).mean(axis=0).tolist(),
    )


def table(results: Sequence[Result]) -> str:
    """Return the results as a table in text."""
    width = min(20, max(7, *(len(name) for r in results for name in (r.agent, r.opponent))))
    lines = [
        f"{'agent':<{width}} {'against':<{width}}  games win rate   95 % interval        scores  by seat, %"
    ]
    for r in results:
        low, high = r.interval
        lines.append(
            f"{short(r.agent, width):<{width}} {short(r.opponent, width):<{width}} {r.games:>6} {r.win_rate:>8.1%}"
            f" {low:>6.1%} … {high:>6.1%} {r.mean_score:>5.1f} : {r.opponents_mean_score:<5.1f}  "
            + " ".join(f"{100 * won:3.0f}" for won in r.by_seat)
        )
    return "\n".join(lines)


def short(name: str, width: int) -> str:
    """Return a name with its beginning left out where it is too long."""
    return name if len(name) <= width else f"…{name[1 - width :]}"
