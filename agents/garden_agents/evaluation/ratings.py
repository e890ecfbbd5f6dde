"""Ratings of agents from the places in their games, for any number of players."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from openskill.models import PlackettLuce

PASSES = 5  # times that all games are read


@dataclass
class Rating:
    """An agent's strength on Elo's scale."""

    agent: str
    rating: float
    uncertainty: float
    """2 sigma of the rating."""


def rate(names: Sequence[str], lineups: np.ndarray, placed: np.ndarray, seed: int = 0) -> list[Rating]:
    """Return the agents' ratings, best first; the rating of "random", or else the lowest one, is 0.

    The model is Plackett and Luce's as openskill fits it (R. Weng and C.-J. Lin, 2011) on Elo's scale: a lead of 400
    points means finishing ahead ten times as often as behind. The rating of an agent that wins, or loses, every game
    is only a bound.

    openskill is configured so that all games have the same weight and their order matters little: no drift (tau), no
    damping (gamma), and several passes over the games, each in a random order. The first pass only gives starting values.
    The other passes count every game again, so sigma is multiplied by the square root of their number. Where an agent
    has several seats in a game, each pass counts one of them, drawn at random. In simulations the interval of 2 sigma
    covered the true strength in 90 to 100 % of the cases; where strengths differed widely the ratings were spread up to
    6 % too far. With openskill's defaults and one pass, ratings moved by one sigma with the order of the games.

    Args:
        names: names of the agents.
        lineups: int (G, num_players): who sat where, as indexes into `names`.
        placed: int (G, num_players), see `garden_agents.evaluation.matches.places`.
        seed: seed of the orders and of the drawn seats.
    """
    beta = 400 / math.log(10) / math.sqrt(2)
    model = PlackettLuce(mu=0, sigma=350, beta=beta, tau=0, gamma=lambda *_: 1.0)
    found = [model.rating() for _ in names]
    rng = np.random.default_rng(seed)
    for number in range(PASSES):
        if number == 1:
            for rating in found:
                rating.sigma = min(
                    350, 4 * rating.sigma
                )  # so that the first pass has a sixteenth of the weight
        orders = rng.random(lineups.shape).argsort(axis=1)
        agents = np.take_along_axis(lineups, orders, axis=1).tolist()
        ranks = np.take_along_axis(placed, orders, axis=1).astype(float).tolist()
        for g in rng.permutation(len(lineups)):
            met = dict(zip(agents[g], ranks[g], strict=True))
            new = model.rate([[found[agent]] for agent in met], ranks=list(met.values()))
            for agent, (rating,) in zip(met, new, strict=True):
                found[agent] = rating
    zero = found[names.index("random")].mu if "random" in names else min(rating.mu for rating in found)
    ratings = [
        Rating(name, rating.mu - zero, 2 * rating.sigma * math.sqrt(PASSES - 1))
        for name, rating in zip(names, found, strict=True)
    ]
    return sorted(ratings, key=lambda rating: -rating.rating)


def rate_against(met: Sequence[tuple[float, float, float]], num_players: int) -> tuple[float, float, float]:
    """Return an agent's rating and its 95 % interval from games against opponents whose ratings are known.

    The agent was alone among copies of each opponent. It is the most likely rating in the model of `rate`; the interval is
    that of the likelihood ratio, and infinite on a side where the agent won, or lost, all games.

    Args:
        met: rating of an opponent, the agent's rate of wins against it, and the number of independent games.
        num_players: number of players in a game.

    Example:
        >>> from garden_agents.evaluation.ratings import rate_against
        >>> rate_against([(0.0, 0.75, 40), (200.0, 0.5, 40)], num_players=2)
        (194.0, 116.0, 274.0)
    """
    ratings = np.arange(-2000.0, 5001.0)
    likelihood = np.zeros_like(ratings)
    for rating, won, games in met:
        behind = np.log1p((num_players - 1) * 10 ** ((rating - ratings) / 400))  # -log of the chance to win
        ahead = np.log1p(10 ** ((ratings - rating) / 400) / (num_players - 1))
        likelihood -= games * (won * behind + (1 - won) * ahead)
    inside = ratings[likelihood >= likelihood.max() - 1.92]
    low, high = float(inside[0]), float(inside[-1])
    best = float(ratings[likelihood.argmax()])
    return best, low if low > ratings[0] else -math.inf, high if high < ratings[-1] else math.inf


def ratings_table(ratings: Sequence[Rating]) -> str:
    """Return the ratings as a text table."""
    width = max(5, *(len(r.agent) for r in ratings))
    lines = [f"{'agent':<{width}}  rating  2 sigma   on Elo's scale, {zero(ratings)} = 0"]
    lines += [f"{r.agent:<{width}} {r.rating:>7.0f} {f'± {r.uncertainty:.0f}':>8}" for r in ratings]
    return "\n".join(lines)


def zero(ratings: Sequence[Rating]) -> str:
    """Return the name of the agent whose rating is 0, for headings."""
    return "random" if any(r.agent == "random" for r in ratings) else f"the lowest, {ratings[-1].agent},"
