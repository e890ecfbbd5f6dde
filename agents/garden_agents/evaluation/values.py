"""Values of networks: chances of the first place, and how well they predict outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.search.values import first_places
from garden_core.batch.batch import Batch
from garden_core.files.replay import Replay
from garden_core.game import Game

FIFTHS = 5


class Noted(NamedTuple):
    """A game and its D decisions for which there was more than one legal action.

    Attributes:
        values: float32 (D, agents), each agent's value for the player to move.
        outcomes: float64 (D,), that player's outcome on the same scale; zeros in games without opponents.
        actions: int64 (D,), what was chosen.
        states: state records (D,), before the decisions.
        end: state records (1,), as the game ended.
    """

    values: np.ndarray
    outcomes: np.ndarray
    actions: np.ndarray
    states: np.ndarray
    end: np.ndarray


def noted(
    game: Game,
    agents: Sequence[NetworkAgent],
    games: int,
    seed: int,
    on_finished: Callable[[int], object] | None = None,
) -> list[Noted]:
    """Play games of the first agent against itself; return the decisions with the values of all agents.

    Args:
        game: the game with its options.
        agents: the networks; the first one plays.
        games: number of games.
        seed: seed of the games.
        on_finished: called after each step of all games with the number of games that it ended.

    Raises:
        ValueError: if an agent's answer is not finite.
    """
    batch = Batch(game, games, autoreset=False)
    batch.reset(seed)
    steps = []
    while len(rows := np.flatnonzero(~batch.over)):
        seen, masks = batch.observation[rows], batch.action_mask[rows]
        chosen, own = agents[0].decide(batch, rows)
        expected = [own, *(agent.evaluate(seen, masks)[1] for agent in agents[1:])]
        values = np.stack([value.reshape(len(rows), -1)[:, 0] for value in expected], 1)
        several = masks.sum(1, dtype=np.int64) > 1
        states = batch.states[rows[several]]
        steps.append(
            (rows[several], values[several].astype(np.float32), chosen[several].astype(np.int64), states)
        )
        batch.step(chosen, rows)
        if on_finished is not None:
            on_finished(int(batch.over[rows].sum()))
    rows, *arrays = (np.concatenate(parts) for parts in zip(*steps, strict=True))
    order, ends = np.argsort(rows, kind="stable"), np.cumsum(np.bincount(rows, minlength=games))
    by_game = zip(*(np.split(array[order], ends[:-1]) for array in arrays), strict=True)
    found = []
    for row, (values, actions, states) in enumerate(by_game):
        outcomes = first_place_values(game, batch.states[row])[states["current_player"]]
        found.append(Noted(values, outcomes, actions, states, batch.states[row : row + 1].copy()))
    return found


def first_place_values(game: Game, state: np.ndarray) -> np.ndarray:
    """Return the outcome of every seat of a finished game, float64 (max players,), as `first_places` counts it.

    Zeros in games without opponents.
    """
    final, points = np.zeros(game.max_players, np.float32), np.zeros(game.max_players, np.int32)
    if game.num_players > 1 and not game.cooperative:
        first_places(state, game.params[0], final, points)
    return final.astype(float)


def fifths(decisions: int) -> np.ndarray:
    """Return int64 (decisions,): in which fifth of the game, 0 to 4, each of its decisions is."""
    return np.arange(decisions) * FIFTHS // max(decisions, 1)


def parts_of(lengths: Sequence[int]) -> list[np.ndarray]:
    """Return masks of the decisions of games one after another: all, then each fifth of the games.

    Args:
        lengths: decisions of each game, D in all.

    Returns:
        six masks, bool (D,).
    """
    fifth = np.concatenate([fifths(length) for length in lengths])
    return [fifth >= 0, *(fifth == k for k in range(FIFTHS))]


def by_fifths(values: Sequence[np.ndarray], outcomes: Sequence[np.ndarray]) -> dict[str, list[float]]:
    """Return means and correlation of values and outcomes, over all decisions and then by fifths of the game.

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
    """Return a network's estimate in each position of a game: every seat's chance of the first place, to three digits.

    Args:
        agent: a network that values every seat.
        replay: the game.
    """
    game, states = replay.game, list(replay.states())
    batch = Batch(game, len(states), autoreset=False)
    batch.reset(0)
    batch.states[:] = states
    batch.refresh()
    values = agent.evaluate(batch.observation, batch.action_mask)[1]
    shares = (values * (game.num_players - 1) + 1) / game.num_players
    by_seat = [np.roll(row, seat) for row, seat in zip(shares, batch.current_player, strict=True)]
    return [[round(float(share), 3) for share in row] for row in by_seat]
