"""Expansion: the priors of a node's actions, from greedy play's action values or from a network."""

from __future__ import annotations

import math

import numpy as np

from garden_agents.search.tree import GREEDY
from garden_core.batch.choices import LOWEST, greedy_action_values
from garden_core.jit import compiled
from garden_core.jit.rng import next_uint64

SHARPNESS = 10.0
"""Greedy priors of two actions whose values differ by reward_divisor x players have the ratio e**SHARPNESS."""


@compiled
def _expand_evenly(node, legal):
    """Mark a node as expanded, with the mean prior of `legal` actions for all, as other determinizations may allow others."""
    node.expanded = 1
    node.priors[:] = np.float32(1.0 / legal)


@compiled
def fill_priors(node, kind, state, params, legal, scratch, rng_state):
    """Fill the priors of the legal actions: equal ones, or a softmax of greedy play's action values."""
    if legal == 1:  # the node is expanded once a determinization offers a choice
        node.priors[:] = 1.0
        return
    _expand_evenly(node, legal)
    if kind != GREEDY:
        return
    greedy_action_values(state, params, next_uint64(rng_state), scratch)
    mask, values = scratch.masks[0], scratch.action_values
    unit = SHARPNESS / (params.reward_divisor * params.num_players)
    best = LOWEST
    for action in range(mask.shape[0]):
        if mask[action]:
            best = max(best, values[action])
    total = 0.0
    for action in range(mask.shape[0]):
        if mask[action]:
            weight = math.exp((values[action] - best) * unit)
            node.priors[action] = weight
            total += weight
    for action in range(mask.shape[0]):
        if mask[action]:
            node.priors[action] /= total


@compiled
def expand(node, mask, probabilities):
    """Expand a node with the network's probabilities of the legal actions as priors."""
    _expand_evenly(node, mask.sum())
    for action in range(mask.shape[0]):
        if mask[action]:
            node.priors[action] = probabilities[action]
