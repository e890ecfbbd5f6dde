"""Rewards, computed from standings and points in the same way for all games."""

from __future__ import annotations

import numpy as np

from garden_core.jit.decorator import compiled

REWARDS = ("outcome", "margin")  # values of the option `reward`, by code
MARGIN = 1


@compiled
def outcome(standings, num_players, rewards):
    """Reward the final rank, evenly spaced from +1 (first) to -1 (last); tied seats share the mean of their ranks.

    standings: int32 (num_players or more,), higher is better. rewards: float32, whose first `num_players` entries are
    overwritten. They sum to 0; with two seats they are +1 and -1, or both 0.
    """
    for p in range(num_players):
        twice_mean_rank = -1  # 0 is first; integers, which are exact on every processor
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
    all_points = np.int64(0)
    for p in range(num_players):
        all_points += np.int64(points[p])
    return all_points


@compiled
def seat_margin(own, all_points, num_players):
    """Return a seat's margin, float64: its points minus the mean of the others'; `all_points` is the sum of all points."""
    return own - (all_points - own) / (num_players - 1)


@compiled
def margin(before, now, num_players, divisor, rewards):
    """Reward each seat with the change of its margin / divisor."""
    all_points = total(now, num_players) - total(before, num_players)
    for p in range(num_players):
        own = np.int64(now[p]) - np.int64(before[p])
        rewards[p] = np.float32(seat_margin(own, all_points, num_players) / divisor)


@compiled
def cooperative(before, now, num_players, divisor, rewards):
    """Reward every seat with the change of the team's score / divisor."""
    change = team_score(now, num_players) - team_score(before, num_players)
    for p in range(num_players):
        rewards[p] = np.float32(change / divisor)
