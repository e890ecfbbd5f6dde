"""The project's networks as a policy for sb3-contrib's MaskablePPO: one vector of weights, passes by torch's operations."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from garden_agents.networks.network import Network
from garden_agents.networks.tensors import ILLEGAL, forward, inputs

_LOWEST = -1e7  # lowest logit of a legal action; lower ones are clamped, so that legal stays above illegal


class NetworkPolicy(MaskableActorCriticPolicy):
    """A policy in training that is a network of this project; masks are applied once, where sb3-contrib does it three times.

    Args:
        network: the network to train; its one value predicts the reward.

    Attributes:
        weights: all weights in one vector, float32, which shares the memory of `Network.parameters`.
    """

    def __init__(self, *args: Any, network: Network, **kwargs: Any) -> None:
        self.network = network
        super().__init__(*args, net_arch=[], **kwargs)

    def _build(self, lr_schedule: Any) -> None:
        self.weights = nn.Parameter(torch.from_numpy(self.network.parameters))
        self.optimizer = self.optimizer_class([self.weights], lr=lr_schedule(1), **self.optimizer_kwargs)

    def logits_and_values(
        self, observation: torch.Tensor, mask: np.ndarray | torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (N, num_actions), very low where `mask` is 0, and values (N, 1)."""
        seen = inputs(self.network, observation.flatten(1).to(torch.int8))
        logits, values = forward(self.network, self.weights, seen)
        if mask is not None:
            legal = torch.as_tensor(mask, device=logits.device) != 0
            logits = logits.clamp(min=_LOWEST).masked_fill(~legal, ILLEGAL)
        return logits, values

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return sampled actions, values and the actions' log probabilities."""
        logits, values = self.logits_and_values(obs, action_masks)
        actions = _sample(logits)
        return actions, values, _chosen(logits.log_softmax(1), actions)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return values, the actions' log probabilities and the distribution's entropy."""
        logits, values = self.logits_and_values(obs, action_masks)
        log_probabilities = logits.log_softmax(1)
        entropy = -(logits.softmax(1) * log_probabilities).sum(1)
        return values, _chosen(log_probabilities, actions), entropy

    def predict_values(self, obs: torch.Tensor) -> torch.Tensor:
        """Return values (N, 1)."""
        return self.logits_and_values(obs, None)[1]


def _sample(logits: torch.Tensor) -> torch.Tensor:
    """Draw an action from each row of masked logits (by adding Gumbel noise), int64 (N,)."""
    uniform = torch.rand(logits.shape)
    uniform.clamp_(min=1e-9)  # at 0 the noise is -inf, and an illegal action would win
    return (logits - (-uniform.log()).log()).argmax(1)


def _chosen(log_probabilities: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    return log_probabilities.gather(1, actions.long().view(-1, 1)).squeeze(1)
