"""Simulations without a network: descent to a leaf, rollout, backup."""

from __future__ import annotations

from typing import NamedTuple

from garden_agents.search.backup import back_up
from garden_agents.search.selection import descend
from garden_agents.search.values import seat_values
from garden_core.batch.choices import choose
from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_uint64


class Rollouts(NamedTuple):
    """Rollouts from new nodes: the built-in policy `policy` plays at most `depth` decisions."""

    policy: int
    depth: int


@compiled
def simulate(tree, scratch, leaf, root, params, settings, simulations, rng_state):
    """Add `simulations` simulations to the search from `root[0]`; return the number of simulated decisions.

    `settings` are a `Selection` and `Rollouts`. Overwrites `leaf`, records (1 or more,) and float32 (max players,).
    """
    (states, values), (selection, rollouts) = leaf, settings
    state, mask = states[0], scratch.masks[2]
    decisions = 0
    for _ in range(simulations):
        kernels.copy_record(states, 0, root[0])
        kernels.resample(state, params[0], selection.player, next_uint64(rng_state))
        length = descend(state, params[0], tree, selection, scratch, rng_state)
        decisions += length
        for _ in range(rollouts.depth):
            if state.terminated or state.truncated:
                break
            legal = kernels.legal_actions(state, params[0], mask)
            action = choose(rollouts.policy, state, params[0], mask, legal, scratch, rng_state)
            kernels.apply_action(state, params[0], action)
            decisions += 1
        seat_values(state, params[0], values, scratch.points)
        back_up(tree.nodes, tree.path, length, params[0].num_players, values)
    return decisions
