"""Expansion: the priors of a node's actions, from greedy play's action values or from a network."""

from __future__ import annotations

import math

import numpy as np

from garden_agents.search.tree import GREEDY
from garden_core.batch.choices import LOWEST, greedy_action_values
from garden_core.jit import compiled
from garden_core.jit.rng import next_uint64

SHARPNESS = 10.0
"""Of greedy priors: action values that differ by reward_divisor x players have priors in the ratio e**10."""


@compiled
def fill_priors(node, kind, state, params, legal, scratch, rng_state):
    """Fill the priors of the legal actions: equal ones, or a softmax of greedy play's action values."""
    masks = scratch.masks
    if legal == 1:  # needs no priors; the node is expanded once a determinization offers a choice
        node.priors[:] = 1.0
        return
    node.priors[:] = np.float32(
        1.0 / legal
    )  # the mean, for actions that are legal only in other determinizations
    node.expanded = 1
    if kind != GREEDY:
        return
    greedy_action_values(state, params, next_uint64(rng_state), scratch)
    unit = SHARPNESS / (params.reward_divisor * params.num_players)
    best = LOWEST
    for action in range(masks.shape[1]):
        if masks[0, action]:
            best = max(best, scratch.action_values[action])
    total = 0.0
    for action in range(masks.shape[1]):
        if masks[0, action]:
            weight = math.exp((scratch.action_values[action] - best) * unit)
            node.priors[action] = weight
            total += weight
    for action in range(masks.shape[1]):
        if masks[0, action]:
            node.priors[action] /= total


@compiled
def expand(node, mask, probabilities):
    """Fill the priors with the network's probabilities of the legal actions."""
    legal = 0
    for action in range(mask.shape[0]):
        legal += mask[action]
    node.expanded = 1
    node.priors[:] = np.float32(
        1.0 / legal
    )  # the mean, for actions that are legal only in other determinizations
    for action in range(mask.shape[0]):
        if mask[action]:
            node.priors[action] = probabilities[action]
