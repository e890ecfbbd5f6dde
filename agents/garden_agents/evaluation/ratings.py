"""Ratings: strengths on Elo's scale that make the wins most likely.

The model is Plackett and Luce's (R. Plackett, 1975), with two players Bradley and Terry's: a lead of 400 points means winning ten times as
often as losing. Agents meet as in `garden_agents.matches.meet.alone`, one of the first among copies of the second, or in mixed games
(`garden_agents.matches.mixed`), one in each seat.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

POINT = math.log(10) / 400
"""What a point adds to the logarithm of the odds."""
LIKELY = 1.92
"""Half the 95 % point of chi-square with one degree of freedom."""
SPREAD = 1000.0
"""Standard deviation of the prior of an arena's ratings."""


@dataclass
class Rating:
    """An agent's strength on Elo's scale."""

    agent: str
    rating: float
    uncertainty: float
    """1.96 standard errors of the lead on the agent with the rating 0."""
    bound: str = ""
    """"at most" if it won no game and "at least" if it won all: then only the prior keeps the rating finite."""


class Met(NamedTuple):
    """Games of one agent among copies of another.

    Attributes:
        rating: the other's rating.
        won: the agent's mean share of the win.
        games: number of independent games, see `garden_agents.matches.meet.independent_games`.
    """

    rating: float
    won: float
    games: float


def chances(leads: np.ndarray, num_players: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the chance to win alone against equals of a rating that is lower by each of `leads`, and its slope."""
    won = 1 / (1 + (num_players - 1) * 10 ** (-np.asarray(leads) / 400))
    return won, won * (1 - won) * POINT


def rate(
    groups: np.ndarray, won: np.ndarray, games: np.ndarray, num_players: int, spread: float = math.inf
) -> tuple[np.ndarray, np.ndarray]:
    """Return the most likely ratings of agents, the first of which has 0, and their standard errors, float64 (agents,).

    By Fisher's scoring, a form of Newton's method.

    Args:
        groups: int (G, k), for each group its agents: the last one in all seats that the others, in one seat each, leave.
        won: float (G, k), their mean shares of the win.
        games: float (G,), numbers of independent games.
        num_players: number of players in a game.
        spread: standard deviation of a normal prior of the ratings around their mean, which bounds the ratings of agents that win,
            or lose, all games; without one they must not.
    """
    ratings = np.zeros(int(groups.max()) + 1)
    seats, shares = np.zeros((2, len(groups), len(ratings)))
    rows, k = np.arange(len(groups))[:, None], groups.shape[1]
    seats[rows, groups] = [1] * (k - 1) + [num_players - k + 1]
    shares[rows, groups] = won
    for _ in range(200):
        expected = seats * 10 ** (ratings / 400)
        expected /= expected.sum(axis=1, keepdims=True)
        weighted = games[:, None] * expected
        information = POINT**2 * (np.diag(weighted.sum(axis=0)) - weighted.T @ expected)[1:, 1:]
        information += (np.eye(len(information)) - 1 / len(ratings)) / spread**2
        gradient = POINT * (games @ (shares - expected))[1:] - (ratings - ratings.mean())[1:] / spread**2
        step = np.linalg.solve(information, gradient)
        ratings[1:] += step.clip(-100, 100)
        if np.abs(step).max() < 1e-3:
            break
    return ratings, np.sqrt([0.0, *np.diag(np.linalg.inv(information))])


def rate_against(met: Sequence[Met], num_players: int) -> tuple[float, float, float]:
    """Return an agent's most likely rating and its 95 % interval from games against agents of known ratings.

    The interval is that of the likelihood ratio, infinite on a side where the agent won, or lost, all games.

    Example:
        >>> from garden_agents.evaluation.ratings import Met, rate_against
        >>> rate_against([Met(0, 0.75, 40), Met(200, 0.5, 40)], num_players=2)
        (196.0, 116.0, 279.0)
    """
    ratings = np.arange(-2000.0, 6001.0)
    likelihood = np.zeros_like(ratings)
    for each in met:
        expected, _ = chances(ratings - each.rating, num_players)
        likelihood += each.games * (each.won * np.log(expected) + (1 - each.won) * np.log1p(-expected))
    inside = ratings[likelihood >= likelihood.max() - LIKELY]
    low, high = float(inside[0]), float(inside[-1])
    best = float(ratings[likelihood.argmax()])
    return best, low if low > ratings[0] else -math.inf, high if high < ratings[-1] else math.inf


def rate_set(
    names: Sequence[str], groups: Mapping[tuple[str, ...], tuple[Sequence[float], float]], num_players: int
) -> list[Rating]:
    """Return ratings of a set of agents, best first; the rating of "random", or else the lowest one, is 0.

    They hold within this set only, as they depend on who is in it. The rating of an agent that wins, or loses, all games follows
    from a prior, a normal distribution around the mean with a standard deviation of `SPREAD`, see `Rating.bound`.

    Args:
        names: names of the agents.
        groups: by the agents of a group, all lists of the same length, see `rate`: their mean shares of the win and the number
            of independent games.
        num_players: number of players in a game.
    """
    won, games = map(np.array, zip(*groups.values(), strict=True))

    def rated(order: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        indexes = np.array([[order.index(name) for name in group] for group in groups])
        return rate(indexes, won, games, num_players, SPREAD)

    order = sorted(names, key=lambda name: (name != "random", name))
    ratings, errors = rated(order)
    if "random" not in names:  # from the lowest one, as the errors are those of leads on the first
        lowest = order[int(ratings.argmin())]
        order = [lowest, *(name for name in order if name != lowest)]
        ratings, errors = rated(order)
    found = []
    for name, rating, error in zip(order, ratings.tolist(), errors.tolist(), strict=True):
        shares = {each[group.index(name)] for group, each in zip(groups, won, strict=True) if name in group}
        bound = "at most" if shares == {0} else "at least" if shares == {1} else ""
        found.append(Rating(name, rating, 1.96 * error, bound))
    return sorted(found, key=lambda rating: -rating.rating)


def ratings_table(ratings: Sequence[Rating]) -> str:
    """Return the ratings as a text table."""
    width = max(5, *(len(r.agent) for r in ratings))
    lines = [f"{'agent':<{width}}  rating  95 %     on Elo's scale, {zero(ratings)} = 0"]
    for r in ratings:
        line = f"{r.agent:<{width}} {round(r.rating):>7} {f'± {r.uncertainty:.0f}':>8}"
        lines.append(
            line + f"  {r.bound}: it won {'no' if r.bound == 'at most' else 'every'} game" * bool(r.bound)
        )
    return "\n".join(lines)


def zero(ratings: Sequence[Rating]) -> str:
    """Return the name of the agent whose rating is 0, for headings."""
    return "random" if any(r.agent == "random" for r in ratings) else f"the lowest, {ratings[-1].agent},"
