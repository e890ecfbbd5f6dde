"""Backup: a leaf's values are added to all nodes on the way to it."""

from __future__ import annotations

import numpy as np

from garden_agents.search.expansion import expand
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
def back_up_leaf(nodes, path, params, leaf, judged, values, points):
    """Expand a leaf of the tree `nodes` and back up its values: the network's estimates, or those of a finished game.

    `path` is the path of nodes and its length, `leaf` the state and the action mask there, `judged` the network's
    probabilities and estimates.

    `estimates`, float32 (seats,), holds the values of all seats, counted from the player to move at the leaf; in a
    finished game the value of a seat is then its share of the first place, as `first_places` counts it. Or it is
    (1,), the value for the player to move alone, the other n - 1 seats having its opposite / (n - 1) each. In
    cooperative games it is (1,) too and holds `x / (1 + |x|)` for the score still to come, x times reward_divisor; the
    team's score so far is added to that. `values` and `points` are overwritten.
    """
    (steps, length), (state, mask), (probabilities, estimates) = path, leaf, judged
    n, alone, cooperative = params[0].num_players, estimates.shape[0] == 1, params[0].cooperative
    over = state.terminated or state.truncated
    if not over:
        node = nodes[steps[length]]
        if not node.expanded:  # another leaf of the group may have been the same
            expand(node, mask, probabilities)
    if cooperative:
        to_come = 0.0 if over else np.float64(estimates[0])
        kernels.points(state, params[0], points)
        score = rewards.team_score(points, n) / params[0].reward_divisor
        score += to_come / max(1.0 - abs(to_come), 1e-6)
        values[:n] = score / (1.0 + abs(score))
    elif over:
        if alone:
            seat_values(state, params[0], values, points)
        else:
            first_places(state, params[0], values, points)
    else:
        for p in range(n):
            offset = (p - np.int64(state.current_player) + n) % n
            if not alone:
                values[p] = estimates[offset]
            elif offset == 0:
                values[p] = estimates[0]
            else:
                values[p] = -estimates[0] / (n - 1)
    back_up(nodes, steps, length, n, values)


@compiled
def back_up_rows(trees, leaves, group, params, judged, values, points):
    """Expand each leaf, `group` for each tree, and back up its values: see `back_up_leaf`.

    `judged` is float32 (leaves, num_actions) and (leaves, seats or 1).
    """
    probabilities, estimates = judged
    for i in range(leaves.lengths.shape[0]):
        path, leaf = (trees.path[i], leaves.lengths[i]), (leaves.states[i], leaves.masks[i])
        back_up_leaf(
            trees.nodes[i // group], path, params, leaf, (probabilities[i], estimates[i]), values, points
        )
