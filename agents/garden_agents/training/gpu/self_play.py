"""Self-play on a GPU, for `--device cuda`: games, network inputs, masks and sampling stay there, in tensors.

What is small, such as actions, values and rewards, is copied to the CPU, where `SelfPlay` assigns the credit.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from garden_agents.networks.network import Network
from garden_agents.networks.tensors import ILLEGAL, forward, inputs
from garden_agents.training.credit import Rollout
from garden_agents.training.pool import OpponentPool, PastSelf
from garden_agents.training.ppo_arguments import Arguments
from garden_agents.training.self_play import SelfPlay
from garden_agents.training.torch_network import TorchNetwork
from garden_core.batch.policies import Policy
from garden_core.game import Game


class TensorSelfPlay(SelfPlay):
    """`SelfPlay` on the network's device, with `inputs` and `decisions.masks` in tensors there."""

    def __init__(
        self,
        games: Sequence[Game],
        network: TorchNetwork,
        pool: OpponentPool,
        arguments: Arguments,
        seed: int,
    ) -> None:
        super().__init__(games, network, pool, arguments, seed)
        self.generator = torch.Generator(network.device).manual_seed(seed)
        self._observation, self._mask = (
            torch.as_tensor(part, device=network.device) for part in (self.batch.flat, self.batch.action_mask)
        )
        self._read: Any = functools.partial(inputs, network.network)
        if self._observation.is_cuda:
            from garden_agents.training.gpu.features import reader  # loads numba.cuda

            self._read = reader(network.network)
        self._finals = self.batch.target.zeros((arguments.envs, games[0].max_players), np.int32)
        self._parameters: dict[Policy, tuple[Network, torch.Tensor]] = {}
        """Networks of past selves, and their parameters on the device."""

        def on_device(part: Any) -> Any:
            return torch.from_numpy(part[:0]).to(network.device).new_zeros(part.shape)

        self.inputs = tuple(map(on_device, self.inputs))
        self.decisions = self.decisions._replace(masks=on_device(self.decisions.masks))

    @torch.no_grad()
    def rollout(self, with_greedy: bool) -> Rollout:
        return super().rollout(with_greedy)

    def _look(self) -> tuple[np.ndarray, np.ndarray]:
        self._seen = self._read(self._observation)
        legal = self._mask.int()
        return legal.argmax(1).cpu().numpy(), (legal.sum(1) > 1).cpu().numpy()

    def _ask(self, opponent: Policy, rows: np.ndarray) -> np.ndarray:
        if not isinstance(opponent, PastSelf):
            return super()._ask(opponent, rows)
        cached = self._parameters.get(opponent)
        if cached is None or cached[0] is not opponent.network:
            parameters = torch.from_numpy(opponent.network.parameters).to(self.network.device)
            cached = self._parameters[opponent] = opponent.network, parameters
        masks, inputs = self._in(rows)
        return self._sample(forward(*cached, inputs)[0], masks)[0]

    def _evaluate(self, rows: np.ndarray, new: slice) -> np.ndarray:
        d, (masks, inputs) = self.decisions, self._in(rows)
        for kept, part in zip((d.masks, *self.inputs), (masks, *inputs), strict=True):
            kept[new] = part
        logits, raw = self.network(inputs)
        d.actions[new], d.log_probabilities[new] = self._sample(logits, masks)
        return raw.cpu().numpy()

    def _in(self, rows: np.ndarray) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        """Return masks and network inputs in `rows`."""
        there = torch.from_numpy(rows).to(self.network.device)
        return self._mask[there], tuple(part[there] for part in self._seen)

    def _sample(self, logits: torch.Tensor, masks: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Sample legal actions; return them and their log probabilities, as `heads.sample`."""
        logs = logits.masked_fill(masks == 0, ILLEGAL).log_softmax(1)
        actions = torch.multinomial(logs.exp(), 1, generator=self.generator)
        return actions[:, 0].cpu().numpy(), logs.gather(1, actions)[:, 0].cpu().numpy()

    def _final_standings(self, rows: np.ndarray) -> np.ndarray:
        self.batch.target.standings(self.batch.last_states, self._finals)
        return self._here(self._finals)[rows]
