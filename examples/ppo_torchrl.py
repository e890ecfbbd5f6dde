"""TorchRL's PPO on one learner's seat of many games, with masks.

python examples/ppo_torchrl.py --game cacti --output actor.pt
garden arena cacti random "examples.ppo_torchrl:make?weights=actor.pt"
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
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import DTypeCastTransform, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import garden_core
from garden_core import Batch, Game
from garden_core.interfaces import LearnerEnv


@dataclass
class Arguments:
    """Train a network against an opponent."""

    game: str = "cacti"
    opponents: str = "random"
    decisions: int = 500_000
    """decisions of the learner to learn from"""
    num_envs: int = 128
    steps: int = 64
    """decisions of each game between two updates"""
    epochs: int = 4
    minibatch: int = 1024
    learning_rate: float = 2e-3
    entropy: float = 0.01
    hidden: int = 128
    seed: int = 0
    output: Path | None = None
    """file for the actor's weights"""


def environment(game: str, num_envs: int, opponents: str) -> TransformedEnv:
    """Return the environment, with observations as float32."""
    env = LearnerEnv(game, num_envs, opponents)
    return TransformedEnv(env, DTypeCastTransform(torch.int8, torch.float32, in_keys=["observation"]))


def network(game: Game, hidden: int, out: int) -> nn.Sequential:
    """Return a network with two hidden layers."""
    size = game.observation_size
    return nn.Sequential(
        nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, out)
    )


def new_actor(game: Game, hidden: int) -> ProbabilisticTensorDictSequential:
    """Return a policy with masks and random weights."""
    logits = TensorDictModule(network(game, hidden, game.num_actions), ["observation"], ["logits"])
    chosen = ProbabilisticTensorDictModule(
        {"logits": "logits", "mask": "action_mask"},
        ["action"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        default_interaction_type=ExplorationType.RANDOM,
    )
    return ProbabilisticTensorDictSequential(logits, chosen)


class Agent:
    """The actor as an agent, which plays its most likely action."""

    def __init__(self, actor: nn.Module) -> None:
        self.actor = actor

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        observation = torch.from_numpy(batch.observation[rows]).float()
        mask = torch.from_numpy(batch.action_mask[rows]).bool()
        given = TensorDict(observation=observation, action_mask=mask, batch_size=[len(rows)])
        with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
            return self.actor(given)["action"].numpy()


def make(game: Game, seed: int, weights: str = "actor.pt", hidden: int = 128) -> Agent:
    """Return the agent with the weights in a file, for `garden arena` and other commands."""
    actor = new_actor(game, hidden)
    actor.load_state_dict(torch.load(weights, weights_only=True))
    return Agent(actor)


def main(arguments: Arguments) -> float:
    """Train, save and evaluate; return the win rate."""
    a = arguments
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    env, game = environment(a.game, a.num_envs, a.opponents), garden_core.make(a.game)
    env.set_seed(a.seed)
    actor = new_actor(game, a.hidden)
    critic = ValueOperator(network(game, a.hidden, 1), ["observation"])
    loss = ClipPPOLoss(actor, critic, entropy_coeff=a.entropy)
    gae = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
    optimizer = torch.optim.Adam(loss.parameters(), a.learning_rate)
    frames = a.num_envs * a.steps
    rounds = -(-a.decisions // frames)
    collector = Collector(
        env,
        actor,
        frames_per_batch=frames,
        total_frames=rounds * frames,
        auto_register_policy_transforms=False,
    )
    start = time.monotonic()
    for number, rollout in enumerate(collector):
        for group in optimizer.param_groups:
            group["lr"] = a.learning_rate * (1 - number / rounds)
        with torch.no_grad():
            gae(rollout)
        samples = rollout.reshape(-1)
        for _ in range(a.epochs):
            for part in torch.randperm(frames).split(a.minibatch):
                losses = loss(samples[part])
                total = losses["loss_objective"] + losses["loss_critic"] + losses["loss_entropy"]
                optimizer.zero_grad()
                total.backward()
                nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()
    collector.shutdown()
    decisions = rounds * frames
    print(f"{decisions:,} decisions, {decisions / (time.monotonic() - start):,.0f} a second")
    if a.output is not None:
        torch.save(actor.state_dict(), a.output)
    agents = Agent(actor), load_agent(a.opponents, game, seed=1)
    result = meet(game, ("ppo", a.opponents), agents, games=200)
    print(table([result]))
    return result.win_rate


if __name__ == "__main__":
    main(tyro.cli(Arguments))
