"""What a position is worth to every seat: by the points, and at the end by the places."""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled, kernels, rewards


@compiled
def seat_values(state, params, values, points):
    """Fill `values`, float32 (max players,), with the value of every seat, -1 to 1; `points` is overwritten.

    The value is the outcome where the game is over, otherwise `x / (1 + |x|)` where x is the margin / reward_divisor.
    In cooperative games x is the team's score / reward_divisor, also when the game is over.
    """
    n = params.num_players
    if params.cooperative or not (state.terminated or state.truncated):
        kernels.points(state, params, points)
        everybody, team = rewards.total(points, n), rewards.team_score(points, n)
        for p in range(n):
            own = np.float64(team)
            if not params.cooperative:
                own = rewards.seat_margin(np.int64(points[p]), everybody, n)
            own /= params.reward_divisor
            values[p] = own / (1.0 + abs(own))
    else:
        kernels.standings(state, params, points)
        rewards.outcome(points, n, values)


@compiled
def first_places(state, params, values, points):
    """Fill `values`, float32 (max players,), for a game that is over: n times a seat's share of the first place, less 1,
    all divided by n - 1. A sole winner has 1, and all seats together 0. `points` is overwritten.
    """
    n = params.num_players
    kernels.standings(state, params, points)
    best, firsts = np.int64(points[0]), 0
    for p in range(1, n):
        best = max(best, np.int64(points[p]))
    for p in range(n):
        firsts += points[p] == best
    for p in range(n):
        share = 1.0 / firsts if points[p] == best else 0.0
        values[p] = (n * share - 1.0) / (n - 1)
