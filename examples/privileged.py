"""Hidden information in training: a critic that sees it, and a policy that predicts the opponent's hand.

    python examples/privileged.py --critic hand --predict --output both.pt
    python examples/privileged.py --critic own --no-predict --output plain.pt
    garden compare cacti "examples.privileged:make?weights=both.pt" "examples.privileged:make?weights=plain.pt"

PPO by self-play as in `ppo.py`, on Cacti. Only the policy plays, and it sees only observations. During training, the critic
may see more (L. Pinto et al., "Asymmetric actor critic for image-based robot learning", 2018), and further outputs of the
policy learn to predict hidden cards (M. Jaderberg et al., "Reinforcement learning with unsupervised auxiliary tasks", 2017).
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

import garden_core
from garden_core import Batch, Game

HAND = ("opponent's bonus", "opponent's basic")
"""The hidden parts that are predicted, each one-hot; they come first, before the decks."""


@dataclass
class Arguments:
    """Train a network by self-play."""

    critic: Literal["own", "hand", "full"] = "hand"
    """what the critic sees: only observations, the opponent's hand, too, or the full state with the order of the decks"""
    predict: bool = True
    """predict the opponent's hand"""
    decisions: int = 2_000_000
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


def layers(size: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(size, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU())


class Policy(nn.Module):
    """Probabilities of the actions, and logits of what the opponent holds, from observations."""

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.parts = [game.hidden_slices[name] for name in HAND]
        self.body, self.logits = layers(game.observation_size), nn.Linear(128, game.num_actions)
        self.hand = nn.Linear(128, self.parts[-1].stop)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        body = self.body(observations / 10)
        logits = self.logits(body).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.hand(body)

    def prediction_losses(self, hand: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        """Return the cross-entropy of each part, in nats, over the rows in which the opponent holds such a card."""
        held = [(hidden[:, part].any(1), part) for part in self.parts]
        return torch.stack([cross_entropy(hand[i, part], hidden[i, part].float()) for i, part in held])


def main(arguments: Arguments) -> Policy:
    """Train and save."""
    a = arguments
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    game = garden_core.make("cacti")
    policy = Policy(game)
    shown = {"own": 0, "hand": policy.parts[-1].stop, "full": game.hidden_size}[a.critic]
    critic = nn.Sequential(layers(game.observation_size + shown), nn.Linear(128, 1))
    parameters = [*policy.parameters(), *critic.parameters()]
    optimizer = torch.optim.Adam(parameters, a.learning_rate, eps=1e-5)
    batch = Batch(game, a.num_envs)
    batch.reset(a.seed)

    def seen(seats: int | np.ndarray) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.from_numpy(batch.observe(seats)), torch.from_numpy(batch.observe_hidden(seats))

    def value(observations: torch.Tensor, hidden: torch.Tensor) -> torch.Tensor:
        return critic(torch.cat([observations / 10, hidden[:, :shown] / 4], 1))[:, 0]

    @torch.no_grad()
    def play() -> tuple[list[torch.Tensor], torch.Tensor, torch.Tensor]:
        """Return what was seen and done, the advantages and the returns; tensors (decisions, …)."""
        rows = []
        for _ in range(a.steps):
            players, masks = batch.current_player.copy(), torch.from_numpy(batch.action_mask.copy())
            observations, hidden = seen(players)
            chances, _ = policy(observations, masks)
            actions = chances.sample()
            batch.step(actions.numpy())
            after = batch.rewards.copy(), batch.terminated | batch.truncated
            decided = observations, hidden, masks, actions, chances.log_prob(actions)
            rows.append((*decided, *map(torch.from_numpy, (players, *after)), value(observations, hidden)))
        last = torch.stack([value(*seen(seat)) for seat in range(game.num_players)], 1)
        *decided, players, rewards, over, values = map(torch.stack, zip(*rows, strict=True))
        given = (tensor.numpy() for tensor in (players, rewards, over, values, last))
        advantage, returns = (torch.from_numpy(x).flatten() for x in advantages(*given, a.gae_lambda))
        return [tensor.flatten(0, 1) for tensor in decided], advantage, returns

    each = a.num_envs * a.steps
    for done in range(0, a.decisions, each):
        for group in optimizer.param_groups:
            group["lr"] = a.learning_rate * (1 - done / a.decisions)
        decided, advantage, returns = play()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        for part in (part for _ in range(a.epochs) for part in torch.randperm(each).split(a.minibatch)):
            observations, hidden, masks, actions, old = (tensor[part] for tensor in decided)
            chances, hand = policy(observations, masks)
            ratio, gain = (chances.log_prob(actions) - old).exp(), advantage[part]
            policy_loss = -torch.min(ratio * gain, ratio.clamp(1 - a.clip, 1 + a.clip) * gain).mean()
            error = (value(observations, hidden) - returns[part]).square().mean()
            losses = policy.prediction_losses(hand, hidden)
            loss = policy_loss + error / 2 - a.entropy * chances.entropy().mean()
            loss = loss + a.predict * a.prediction * losses.sum()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(parameters, 0.5)
            optimizer.step()
        if (done // each) % 20 == 19:
            predicted = ", ".join(f"{n} {x:.2f}" for n, x in zip(HAND, losses.tolist(), strict=True))
            print(f"{done + each:,} decisions: value error {error:.2f}; losses: {predicted}", flush=True)
    if a.output is not None:
        torch.save(policy.state_dict(), a.output)
    return policy


def make(game: Game, seed: int, weights: str) -> garden_core.Policy:
    """Return the agent with the weights in a file, which plays its most likely action, for `garden compare`."""
    policy = Policy(game)
    policy.load_state_dict(torch.load(weights, weights_only=True))

    def agent(batch: Batch, rows: np.ndarray) -> np.ndarray:
        chances, _ = policy(
            torch.from_numpy(batch.observation[rows]), torch.from_numpy(batch.action_mask[rows])
        )
        return chances.logits.argmax(1).numpy()

    return agent


if __name__ == "__main__":
    main(tyro.cli(Arguments))
