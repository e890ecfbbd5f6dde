"""Which reward belongs to which decision: compiled bookkeeping of trajectories of many seats."""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled

__all__ = ["OPEN", "OVER", "advantages", "link", "pay"]

OVER, OPEN = -1, -2
"""In place of the index of a seat's next decision: the game ended before one; there is none yet."""


@compiled
def link(latest, following, rows, seats, first):
    """Make decision number first + i that of seat seats[i] in row rows[i], after the seat's last one.

    Args:
        latest: int64 (N, seats), the last decision of each seat, or -1.
        following: int64 (decisions,), the next decision of the same seat, OVER or OPEN.
        rows, seats: int64 (n,).
        first: number of the first new decision.
    """
    for i in range(rows.shape[0]):
        before = latest[rows[i], seats[i]]
        if before >= 0:
            following[before] = first + i
        following[first + i] = OPEN
        latest[rows[i], seats[i]] = first + i


@compiled
def pay(latest, following, rewards, paid, over, standings):
    """Add a step's rewards to the open decisions, and close those of games that are over.

    Args:
        latest, following: see `link`.
        rewards: float32 (decisions, columns): for each seat, counted from the one that decided, its share of the first
            place, then for each seat its margin; or one column, what the seat itself is paid.
        paid: float32 (N, seats), what each seat was paid in the step.
        over: bool (N,), whether the step ended the game.
        standings: int32 (N, at least seats), final standings where it did.
    """
    n, alone = paid.shape[1], rewards.shape[1] == 1
    for row in range(latest.shape[0]):
        best, firsts = np.int64(standings[row, 0]), 0
        for seat in range(n):
            best = max(best, np.int64(standings[row, seat]))
        for seat in range(n):
            firsts += standings[row, seat] == best
        for seat in range(n):
            decision = latest[row, seat]
            if decision < 0:
                continue
            if alone:
                rewards[decision, 0] += paid[row, seat]
            else:
                for k in range(n):
                    other = (seat + k) % n
                    rewards[decision, n + k] += paid[row, other]
                    if over[row] and standings[row, other] == best:
                        rewards[decision, k] += np.float32(1.0) / firsts
            if over[row]:
                following[decision] = OVER
                latest[row, seat] = -1


@compiled
def advantages(following, values, rewards, lambda_, out):
    """Fill `out` with generalised advantages without discount, column by column; those of open decisions are 0.

    Args:
        following: see `link`; later decisions have higher numbers.
        values, rewards, out: float32 (decisions, columns).
        lambda_: weight of the later ones of the estimates, 0 to 1.
    """
    for i in range(following.shape[0] - 1, -1, -1):
        after = following[i]
        for k in range(values.shape[1]):
            if after == OPEN:
                out[i, k] = 0
            elif after == OVER:
                out[i, k] = rewards[i, k] - values[i, k]
            else:
                out[i, k] = rewards[i, k] + values[after, k] - values[i, k] + lambda_ * out[after, k]
