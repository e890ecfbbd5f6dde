"""Recorded games in arrays, and the compiled loops that play them again. `params` is an array of one record."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core import kernels
from garden_core.jit import compiled

__all__ = ["Decisions", "Games", "Owed", "expand", "play_again"]


class Games(NamedTuple):
    """Some recorded games.

    Attributes:
        seeds: uint64 (G,), seed of each deal.
        starts: int64 (G,), where the game's actions begin in `actions`.
        lengths: int64 (G,), how many decisions it has.
        actions: uint8 or uint16 (D,), the actions of games one after another, perhaps of others too.
    """

    seeds: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray
    actions: np.ndarray


class Decisions(NamedTuple):
    """The decisions of some games, those of a game one after another: a row of every array is one decision.

    Attributes:
        observation: int8 `(n, *game.observation_shape)`, what the player to move sees, 0 to 127.
        action_mask: int8 (n, num_actions), 1 where legal.
        action: int64 (n,), the action that was taken.
        player: int64 (n,), the seat that took it.
        agent: int64 (n,), who sat there, an index into the dataset's `agents`.
        reward: float32 (n,), what that seat was paid from this decision until its next one, or until the end. What it is
            paid before its first decision belongs to that.
        return_to_go: float32 (n,), the sum of the seat's rewards from this decision on: with `reward="outcome"` its
            outcome.
        game: int64 (n,), number of the game in the dataset.
        last: bool (n,), whether it is the seat's last decision in its game.
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


class Owed(NamedTuple):
    """Memory that `expand` overwrites, by seat.

    Attributes:
        latest: int64 (players,), the seat's latest decision in this game, -1 before its first.
        sums: float32 (players,).
    """

    latest: np.ndarray
    sums: np.ndarray


@compiled
def play_again(games, params, states, mask, played, returns):
    """Play game i into states[i] as far as its actions are legal: played[i] decisions, int64.

    `mask`, int8 (num_actions,), is overwritten; returns[i], float32 (G, players), is the sum of each seat's rewards.
    """
    for i in range(states.shape[0]):
        state = states[i]
        kernels.deal(state, params[0], games.seeds[i])
        returns[i, :] = 0
        played[i] = games.lengths[i]
        for k in range(games.lengths[i]):
            over = state.terminated or state.truncated
            action = np.int64(games.actions[games.starts[i] + k])
            if over or action >= mask.shape[0] or not _is_legal(state, params, action, mask):
                played[i] = k
                break
            kernels.apply_action(state, params[0], action)
            for p in range(returns.shape[1]):
                returns[i, p] += state.rewards[p]


@compiled
def _is_legal(state, params, action, mask):
    kernels.legal_actions(state, params[0], mask)
    return mask[action] != 0


@compiled
def expand(games, params, states, decisions, owed):
    """Play game i, all of whose actions are legal, into states[i], and write its decisions, but for `agent` and `game`.

    The observations are flat, int8 (n, observation size).
    """
    first = 0
    for i in range(states.shape[0]):
        kernels.deal(states[i], params[0], games.seeds[i])
        owed.latest[:] = -1
        owed.sums[:] = 0
        end = first + games.lengths[i]
        for d in range(first, end):
            decisions.action[d] = games.actions[games.starts[i] + d - first]
            _decide(states[i], params, d, decisions, owed)
        _sum_up(first, end, decisions, owed)
        first = end


@compiled
def _decide(state, params, d, decisions, owed):
    """Write decision d, take its action, and pay every seat for its latest decision."""
    player = np.int64(state.current_player)
    kernels.observe(state, params[0], player, decisions.observation[d])
    kernels.legal_actions(state, params[0], decisions.action_mask[d])
    decisions.player[d] = player
    if owed.latest[player] < 0:
        decisions.reward[d] = owed.sums[player]
    else:
        decisions.reward[d] = 0
    owed.latest[player] = d
    kernels.apply_action(state, params[0], decisions.action[d])
    for p in range(owed.latest.shape[0]):
        if owed.latest[p] < 0:
            owed.sums[p] += state.rewards[p]
        else:
            decisions.reward[owed.latest[p]] += state.rewards[p]


@compiled
def _sum_up(first, end, decisions, owed):
    """Write what each decision of a game, those from `first` to `end`, leads to."""
    owed.sums[:] = 0
    for d in range(end - 1, first - 1, -1):
        player = decisions.player[d]
        owed.sums[player] += decisions.reward[d]
        decisions.return_to_go[d] = owed.sums[player]
        decisions.last[d] = owed.latest[player] == d
