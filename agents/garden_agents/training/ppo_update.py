"""PPO's update of a network by a rollout: the loss (compiled for arrays, in torch for tensors) and the optimizer's steps."""

from __future__ import annotations

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
    """Settings that change during a training.

    Attributes:
        outcome: share of the first place in the objective, 0 to 1; the rest is the margin.
        entropy: weight of the entropy bonus.
        imitation: weight of imitating greedy play, 0 to 1; PPO's loss has the rest.
        learning_rate: Adam's learning rate.
    """

    outcome: float
    entropy: float
    imitation: float
    learning_rate: float


class Minibatch(NamedTuple):
    """Inputs of the loss, arrays or tensors; see `Decisions`.

    Attributes:
        advantages: float32 (N,).
        targets: float32 (N, columns), value targets.
        counted: float32 (N,).
        seats: int64 (N,).
    """

    masks: Any
    actions: Any
    log_probabilities: Any
    greedy: Any
    advantages: Any
    targets: Any
    counted: Any
    seats: Any


class Update:
    """Updates of a network by rollouts.

    Args:
        game: the game with the reward "margin".
        network: the network.
        arguments: the training's arguments.
        average: replaces a gradient, float32, by the mean of those of all processes, and returns it.

    Attributes:
        optimizer: Adam.
    """

    def __init__(
        self,
        game: Game,
        network: TorchNetwork,
        arguments: Arguments,
        average: Callable[[np.ndarray], np.ndarray] = lambda gradient: gradient,
    ) -> None:
        self.game, self.network, self.arguments, self.average = game, network, arguments, average
        self.optimizer = torch.optim.Adam([network.parameters], arguments.learning_rates[0], fused=True)

    def __call__(
        self,
        rollout: Rollout,
        schedule: Schedule,
        rng: np.random.Generator,
        check: Callable[[], object],
        fewest: int,
    ) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses, by `loss.NAMES`.

        Args:
            rollout: the decisions.
            schedule: the present settings.
            rng: shuffles the decisions.
            check: called after each step of the optimizer; it may raise.
            fewest: number of decisions from which the number of minibatches follows; of several processes, the smallest.
        """
        a, chosen, sums = self.arguments, rollout.chosen, np.zeros(len(NAMES))
        inputs = minibatch_inputs(rollout, self._advantages(rollout, schedule.outcome))
        seen = rollout.inputs
        if self.network.by_torch:
            inputs, seen = Minibatch(*map(self._there, inputs)), tuple(map(self._there, seen))
        for group in self.optimizer.param_groups:
            group["lr"] = schedule.learning_rate
        parts = max(1, round(fewest / a.minibatch))
        for _ in range(a.epochs):
            for order in np.array_split(rng.permutation(len(chosen)), parts):
                self._step(seen, inputs, chosen[order], schedule, sums)
                check()
        return dict(zip(NAMES, (sums / (a.epochs * len(chosen))).tolist(), strict=True))

    def compile(self, rollout: Rollout) -> None:
        """Compile the update without learning anything."""
        if not self.network.by_torch and len(rollout.advantages):
            inputs = minibatch_inputs(rollout, rollout.advantages[:, 0])
            loss = compiled_loss(inputs, Schedule(0.0, 0.0, 0.0, 0.0), 1)
            self.network.gradient(rollout.inputs, np.arange(1), loss, np.zeros(len(NAMES)))

    def _there(self, array: Any) -> torch.Tensor:
        """Return an array or tensor as a tensor on the network's device."""
        return torch.as_tensor(array, device=self.network.device)

    def _advantages(self, rollout: Rollout, share: float) -> np.ndarray:
        """Return the advantages of all decisions, normalized over those to learn from to mean 0 and deviation 1."""
        n, chosen, columns = rollout.decisions.seats, rollout.chosen, rollout.advantages
        if self.game.cooperative:
            advantage = columns[:, 0]
        else:  # the first place on the scale of `heads.expected_values`
            advantage = share * n / (n - 1) * columns[:, 0] + (1 - share) * columns[:, columns.shape[1] // 2]
        mean = advantage[chosen].mean()
        spread = ((advantage[chosen] - mean) ** 2).mean() ** 0.5
        return (advantage - mean) / (spread + 1e-8)

    def _step(
        self,
        seen: tuple[Any, ...],
        inputs: Minibatch,
        rows: np.ndarray,
        schedule: Schedule,
        sums: np.ndarray,
    ) -> None:
        """Take one step of the optimizer by the decisions `rows`; add their losses to `sums`.

        Args:
            seen: the network's inputs, arrays; here and in `inputs` tensors if the network learns by torch.
        """
        network = self.network
        if not network.by_torch:
            loss = compiled_loss(inputs, schedule, len(rows))
            gradient = self.average(network.gradient(seen, rows, loss, sums))
            network.parameters.grad = clip(gradient, MAX_GRADIENT)
        else:
            self.optimizer.zero_grad()
            there = self._there(rows)
            chosen = Minibatch(*(tensor[there] for tensor in inputs))
            mean, means = torch_loss(*network(tuple(part[there] for part in seen)), chosen, schedule)
            mean.backward()
            torch.nn.utils.clip_grad_norm_([network.parameters], MAX_GRADIENT)
            sums += means.cpu().numpy() * len(rows)
        self.optimizer.step()


def minibatch_inputs(rollout: Rollout, advantages: Any) -> Minibatch:
    """Return the inputs of the loss for all decisions of a rollout."""
    d = rollout.decisions
    return Minibatch(
        d.masks, d.actions, d.log_probabilities, d.greedy, advantages, d.targets, d.counted, d.seats
    )


def compiled_loss(inputs: Minibatch, schedule: Schedule, size: int) -> Loss:
    """Return PPO's loss as a mean over `size` of the decisions in `inputs`, arrays; it logs `loss.NAMES`."""
    on_values = team_loss if inputs.targets.shape[1] == 1 else seat_loss

    def loss(
        rows: np.ndarray,
        logits: np.ndarray,
        raw: np.ndarray,
        d_logits: np.ndarray,
        d_raw: np.ndarray,
        sums: np.ndarray,
    ) -> None:
        weights = CLIP, schedule.entropy, schedule.imitation
        policy_loss(logits, rows, *inputs[:5], *weights, size, d_logits, sums)
        on_values(raw, rows, inputs.targets, inputs.counted, inputs.seats, VALUE_WEIGHT, size, d_raw, sums)

    return loss


def torch_loss(
    logits: torch.Tensor, raw: torch.Tensor, inputs: Minibatch, schedule: Schedule
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return PPO's loss in torch, and the means that are logged, (5,), in the order of `loss.NAMES`."""
    logs = logits.masked_fill(inputs.masks == 0, ILLEGAL).log_softmax(1)
    log_ratio = logs.gather(1, inputs.actions[:, None])[:, 0] - inputs.log_probabilities
    ratio = log_ratio.exp()
    clipped = ratio.clamp(1 - CLIP, 1 + CLIP)
    policy_loss = -torch.minimum(ratio * inputs.advantages, clipped * inputs.advantages).mean()
    entropy = -(logs.exp() * logs).sum(1).mean()
    imitation_loss = -logs.gather(1, inputs.greedy[:, None]).mean()
    on_values = value_loss(raw, inputs.targets, inputs.counted)
    on_policy = (1 - schedule.imitation) * (policy_loss - schedule.entropy * entropy)
    loss = on_policy + schedule.imitation * imitation_loss + VALUE_WEIGHT * on_values
    outside = ((ratio - 1).abs() > CLIP).float().mean()
    return loss, torch.stack((policy_loss, on_values, entropy, -log_ratio.mean(), outside)).detach()
