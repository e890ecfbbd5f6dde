"""Compiled opponents: uniformly random, and greedy for the points that everybody can see.

A policy for a batch is any callable `policy(batch, rows) -> actions`: it reads what it needs of the
`garden_core.Batch` (`observation[rows]`, `action_mask[rows]`, `states[rows]`, …) and returns one legal action
for the player to move in each of `rows`. `RandomPolicy` and `GreedyPolicy` are such callables; the learner's
interfaces know them by name and play them without leaving compiled code.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from garden_core import kernels
from garden_core.batch import Batch
from garden_core.checks import as_rows, as_seed, require_reset
from garden_core.jit import compiled, records
from garden_core.rng import bounded, next_uint64, nth_legal, seed_rows

__all__ = [
    "BUILT_IN",
    "GREEDY",
    "RANDOM",
    "GreedyPolicy",
    "Policy",
    "RandomPolicy",
    "ask",
    "choose",
    "greedy_action",
    "greedy_worths",
    "policy_name",
    "workspace",
]

Policy = Callable[[Batch, np.ndarray], np.ndarray]

RANDOM, GREEDY = 0, 1
BUILT_IN = ("random", "greedy")  # names, in the order of the codes above


@compiled
def _worth(state, params, player, tally):
    """How `player` stands by public points, as a whole number.

    Own points x the number of seats less the points of all, which is (seats - 1) x the margin; in cooperative games
    the team's score x the number of seats.
    """
    kernels.public_points(state, params, tally)
    n = params.num_players
    if params.cooperative:
        lowest = np.int64(tally[0])
        for p in range(1, n):
            lowest = min(lowest, np.int64(tally[p]))
        return lowest * n
    total = 0
    for p in range(n):
        total += np.int64(tally[p])
    return np.int64(tally[player]) * n - total


@compiled
def _best_second(work, params, player, masks, tally):
    """Best worth that the same player can reach by one more decision from `work[0]`; overwrites `work[1]`."""
    best = np.int64(-(1 << 62))
    kernels.legal_actions(work[0], params, masks[1])
    for action in range(masks.shape[1]):
        if masks[1, action]:
            work[1] = work[0]
            kernels.apply_action(work[1], params, action)
            best = max(best, _worth(work[1], params, player, tally))
    return best


@compiled
def greedy_worths(state, params, seed, work, masks, tally, worths):
    """Fill `worths`, int64 (num_actions,), for each legal action with the worth at the end of the row of decisions.

    The row is that of the player to move, two deep at most. Judges copies resampled from `seed` for that seat, by
    public points: own points x the number of seats less the points of all, in cooperative games the team's score x
    the number of seats; leaves the legal actions in `masks[0]`. Overwrites the workspace: `work`, three states; `masks`, int8 (2, num_actions); `tally`, int32
    (max players,).
    """
    player = np.int64(state.current_player)
    work[2] = state
    kernels.resample(work[2], params, player, seed)
    kernels.legal_actions(state, params, masks[0])
    for action in range(masks.shape[1]):
        if not masks[0, action]:
            continue
        work[0] = work[2]
        kernels.apply_action(work[0], params, action)
        over = work[0].terminated or work[0].truncated
        if not over and work[0].current_player == player:
            worths[action] = _best_second(work, params, player, masks, tally)
        else:
            worths[action] = _worth(work[0], params, player, tally)


@compiled
def greedy_action(state, params, seed, work, masks, tally, worths, words):
    """Choose for the player to move what is worth most by `greedy_worths`.

    Ties are broken by the generator `words`, uint64 (4,).
    """
    greedy_worths(state, params, seed, work, masks, tally, worths)
    best, ties, chosen = np.int64(-(1 << 62)), 0, -1
    for action in range(masks.shape[1]):
        if not masks[0, action]:
            continue
        if worths[action] > best:
            best, ties, chosen = worths[action], 1, action
        elif worths[action] == best:
            ties += 1
            if bounded(words, ties) == 0:  # every one of the best is equally likely in the end
                chosen = action
    return chosen


@compiled
def choose(kind, state, params, mask, n, work, masks, tally, worths, words):
    """Choose for the player to move by the built-in policy `kind`; `mask` and `n` as legal_actions gave them."""
    if kind == GREEDY:
        return greedy_action(state, params, next_uint64(words), work, masks, tally, worths, words)
    return nth_legal(mask, bounded(words, n))


@compiled
def choose_rows(kind, states, params, rows, masks, work, two_masks, tally, worths, words, actions):
    for i in range(rows.shape[0]):
        row = rows[i]
        n = 0
        for action in range(masks.shape[1]):
            n += masks[row, action]
        actions[i] = choose(
            kind, states[row], params[0], masks[row], n, work, two_masks, tally, worths, words[row]
        )


class _BuiltIn:
    """A built-in policy as a callable on a batch; row i draws from the generator of (seed, i)."""

    kind: int

    def __init__(self, seed: int = 0) -> None:
        self.seed = int(as_seed(seed))
        self._words = np.zeros((0, 4), np.uint64)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return one legal action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError, IndexError: for rows that are named twice or do not exist.
            RuntimeError: before the batch's first reset.
        """
        require_reset(batch.dealt, "a policy")
        rows = as_rows(rows, batch.num_envs, "asked")
        if len(self._words) < batch.num_envs:
            self._words = np.zeros((batch.num_envs, 4), np.uint64)
            seed_rows(self._words, np.uint64(self.seed))
        game = batch.game
        actions = np.zeros(len(rows), np.int64)
        choose_rows(
            self.kind,
            batch.states,
            game.params,
            rows,
            batch.action_mask,
            *workspace(game),
            self._words,
            actions,
        )
        return actions


class RandomPolicy(_BuiltIn):
    """Every legal action equally likely."""

    kind = RANDOM


class GreedyPolicy(_BuiltIn):
    """See `greedy_action`."""

    kind = GREEDY


def policy_name(policy: Policy) -> str:
    """Return what messages call a policy: the name of its function or class."""
    return getattr(policy, "__qualname__", None) or type(policy).__qualname__


def ask(policy: Policy, batch: Batch, rows: np.ndarray, name: str | None = None) -> np.ndarray:
    """Return a policy's choice for the player to move in each of `rows`, int64 (len(rows),), after checking it.

    Args:
        name: what messages call it; by itself `policy_name(policy)`.

    Raises:
        ValueError: if the answer is not one legal action for each row, whole numbers (len(rows),); it names the
            policy. What the policy itself raises is passed on.
    """
    answer = policy(batch, rows)
    try:
        return batch.check_actions(answer, rows)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name or policy_name(policy)}: {error}") from None


def workspace(game) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the memory that `choose` overwrites: three states, two masks, a tally by seat, worths by action."""
    seats = game.state_dtype["paid"].shape[0]
    return (
        records(3, game.state_dtype),
        np.zeros((2, game.num_actions), np.int8),
        np.zeros(seats, np.int32),
        np.zeros(game.num_actions, np.int64),
    )
