"""Hidden information in training: a critic that sees everything, and a policy that also predicts the opponent's hand.

    python examples/privileged.py --critic full --predict --output both.pt
    python examples/privileged.py --critic own --no-predict --output plain.pt
    garden compare cacti "examples.privileged:make?weights=both.pt" "examples.privileged:make?weights=plain.pt"

PPO by self-play as in `ppo.py`, on Cacti. Only the policy plays, and it sees only observations. During training, the critic
may see the full state (L. Pinto et al., "Asymmetric actor critic for image-based robot learning", 2018), and a second head
of the policy learns to predict the hidden cards (M. Jaderberg et al., "Reinforcement learning with unsupervised auxiliary
tasks", 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
import tyro
from garden_agents import advantages
from torch import nn
from torch.distributions import Categorical
from torch.nn.functional import cross_entropy

from garden_core import Batch, Game
from garden_core import make as make_game

PREDICTED = ("opponent's bonus", "opponent's basic")
"""Hidden parts that are predicted; each is one-hot."""


@dataclass
class Arguments:
    """Train a network by self-play."""

    critic: Literal["own", "full"] = "full"
    """what the critic sees: the observation, or the full state"""
    predict: bool = True
    """predict the opponent's hand, too"""
    decisions: int = 4_000_000
    """decisions to learn from, of both seats together"""
    num_envs: int = 256
    steps: int = 64
    """decisions of each game between two updates"""
    learning_rate: float = 2e-3
    gae_lambda: float = 0.95
    epochs: int = 3
    minibatch: int = 2048
    clip: float = 0.2
    entropy: float = 0.01
    prediction: float = 0.1
    """weight of the prediction in the loss"""
    seed: int = 0
    output: Path | None = None
    """file for the policy's weights"""


class Policy(nn.Module):
    """Logits of the actions, and of each predicted part, from observations."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.parts = {name: game.hidden_slices[name] for name in PREDICTED}
        sizes = [part.stop - part.start for part in self.parts.values()]
        self.body = layers(game.observation_size)
        self.logits = nn.Linear(128, game.num_actions)
        self.hands = nn.ModuleList(nn.Linear(128, size) for size in sizes)

    def forward(
        self, observations: torch.Tensor, masks: torch.Tensor
    ) -> tuple[Categorical, list[torch.Tensor]]:
        body = self.body(observations.float() / 10)
        logits = self.logits(body).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), [hand(body) for hand in self.hands]

    def prediction_loss(self, hands: list[torch.Tensor], hidden: torch.Tensor) -> torch.Tensor:
        """Return the cross-entropy of the predictions, in nats; a part of which the opponent holds nothing does not count."""
        losses = []
        for hand, part in zip(hands, self.parts.values(), strict=True):
            label = hidden[:, part]
            held = label.any(1)
            losses.append(cross_entropy(hand[held], label[held].argmax(1)))
        return torch.stack(losses)


def layers(size: int) -> nn.Sequential:
    """Return two hidden layers."""
    return nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())


def seen(batch: Batch, seat: int | np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the observations and the hidden entries of a seat, or of one seat per row."""
    return torch.from_numpy(batch.observe(seat)), torch.from_numpy(batch.observe_hidden(seat))


def main(arguments: Arguments) -> Policy:
    """Train and save."""
    a = arguments
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    game = make_game("cacti")
    full = game.hidden_size if a.critic == "full" else 0
    policy = Policy(game)
    critic = nn.Sequential(layers(game.observation_size + full), nn.Linear(128, 1))
    parameters = [*policy.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, a.learning_rate, eps=1e-5)
    batch = Batch(game, a.num_envs)
    batch.reset(a.seed)

    def value(observations: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        return critic(torch.cat([observations / 10, hidden[:, :full] / 4], 1))[:, 0]

    each = a.num_envs * a.steps
    for done in range(0, a.decisions, each):
        for group in optimizer.param_groups:
            group["lr"] = a.learning_rate * (1 - done / a.decisions)
        rows = []
        with torch.no_grad():
            for _ in range(a.steps):
                players, masks = batch.current_player.copy(), torch.from_numpy(batch.action_mask.copy())
                observations, hidden = seen(batch, players)
                chances, _ = policy(observations, masks)
                actions = chances.sample()
                batch.step(actions.numpy())
                over = batch.terminated | batch.truncated
                values, logs = value(observations, hidden), chances.log_prob(actions)
                tensors = observations, hidden, masks, actions, logs, values
                rows.append((*tensors, *map(torch.from_numpy, (players, batch.rewards.copy(), over))))
            last = torch.stack([value(*seen(batch, seat)) for seat in range(game.num_players)], 1)
        *tensors, values, players, rewards, over = map(torch.stack, zip(*rows, strict=True))
        given = players, rewards, over, values, last
        found = advantages(*(tensor.numpy() for tensor in given), gae_lambda=a.gae_lambda)
        advantage, returns = (torch.from_numpy(array).flatten() for array in found)
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        flat = [tensor.flatten(0, 1) for tensor in tensors]
        for part in (p for _ in range(a.epochs) for p in torch.randperm(each).split(a.minibatch)):
            observations, hidden, masks, actions, old = (tensor[part] for tensor in flat)
            chances, hands = policy(observations, masks)
            ratio, gain = (chances.log_prob(actions) - old).exp(), advantage[part]
            loss = -torch.min(ratio * gain, ratio.clamp(1 - a.clip, 1 + a.clip) * gain).mean()
            error = (value(observations, hidden) - returns[part]).square().mean()
            loss = loss + error / 2 - a.entropy * chances.entropy().mean()
            predicted = policy.prediction_loss(hands, hidden)
            if a.predict:
                loss = loss + a.prediction * predicted.sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
        if (done // each) % 20 == 19:
            shown = ", ".join(f"{name} {loss:.2f}" for name, loss in zip(PREDICTED, predicted, strict=True))
            print(
                f"{done + each:,} decisions: value error {error:.3f}, prediction loss of {shown}", flush=True
            )
    if a.output is not None:
        torch.save(policy.state_dict(), a.output)
    return policy


def make(game: Game, seed: int, weights: str) -> Agent:
    """Return the agent with the weights in a file, for `garden compare` and other commands."""
    policy = Policy(game)
    policy.load_state_dict(torch.load(weights, weights_only=True))
    return Agent(policy)


class Agent:
    """A policy as an agent, which plays the most likely action."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy

    @torch.no_grad()
    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        chances, _ = self.policy(*map(torch.from_numpy, (batch.observation[rows], batch.action_mask[rows])))
        return chances.logits.argmax(1).numpy()


if __name__ == "__main__":
    main(tyro.cli(Arguments))
