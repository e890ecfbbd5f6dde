"""Arguments of expert iteration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from garden_agents.training.arguments import TrainingArguments


@dataclass
class Arguments(TrainingArguments):
    """Train a network by expert iteration and evaluate it; write a folder with all results.

    The training takes 30 minutes if --minutes is not given.
    """

    trainer = "expert-iteration"
    command = "garden train --method expert-iteration"

    envs: int = 64
    """number of games played at once"""
    simulations: int = 48
    """number of simulations in a full search, whose result the policy learns"""
    full_share: float = 0.25
    """share of the moves that get a full search"""
    fast_simulations: int = 8
    """number of simulations for each other move"""
    considered: int = 16
    """number of root actions in the first round of sequential halving"""
    scale: float = 0.3
    """weight of values relative to priors in sequential halving and in the policy's targets"""
    exploration: float = 0.3
    """PUCT exploration constant below the root"""
    warmup_share: float = 0.2
    """share of the training time in which greedy rollouts guide the search instead of the network; 0 with --start"""
    start: Path | None = None
    """file of a network with the initial weights, possibly for another number of players; default: random weights"""

    positions: int = 200_000
    """size of the replay buffer in positions; the oldest are dropped"""
    reuse: float = 4.0
    """mean number of updates per position"""
    minibatch: int = 512
    """number of positions per update"""
    learning_rate: float = 2e-3
    """initial learning rate (AdamW)"""
    final_learning_rate: float = 2e-4
    """final learning rate; interpolated linearly"""
    search_value_share: float = 0.5
    """weight of the search's root values in the value target; the rest is the result. Not used in cooperative games"""

    ray: str | None = None
    """play in workers on a Ray cluster: its address, or "local" for one on this machine; default: in this process"""
    workers: int | None = None
    """number of workers with --ray, each with --envs games; default: 2"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "envs", "minibatch")
        self._within(1, 10_000, "simulations", "fast_simulations")
        self._within(1, 10_000_000, "positions")
        self._within(1, 100_000, "workers")
        self._within(2, math.inf, "considered")
        self._within(0, 1, "full_share", "warmup_share", "search_value_share")
        self._within(0, math.inf, "scale", "exploration", "reuse", "learning_rate", "final_learning_rate")
