"""The root of a search: the actions that sequential halving still considers, and the result."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_core.jit import compiled

CERTAINTY = 50
"""Number of visits that sequential halving adds to the most visits of an action when it weighs values."""


class Roots(NamedTuple):
    """The roots of searches.

    Attributes:
        states: state records of the batch.
        rows: int64 (searches,), rows of the roots in `states`.
        masks: int8 (searches, num_actions), the legal actions.
    """

    states: np.ndarray
    rows: np.ndarray
    masks: np.ndarray


@compiled
def _fill_scores(nodes, player, mask, scale, scores):
    """Fill `scores`, float64 (num_actions,), for the legal actions at the root.

    The score is log prior + scale x (CERTAINTY + most visits of an action) x mean value for the player. An action without
    visits has the mean value of the others, weighted by their priors.
    """
    here = nodes[0]
    total, weight, most = 0.0, 0.0, 0
    for action in range(mask.shape[0]):
        if mask[action] and here.children[action] >= 0:
            child = nodes[here.children[action]]
            most = max(most, child.visits)
            prior = max(here.priors[action], np.float32(1e-9))
            weight += prior
            total += prior * child.totals[player] / child.visits
    for action in range(mask.shape[0]):
        if mask[action]:
            value = total / weight if weight > 0 else 0.0
            if here.children[action] >= 0:
                child = nodes[here.children[action]]
                value = child.totals[player] / child.visits
            prior = np.float32(math.log(max(here.priors[action], np.float32(1e-9))))
            scores[action] = prior + scale * (CERTAINTY + most) * value


@compiled
def _halve(nodes, considered, state, mask, count, scale, scores):
    """Reduce the actions considered at the root to the `count` with the highest scores.

    All legal actions are considered at first. Overwrites `scores`, float64 (num_actions,).
    """
    if not considered.any():
        for action in range(mask.shape[0]):
            considered[action] = mask[action]
    number = considered.sum()
    if number <= count:
        return
    _fill_scores(nodes, np.int64(state.current_player), mask, scale, scores)
    while number > count:
        worst = -1
        for action in range(mask.shape[0]):
            if considered[action] and (worst < 0 or scores[action] <= scores[worst]):
                worst = action
        considered[worst] = 0
        number -= 1


@compiled
def halve_rows(trees, roots, considered, share, scale, scores):
    """Reduce the actions considered at each root to their number after `share` of the simulations.

    They are at most `considered` at first, and half as many in each stage, at least 2; all stages have as many simulations.
    """
    for i in range(roots.rows.shape[0]):
        state, mask = roots.states[roots.rows[i]], roots.masks[i]
        first, stages = min(np.int64(considered), np.int64(mask.sum())), np.int64(0)
        while (np.int64(1) << stages) < first:
            stages += 1
        count = max(np.int64(2), first >> np.int64(share * stages))
        _halve(trees.nodes[i], trees.considered[i], state, mask, count, scale, scores)


@compiled
def read_root(nodes, considered, player, n, mask, scale, scores, result):
    """Read the result of a search by `player` of `n` from its root; return the best action.

    Args:
        mask: int8 (num_actions,), the root's action mask.
        scores: float64 (num_actions,), overwritten.
        result: filled: visits, int32 (num_actions,), values, float64 (n,), and shares, float32 (num_actions,), as
            described by `Searched`.
    """
    visits, values, shares = result
    here, halving = nodes[0], considered.any()
    for action in range(mask.shape[0]):
        child = here.children[action]
        visits[action] = nodes[child].visits if child >= 0 else 0
    chosen, total = -1, 0.0
    if halving:
        _fill_scores(nodes, player, mask, scale, scores)
        highest = -np.inf
        for action in range(mask.shape[0]):
            if mask[action]:
                highest = max(highest, scores[action])
        for action in range(mask.shape[0]):
            if considered[action] and (chosen < 0 or scores[action] > scores[chosen]):
                chosen = action
            shares[action] = math.exp(scores[action] - highest) if mask[action] else 0.0
            total += shares[action]
    else:
        for action in range(mask.shape[0]):
            if mask[action] and (chosen < 0 or visits[action] > visits[chosen]):
                chosen = action
            shares[action] = visits[action]
            total += shares[action]
    tried = 0.0
    for action in range(mask.shape[0]):
        shares[action] /= total
        if visits[action] > 0:
            tried += shares[action]
    for p in range(n):
        values[p] = 0.0 if halving else here.totals[(player + p) % n] / here.visits
    if halving:
        for action in range(mask.shape[0]):
            if visits[action] > 0:
                child = nodes[here.children[action]]
                for p in range(n):
                    values[p] += shares[action] / tried * (child.totals[(player + p) % n] / child.visits)
    return chosen


@compiled
def read_rows(search, scale, result):
    """Read the results of searches, a `Search`, into `result`, a `Searched`: see `read_root`."""
    trees, roots = search.trees, search.roots
    for i in range(result.actions.shape[0]):
        root = roots.states[roots.rows[i]]
        player = np.int64(root.current_player)
        row = result.visits[i], result.values[i], result.shares[i]
        result.actions[i] = read_root(
            trees.nodes[i],
            trees.considered[i],
            player,
            search.params[root.variant].num_players,
            roots.masks[i],
            scale,
            search.scores,
            row,
        )
