"""The settings of PPO by self-play: what can be chosen, and what was found not to matter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from garden_agents.training.arguments import TrainingArguments
from garden_agents.training.pool import OpponentPool
from garden_core.batch.policies import Policy
from garden_core.checks import short

CLIP = 0.2
"""Largest change of an action's probability that an update is rewarded for, as a factor less 1."""
FINAL_ENTROPY = 0.002
"""Weight of the entropy bonus at the end."""
VALUE_LAMBDA = 0.98
"""Lambda of the targets of the values, from one decision in the game to the next."""
VALUE_WEIGHT = 0.5
"""Weight of each of the two value losses."""
MAX_GRADIENT = 0.5
"""Largest norm of the gradient."""
IMITATION_DECISIONS = 300_000
"""Largest number of decisions in the part of the training in which greedy play is imitated."""
POOL_SHARES = (0.1, 0.3, 0.6)
"""Shares of the pool's opponents that play at random, greedily, and as past selves do."""
PAST_SELVES = 6
"""Largest number of past selves; a new one then replaces the one that is beaten most often."""


@dataclass
class Arguments(TrainingArguments):
    """Train a network by PPO in self-play, evaluate it, and keep everything in a folder."""

    trainer = "ppo"
    agent_arguments = ("panel", "pool_agents")

    steps: int | None = None
    """training length, decisions learned from; not limited with --minutes and otherwise 2,000,000 if not given"""
    threads: int = 1
    """number of threads that share a minibatch; two help where waking one takes less than 0.1 ms, see docs"""

    outcome: float = 0.0
    """initial share of the first place in what is maximised, 0 to 1; the rest is the margin of points; rises linearly to 1"""
    imitation: float = 0.3
    """share of the training in which greedy play is imitated; its weight in the loss falls linearly from 1 to 0"""

    envs: int = 128
    """number of games played at once"""
    rollout: int = 32
    """length of a rollout: decisions in each game between two updates"""
    epochs: int = 3
    """number of passes over a rollout in an update"""
    minibatch: int = 256
    """number of decisions in a minibatch"""
    learning_rate: float | None = None
    """initial learning rate (Adam), which falls linearly to a twentieth; if not given 2e-3, or 5e-4 with initial weights,
    which the higher one would undo, and then to a tenth"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation"""
    entropy: float = 0.01
    """initial weight of the entropy bonus, which falls linearly to 0.002"""
    values_only: bool = False
    """learn the values alone, of a policy that stays as it is; for initial weights with separate values"""

    start: Path | None = None
    """file of a network with the initial weights, which may be of another number of players; random ones if not given"""

    pool_share: float = 0.0
    """share of the games that are played against the opponent pool: random and greedy play and past selves of the network,
    harder ones more often; the others are played against the network itself"""
    pool_agents: tuple[str, ...] = ()
    """further agents in the pool, named as in the arena, which get half of its games; harder ones are drawn more often"""
    checkpoint_every: int = 400_000
    """decisions learned from between two checkpoints; a past self joins the pool four times as often"""
    device: str = "cpu"
    """where games are played and the network learns: cpu, or cuda for a GPU, which wants thousands of envs"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "envs", "rollout", "minibatch")
        self._within(1, math.inf, "epochs", "checkpoint_every")
        self._within(0, 1, "imitation", "pool_share", "outcome", "gae_lambda")
        self._within(0, math.inf, "entropy", "learning_rate")
        self._within(0, 10**15, "steps")
        if self.device not in ("cpu", "cuda"):
            raise ValueError(f"device must be cpu or cuda, not {short(self.device)}")
        if self.device == "cuda" and self.pool_agents:
            raise ValueError("on a GPU the pool has no further agents: leave out pool_agents")
        if self.resume is None and self.pool_agents and not self.pool_share:
            raise ValueError("pool_agents are not drawn unless pool_share is more than 0")
        if self.values_only and not (self.separate_values and self.start):
            raise ValueError("values_only needs initial weights (start) with separate_values")

    @property
    def learning_rates(self) -> tuple[float, float]:
        """The initial and the final learning rate, as given or by default."""
        default, falls = (2e-3, 20) if self.start is None else (5e-4, 10)
        first = default if self.learning_rate is None else self.learning_rate
        return first, first / falls

    def pool(self, agents: Sequence[Policy] = ()) -> OpponentPool:
        """Return an opponent pool, with the further agents `pool_agents`."""
        return OpponentPool(POOL_SHARES, PAST_SELVES, agents, sum(POOL_SHARES) if agents else 0.0)
