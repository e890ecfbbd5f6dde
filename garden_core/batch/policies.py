"""Policies for batches: `RandomPolicy`, `GreedyPolicy`, and functions that call a policy and check its answer.

A policy is any callable `policy(batch, rows) -> actions`: it reads the `garden_core.Batch` (`observation[rows]`,
`action_mask[rows]`, `states[rows]`, …) and returns one legal action for the player to move in each of `rows`. In a row whose
game is over there is none: policies raise the ValueError of `Batch.asked`.
`RandomPolicy` and `GreedyPolicy` are such callables; as opponents of a learner, "random" and "greedy" run in compiled code.

A policy that draws random numbers can have a method `reseed(rows, seeds)`, which seeds the rows, int (n,), again, each
from a uint64, as `Streams.reseed` does. A learner's `reset(seed)` calls it.

A policy can have a method `with_probabilities(batch, rows) -> (actions, probabilities)`: the actions of a call, and the
probability of each when it was chosen, floats (len(rows),), NaN where unknown. `garden record --probabilities` calls it.

A policy that reads `Batch.history` can have `needs_history = True`: matches and play then keep the decisions of each game.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from garden_core.batch import choices
from garden_core.batch.batch import Batch
from garden_core.batch.choices import BUILT_IN, GREEDY, RANDOM
from garden_core.checks import as_seed
from garden_core.jit.rng import seed_streams

FORFEIT = choices.FORFEIT
"""In place of an action: the policy gives up this game, in matches, the arena and play."""
_NO_STREAMS = np.zeros((0, 4), np.uint64)

Policy = Callable[[Batch, np.ndarray], np.ndarray]

SEARCH_STREAM, NETWORK_STREAM, SHARE_STREAM = (len(BUILT_IN) + k for k in range(3))
"""Purposes of streams, numbered after the built-in policies."""


class Streams:
    """A policy's random generators, one per row of a batch, independent of all games and of other purposes.

    Args:
        purpose: RANDOM, GREEDY, SEARCH_STREAM, NETWORK_STREAM or SHARE_STREAM.
        seed: the policy's seed.
    """

    def __init__(self, purpose: int, seed: int) -> None:
        self.purpose, self.seed = purpose, seed
        self._by_device: dict[str, Any] = {}  # uint64 (rows, 4)

    def on(self, batch: Batch) -> Any:
        """Return the generators, uint64 (at least batch.num_envs, 4), on the batch's device."""
        target = batch.target
        states = self._by_device.get(batch.device, _NO_STREAMS)
        if states.shape[0] < batch.num_envs:
            states = self._grown(target.to_numpy(states), batch.num_envs)
        states = self._by_device[batch.device] = target.put(states)
        return states

    def reseed(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """Seed the generators of `rows` (indexes) again on the CPU, from the policy's seed and a uint64 per row."""
        states = self._grown(self._by_device.get("cpu", _NO_STREAMS), int(rows.max(initial=-1)) + 1)
        self._by_device["cpu"] = states
        self._seed(states, rows, seeds)

    def _grown(self, states: np.ndarray, n: int) -> np.ndarray:
        """Return at least `n` generators, the first of which are copies of `states`."""
        new = np.arange(len(states), n)
        grown = np.concatenate([states, np.zeros((len(new), 4), np.uint64)])
        self._seed(grown, new, new.astype(np.uint64))
        return grown

    def _seed(self, states: np.ndarray, rows: np.ndarray, numbers: np.ndarray) -> None:
        seed_streams(states, rows, np.uint64(self.purpose), np.uint64(self.seed), numbers)

    def __getstate__(self) -> dict[str, Any]:
        """Copy and pickle a GPU's generators as NumPy arrays, which the next call puts on the GPU again."""
        states = {
            device: array.copy_to_host() if hasattr(array, "copy_to_host") else array
            for device, array in self._by_device.items()
        }
        return vars(self) | {"_by_device": states}


class Reseedable:
    """Base of policies whose random generators can be reseeded."""

    _streams: Streams

    def reseed(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See `Streams.reseed`."""
        self._streams.reseed(rows, seeds)


class _BuiltIn(Reseedable):
    """A built-in policy as a callable on a batch; each row has its own generator."""

    kind: int

    def __init__(self, seed: int = 0) -> None:
        self.seed = int(as_seed(seed))
        self._streams = Streams(self.kind, self.seed)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return one legal action, int64 (len(rows),), for the player to move in each of `rows`.

        Raises:
            ValueError, IndexError, RuntimeError: as `Batch.asked`.
        """
        rows = batch.asked(rows, any_variant=True)
        return batch.target.choose(self.kind, batch.rows, rows, self._streams.on(batch))


class RandomPolicy(_BuiltIn):
    """Chooses uniformly among the legal actions.

    Example:
        >>> from garden_core import Batch, RandomPolicy
        >>> batch, policy = Batch("mars", num_envs=4), RandomPolicy(seed=1)
        >>> batch.reset(seed=1)
        >>> batch.step(policy(batch, batch.all_rows))
    """

    kind = RANDOM

    def with_probabilities(self, batch: Batch, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return actions as a call does, and the probability of each, float32 (len(rows),)."""
        legal = batch.target.to_numpy(batch.action_mask)[batch.target.to_numpy(rows)].sum(1)
        return self(batch, rows), 1 / legal.astype(np.float32)


class GreedyPolicy(_BuiltIn):
    """Chooses as `garden_core.batch.choices.greedy_action`.

    Example:
        >>> from garden_core import Batch, GreedyPolicy
        >>> batch, policy = Batch("mars", num_envs=4), GreedyPolicy(seed=1)
        >>> batch.reset(seed=1)
        >>> batch.step(policy(batch, batch.all_rows))
    """

    kind = GREEDY


def policy_name(policy: Policy) -> str:
    """Return a policy's name for messages: that of its function or class."""
    return getattr(policy, "__qualname__", None) or type(policy).__qualname__


def ask(
    policy: Policy, batch: Batch, rows: np.ndarray, name: str | None = None, may_forfeit: bool = False
) -> np.ndarray:
    """Return a policy's action for the player to move in each of `rows`, int64 (len(rows),), after checking it.

    Args:
        name: the policy's name for messages; by default `policy_name(policy)`.
        may_forfeit: whether the policy can answer FORFEIT.

    Raises:
        ValueError: if the answer is not one legal action per row, integers (len(rows),); it names the policy. The policy's
            own errors are passed on.
    """
    answer = policy(batch, rows)
    try:
        return check_answer(answer, batch, rows, may_forfeit)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name or policy_name(policy)}: {error}") from None


def check_answer(answer: Any, batch: Batch, rows: np.ndarray, may_forfeit: bool = False) -> np.ndarray:
    """Return the answer of a policy as int64 (len(rows),), after checking it.

    Raises:
        ValueError: if it is not one legal action per row, or FORFEIT where that is allowed.
    """
    target = batch.target
    answer, rows = target.put(answer), target.to_numpy(rows)
    acting = np.flatnonzero(target.to_numpy(answer) != FORFEIT) if may_forfeit else None
    return batch.check_actions(answer, rows, acting)
