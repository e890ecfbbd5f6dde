"""Selection: the descent of a simulation to a leaf, by PUCT, or by sequential halving at the root."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_agents.search.expansion import fill_priors
from garden_agents.search.tree import NETWORK, reset_node
from garden_core.jit import compiled, kernels


class Selection(NamedTuple):
    """How a search selects actions.

    Attributes:
        player: seat that searches.
        prior: source of the priors, EQUAL, GREEDY or NETWORK of `tree`.
        exploration: weight of the priors in PUCT.
    """

    player: int
    prior: int
    exploration: float


@compiled
def _select(nodes, node, player, mask, exploration):
    """Return the legal action with the highest PUCT score: its mean value for the player plus an exploration bonus."""
    here = nodes[node]
    mean = here.totals[player] / max(here.visits - here.pending, 1)
    total = 0.0
    for action in range(mask.shape[0]):
        if mask[action]:
            total += here.priors[action]
    weight = exploration / total if total > 0 else 0.0
    best, chosen = -np.inf, -1
    for action in range(mask.shape[0]):
        if mask[action]:
            index = here.children[action]
            value, visits, available = mean, 0, here.visits
            if index >= 0:
                child = nodes[index]
                child.available += 1
                visits, available = child.visits, child.available
                if visits > child.pending:
                    value = child.totals[player] / (visits - child.pending)
            score = value + weight * here.priors[action] * math.sqrt(available + 1.0) / (1 + visits)
            if chosen < 0 or score > best:  # the first action is chosen even if all scores are NaN
                best, chosen = score, action
    return chosen


@compiled
def _least_visited(nodes, considered):
    """Return the considered action with the fewest visits at the root, of equals the one with the highest prior.

    Returns -1 if none is considered.
    """
    here = nodes[0]
    fewest, chosen = 0, -1
    for action in range(considered.shape[0]):
        if considered[action]:
            index = here.children[action]
            visits = nodes[index].visits if index >= 0 else np.int32(0)
            equal = visits == fewest and here.priors[action] > here.priors[chosen]
            if chosen < 0 or visits < fewest or equal:
                fewest, chosen = visits, action
    return chosen


@compiled
def descend(state, params, tree, selection, scratch, rng_state):
    """Descend the tree by one simulation and add a node; return the number of actions taken.

    `state`, a redraw of the root's state, becomes the state of the new node. `tree.path` is filled with the nodes from the
    root to the new one. Each of them gets a visit, pending until `back_up` adds its values.
    """
    nodes, used, path, considered = tree
    if used[0] == 0:
        reset_node(nodes[0])
        used[0] = 1
    mask = scratch.masks[2]
    path[0] = 0
    node, length, added = path[0], 0, False
    while not (added or state.terminated or state.truncated):
        legal = kernels.legal_actions(state, params, mask)
        if not nodes[node].expanded:
            # the network must first evaluate this node: the root, or one where the game was over in every earlier
            # determinization
            if selection.prior == NETWORK:
                break
            fill_priors(nodes[node], selection.prior, state, params, legal, scratch, rng_state)
        action = _least_visited(nodes, considered) if length == 0 else -1
        if action < 0:
            action = _select(nodes, node, np.int64(state.current_player), mask, selection.exploration)
        child = np.int64(nodes[node].children[action])
        if child < 0:
            child = np.int64(used[0])
            used[0] += 1
            nodes[node].children[action] = child
            reset_node(nodes[child])
            nodes[child].available = nodes[node].visits + 1  # as if its action had always been legal
            added = True
        kernels.apply_action(state, params, action)
        node = child
        length += 1
        path[length] = node
    for i in range(length + 1):
        nodes[path[i]].visits += 1
        nodes[path[i]].pending += 1
    return length
