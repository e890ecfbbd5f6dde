"""Self-play: games of the network against itself and a pool, and the decisions to learn from.

Games and network are on the CPU; for a GPU see `gpu.self_play`.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from garden_agents.networks.heads import chances_and_margins, sample
from garden_agents.training.credit import (
    OPEN,
    TARGET_FINAL,
    Decisions,
    Rollout,
    advantages,
    link,
    pay,
    value_targets,
)
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_arguments import VALUE_LAMBDA, Arguments
from garden_agents.training.torch_network import TorchNetwork
from garden_core.batch.batch import Batch
from garden_core.batch.policies import GreedyPolicy, Policy, ask
from garden_core.game import Game
from garden_core.jit import loops


class SelfPlay:
    """Games of the network against itself and against the pool, and the decisions to learn from.

    Args:
        games: the game with the reward "margin", or variants of it.
        network: the network.
        pool: the opponent pool; it records results.
        arguments: the training's arguments.
        seed: seed of the games and of the sampled actions.

    Attributes:
        decisions: the decisions; the first `count` are filled, beginning with the open decisions of the last rollout.
        inputs: network inputs of each decision.
    """

    def __init__(
        self,
        games: Sequence[Game],
        network: TorchNetwork,
        pool: OpponentPool,
        arguments: Arguments,
        seed: int,
    ) -> None:
        self.network, self.pool, self.arguments = network, pool, arguments
        self.cooperative = games[0].cooperative
        envs = arguments.envs
        self.rng = np.random.default_rng(seed)
        self.batch = Batch(games, envs, device=network.device.type)
        n = self.batch.num_players
        self.batch.reset(seed)
        self._here = self.batch.target.to_numpy
        self.greedy = GreedyPolicy(seed)
        size = envs * (arguments.rollout + n)
        self.decisions = Decisions.empty(games[0], n, size)
        observation = self._here(self.batch.flat)[:1].copy()
        shapes = [part.shape[1:] for part in network.network.inputs(observation)]
        self.inputs = tuple(np.zeros((size, *shape), np.float32) for shape in shapes)
        self.count = 0
        self.latest = np.full((envs, n), -1)
        """Last decision of each seat in each game, an index into `decisions`; -1 for none."""
        self.last = np.full(envs, -1)
        """Last decision in each game."""
        self.opponents = np.full((envs, n), -1)
        """Opponent in each seat, an index into the pool; -1 for the current network."""
        self._num_players = np.array([game.num_players for game in games])
        self.seats = np.zeros(envs, np.int64)
        """Number of seats in each game."""
        self._standings = np.zeros((envs, games[0].max_players), np.int32)
        self._rng_states = self.rng.integers(2**63, size=(envs, 4), dtype=np.uint64)
        self._seat_opponents(np.arange(envs))

    def rollout(self, with_greedy: bool) -> Rollout:
        """Play `rollout` decisions in each game; return them, as views of memory that the next call overwrites."""
        self.play(with_greedy)
        chosen, advantages = self.advantages()
        inputs = tuple(part[: self.count] for part in self.inputs)
        return Rollout(self._filled, inputs, chosen, advantages)

    @property
    def _filled(self) -> Decisions:
        return Decisions(*(part[: self.count] for part in self.decisions))

    def play(self, with_greedy: bool) -> None:
        """Play `rollout` decisions in each game; fill `decisions` and `inputs`.

        Args:
            with_greedy: also fill `decisions.greedy`.
        """
        self._keep_open_decisions()
        batch = self.batch
        for _ in range(self.arguments.rollout):
            actions, deciding = self._look()
            opponents = self.opponents[batch.all_rows, self._here(batch.current_player)]
            own = np.flatnonzero(deciding & (opponents < 0))
            for opponent in np.unique(opponents[deciding & (opponents >= 0)]):
                rows = np.flatnonzero(deciding & (opponents == opponent))
                actions[rows] = self._ask(self.pool.policies[opponent], rows)
            if len(own):
                actions[own] = self._decide(own, with_greedy)
            batch.step(actions)
            self._pay()

    def advantages(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the indexes of the decisions to learn from, and the advantages of all, float32 (count, columns).

        Fills `decisions.targets` too.
        """
        d = self._filled
        value_targets(d.after, d.deciders, d.seats, d.values, d.paid, VALUE_LAMBDA, d.targets)
        out = np.zeros_like(d.values)
        advantages(d.next, d.values, d.rewards, self.arguments.gae_lambda, out)
        return np.flatnonzero(d.next != OPEN), out

    def _look(self) -> tuple[np.ndarray, np.ndarray]:
        """Return a legal action in each game, int64 (envs,), and whether there are others, bool (envs,)."""
        mask = self.batch.action_mask
        return mask.argmax(1), mask.sum(1, dtype=np.int64) > 1

    def _ask(self, opponent: Policy, rows: np.ndarray) -> np.ndarray:
        """Return an opponent's actions in `rows`, int64 (len(rows),)."""
        return self._here(ask(opponent, self.batch, rows))

    def _evaluate(self, rows: np.ndarray, new: slice) -> np.ndarray:
        """Fill inputs, masks, sampled actions and their log probabilities of the decisions `new`; return raw values."""
        batch, d = self.batch, self.decisions
        inputs = tuple(part[new] for part in self.inputs)
        logits, raw = self.network.evaluate(batch.flat[rows], inputs)
        d.masks[new] = batch.action_mask[rows]
        d.actions[new], d.log_probabilities[new] = sample(logits, d.masks[new], self._rng_states, rows)
        return raw

    def _final_standings(self, rows: np.ndarray) -> np.ndarray:
        """Return the standings of the finished games of `rows`, int32 (len(rows), max_players); 0 for seats that a game lacks."""
        standings = np.zeros((len(rows), self._standings.shape[1]), np.int32)
        loops.standings_rows(self.batch.last_states[rows], self.batch.target.params, standings)
        return standings

    def _decide(self, rows: np.ndarray, with_greedy: bool) -> np.ndarray:
        """Choose the network's actions in `rows`, and add the decisions."""
        batch, d = self.batch, self.decisions
        new = slice(self.count, self.count + len(rows))
        raw = self._evaluate(rows, new)
        seats = self.seats[rows]
        d.values[new] = (
            raw if self.cooperative else chances_and_margins(raw, seats if len(batch.games) > 1 else None)
        )
        d.seats[new] = seats
        d.rewards[new], d.paid[new], d.deciders[new] = 0, 0, self._here(batch.current_player)[rows]
        d.counted[new] = (self.opponents[rows] < 0).all(1) | (self.arguments.pool_share == 1)
        if with_greedy:
            d.greedy[new] = self._here(self.greedy(batch, rows))
        link(self.latest, self.last, d.next, d.after, rows, d.deciders[new], self.count)
        self.count += len(rows)
        return d.actions[new]

    def _pay(self) -> None:
        """Add the last step's rewards to the open decisions; draw new opponents where a game ended."""
        batch, d = self.batch, self.decisions
        over = self._here(batch.terminated) | self._here(batch.truncated)
        ended = np.flatnonzero(over)
        if len(ended):
            self._standings[ended] = self._final_standings(ended)
        chains = self.latest, self.last, d.next, d.after, d.deciders
        pay(*chains, d.rewards, d.paid, self._here(batch.rewards), over, self._standings, self.seats)
        if len(ended):
            opponents = self.opponents[ended]
            self.pool.count_games(self._standings[ended, : opponents.shape[1]], opponents)
            self._seat_opponents(ended)

    def _seat_opponents(self, rows: np.ndarray) -> None:
        """Draw the opponents of the new games in `rows`."""
        a, variants = self.arguments, self._here(self.batch.variant)
        self.seats[rows] = self._num_players[variants[rows]]
        self.opponents[rows] = -1
        rows = rows[self.rng.random(len(rows)) < a.pool_share]
        rows = rows[self.seats[rows] > 1]
        if len(rows) and not self.cooperative:
            n, seats = self.opponents.shape[1], self.seats[rows]
            weights = self.pool.weights / self.pool.weights.sum()
            drawn = self.rng.choice(len(weights), (len(rows), n), p=weights)
            self.opponents[rows] = np.where(np.arange(n) < seats[:, None], drawn, -1)
            self.opponents[rows, self.rng.integers(seats)] = -1

    def _keep_open_decisions(self) -> None:
        """Drop all decisions but the open ones; value targets are final except at the last decision of each game."""
        rows, seats = np.nonzero(self.latest >= 0)
        order = np.argsort(self.latest[rows, seats])
        rows, seats = rows[order], seats[order]
        kept = self.latest[rows, seats]
        for array in (*self.decisions, *self.inputs):
            array[: len(kept)] = array[kept]
        last = kept == self.last[rows]
        self.decisions.after[: len(kept)][~last] = TARGET_FINAL
        self.last[rows[last]] = np.flatnonzero(last)
        self.latest[rows, seats] = np.arange(len(kept))
        self.count = len(kept)
