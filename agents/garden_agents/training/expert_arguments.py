"""The settings of expert iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from garden_agents.training.arguments import TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    """Train a network by expert iteration, evaluate it, and keep everything in a folder.

    The training takes 30 minutes if --minutes is not given.
    """

    trainer = "expert-iteration"
    command = "garden train --method expert-iteration"

    envs: int = 64
    """number of games played at once"""
    simulations: int = 48
    """number of simulations for each move that the policy learns from"""
    full_share: float = 0.25
    """share of the moves that are searched with --simulations, and that the policy learns from"""
    fast_simulations: int = 8
    """number of simulations for each other move"""
    considered: int = 16
    """number of actions at the root that sequential halving begins with"""
    scale: float = 0.3
    """weight of values beside priors in sequential halving, and in what the policy learns"""
    exploration: float = 0.3
    """PUCT exploration constant below the root"""
    warmup_share: float = 0.2
    """share of the training time in which search uses greedy rollouts, before the network guides it; 0 with --start"""
    start: Path | None = None
    """file of a network with the initial weights, which may be of another number of players; random ones if not given"""

    positions: int = 200_000
    """size of the replay buffer, positions; the oldest are dropped"""
    reuse: float = 4.0
    """mean number of updates that each position is used in"""
    minibatch: int = 512
    """number of positions in an update"""
    learning_rate: float = 2e-3
    """initial learning rate (AdamW)"""
    final_learning_rate: float = 2e-4
    """final learning rate; interpolated linearly"""
    search_value_share: float = 0.5
    """share of the network-guided search's values at the root in the value target, but not of a team; the rest is the result"""

    ray: str | None = None
    """play in workers on a Ray cluster: its address, or "local" for one on this machine; in this process if not given"""
    workers: int | None = None
    """number of workers with --ray, each of which plays --envs games; 2 if not given"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "envs", "minibatch")
        self._within(1, 10_000, "simulations", "fast_simulations")
        self._within(1, 10_000_000, "positions")
        self._within(1, 100_000, "workers")
        self._within(2, math.inf, "considered")
        self._within(0, 1, "full_share", "warmup_share", "search_value_share")
        self._within(0, math.inf, "scale", "exploration", "reuse", "learning_rate", "final_learning_rate")
