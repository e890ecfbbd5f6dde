"""Monte Carlo tree search for any game: hidden cards and chance redrawn in every simulation, a value for each seat.

Source: information-set Monte Carlo tree search with a single observer (P. Cowling, E. Powley, D. Whitehouse,
"Information Set Monte Carlo Tree Search", 2012), which selects by how often an action was available; the
selection itself is PUCT (D. Silver et al., "Mastering the game of Go without human knowledge", 2017) with equal
priors. The tree is one of actions: what chance and hidden cards make of them is averaged over.
"""

from __future__ import annotations

import numpy as np

from garden_core import kernels, rewards
from garden_core.batch import Batch
from garden_core.compiled import compiled, records
from garden_core.policies import BUILT_IN, choose, workspace
from garden_core.rng import next_uint64, seed_rows

__all__ = ["MCTSAgent", "search"]


@compiled
def _worth(state, params, values, tally):
    """Fill `values` with what each seat has: the outcome of a finished game, else the margin, cut to (-1, 1)."""
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
def _select(node, player, mask, legal, exploration, children, visits, available, totals):
    """Choose a legal action by its mean value for the player and how seldom it was taken when it could be."""
    mean = totals[node, player] / max(visits[node], 1)
    best, chosen = -np.inf, -1
    for action in range(mask.shape[0]):
        if mask[action]:
            child = children[node, action]
            value, taken, could = mean, 0, visits[node]
            if child >= 0:
                value, taken, could = totals[child, player] / visits[child], visits[child], available[child]
            score = value + exploration / legal * np.sqrt(could + 1.0) / (1 + taken)
            if score > best:
                best, chosen = score, action
    return chosen


@compiled
def search(
    root, params, simulations, exploration, depth, kind,
    children, visits, available, totals, path, values, work, masks, tally, words,
):  # fmt: skip
    """Search from the record `root` for the player to move; return the action taken most often.

    Each simulation copies the root, redraws what that player cannot see, goes down the tree, adds a node, and
    plays on by the built-in policy `kind` for `depth` decisions at most. Overwrites the tree (`children`, int32
    (simulations + 1, num_actions); `visits`, `available`, int32; `totals`, float64 (…, seats)) and the workspace.
    """
    player = np.int64(root.current_player)
    state = work[2]
    children[0, :] = -1
    visits[0] = 0
    totals[0, :] = 0.0
    nodes = 1
    for _ in range(simulations):
        work[2] = root
        kernels.resample(state, params, player, next_uint64(words))
        node, length, grown = 0, 0, False
        path[0] = 0
        while not grown and not (state.terminated or state.truncated):
            legal = kernels.legal_actions(state, params, masks[2])
            mover = np.int64(state.current_player)
            action = _select(node, mover, masks[2], legal, exploration, children, visits, available, totals)
            for other in range(masks.shape[1]):
                if masks[2, other] and children[node, other] >= 0:
                    available[children[node, other]] += 1
            if children[node, action] < 0:
                children[node, action] = nodes
                children[nodes, :] = -1
                visits[nodes] = 0
                available[nodes] = visits[node] + 1  # as if it could always have been taken so far
                totals[nodes, :] = 0.0
                nodes += 1
                grown = True
            kernels.apply_action(state, params, action)
            node = np.int64(children[node, action])
            length += 1
            path[length] = node
        for _ in range(depth):
            if state.terminated or state.truncated:
                break
            legal = kernels.legal_actions(state, params, masks[2])
            action = choose(kind, state, params, masks[2], legal, work, masks, tally, words)
            kernels.apply_action(state, params, action)
        _worth(state, params, values, tally)
        for i in range(length + 1):
            visits[path[i]] += 1
            for p in range(params.num_players):
                totals[path[i], p] += values[p]
    best, chosen = -1, -1
    for action in range(children.shape[1]):
        if children[0, action] >= 0 and visits[children[0, action]] > best:
            best, chosen = visits[children[0, action]], action
    return chosen


@compiled
def search_rows(
    states, params, rows, simulations, exploration, depth, kind,
    children, visits, available, totals, path, values, work, masks, tally, words, actions,
):  # fmt: skip
    """Search for the player to move in each of `rows`, one after the other."""
    for i in range(rows.shape[0]):
        row = rows[i]
        actions[i] = search(
            states[row], params[0], simulations, exploration, depth, kind,
            children, visits, available, totals, path, values, work, masks, tally, words[row],
        )  # fmt: skip


class MCTSAgent:
    """Tree search as a policy for a batch; row i draws from the generator of (seed, i).

    Args:
        simulations: of each move.
        exploration: how much seldom taken actions are preferred.
        depth: decisions that a simulation plays on outside the tree.
        rollout: "random" or "greedy", the policy that plays on.
        seed: of all draws.

    Raises:
        ValueError: for arguments out of range.
    """

    def __init__(
        self,
        simulations: int = 400,
        exploration: float = 1.5,
        depth: int = 8,
        rollout: str = "greedy",
        seed: int = 0,
    ) -> None:
        if simulations < 1 or depth < 0 or exploration < 0:
            raise ValueError("simulations must be at least 1, depth and exploration at least 0")
        if rollout not in BUILT_IN:
            raise ValueError(f"rollout must be {' or '.join(map(repr, BUILT_IN))}, not {rollout!r}")
        self.simulations, self.exploration, self.depth = simulations, exploration, depth
        self.kind, self.seed = BUILT_IN.index(rollout), seed
        self._words = np.zeros((0, 4), np.uint64)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action, int64 (len(rows),), for the player to move in each of `rows`."""
        if len(self._words) < batch.num_envs:
            self._words = np.zeros((batch.num_envs, 4), np.uint64)
            seed_rows(self._words, np.uint64(self.seed))
        game, nodes = batch.game, self.simulations + 1
        seats = game.state_dtype["paid"].shape[0]
        _, masks, tally = workspace(game)
        actions = np.zeros(len(rows), np.int64)
        search_rows(
            batch.states, game.params, np.asarray(rows, np.int64), self.simulations, self.exploration, self.depth,
            self.kind, np.empty((nodes, game.num_actions), np.int32), np.zeros(nodes, np.int32),
            np.zeros(nodes, np.int32), np.zeros((nodes, seats)), np.zeros(nodes + 1, np.int64),
            np.zeros(seats, np.float32), records(3, game.state_dtype),
            np.concatenate([masks, masks[:1]]), tally, self._words, actions,
        )  # fmt: skip
        return actions
