"""The project's network architectures as policies for sb3-contrib's MaskablePPO, in torch's own operations.

They have the layers of `garden_agents.networks`; `exported` copies the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from gymnasium import spaces
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from torch import nn

from garden_agents.networks.architecture import Architecture, empty_network
from garden_agents.networks.board_features import SCALE, cell_features, num_cell_features
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork, flat_features
from garden_agents.networks.network import Network
from garden_core.game import Board, Features, Game

__all__ = ["BoardPolicy", "FlatPolicy", "exported", "policy_for", "set_weights"]

_ILLEGAL = torch.tensor(-1e8)  # logit of an illegal action
_LOWEST = -1e7  # lowest logit of a legal action; lower ones are clamped, so that legal stays above illegal


def policy_for(game: Game, architecture: Architecture) -> tuple[type, dict[str, Any]]:
    """Return the policy class and policy_kwargs for MaskablePPO.

    Raises:
        ValueError: as `architecture.empty_network`.
    """
    network = empty_network(game, architecture, "outcome")
    if isinstance(network, BoardNetwork):
        return BoardPolicy, {
            "board": network.board,
            "channels": architecture.channels,
            "hidden": architecture.hidden,
        }
    assert isinstance(network, FlatNetwork)
    return FlatPolicy, {
        "net_arch": [],
        "features_extractor_class": _FlatTrunk,
        "features_extractor_kwargs": {"hidden": architecture.hidden, "features": network.features},
        "share_features_extractor": not architecture.separate_values,
    }


_BOARD_NAMES = {
    **{
        name: f"features_extractor.{name}"
        for name in ("first", "from_scalars", "whole", "second", "from_whole")
    },
    "cell_logits": "action_net.cell_logits",
    "other_logits": "action_net.other_logits",
    "middle": "value_net.middle",
    "values": "value_net.value",
}
_FLAT_NAMES = {
    "first": "features_extractor.layers.1",
    "second": "features_extractor.layers.3",
    "value_first": "vf_features_extractor.layers.1",
    "value_second": "vf_features_extractor.layers.3",
    "logits": "action_net",
    "values": "value_net",
}


def _pairs(policy: torch.nn.Module, network: Network) -> list[tuple[torch.Tensor, np.ndarray]]:
    """Return each weight of a policy with the same weight of a network."""
    names = _BOARD_NAMES if isinstance(network, BoardNetwork) else _FLAT_NAMES
    state = policy.state_dict()
    return [
        (state[f"{names[layer]}.{part}"], network.weights[f"{layer}.{part}"])
        for layer in network.layers
        for part in ("weight", "bias")
    ]


def exported(policy: torch.nn.Module, game: Game, architecture: Architecture) -> Network:
    """Return the policy's present weights as a network; its value predicts what the reward pays."""
    network = empty_network(game, architecture, "outcome")
    for own, other in _pairs(policy, network):
        other[:] = own.numpy()
    return network


def set_weights(policy: torch.nn.Module, network: Network) -> None:
    """Set the policy's weights to those of a network of the same architecture, with one value."""
    for own, other in _pairs(policy, network):
        own.copy_(torch.from_numpy(other))


class _Masked(MaskableActorCriticPolicy):
    """sb3-contrib's policy with faster masking: it computes the masked distribution once, not three times."""

    def logits_and_values(
        self, observation: torch.Tensor, mask: np.ndarray | torch.Tensor | None
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (N, num_actions), very low where `mask` is 0, and values (N, 1)."""
        features: Any = self.extract_features(observation)
        for_policy, for_values = (features, features) if self.share_features_extractor else features
        latent_pi = self.mlp_extractor.forward_actor(for_policy)
        latent_vf = self.mlp_extractor.forward_critic(for_values)
        return _masked(self.action_net(latent_pi), mask), self.value_net(latent_vf)

    def forward(
        self, obs: torch.Tensor, deterministic: bool = False, action_masks: np.ndarray | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return actions, values and the actions' log probabilities."""
        logits, values = self.logits_and_values(obs, action_masks)
        actions = logits.argmax(1) if deterministic else _sample(logits)
        return actions, values, _chosen(logits.log_softmax(1), actions)

    def evaluate_actions(
        self, obs: torch.Tensor, actions: torch.Tensor, action_masks: torch.Tensor | None = None
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return values, the actions' log probabilities and the distribution's entropy."""
        logits, values = self.logits_and_values(obs, action_masks)
        log_probabilities = logits.log_softmax(1)
        entropy = -(logits.softmax(1) * log_probabilities).sum(1)
        return values, _chosen(log_probabilities, actions), entropy


def _sample(logits: torch.Tensor) -> torch.Tensor:
    """Draw an action from each row of masked logits (by adding Gumbel noise), int64 (N,)."""
    uniform = torch.rand(logits.shape)
    uniform.clamp_(min=1e-9)  # at 0 the noise is -inf, and an illegal action would win
    return (logits - (-uniform.log()).log()).argmax(1)


def _masked(logits: torch.Tensor, mask: np.ndarray | torch.Tensor | None) -> torch.Tensor:
    if mask is None:
        return logits
    return torch.where(torch.as_tensor(mask) != 0, logits.clamp(min=_LOWEST), _ILLEGAL)


def _chosen(log_probabilities: torch.Tensor, actions: torch.Tensor) -> torch.Tensor:
    return log_probabilities.gather(1, actions.long().view(-1, 1)).squeeze(1)


class _FlatTrunk(BaseFeaturesExtractor):
    def __init__(self, observation_space: spaces.Box, hidden: int, features: Features | None) -> None:
        super().__init__(observation_space, hidden)
        self.features = features
        size = int(np.prod(observation_space.shape)) if features is None else features.num
        self.layers = nn.Sequential(
            nn.Flatten(), nn.Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )

    def forward(self, observation: torch.Tensor) -> torch.Tensor:
        if self.features is not None:
            seen = observation.flatten(1).to(torch.int8).numpy()
            observation = torch.from_numpy(flat_features(self.features, seen))
        return self.layers(observation)


class FlatPolicy(_Masked):
    """Two hidden layers, shared by the policy head and the value head or two for each."""


class _Trunk(BaseFeaturesExtractor):
    """Two layers applied to every cell with the same weights, and between them a summary of the whole board.

    The first layer reads each cell's features (`cell_features`) and the scalars. The summary layer reads the mean and
    the maximum over the cells, the cells that the board's marked planes point to, and the scalars. The second layer
    reads each cell and the summary. Returns the cells, (N, cells, channels), and the summary, (N, hidden);
    Stable-Baselines3 passes both on to the two heads unchanged.
    """

    def __init__(self, observation_space: spaces.Box, board: Board, channels: int, hidden: int) -> None:
        cells = len(board.neighbours)
        super().__init__(observation_space, channels * cells + hidden)
        self.board = board
        self.split = board.planes * cells
        scalars = int(np.prod(observation_space.shape)) - self.split
        features, marks = num_cell_features(board), len(board.marks)
        self.first = nn.Linear(features, channels)
        self.from_scalars = nn.Linear(scalars, channels)
        self.whole = nn.Linear((2 + marks) * channels + marks * features + scalars, hidden)
        self.second = nn.Linear(channels, channels)
        self.from_whole = nn.Linear(hidden, channels)

    def forward(self, observation: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        scalars = observation[:, self.split :] * SCALE
        features = torch.from_numpy(cell_features(self.board, observation.to(torch.int8).numpy()))
        x = self.first(features).add_(self.from_scalars(scalars)[:, None]).relu_()
        marked = features[:, :, list(self.board.marks)].transpose(1, 2)
        at_marks = (marked @ x).flatten(1), (marked @ features).flatten(1)
        summary = [x.mean(1), x.max(1).values, *at_marks, scalars]
        whole = torch.relu(self.whole(torch.cat(summary, 1)))
        return self.second(x).add_(self.from_whole(whole)[:, None]).relu_(), whole


class _BoardActions(nn.Module):
    """Policy head: the logit of an action on a cell is read from that cell, other logits from the summary."""

    def __init__(self, board: Board, channels: int, hidden: int, num_actions: int) -> None:
        super().__init__()
        self.cell_logits = nn.Linear(channels, board.action_blocks)
        self.other_logits = nn.Linear(hidden, num_actions - board.action_blocks * len(board.neighbours))

    def forward(self, features: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        cells, whole = features
        return torch.cat([self.cell_logits(cells).transpose(1, 2).flatten(1), self.other_logits(whole)], 1)


class _BoardValue(nn.Module):
    """Value head: reads the summary and the mean over the cells."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.middle = nn.Linear(channels + hidden, hidden)
        self.value = nn.Linear(hidden, 1)

    def forward(self, features: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
        cells, whole = features
        return self.value(torch.relu(self.middle(torch.cat([cells.mean(1), whole], 1))))


class BoardPolicy(_Masked):
    """A trunk whose weights all cells share, with a policy head that reads each cell and a value head."""

    def __init__(
        self, *args: Any, board: Board, channels: int = 32, hidden: int = 128, **kwargs: Any
    ) -> None:
        self.board, self.channels, self.hidden = board, channels, hidden
        super().__init__(
            *args,
            net_arch=[],
            features_extractor_class=_Trunk,
            features_extractor_kwargs={"board": board, "channels": channels, "hidden": hidden},
            **kwargs,
        )

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        assert isinstance(self.action_space, spaces.Discrete)
        num_actions = int(self.action_space.n)
        self.action_net = _BoardActions(self.board, self.channels, self.hidden, num_actions)
        self.value_net = _BoardValue(self.channels, self.hidden)
        for name, parameter in self.action_net.named_parameters():  # the first policy is close to uniform
            if "logits" in name and parameter.dim() > 1:
                nn.init.orthogonal_(parameter, gain=0.01)
            elif "logits" in name:
                nn.init.zeros_(parameter)
        self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)

    def _get_constructor_parameters(self) -> dict[str, Any]:
        data = super()._get_constructor_parameters()
        for name in ("net_arch", "features_extractor_class", "features_extractor_kwargs"):
            data.pop(name, None)
        return data | {"board": self.board, "channels": self.channels, "hidden": self.hidden}
