"""Compiled built-in policies: uniformly random, and greedy for public points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core.game import Game
from garden_core.jit import bounded, compiled, inlined, kernels, next_uint64, nth_legal, records, rewards

RANDOM, GREEDY = 0, 1
BUILT_IN = ("random", "greedy")  # names, in the order of the codes above
FORFEIT = -1
"""In place of an action: the agent gives up this game, in matches, the arena and play."""
LOWEST = np.int64(-(1 << 62))  # lower than any value


class Scratch(NamedTuple):
    """Memory that built-in policies overwrite, made by `scratch`; with a leading dimension, that of several threads.

    Attributes:
        states: state records (3,).
        masks: int8 (at least 2, num_actions).
        points: int32 (max players,).
        action_values: int64 (num_actions,).
    """

    states: np.ndarray
    masks: np.ndarray
    points: np.ndarray
    action_values: np.ndarray


@inlined
def scratch_of(scratches, thread):
    """Return the memory of one thread out of several."""
    return Scratch(
        scratches.states[thread],
        scratches.masks[thread],
        scratches.points[thread],
        scratches.action_values[thread],
    )


@compiled
def _seat_value(state, params, player, points):
    """Return (number of seats - 1) x the margin of `player` by public points, an integer.

    In cooperative games: the team's score x the number of seats.
    """
    kernels.public_points(state, params, points)
    n = params.num_players
    if params.cooperative:
        return rewards.team_score(points, n) * n
    return np.int64(points[player]) * n - rewards.total(points, n)


@compiled
def _best_second(params, player, scratch):
    """Return the best value after one more decision of `player` in `states[0]`; overwrites `states[1]`."""
    best = LOWEST
    kernels.legal_actions(scratch.states[0], params, scratch.masks[1])
    for action in range(scratch.masks.shape[1]):
        if scratch.masks[1, action]:
            kernels.copy_record(scratch.states, 1, scratch.states[0])
            kernels.apply_action(scratch.states[1], params, action)
            best = max(best, _seat_value(scratch.states[1], params, player, scratch.points))
    return best


@compiled
def greedy_action_values(state, params, seed, scratch):
    """Fill `scratch.action_values` for each legal action: value after the player's consecutive decisions (at most two).

    The value is that of `_seat_value`, in a copy resampled from `seed` for the player to move. Writes the legal actions to
    `scratch.masks[0]`.
    """
    player = np.int64(state.current_player)
    states, masks = scratch.states, scratch.masks
    kernels.copy_record(states, 2, state)
    kernels.resample(states[2], params, player, seed)
    kernels.legal_actions(state, params, masks[0])
    for action in range(masks.shape[1]):
        if not masks[0, action]:
            continue
        kernels.copy_record(states, 0, states[2])
        kernels.apply_action(states[0], params, action)
        over = states[0].terminated or states[0].truncated
        if not over and states[0].current_player == player:
            scratch.action_values[action] = _best_second(params, player, scratch)
        else:
            scratch.action_values[action] = _seat_value(states[0], params, player, scratch.points)


@compiled
def greedy_action(state, params, seed, scratch, rng_state):
    """Return the action with the highest value by `greedy_action_values`.

    The generator `rng_state`, uint64 (4,), breaks ties.
    """
    greedy_action_values(state, params, seed, scratch)
    best, ties, chosen = LOWEST, 0, -1
    for action in range(scratch.masks.shape[1]):
        if not scratch.masks[0, action]:
            continue
        value = scratch.action_values[action]
        if value > best:
            best, ties, chosen = value, 1, action
        elif value == best:
            ties += 1
            if bounded(rng_state, ties) == 0:  # in the end all of the best are equally likely
                chosen = action
    return chosen


@compiled
def choose(kind, state, params, mask, n, scratch, rng_state):
    """Return the action of the built-in policy `kind`; `mask` and `n` as legal_actions returned them."""
    if kind == GREEDY:
        return greedy_action(state, params, next_uint64(rng_state), scratch, rng_state)
    return nth_legal(mask, bounded(rng_state, n))


@inlined
def choose_row(kind, states, params, row, masks, rng_states, scratch):
    """Return the action of a built-in policy in a row."""
    n = np.int64(0)  # of the type that rules return, so that `choose` is compiled once
    for action in range(masks.shape[1]):
        n += masks[row, action]
    return choose(kind, states[row], params[states[row].variant], masks[row], n, scratch, rng_states[row])


@compiled
def choose_rows(kind, states, params, rows, masks, rng_states, actions, work, two_masks, points, values):
    """Fill actions[i] with the action of a built-in policy in rows[i]; the last four are the arrays of `Scratch`."""
    scratch = Scratch(work, two_masks, points, values)
    for i in range(rows.shape[0]):
        actions[i] = choose_row(kind, states, params, rows[i], masks, rng_states, scratch)


def scratch(game: Game) -> Scratch:
    """Return the memory that built-in policies overwrite, for a game."""
    return Scratch(
        records(3, game.state_dtype),
        np.zeros((2, game.num_actions), np.int8),
        np.zeros(game.max_players, np.int32),
        np.zeros(game.num_actions, np.int64),
    )
