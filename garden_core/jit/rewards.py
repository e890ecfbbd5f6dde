"""Rewards from standings and points. No game computes a reward."""

from __future__ import annotations

import numpy as np

from garden_core.jit.decorator import compiled

OUTCOME, MARGIN = 0, 1
REWARDS = ("outcome", "margin")  # value of the option `reward`, in the order of the codes above


@compiled
def outcome(standings, num_players, rewards):
    """Pay by final rank, evenly spaced from +1 (first) to -1 (last); tied seats share their ranks' mean.

    standings: int32 (num_players or more,), higher is better. rewards: float32, its first `num_players`
    entries are overwritten. Rewards sum to 0; of two seats one is paid +1 and the other -1, or both 0.
    """
    for p in range(num_players):
        twice_mean_rank = -1  # 0 is the first; in whole numbers, which are the same on any processor
        for q in range(num_players):
            twice_mean_rank += 2 * (standings[q] > standings[p]) + (standings[q] == standings[p])
        rewards[p] = np.float32(1.0 - twice_mean_rank / (num_players - 1))


@compiled
def team_score(points, num_players):
    """Return the score of a team: the lowest of its seats' points, int64."""
    lowest = np.int64(points[0])
    for p in range(1, num_players):
        lowest = min(lowest, np.int64(points[p]))
    return lowest


@compiled
def total(points, num_players):
    """Return the sum of the seats' points, int64."""
    everybody = np.int64(0)
    for p in range(num_players):
        everybody += np.int64(points[p])
    return everybody


@compiled
def seat_margin(own, everybody, num_players):
    """Return a seat's margin, float64: its own points less the mean of the others', who have `everybody` less its own."""
    return own - (everybody - own) / (num_players - 1)


@compiled
def margin(before, now, num_players, divisor, rewards):
    """Pay each seat the change of its margin / divisor."""
    everybody = total(now, num_players) - total(before, num_players)
    for p in range(num_players):
        own = np.int64(now[p]) - np.int64(before[p])
        rewards[p] = np.float32(seat_margin(own, everybody, num_players) / divisor)


@compiled
def cooperative(before, now, num_players, divisor, rewards):
    """Pay every seat the change of the team's score / divisor."""
    change = team_score(now, num_players) - team_score(before, num_players)
    for p in range(num_players):
        rewards[p] = np.float32(change / divisor)
