"""Expected results of all seats, as agents predict them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from garden_agents.networks.heads import chances_and_margins
from garden_core.batch.batch import Batch
from garden_core.checks import require_reset
from garden_core.game import Game
from garden_core.jit import loops, rewards


class Values(NamedTuple):
    """Expected results of all seats in N positions; NaN where the agent predicts nothing.

    Columns are the seats of the game, 0 to num_players - 1. Predictions use only what the player to move may know. Where the
    game is over, all results that the game has are the actual ones.

    In cooperative games all agents predict only `score`. In other games:

    - a network of `garden train` predicts `win` and `margin`;
    - a network of `garden train --trainer sb3` predicts `outcome` or `margin` of the player to move (its config's
      `value_target` says which), discounted and mixed with some of the other reward;
    - a network in any other ONNX file predicts `outcome` of the player to move;
    - a search with a network that values all seats predicts `win`, and any other search `outcome`.

    With two seats, one seat's outcome or margin is minus the other's, and a network's `win` is (1 + `outcome`) / 2.

    Attributes:
        win: float32 (N, num_players), the chance to finish first, 0 to 1; tied seats share it, so that a row sums to 1.
        outcome: float32 (N, num_players), the outcome (see the glossary), -1 to 1. Search without a network counts positions
            in which its rollouts stop as `garden_agents.search.values.seat_values`, so it is no calibrated estimate.
        margin: float32 (N, num_players), the margin at the end of the game, points.
        score: float32 (N,), the team's score at the end of a cooperative game, points. Search averages `x / (1 + |x|)`
            for a score of x times reward_divisor; this is the score with that average.

    Example:
        >>> from garden_agents import load
        >>> from garden_core import Batch
        >>> batch, agent = Batch("cacti", 4), load("cacti")
        >>> batch.reset(seed=1)
        >>> win, outcome, margin, score = agent.values(batch, batch.all_rows)
        >>> win.shape, margin.shape, score
        ((4, 2), (4, 2), array([nan, nan, nan, nan], dtype=float32))
    """

    win: np.ndarray
    outcome: np.ndarray
    margin: np.ndarray
    score: np.ndarray


def valued_rows(batch: Batch, rows: Any) -> np.ndarray:
    """Return the indexes of `rows`, int64 (n,), also where the game is over.

    Raises:
        ValueError: for a repeated row.
        IndexError: for a row that does not exist.
        RuntimeError: before the first reset.
    """
    require_reset(batch.dealt, "values")
    return batch.chosen(rows, "valued")


def is_over(states: np.ndarray) -> np.ndarray:
    """Return whether each game is over, bool (N,)."""
    return (states["terminated"] | states["truncated"]) != 0


def network_values(game: Game, states: np.ndarray, raw: np.ndarray, value_target: str) -> Values:
    """Return the values of all seats by a network.

    Args:
        game: the game.
        states: state records (N,).
        raw: float32 (N, num_values), the network's raw values.
        value_target: what they predict, one of `heads.VALUE_TARGETS`.

    Raises:
        ValueError: if the network values another number of seats.
    """
    n, values = game.num_players, _nothing(game, len(states))
    if value_target == "seats" and raw.shape[1] != 2 * n:
        raise ValueError(f"the network values {raw.shape[1] // 2} seats, and {game} has {n}")
    points = loops.by_seat(loops.public_points_rows, game, states)
    unit = game.reward_divisor
    if game.cooperative:
        to_come = raw[:, 0] if value_target == "score" else _score(raw[:, 0])
        values.score[:] = points.min(1) + unit * to_come
        return _completed(game, states, values)
    if value_target == "seats":
        win, to_come = np.hsplit(chances_and_margins(raw), 2)
        values.win[:] = _by_seat(win, states)
        to_come = _by_seat(to_come, states)
    else:
        own = np.full((len(states), n), np.nan, np.float32)
        own[:, 0] = raw[:, 0]
        if n == 2:
            own[:, 1] = -raw[:, 0]
        to_come = _by_seat(own, states)
    if value_target == "outcome":
        values.outcome[:] = to_come.clip(-1, 1)
    else:
        values.margin[:] = _margins(points) + unit * to_come
    return _completed(game, states, values)


def search_values(game: Game, states: np.ndarray, means: np.ndarray, first_places: bool) -> Values:
    """Return the values of all seats by a search.

    Args:
        game: the game.
        states: state records (N,).
        means: float64 (N, num_players), mean values at the roots, counted from the player to move.
        first_places: whether they are on the scale of `garden_agents.search.values.first_places`.
    """
    n, values = game.num_players, _nothing(game, len(states))
    if game.cooperative:
        values.score[:] = game.reward_divisor * _score(means[:, 0])
    elif first_places:
        values.win[:] = ((_by_seat(means, states) * (n - 1) + 1) / n).clip(0, 1)
    else:
        values.outcome[:] = _by_seat(means, states)
    return _completed(game, states, values, calibrated=first_places)


def _nothing(game: Game, count: int) -> Values:
    """Return values that are all NaN."""
    shapes = *[(count, game.num_players)] * 3, count
    return Values(*(np.full(shape, np.nan, np.float32) for shape in shapes))


def _by_seat(values: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Return values (N, num_players), counted from the player to move, counted from seat 0."""
    n = values.shape[1]
    offsets = np.arange(n) - states["current_player"][:, None]
    return np.take_along_axis(values, offsets % n, 1)


def _score(squashed: np.ndarray) -> np.ndarray:
    """Return x for x / (1 + |x|)."""
    return squashed / np.maximum(1 - np.abs(squashed), 1e-6)


def _margins(points: np.ndarray) -> np.ndarray:
    """Return margins for points, int (N, num_players)."""
    return points - (points.sum(1, keepdims=True) - points) / (points.shape[1] - 1)


def _completed(game: Game, states: np.ndarray, values: Values, calibrated: bool = True) -> Values:
    """Fill in what follows: win or outcome of two seats, and the results of games that are over. Return the values."""
    win, outcome, margin, score = values
    if game.num_players == 2 and not game.cooperative:
        if calibrated:
            np.copyto(win, (1 + outcome) / 2, where=np.isnan(win))
        np.copyto(outcome, 2 * win - 1, where=np.isnan(outcome))
    over = np.flatnonzero(is_over(states))
    points = loops.by_seat(loops.points_rows, game, states[over])
    if game.cooperative:
        score[over] = points.min(1)
        return values
    standings = loops.by_seat(loops.standings_rows, game, states[over])
    first = standings == standings.max(1, keepdims=True)
    win[over], margin[over] = first / first.sum(1, keepdims=True), _margins(points)
    for row, standing in zip(over, standings, strict=True):
        rewards.outcome(standing, game.num_players, outcome[row])
    return values
