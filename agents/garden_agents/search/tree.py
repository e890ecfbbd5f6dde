"""Monte Carlo tree search for any game: hidden cards and chance redrawn in every simulation, a value for each seat.

Source: information-set Monte Carlo tree search with a single observer (P. Cowling, E. Powley, D. Whitehouse,
"Information Set Monte Carlo Tree Search", 2012), which selects by how often an action was available; the
selection itself is PUCT (D. Silver et al., "Mastering the game of Go without human knowledge", 2017). The tree is
one of actions: what chance and hidden cards make of them is averaged over.

Priors and values come from a network, if there is one: the searches of a batch then go in step, and the leaves of
all of them are judged in one pass. Else priors come from what greedy play would think of the actions, and values
from playing on for some decisions and counting points.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from garden_core import kernels, rewards
from garden_core.game import Game
from garden_core.jit import compiled
from garden_core.policies import choose, greedy_worths
from garden_core.rng import next_uint64

__all__ = [
    "PRIORS",
    "Network",
    "back_up_rows",
    "descend_rows",
    "node_type",
    "root_visits",
    "seat_values",
    "simulate",
]

EQUAL, GREEDY, GIVEN = 0, 1, 2
PRIORS = ("equal", "greedy")  # in the order of the codes above
SHARPNESS = 10.0  # of greedy priors: the exponent for worths that differ by reward_divisor x players


class Network(Protocol):
    """What judges leaves: a policy and value for the player to move."""

    def judge(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities, float32 (N, num_actions), and values, float32 (N,), about -1 to 1."""


def node_type(game: Game) -> np.dtype:
    """Return the record of a node."""
    seats, actions = game.state_dtype["paid"].shape[0], game.num_actions
    return np.dtype(
        [
            ("totals", "f8", seats),  # by seat, the sum of the values of all simulations that came through
            ("priors", "f4", actions),  # how promising an action looked at first
            ("children", "i4", actions),  # the node that an action leads to, or -1
            ("visits", "i4"),  # simulations that came through
            ("available", "i4"),  # simulations in which it could have been chosen
            ("judged", "i4"),  # 1 if the priors are filled
        ],
        align=True,
    )


# --- compiled ---


@compiled
def seat_values(state, params, values, tally):
    """Fill `values` with what each seat has, -1 to 1.

    The outcome of a finished game, else x / (1 + |x|) of the margin x; in cooperative games that of the team's score.
    """
    n = params.num_players
    if params.cooperative or not (state.terminated or state.truncated):
        kernels.points(state, params, tally)
        total, lowest = 0, np.int64(tally[0])
        for p in range(n):
            total += np.int64(tally[p])
            lowest = min(lowest, np.int64(tally[p]))
        for p in range(n):
            own = np.float64(lowest)
            if not params.cooperative:
                own = tally[p] - (total - tally[p]) / (n - 1)
            own /= params.reward_divisor
            values[p] = own / (1.0 + abs(own))
    else:
        kernels.standings(state, params, tally)
        rewards.outcome(tally, n, values)


@compiled
def _open_node(node):
    node.totals[:] = 0.0
    node.children[:] = -1
    node.visits = 0
    node.available = 0
    node.judged = 0


@compiled
def _fill_priors(node, kind, state, params, legal, work, masks, tally, worths, words):
    """Share out 1 among the legal actions: equally, or by what greedy play thinks that they are worth."""
    node.priors[:] = np.float32(1.0 / masks.shape[1])  # for what other redraws will allow
    if legal == 1:  # there is nothing to choose yet
        return
    node.judged = 1
    if kind != GREEDY:
        for action in range(masks.shape[1]):
            if masks[2, action]:
                node.priors[action] = 1.0 / legal
        return
    greedy_worths(state, params, next_uint64(words), work, masks, tally, worths)
    unit = SHARPNESS / (params.reward_divisor * params.num_players)
    best = np.int64(-(1 << 62))
    for action in range(masks.shape[1]):
        if masks[0, action]:
            best = max(best, worths[action])
    total = 0.0
    for action in range(masks.shape[1]):
        if masks[0, action]:
            weight = np.exp((worths[action] - best) * unit)
            node.priors[action] = weight
            total += weight
    for action in range(masks.shape[1]):
        if masks[0, action]:
            node.priors[action] /= total


@compiled
def _select(tree, node, player, mask, exploration):
    """Choose a legal action by its mean value for the player, its prior, and how seldom it was taken."""
    here = tree[node]
    mean = here.totals[player] / max(here.visits, 1)
    best, chosen = -np.inf, -1
    for action in range(mask.shape[0]):
        if mask[action]:
            child = here.children[action]
            value, taken, could = mean, 0, here.visits
            if child >= 0:
                below = tree[child]
                below.available += 1
                taken, could = below.visits, below.available
                value = below.totals[player] / taken
            score = value + exploration * here.priors[action] * np.sqrt(could + 1.0) / (1 + taken)
            if chosen < 0 or score > best:  # a score that is no number must not leave nothing chosen
                best, chosen = score, action
    return chosen


@compiled
def _descend(root, params, prior, exploration, tree, used, path, state, work, masks, tally, worths, words):
    """Redraw the root, go down the tree and add a node, leaving `state` there; return the length of `path`."""
    if used[0] == 0:
        _open_node(tree[0])
        used[0] = 1
    kernels.resample(state, params, np.int64(root.current_player), next_uint64(words))
    node, length, grown = 0, 0, False
    path[0] = 0
    while not grown and not (state.terminated or state.truncated):
        legal = kernels.legal_actions(state, params, masks[2])
        if not tree[node].judged:
            if (
                prior == GIVEN
            ):  # the network is to say: at the root, or where an earlier redraw ended the game
                break
            _fill_priors(tree[node], prior, state, params, legal, work, masks, tally, worths, words)
        action = _select(tree, node, np.int64(state.current_player), masks[2], exploration)
        child = np.int64(tree[node].children[action])
        if child < 0:
            child = np.int64(used[0])
            used[0] += 1
            tree[node].children[action] = child
            _open_node(tree[child])
            tree[child].available = tree[node].visits + 1  # as if it could always have been taken so far
            grown = True
        kernels.apply_action(state, params, action)
        node = child
        length += 1
        path[length] = node
    return length


@compiled
def _back_up(tree, path, length, seats, values):
    for i in range(length + 1):
        node = tree[path[i]]
        node.visits += 1
        for p in range(seats):
            node.totals[p] += values[p]


@compiled
def simulate(
    states, params, row, simulations, prior, exploration, depth, rollout,
    tree, used, path, values, leaf, work, masks, tally, worths, words,
):  # fmt: skip
    """Go on with the search from `states[row]`; return the decisions made in its simulations.

    `tree`, node records (nodes,), of which `used[0]` are in use; 0 begins a new search. `rollout` is the built-in
    policy that plays on from a new node for `depth` decisions at most.
    """
    state = leaf[0]
    decisions = 0
    for _ in range(simulations):
        leaf[0] = states[row]
        length = _descend(
            states[row], params[0], prior, exploration, tree, used, path, state,
            work, masks, tally, worths, words[row],
        )  # fmt: skip
        decisions += length
        for _ in range(depth):
            if state.terminated or state.truncated:
                break
            legal = kernels.legal_actions(state, params[0], masks[2])
            action = choose(
                rollout, state, params[0], masks[2], legal, work, masks, tally, worths, words[row]
            )
            kernels.apply_action(state, params[0], action)
            decisions += 1
        seat_values(state, params[0], values, tally)
        _back_up(tree, path, length, params[0].num_players, values)
    return decisions


@compiled
def descend_rows(
    states, params, rows, exploration, trees, used, paths, lengths, leaves, observations, leaf_masks,
    work, masks, tally, worths, words,
):  # fmt: skip
    """One step of all searches: go down each tree, and show what the player to move sees at the leaf."""
    for i in range(rows.shape[0]):
        leaves[i] = states[rows[i]]
        state = leaves[i]
        lengths[i] = _descend(
            states[rows[i]], params[0], GIVEN, exploration, trees[i], used[i], paths[i], state,
            work, masks, tally, worths, words[rows[i]],
        )  # fmt: skip
        kernels.legal_actions(state, params[0], leaf_masks[i])
        kernels.observe(state, params[0], np.int64(state.current_player), observations[i])


@compiled
def back_up_rows(params, trees, paths, lengths, leaves, leaf_masks, probabilities, judgements, values, tally):
    """Enter what the network says of each leaf, or how its game ended, and tell the nodes above.

    The network speaks for the player to move; the others share the opposite, or in cooperative games the same.
    """
    n = params[0].num_players
    for i in range(leaves.shape[0]):
        state, node = leaves[i], trees[i, paths[i, lengths[i]]]
        if state.terminated or state.truncated:
            seat_values(state, params[0], values, tally)
        else:
            node.judged = 1
            node.priors[:] = np.float32(1.0 / probabilities.shape[1])  # for what other redraws will allow
            for action in range(probabilities.shape[1]):
                if leaf_masks[i, action]:
                    node.priors[action] = probabilities[i, action]
            for p in range(n):
                if p == state.current_player or params[0].cooperative:
                    values[p] = judgements[i]
                else:
                    values[p] = -judgements[i] / (n - 1)
        _back_up(trees[i], paths[i], lengths[i], n, values)


@compiled
def root_visits(trees, out):
    """Fill `out`, int32 (N, num_actions), with how often each action was taken at the root of each tree."""
    for i in range(out.shape[0]):
        for action in range(out.shape[1]):
            child = trees[i, 0].children[action]
            out[i, action] = trees[i, child].visits if child >= 0 else 0
