"""Simulations without a network: down to a leaf, a rollout, and back up."""

from __future__ import annotations

import numpy as np

from garden_agents.search.backup import back_up
from garden_agents.search.selection import Selection, descend
from garden_agents.search.tree import BEGIN, Tree
from garden_agents.search.values import seat_values
from garden_core.batch.choices import Scratch, choose
from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_uint64


@compiled
def simulate(
    nodes,
    used,
    path,
    considered,
    work,
    masks,
    points,
    action_values,
    states,
    params,
    row,
    simulations,
    prior,
    exploration,
    others,
    depth,
    rollout,
    values,
    leaf,
    rng_states,
):
    """Add `simulations` simulations to the search from `states[row]`; return the number of simulated decisions.

    The first four arrays are those of `Tree`, the next four those of `Scratch`. From a new node the built-in policy
    `rollout` plays at most `depth` decisions. `values`, float32 (max players,), and `leaf`, records (1,), are
    overwritten.
    """
    tree, scratch = Tree(nodes, used, path, considered), Scratch(work, masks, points, action_values)
    state, rng_state = leaf[0], rng_states[row]
    selection = Selection(np.int64(states[row].current_player), prior, exploration, others)
    decisions = 0
    for _ in range(simulations):
        leaf[0] = states[row]
        kernels.resample(state, params[0], selection.player, next_uint64(rng_state))
        length, _ = descend(state, params[0], tree, selection, scratch, rng_state, 0, BEGIN)
        decisions += length
        for _ in range(depth):
            if state.terminated or state.truncated:
                break
            legal = kernels.legal_actions(state, params[0], masks[2])
            action = choose(rollout, state, params[0], masks[2], legal, scratch, rng_state)
            kernels.apply_action(state, params[0], action)
            decisions += 1
        seat_values(state, params[0], values, points)
        back_up(nodes, path, length, params[0].num_players, values)
    return decisions
