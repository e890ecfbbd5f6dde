"""A network in training: `Network`'s own passes in chunks on the CPU, torch's operations on other devices."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import torch

from garden_agents.networks.network import Network
from garden_agents.networks.tensors import forward

Loss = Callable[[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray], None]
"""loss(rows, logits, raw, d_logits, d_raw, sums) fills the derivatives of a loss by the network's outputs in `rows`,
int64 (n,), float32 (n, num_actions) and (n, num_values), and adds metrics to `sums`, float64. Several threads may call it
at the same time."""


class TorchNetwork:
    """A network for torch's optimizers.

    Args:
        network: the network; on the CPU its weights are the memory of `parameters`.
        device: "cpu" or "cuda".
        threads: threads that share the rows of a pass on the CPU.

    Attributes:
        parameters: all weights as one torch parameter.
        by_torch: whether passes are torch's operations; otherwise the network's own.
    """

    def __init__(self, network: Network, device: str = "cpu", threads: int = 1) -> None:
        self.network, self.device, self.threads = network, torch.device(device), threads
        self.by_torch = self.device.type != "cpu"
        self.parameters = torch.nn.Parameter(torch.from_numpy(network.parameters).to(self.device))
        self._executor = ThreadPoolExecutor(threads)
        self._workers: list[_Worker] = []

    def __call__(self, inputs: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits, float32 (N, num_actions), and raw values, float32 (N, num_values), by torch's operations."""
        return forward(self.network, self.parameters, inputs)

    def evaluate(
        self, observation: np.ndarray, inputs: tuple[np.ndarray, ...]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return logits and raw values as arrays, by the network's own passes.

        Args:
            observation: int8 (N, ...).
            inputs: filled with the network's inputs, float32 (N, ...).
        """
        n, network = len(observation), self.network
        logits, raw = (
            np.empty((n, width), np.float32) for width in (network.num_actions, network.num_values)
        )

        def run(worker: _Worker, part: slice) -> None:
            own = network.inputs(observation[part])
            for array, filled in zip(inputs, own, strict=True):
                array[part] = filled
            network.forward(worker.memory, own, logits[part], raw[part])

        self._in_chunks(n, inputs, run)
        return logits, raw

    def gradient(
        self, inputs: tuple[np.ndarray, ...], rows: np.ndarray, loss: Loss, sums: np.ndarray
    ) -> np.ndarray:
        """Return the gradient of a loss over `rows`, int64 (n,), of the inputs; on the CPU.

        Returns:
            float32, like the network's `parameters`; overwritten by the next call.
        """

        def run(worker: _Worker, part: slice) -> None:
            worker.learn(inputs, rows[part], loss)

        workers = self._in_chunks(len(rows), inputs, run)
        first = workers[0]
        for other in workers[1:]:
            first.gradient += other.gradient
        for worker in workers:
            sums += worker.sums[: len(sums)]
        return first.gradient

    def synchronise(self) -> None:
        """Copy the parameters to the network if it is on another device."""
        if self.device.type != "cpu":
            self.network.parameters[:] = self.parameters.detach().cpu().numpy()

    def take_weights(self) -> None:
        """Copy the network's parameters to `parameters` if they are on another device."""
        if self.device.type != "cpu":
            with torch.no_grad():
                self.parameters.copy_(torch.from_numpy(self.network.parameters))

    def _in_chunks(
        self, n: int, inputs: tuple[np.ndarray, ...], run: Callable[[_Worker, slice], None]
    ) -> list[_Worker]:
        """Call run(worker, part) for all chunks of n rows, with one thread per worker; return the workers.

        Each thread gets at least a quarter of a chunk.
        """
        if not self._workers:
            self._workers = [_Worker(self.network, inputs) for _ in range(self.threads)]
        threads = max(1, min(self.threads, 4 * n // self.network.chunk))
        size = min(self.network.chunk, -(-n // threads))
        chunks = [slice(start, start + size) for start in range(0, n, size)]
        workers = self._workers[:threads]

        def work(k: int) -> None:
            workers[k].begin()
            for chunk in chunks[k :: len(workers)]:
                run(workers[k], chunk)

        if len(workers) == 1:
            work(0)
        else:
            list(self._executor.map(work, range(len(workers))))
        return workers


class _Worker:
    """One thread's memory: activations and derivatives of a chunk, and sums over the chunks.

    Attributes:
        gradient: float32, like the network's `parameters`.
        sums: float64 (8,), metrics of the loss.
    """

    def __init__(self, network: Network, inputs: tuple[np.ndarray, ...]) -> None:
        self.network, size = network, network.chunk
        self.memory, self.scratch = network.memory(size), network.memory(size)
        self.inputs = tuple(np.empty((size, *part.shape[1:]), np.float32) for part in inputs)
        widths = (network.num_actions, network.num_values) * 2
        self.outputs = [np.empty((size, width), np.float32) for width in widths]
        self.gradient = np.zeros_like(network.parameters)
        self.sums = np.zeros(8)
        self._views = network.views(self.gradient)

    def begin(self) -> None:
        """Set the gradient and the sums to 0."""
        self.gradient[:] = 0
        self.sums[:] = 0

    def learn(self, inputs: tuple[np.ndarray, ...], rows: np.ndarray, loss: Loss) -> None:
        """Add the gradient over `rows`, int64 (at most a chunk,), of the inputs."""
        own = tuple(part[: len(rows)] for part in self.inputs)
        for array, part in zip(inputs, own, strict=True):
            np.take(array, rows, 0, out=part, mode="clip")
        logits, raw, d_logits, d_raw = (array[: len(rows)] for array in self.outputs)
        self.network.forward(self.memory, own, logits, raw)
        loss(rows, logits, raw, d_logits, d_raw, self.sums)
        self.network.backward(self.memory, self.scratch, own, d_logits, d_raw, self._views)


def clip(gradient: np.ndarray, largest: float) -> torch.Tensor:
    """Scale the gradient, float32, in place so that its norm is at most `largest`; return it as a tensor."""
    norm = float(np.linalg.norm(gradient))
    if norm > largest:
        gradient *= np.float32(largest / norm)
    return torch.from_numpy(gradient)


def value_loss(raw: torch.Tensor, targets: torch.Tensor, counted: torch.Tensor) -> torch.Tensor:
    """Return the mean loss of raw values, (N, columns): of a team's score, or of all seats' chances and margins.

    The loss is the squared error of the score; or the cross-entropy of the chances plus the mean squared error of the margins,
    as `heads.chances_and_margins` reads them. `counted`, (N,), is 1 for rows that count, else 0.
    """
    n = raw.shape[1] // 2
    if n == 0:
        loss = (raw - targets).square()[:, 0]
    else:
        margins = raw[:, n:] - raw[:, n:].mean(1, keepdim=True)
        chances = -(targets[:, :n] * raw[:, :n].log_softmax(1)).sum(1)
        loss = chances + (margins - targets[:, n:]).square().mean(1)
    return (loss * counted).mean()
