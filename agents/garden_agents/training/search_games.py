"""Games that search plays against itself, and the positions that a network learns from."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from garden_agents.games import hints_of
from garden_agents.networks.heads import num_values, target_of
from garden_agents.networks.network import Network
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.search.agent import MCTSAgent
from garden_agents.search.values import first_places
from garden_agents.training.expert_arguments import Arguments
from garden_core.batch.batch import Batch
from garden_core.game import Game


class Positions(NamedTuple):
    """Positions to learn from.

    Attributes:
        observation: int8 `(n, *observation_shape)`, the observation of the player to move.
        mask: int8 (n, num_actions), its action mask.
        shares: float16 (n, num_actions), policy targets, see `Searched.shares`; zeros in positions that the policy does not
            learn from.
        values: float32 (n, columns), value targets; `heads.num_values` columns.
    """

    observation: np.ndarray
    mask: np.ndarray
    shares: np.ndarray
    values: np.ndarray


def zeros(game: Game, n: int) -> Positions:
    """Return zeroed positions."""
    return Positions(
        np.zeros((n, *game.observation_shape), np.int8),
        np.zeros((n, game.num_actions), np.int8),
        np.zeros((n, game.num_actions), np.float16),
        np.zeros((n, num_values(target_of(game), game.num_players)), np.float32),
    )


class _Decision(NamedTuple):
    """A decision of an unfinished game: a position without its result.

    Attributes:
        shares: policy of the search, see `Searched.shares`; zeros after a fast search.
        values: the search's values of all seats, counted from `player`; None without a network.
        paid: rewards of every seat earlier in the game, by seat.
    """

    observation: np.ndarray
    mask: np.ndarray
    shares: np.ndarray
    player: int
    values: np.ndarray | None
    paid: np.ndarray


class Played(NamedTuple):
    """Number of decisions played, and the positions of the games that ended."""

    decisions: int
    positions: Positions


class PositionSource(Protocol):
    """A source of positions: games in this process (`SearchGames`), or in workers."""

    def play(self, guided: bool) -> Played:
        """Play on; the present network guides the search, or greedy rollouts do."""
        ...


class SearchGames:
    """Games that search plays against itself.

    Args:
        game: the game with the reward "margin".
        arguments: the training's arguments.
        network: the network that guides the search.
        threads: number of threads of search by rollouts.
        seed: seed of the games and of the search's choices.
    """

    def __init__(self, game: Game, arguments: Arguments, network: Network, threads: int, seed: int) -> None:
        a = arguments
        self.game, self.arguments, self.rng = game, arguments, np.random.default_rng((seed, 1))
        search = partial(
            MCTSAgent, exploration=a.exploration, considered=a.considered, scale=a.scale, seed=seed
        )
        agent, counts = NetworkAgent(network, target_of(game)), (a.simulations, a.fast_simulations)
        self.rollout_searches = [search(count, threads=threads) for count in counts]
        self.network_searches = [search(count, network=agent) for count in counts]
        self.batch = Batch(game, arguments.envs, history=bool(hints_of(game).private_fields))
        self.batch.reset(seed)
        self.trajectories: list[list[_Decision]] = [[] for _ in range(arguments.envs)]
        """The decisions of the unfinished game in each row, without those that had only one legal action."""
        self.paid = np.zeros((arguments.envs, game.num_players))
        """Rewards of every seat so far in the unfinished game of each row, margins."""
        seats = game.max_players
        self.final, self.points = np.zeros(seats, np.float32), np.zeros(seats, np.int32)

    def compile(self) -> None:
        """Compile all that games need, by playing on."""
        for guided in (False, True):
            self.play(guided)
        if not self.game.cooperative:
            first_places(self.batch.states[0], self.game.params[0], self.final, self.points)

    def play(self, guided: bool) -> Played:
        """Take one action in every game, some after a full search and the others after a fast one."""
        batch, a = self.batch, self.arguments
        full, fast = self.network_searches if guided else self.rollout_searches
        masks, players = batch.action_mask.copy(), batch.current_player.copy()
        thorough = self.rng.random(a.envs) < a.full_share
        actions, shares = masks.argmax(1), np.zeros(masks.shape, np.float32)
        values = np.zeros((a.envs, self.game.num_players))
        for search, rows in ((full, np.flatnonzero(thorough)), (fast, np.flatnonzero(~thorough))):
            noise = self.rng.gumbel(size=masks[rows].shape)
            searched = search.search(batch, rows, noise)
            actions[rows], values[rows] = searched.actions, searched.values
            if search is full:
                shares[rows] = searched.shares
        for row in np.flatnonzero(masks.sum(1) > 1):
            decision = _Decision(
                batch.observation[row].copy(),
                masks[row],
                shares[row],
                int(players[row]),
                values[row] if guided else None,
                self.paid[row].copy(),
            )
            self.trajectories[row].append(decision)
        batch.step(actions)
        self.paid += batch.rewards
        ended = np.flatnonzero(batch.over)
        return Played(a.envs, joined([zeros(self.game, 0), *(self._finish(int(row)) for row in ended)]))

    def _finish(self, row: int) -> Positions:
        """Return the positions of the finished game in `row`."""
        game, n, decisions = self.game, self.game.num_players, self.trajectories[row]
        if not game.cooperative:
            first_places(self.batch.last_states[row], game.params[0], self.final, self.points)
        positions = zeros(game, len(decisions))
        for i, decision in enumerate(decisions):
            to_come = np.roll(self.paid[row] - decision.paid, -decision.player)
            if game.cooperative:
                target = to_come[:1]
            else:
                values = np.roll(self.final[:n], -decision.player)
                if decision.values is not None:
                    values = values + self.arguments.search_value_share * (decision.values - values)
                target = np.concatenate([((n - 1) * values + 1) / n, to_come])  # chances, margins
            for column, value in zip(positions, (*decision[:3], target), strict=True):
                column[i] = value
        self.trajectories[row], self.paid[row] = [], 0
        return positions


def joined(positions: Sequence[Positions]) -> Positions:
    """Return several positions as one."""
    return Positions(*map(np.concatenate, zip(*positions, strict=True)))
