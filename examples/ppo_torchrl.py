"""TorchRL's PPO on one learner's seat of many games, with masks: `python examples/ppo_torchrl.py`."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
import tyro
from tensordict.nn import ProbabilisticTensorDictModule, ProbabilisticTensorDictSequential, TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import DTypeCastTransform, TransformedEnv
from torchrl.envs.utils import ExplorationType, set_exploration_type
from torchrl.modules import MaskedCategorical, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

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


def make(game: str, num_envs: int, opponents: str) -> TransformedEnv:
    """Return the environment, with observations as float32."""
    env = LearnerEnv(game, num_envs, opponents)
    return TransformedEnv(env, DTypeCastTransform(torch.int8, torch.float32, in_keys=["observation"]))


def network(env: TransformedEnv, hidden: int, out: int) -> nn.Sequential:
    """Return a network with two hidden layers."""
    size = env.observation_spec["observation"].shape[-1]
    return nn.Sequential(
        nn.Linear(size, hidden), nn.Tanh(), nn.Linear(hidden, hidden), nn.Tanh(), nn.Linear(hidden, out)
    )


def win_rate(actor: nn.Module, arguments: Arguments, games: int = 200) -> float:
    """Return the share of games won by the most likely actions; a tie counts half."""
    env = make(arguments.game, games, arguments.opponents)
    env.set_seed(1)
    with torch.no_grad(), set_exploration_type(ExplorationType.DETERMINISTIC):
        rollout = env.rollout(1000, actor, break_when_any_done=False, break_when_all_done=True)
    rewards = rollout["next", "reward"].sum(1)
    return float(((rewards > 0).float() + (rewards == 0).float() / 2).mean())


def main(arguments: Arguments) -> float:
    """Train and evaluate; return the win rate."""
    a = arguments
    torch.manual_seed(a.seed)
    torch.set_num_threads(1)
    env = make(a.game, a.num_envs, a.opponents)
    env.set_seed(a.seed)
    logits = TensorDictModule(network(env, a.hidden, env.action_spec.n), ["observation"], ["logits"])
    chosen = ProbabilisticTensorDictModule(
        {"logits": "logits", "mask": "action_mask"},
        ["action"],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        default_interaction_type=ExplorationType.RANDOM,
    )
    actor = ProbabilisticTensorDictSequential(logits, chosen)
    critic = ValueOperator(network(env, a.hidden, 1), ["observation"])
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
    rate = win_rate(actor, a)
    print(f"against {a.opponents}: {rate:.1%}")
    return rate


if __name__ == "__main__":
    main(tyro.cli(Arguments))
