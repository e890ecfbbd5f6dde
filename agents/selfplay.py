"""Self-play: the pool of opponents that a learner meets, among them frozen copies of itself."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch

from agents.networks import sample
from garden_core.batch import Batch
from garden_core.learner import Opponent

__all__ = ["OpponentPool", "PastSelf"]


class PastSelf:
    """A frozen copy of a policy network as an opponent; all rows that ask are answered in one pass."""

    def __init__(self) -> None:
        self.policy: Any = None

    def freeze(self, policy: Any) -> None:
        """Become a copy of `policy` as it is now."""
        optimizer, policy.optimizer = policy.optimizer, None  # its moments are as large as the network
        try:
            self.policy = copy.deepcopy(policy)
        finally:
            policy.optimizer = optimizer
        self.policy.set_training_mode(False)

    @torch.inference_mode()
    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Draw an action for each of `rows`."""
        return sample(self.policy.masked_logits(batch.observation[rows], batch.action_mask[rows])).numpy()


class OpponentPool:
    """The opponents random and greedy, and the last `size` frozen selves.

    Args:
        shares: how often to draw random, greedy and a past self (any of them, equally). The share of past
            selves goes to random until there is one.
        size: number of past selves kept; the oldest makes room for the newest.
    """

    def __init__(self, shares: tuple[float, float, float], size: int) -> None:
        self.shares = shares
        self.selves = [PastSelf() for _ in range(size)]
        self.opponents: list[Opponent] = ["random", "greedy", *self.selves]
        self.names = ("random", "greedy", *["self"] * size)
        self.frozen = 0

    def freeze(self, policy: Any) -> None:
        """Add a frozen copy of `policy`."""
        if self.selves:
            self.selves[self.frozen % len(self.selves)].freeze(policy)
            self.frozen += 1

    @property
    def weights(self) -> np.ndarray:
        """How often each opponent is drawn, float (2 + size,)."""
        random, greedy, own = self.shares
        present = min(self.frozen, len(self.selves))
        weights = np.zeros(2 + len(self.selves))
        weights[:2] = random, greedy
        if present:
            weights[2 : 2 + present] = own / present
        else:
            weights[0] += own
        return weights

    def state_dict(self) -> dict[str, Any]:
        """Return the frozen networks, for a checkpoint."""
        present = self.selves[: min(self.frozen, len(self.selves))]
        return {"frozen": self.frozen, "selves": [past.policy.state_dict() for past in present]}

    def load_state_dict(self, state: dict[str, Any], policy: Any) -> None:
        """Restore the frozen networks; `policy` is a network of the same shape."""
        self.frozen = state["frozen"]
        for past, weights in zip(self.selves, state["selves"], strict=False):
            past.freeze(policy)
            past.policy.load_state_dict(weights)
