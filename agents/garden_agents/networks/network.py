"""Policy and value networks in NumPy: weights, forward pass, gradient. Playing with one does not need torch."""

from __future__ import annotations

import copy
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import Any, Self

import numpy as np

from garden_core.jit import compiled

Inputs = tuple[np.ndarray, ...]
"""Inputs of a network's first layers, float32 arrays (N, ...)."""


class Network(ABC):
    """A network with a policy head and a value head.

    Attributes:
        layers: width and number of inputs of each layer, by name. A layer has the weights NAME.weight, (width, inputs),
            and NAME.bias, (width,), unless `without_bias` names it.
        num_actions: number of logits.
        num_values: number of raw values.
        chunk: number of rows per forward pass, small enough that their activations stay in a core's cache.
    """

    chunk = 128
    without_bias: tuple[str, ...] = ()

    def __init__(self, layers: Mapping[str, tuple[int, int]], num_actions: int, num_values: int) -> None:
        self.layers = dict(layers)
        self.num_actions, self.num_values = num_actions, num_values

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the weights by name."""
        found: dict[str, tuple[int, ...]] = {}
        for name, shape in self.layers.items():
            found[f"{name}.weight"] = shape
            if name not in self.without_bias:
                found[f"{name}.bias"] = shape[:1]
        return found

    @cached_property
    def parameters(self) -> np.ndarray:
        """All weights in one vector, float32; zeros until `initialize`."""
        return np.zeros(sum(map(math.prod, self.shapes.values())), np.float32)

    @cached_property
    def weights(self) -> dict[str, np.ndarray]:
        """The weights by name, views of `parameters`."""
        return self.views(self.parameters)

    def views(self, parameters: np.ndarray) -> dict[str, np.ndarray]:
        """Return the parts of a vector like `parameters`, by name, without copying."""
        parts, start = {}, 0
        for name, shape in self.shapes.items():
            end = start + math.prod(shape)
            parts[name] = parameters[start:end].reshape(shape)
            start = end
        return parts

    def copy(self, weights: Mapping[str, np.ndarray] | None = None) -> Self:
        """Return a network of the same architecture with its own memory.

        Args:
            weights: the copy's weights by name; this network's weights if None.
        """
        other = copy.copy(self)
        for name in ("parameters", "weights"):
            other.__dict__.pop(name, None)  # views of this network's memory
        other.set_weights(self.weights if weights is None else weights)
        return other

    def set_weights(self, weights: Mapping[str, np.ndarray]) -> None:
        """Copy the given weights into this network, by name."""
        for name, array in weights.items():
            self.weights[name][:] = array

    def initialize(self, rng: np.random.Generator) -> None:
        """Draw random weights; the initial policy is close to uniform."""
        for name in self.layers:
            weight = self.weights[f"{name}.weight"]
            gain = 0.01 if "logits" in name else 1.0 if name == "values" else math.sqrt(2)
            weight[:] = orthogonal(rng, weight.shape, gain)

    @abstractmethod
    def inputs(self, observation: np.ndarray) -> Inputs:
        """Return the inputs of the first layers for observations int8 (N, ...)."""

    @abstractmethod
    def memory(self, rows: int) -> Any:
        """Return memory for the activations of up to `rows` rows, or for the derivatives, which `backward` overwrites."""

    @abstractmethod
    def forward(self, memory: Any, inputs: Inputs, logits: np.ndarray, values: np.ndarray) -> None:
        """Fill `logits`, float32 (n, num_actions), of legal and illegal actions, and `values`, float32 (n, num_values).

        Stores in `memory` the activations for `backward`.
        """

    @abstractmethod
    def backward(
        self,
        memory: Any,
        scratch: Any,
        inputs: Inputs,
        d_logits: np.ndarray,
        d_values: np.ndarray,
        gradient: dict[str, np.ndarray],
    ) -> None:
        """Add the gradient of a loss to `gradient`, arrays by name like `weights`.

        Args:
            memory: the activations that `forward` stored.
            scratch: another `memory`, overwritten.
            inputs: the inputs of the pass.
            d_logits, d_values: derivatives of the loss by the logits and the values.
            gradient: the sums to add to.
        """

    def evaluate(self, observation: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return logits, float32 (N, num_actions), and raw values, float32 (N, num_values)."""
        n = len(observation)
        logits = np.empty((n, self.num_actions), np.float32)
        values = np.empty((n, self.num_values), np.float32)
        memory = self.memory(min(n, self.chunk))
        for start in range(0, n, self.chunk):
            part = slice(start, start + self.chunk)
            with np.errstate(over="ignore", invalid="ignore"):  # callers check that the results are finite
                self.forward(memory, self.inputs(observation[part]), logits[part], values[part])
        return logits, values


def dense(
    x: np.ndarray,
    weights: Mapping[str, np.ndarray],
    name: str,
    out: np.ndarray,
    relu: bool = False,
) -> np.ndarray:
    """Fill `out`, float32 (n, width), with layer `name` applied to `x`, float32 (n, inputs); return it.

    Args:
        x, weights, name, out: the input, all weights, the layer, its output.
        relu: replace negative outputs by 0.
    """
    np.matmul(x, weights[f"{name}.weight"].T, out)
    add_bias(out, weights[f"{name}.bias"], np.float32(0 if relu else -np.inf), out)
    return out


def dense_gradient(x: np.ndarray, d_out: np.ndarray, name: str, gradient: dict[str, np.ndarray]) -> None:
    """Add the gradient of layer `name` with input `x`, given the derivative of the loss by its output."""
    gradient[f"{name}.weight"] += d_out.T @ x
    add_rows(d_out, gradient[f"{name}.bias"])


@compiled
def add_bias(x, bias, lowest, out):
    """Fill `out` with max(x + bias, lowest); `x` and `out` are float32 (n, m), `bias` is float32 (m,)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            out[i, k] = max(x[i, k] + bias[k], lowest)


@compiled
def add_rows(x, total):
    """Add all rows of `x`, float32 (n, m), to `total`, float32 (m,)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            total[k] += x[i, k]


@compiled
def relu_backward(d, x):
    """Set the derivative `d` to 0 where `x`, the output of a relu, is 0; both are float32 (n, m)."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            d[i, k] = d[i, k] if x[i, k] > 0 else np.float32(0)


@compiled
def find_columns(x, found):
    """Set `found`, uint8 (m,), to 1 for the columns of `x`, float32 (n, m), with an entry that is not 0."""
    for i in range(x.shape[0]):
        for k in range(x.shape[1]):
            found[k] |= x[i, k] != 0


def orthogonal(rng: np.random.Generator, shape: tuple[int, ...], gain: float) -> np.ndarray:
    """Return random weights, float32, with orthogonal rows or columns (A. Saxe et al., 2014)."""
    rows, columns = shape
    q, r = np.linalg.qr(rng.standard_normal((max(shape), min(shape))))
    q *= np.sign(np.diag(r))
    return (gain * (q if rows >= columns else q.T)).astype(np.float32)
