"""Policies for batches: `RandomPolicy`, `GreedyPolicy`, and how a policy is asked.

A policy for a batch is any callable `policy(batch, rows) -> actions`: it reads what it needs of the
`garden_core.Batch` (`observation[rows]`, `action_mask[rows]`, `states[rows]`, …) and returns one legal action
for the player to move in each of `rows`. `RandomPolicy` and `GreedyPolicy` are such callables; the learner's
interfaces know them by name and play them without leaving compiled code.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from garden_core.batch import Batch
from garden_core.checks import as_seed, require_reset
from garden_core.choices import FORFEIT, GREEDY, RANDOM

__all__ = [
    "FORFEIT",
    "GreedyPolicy",
    "Policy",
    "RandomPolicy",
    "ask",
    "check_answer",
    "policy_name",
]

Policy = Callable[[Batch, np.ndarray], np.ndarray]


class _BuiltIn:
    """A built-in policy as a callable on a batch; row i draws from the generator of (seed, i)."""

    kind: int

    def __init__(self, seed: int = 0) -> None:
        self.seed = int(as_seed(seed))
        self._rng_states: dict[str, Any] = {}  # by device, uint64 (rows, 4)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return one legal action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError, IndexError: for rows that are named twice or do not exist.
            RuntimeError: before the batch's first reset.
        """
        require_reset(batch.dealt, "a policy")
        rows = batch.chosen(rows, "asked")
        held = self._rng_states.get(batch.device)
        if held is None or held.shape[0] < batch.num_envs:
            held = batch.target.generators(batch.num_envs, self.seed)
        held = self._rng_states[batch.device] = batch.target.put(held)
        return batch.target.choose(self.kind, batch.rows, rows, held)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: a GPU's generators as arrays of NumPy, which the next call puts back."""
        held = {
            device: array.copy_to_host() if hasattr(array, "copy_to_host") else array
            for device, array in self._rng_states.items()
        }
        return vars(self) | {"_rng_states": held}


class RandomPolicy(_BuiltIn):
    """Every legal action equally likely."""

    kind = RANDOM


class GreedyPolicy(_BuiltIn):
    """See `garden_core.choices.greedy_action`."""

    kind = GREEDY


def policy_name(policy: Policy) -> str:
    """Return what messages call a policy: the name of its function or class."""
    return getattr(policy, "__qualname__", None) or type(policy).__qualname__


def ask(
    policy: Policy, batch: Batch, rows: np.ndarray, name: str | None = None, may_forfeit: bool = False
) -> np.ndarray:
    """Return a policy's choice for the player to move in each of `rows`, int64 (len(rows),), after checking it.

    Args:
        name: what messages call it; by itself `policy_name(policy)`.
        may_forfeit: whether the policy may answer FORFEIT.

    Raises:
        ValueError: if the answer is not one legal action for each row, whole numbers (len(rows),); it names the
            policy. What the policy itself raises is passed on.
    """
    answer = policy(batch, rows)
    try:
        return check_answer(answer, batch, rows, may_forfeit)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name or policy_name(policy)}: {error}") from None


def check_answer(answer: Any, batch: Batch, rows: np.ndarray, may_forfeit: bool = False) -> np.ndarray:
    """Return what a policy has answered as int64 (len(rows),).

    Raises:
        ValueError: if it is not one legal action for each row, or FORFEIT where the policy may.
    """
    target = batch.target
    answer, rows = target.array(answer), target.host(rows)
    acting = np.flatnonzero(target.to_numpy(answer) != FORFEIT) if may_forfeit else None
    return batch.check_actions(answer, rows, acting)
