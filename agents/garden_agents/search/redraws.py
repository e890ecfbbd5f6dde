"""Redraws of the information hidden from the players to move, and their observations."""

from __future__ import annotations

import numpy as np

from garden_agents.search.selection import observe_row
from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_uint64


@compiled
def redraw_for_movers(states, params, rows, rng_states, redraws):
    """Fill `redraws`, records (n, number), with states[rows], redrawn for the players to move."""
    for i in range(rows.shape[0]):
        row = rows[i]
        player = np.int64(states[row].current_player)
        for k in range(redraws.shape[1]):
            kernels.copy_record(redraws[i], k, states[row])
            kernels.resample(redraws[i, k], params[0], player, next_uint64(rng_states[row]))


@compiled
def observe_movers(states, params, observations, masks):
    """Fill the observation and the action mask of the player to move in each state."""
    for i in range(states.shape[0]):
        observe_row(states[i], params, observations[i], masks[i])
