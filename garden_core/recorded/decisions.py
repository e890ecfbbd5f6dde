"""Recorded games in arrays, and compiled loops that play them again. `params` is an array of one record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core.jit import compiled, kernels


class PlayedGames(NamedTuple):
    """Some recorded games.

    Attributes:
        seeds: uint64 (G,), seed of each deal.
        starts: int64 (G,), index of each game's first action in `actions`.
        lengths: int64 (G,), number of decisions.
        actions: uint8 or uint16 (D,), the actions of these and possibly other games, in sequence.
    """

    seeds: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    actions: np.ndarray


class Decisions(NamedTuple):
    """The decisions of some games, game by game; each row of the arrays is one decision.

    Attributes:
        observation: int8 `(n, *game.observation_shape)`, the view of the player to move, 0 to 127.
        action_mask: int8 (n, num_actions), 1 where legal.
        action: int64 (n,), the action taken.
        player: int64 (n,), the seat that took it.
        agent: int64 (n,), the agent in that seat, an index into the dataset's `agents`.
        reward: float32 (n,), the seat's rewards from this decision to its next one, or to the end. Rewards before its first
            decision are added to the first.
        return_to_go: float32 (n,), the sum of the seat's rewards from this decision on: with `reward="outcome"` its
            outcome.
        game: int64 (n,), number of the game in the dataset.
        last: bool (n,), whether it is the seat's last decision in its game.
        probability: float32 (n,), the probability with which the agent chose the action, NaN where unknown.
    """

    observation: np.ndarray
    action_mask: np.ndarray
    action: np.ndarray
    player: np.ndarray
    agent: np.ndarray
    reward: np.ndarray
    return_to_go: np.ndarray
    game: np.ndarray
    last: np.ndarray
    probability: np.ndarray


class Following(NamedTuple):
    """What seats see at their next decisions; each row of the arrays belongs to one decision.

    Attributes:
        next_observation: int8 `(n, *game.observation_shape)`, what the seat sees at its next decision in the game; after its
            last one, what it sees of the final state.
        next_action_mask: int8 (n, num_actions), the legal actions of the next decision; after the last one all ones.
    """

    next_observation: np.ndarray
    next_action_mask: np.ndarray


@compiled
def play_again(games, params, states, mask, played, returns):
    """Play game i into states[i] up to its first illegal action; write the number of decisions to played[i], int64.

    `mask`, int8 (num_actions,), is overwritten; returns[i], float32 (G, players), is the sum of each seat's rewards.
    """
    returns[:] = 0
    played[:] = 0
    for i in range(states.shape[0]):
        state = states[i]
        kernels.deal(state, params[0], games.seeds[i])
        for k in range(games.lengths[i]):
            action = np.int64(games.actions[games.starts[i] + k])
            if state.terminated or state.truncated or action >= mask.shape[0]:
                break
            kernels.legal_actions(state, params[0], mask)
            if mask[action] == 0:
                break
            kernels.apply_action(state, params[0], action)
            played[i] += 1
            for p in range(returns.shape[1]):
                returns[i, p] += state.rewards[p]


@compiled
def expand(games, params, states, decisions, latest, sums):
    """Play game i into states[i], with legal actions only, and write its decisions except `agent`, `game` and `probability`.

    The observations are flat, int8 (n, observation size). `latest`, int64 (players,), and `sums`, float32 (players,), are
    overwritten.
    """
    first = 0
    for i in range(states.shape[0]):
        state = states[i]
        kernels.deal(state, params[0], games.seeds[i])
        latest[:] = -1  # index of each seat's latest decision in this game
        sums[:] = 0  # each seat's rewards since its latest decision
        end = first + games.lengths[i]
        for d in range(first, end):
            player = np.int64(state.current_player)
            kernels.observe(state, params[0], player, decisions.observation[d])
            kernels.legal_actions(state, params[0], decisions.action_mask[d])
            decisions.player[d] = player
            decisions.action[d] = games.actions[games.starts[i] + d - first]
            if latest[player] >= 0:
                decisions.reward[latest[player]] = sums[player]
                sums[player] = 0
            latest[player] = d
            kernels.apply_action(state, params[0], decisions.action[d])
            for p in range(latest.shape[0]):
                sums[p] += state.rewards[p]
        for p in range(latest.shape[0]):
            if latest[p] >= 0:
                decisions.reward[latest[p]] = sums[p]
        sums[:] = 0  # each seat's return to go
        for d in range(end - 1, first - 1, -1):
            player = decisions.player[d]
            sums[player] += decisions.reward[d]
            decisions.return_to_go[d] = sums[player]
            decisions.last[d] = latest[player] == d
        first = end
