"""Values of networks: chances to finish first, and how well they predict outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.search.values import first_places
from garden_core.batch.batch import Batch
from garden_core.game import Game
from garden_core.recorded.replay import Replay

FIFTHS = 5


class PlayedGame(NamedTuple):
    """A game and its D decisions with more than one legal action.

    Attributes:
        values: float32 (D,), the network's value for the player to move.
        outcomes: float64 (D,), that player's outcome on the same scale; zeros in games without opponents.
        actions: int64 (D,), the chosen actions.
        states: state records (D,), before the decisions.
        end: state records (1,), at the end of the game.
    """

    values: np.ndarray
    outcomes: np.ndarray
    actions: np.ndarray
    states: np.ndarray
    end: np.ndarray


def self_play(
    game: Game,
    agent: NetworkAgent,
    games: int,
    seed: int,
    on_finished: Callable[[int], object] | None = None,
) -> list[PlayedGame]:
    """Play games of a network against itself; return the decisions with the network's values.

    Args:
        game: the game with its options.
        agent: the network.
        games: number of games.
        seed: seed of the games.
        on_finished: called after each step of all games with the number of games that it ended.

    Raises:
        ValueError: if the network's output is not finite.
    """
    batch = Batch(game, games, autoreset=False)
    batch.reset(seed)
    steps = []
    while len(rows := np.flatnonzero(~batch.over)):
        actions, values = agent.decide(batch, rows)
        several = np.flatnonzero(batch.action_mask[rows].sum(1, dtype=np.int64) > 1)
        decisions = rows, values.reshape(len(rows), -1)[:, 0], actions, batch.states[rows]
        steps.append([part[several] for part in decisions])
        batch.step(actions, rows)
        if on_finished is not None:
            on_finished(int(batch.over[rows].sum()))
    rows, *arrays = map(np.concatenate, zip(*steps, strict=True))
    order, ends = np.argsort(rows, kind="stable"), np.cumsum(np.bincount(rows, minlength=games))
    by_game = zip(*(np.split(array[order], ends[:-1]) for array in arrays), strict=True)
    played = []
    for row, (values, actions, states) in enumerate(by_game):
        outcomes = first_place_values(game, batch.states[row])[states["current_player"]]
        played.append(PlayedGame(values, outcomes, actions, states, batch.states[row : row + 1].copy()))
    return played


def first_place_values(game: Game, state: np.ndarray) -> np.ndarray:
    """Return the outcome of every seat of a finished game, float64 (max players,), as `first_places` counts it.

    Zeros in games without opponents.
    """
    final, points = np.zeros(game.max_players, np.float32), np.zeros(game.max_players, np.int32)
    if game.num_players > 1 and not game.cooperative:
        first_places(state, game.params[0], final, points)
    return final.astype(float)


def fifths(decisions: int) -> np.ndarray:
    """Return the fifth of the game, 0 to 4, of each of its decisions, int64 (decisions,)."""
    return np.arange(decisions) * FIFTHS // max(decisions, 1)


def parts_of(lengths: Sequence[int]) -> list[np.ndarray]:
    """Return masks of the concatenated decisions of games: all, then each fifth of the games.

    Args:
        lengths: decisions of each game, D in total.

    Returns:
        six masks, bool (D,).
    """
    fifth = np.concatenate([fifths(length) for length in lengths])
    return [fifth >= 0, *(fifth == k for k in range(FIFTHS))]


def by_fifths(values: Sequence[np.ndarray], outcomes: Sequence[np.ndarray]) -> dict[str, list[float]]:
    """Return means and correlation of values and outcomes, over all decisions and by fifths of the game.

    Args:
        values: the values in each game, float (D,).
        outcomes: the outcomes in each game, float (D,).

    Returns:
        "mean_value", "mean_outcome" and "correlation", each of six numbers; NaN where there is none.
    """
    value, outcome = np.concatenate(values), np.concatenate(outcomes)
    parts = parts_of([len(game) for game in outcomes])
    return {
        "mean_value": [_mean(value[part]) for part in parts],
        "mean_outcome": [_mean(outcome[part]) for part in parts],
        "correlation": [_correlation(value[part], outcome[part]) for part in parts],
    }


def _mean(x: np.ndarray) -> float:
    return round(float(x.mean()), 4) if len(x) else np.nan


def _correlation(x: np.ndarray, y: np.ndarray) -> float:
    if not len(x) or np.ptp(x) == 0 or np.ptp(y) == 0:
        return np.nan
    return round(float(np.corrcoef(x, y)[0, 1]), 4)


def chances(agent: NetworkAgent, replay: Replay) -> list[list[float]]:
    """Return a network's estimates in each position of a game: every seat's chance to finish first, to three digits.

    The last position of a finished game has the result.

    Args:
        agent: a network that values every seat.
        replay: the game.
    """
    game, states = replay.game, list(replay.states())
    batch = Batch(game, len(states), autoreset=False)
    batch.reset(0)
    batch.states[:] = states
    batch.refresh()
    return agent.values(batch, batch.all_rows).win.astype(float).round(3).tolist()
