"""Monte Carlo tree search in compiled code, for any game and any number of players.

The method is information-set Monte Carlo tree search with a single observer (P. Cowling, E. Powley, D. Whitehouse,
"Information Set Monte Carlo Tree Search", 2012): each simulation redraws hidden cards and chance (a determinization), a
node stands for a sequence of actions and has a value for every seat, and selection counts how often an action was
available. Actions are selected by PUCT (D. Silver et al., "Mastering the game of Go without human knowledge", 2017). At
the root, simulations may instead be shared out by sequential halving, with values and priors weighed as in I. Danihelka et
al., "Policy improvement by planning with Gumbel", 2022.

With a network, priors and values come from it; the searches of a batch run in step, and it evaluates several leaves of
each in one pass. Without one, priors come from greedy play's action values, and the value of a leaf from the points after
a rollout of a few decisions.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_core import kernels, rewards
from garden_core.choices import LOWEST, Scratch, choose, greedy_action_values
from garden_core.game import Game
from garden_core.jit import compiled
from garden_core.rng import next_float, next_uint64

__all__ = [
    "ASKED",
    "BEGIN",
    "BY_PRIOR",
    "OTHERS",
    "PRIORS",
    "Descent",
    "Leaves",
    "Tree",
    "back_up_leaf",
    "back_up_rows",
    "descend_rows",
    "descend_search",
    "first_places",
    "halve_rows",
    "halve_search",
    "look_rows",
    "node_type",
    "read_rows",
    "read_search",
    "redraw_rows",
    "seat_values",
    "simulate",
]

EQUAL, GREEDY, NETWORK = 0, 1, 2
PRIORS = ("equal", "greedy")  # in the order of the codes above
BY_SEARCH, BY_PRIOR = 0, 1
OTHERS = ("search", "prior")
"""How the seats choose that are not the searcher's, in the order of the codes above: as the searcher does, each for itself,
or always the action of the highest prior. A network is asked for it anew in every simulation, as it depends on the cards
that a redraw gives them."""
BEGIN, DONE, ASKED = -1, -2, -3
"""Beside the actions of another seat, what `Leaves.answers` holds: a simulation begins, has arrived at its leaf, or waits for
the action of another seat."""
SHARPNESS = 10.0
"""Of greedy priors: action values that differ by reward_divisor x players have priors in the ratio e**10."""
CERTAINTY = 50
"""In sequential halving a difference of values weighs as much as if its actions had this many visits more."""


class Tree(NamedTuple):
    """The arrays of one search; with a leading dimension, those of several.

    Attributes:
        nodes: records (nodes,) of `node_type`.
        used: int64 (1,), number of nodes in use; set it to 0 for a new search.
        path: int64 (nodes,), indexes of the nodes that the current simulation has visited, from the root on.
        considered: int8 (num_actions,), 1 for the actions at the root that sequential halving still considers; zeros
            throughout for PUCT at the root too.
    """

    nodes: np.ndarray
    used: np.ndarray
    path: np.ndarray
    considered: np.ndarray


class Selection(NamedTuple):
    """How a search selects actions.

    Attributes:
        player: seat that searches.
        prior: where priors come from, one of the codes above.
        exploration: weight of the priors in PUCT.
        others: how the other seats choose, one of the codes of OTHERS.
    """

    player: int
    prior: int
    exploration: float
    others: int


def node_type(game: Game) -> np.dtype:
    """Return the record type of a node."""
    return np.dtype(
        [
            ("totals", "f8", game.max_players),  # by seat, sum of the values of its simulations
            (
                "priors",
                "f4",
                game.num_actions,
            ),  # prior of each action; the sum over those that are legal may be other than 1
            ("children", "i4", game.num_actions),  # index of the node that an action leads to, or -1
            ("visits", "i4"),  # simulations that went through the node
            ("pending", "i4"),  # those of them whose values are not added yet
            ("available", "i4"),  # simulations in which its action was legal at the parent
            ("expanded", "i4"),  # 1 if the priors are filled
        ],
        align=True,
    )


@compiled
def seat_values(state, params, values, points):
    """Fill `values`, float32 (max players,), with the value of every seat, -1 to 1; `points` is overwritten.

    The value is the outcome where the game is over, otherwise `x / (1 + |x|)` where x is the margin / reward_divisor.
    In cooperative games x is the team's score / reward_divisor, also when the game is over.
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
def first_places(state, params, values, points):
    """Fill `values`, float32 (max players,), for a game that is over: n times a seat's share of the first place, less 1,
    all divided by n - 1. A sole winner has 1, and all seats together 0. `points` is overwritten.
    """
    n = params.num_players
    kernels.standings(state, params, points)
    best, firsts = np.int64(points[0]), 0
    for p in range(1, n):
        best = max(best, np.int64(points[p]))
    for p in range(n):
        firsts += points[p] == best
    for p in range(n):
        share = 1.0 / firsts if points[p] == best else 0.0
        values[p] = (n * share - 1.0) / (n - 1)


@compiled
def _open_node(node):
    node.totals[:] = 0.0
    node.children[:] = -1
    node.visits = 0
    node.pending = 0
    node.available = 0
    node.expanded = 0


@compiled
def _fill_priors(node, kind, state, params, legal, scratch, rng_state):
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
            weight = math.exp((scratch.action_values[action] - best) * unit)
            node.priors[action] = weight
            total += weight
    for action in range(masks.shape[1]):
        if masks[0, action]:
            node.priors[action] /= total


@compiled
def _select(nodes, node, player, mask, exploration):
    """Return the legal action of the highest PUCT score: its mean value for the player plus an exploration bonus."""
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
def _likeliest(node, mask):
    """Return the legal action of the highest prior."""
    chosen = -1
    for action in range(mask.shape[0]):
        if mask[action] and (chosen < 0 or node.priors[action] > node.priors[chosen]):
            chosen = action
    return chosen


@compiled
def _least_visited(nodes, considered):
    """Return the action with the fewest visits of those considered at the root, of equals that of the highest prior; -1 if
    none is considered.
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
def _descend(state, params, tree, selection, scratch, rng_state, length, answer):
    """Descend the tree by one simulation and add a node.

    `state` is a redraw of the root's state; it is the new node's state in the end. Returns the number of actions taken and
    DONE; `tree.path` holds one node more. All of these nodes have a visit more, pending until `_back_up` adds its values.

    Or returns ASKED where a network is to say which action another seat takes. The next call then has the number of
    actions taken as `length` and that action as `answer`; at first they are 0 and BEGIN.
    """
    nodes, used, path, considered = tree
    player, prior, exploration, others = selection
    if used[0] == 0:
        _open_node(nodes[0])
        used[0] = 1
    mask = scratch.masks[2]
    path[0] = 0
    node, added, asked = path[length], False, False
    visited = length + 1 if answer >= 0 else 0
    while not added and not (state.terminated or state.truncated):
        legal = kernels.legal_actions(state, params, mask)
        if not nodes[node].expanded:
            # wait for the network to evaluate this node: the root, or one where the game had ended in every
            # earlier determinization
            if prior == NETWORK:
                break
            _fill_priors(nodes[node], prior, state, params, legal, scratch, rng_state)
        action = _least_visited(nodes, considered) if length == 0 else -1
        if others == BY_PRIOR and np.int64(state.current_player) != player:
            if prior == NETWORK and legal > 1 and answer < 0:
                asked = True
                break
            action = answer if answer >= 0 else _likeliest(nodes[node], mask)
            answer = BEGIN
        if action < 0:
            action = _select(nodes, node, np.int64(state.current_player), mask, exploration)
        child = np.int64(nodes[node].children[action])
        if child < 0:
            child = np.int64(used[0])
            used[0] += 1
            nodes[node].children[action] = child
            _open_node(nodes[child])
            nodes[child].available = nodes[node].visits + 1  # as if its action had always been legal
            added = True
        kernels.apply_action(state, params, action)
        node = child
        length += 1
        path[length] = node
    for i in range(visited, length + 1):
        nodes[path[i]].visits += 1
        nodes[path[i]].pending += 1
    return length, ASKED if asked else DONE


@compiled
def _back_up(nodes, path, length, seats, values):
    """Add the seats' values to the nodes of a path, path[0] to path[length]."""
    for i in range(length + 1):
        node = nodes[path[i]]
        node.pending -= 1
        for p in range(seats):
            node.totals[p] += values[p]


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
        length, _ = _descend(state, params[0], tree, selection, scratch, rng_state, 0, BEGIN)
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
def _drawn(probabilities, rng_state):
    """Return an index drawn by probabilities that sum to 1."""
    rest = next_float(rng_state)
    for k in range(probabilities.shape[0] - 1):
        rest -= probabilities[k]
        if rest < 0:
            return k
    return probabilities.shape[0] - 1


@compiled
def redraw_rows(states, params, rows, rng_states, redraws):
    """Fill `redraws`, records (N, number), with the states of `rows`, redrawn for the players to move."""
    for i in range(rows.shape[0]):
        row = rows[i]
        for k in range(redraws.shape[1]):
            redraws[i, k] = states[row]
            player = np.int64(states[row].current_player)
            kernels.resample(redraws[i, k], params[0], player, next_uint64(rng_states[row]))


@compiled
def look_row(state, params, observation, mask):
    """Fill `observation` and `mask` with what the player to move sees and may do."""
    kernels.legal_actions(state, params[0], mask)
    kernels.observe(state, params[0], np.int64(state.current_player), observation)


@compiled
def look_rows(states, params, observations, masks):
    """Fill `observations` and `masks` with what the player to move sees and may do in each state."""
    for i in range(states.shape[0]):
        look_row(states[i], params, observations[i], masks[i])


class Leaves(NamedTuple):
    """Where the simulations of several searches have arrived; the leaves of a search stand together.

    Attributes:
        redraws: records (searches, number), and `likelihoods`: float64 (searches, number), that sum to 1: each simulation
            begins in one of these redraws, or in a new one where number is 0.
        answers: int64 (leaves,), what another seat does, or one of the codes BEGIN, DONE and ASKED.
        lengths: int64 (leaves,), lengths of the paths.
        states: state records (leaves,).
        observations: int8 (leaves, observation size), what the player to move there sees.
        masks: int8 (leaves, num_actions), its legal actions.
    """

    redraws: np.ndarray
    likelihoods: np.ndarray
    answers: np.ndarray
    lengths: np.ndarray
    states: np.ndarray
    observations: np.ndarray
    masks: np.ndarray


class Descent(NamedTuple):
    """Which search is to descend, and how.

    Attributes:
        row: the row that is searched.
        search: number of the search.
        group: number of simulations.
        exploration, others: see `Selection`.
    """

    row: int
    search: int
    group: int
    exploration: float
    others: int


@compiled
def descend_search(trees, scratch, states, params, descent, leaves, rng_state):
    """Descend the tree of a search to the leaves that the network is to evaluate; `trees` are those of all searches.

    A leaf whose answer is DONE is left alone. Where it is ASKED afterwards, the network is to answer, and this is to be called
    again.
    """
    nodes, used, paths, considered = trees
    row, search, group, exploration, others = descent
    player = np.int64(states[row].current_player)
    # np.int64, so that `_descend` is compiled once
    selection = Selection(player, np.int64(NETWORK), exploration, others)
    for i in range(search * group, (search + 1) * group):
        answer, length = leaves.answers[i], leaves.lengths[i]
        if answer == DONE:
            continue
        if answer == BEGIN:
            length = np.int64(0)
            if leaves.redraws.shape[1] > 0:
                drawn = _drawn(leaves.likelihoods[search], rng_state)
                kernels.copy_record(leaves.states, i, leaves.redraws[search, drawn])
            else:
                kernels.copy_record(leaves.states, i, states[row])
                kernels.resample(leaves.states[i], params[0], player, next_uint64(rng_state))
        tree = Tree(nodes[search], used[search], paths[i], considered[search])
        leaves.lengths[i], leaves.answers[i] = _descend(
            leaves.states[i], params[0], tree, selection, scratch, rng_state, length, answer
        )
        look_row(leaves.states[i], params, leaves.observations[i], leaves.masks[i])


@compiled
def descend_rows(
    nodes,
    used,
    paths,
    considered,
    work,
    masks,
    points,
    action_values,
    states,
    params,
    rows,
    group,
    exploration,
    others,
    redraws,
    likelihoods,
    answers,
    lengths,
    leaves,
    observations,
    leaf_masks,
    rng_states,
):
    """Descend the tree of each of `rows` `group` times: see `descend_search`.

    The first four arrays are those of `Tree`, with a leading dimension for the searches, `paths` with one for the leaves;
    the next four are those of `Scratch`, and those from `redraws` to `leaf_masks` those of `Leaves`.
    """
    scratch = Scratch(work, masks, points, action_values)
    places = Leaves(redraws, likelihoods, answers, lengths, leaves, observations, leaf_masks)
    trees = Tree(nodes, used, paths, considered)
    for search in range(rows.shape[0]):
        descent = Descent(rows[search], np.int64(search), group, exploration, others)
        descend_search(trees, scratch, states, params, descent, places, rng_states[rows[search]])


@compiled
def _expand(node, mask, probabilities):
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


@compiled
def back_up_leaf(nodes, path, params, leaf, judged, values, points):
    """Expand a leaf of the tree `nodes` and back up its values: the network's estimates, or those of a finished game.

    `path` is the path of nodes and its length, `leaf` the state and the action mask there, `judged` the network's
    probabilities and estimates.

    `estimates`, float32 (seats,), holds the values of all seats, counted from the player to move at the leaf; in a
    finished game the value of a seat is then its share of the first place, as `first_places` counts it. Or it is
    (1,), the value for the player to move alone, the other n - 1 seats having its opposite / (n - 1) each. In
    cooperative games it is (1,) too and holds `x / (1 + |x|)` for the score still to come, x times reward_divisor; the
    team's score so far is added to that. `values` and `points` are overwritten.
    """
    (steps, length), (state, mask), (probabilities, estimates) = path, leaf, judged
    n, alone, cooperative = params[0].num_players, estimates.shape[0] == 1, params[0].cooperative
    over = state.terminated or state.truncated
    if not over:
        node = nodes[steps[length]]
        if not node.expanded:  # another leaf of the group may have been the same
            _expand(node, mask, probabilities)
    if cooperative:
        to_come = 0.0 if over else np.float64(estimates[0])
        kernels.points(state, params[0], points)
        score = rewards.team_score(points, n) / params[0].reward_divisor
        score += to_come / max(1.0 - abs(to_come), 1e-6)
        values[:n] = score / (1.0 + abs(score))
    elif over:
        if alone:
            seat_values(state, params[0], values, points)
        else:
            first_places(state, params[0], values, points)
    else:
        for p in range(n):
            offset = (p - np.int64(state.current_player) + n) % n
            if not alone:
                values[p] = estimates[offset]
            elif offset == 0:
                values[p] = estimates[0]
            else:
                values[p] = -estimates[0] / (n - 1)
    _back_up(nodes, steps, length, n, values)


@compiled
def back_up_rows(
    nodes, paths, group, lengths, params, leaves, leaf_masks, probabilities, estimates, values, points
):
    """Expand each leaf and back up its values: see `back_up_leaf`. `estimates` is float32 (leaves, seats or 1)."""
    for i in range(leaves.shape[0]):
        path, leaf = (paths[i], lengths[i]), (leaves[i], leaf_masks[i])
        back_up_leaf(nodes[i // group], path, params, leaf, (probabilities[i], estimates[i]), values, points)


@compiled
def _weigh(nodes, player, mask, scale, scores):
    """Fill `scores`, float64 (num_actions,), for the legal actions at the root: log prior + scale x (CERTAINTY + most visits
    of an action) x mean value for the player. An action without visits has the mean value of the others, weighted by
    their priors.
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
def halve_search(nodes, considered, state, mask, noise, count, scale, scores):
    """Reduce the actions that are considered at the root to the `count` of the highest scores, noise included.

    Where none is considered yet, all legal actions are. `scores`, float64 (num_actions,), is overwritten.
    """
    number = 0
    for action in range(mask.shape[0]):
        number += considered[action]
    if number == 0:
        for action in range(mask.shape[0]):
            considered[action] = mask[action]
            number += mask[action]
    if number <= count:
        return
    _weigh(nodes, np.int64(state.current_player), mask, scale, scores)
    while number > count:
        worst = -1
        for action in range(mask.shape[0]):
            if considered[action]:
                score = scores[action] + noise[action]
                if worst < 0 or score <= scores[worst] + noise[worst]:
                    worst = action
        considered[worst] = 0
        number -= 1


@compiled
def halve_rows(nodes, considered, states, rows, masks, noise, counts, scale, scores):
    """Halve what is considered at the root of each search: see `halve_search`. `masks` and `noise` are (N, num_actions)."""
    for i in range(rows.shape[0]):
        root = nodes[i], considered[i], states[rows[i]], masks[i], noise[i]
        halve_search(*root, counts[i], scale, scores)


@compiled
def read_search(nodes, considered, state, params, choice, scale, scores, found):
    """Read the result of a search from its root; return the best action.

    `choice` is the root's action mask and the noise. `found` is filled: as `Searched` describes them, `visits`, int32
    (num_actions,), `values`, float64 (players,), and `shares`, float32 (num_actions,). `scores`, float64 (num_actions,), is
    overwritten.
    """
    (mask, noise), (visits, values, shares) = choice, found
    n = params[0].num_players
    player = np.int64(state.current_player)
    here, halving, count = nodes[0], False, 0
    for action in range(mask.shape[0]):
        child = here.children[action]
        visits[action] = nodes[child].visits if child >= 0 else 0
        count += visits[action]
        halving |= considered[action] != 0
    chosen, total = -1, 0.0
    if halving:
        _weigh(nodes, player, mask, scale, scores)
        highest = -np.inf
        for action in range(mask.shape[0]):
            if mask[action]:
                highest = max(highest, scores[action])
        for action in range(mask.shape[0]):
            better = chosen < 0 or scores[action] + noise[action] > scores[chosen] + noise[chosen]
            if considered[action] and better:
                chosen = action
            shares[action] = math.exp(scores[action] - highest) if mask[action] else 0.0
            total += shares[action]
    else:
        for action in range(mask.shape[0]):
            if mask[action] and (chosen < 0 or visits[action] > visits[chosen]):
                chosen = action
            shares[action] = visits[action]
            total += visits[action]
    for action in range(mask.shape[0]):
        shares[action] /= total
    tried = 0.0
    for p in range(n):
        values[p] = 0.0 if halving else here.totals[(player + p) % n] / here.visits
    if not halving:
        return chosen
    for action in range(mask.shape[0]):
        if visits[action] > 0:
            tried += shares[action]
    for action in range(mask.shape[0]):
        if visits[action] > 0:
            child = nodes[here.children[action]]
            for p in range(n):
                mean = child.totals[(player + p) % n] / child.visits
                values[p] += shares[action] / tried * mean
    return chosen


@compiled
def read_rows(
    nodes, considered, states, params, rows, masks, noise, scale, scores, visits, values, shares, actions
):
    """Read the results of searches: see `read_search`. Also fills `actions`, int64 (N,), with the best ones."""
    for i in range(rows.shape[0]):
        found = visits[i], values[i], shares[i]
        state, choice = states[rows[i]], (masks[i], noise[i])
        actions[i] = read_search(nodes[i], considered[i], state, params, choice, scale, scores, found)
