"""Compiled loops over many states, written once for all games. `params` is an array of one record throughout."""

from __future__ import annotations

import numpy as np

from garden_core import kernels
from garden_core.jit import compiled
from garden_core.rng import bounded, game_seed, nth_legal

__all__ = [
    "deal_one",
    "deal_rows",
    "first_illegal",
    "observe_rows",
    "points_rows",
    "random_play",
    "refresh",
    "standings_rows",
    "step_one",
    "step_rows",
]


@compiled
def refresh(states, params, row, observations, masks):
    """Write the view and the mask of the player to move in `row`; a mask of ones when the game is over.

    A finished game is seen by the seat of its last `current_player`.
    """
    state = states[row]
    if state.terminated or state.truncated:
        masks[row, :] = 1
    else:
        kernels.legal_actions(state, params[0], masks[row])
    kernels.observe(state, params[0], np.int64(state.current_player), observations[row])


@compiled
def deal_rows(states, params, rows, bases, streams, games, observations, masks, current_player):
    """Deal the game that `bases`, `streams` and `games` name, in each of `rows`, and show it."""
    for i in range(rows.shape[0]):
        row = rows[i]
        kernels.deal(states[row], params[0], game_seed(bases[row], streams[row], games[row]))
        refresh(states, params, row, observations, masks)
        current_player[row] = states[row].current_player


@compiled
def deal_one(states, params, base, game, observations, masks):
    """Deal game number `game` of the seed `base` into row 0, as row 0 of a batch has it, and show it."""
    kernels.deal(states[0], params[0], game_seed(base, np.uint64(0), game))
    refresh(states, params, np.int64(0), observations, masks)


@compiled
def step_one(states, params, action, observations, masks):
    """Take a legal action in row 0 and show the result; return whether the game is over."""
    state = states[0]
    kernels.apply_action(state, params[0], action)
    refresh(states, params, np.int64(0), observations, masks)
    return state.terminated != 0 or state.truncated != 0


@compiled
def first_illegal(masks, states, rows, actions):
    """Return the first index i such that actions[i] is not legal in rows[i] (or its game is over), else -1."""
    for i in range(rows.shape[0]):
        row, action = rows[i], actions[i]
        if action < 0 or action >= masks.shape[1] or not masks[row, action]:
            return i
        if states[row].terminated or states[row].truncated:
            return i
    return -1


@compiled
def step_rows(
    states, last_states, params, rows, actions, autoreset, bases, streams, games,
    observations, masks, current_player, rewards, terminated, truncated,
):  # fmt: skip
    """Take legal actions[i] in rows[i]; a finished game is kept in `last_states` and, if asked, dealt anew."""
    num_players = rewards.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        state = states[row]
        kernels.apply_action(state, params[0], actions[i])
        for p in range(num_players):
            rewards[row, p] = state.rewards[p]
        terminated[row] = state.terminated != 0
        truncated[row] = state.truncated != 0
        if state.terminated or state.truncated:
            last_states[row] = states[row]
            if autoreset:
                games[row] += np.uint64(1)
                kernels.deal(state, params[0], game_seed(bases[row], streams[row], games[row]))
        refresh(states, params, row, observations, masks)
        current_player[row] = state.current_player


@compiled
def observe_rows(states, params, players, out):
    """Write into out[i] what seat players[i] sees of states[i]."""
    for i in range(states.shape[0]):
        kernels.observe(states[i], params[0], np.int64(players[i]), out[i])


@compiled
def standings_rows(states, params, out):
    """Write the standings of states[i] into out[i], int32 (N, max players)."""
    for i in range(states.shape[0]):
        kernels.standings(states[i], params[0], out[i])


@compiled
def points_rows(states, params, out):
    """Write the points of states[i] into out[i], int32 (N, max players)."""
    for i in range(states.shape[0]):
        kernels.points(states[i], params[0], out[i])


@compiled
def random_play(states, params, steps, with_views, observations, masks, bases, streams, games, words):
    """Play `steps` uniformly random decisions in every row, dealing anew after each end; return games ended.

    `words`, uint64 (N, 4): the generators of the choice. With views, each decision writes mask and observation
    of the player to move; without, the mask alone. `observations` and `masks` have a row per state.
    """
    ended = 0
    for _ in range(steps):
        for row in range(states.shape[0]):
            state = states[row]
            n = kernels.legal_actions(state, params[0], masks[row])
            if with_views:
                kernels.observe(state, params[0], np.int64(state.current_player), observations[row])
            kernels.apply_action(state, params[0], nth_legal(masks[row], bounded(words[row], n)))
            if state.terminated or state.truncated:
                ended += 1
                games[row] += np.uint64(1)
                kernels.deal(state, params[0], game_seed(bases[row], streams[row], games[row]))
    return ended
