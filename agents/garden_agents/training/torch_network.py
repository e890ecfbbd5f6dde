"""A network as torch sees it: on the CPU by `Network`'s own passes in chunks, elsewhere by torch's operations."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.network import CHUNK, Network

__all__ = ["TorchNetwork", "formula"]


class TorchNetwork:
    """A network whose outputs torch can differentiate.

    Args:
        network: the network; on the CPU its weights are the memory of `parameters`.
        device: "cpu" or "cuda".
        threads: threads that share the rows of a pass on the CPU.

    Attributes:
        parameters: all weights as one torch parameter.
    """

    def __init__(self, network: Network, device: str = "cpu", threads: int = 1) -> None:
        self.network, self.device = network, torch.device(device)
        self.parameters = torch.nn.Parameter(torch.from_numpy(network.parameters).to(self.device))
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads) if threads > 1 else None
        self._memories: list[Any] = []

    def __call__(self, inputs: tuple[np.ndarray, ...]) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits, float32 (N, num_actions), and raw values, float32 (N, num_values)."""
        if self.device.type == "cpu":
            return _Pass.apply(self.parameters, self, inputs)
        on_device = tuple(torch.from_numpy(part).to(self.device) for part in inputs)
        return formula(self.network, self.parameters, on_device)

    def forward(self, inputs: tuple[np.ndarray, ...], logits: np.ndarray, values: np.ndarray) -> None:
        """Fill `logits` and `values`, in chunks of rows; keeps what `backward` needs until the next call."""
        chunks = list(range(0, len(logits), CHUNK))
        while len(self._memories) < len(chunks):
            memory = self.network.memory(CHUNK)
            if self._memories:  # derivatives share memory
                memory = memory._replace(**{name: getattr(self._memories[len(self._memories) % self.threads], name) for name in memory._fields if name.startswith("d_")}) if len(self._memories) >= self.threads else memory
            self._memories.append(memory)

        def run(i: int) -> None:
            part = slice(chunks[i], chunks[i] + CHUNK)
            own = tuple(array[part] for array in inputs)
            self.network.forward(self._memories[i], own, logits[part], values[part], _multiply)

        self._map(run, len(chunks))

    def backward(self, inputs: tuple[np.ndarray, ...], d_logits: np.ndarray, d_values: np.ndarray) -> np.ndarray:
        """Return the gradient, float32 like the network's `parameters`, after `forward` with the same inputs."""
        chunks = list(range(0, len(d_logits), CHUNK))
        gradients = np.zeros((len(chunks), self.network.parameters.size), np.float32)

        def run(i: int) -> None:
            part = slice(chunks[i], chunks[i] + CHUNK)
            own = tuple(array[part] for array in inputs)
            views = self.network.views(gradients[i])
            self.network.backward(self._memories[i], own, d_logits[part], d_values[part], views, _multiply)

        self._map(run, len(chunks))
        return gradients.sum(0)

    def _map(self, run: Any, count: int) -> None:
        if self._pool is None:
            for i in range(count):
                run(i)
        else:
            list(self._pool.map(run, range(count)))


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
