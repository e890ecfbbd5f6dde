"""Offline learning in one file, from a dataset: behaviour cloning, and conservative Q-learning with action masks.

    garden record cacti --agents random greedy --games 40000 --options reward margin --output mixed.safetensors
    python examples/offline.py mixed.safetensors

Both learn from the decisions of all agents in all seats, and play no game. Behaviour cloning learns which action the agents
take. Q-learning learns what an action is worth: the reward until the seat's next decision, plus the value of the best legal
action there. A penalty lowers the values of actions that the agents rarely take, as few decisions show what these are worth.

Algorithm: A. Kumar et al., "Conservative Q-learning for offline reinforcement learning", 2020, with double Q-learning, and
illegal actions masked.
"""

from __future__ import annotations

import copy
import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from garden_agents import load_agent, meet, table
from torch import nn

from garden_core import Batch, Dataset, Game
from garden_core.interfaces import TorchDataset


@dataclass
class Arguments:
    """Learn from a dataset."""

    data: tyro.conf.Positional[Path]
    """dataset from `garden record`"""
    steps: int = 8000
    """updates of each network"""
    minibatch: int = 256
    """decisions in an update"""
    learning_rate: float = 1e-3
    penalty: float = 0.5
    """weight of the penalty on actions that the agents rarely take"""
    target_rate: float = 0.005
    """how far the target network moves towards the other one in each update"""
    hidden: int = 128
    opponent: str = "greedy"
    """opponent in the evaluation"""
    games: int = 4000
    """games of each evaluation"""
    seed: int = 0


class Network(nn.Module):
    """A logit or value of each action, -1e9 if illegal, from a flat observation."""

    def __init__(self, game: Game, hidden: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(game.observation_size, hidden),
            nn.ReLU(),
            nn.Linear(hidden, hidden),
            nn.ReLU(),
            nn.Linear(hidden, game.num_actions),
        )

    def forward(self, observations: torch.Tensor, masks: torch.Tensor) -> torch.Tensor:
        return self.layers(observations.float().flatten(1) / 10).masked_fill(masks == 0, -1e9)


class Agent:
    """Plays the action with the highest output."""

    def __init__(self, network: Network) -> None:
        self.network = network

    @torch.no_grad()
    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        observations, masks = batch.observation[rows], batch.action_mask[rows]
        return self.network(torch.from_numpy(observations), torch.from_numpy(masks)).argmax(1).numpy()


def learn(dataset: Dataset, arguments: Arguments, values: bool) -> Agent:
    """Learn the agents' actions, or with `values` the actions' values."""
    a = arguments
    torch.manual_seed(a.seed)
    network = Network(dataset.game, a.hidden)
    target = copy.deepcopy(network)
    optimizer = torch.optim.Adam(network.parameters(), a.learning_rate)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, a.steps)
    epochs = itertools.repeat(TorchDataset(dataset, a.minibatch, following=True))
    for batch in itertools.islice(itertools.chain.from_iterable(epochs), a.steps):
        outputs = network(batch["observation"], batch["action_mask"])
        taken = outputs.gather(1, batch["action"][:, None])[:, 0]
        loss = (outputs.logsumexp(1) - taken).mean()  # the cross entropy, or the penalty
        if values:
            loss = a.penalty * loss + (taken - worth(batch, network, target)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        with torch.no_grad():
            for slow, fast in zip(target.parameters(), network.parameters(), strict=True):
                slow.lerp_(fast, a.target_rate)
    return Agent(network)


@torch.no_grad()
def worth(batch: dict[str, torch.Tensor], network: Network, target: Network) -> torch.Tensor:
    """Return the rewards, plus the target network's value of the action that the network prefers next."""
    following = batch["next_observation"], batch["next_action_mask"]
    best = network(*following).argmax(1, keepdim=True)
    return batch["reward"] + target(*following).gather(1, best)[:, 0].masked_fill(batch["last"], 0)


def main(arguments: Arguments) -> dict[str, float]:
    """Learn, print how all play, and return win rates against the opponent by name."""
    a = arguments
    torch.set_num_threads(1)
    dataset = Dataset.load(a.data)
    agents = {name: load_agent(name, dataset.game, a.seed) for name in dataset.agents}
    agents["cloned"] = learn(dataset, a, values=False)
    agents["q-learning"] = learn(dataset, a, values=True)
    opponent = load_agent(a.opponent, dataset.game, a.seed + 1)
    results = [
        meet(dataset.game, (name, a.opponent), (agent, opponent), a.games, a.seed)
        for name, agent in agents.items()
    ]
    print(table(results))
    return {result.agent: result.win_rate for result in results}


if __name__ == "__main__":
    main(tyro.cli(Arguments))
