"""Self-play: the pool of opponents that a learner meets, and the environment that it learns in."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from garden_agents.networks.files import load_weights
from garden_agents.networks.policies import sample
from garden_core import loops, rewards
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.interfaces.sb3 import GardenVecEnv
from garden_core.learner import Opponent

__all__ = ["OpponentPool", "PastSelf", "SelfPlayVecEnv"]

MEMORY = 0.98  # weight of what was known of a win rate, when a game is added to it


class PastSelf:
    """A frozen copy of a policy network as an opponent; all rows that ask are answered in one pass."""

    def __init__(self) -> None:
        self.policy: Any = None

    def freeze(self, policy: Any) -> None:
        """Become a copy of `policy` as it is now."""
        optimizer, policy.optimizer = policy.optimizer, None  # its moments are as large as the network
        try:
            self.policy = copy.deepcopy(policy)
        finally:
            policy.optimizer = optimizer
        self.policy.set_training_mode(False)

    @torch.inference_mode()
    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Draw an action for each of `rows`."""
        return sample(self.policy.masked_logits(batch.observation[rows], batch.action_mask[rows])).numpy()


class OpponentPool:
    """The opponents random and greedy, and up to `size` frozen selves, the hard ones more often.

    A past self is drawn in proportion to (1 - w)² + 0.05, w being how often the learner comes out ahead of it; when
    a new one needs room, the one that is beaten most often goes (prioritised fictitious self-play: O. Vinyals et
    al., "Grandmaster level in StarCraft II using multi-agent reinforcement learning", 2019).

    Args:
        shares: how often to draw random, greedy and a past self. The share of past selves goes to random until
            there is one.
        size: number of past selves kept.
    """

    def __init__(self, shares: tuple[float, float, float], size: int) -> None:
        self.shares = shares
        self.selves = [PastSelf() for _ in range(size)]
        self.opponents: list[Opponent] = ["random", "greedy", *self.selves]
        self.frozen = 0
        self.ahead = np.full(2 + size, 0.5)
        """By opponent, how often the learner has come out ahead of it lately."""
        self.met = np.zeros(2 + size, np.bool_)

    def freeze(self, policy: Any) -> None:
        """Add a frozen copy of `policy`."""
        if not self.selves:
            return
        place = self.frozen
        if self.frozen == len(self.selves):
            place = int(self.ahead[2:].argmax())
        else:
            self.frozen += 1
        self.selves[place].freeze(policy)
        self.ahead[2 + place] = 0.5  # games that still go on against the old one are now against the new one
        self.met[2 + place] = False

    def count(self, opponent: int, result: float) -> None:
        """Remember that the learner came out ahead (1), level (½) or behind (0) of an opponent."""
        self.met[opponent] = True
        self.ahead[opponent] = MEMORY * self.ahead[opponent] + (1 - MEMORY) * result

    @property
    def weights(self) -> np.ndarray:
        """How often each opponent is drawn, float (2 + size,)."""
        random, greedy, own = self.shares
        weights = np.zeros(2 + len(self.selves))
        weights[:2] = random, greedy
        if self.frozen:
            hard = (1 - self.ahead[2 : 2 + self.frozen]) ** 2 + 0.05
            weights[2 : 2 + self.frozen] = own * hard / hard.sum()
        else:
            weights[0] += own
        return weights

    def rates(self) -> dict[str, float]:
        """How often the learner comes out ahead of random, greedy and, on average, past selves; where known."""
        groups = {"random": slice(0, 1), "greedy": slice(1, 2), "self": slice(2, 2 + self.frozen)}
        return {
            name: float(self.ahead[group][self.met[group]].mean())
            for name, group in groups.items()
            if self.met[group].any()
        }

    @property
    def networks(self) -> list[Any]:
        """The frozen networks, for a checkpoint."""
        return [past.policy for past in self.selves[: self.frozen]]

    def restore(
        self, ahead: Sequence[float], met: Sequence[bool], weights: Sequence[dict[str, Any]], policy: Any
    ) -> None:
        """Restore win rates and frozen networks from a checkpoint; `policy` is a network of the same shape.

        Raises:
            ValueError: if they are of a pool of another size.
        """
        if not len(ahead) == len(met) == len(self.ahead) or len(weights) > len(self.selves):
            raise ValueError(f"it is of another pool than one with {len(self.selves)} past selves")
        self.frozen = len(weights)
        self.ahead[:], self.met[:] = ahead, met
        for past, own in zip(self.selves, weights, strict=False):
            past.freeze(policy)
            load_weights(past.policy, own)


class SelfPlayVecEnv(GardenVecEnv):
    """Games against a pool, paid by a mix of margin and outcome.

    Args:
        game: with the reward "margin"; the outcome is added here.
        num_envs: number of games.
        pool: of opponents; told how every game ended.
    """

    def __init__(self, game: Game, num_envs: int, pool: OpponentPool) -> None:
        super().__init__(game, num_envs, pool.opponents, pool.weights)
        self.pool = pool
        self.outcome_share = 0.0
        """How much of the reward is outcome; the rest is margin."""
        seats = game.max_players
        self._tally = np.zeros((num_envs, seats), np.int32)
        self._outcome = np.zeros(seats, np.float32)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take the actions; return observations, rewards, dones and infos."""
        observation, paid, dones, infos = super().step_wait()
        paid *= 1 - self.outcome_share
        rows = np.flatnonzero(dones)
        if len(rows):
            paid[rows] += self.outcome_share * self._settle(rows)
        return observation, paid, dones, infos

    def _settle(self, rows: np.ndarray) -> np.ndarray:
        """Tell the pool how the games of `rows` ended; return the learner's outcome in each."""
        learner, game = self.learner, self.game
        states, tally = learner.batch.last_states[rows], self._tally[: len(rows)]
        outcomes = np.zeros(len(rows), np.float32)
        if game.cooperative:
            loops.points_rows(states, game.params, tally)
            return tally[:, : game.num_players].min(1) / np.float32(game.reward_divisor)
        loops.standings_rows(states, game.params, tally)
        for i, row in enumerate(rows):
            seat = learner.final_seats[row]
            rewards.outcome(tally[i], game.num_players, self._outcome)
            outcomes[i] = self._outcome[seat]
            for other in range(game.num_players):
                if other != seat:
                    ahead = (np.sign(int(tally[i, seat]) - int(tally[i, other])) + 1) / 2
                    self.pool.count(int(learner.final_drawn[row, other]), ahead)
        return outcomes
