"""Redraws of what is hidden from the players to move, and what they see in them."""

from __future__ import annotations

import numpy as np

from garden_agents.search.selection import look_row
from garden_core.jit import compiled, kernels
from garden_core.jit.rng import next_uint64


@compiled
def redraw_rows(states, params, rows, rng_states, redraws):
    """Fill `redraws`, records (N, number), with the states of `rows`, redrawn for the players to move."""
    for i in range(rows.shape[0]):
        row = rows[i]
        for k in range(redraws.shape[1]):
            redraws[i, k] = states[row]
            player = np.int64(states[row].current_player)
            kernels.resample(redraws[i, k], params[0], player, next_uint64(rng_states[row]))


@compiled
def look_rows(states, params, observations, masks):
    """Fill `observations` and `masks` with what the player to move sees and may do in each state."""
    for i in range(states.shape[0]):
        look_row(states[i], params, observations[i], masks[i])
