"""Simulations without a network: descent to a leaf, rollout, backup."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_agents.search.backup import back_up
from garden_agents.search.halving import halve_rows
from garden_agents.search.selection import Selection, descend
from garden_agents.search.tree import Tree
from garden_agents.search.values import seat_values
from garden_core.batch.choices import choose
from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_uint64


class Rollouts(NamedTuple):
    """Rollouts from new nodes: the built-in policy `policy` plays at most `depth` decisions."""

    policy: int
    depth: int


@compiled
def simulate(search, weights, prior, rollouts, count, share, rng_states):
    """Add `count` simulations to a search of one root; return the number of simulated decisions.

    Args:
        search, weights: see `garden_agents.search.stepping`.
        prior: source of the priors, EQUAL or GREEDY of `tree`.
        rollouts: the `Rollouts`.
        count: number of simulations.
        share: share of the simulations that are done, negative for the first ones.
        rng_states: uint64 (rows of the root's batch, 4).
    """
    params, scratch, values = search.params, search.scratch, search.values
    root, rng_state = search.roots.states[search.roots.rows[0]], rng_states[search.roots.rows[0]]
    trees, state, mask = search.trees, search.leaves.states[0], scratch.masks[2]
    own = Tree(trees.nodes[0], trees.used[0], trees.path[0], trees.considered[0])
    selection = Selection(np.int64(root.current_player), prior, weights.exploration)
    if weights.considered and share >= 0:
        halve_rows(trees, search.roots, weights.considered, share, weights.scale, search.scores)
    decisions = 0
    for _ in range(count):
        kernels.copy_record(search.leaves.states, 0, root)
        kernels.resample(state, params[state.variant], selection.player, next_uint64(rng_state))
        length = descend(state, params[state.variant], own, selection, scratch, rng_state)
        decisions += length
        for _ in range(rollouts.depth):
            if state.terminated or state.truncated:
                break
            legal = kernels.legal_actions(state, params[state.variant], mask)
            action = choose(rollouts.policy, state, params[state.variant], mask, legal, scratch, rng_state)
            kernels.apply_action(state, params[state.variant], action)
            decisions += 1
        seat_values(state, params[state.variant], values, scratch.points)
        back_up(own.nodes, own.path, length, params[state.variant].num_players, values)
    return decisions
