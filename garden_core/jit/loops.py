"""Compiled loops over many states, for all games. `params` has a record for each variant; `state.variant` says which is a state's.

Functions that Python calls often take the arrays of `Rows` as separate arguments, in this order: a NamedTuple made in
compiled code is free, one passed from Python takes a few microseconds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core.jit import kernels
from garden_core.jit.decorator import compiled, inlined
from garden_core.jit.rng import bounded, game_seed, nth_legal

_VARIANT = np.uint64(0x76617269616E7473)  # makes the draw of a game's variant independent of the game
DEAL = -2
"""In place of an action: deal the game that the row's numbers name. Differs from `choices.FORFEIT`, which is -1."""


class Rows(NamedTuple):
    """The games of a batch: a row of every array is one game.

    Attributes:
        states: state records (N,).
        last_states: state records (N,), each row's last finished game.
        seeds, seed_rows, episodes: uint64 (N,); the game in row i is dealt from
            `rng.game_seed(seeds[i], seed_rows[i], episodes[i])`.
        variants: int64 (N,), the variant of all games of a row, -1 to draw it in each deal.
        observations: int8 (N, observation size), what the player to move sees.
        masks: int8 (N, num_actions), its legal actions.
        current_player: int64 (N,).
    """

    states: np.ndarray
    last_states: np.ndarray
    seeds: np.ndarray
    seed_rows: np.ndarray
    episodes: np.ndarray
    variants: np.ndarray
    observations: np.ndarray
    masks: np.ndarray
    current_player: np.ndarray


class StepResult(NamedTuple):
    """Rewards and ends of each row's last step; see `Batch`.

    Attributes:
        rewards: float32 (N, players).
        terminated, truncated: bool (N,).
    """

    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray


@compiled
def refresh(states, params, row, observations, masks):
    """Write the observation and the mask of the player to move in `row`; a mask of ones when the game is over.

    In a finished game the seat of the last `current_player` observes.
    """
    state, own = states[row], params[states[row].variant]
    if state.terminated or state.truncated:
        masks[row, :] = 1
    else:
        kernels.legal_actions(state, own, masks[row])
    kernels.observe(state, own, np.int64(state.current_player), observations[row])


@inlined
def show_row(rows, params, row):
    """Write observation, mask and player to move of a row; see `refresh`."""
    refresh(rows.states, params, row, rows.observations, rows.masks)
    rows.current_player[row] = rows.states[row].current_player


@compiled
def drawn_variant(seed, number):
    """Return the variant of the game that is dealt from `seed`, of `number` equally likely ones."""
    drawn = game_seed(seed, np.uint64(0), _VARIANT)
    return np.int64(((drawn >> np.uint64(32)) * np.uint64(number)) >> np.uint64(32))


@compiled
def deal_row(rows, params, row):
    """Deal the game that the row's numbers name; return its seed."""
    seed, state = game_seed(rows.seeds[row], rows.seed_rows[row], rows.episodes[row]), rows.states[row]
    if params.shape[0] > 1:
        fixed = rows.variants[row]
        state.variant = drawn_variant(seed, params.shape[0]) if fixed < 0 else fixed
    kernels.deal(state, params[state.variant], seed)
    return seed


@compiled
def play_one(states, params, action, seed, episode, observations, masks):
    """Take a legal action in row 0, or DEAL, and write observation and mask.

    The game dealt is episode `episode` of row 0 with `seed`, as in a batch. Returns the player to move p, or -1 - p if the
    game is over.
    """
    state = states[0]
    if action == DEAL:
        kernels.deal(state, params[state.variant], game_seed(seed, np.uint64(0), episode))
    else:
        kernels.apply_action(state, params[state.variant], action)
    refresh(states, params, np.int64(0), observations, masks)
    player = np.int64(state.current_player)
    return -1 - player if state.terminated or state.truncated else player


@inlined
def is_illegal(masks, states, row, action):
    """Return whether an action is illegal in a row, or its game is over."""
    if action < 0 or action >= masks.shape[1] or not masks[row, action]:
        return True
    # A finished game's mask has ones at both ends. Reading these first is faster, as records are far apart in memory.
    return masks[row, 0] & masks[row, -1] and (states[row].terminated or states[row].truncated)


@compiled
def first_illegal(masks, states, chosen, actions):
    """Return the first index i such that actions[i] is illegal in row chosen[i], or its game is over; else -1."""
    for i in range(chosen.shape[0]):
        if is_illegal(masks, states, chosen[i], actions[i]):
            return i
    return -1


@inlined
def advance_row(rows, params, row, action, autoreset, result):
    """Take a legal action, or DEAL, in a row, and write the result.

    Copies a finished game to `last_states` and, if `autoreset`, deals the next one.
    """
    state = rows.states[row]
    over = False
    if action == DEAL:
        result.rewards[row, :] = 0
        result.terminated[row] = False
        result.truncated[row] = False
    else:
        kernels.apply_action(state, params[state.variant], action)
        for p in range(result.rewards.shape[1]):
            result.rewards[row, p] = state.rewards[p]
        result.terminated[row] = state.terminated != 0
        result.truncated[row] = state.truncated != 0
        over = state.terminated or state.truncated
        if over:
            kernels.copy_record(rows.last_states, row, rows.states[row])
            rows.episodes[row] += np.uint64(autoreset)
    if action == DEAL or (over and autoreset):
        deal_row(rows, params, row)
    show_row(rows, params, row)


@compiled
def advance_rows(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    variants,
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
    """Take the legal action actions[i], or DEAL, in row chosen[i]; see `advance_row`."""
    rows = Rows(
        states, last_states, seeds, seed_rows, episodes, variants, observations, masks, current_player
    )
    result = StepResult(rewards, terminated, truncated)
    for i in range(chosen.shape[0]):
        advance_row(rows, params, chosen[i], actions[i], autoreset, result)


@compiled
def set_row(rows, params, row, state, result):
    """Put a game in progress into a row, and write its result, observation, mask and player to move."""
    kernels.copy_record(rows.states, row, state)
    result.rewards[row, :] = 0
    result.terminated[row] = state.terminated != 0
    result.truncated[row] = state.truncated != 0
    show_row(rows, params, row)


@compiled
def set_rows(rows, params, chosen, given, result):
    """Put the state given[i] into row chosen[i]; see `set_row`."""
    for i in range(chosen.shape[0]):
        set_row(rows, params, chosen[i], given[i], result)


@compiled
def observe_rows(states, params, players, out):
    """Write into out[i] what seat players[i] sees of states[i]."""
    for i in range(states.shape[0]):
        kernels.observe(states[i], params[states[i].variant], np.int64(players[i]), out[i])


@compiled
def hidden_rows(states, params, players, out):
    """Write into out[i] what is hidden from seat players[i] in states[i]."""
    for i in range(states.shape[0]):
        kernels.observe_hidden(states[i], params[states[i].variant], np.int64(players[i]), out[i])


@compiled
def redraw_rows(states, params, players, seed, redraws):
    """Fill `redraws`, records (N, number), with states[i], redrawn for seat players[i] from game_seed(seed, i, number)."""
    for i in range(states.shape[0]):
        for k in range(redraws.shape[1]):
            kernels.copy_record(redraws[i], k, states[i])
            kernels.resample(
                redraws[i, k],
                params[states[i].variant],
                np.int64(players[i]),
                game_seed(seed, np.uint64(i), np.uint64(k)),
            )


@compiled
def standings_rows(states, params, out):
    """Write the standings of states[i] into out[i], int32 (N, max players)."""
    for i in range(states.shape[0]):
        kernels.standings(states[i], params[states[i].variant], out[i])


@compiled
def points_rows(states, params, out):
    """Write the points of states[i] into out[i], int32 (N, max players)."""
    for i in range(states.shape[0]):
        kernels.points(states[i], params[states[i].variant], out[i])


@compiled
def public_points_rows(states, params, out):
    """Fill `out`, int32 (N, max players), with the public points of every seat in states (N,)."""
    for i in range(states.shape[0]):
        kernels.public_points(states[i], params[states[i].variant], out[i])


def by_seat(kernel, game, states):
    """Run `standings_rows`, `points_rows` or `public_points_rows` on a game's states; return int32 (N, num_players)."""
    if states["variant"].any():
        raise ValueError(f"these are states of several variants, not of {game!r} alone")
    out = np.zeros((len(states), game.max_players), np.int32)
    kernel(states, game.params, out)
    return out[:, : game.num_players]


@inlined
def play_at_random(rows, params, row, with_observation, rng_state):
    """Play a uniformly random decision in a row, and deal the next game after an end; return whether the game ended.

    Nothing happens in a row whose game was over before.
    """
    state, own = rows.states[row], params[rows.states[row].variant]
    n = kernels.legal_actions(state, own, rows.masks[row])
    if n == 0:
        return False
    if with_observation:
        kernels.observe(state, own, np.int64(state.current_player), rows.observations[row])
    kernels.apply_action(state, own, nth_legal(rows.masks[row], bounded(rng_state, n)))
    if not (state.terminated or state.truncated):
        return False
    rows.episodes[row] += np.uint64(1)
    deal_row(rows, params, row)
    return True


@compiled
def random_play(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    variants,
    observations,
    masks,
    current_player,
    params,
    steps,
    with_observations,
    rng_states,
):
    """Play `steps` uniformly random decisions in every row, with autoreset; return the number of games that ended.

    `rng_states`, uint64 (N, 4), draw the actions. Each decision writes the mask of the player to move, and the observation if
    `with_observations`.
    """
    rows = Rows(
        states, last_states, seeds, seed_rows, episodes, variants, observations, masks, current_player
    )
    ended = 0
    for _ in range(steps):
        for row in range(states.shape[0]):
            ended += play_at_random(rows, params, row, with_observations, rng_states[row])
    return ended
