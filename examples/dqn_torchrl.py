"""TorchRL's double DQN with masks: the learner plays one seat of each game, and its own network the others.

    python examples/dqn_torchrl.py --game cacti --output dqn.pt
    garden arena cacti greedy "examples.dqn_torchrl:make?weights=dqn.pt"

Algorithm: H. van Hasselt et al., "Deep reinforcement learning with double Q-learning", 2015. The reward is the margin.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
import tyro
from garden_agents import load_agent, meet, table
from tensordict import TensorDict
from tensordict.nn import TensorDictModule, TensorDictSequential
from torch import nn
from torchrl.collectors import Collector
from torchrl.data import Categorical, LazyTensorStorage, TensorDictReplayBuffer
from torchrl.modules import EGreedyModule, QValueModule
from torchrl.objectives import DQNLoss, SoftUpdate, ValueEstimators

import garden_core
from garden_core import Batch, Game
from garden_core.interfaces import LearnerEnv


@dataclass
class Arguments:
    """Train a network by self-play."""

    game: str = "cacti"
    """name of the game"""
    num_players: int = 2
    """number of players"""
    decisions: int = 1_000_000
    """decisions of the learner to learn from"""
    num_envs: int = 128
    """games at once"""
    steps: int = 32
    """decisions of each game between two rounds of updates"""
    replay: int = 200_000
    """decisions in the replay buffer"""
    minibatch: int = 256
    uses: int = 4
    """number of updates that a decision is drawn for, on average"""
    learning_rate: float = 1e-3
    tau: float = 0.005
    """share of the network that each update moves into the target network"""
    epsilon: float = 0.05
    """share of random actions, which falls from 1 in the first fifth of the training"""
    max_grad_norm: float = 10.0
    hidden: int = 128
    seed: int = 0
    output: Path | None = None
    """file for the weights"""


class Network(nn.Module):
    """Values of all actions for the player to move, from a flat observation."""

    def __init__(self, game: Game, hidden: int) -> None:
        super().__init__()
        first, last = nn.Linear(game.observation_size, hidden), nn.Linear(hidden, game.num_actions)
        self.layers = nn.Sequential(first, nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(), last)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        return self.layers(observations.float() / 10)


def new_actor(game: Game, hidden: int) -> TensorDictSequential:
    """Return a policy that takes the legal action of the highest value, with random weights."""
    values = TensorDictModule(Network(game, hidden), ["observation"], ["action_value"])
    return TensorDictSequential(values, QValueModule("categorical", action_mask_key="action_mask"))


def new_loss(actor: TensorDictSequential) -> DQNLoss:
    """Return the loss; the next state's value is that of its best legal action, as the actor masks there, too."""
    loss = DQNLoss(actor, loss_function="smooth_l1", double_dqn=True, action_space="categorical")
    loss.make_value_estimator(ValueEstimators.TD0, gamma=1.0)
    return loss


class Agent:
    """The actor as an agent."""

    def __init__(self, actor: nn.Module) -> None:
        self.actor = actor

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        observation = torch.from_numpy(batch.observation[rows])
        mask = torch.from_numpy(batch.action_mask[rows]).bool()
        given = TensorDict(observation=observation, action_mask=mask, batch_size=[len(rows)])
        with torch.no_grad():
            return self.actor(given)["action"].numpy()


def make(game: Game, seed: int, weights: str = "dqn.pt", hidden: int = 128) -> Agent:
    """Return the agent with the weights in a file, for `garden arena` and other commands."""
    actor = new_actor(game, hidden)
    actor.load_state_dict(torch.load(weights, weights_only=True))
    return Agent(actor)


def main(arguments: Arguments) -> float:
    """Train, save and evaluate; return the win rate against random play."""
    a = arguments
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    game = garden_core.make(a.game, num_players=a.num_players, reward="margin")
    actor = new_actor(game, a.hidden)
    env = LearnerEnv(game, a.num_envs, opponents=Agent(actor))
    env.set_seed(a.seed)
    frames = a.num_envs * a.steps
    rounds = -(-a.decisions // frames)
    actions = Categorical(game.num_actions)
    explore = EGreedyModule(actions, 1.0, a.epsilon, max(rounds // 5, 1), action_mask_key="action_mask")
    collector = Collector(
        env,
        TensorDictSequential(actor, explore),
        frames_per_batch=frames,
        total_frames=rounds * frames,
        auto_register_policy_transforms=False,
    )
    replay = TensorDictReplayBuffer(storage=LazyTensorStorage(a.replay), batch_size=a.minibatch)
    loss = new_loss(actor)
    target = SoftUpdate(loss, tau=a.tau)
    optimizer = torch.optim.Adam(loss.parameters(), a.learning_rate)
    start = time.monotonic()
    for number, rollout in enumerate(collector):
        for group in optimizer.param_groups:
            group["lr"] = a.learning_rate * (1 - number / rounds)
        replay.extend(rollout.select(*loss.in_keys).reshape(-1))
        explore.step()
        for _ in range(a.uses * frames // a.minibatch):
            optimizer.zero_grad()
            loss(replay.sample())["loss"].backward()
            nn.utils.clip_grad_norm_(loss.parameters(), a.max_grad_norm)
            optimizer.step()
            target.step()
    collector.shutdown()
    decisions = rounds * frames
    print(f"{decisions:,} decisions, {decisions / (time.monotonic() - start):,.0f} a second")
    if a.output is not None:
        torch.save(actor.state_dict(), a.output)
    agents = Agent(actor), load_agent("random", game, seed=1)
    result = meet(game, ("dqn", "random"), agents, games=200)
    print(table([result]))
    return result.win_rate


if __name__ == "__main__":
    main(tyro.cli(Arguments))
