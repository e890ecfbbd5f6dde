"""Decisions to learn from and their rewards: compiled credit assignment for trajectories of many seats."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from garden_agents.networks.heads import num_values, target_of
from garden_core.game import Game
from garden_core.jit import compiled

OVER, OPEN, TARGET_FINAL = -1, -2, -3
"""In place of the index of the next decision: the game ended first; it is not taken yet; it is not needed (target final)."""


class Decisions(NamedTuple):
    """Decisions of the current network's seats in chronological order, arrays; on a GPU `masks` is a tensor.

    The columns of values, rewards and targets are each seat's chance to finish first, then each seat's margin, counted from
    the seat that decides, 0 for seats that the decision's game lacks; in cooperative games there is one column, the team's
    score.

    Attributes:
        masks: int8 (size, num_actions).
        actions: int64 (size,).
        log_probabilities: float32 (size,), log probabilities of the actions when they were sampled.
        values: float32 (size, columns), the network's estimates.
        rewards: float32 (size, columns), rewards until the seat's next decision.
        next: int64 (size,), index of the seat's next decision, `OVER` or `OPEN`.
        paid: float32 (size, columns), rewards until the game's next decision by any seat.
        after: int64 (size,), index of the game's next decision, `OVER`, `OPEN` or `TARGET_FINAL`.
        deciders: int64 (size,), the seat that decided.
        seats: int64 (size,), number of seats of the decision's game.
        targets: float32 (size, columns), value targets.
        greedy: int64 (size,), greedy play's actions.
        counted: float32 (size,), 1 where the values are trained, else 0: in games of the network against itself, or in all
            games if all are played against the pool.
    """

    masks: Any
    actions: Any
    log_probabilities: Any
    values: Any
    rewards: Any
    next: Any
    paid: Any
    after: Any
    deciders: Any
    seats: Any
    targets: Any
    greedy: Any
    counted: Any

    @classmethod
    def empty(cls, game: Game, num_players: int, size: int) -> Decisions:
        """Return arrays for `size` decisions in variants of a game with up to `num_players` seats."""
        columns = size, num_values(target_of(game), num_players)
        return cls(
            masks=np.zeros((size, game.num_actions), np.int8),
            actions=np.zeros(size, np.int64),
            log_probabilities=np.zeros(size, np.float32),
            values=np.zeros(columns, np.float32),
            rewards=np.zeros(columns, np.float32),
            next=np.full(size, OPEN),
            paid=np.zeros(columns, np.float32),
            after=np.full(size, OPEN),
            deciders=np.zeros(size, np.int64),
            seats=np.zeros(size, np.int64),
            targets=np.zeros(columns, np.float32),
            greedy=np.zeros(size, np.int64),
            counted=np.zeros(size, np.float32),
        )


class Rollout(NamedTuple):
    """Decisions to learn from.

    Attributes:
        decisions: the decisions.
        inputs: network inputs of each decision, arrays; on a GPU tensors.
        chosen: int64 (n,), indexes of the decisions whose rewards until the seat's next decision are complete.
        advantages: float32 (size, columns), of all decisions.
    """

    decisions: Decisions
    inputs: tuple[Any, ...]
    chosen: Any
    advantages: Any


@compiled
def link(latest, last, following, after, rows, seats, first):
    """Link each new decision to its seat's and its game's previous one.

    Args:
        latest: int64 (N, seats), last decision of each seat, or -1.
        last: int64 (N,), last decision in each game, or -1.
        following: int64 (decisions,), next decision of the same seat, OVER or OPEN.
        after: int64 (decisions,), next decision in the game, OVER, OPEN or TARGET_FINAL.
        rows, seats: int64 (n,), row and seat of each new decision.
        first: number of the first new decision.
    """
    for i in range(rows.shape[0]):
        row, number = rows[i], first + i
        if latest[row, seats[i]] >= 0:
            following[latest[row, seats[i]]] = number
        if last[row] >= 0:
            after[last[row]] = number
        following[number] = after[number] = OPEN
        latest[row, seats[i]] = last[row] = number


@compiled
def pay(latest, last, following, after, deciders, rewards, paid, steps, over, standings, seats):
    """Add a step's rewards to the open decisions, and close the decisions of finished games.

    Args:
        latest, last, following, after: see `link`.
        deciders, rewards, paid: see `Decisions`.
        steps: float32 (N, seats), each seat's reward in the step.
        over: bool (N,), whether the step ended the game.
        standings: int32 (N, at least seats), final standings of the games that are over.
        seats: int64 (N,), number of seats of each row's game.
    """
    for row in range(latest.shape[0]):
        n = seats[row]
        best, firsts = np.int64(standings[row, 0]), 0
        for seat in range(n):
            best = max(best, np.int64(standings[row, seat]))
        for seat in range(n):
            firsts += standings[row, seat] == best
        share = np.float32(1.0 / firsts) if over[row] else np.float32(0)
        for seat in range(n):
            decision = latest[row, seat]
            if decision >= 0:
                _add(rewards[decision], seat, steps[row, :n], standings[row], best, share)
                if over[row]:
                    following[decision] = OVER
                    latest[row, seat] = -1
        decision = last[row]
        if decision >= 0:
            _add(paid[decision], deciders[decision], steps[row, :n], standings[row], best, share)
            if over[row]:
                after[decision] = OVER
                last[row] = -1


@compiled
def _add(total, seat, steps, standings, best, share):
    """Add to `total` a step's rewards, counted from `seat`, and `share` for each seat with the standing `best`."""
    n, half = steps.shape[0], total.shape[0] // 2
    if half == 0:
        total[0] += steps[seat]
        return
    for k in range(n):
        other = (seat + k) % n
        total[half + k] += steps[other]
        if standings[other] == best:
            total[k] += share


@compiled
def advantages(following, values, rewards, lambda_, out):
    """Fill `out` with generalised advantages without discount, column by column; 0 for open decisions.

    Args:
        following: see `link`; later decisions have higher numbers.
        values, rewards, out: float32 (decisions, columns).
        lambda_: GAE's lambda, 0 to 1.
    """
    for i in range(following.shape[0] - 1, -1, -1):
        next_one = following[i]
        for k in range(values.shape[1]):
            if next_one == OPEN:
                out[i, k] = 0
            elif next_one == OVER:
                out[i, k] = rewards[i, k] - values[i, k]
            else:
                out[i, k] = rewards[i, k] + values[next_one, k] - values[i, k] + lambda_ * out[next_one, k]


@compiled
def seat_advantages(players, rewards, over, values, waiting, gae_lambda, out):
    """Fill `out` with each seat's generalised advantages, without discount, from the last decision to the first.

    Args:
        players, rewards, over, values: see `returns.advantages`.
        waiting: float32 (3, N, seats), each seat's next value, its next advantage, and its rewards before that.
        gae_lambda: GAE's lambda, 0 to 1.
        out: float32 (T, N).
    """
    for t in range(players.shape[0] - 1, -1, -1):
        for n in range(players.shape[1]):
            if over[t, n]:
                waiting[:, n] = 0
            for seat in range(rewards.shape[2]):
                waiting[2, n, seat] += rewards[t, n, seat]
            seat = players[t, n]
            delta = waiting[2, n, seat] + waiting[0, n, seat] - values[t, n]
            out[t, n] = waiting[1, n, seat] = delta + gae_lambda * waiting[1, n, seat]
            waiting[0, n, seat] = values[t, n]
            waiting[2, n, seat] = 0


@compiled
def value_targets(after, deciders, seats, values, paid, lambda_, targets):
    """Fill `targets` with lambda-returns along all decisions of each game; final targets (TARGET_FINAL) stay.

    The next decider's estimates of the same seats correct a value that is too high for the player to move.

    Args:
        after, deciders, paid: see `pay`; later decisions have higher numbers.
        seats: int64 (decisions,), see `Decisions`.
        values, targets: float32 (decisions, columns).
        lambda_: lambda of the lambda-returns, 0 to 1.
    """
    columns = values.shape[1]
    half = columns // 2
    for i in range(after.shape[0] - 1, -1, -1):
        j, n = after[i], seats[i]
        if j == TARGET_FINAL:
            continue
        for k in range(columns):
            if j == OPEN:
                targets[i, k] = values[i, k]
            elif j == OVER:
                targets[i, k] = paid[i, k]
            else:
                there = k
                if half > 0 and k % half < n:
                    there = k // half * half + (k % half + deciders[i] - deciders[j] + n) % n
                expected = values[j, there] + lambda_ * (targets[j, there] - values[j, there])
                targets[i, k] = paid[i, k] + expected
