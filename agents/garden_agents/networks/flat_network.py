"""The network for games without a board: two hidden layers, and two more for the values unless both heads share them."""

from __future__ import annotations

import numpy as np

from garden_agents.games import Features
from garden_agents.networks.network import Multiply, Network, dense, dense_gradient, relu_backward


def flat_features(features: Features | None, observation: np.ndarray) -> np.ndarray:
    """Return a game's features of observations, int8 (N, size), float32 (N, num); if it has none the observations."""
    if features is None:
        return observation.astype(np.float32)
    out = np.empty((len(observation), features.num), np.float32)
    features.fill(observation, features.params, out)
    return out


class FlatNetwork(Network):
    """Reads the observation as a vector, or the features that the game has in place of it.

    Args:
        size: length of the observation.
        num_actions, num_values: see `Network`.
        hidden: width of the hidden layers.
        features: the game's features; None for the observation.
        separate_values: whether the values are read from two hidden layers of their own.
    """

    chunk = 512

    def __init__(
        self,
        size: int,
        num_actions: int,
        num_values: int,
        hidden: int,
        features: Features | None = None,
        separate_values: bool = False,
    ) -> None:
        self.features, self.hidden = features, hidden
        size = size if features is None else features.num
        self.trunks = [("first", "second")]
        """Names of the hidden layers that each head reads: the policy head, then the value head if it has its own."""
        if separate_values:
            self.trunks.append(("value_first", "value_second"))
        layers: dict[str, tuple[int, int]] = {}
        for first, second in self.trunks:
            layers |= {first: (hidden, size), second: (hidden, hidden)}
        layers |= {"logits": (num_actions, hidden), "values": (num_values, hidden)}
        super().__init__(layers, num_actions, num_values)

    def inputs(self, observation: np.ndarray) -> tuple[np.ndarray, ...]:
        return (flat_features(self.features, observation.reshape(len(observation), -1)),)

    def memory(self, rows: int) -> dict[str, np.ndarray]:
        return {name: np.empty((rows, self.hidden), np.float32) for trunk in self.trunks for name in trunk}

    def forward(
        self,
        memory: dict[str, np.ndarray],
        inputs: tuple[np.ndarray, ...],
        logits: np.ndarray,
        values: np.ndarray,
        multiply: Multiply,
    ) -> None:
        (x,) = inputs
        w, n = self.weights, len(x)
        for first, second in self.trunks:
            dense(x, w, first, memory[first][:n], multiply, relu=True)
            dense(memory[first][:n], w, second, memory[second][:n], multiply, relu=True)
        dense(memory[self.trunks[0][-1]][:n], w, "logits", logits, multiply)
        dense(memory[self.trunks[-1][-1]][:n], w, "values", values, multiply)

    def backward(
        self,
        memory: dict[str, np.ndarray],
        scratch: dict[str, np.ndarray],
        inputs: tuple[np.ndarray, ...],
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
        multiply: Multiply,
    ) -> None:
        (x,) = inputs
        w, n = self.weights, len(x)
        m, d = ({name: array[:n] for name, array in part.items()} for part in (memory, scratch))
        read_by_policy, read_by_values = self.trunks[0][-1], self.trunks[-1][-1]
        dense_gradient(m[read_by_policy], d_logits, "logits", gradient, multiply)
        dense_gradient(m[read_by_values], d_values, "values", gradient, multiply)
        d[read_by_policy] = multiply(d_logits, w["logits.weight"], d[read_by_policy])
        shared = read_by_policy == read_by_values
        d[read_by_values] = multiply(d_values, w["values.weight"], d[read_by_values], add=shared)
        learning = self.trunks if d_logits.any() else self.trunks[-1:]  # the values alone may learn
        for first, second in learning:
            relu_backward(d[second], m[second])
            dense_gradient(m[first], d[second], second, gradient, multiply)
            d[first] = multiply(d[second], w[f"{second}.weight"], d[first])
            relu_backward(d[first], m[first])
            dense_gradient(x, d[first], first, gradient, multiply)
