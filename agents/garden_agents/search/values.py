"""Values of a position for every seat: by points during the game, by places at the end."""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled, kernels, rewards


@compiled
def seat_values(state, params, values, points):
    """Fill `values`, float32 (max players,), with the value of every seat, -1 to 1. Overwrites `points`.

    The value is the outcome if the game is over, otherwise `x / (1 + |x|)` with x = margin / reward_divisor. In
    cooperative games it is always `x / (1 + |x|)` with x = team score / reward_divisor.
    """
    n = params.num_players
    if params.cooperative or not (state.terminated or state.truncated):
        kernels.points(state, params, points)
        total, team = rewards.total(points, n), rewards.team_score(points, n)
        for p in range(n):
            own = np.float64(team)
            if not params.cooperative:
                own = rewards.seat_margin(np.int64(points[p]), total, n)
            own /= params.reward_divisor
            values[p] = own / (1.0 + abs(own))
    else:
        kernels.standings(state, params, points)
        rewards.outcome(points, n, values)


@compiled
def first_places(state, params, values, points):
    """Fill `values`, float32 (max players,), with (n x share of the first place - 1) / (n - 1) per seat of a finished game.

    A sole winner has 1; the values sum to 0. Overwrites `points`.
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
