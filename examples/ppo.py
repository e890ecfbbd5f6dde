"""PPO by self-play in one file, on `Batch`: the network learns from every seat of every game.

    python examples/ppo.py --game cacti --decisions 2000000 --output ppo.pt
    garden arena cacti greedy "examples.ppo:make?weights=ppo.pt"

Algorithm: J. Schulman et al., "Proximal policy optimization algorithms", 2017, with illegal actions masked. This project's
own trainer (`garden train`) adds imitation at the start, values of all seats, an opponent pool, and a faster update.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from garden_agents import advantages, load_agent, meet, table
from torch import nn
from torch.distributions import Categorical

import garden_core


@dataclass
class Arguments:
    """Train a network by self-play."""

    game: str = "cacti"
    """name of the game"""
    num_players: int = 2
    """number of players"""
    decisions: int = 2_000_000
    """decisions to learn from, of all games and seats together"""
    num_envs: int = 256
    """games at once"""
    steps: int = 64
    """decisions of each game between two updates"""
    learning_rate: float = 3e-3
    gae_lambda: float = 0.95
    epochs: int = 3
    minibatch: int = 2048
    clip: float = 0.2
    entropy: float = 0.01
    value_loss: float = 0.5
    max_grad_norm: float = 0.5
    hidden: int = 128
    seed: int = 0
    output: Path | None = None
    """file for the weights"""


class Network(nn.Module):
    """Logits of the actions and the value of the player to move, from a flat observation."""

    def __init__(self, game: garden_core.Game, hidden: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(game.observation_size, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU()
        )
        self.policy, self.value = nn.Linear(hidden, game.num_actions), nn.Linear(hidden, 1)

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> tuple[Categorical, torch.Tensor]:
        body = self.body(observations.float().flatten(1) / 10)
        logits = self.policy(body).masked_fill(masks == 0, -1e9)
        return Categorical(logits=logits, validate_args=False), self.value(body)[:, 0]


@dataclass
class Rollout:
    """`steps` decisions of N games: tensors (steps, N, …)."""

    observations: torch.Tensor
    masks: torch.Tensor
    actions: torch.Tensor
    log_probs: torch.Tensor
    values: torch.Tensor
    players: np.ndarray
    rewards: np.ndarray
    """float32 (steps, N, seats), each seat's reward after the decision"""
    over: np.ndarray
    """bool (steps, N), whether the decision ended the game"""
    last_values: np.ndarray
    """float32 (N, seats), each seat's value after the last decision"""


@torch.no_grad()
def play(batch: garden_core.Batch, network: Network, steps: int) -> Rollout:
    """Let the network play all seats for a number of decisions of each game."""
    rows = []
    for _ in range(steps):
        observations = torch.from_numpy(batch.observation.copy())
        masks = torch.from_numpy(batch.action_mask.copy())
        policy, values = network(observations, masks)
        actions = policy.sample()
        players = batch.current_player.copy()
        batch.step(actions.numpy())
        over = batch.terminated | batch.truncated
        log_probs = policy.log_prob(actions)
        rows.append(
            (observations, masks, actions, log_probs, values, players, batch.rewards.copy(), over.copy())
        )
    tensors = [torch.stack(column) for column in list(zip(*rows, strict=True))[:5]]
    arrays = [np.stack(column) for column in list(zip(*rows, strict=True))[5:]]
    everything = torch.ones_like(masks)
    seen = [torch.from_numpy(batch.observe(seat)) for seat in range(batch.game.num_players)]
    last_values = np.stack([network(view, everything)[1].numpy() for view in seen], 1)
    return Rollout(*tensors, *arrays, last_values)


def update(
    network: Network, optimizer: torch.optim.Optimizer, rollout: Rollout, arguments: Arguments
) -> None:
    """Update the network by a rollout."""
    a = arguments
    r = rollout
    found = advantages(r.players, r.rewards, r.over, r.values.numpy(), r.last_values, a.gae_lambda)
    advantage, returns = map(torch.from_numpy, found)
    returns = returns.flatten()
    advantage = ((advantage - advantage.mean()) / (advantage.std() + 1e-8)).flatten()
    observations, masks = rollout.observations.flatten(0, 1), rollout.masks.flatten(0, 1)
    actions, log_probs = rollout.actions.flatten(), rollout.log_probs.flatten()
    for _ in range(a.epochs):
        for part in torch.randperm(len(actions)).split(a.minibatch):
            policy, values = network(observations[part], masks[part])
            ratio = (policy.log_prob(actions[part]) - log_probs[part]).exp()
            gain = torch.min(
                ratio * advantage[part], ratio.clamp(1 - a.clip, 1 + a.clip) * advantage[part]
            ).mean()
            error = (values - returns[part]).square().mean()
            loss = -gain + a.value_loss * error - a.entropy * policy.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(network.parameters(), a.max_grad_norm)
            optimizer.step()


class Agent:
    """The network as an agent: it plays the most likely action, and can guide search."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @torch.no_grad()
    def evaluate(self, observations: np.ndarray, masks: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return probabilities of the actions, and the values of the player to move."""
        policy, values = self.network(torch.from_numpy(observations), torch.from_numpy(masks))
        return policy.probs.numpy(), values.clamp(-1, 1).numpy()

    def __call__(self, batch: garden_core.Batch, rows: np.ndarray) -> np.ndarray:
        return self.evaluate(batch.observation[rows], batch.action_mask[rows])[0].argmax(1)


def make(game: garden_core.Game, seed: int, weights: str = "ppo.pt", hidden: int = 128) -> Agent:
    """Return the agent with the weights in a file, for `garden arena` and other commands."""
    network = Network(game, hidden)
    network.load_state_dict(torch.load(weights, weights_only=True))
    return Agent(network)


def main(arguments: Arguments) -> Network:
    """Train, save and evaluate."""
    torch.manual_seed(arguments.seed)
    torch.set_num_threads(1)
    game = garden_core.make(arguments.game, num_players=arguments.num_players)
    network = Network(game, arguments.hidden)
    optimizer = torch.optim.Adam(network.parameters(), arguments.learning_rate, eps=1e-5)
    batch = garden_core.Batch(game, arguments.num_envs)
    batch.reset(arguments.seed)
    start, each = time.monotonic(), arguments.num_envs * arguments.steps
    for done in range(0, arguments.decisions, each):
        for group in optimizer.param_groups:
            group["lr"] = arguments.learning_rate * (1 - done / arguments.decisions)
        update(network, optimizer, play(batch, network, arguments.steps), arguments)
        if (done // each) % 10 == 9:
            rate = (done + each) / (time.monotonic() - start)
            print(f"{done + each:,} decisions, {rate:,.0f} a second", flush=True)
    if arguments.output is not None:
        torch.save(network.state_dict(), arguments.output)
    for name in ("random", "greedy"):
        agents = Agent(network), load_agent(name, game, seed=1)
        print(table([meet(game, ("ppo", name), agents, games=400)]))
    return network


if __name__ == "__main__":
    main(tyro.cli(Arguments))
