"""The network for games without a board: two hidden layers, shared by the policy head and the value head."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_agents.networks.network import Multiply, Network, cut, dense, dense_gradient, orthogonal

__all__ = ["FlatNetwork"]


class _Hidden(NamedTuple):
    """The hidden layers, float32 (rows, hidden), or the loss's derivatives by them."""

    first: np.ndarray
    second: np.ndarray

    def rows(self, n: int) -> _Hidden:
        """Return the first n rows."""
        return _Hidden(*(part[:n] for part in self))


class FlatNetwork(Network):
    """Reads the observation as a vector.

    Args:
        size: length of the observation.
        num_actions, num_values: see `Network`.
        hidden: width of the hidden layers.
    """

    chunk = 512

    def __init__(self, size: int, num_actions: int, num_values: int, hidden: int) -> None:
        layers = {
            "first": (hidden, size),
            "second": (hidden, hidden),
            "logits": (num_actions, hidden),
            "values": (num_values, hidden),
        }
        super().__init__(layers, num_actions, num_values)
        self.hidden = hidden

    def initialize(self, rng: np.random.Generator) -> None:
        for name, gain in (
            ("first", math.sqrt(2)),
            ("second", math.sqrt(2)),
            ("logits", 0.01),
            ("values", 1.0),
        ):
            weight = self.weights[f"{name}.weight"]
            weight[:] = orthogonal(rng, weight.shape, gain)

    def inputs(self, observation: np.ndarray) -> tuple[np.ndarray, ...]:
        return (observation.reshape(len(observation), -1).astype(np.float32),)

    def memory(self, rows: int) -> _Hidden:
        return _Hidden(*(np.empty((rows, self.hidden), np.float32) for _ in _Hidden._fields))

    scratch = memory

    def forward(
        self,
        memory: _Hidden,
        inputs: tuple[np.ndarray, ...],
        logits: np.ndarray,
        values: np.ndarray,
        multiply: Multiply,
    ) -> None:
        (x,) = inputs
        w, m = self.weights, memory.rows(len(x))
        first = dense(x, w, "first", m.first, multiply, relu=True)
        second = dense(first, w, "second", m.second, multiply, relu=True)
        dense(second, w, "logits", logits, multiply)
        dense(second, w, "values", values, multiply)

    def backward(
        self,
        memory: _Hidden,
        scratch: _Hidden,
        inputs: tuple[np.ndarray, ...],
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
        multiply: Multiply,
    ) -> None:
        (x,) = inputs
        w, m, d = self.weights, memory.rows(len(x)), scratch.rows(len(x))
        dense_gradient(m.second, d_logits, "logits", gradient, multiply)
        dense_gradient(m.second, d_values, "values", gradient, multiply)
        d_second = multiply(d_logits, w["logits.weight"], d.second)
        multiply(d_values, w["values.weight"], d_second, add=True)
        cut(d_second, m.second)
        dense_gradient(m.first, d_second, "second", gradient, multiply)
        d_first = multiply(d_second, w["second.weight"], d.first)
        cut(d_first, m.first)
        dense_gradient(x, d_first, "first", gradient, multiply)
