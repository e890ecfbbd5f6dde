"""Arguments of our own trainer of PPO, and constants that need no tuning."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from garden_agents.networks.variants import MOST, Variants
from garden_agents.registry import value_of
from garden_agents.training.arguments import TrainingArguments
from garden_core.checks import check_choice, short

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


@dataclass
class Arguments(TrainingArguments):
    """Train a network by PPO in self-play and evaluate it; write a folder with all results.

    `--trainer own` (default) trains from all seats; `--trainer sb3` is Stable-Baselines3's MaskablePPO, with a few other options.
    """

    trainer = "ppo"
    agent_arguments = ("pool_agents",)
    from_scratch = ("imitation", "learning_rate")
    pool_shares = (0.1, 0.3, 0.6)

    threads: int = 1
    """number of threads per minibatch; docs/training.md shows what a second one gains"""
    imitation: float | None = None
    """share of the training during which greedy play is imitated; the weight in the loss falls linearly from 1 to 0;
    default: 0.3 (0 with --start, as imitation would undo what the network has learned)"""
    minibatch: int = 256
    """number of decisions in a minibatch"""
    learning_rate: float | None = None
    """initial learning rate of Adam, which falls linearly to a twentieth, or to a tenth with --start; default: 2e-3 (5e-4 with --start)"""
    start: Path | None = None
    """file of a network with the initial weights, possibly for another number of players, which also joins the opponent pool;
    default: random weights"""

    pool_share: float = 0.0
    """share of the games played against the opponent pool: random, greedy and past selves of the network, harder ones more
    often; in the other games the network plays all seats"""
    pool_agents: tuple[str, ...] = ()
    """further agents in the pool, named as in the arena; they get half of the opponents' seats, harder ones more often"""
    variants: tuple[str, ...] = ()
    """options of which one network learns several values, for example: --variants num_players=2,3,4,5"""
    card_sets: int = 0
    """number of generated card sets to learn from, of the seeds 0, 1, ...; 0 for the game's own cards"""
    device: str = "cpu"
    """device of the games and the network: cpu, or cuda for a GPU, which needs thousands of envs"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._within(1, 65_536, "minibatch")
        self._within(0, 1, "imitation", "pool_share")
        self._within(0, math.inf, "learning_rate")
        self._within(0, MOST, "card_sets")
        if self.pool_agents and self.played.several:
            raise ValueError("pool_agents play one variant: leave them out, or variants and card_sets")
        if self.device == "cuda" and self.played.several:
            raise ValueError("on a GPU one variant is trained at a time: leave out variants and card_sets")
        check_choice(self.device, "device", ("cpu", "cuda"))
        if self.device == "cuda" and self.pool_agents:
            raise ValueError("on a GPU the pool has no further agents: leave out pool_agents")
        if self.resume is None and self.pool_agents and not self.pool_share:
            raise ValueError("pool_agents are not drawn unless pool_share is more than 0")

    @property
    def played(self) -> Variants:
        """The variants to learn from."""
        found: dict[str, tuple[Any, ...]] = {}
        for text in self.variants:
            name, equals, values = text.partition("=")
            if not (name and equals and values) or name in found or name == "reward":
                raise ValueError(
                    f"variants are given as OPTION=VALUE,VALUE, each option once and no reward, not {short(text)}"
                )
            found[name] = tuple(dict.fromkeys(map(value_of, values.split(","))))
        return Variants(found, self.card_sets)

    @property
    def imitation_share(self) -> float:
        """`imitation` as given or by default."""
        if self.imitation is None:
            return 0.3 if self.start is None else 0.0
        return self.imitation

    @property
    def learning_rates(self) -> tuple[float, float]:
        """The initial and the final learning rate, as given or by default."""
        default, factor = (2e-3, 20) if self.start is None else (5e-4, 10)
        first = default if self.learning_rate is None else self.learning_rate
        return first, first / factor
