"""Arguments of PPO by self-play, and constants that need no tuning."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from garden_agents.training.arguments import TrainingArguments
from garden_agents.training.pool import OpponentPool
from garden_core.batch.policies import Policy
from garden_core.checks import check_choice

CLIP = 0.2
"""PPO's clip range: probability ratios beyond 1 ± CLIP get no further reward."""
FINAL_ENTROPY = 0.002
"""Final weight of the entropy bonus."""
VALUE_LAMBDA = 0.98
"""Lambda of the value targets, from one decision of a game to the next."""
VALUE_WEIGHT = 0.5
"""Weight of each of the two value losses."""
MAX_GRADIENT = 0.5
"""Largest norm of the gradient."""
IMITATION_DECISIONS = 300_000
"""Largest number of decisions during which greedy play is imitated."""
PAST_SELVES = 6
"""Largest number of past selves; when the pool is full, a new one replaces the one that is beaten most often."""


@dataclass
class PPOArguments(TrainingArguments):
    """Arguments of PPO with either trainer.

    Attributes:
        pool_shares: shares of the pool's random, greedy and past-self opponents.
    """

    pool_shares: ClassVar[tuple[float, float, float]]

    steps: int | None = None
    """training length in decisions of the learner; default: no limit with --minutes, otherwise 2,000,000"""

    outcome: float = 0.0
    """initial weight of the result in the objective, 0 to 1, rising linearly to 1; the rest is the margin of points"""

    envs: int = 128
    """number of games played at once"""
    rollout: int = 32
    """number of decisions per game between two updates"""
    epochs: int = 3
    """number of passes over a rollout per update"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation"""
    entropy: float = 0.01
    """initial weight of the entropy bonus, falling linearly to 0.002"""

    checkpoint_every: int = 400_000
    """decisions of the learner between two checkpoints; past selves join the pool four times as often"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "envs", "rollout")
        self._within(1, math.inf, "epochs", "checkpoint_every")
        self._within(0, 1, "outcome", "gae_lambda")
        self._within(0, math.inf, "entropy")
        self._within(0, 10**15, "steps")

    @property
    def max_steps(self) -> int:
        """Largest number of decisions."""
        if self.steps is None:
            return 2_000_000 if self.minutes is None else 10**12
        return self.steps

    @property
    def max_seconds(self) -> float:
        """Largest number of seconds."""
        return math.inf if self.minutes is None else self.minutes * 60

    def pool(self, agents: Sequence[Policy] = ()) -> OpponentPool:
        """Return an opponent pool that includes `agents`."""
        return OpponentPool(self.pool_shares, PAST_SELVES, agents)


@dataclass
class Arguments(PPOArguments):
    """Train a network by PPO in self-play and evaluate it; write a folder with all results."""

    trainer = "ppo"
    agent_arguments = ("panel", "pool_agents")
    pool_shares = (0.1, 0.3, 0.6)

    threads: int = 1
    """number of threads per minibatch; docs/training.md shows what a second one gains"""
    imitation: float = 0.3
    """share of the training during which greedy play is imitated; the weight in the loss falls linearly from 1 to 0"""
    minibatch: int = 256
    """number of decisions in a minibatch"""
    learning_rate: float | None = None
    """initial learning rate of Adam, which falls linearly to a twentieth, or to a tenth with --start; default: 2e-3 (5e-4 with --start)"""
    start: Path | None = None
    """file of a network with the initial weights, possibly for another number of players; default: random weights"""

    pool_share: float = 0.0
    """share of the games played against the opponent pool: random, greedy and past selves of the network, harder ones more
    often; in the other games the network plays all seats"""
    pool_agents: tuple[str, ...] = ()
    """further agents in the pool, named as in the arena; they get half of the opponents' seats, harder ones more often"""
    device: str = "cpu"
    """device of the games and the network: cpu, or cuda for a GPU, which needs thousands of envs"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "minibatch")
        self._within(0, 1, "imitation", "pool_share")
        self._within(0, math.inf, "learning_rate")
        check_choice(self.device, "device", ("cpu", "cuda"))
        if self.device == "cuda" and self.pool_agents:
            raise ValueError("on a GPU the pool has no further agents: leave out pool_agents")
        if self.resume is None and self.pool_agents and not self.pool_share:
            raise ValueError("pool_agents are not drawn unless pool_share is more than 0")

    @property
    def learning_rates(self) -> tuple[float, float]:
        """The initial and the final learning rate, as given or by default."""
        default, factor = (2e-3, 20) if self.start is None else (5e-4, 10)
        first = default if self.learning_rate is None else self.learning_rate
        return first, first / factor
