"""A network as torch sees it: on the CPU by `Network`'s own passes in chunks, elsewhere by torch's operations."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.network import Network

__all__ = ["ILLEGAL", "TorchNetwork", "formula", "value_loss"]

ILLEGAL = -1e8  # logit of an illegal action


class TorchNetwork:
    """A network whose outputs torch can differentiate.

    Args:
        network: the network; on the CPU its weights are the memory of `parameters`.
        device: "cpu" or "cuda".
        threads: threads that share the rows of a pass on the CPU; torch's own threads should be 1 then.

    Attributes:
        parameters: all weights as one torch parameter.
    """

    def __init__(self, network: Network, device: str = "cpu", threads: int = 1) -> None:
        self.network, self.device = network, torch.device(device)
        self.parameters = torch.nn.Parameter(torch.from_numpy(network.parameters).to(self.device))
        self._executor = ThreadPoolExecutor(threads) if threads > 1 else None
        self._memories: list[Any] = []
        """Activations of each chunk."""
        self._scratch = [network.scratch(network.chunk) for _ in range(threads)]
        """Derivatives, for each thread."""

    def __call__(self, inputs: tuple[np.ndarray, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits, float32 (N, num_actions), and raw values, float32 (N, num_values)."""
        if self.device.type == "cpu":
            return _Pass.apply(self.parameters, self, inputs)
        on_device = tuple(torch.from_numpy(part).to(self.device) for part in inputs)
        return formula(self.network, self.parameters, on_device)

    def evaluate(self, inputs: tuple[np.ndarray, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Return logits and raw values as arrays, without a gradient."""
        with torch.inference_mode():
            logits, raw = self(inputs)
        return logits.cpu().numpy(), raw.cpu().numpy()

    def synchronise(self) -> None:
        """Copy the parameters to the network, where they are not its memory."""
        if self.device.type != "cpu":
            self.network.parameters[:] = self.parameters.detach().cpu().numpy()

    def take_weights(self) -> None:
        """Copy the network's parameters here, where they are not the same memory."""
        if self.device.type != "cpu":
            with torch.no_grad():
                self.parameters.copy_(torch.from_numpy(self.network.parameters))

    def forward(self, inputs: tuple[np.ndarray, ...], logits: np.ndarray, values: np.ndarray) -> None:
        """Fill `logits` and `values`; keeps the activations, for `backward`, until the next call."""
        while len(self._memories) * self.network.chunk < len(logits):
            self._memories.append(self.network.memory(self.network.chunk))

        def run(thread: int, chunk: int, rows: slice) -> None:
            own = tuple(array[rows] for array in inputs)
            self.network.forward(self._memories[chunk], own, logits[rows], values[rows], _multiply)

        self._in_chunks(len(logits), run)

    def backward(
        self, inputs: tuple[np.ndarray, ...], d_logits: np.ndarray, d_values: np.ndarray
    ) -> np.ndarray:
        """Return the gradient, float32 like the network's `parameters`, after `forward` with the same inputs."""
        gradients = np.zeros((len(self._scratch), self.network.parameters.size), np.float32)
        views = [self.network.views(gradient) for gradient in gradients]

        def run(thread: int, chunk: int, rows: slice) -> None:
            own = tuple(array[rows] for array in inputs)
            memories = self._memories[chunk], self._scratch[thread]
            self.network.backward(*memories, own, d_logits[rows], d_values[rows], views[thread], _multiply)

        self._in_chunks(len(d_logits), run)
        return gradients.sum(0)

    def _in_chunks(self, n: int, run: Callable[[int, int, slice], None]) -> None:
        """Call run(thread, chunk, rows) for all chunks of n rows; each thread takes every k-th of them."""
        threads, size = len(self._scratch), self.network.chunk

        def work(thread: int) -> None:
            for chunk in range(thread, -(-n // size), threads):
                run(thread, chunk, slice(chunk * size, (chunk + 1) * size))

        if self._executor is None:
            work(0)
        else:
            list(self._executor.map(work, range(threads)))


class _Pass(torch.autograd.Function):
    """The network's own forward pass and gradient."""

    @staticmethod
    def forward(
        ctx: Any, parameters: torch.Tensor, torch_network: TorchNetwork, inputs: tuple[np.ndarray, ...]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        network, n = torch_network.network, len(inputs[0])
        logits, values = torch.empty(n, network.num_actions), torch.empty(n, network.num_values)
        torch_network.forward(inputs, logits.numpy(), values.numpy())
        ctx.torch_network, ctx.inputs = torch_network, inputs
        return logits, values

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        d_logits, d_values = (d.contiguous().numpy() for d in d_outputs)
        return torch.from_numpy(ctx.torch_network.backward(ctx.inputs, d_logits, d_values)), None, None


def _multiply(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """Torch's product of matrices; unlike NumPy's, it keeps to `torch.set_num_threads`."""
    torch.mm(torch.from_numpy(a), torch.from_numpy(b), out=torch.from_numpy(out))


def value_loss(raw: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the mean loss of raw values, (N, columns): of a team's score, or of all seats' chances and margins.

    That is the squared error of the score; or the cross-entropy of the chances plus the mean squared error of the margins,
    as `heads.chances_and_margins` reads them.
    """
    n = raw.shape[1] // 2
    if n == 0:
        return (raw - targets).square().mean()
    margins = raw[:, n:] - raw[:, n:].mean(1, keepdim=True)
    chances = -(targets[:, :n] * raw[:, :n].log_softmax(1)).sum(1).mean()
    return chances + (margins - targets[:, n:]).square().mean()


def formula(
    network: Network, parameters: torch.Tensor, inputs: tuple[torch.Tensor, ...]
) -> tuple[torch.Tensor, torch.Tensor]:
    """The network by torch's own operations, on any device and in any precision; returns logits and raw values."""
    weights, start = {}, 0
    for name, shape in network.shapes.items():
        size = int(np.prod(shape))
        weights[name] = parameters[start : start + size].view(shape)
        start += size

    def dense(name: str, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, weights[f"{name}.weight"], weights[f"{name}.bias"])

    if not isinstance(network, BoardNetwork):
        hidden = torch.relu(dense("second", torch.relu(dense("first", inputs[0]))))
        return dense("logits", hidden), dense("values", hidden)
    features, scalars = inputs
    first = torch.relu(dense("first", features) + dense("from_scalars", scalars)[:, None])
    marked = features[:, :, list(network.board.marks)].transpose(1, 2)
    at_marks = (marked @ first).flatten(1), (marked @ features).flatten(1)
    summary = torch.cat([first.mean(1), first.amax(1), *at_marks, scalars], 1)
    whole = torch.relu(dense("whole", summary))
    second = torch.relu(dense("second", first) + dense("from_whole", whole)[:, None])
    middle = torch.relu(dense("middle", torch.cat([second.mean(1), whole], 1)))
    on_cells = dense("cell_logits", second).transpose(1, 2).flatten(1)
    return torch.cat([on_cells, dense("other_logits", whole)], 1), dense("values", middle)
