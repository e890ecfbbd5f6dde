"""Searches with a network, in step: `find_leaves`, then the network evaluates the leaves, then `back_up_leaves`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_agents.search.backup import back_up, fill_leaf_values
from garden_agents.search.expansion import expand
from garden_agents.search.halving import Roots, halve_rows
from garden_agents.search.redraws import observe_row
from garden_agents.search.selection import Selection, descend
from garden_agents.search.tree import NETWORK, Leaves, Tree
from garden_core.batch.choices import Scratch
from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_float, next_uint64


class Search(NamedTuple):
    """The arrays of several searches of one batch.

    Attributes:
        trees: the trees.
        leaves: room for the leaves of one step.
        roots: the roots.
        params: the params of the batch's variants, records (variants,).
        scratch: overwritten, with a third mask.
        values: float32 (max players,), overwritten.
        scores: float64 (num_actions,), overwritten.
    """

    trees: Tree
    leaves: Leaves
    roots: Roots
    params: np.ndarray
    scratch: Scratch
    values: np.ndarray
    scores: np.ndarray


class Weights(NamedTuple):
    """How searches weigh priors and values: see the arguments of `MCTSAgent`."""

    exploration: float
    considered: int
    scale: float


@compiled
def _draw(probabilities, rng_state):
    """Sample an index by probabilities that sum to 1."""
    rest = next_float(rng_state)
    for k in range(probabilities.shape[0] - 1):
        rest -= probabilities[k]
        if rest < 0:
            return k
    return probabilities.shape[0] - 1


@compiled
def find_leaves(search, weights, count, share, rng_states):
    """Descend each tree `count` times, to the leaves that the network must evaluate: the first ones of `leaves`.

    `share` of the simulations are done; it is negative in the first step, which only evaluates the roots.
    """
    trees, leaves, roots, params = search.trees, search.leaves, search.roots, search.params
    if weights.considered and share >= 0:
        halve_rows(trees, roots, weights.considered, share, weights.scale, search.scores)
    for i in range(roots.rows.shape[0] * count):
        tree, row = i // count, roots.rows[i // count]
        rng_state, player = rng_states[row], np.int64(roots.states[row].current_player)
        if leaves.redraws.shape[1] > 0:
            drawn = _draw(leaves.likelihoods[tree], rng_state)
            kernels.copy_record(leaves.states, i, leaves.redraws[tree, drawn])
        else:
            kernels.copy_record(leaves.states, i, roots.states[row])
            kernels.resample(
                leaves.states[i], params[leaves.states[i].variant], player, next_uint64(rng_state)
            )
        own = Tree(trees.nodes[tree], trees.used[tree], trees.path[i], trees.considered[tree])
        # np.int64, so that `descend` is compiled once
        selection = Selection(player, np.int64(NETWORK), weights.exploration)
        leaves.lengths[i] = descend(
            leaves.states[i], params[leaves.states[i].variant], own, selection, search.scratch, rng_state
        )
        observe_row(leaves.states[i], params, leaves.observations[i], leaves.masks[i])
        if leaves.states[i].terminated or leaves.states[i].truncated:
            leaves.masks[i] = 1  # as in a batch; what the network returns for it is not used


@compiled
def back_up_leaves(search, count, evaluation):
    """Expand each leaf that `find_leaves` found, and back up its values.

    `evaluation` is the network's: probabilities, float32 (leaves, num_actions), and estimates, (leaves, seats or 1).
    """
    probabilities, estimates = evaluation
    trees, leaves, params, values = search.trees, search.leaves, search.params, search.values
    for i in range(search.roots.rows.shape[0] * count):
        nodes, path, length = trees.nodes[i // count], trees.path[i], leaves.lengths[i]
        state, node = leaves.states[i], nodes[path[length]]
        # another leaf of the step may be the same node
        if not (state.terminated or state.truncated or node.expanded):
            expand(node, leaves.masks[i], probabilities[i])
        fill_leaf_values(state, params[state.variant], estimates[i], values, search.scratch.points)
        back_up(nodes, path, length, params[state.variant].num_players, values)
