"""The loops of `garden_core.loops` and `choices` as kernels of a GPU: a thread for each game calls the same functions.

numba-cuda compiles these for the GPU, third parties' rules included.
"""

from __future__ import annotations

import os

import numpy as np

from garden_core import kernels
from garden_core.choices import Scratch, choose_row
from garden_core.jit import cache_folder, fingerprint
from garden_core.loops import Paid, Rows, advance_row, is_illegal, play_at_random, set_row, show_row
from garden_core.rng import game_seed, seed_rng
from garden_core.seats import NEVER, Seats, play_row

try:
    from numba import cuda
    from numba.cuda.core import config  # which Numba's own, older numba.cuda has not
except ImportError as error:
    raise ImportError(f"a GPU needs numba-cuda ({error}): pip install 'garden-envs[cuda]'") from None

__all__ = [
    "advance",
    "as_int64",
    "choose",
    "config",
    "cuda",
    "first_illegal",
    "generators",
    "kernel",
    "number",
    "number_next",
    "observe",
    "play",
    "random_play",
    "set",
    "show",
    "standings",
]


def kernel(function):
    """Make a kernel of a function; its machine code is kept where that of the CPU is, by what it compiles."""
    folder, before = cache_folder(), config.CACHE_DIR
    if folder is not None:
        config.CACHE_DIR = os.path.join(folder, "cuda", fingerprint(function)[:16])
    try:
        return cuda.jit(function, cache=folder is not None)
    finally:
        config.CACHE_DIR = before


@kernel
def number(seeds, seed_rows, episodes, chosen, new_seeds, new_rows):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        row = chosen[i]
        seeds[row], seed_rows[row], episodes[row] = new_seeds[i], new_rows[i], 0


@kernel
def number_next(episodes, chosen):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        episodes[chosen[i]] += np.uint64(1)


@kernel
def as_int64(numbers, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = numbers[i]


@kernel
def first_illegal(masks, states, chosen, actions, found):
    i = cuda.grid(1)
    if i < chosen.shape[0] and is_illegal(masks, states, chosen[i], actions[i]):
        cuda.atomic.min(found, 0, i)


@kernel
def advance(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    observations,
    masks,
    current_player,
    rewards,
    terminated,
    truncated,
    params,
    chosen,
    actions,
    autoreset,
):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        rows = Rows(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player)
        paid = Paid(rewards, terminated, truncated)
        advance_row(rows, params, chosen[i], actions[i], autoreset, paid)


@kernel
def set(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    observations,
    masks,
    current_player,
    rewards,
    terminated,
    truncated,
    params,
    chosen,
    given,
):
    i = cuda.grid(1)
    if i < chosen.shape[0]:
        rows = Rows(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player)
        paid = Paid(rewards, terminated, truncated)
        set_row(rows, params, chosen[i], given[i], paid)


@kernel
def show(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player, params):
    row = cuda.grid(1)
    if row < states.shape[0]:
        rows = Rows(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player)
        show_row(rows, params, row)


@kernel
def observe(states, params, players, out):
    i = cuda.grid(1)
    if i < states.shape[0]:
        kernels.observe(states[i], params[0], np.int64(players[i]), out[i])


@kernel
def standings(states, params, out):
    i = cuda.grid(1)
    if i < states.shape[0]:
        kernels.standings(states[i], params[0], out[i])


@kernel
def generators(rng_states, seed):
    row = cuda.grid(1)
    if row < rng_states.shape[0]:
        seed_rng(rng_states[row], game_seed(seed, np.uint64(row), np.uint64(0)))


@kernel
def choose(kind, states, params, chosen, masks, rng_states, actions, work, two_masks, points, action_values):
    thread = cuda.grid(1)
    if thread < work.shape[0]:
        scratch = Scratch(work[thread], two_masks[thread], points[thread], action_values[thread])
        for i in range(thread, chosen.shape[0], work.shape[0]):
            actions[i] = choose_row(kind, states, params, chosen[i], masks, rng_states, scratch)


@kernel
def play(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    observations,
    masks,
    current_player,
    records,
    generators,
    kinds,
    cumulative,
    rewards,
    terminated,
    truncated,
    capped,
    final,
    final_seats,
    final_drawn,
    work,
    two_masks,
    points,
    action_values,
    params,
    chosen,
    actions,
    fixed_seat,
    autoreset,
    never,
):
    thread = cuda.grid(1)
    if thread < work.shape[0]:
        rows = Rows(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player)
        seats = Seats(
            records,
            generators,
            kinds,
            cumulative,
            rewards,
            terminated,
            truncated,
            capped,
            final,
            final_seats,
            final_drawn,
        )
        scratch = Scratch(work[thread], two_masks[thread], points[thread], action_values[thread])
        for i in range(thread, chosen.shape[0], work.shape[0]):
            play_row(rows, params, seats, scratch, chosen[i], actions[i], fixed_seat, autoreset)
            if records[chosen[i]].status == NEVER:
                never[0] = 1


@kernel
def random_play(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    observations,
    masks,
    current_player,
    params,
    steps,
    with_observations,
    rng_states,
    ended,
):
    row = cuda.grid(1)
    if row < states.shape[0]:
        rows = Rows(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player)
        for _ in range(steps):
            ended[row] += play_at_random(rows, params, row, with_observations, rng_states[row])
