"""Redraws of the information hidden from the players to move, and how well they explain the others' actions."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_uint64

DOUBT = 0.05
"""Assumed share of random actions of the other seats, which need not play as the network does."""
IMPOSSIBLE = 1e-9
"""Likelihood of an action that is illegal with the redrawn cards."""


class Past(NamedTuple):
    """Earlier decisions of the other seats: the states before them, records (n,), and the actions, int64 (n,)."""

    states: np.ndarray
    actions: np.ndarray


class Supposed(NamedTuple):
    """Room for states as if the others had held other cards, for their bytes, int8 (n, size), and for what the others saw."""

    states: np.ndarray
    bytes: np.ndarray
    observations: np.ndarray
    masks: np.ndarray


@compiled
def observe_row(state, params, observation, mask):
    """Fill the observation and the action mask of the player to move."""
    kernels.legal_actions(state, params[state.variant], mask)
    kernels.observe(state, params[state.variant], np.int64(state.current_player), observation)


@compiled
def redraw_for_movers(states, params, rows, rng_states, redraws):
    """Fill `redraws`, records (n, number), with states[rows], redrawn for the players to move."""
    for i in range(rows.shape[0]):
        row = rows[i]
        player = np.int64(states[row].current_player)
        for k in range(redraws.shape[1]):
            kernels.copy_record(redraws[i], k, states[row])
            kernels.resample(
                redraws[i, k], params[redraws[i, k].variant], player, next_uint64(rng_states[row])
            )


@compiled
def first_alike(hands, k, private):
    """Return the first of `hands`, the bytes of redraws, int8 (n, size), with the same private fields as hands[k].

    `private`, int64 (fields, seats), says where they are.
    """
    for first in range(k):
        alike = True
        for f in range(private.shape[0]):
            for p in range(private.shape[1]):
                alike = alike and hands[first, private[f, p]] == hands[k, private[f, p]]
        if alike:
            return first
    return k


@compiled
def suppose(past, hands, private, player, params, supposed):
    """Fill `supposed` with the decisions of `past`, for each of `hands` one after the other, as if it had been held.

    `hands` and `private` are as in `first_alike`. What `player` holds, and what is known since, stay as they were.
    """
    n = past.actions.shape[0]
    for i in range(hands.shape[0] * n):
        kernels.copy_record(supposed.states, i, past.states[i % n])
        for f in range(private.shape[0]):
            for p in range(private.shape[1]):
                card = hands[i // n, private[f, p]]
                if card >= 0 and p != player:  # -1: revealed since
                    supposed.bytes[i, private[f, p]] = card
        observe_row(supposed.states[i], params, supposed.observations[i], supposed.masks[i])


@compiled
def log_likelihood(actions, chances, masks):
    """Return the logarithm of the likelihood of actions, int64 (n,), which a network plays with `chances`, (n, actions)."""
    total = 0.0
    for i in range(actions.shape[0]):
        likely, legal = IMPOSSIBLE, np.int64(0)
        for action in range(masks.shape[1]):
            legal += masks[i, action]
        if masks[i, actions[i]]:
            likely = np.float32(1 - DOUBT) * chances[i, actions[i]] + DOUBT / legal
        total += math.log(likely)
    return total


@compiled
def normalise(logs, likelihoods):
    """Fill `likelihoods`, float64 (n,), with numbers of the logarithms `logs` up to a factor, so that they sum to 1."""
    highest, total = -np.inf, 0.0
    for k in range(logs.shape[0]):
        highest = max(highest, logs[k])
    for k in range(logs.shape[0]):
        likelihoods[k] = math.exp(logs[k] - highest)
        total += likelihoods[k]
    for k in range(logs.shape[0]):
        likelihoods[k] /= total
