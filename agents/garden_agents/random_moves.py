"""Weaker players: an agent that plays a share of its moves at random."""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core.batch.batch import Batch
from garden_core.batch.policies import SHARE_STREAM, Policy, RandomPolicy, Reseedable, Streams
from garden_core.jit import compiled
from garden_core.jit.rng import next_float


class WithRandomMoves(Reseedable):
    """A policy that plays as another one does, but each move at random with a fixed probability.

    Args:
        policy: the other policy.
        share: the probability, 0 to 1.
        seed: seed of the random choices; row i draws from the generator of (seed, i).

    Example:
        >>> from garden_agents import load_agent
        >>> from garden_core import Batch, make
        >>> agent, batch = load_agent("greedy~0.3", make("cacti")), Batch("cacti", 2)
        >>> batch.reset(seed=1)
        >>> batch.step(agent(batch, batch.all_rows))
    """

    def __init__(self, policy: Policy, share: float, seed: int = 0) -> None:
        if not 0 <= share <= 1:
            raise ValueError(f"a share of random moves is 0 to 1, not {share}")
        self.policy, self.share = policy, share
        self.random = RandomPolicy(seed)
        self._streams = Streams(SHARE_STREAM, seed)
        self.needs_history = getattr(policy, "needs_history", False)
        network = getattr(policy, "network", None)
        self.network: Any = policy if network is None else network
        """As of a search: what `garden_agents.identity` reads."""

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action, int64 (len(rows),), for the player to move in each of `rows`; raises as the policy does."""
        rows = batch.asked(rows, any_variant=True)
        drawn = np.zeros(len(rows), np.bool_)
        draw_rows(self._streams.on(batch), rows, self.share, drawn)
        actions = np.zeros(len(rows), np.int64)
        for policy, chosen in ((self.random, drawn), (self.policy, ~drawn)):
            if chosen.any():
                actions[chosen] = policy(batch, rows[chosen])
        return actions

    def reseed(self, rows: np.ndarray, seeds: np.ndarray) -> None:
        """See `Streams.reseed`."""
        for part in (self._streams, self.random, self.policy):
            if reseed := getattr(part, "reseed", None):
                reseed(rows, seeds)


@compiled
def draw_rows(rng_states, rows, share, drawn):
    """Fill `drawn`, bool (n,), with whether the move in each of `rows` is random."""
    for i in range(rows.shape[0]):
        drawn[i] = next_float(rng_states[rows[i]]) < share
