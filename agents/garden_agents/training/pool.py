"""Self-play: the opponent pool, and Stable-Baselines3's environment for games against it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from garden_agents.matches.meet import scores
from garden_agents.networks.heads import sample
from garden_agents.networks.network import Network
from garden_core.batch.batch import Batch
from garden_core.batch.learner import Opponent
from garden_core.batch.policies import NETWORK_STREAM, GreedyPolicy, Policy, RandomPolicy, Streams
from garden_core.game import Game
from garden_core.interfaces.sb3 import GardenVecEnv
from garden_core.jit import loops
from garden_core.jit.rewards import outcome

MEMORY = 0.98  # decay per game of the moving average of win rates


class PastSelf:
    """A frozen copy of a network as an opponent.

    Args:
        seed: seed of the sampled actions.

    Attributes:
        network: the copy; `OpponentPool.freeze` sets it.
    """

    network: Network

    def __init__(self, seed: int = 0) -> None:
        self._streams = Streams(NETWORK_STREAM, seed)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return a sampled action for each of `rows`, int64 (len(rows),); raises as `Batch.asked`.

        It plays the variants that the network learns from.
        """
        rows = batch.asked(rows, any_variant=True)
        logits, _ = self.network.evaluate(batch.flat[rows])
        return sample(logits, batch.action_mask[rows], self._streams.on(batch), rows)[0]


class OpponentPool:
    """Opponents for self-play: random, greedy, other agents, and up to `size` past selves.

    Harder agents and past selves are drawn more often, by prioritised fictitious self-play (O. Vinyals et al., "Grandmaster
    level in StarCraft II using multi-agent reinforcement learning", 2019): an opponent's weight is (1 - w)² + 0.05, where w is
    the rate of games in which the learner finishes ahead of it. When the pool is full, a new past self replaces the one with
    the highest w.

    Args:
        shares: weights of random, greedy and past selves in the draws. Until there is a past self, random has its weight too.
        size: largest number of past selves.
        agents: the other agents; together they have the weight 1.
    """

    def __init__(self, shares: tuple[float, float, float], size: int, agents: Sequence[Policy] = ()) -> None:
        self.shares = shares
        self.selves = [PastSelf(seed) for seed in range(size)]
        self.opponents: list[Opponent] = ["random", "greedy", *agents, *self.selves]
        self.policies: list[Policy] = [RandomPolicy(), GreedyPolicy(), *agents, *self.selves]
        """The opponents as policies for a batch."""
        self.first_self = 2 + len(agents)
        """Index of the first past self."""
        self.frozen = 0
        self.ahead = np.full(len(self.policies), 0.5)
        """For each opponent, the recent rate of games in which the learner finished ahead of it."""
        self.met = np.zeros(len(self.policies), np.bool_)

    def freeze(self, network: Network) -> None:
        """Add a past self, a frozen copy of `network`."""
        if not self.selves:
            return
        place = self.frozen
        if self.frozen == len(self.selves):
            place = int(self.ahead[self.first_self :].argmax())
        else:
            self.frozen += 1
        self.selves[place].network = network.copy()
        index = self.first_self + place
        self.ahead[index], self.met[index] = 0.5, False  # unfinished games continue against the new one

    def count(self, opponent: int, result: float) -> None:
        """Record a game in which the learner finished ahead of an opponent (1), level with it (0.5) or behind it (0)."""
        self.met[opponent] = True
        self.ahead[opponent] = MEMORY * self.ahead[opponent] + (1 - MEMORY) * result

    def count_games(self, standings: np.ndarray, opponents: np.ndarray) -> None:
        """Record finished games of the learner.

        Args:
            standings: int32 (N, seats), the final standings.
            opponents: int (N, seats), the opponent in each seat; -1 for the learner's, and in games without opponents.
        """
        seats = (opponents < 0).argmax(1)[:, None]
        ahead = np.take_along_axis(standings, seats, 1).astype(np.int64) - standings
        for game, seat in np.argwhere(opponents >= 0):
            self.count(opponents[game, seat], (np.sign(ahead[game, seat]) + 1) / 2)

    @property
    def weights(self) -> np.ndarray:
        """Weight of each opponent in the draws, float (opponents,)."""
        random, greedy, own = self.shares
        weights = np.zeros(len(self.policies))
        weights[:2] = random, greedy
        if not self.frozen:
            weights[0] += own
        for group, share in ((self._agents, 1.0), (self._frozen, own)):
            hard = (1 - self.ahead[group]) ** 2 + 0.05
            weights[group] = share * hard / max(hard.sum(), 0.05)
        return weights

    @property
    def _agents(self) -> slice:
        return slice(2, self.first_self)

    @property
    def _frozen(self) -> slice:
        return slice(self.first_self, self.first_self + self.frozen)

    def rates(self) -> dict[str, float]:
        """Return recent rates of games in which the learner finished ahead of the opponents, by kind: "random", "greedy",
        "agents", "self"; only kinds that it met.
        """
        groups = {"random": slice(0, 1), "greedy": slice(1, 2), "agents": self._agents, "self": self._frozen}
        return {
            name: float(self.ahead[group][self.met[group]].mean())
            for name, group in groups.items()
            if self.met[group].any()
        }

    def report(self, bar: tqdm, names: Sequence[str]) -> dict[str, float]:
        """Show the rates on a progress bar; return the rates of the kinds `names` as metrics, NaN for kinds not met."""
        rates = self.rates()
        bar.set_postfix_str(", ".join(f"{name} {rate:.0%}" for name, rate in rates.items()))
        return {f"ahead_of_{name}": rates.get(name, math.nan) for name in names}

    @property
    def networks(self) -> list[Network]:
        """The networks of the past selves."""
        return [past.network for past in self.selves[: self.frozen]]

    def restore(
        self,
        ahead: Sequence[float],
        met: Sequence[bool],
        weights: Sequence[Mapping[str, np.ndarray]],
        network: Network,
    ) -> None:
        """Restore the pool from a checkpoint.

        Args:
            ahead, met: see `Progress`.
            weights: weights of the past selves.
            network: a network of the same architecture.

        Raises:
            ValueError: if the checkpoint's pool has another size.
        """
        if not len(ahead) == len(met) == len(self.ahead) or len(weights) > len(self.selves):
            raise ValueError(
                f"it is of another pool than one with {self.first_self - 2} agents and {len(self.selves)} past selves"
            )
        self.frozen = len(weights)
        self.ahead[:], self.met[:] = ahead, met
        for past, own in zip(self.selves, weights, strict=False):
            past.network = network.copy(own)


class SelfPlayVecEnv(GardenVecEnv):
    """Games against an opponent pool, with a mix of margin and outcome as reward.

    Args:
        game: the game with the reward "margin"; the environment adds the outcome.
        num_envs: number of games.
        pool: the opponent pool; it records every result.
    """

    def __init__(self, game: Game, num_envs: int, pool: OpponentPool) -> None:
        super().__init__(game, num_envs, pool.opponents, pool.weights)
        self.pool = pool
        self.outcome_share = 0.0
        """Share of the outcome in the reward; the rest is the margin."""
        self._outcome = np.zeros(game.num_players, np.float32)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Take the actions; return observations, rewards, dones and infos."""
        observation, rewards, dones, infos = super().step_wait()
        rewards *= 1 - self.outcome_share
        rows = np.flatnonzero(dones)
        if len(rows):
            rewards[rows] += self.outcome_share * self._finish(rows)
        return observation, rewards, dones, infos

    def _finish(self, rows: np.ndarray) -> np.ndarray:
        """Record the finished games of `rows` in the pool; return the learner's outcome in each, float32."""
        learner, game = self.learner, self.game
        states = learner.batch.last_states[rows]
        if game.cooperative:
            return scores(game, states).min(1) / np.float32(game.reward_divisor)
        standings = loops.by_seat(loops.standings_rows, game, states)
        outcomes, seats = np.zeros(len(rows), np.float32), learner.final_seats[rows]
        for i, seat in enumerate(seats):
            outcome(standings[i], game.num_players, self._outcome)
            outcomes[i] = self._outcome[seat]
        drawn = learner.final_drawn[rows, : game.num_players]
        drawn[np.arange(len(rows)), seats] = -1
        self.pool.count_games(standings, drawn)
        return outcomes
