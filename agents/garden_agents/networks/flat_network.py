"""The network for games without a board: two hidden layers, shared by both heads or two for each."""

from __future__ import annotations

import numpy as np

from garden_agents.games import Features
from garden_agents.networks.network import (
    Inputs,
    Network,
    dense,
    dense_gradient,
    find_columns,
    relu_backward,
)

Memory = dict[str, np.ndarray]
"""Activations or derivatives of the hidden layers by name, float32 (n, hidden). `forward` adds "columns", int64 (k,), the inputs
that are not 0 in all its rows, and "x", float32 (n, k), these inputs."""


def flat_features(features: Features | None, observation: np.ndarray) -> np.ndarray:
    """Return a game's features, float32 (N, num), of observations int8 (N, size); the observations if it has none."""
    if features is None:
        return observation.astype(np.float32)
    out = np.empty((len(observation), features.num), np.float32)
    features.fill(observation, features.params, out)
    return out


class FlatNetwork(Network):
    """Reads the observation as a vector, or the game's features instead of it.

    Many entries are 0 in all rows of a pass, for example those of unused seats; the first layers are computed without them.

    Args:
        size: length of the observation.
        num_actions, num_values: see `Network`.
        hidden: width of the hidden layers.
        features: the game's features; None to read the observation.
        separate_values: give the value head its own two hidden layers.
    """

    chunk = 512

    def __init__(
        self,
        size: int,
        num_actions: int,
        num_values: int,
        hidden: int,
        features: Features | None,
        separate_values: bool,
    ) -> None:
        self.features, self.hidden = features, hidden
        size = size if features is None else features.num
        self.trunks = [("first", "second"), ("value_first", "value_second")][: 1 + separate_values]
        """Names of the hidden layers: of both heads, or of the policy head and of the value head."""
        layers: dict[str, tuple[int, int]] = {}
        for first, second in self.trunks:
            layers |= {first: (hidden, size), second: (hidden, hidden)}
        layers |= {"logits": (num_actions, hidden), "values": (num_values, hidden)}
        super().__init__(layers, num_actions, num_values)

    def inputs(self, observation: np.ndarray) -> Inputs:
        return (flat_features(self.features, observation.reshape(len(observation), -1)),)

    def memory(self, rows: int) -> Memory:
        return {name: np.empty((rows, self.hidden), np.float32) for trunk in self.trunks for name in trunk}

    def forward(self, memory: Memory, inputs: Inputs, logits: np.ndarray, values: np.ndarray) -> None:
        (x,) = inputs
        w, m = self.weights, self._rows(memory, len(x))
        columns = memory["columns"] = used_columns(x)
        if len(columns) < x.shape[1]:
            x = memory["x"] = x.take(columns, 1)
            w = w | {f"{first}.weight": w[f"{first}.weight"].take(columns, 1) for first, _ in self.trunks}
        for first, second in self.trunks:
            dense(x, w, first, m[first], relu=True)
            dense(m[first], w, second, m[second], relu=True)
        dense(m[self.trunks[0][-1]], w, "logits", logits)
        dense(m[self.trunks[-1][-1]], w, "values", values)

    def backward(
        self,
        memory: Memory,
        scratch: Memory,
        inputs: Inputs,
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
    ) -> None:
        (x,), columns = inputs, memory["columns"]
        w, m, d = self.weights, self._rows(memory, len(x)), self._rows(scratch, len(x))
        all_gradient, narrow = gradient, len(columns) < x.shape[1]
        if narrow:
            x, names = memory["x"], [f"{first}.weight" for first, _ in self.trunks]
            gradient = gradient | {name: np.zeros((self.hidden, len(columns)), np.float32) for name in names}
        read_by_policy, read_by_values = self.trunks[0][-1], self.trunks[-1][-1]
        dense_gradient(m[read_by_policy], d_logits, "logits", gradient)
        dense_gradient(m[read_by_values], d_values, "values", gradient)
        np.matmul(d_values, w["values.weight"], d[read_by_values])
        by_policy = d_logits @ w["logits.weight"]
        d[read_by_policy] = by_policy + (d[read_by_values] if read_by_policy == read_by_values else 0)
        learning = self.trunks if d_logits.any() else self.trunks[-1:]  # the values alone may learn
        for first, second in learning:
            relu_backward(d[second], m[second])
            dense_gradient(m[first], d[second], second, gradient)
            np.matmul(d[second], w[f"{second}.weight"], d[first])
            relu_backward(d[first], m[first])
            dense_gradient(x, d[first], first, gradient)
            if narrow:
                all_gradient[f"{first}.weight"][:, columns] += gradient[f"{first}.weight"]

    def _rows(self, memory: Memory, n: int) -> Memory:
        """Return the first n rows of the hidden layers."""
        return {name: memory[name][:n] for trunk in self.trunks for name in trunk}


def used_columns(x: np.ndarray) -> np.ndarray:
    """Return the columns of `x`, float32 (n, m), that are to be read: all, or those not 0 in all rows where that saves time."""
    found = np.zeros(x.shape[1], np.uint8)
    if len(x) >= 32:
        find_columns(x, found)
    used = np.flatnonzero(found)
    return used if 0 < len(used) < 0.8 * len(found) else np.arange(len(found))
