"""Backup: adds a leaf's values to all nodes on its path."""

from __future__ import annotations

import numpy as np

from garden_agents.search.values import first_places, seat_values
from garden_core.jit import compiled, kernels, rewards


@compiled
def back_up(nodes, path, length, seats, values):
    """Add the seats' values to the nodes of a path, path[0] to path[length]."""
    for i in range(length + 1):
        node = nodes[path[i]]
        node.pending -= 1
        for p in range(seats):
            node.totals[p] += values[p]


@compiled
def fill_leaf_values(state, params, estimates, values, points):
    """Fill `values` for a leaf: the network's estimates, or the result if the game is over. Overwrites `points`.

    `estimates`, float32 (seats,), has the values of all seats, counted from the player to move; the values of a finished
    game are then as in `first_places`. Or it is (1,), the value v for the player to move, and -v / (n - 1) for each other
    seat. In cooperative games it is (1,), `x / (1 + |x|)` for the score still to come, x times reward_divisor, to which
    the team's score so far is added.
    """
    n, alone = params.num_players, estimates.shape[0] == 1
    over = state.terminated or state.truncated
    if params.cooperative:
        to_come = 0.0 if over else np.float64(estimates[0])
        kernels.points(state, params, points)
        score = rewards.team_score(points, n) / params.reward_divisor
        score += to_come / max(1.0 - abs(to_come), 1e-6)
        values[:n] = score / (1.0 + abs(score))
    elif over and alone:
        seat_values(state, params, values, points)
    elif over:
        first_places(state, params, values, points)
    else:
        for p in range(n):
            offset = (p - np.int64(state.current_player) + n) % n
            if not alone:
                values[p] = estimates[offset]
            elif offset == 0:
                values[p] = estimates[0]
            else:
                values[p] = -estimates[0] / (n - 1)
