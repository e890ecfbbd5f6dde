"""The tree of Monte Carlo tree search, in compiled code, for any game and number of players.

Source: information-set Monte Carlo tree search with a single observer (P. Cowling, E. Powley, D. Whitehouse,
"Information Set Monte Carlo Tree Search", 2012), which selects by how often an action was available; the
selection itself is PUCT (D. Silver et al., "Mastering the game of Go without human knowledge", 2017). Hidden cards and
chance are redrawn in every simulation (a determinization); the tree is one of actions, with a value for every seat.

Priors and values come from a network, if there is one: the searches of a batch then go in step, and the leaves of
all of them are evaluated in one pass. Else priors come from greedy play's values of the actions, and values
from a rollout of some decisions and the points at its end.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core import kernels, rewards
from garden_core.game import Game
from garden_core.jit import compiled
from garden_core.policies import LOWEST, Scratch, choose, greedy_action_values
from garden_core.rng import next_uint64

__all__ = [
    "PRIORS",
    "Tree",
    "back_up_rows",
    "descend_rows",
    "node_type",
    "root_visits",
    "seat_values",
    "simulate",
]

EQUAL, GREEDY, NETWORK = 0, 1, 2
PRIORS = ("equal", "greedy")  # in the order of the codes above
SHARPNESS = 10.0  # of greedy priors: the exponent for values that differ by reward_divisor x players


class Tree(NamedTuple):
    """The memory of one search.

    Attributes:
        nodes: records (nodes,) of `node_type`.
        used: int64 (1,), nodes in use; 0 begins a new search.
        path: int64 (nodes,), the nodes of the simulation going on.
    """

    nodes: np.ndarray
    used: np.ndarray
    path: np.ndarray


def node_type(game: Game) -> np.dtype:
    """Return the record of a node."""
    return np.dtype(
        [
            (
                "totals",
                "f8",
                game.max_players,
            ),  # by seat, the sum of the values of all simulations through the node
            ("priors", "f4", game.num_actions),  # prior probability of each action
            ("children", "i4", game.num_actions),  # the node that an action leads to, or -1
            ("visits", "i4"),  # simulations through the node
            ("available", "i4"),  # simulations in which it could have been chosen
            ("expanded", "i4"),  # 1 if the priors are filled
        ],
        align=True,
    )


@compiled
def seat_values(state, params, values, points):
    """Fill `values` with the value of every seat, -1 to 1.

    The outcome of a finished game, else x / (1 + |x|) of the margin x; in cooperative games that of the team's score.
    """
    n = params.num_players
    if params.cooperative or not (state.terminated or state.truncated):
        kernels.points(state, params, points)
        everybody, team = rewards.total(points, n), rewards.team_score(points, n)
        for p in range(n):
            own = np.float64(team)
            if not params.cooperative:
                own = rewards.seat_margin(np.int64(points[p]), everybody, n)
            own /= params.reward_divisor
            values[p] = own / (1.0 + abs(own))
    else:
        kernels.standings(state, params, points)
        rewards.outcome(points, n, values)


@compiled
def _open_node(node):
    node.totals[:] = 0.0
    node.children[:] = -1
    node.visits = 0
    node.available = 0
    node.expanded = 0


@compiled
def _fill_priors(node, kind, state, params, legal, scratch, rng_state):
    """Share out 1 among the legal actions: equally, or by greedy play's values of them."""
    masks = scratch.masks
    # the default prior, for actions that are legal only in other determinizations
    node.priors[:] = np.float32(1.0 / masks.shape[1])
    if legal == 1:  # there is nothing to choose yet
        return
    node.expanded = 1
    if kind != GREEDY:
        for action in range(masks.shape[1]):
            if masks[2, action]:
                node.priors[action] = 1.0 / legal
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
            weight = np.exp((scratch.action_values[action] - best) * unit)
            node.priors[action] = weight
            total += weight
    for action in range(masks.shape[1]):
        if masks[0, action]:
            node.priors[action] /= total


@compiled
def _select(nodes, node, player, mask, exploration):
    """Choose a legal action by its mean value for the player, its prior, and how seldom it was taken (PUCT)."""
    here = nodes[node]
    mean = here.totals[player] / max(here.visits, 1)
    best, chosen = -np.inf, -1
    for action in range(mask.shape[0]):
        if mask[action]:
            child = here.children[action]
            value, taken, could = mean, 0, here.visits
            if child >= 0:
                below = nodes[child]
                below.available += 1
                taken, could = below.visits, below.available
                value = below.totals[player] / taken
            score = value + exploration * here.priors[action] * np.sqrt(could + 1.0) / (1 + taken)
            if chosen < 0 or score > best:  # a score that is no number must not leave nothing chosen
                best, chosen = score, action
    return chosen


@compiled
def _descend(player, state, params, tree, prior, exploration, scratch, rng_state):
    """Redraw `state`, a copy of the root, for `player`; go down the tree and add a node, leaving `state` there.

    Returns the length of `tree.path`.
    """
    nodes, used, path = tree
    if used[0] == 0:
        _open_node(nodes[0])
        used[0] = 1
    kernels.resample(state, params, player, next_uint64(rng_state))
    mask = scratch.masks[2]
    node, length, grown = 0, 0, False
    path[0] = 0
    while not grown and not (state.terminated or state.truncated):
        legal = kernels.legal_actions(state, params, mask)
        if not nodes[node].expanded:
            # wait for the network to evaluate this node: the root, or one where an earlier redraw ended the game
            if prior == NETWORK:
                break
            _fill_priors(nodes[node], prior, state, params, legal, scratch, rng_state)
        action = _select(nodes, node, np.int64(state.current_player), mask, exploration)
        child = np.int64(nodes[node].children[action])
        if child < 0:
            child = np.int64(used[0])
            used[0] += 1
            nodes[node].children[action] = child
            _open_node(nodes[child])
            nodes[child].available = nodes[node].visits + 1  # as if it could always have been taken so far
            grown = True
        kernels.apply_action(state, params, action)
        node = child
        length += 1
        path[length] = node
    return length


@compiled
def _back_up(nodes, path, length, seats, values):
    """Add the seats' values to the nodes of a path."""
    for i in range(length + 1):
        node = nodes[path[i]]
        node.visits += 1
        for p in range(seats):
            node.totals[p] += values[p]


@compiled
def simulate(
    nodes, used, path, work, masks, points, action_values,
    states, params, row, simulations, prior, exploration, depth, rollout, values, leaf, rng_states,
):  # fmt: skip
    """Go on with the search from `states[row]`; return the decisions made in its simulations.

    The first arrays are those of `Tree` and `Scratch`. `rollout` is the built-in policy that plays on from a new node
    for `depth` decisions at most.
    """
    tree, scratch = Tree(nodes, used, path), Scratch(work, masks, points, action_values)
    state, rng_state = leaf[0], rng_states[row]
    player = np.int64(states[row].current_player)
    decisions = 0
    for _ in range(simulations):
        leaf[0] = states[row]
        length = _descend(player, state, params[0], tree, prior, exploration, scratch, rng_state)
        decisions += length
        for _ in range(depth):
            if state.terminated or state.truncated:
                break
            legal = kernels.legal_actions(state, params[0], masks[2])
            action = choose(rollout, state, params[0], masks[2], legal, scratch, rng_state)
            kernels.apply_action(state, params[0], action)
            decisions += 1
        seat_values(state, params[0], values, points)
        _back_up(nodes, path, length, params[0].num_players, values)
    return decisions


@compiled
def descend_rows(
    nodes, used, paths, work, masks, points, action_values,
    states, params, rows, exploration, lengths, leaves, observations, leaf_masks, rng_states,
):  # fmt: skip
    """One step of all searches: go down each tree, and show what the player to move sees at the leaf.

    The first arrays are those of `Tree`, with a row for each search, and of `Scratch`.
    """
    scratch = Scratch(work, masks, points, action_values)
    for i in range(rows.shape[0]):
        row = rows[i]
        leaves[i] = states[row]
        state, tree = leaves[i], Tree(nodes[i], used[i], paths[i])
        player = np.int64(state.current_player)
        lengths[i] = _descend(player, state, params[0], tree, NETWORK, exploration, scratch, rng_states[row])
        kernels.legal_actions(state, params[0], leaf_masks[i])
        kernels.observe(state, params[0], np.int64(state.current_player), observations[i])


@compiled
def _expand(node, mask, probabilities):
    """Fill the priors with the network's probabilities of the legal actions."""
    node.expanded = 1
    # the default prior, for actions that are legal only in other determinizations
    node.priors[:] = np.float32(1.0 / probabilities.shape[0])
    for action in range(probabilities.shape[0]):
        if mask[action]:
            node.priors[action] = probabilities[action]


@compiled
def back_up_rows(nodes, paths, lengths, params, leaves, leaf_masks, probabilities, estimates, values, points):
    """Expand each leaf and back up its value: the network's estimate, or the outcome of a finished game.

    `estimates`, float32 (N,), is for the player to move; the others share the opposite, or in cooperative games have the
    same.
    """
    n = params[0].num_players
    for i in range(leaves.shape[0]):
        state = leaves[i]
        if state.terminated or state.truncated:
            seat_values(state, params[0], values, points)
        else:
            _expand(nodes[i, paths[i, lengths[i]]], leaf_masks[i], probabilities[i])
            for p in range(n):
                if p == state.current_player or params[0].cooperative:
                    values[p] = estimates[i]
                else:
                    values[p] = -estimates[i] / (n - 1)
        _back_up(nodes[i], paths[i], lengths[i], n, values)


@compiled
def root_visits(nodes, out):
    """Fill `out`, int32 (N, num_actions), with how often each action was taken at the root of each tree."""
    for i in range(out.shape[0]):
        for action in range(out.shape[1]):
            child = nodes[i, 0].children[action]
            out[i, action] = nodes[i, child].visits if child >= 0 else 0
