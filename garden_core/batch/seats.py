"""Compiled loops of a learner's seat: records per row, and how opponents play until the learner's next turn."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_core.batch.choices import BUILT_IN, FORFEIT, Scratch, choose
from garden_core.jit import compiled, inlined, kernels
from garden_core.jit.loops import DEAL, Rows, deal_row, refresh
from garden_core.jit.rng import bounded, next_float, seed_rng

# Status of a row. It waits for an action of the learner, for a policy outside compiled code, or for a new game; or no game
# was found in which the learner has a turn.
LEARNER_TURN, EXTERNAL_TURN, FINISHED, NO_TURN = range(4)
FORFEITED = -1.0
"""The learner's reward for a step with an illegal action that ends its game."""
OUTSIDE = len(BUILT_IN)  # kind of a policy outside compiled code
SAME_STEP = 0
AUTORESETS = ("same_step", "next_step", "disabled")  # by code, from SAME_STEP on
GAMES_TRIED = 1000
_SALT = np.uint64(0x6F70706F6E656E74)  # makes the opponents' generator independent of the game's


def record_dtype(max_players: int) -> np.dtype:
    """Return the dtype of a row's record, next to its state; without padding, whose bytes copies would skip."""
    fields = [
        ("pending_reward", "f8"),  # of the learner's seat, since its last decision
        ("seat", "i8"),
        ("steps", "i4"),  # the learner's decisions in the game
        ("last_action", "i4"),  # the last decision in the game, -1 before the first
        ("opponent", "i2", (max_players,)),  # by seat, an index into the pool
        ("tried", "i2"),  # games skipped since the learner's last turn
        ("status", "u1"),  # LEARNER_TURN, EXTERNAL_TURN, FINISHED or NO_TURN
        ("last_seat", "i1"),  # seat that took the last decision
        ("opening", "u1"),  # 1 until the learner's first turn in a game
    ]
    return np.dtype([*fields, ("spare", "u1", (-np.dtype(fields).itemsize % 8,))], align=True)


class Seats(NamedTuple):
    """The learner's seat and its opponents in each row.

    Attributes:
        records: (N,), see `record_dtype`.
        generators: uint64 (N, 4), each row's generator of seats, draws and compiled opponents.
        kinds: int64 (opponents,), built-in policy of each opponent, or OUTSIDE.
        cumulative: float64 (opponents,), cumulative shares of the draw.
        rewards, terminated, truncated, capped: as in `Learner`.
        final, seats, drawn: final view, seat and opponents of the row's last finished game.
    """

    records: np.ndarray
    generators: np.ndarray
    kinds: np.ndarray
    cumulative: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    capped: np.ndarray
    final: np.ndarray
    seats: np.ndarray
    drawn: np.ndarray


@compiled
def _new_game(rows, params, seats, row, fixed_seat):
    """Deal the game that the row's numbers name, and draw the learner's seat and the opponents."""
    seed = deal_row(rows, params, row)
    record, rng_state, cumulative = seats.records[row], seats.generators[row], seats.cumulative
    seed_rng(rng_state, seed ^ _SALT)
    n = params[rows.states[row].variant].num_players
    record.seat = bounded(rng_state, n) if fixed_seat < 0 else fixed_seat
    for p in range(n):
        draw = next_float(rng_state)
        index = 0
        while index < cumulative.shape[0] - 1 and draw >= cumulative[index]:
            index += 1
        record.opponent[p] = index
    for p in range(n, record.opponent.shape[0]):
        record.opponent[p] = -1  # no such seat
    record.pending_reward = 0.0
    record.opening = 1
    record.steps = 0
    record.last_action = -1


@compiled
def _let_others_move(state, params, record, kinds, mask, scratch, rng_state):
    """Play compiled opponents until the learner or a policy outside must move, or to the end; return the row's status."""
    while not (state.terminated or state.truncated):
        player = np.int64(state.current_player)
        if player == record.seat:
            return LEARNER_TURN
        kind = kinds[record.opponent[player]]
        if kind == OUTSIDE:
            return EXTERNAL_TURN
        n = kernels.legal_actions(state, params, mask)
        action = choose(kind, state, params, mask, n, scratch, rng_state)
        kernels.apply_action(state, params, action)
        record.last_seat = player
        record.last_action = action
        record.pending_reward += state.rewards[record.seat]
    return FINISHED


@compiled
def _deliver_reward(seats, record, row):
    """Deliver the pending reward of the learner."""
    seats.rewards[row] = record.pending_reward
    record.pending_reward = 0.0


@compiled
def _finish(rows, params, seats, row):
    """Write the results of a finished game."""
    state, record = rows.states[row], seats.records[row]
    seats.terminated[row] = True
    seats.capped[row] = state.truncated != 0
    kernels.copy_record(rows.last_states, row, state)
    seats.seats[row] = record.seat
    for p in range(seats.drawn.shape[1]):
        seats.drawn[row, p] = record.opponent[p]
    kernels.observe(state, params[state.variant], record.seat, seats.final[row])


@compiled
def _advance_to_learner(rows, params, seats, scratch, row, fixed_seat, autoreset, forfeited):
    """Play in a row until the learner or a policy outside compiled code must move; deliver the pending reward.

    With `forfeited` the current game ends first.
    """
    record = seats.records[row]
    state, rng_state = rows.states[row], seats.generators[row]
    while True:
        mask = rows.masks[row]
        if forfeited:
            status = FINISHED
        else:
            status = _let_others_move(
                state, params[state.variant], record, seats.kinds, mask, scratch, rng_state
            )
        forfeited = False
        record.status = status
        if status != FINISHED:
            if status == LEARNER_TURN:
                if record.opening:
                    record.opening = 0
                    record.tried = 0
                else:
                    _deliver_reward(seats, record, row)
            refresh(rows.states, params, row, rows.observations, rows.masks)
            rows.current_player[row] = state.current_player
            return
        if record.opening:
            record.tried += 1
            if record.tried >= GAMES_TRIED:
                record.status = NO_TURN
                return
        else:
            _deliver_reward(seats, record, row)
            _finish(rows, params, seats, row)
            if autoreset != SAME_STEP:
                kernels.observe(state, params[state.variant], record.seat, rows.observations[row])
                rows.masks[row, :] = 1
                return
        rows.episodes[row] += np.uint64(1)
        _new_game(rows, params, seats, row, fixed_seat)


@inlined
def play_row(rows, params, seats, scratch, row, action, fixed_seat, autoreset):
    """Take an action in a row, or deal a game if the last one is over; play until the learner or a policy outside must move.

    FORFEIT in place of the learner's action ends its game; DEAL always deals.
    """
    record = seats.records[row]
    forfeited = False
    if record.status != EXTERNAL_TURN or action == DEAL:
        seats.terminated[row] = False
        seats.truncated[row] = False
        seats.capped[row] = False
    if record.status == FINISHED or action == DEAL:
        rows.episodes[row] += np.uint64(action != DEAL)
        seats.rewards[row] = 0.0
        record.tried = 0
        _new_game(rows, params, seats, row, fixed_seat)
    elif action == FORFEIT:
        forfeited = True
        record.pending_reward = FORFEITED
    else:
        record.steps += record.status == LEARNER_TURN
        record.last_seat = rows.states[row].current_player
        record.last_action = action
        kernels.apply_action(rows.states[row], params[rows.states[row].variant], action)
        record.pending_reward += rows.states[row].rewards[record.seat]
    _advance_to_learner(rows, params, seats, scratch, row, fixed_seat, autoreset, forfeited)


@compiled
def play_rows(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    variants,
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
):
    """Take actions[i] in row chosen[i], see `play_row`. The first arrays are the fields of `Rows`, `Seats` and `Scratch`."""
    rows = Rows(
        states, last_states, seeds, seed_rows, episodes, variants, observations, masks, current_player
    )
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
    scratch = Scratch(work, two_masks, points, action_values)
    for i in range(chosen.shape[0]):
        play_row(rows, params, seats, scratch, chosen[i], actions[i], fixed_seat, autoreset)
