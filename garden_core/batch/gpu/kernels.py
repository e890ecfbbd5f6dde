"""The loops of `garden_core.jit.loops` and `choices` as GPU kernels: one thread per game calls the same functions.

numba-cuda compiles these for the GPU, third parties' rules included.
"""

from __future__ import annotations

import os

import numpy as np

from garden_core.batch.choices import choose_row, scratch_of
from garden_core.batch.seats import NO_TURN, play_row
from garden_core.jit import cache_folder, kernels
from garden_core.jit.loops import advance_row, is_illegal, play_at_random, set_row, show_row
from garden_core.jit.numba_private import use_cache
from garden_core.plugins import EXTRA

try:
    import numba.cuda
    import numba.cuda.core.config  # missing in Numba's own, older numba.cuda

    cuda, config = numba.cuda, numba.cuda.core.config

    if not config.ENABLE_CUDASIM:
        from garden_core.batch.gpu.records import use_words

        use_words()
except ImportError as error:
    raise ImportError(f"a GPU needs numba-cuda ({error}): {EXTRA.format('cuda')}") from None

config.CUDA_LOW_OCCUPANCY_WARNINGS = 0  # a small batch needs few threads


def kernel(function):
    """Make a kernel of a function; its machine code is cached in the CPU code's folder, keyed by all that it compiles."""
    made, folder = cuda.jit(function), cache_folder()
    if folder is not None and not config.ENABLE_CUDASIM:
        from garden_core.batch.gpu.cache import Cache  # imports modules that the simulator lacks

        use_cache(made, Cache, config, os.path.join(folder, "cuda"))
    return made


@kernel
def number(rows, chosen, seeds, seed_rows):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        row = chosen[i]
        rows.seeds[row], rows.seed_rows[row], rows.episodes[row] = seeds[i], seed_rows[i], 0


@kernel
def number_next(episodes, chosen):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        episodes[chosen[i]] += np.uint64(1)


@kernel
def first_illegal(masks, states, chosen, actions, first):
    i = cuda.grid(1)
    if i < chosen.shape[0] and is_illegal(masks, states, chosen[i], actions[i]):
        cuda.atomic.min(first, 0, i)


@kernel
def first_over(states, chosen, first):
    i = cuda.grid(1)
    if i < chosen.shape[0] and (states[chosen[i]].terminated or states[chosen[i]].truncated):
        cuda.atomic.min(first, 0, i)


@kernel
def advance(rows, result, params, chosen, actions, autoreset):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        advance_row(rows, params, chosen[i], actions[i], autoreset, result)


@kernel
def set(rows, result, params, chosen, given):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        set_row(rows, params, chosen[i], given[i], result)


@kernel
def show(rows, params):
    row = cuda.grid(1)
    if row < rows.states.shape[0]:
        show_row(rows, params, row)


@kernel
def observe(states, params, players, out):
    i = cuda.grid(1)
    if i < states.shape[0]:
        kernels.observe(states[i], params[0], np.int64(players[i]), out[i])


@kernel
def observe_hidden(states, params, players, out):
    i = cuda.grid(1)
    if i < states.shape[0]:
        kernels.observe_hidden(states[i], params[0], np.int64(players[i]), out[i])


@kernel
def standings(states, params, out):
    i = cuda.grid(1)
    if i < states.shape[0]:
        kernels.standings(states[i], params[0], out[i])


@kernel
def choose(kind, states, params, chosen, masks, rng_states, scratches, actions):
    thread = cuda.grid(1)
    if thread < scratches.states.shape[0]:
        for i in range(thread, chosen.shape[0], scratches.states.shape[0]):
            scratch = scratch_of(scratches, thread)
            actions[i] = choose_row(kind, states, params, chosen[i], masks, rng_states, scratch)


@kernel
def play(rows, seats, scratches, params, chosen, actions, fixed_seat, autoreset, never):
    thread = cuda.grid(1)
    if thread < scratches.states.shape[0]:
        for i in range(thread, chosen.shape[0], scratches.states.shape[0]):
            row, scratch = chosen[i], scratch_of(scratches, thread)
            play_row(rows, params, seats, scratch, row, actions[i], fixed_seat, autoreset)
            if seats.records[row].status == NO_TURN:
                never[0] = 1


@kernel
def random_play(rows, params, steps, with_observations, rng_states, ended):
    row = cuda.grid(1)
    if row < rows.states.shape[0]:
        for _ in range(steps):
            ended[row] += play_at_random(rows, params, row, with_observations, rng_states[row])
