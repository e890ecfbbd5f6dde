"""The network for games without a board: two hidden layers, shared by the policy head and the value head."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_agents.networks.network import Multiply, Network, dense, dense_gradient, orthogonal

__all__ = ["FlatNetwork"]


class _Memory(NamedTuple):
    """Hidden layers, float32 (rows, hidden), and the loss's derivatives by them."""

    first: np.ndarray
    second: np.ndarray
    d_first: np.ndarray
    d_second: np.ndarray
    d_more: np.ndarray


class FlatNetwork(Network):
    """Reads the observation as a vector.

    Args:
        size: length of the observation.
        num_actions, num_values: see `Network`.
        hidden: width of the hidden layers.
    """

    def __init__(self, size: int, num_actions: int, num_values: int, hidden: int) -> None:
        layers = {
            "first": (hidden, size),
            "second": (hidden, hidden),
            "logits": (num_actions, hidden),
            "values": (num_values, hidden),
        }
        shapes: dict[str, tuple[int, ...]] = {}
        for name, shape in layers.items():
            shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
        super().__init__(shapes, num_actions, num_values)
        self.hidden = hidden

    def initialize(self, rng: np.random.Generator) -> None:
        for name, gain in (("first", math.sqrt(2)), ("second", math.sqrt(2)), ("logits", 0.01), ("values", 1.0)):
            weight = self.weights[f"{name}.weight"]
            weight[:] = orthogonal(rng, weight.shape, gain)

    def inputs(self, observation: np.ndarray) -> tuple[np.ndarray, ...]:
        return (observation.reshape(len(observation), -1).astype(np.float32),)

    def memory(self, rows: int) -> _Memory:
        return _Memory(*(np.empty((rows, self.hidden), np.float32) for _ in _Memory._fields))

    def forward(
        self, memory: _Memory, inputs: tuple[np.ndarray, ...], logits: np.ndarray, values: np.ndarray, multiply: Multiply
    ) -> None:
        (x,) = inputs
        w, m = self.weights, _Memory(*(part[: len(x)] for part in memory))
        first = dense(x, w, "first", m.first, multiply)
        np.maximum(first, 0, out=first)
        second = dense(first, w, "second", m.second, multiply)
        np.maximum(second, 0, out=second)
        dense(second, w, "logits", logits, multiply)
        dense(second, w, "values", values, multiply)

    def backward(
        self,
        memory: _Memory,
        inputs: tuple[np.ndarray, ...],
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
        multiply: Multiply,
    ) -> None:
        (x,) = inputs
        w, m = self.weights, _Memory(*(part[: len(x)] for part in memory))
        dense_gradient(m.second, d_logits, "logits", gradient, multiply)
        dense_gradient(m.second, d_values, "values", gradient, multiply)
        multiply(d_logits, w["logits.weight"], m.d_second)
        multiply(d_values, w["values.weight"], m.d_more)
        np.add(m.d_second, m.d_more, out=m.d_second)
        m.d_second[m.second <= 0] = 0
        dense_gradient(m.first, m.d_second, "second", gradient, multiply)
        multiply(m.d_second, w["second.weight"], m.d_first)
        m.d_first[m.first <= 0] = 0
        dense_gradient(x, m.d_first, "first", gradient, multiply)
