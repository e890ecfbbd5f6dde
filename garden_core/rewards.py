"""Rewards from standings and points. No game computes a reward."""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled

__all__ = ["MARGIN", "OUTCOME", "REWARDS", "cooperative", "margin", "outcome"]

OUTCOME, MARGIN = 0, 1
REWARDS = ("outcome", "margin")  # value of the option `reward`, in the order of the codes above


@compiled
def outcome(standings, num_players, rewards):
    """Pay by final rank, evenly spaced from +1 (first) to -1 (last); tied seats share their ranks' mean.

    standings: int32 (num_players or more,), higher is better. rewards: float32, its first `num_players`
    entries are overwritten. Rewards sum to 0; of two seats one is paid +1 and the other -1, or both 0.
    """
    for p in range(num_players):
        better, level = 0, 0
        for q in range(num_players):
            better += standings[q] > standings[p]
            level += standings[q] == standings[p]
        mean_rank = better + (level - 1) / 2.0  # 0 is the first
        rewards[p] = np.float32(1.0 - 2.0 * mean_rank / (num_players - 1))


@compiled
def margin(before, now, num_players, divisor, rewards):
    """Pay each seat the change of (own points - mean of the others' points) / divisor."""
    total = 0
    for p in range(num_players):
        total += np.int64(now[p]) - np.int64(before[p])
    for p in range(num_players):
        own = np.int64(now[p]) - np.int64(before[p])
        rewards[p] = np.float32((own - (total - own) / (num_players - 1)) / divisor)


@compiled
def cooperative(before, now, num_players, divisor, rewards):
    """Pay every seat the change of the team's score, which is the lowest of the seats' points, / divisor."""
    lowest_before, lowest_now = np.int64(before[0]), np.int64(now[0])
    for p in range(1, num_players):
        lowest_before = min(lowest_before, np.int64(before[p]))
        lowest_now = min(lowest_now, np.int64(now[p]))
    for p in range(num_players):
        rewards[p] = np.float32((lowest_now - lowest_before) / divisor)
