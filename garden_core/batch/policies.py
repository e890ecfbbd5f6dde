"""Policies for batches: `RandomPolicy`, `GreedyPolicy`, and how a policy is asked.

A policy for a batch is any callable `policy(batch, rows) -> actions`: it reads what it needs of the
`garden_core.Batch` (`observation[rows]`, `action_mask[rows]`, `states[rows]`, …) and returns one legal action
for the player to move in each of `rows`. `RandomPolicy` and `GreedyPolicy` are such callables; the learner's
interfaces know them by name and play them without leaving compiled code.

A policy that draws numbers may have a method `reseed(rows, seeds)`: start again in these rows, int (n,), from a uint64 for
each, as `Streams.reseed` does. A learner's `reset(seed)` calls it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from garden_core.batch import choices
from garden_core.batch.batch import Batch
from garden_core.batch.choices import BUILT_IN, GREEDY, RANDOM
from garden_core.checks import as_seed, require_reset
from garden_core.jit.rng import seed_streams

FORFEIT = choices.FORFEIT
"""In place of an action: the policy gives up this game, where games can be given up."""
_NO_STREAMS = np.zeros((0, 4), np.uint64)

Policy = Callable[[Batch, np.ndarray], np.ndarray]

SEARCH_STREAM, NETWORK_STREAM = len(BUILT_IN), len(BUILT_IN) + 1
"""Purposes of streams, after the kinds of the built-in policies."""


class Streams:
    """A policy's random generators: one for each row of a batch, apart from every game's and every other kind of policy's.

    Args:
        purpose: what the numbers are for: RANDOM, GREEDY, SEARCH_STREAM or NETWORK_STREAM.
        seed: the policy's seed.
    """

    def __init__(self, purpose: int, seed: int) -> None:
        self.purpose, self.seed = purpose, seed
        self._held: dict[str, Any] = {}  # by device, uint64 (rows, 4)

    def on(self, batch: Batch) -> Any:
        """Return the generators, uint64 (at least batch.num_envs, 4), in the memory of the batch's device."""
        target = batch.target
        held = self._held.get(batch.device, _NO_STREAMS)
        if held.shape[0] < batch.num_envs:
            known = held if isinstance(held, np.ndarray) else target.to_numpy(held)
            held = self._grown(known, batch.num_envs)
        held = self._held[batch.device] = target.put(held)
        return held

    def reseed(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Seed the generators of `rows` (indexes) again on a CPU, from the policy's seed and a uint64 for each row."""
        held = self._held.get("cpu", _NO_STREAMS)
        held = self._held["cpu"] = self._grown(held, int(rows.max(initial=-1)) + 1)
        self._seed(held, rows, seeds)

    def _grown(self, held: np.ndarray, n: int) -> np.ndarray:
        """Return at least `n` generators, of which `held` are the first."""
        grown = np.zeros((max(n, len(held)), 4), np.uint64)
        grown[: len(held)] = held
        new = np.arange(len(held), len(grown))
        self._seed(grown, new, new.astype(np.uint64))
        return grown

    def _seed(self, held: np.ndarray, rows: np.ndarray, numbers: np.ndarray) -> None:
        seed_streams(held, rows, np.uint64(self.purpose), np.uint64(self.seed), numbers)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: a GPU's generators as arrays of NumPy, which the next call puts back."""
        held = {
            device: array.copy_to_host() if hasattr(array, "copy_to_host") else array
            for device, array in self._held.items()
        }
        return vars(self) | {"_held": held}


class Reseedable:
    """Base of policies whose random generators can be reseeded."""

    _streams: Streams

    def reseed(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See `Streams.reseed`."""
        self._streams.reseed(rows, seeds)


class _BuiltIn(Reseedable):
    """A built-in policy as a callable on a batch; row i draws from a generator of its own."""

    kind: int

    def __init__(self, seed: int = 0) -> None:
        self.seed = int(as_seed(seed))
        self._streams = Streams(self.kind, self.seed)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return one legal action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError, IndexError: for rows that are named twice or do not exist.
            RuntimeError: before the batch's first reset.
        """
        require_reset(batch.dealt, "a policy")
        rows = batch.chosen(rows, "asked")
        return batch.target.choose(self.kind, batch.rows, rows, self._streams.on(batch))


class RandomPolicy(_BuiltIn):
    """Every legal action equally likely."""

    kind = RANDOM


class GreedyPolicy(_BuiltIn):
    """See `garden_core.batch.choices.greedy_action`."""

    kind = GREEDY


def policy_name(policy: Policy) -> str:
    """Return what messages call a policy: the name of its function or class."""
    return getattr(policy, "__qualname__", None) or type(policy).__qualname__


def ask(
    policy: Policy, batch: Batch, rows: np.ndarray, name: str | None = None, may_forfeit: bool = False
) -> np.ndarray:
    """Return a policy's choice for the player to move in each of `rows`, int64 (len(rows),), after checking it.

    Args:
        name: what messages call it; by default `policy_name(policy)`.
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
