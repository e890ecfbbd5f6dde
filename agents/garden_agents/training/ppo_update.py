"""PPO's update of a network by a rollout: the loss, compiled for arrays and in torch for tensors, and the optimizer's steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch

from garden_agents.networks.tensors import ILLEGAL
from garden_agents.training.credit import Rollout
from garden_agents.training.loss import NAMES, policy_loss, seat_loss, team_loss
from garden_agents.training.ppo_arguments import CLIP, MAX_GRADIENT, VALUE_WEIGHT, Arguments
from garden_agents.training.torch_network import Loss, TorchNetwork, clip, value_loss
from garden_core.game import Game


class Schedule(NamedTuple):
    """What changes in the course of a training.

    Attributes:
        outcome: share of the first place in what is maximised, 0 to 1; the rest is the margin.
        entropy: weight of the entropy bonus.
        imitation: weight of imitating greedy play, 0 to 1; that of PPO's loss is the rest.
        learning_rate: Adam's.
    """

    outcome: float
    entropy: float
    imitation: float
    learning_rate: float


class Weights(NamedTuple):
    """Numbers of the loss: whether the policy is learned, 0 or 1, and see `Schedule`."""

    policy: float
    entropy: float
    imitation: float


class Minibatch(NamedTuple):
    """What the loss needs of decisions, arrays or tensors; see `Decisions`.

    Attributes:
        advantages: float32 (N,).
        targets: float32 (N, columns), of the values.
        counted: float32 (N,).
    """

    masks: Any
    actions: Any
    log_probabilities: Any
    greedy: Any
    advantages: Any
    targets: Any
    counted: Any


class Update:
    """Updates of a network by rollouts.

    Args:
        game: the game with the reward "margin".
        network: the network.
        arguments: the training's arguments.

    Attributes:
        optimizer: Adam.
        rng: shuffles the decisions.
    """

    def __init__(self, game: Game, network: TorchNetwork, arguments: Arguments) -> None:
        self.game, self.network, self.arguments = game, network, arguments
        self.optimizer = torch.optim.Adam([network.parameters], arguments.learning_rates[0], fused=True)
        self.rng = np.random.default_rng(arguments.seed)

    def __call__(self, rollout: Rollout, schedule: Schedule, check: Callable[[], object]) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses, by `loss.NAMES`.

        Args:
            rollout: the decisions.
            schedule: the settings as they are now.
            check: called after each step of the optimizer; it may raise.
        """
        a, by_torch = self.arguments, self.network.by_torch
        chosen = rollout.chosen
        about = _about(rollout, self._advantages(rollout, schedule.outcome))
        for group in self.optimizer.param_groups:
            group["lr"] = schedule.learning_rate
        weights = Weights(not a.values_only, schedule.entropy, schedule.imitation)
        sums = np.zeros(len(NAMES))
        parts = max(1, round(len(chosen) / a.minibatch))
        for _ in range(a.epochs):
            for rows in np.array_split(self.rng.permutation(len(chosen)), parts):
                self._step(
                    rollout, about, chosen[torch.from_numpy(rows) if by_torch else rows], weights, sums
                )
                check()
        losses = dict(zip(NAMES, (sums / (a.epochs * len(chosen))).tolist(), strict=True))
        if a.values_only:
            losses |= {name: math.nan for name in NAMES if name != "value_loss"}
        return losses

    def compile(self, rollout: Rollout) -> None:
        """Compile what an update needs; nothing is learned."""
        if not self.network.by_torch and len(rollout.advantages):
            about = _about(rollout, rollout.advantages[:, 0])
            loss = compiled_loss(about, Weights(1.0, 0.0, 0.0), 1)
            self.network.gradient(rollout.inputs, np.arange(1), loss, np.zeros(len(NAMES)))

    def _advantages(self, rollout: Rollout, share: float) -> Any:
        """Return the advantages of all decisions, those to learn from with mean 0 and deviation 1."""
        n, chosen, found = self.game.num_players, rollout.chosen, rollout.advantages
        if self.game.cooperative:
            advantage = found[:, 0]
        else:  # the first place on the scale of `heads.expected_values`
            advantage = share * n / (n - 1) * found[:, 0] + (1 - share) * found[:, n]
        mean = advantage[chosen].mean()
        spread = ((advantage[chosen] - mean) ** 2).mean() ** 0.5
        return (advantage - mean) / (spread + 1e-8)

    def _step(
        self, rollout: Rollout, about: Minibatch, rows: Any, weights: Weights, sums: np.ndarray
    ) -> None:
        """Take one step of the optimizer by the decisions `rows`; add their losses to `sums`."""
        network = self.network
        if not network.by_torch:
            loss = compiled_loss(about, weights, len(rows))
            network.parameters.grad = clip(network.gradient(rollout.inputs, rows, loss, sums), MAX_GRADIENT)
        else:
            self.optimizer.zero_grad()
            chosen = Minibatch(*(tensor[rows] for tensor in about))
            mean, means = torch_loss(*network(tuple(part[rows] for part in rollout.inputs)), chosen, weights)
            mean.backward()
            torch.nn.utils.clip_grad_norm_([network.parameters], MAX_GRADIENT)
            sums += means.cpu().numpy() * len(rows)
        self.optimizer.step()


def _about(rollout: Rollout, advantages: Any) -> Minibatch:
    """Return what the loss needs of all decisions of a rollout."""
    d = rollout.decisions
    return Minibatch(d.masks, d.actions, d.log_probabilities, d.greedy, advantages, d.targets, d.counted)


def compiled_loss(about: Minibatch, weights: Weights, size: int) -> Loss:
    """Return PPO's loss as a mean over `size` of the decisions in `about`, arrays; it logs `loss.NAMES`."""
    policy, entropy, imitation = weights
    on_values = team_loss if about.targets.shape[1] == 1 else seat_loss

    def loss(
        rows: np.ndarray,
        logits: np.ndarray,
        raw: np.ndarray,
        d_logits: np.ndarray,
        d_raw: np.ndarray,
        sums: np.ndarray,
    ) -> None:
        if policy:
            policy_loss(logits, rows, *about[:5], CLIP, entropy, imitation, size, d_logits, sums)
        else:
            d_logits[:] = 0
        on_values(raw, rows, about.targets, about.counted, VALUE_WEIGHT, size, d_raw, sums)

    return loss


def torch_loss(
    logits: torch.Tensor, raw: torch.Tensor, about: Minibatch, weights: Weights
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return PPO's loss in torch, and the means that are logged, (5,), in the order of `loss.NAMES`."""
    policy, entropy_weight, imitation = weights
    logs = logits.masked_fill(about.masks == 0, ILLEGAL).log_softmax(1)
    change = logs.gather(1, about.actions[:, None])[:, 0] - about.log_probabilities
    ratio = change.exp()
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    policy_loss = -torch.minimum(ratio * about.advantages, clipped * about.advantages).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    copied = -logs.gather(1, about.greedy[:, None]).mean()
    on_values = value_loss(raw, about.targets, about.counted)
    on_policy = (1 - imitation) * (policy_loss - entropy_weight * entropy)
    loss = policy * (on_policy + imitation * copied) + VALUE_WEIGHT * on_values
    outside = ((ratio - 1).abs() > CLIP).float().mean()
    return loss, torch.stack((policy_loss, on_values, entropy, -change.mean(), outside)).detach()
