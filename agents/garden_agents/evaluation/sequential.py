"""Sequential tests: bounds of a win rate that hold after any number of games, so that one can stop as soon as they tell enough."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

STEPS = 40  # of a bisection
ELO, ERRORS = (0.0, 20.0), (0.05, 0.1)
"""The usual two leads, and the usual largest shares of wrong answers."""
LARGEST = 0.75  # share of the capital that a bet can lose


def expected_share(elo: float, num_players: int) -> float:
    """Return the share of the wins of an agent that is `elo` points stronger than each of its num_players - 1 opponents."""
    return 1 / (1 + (num_players - 1) * 10 ** (-elo / 400))


def elo_of(share: float, num_players: int) -> float:
    """Return the lead in Elo points with which an agent's expected share of the wins is `share`, from 0 to 1."""
    if share in (0, 1):
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10((num_players - 1) * share / (1 - share))


class Look(NamedTuple):
    """What is known after some games.

    Attributes:
        games: number of games.
        rate: the agent's win rate in them.
        lower: lower bound of its true win rate.
        upper: upper bound of its true win rate.
    """

    games: int
    rate: float
    lower: float
    upper: float


class SequentialTest:
    """A test whether an agent leads its opponent by more than `elo[0]` or by less than `elo[1]` Elo points.

    It bets against each win rate m that the true one could have. Before each deal it bets a part of its capital that the
    agent's share of the wins, averaged over the seats of this deal, exceeds m. If the true rate is at most m, no such bet
    gains on average, and the chance that the capital ever reaches 1/error is at most `error` (J. Ville, 1939). Each rate
    against which it has once reached that is excluded; `lower` is the largest one. `upper` is found in the same way. So each
    bound is wrong in at most its share `errors` of all tests, whenever one looks or stops, for any distribution of the
    results of a deal, if deals are independent: all must be played by the same agents (I. Waudby-Smith and A. Ramdas,
    "Estimating means of bounded random variables by betting", 2024). The bets are as large as is best if the true rate
    differs from m by as much as the rates of the two `elo`: then the test decides as A. Wald's sequential probability ratio
    test does (1945).

    Args:
        num_players: number of players, 2 or more.
        elo: the two leads in Elo points, the lower one first.
        errors: largest chances that the lower and that the upper bound is ever wrong, each above 0 and at most 1/2.

    Attributes:
        rates: the win rates for the two `elo`.
        looks: what was known after each call of `add`.

    Raises:
        ValueError: for numbers out of range.
    """

    def __init__(
        self,
        num_players: int,
        elo: tuple[float, float] = ELO,
        errors: tuple[float, float] = ERRORS,
    ) -> None:
        if not -2000 <= elo[0] < elo[1] <= 2000:
            raise ValueError(
                f"elo must be two different numbers from -2000 to 2000, the lower one first, not {elo}"
            )
        if not all(0 < error <= 0.5 for error in errors):
            raise ValueError(f"errors must be two numbers above 0 and at most 0.5, not {errors}")
        self.num_players, self.elo, self.errors = num_players, elo, errors
        self.rates = expected_share(elo[0], num_players), expected_share(elo[1], num_players)
        if not self.rates[0] < self.rates[1]:
            raise ValueError(f"elo must be two numbers that differ by more, not {elo}")
        self.looks: list[Look] = []
        self._means = np.zeros(0)

    @property
    def decision(self) -> str:
        """What was seen first: the lead is "above" the lower Elo or "below" the higher one; "open" if neither was."""
        for look in self.looks:
            if look.lower > self.rates[0]:
                return "above"
            if look.upper < self.rates[1]:
                return "below"
        return "open"

    def add(self, shares: np.ndarray) -> Look:
        """Add deals, and return what is known now.

        Args:
            shares: float (deals, num_players), the agent's share of the win in each seat of each deal.
        """
        self._means = np.concatenate([self._means, shares.mean(1)])
        x, before = self._means, np.arange(1, len(self._means) + 1)
        # Mean and variance of the deals before each deal, which begin with those of one imagined deal.
        centre = np.cumsum(np.append(0.5, x))[:-1] / before
        spread = np.cumsum(np.append(0.25, (x - centre) ** 2))[:-1] / before
        effect = self.rates[1] - self.rates[0]
        bets = effect / (spread + effect**2)
        last = self.looks[-1] if self.looks else Look(0, 0.0, 0.0, 1.0)
        lower = max(last.lower, _lower_bound(x, bets, self.errors[0]))
        upper = min(last.upper, 1 - _lower_bound(1 - x, bets, self.errors[1]))
        self.looks.append(Look(last.games + shares.size, float(x.mean()), lower, upper))
        return self.looks[-1]


def _lower_bound(x: np.ndarray, bets: np.ndarray, error: float) -> float:
    """Return the largest mean against which the capital reaches 1 / error, 0 if there is none.

    Args:
        x: float (N,), numbers from 0 to 1.
        bets: float (N,), the capital's growth for each unit by which x exceeds the mean, before they are limited.
        error: chance from 0 to 1.
    """
    low, high = 0.0, 1.0
    for _ in range(STEPS):  # the capital falls with the mean
        mean = (low + high) / 2
        capital = np.log1p(np.minimum(bets, LARGEST / mean) * (x - mean)).sum()
        low, high = (mean, high) if capital >= -math.log(error) else (low, mean)
    return low
