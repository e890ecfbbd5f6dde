"""Likelihood-weighted determinizations: redraws of hidden cards, weighted by how well they explain the others' actions.

A redraw gives the other seats random cards. Where these stay the same from the deal on (`Hints.private_fields`), a network
can be evaluated at each earlier decision of another seat as if it had held them. The probability of the action taken is
the likelihood of these cards (Bayes' rule, as in particle filters).
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from garden_agents.games import hints_of
from garden_agents.search.redraws import (
    Past,
    Supposed,
    first_alike,
    log_likelihood,
    normalise,
    redraw_for_movers,
    suppose,
)
from garden_core.batch.batch import Batch
from garden_core.game import Game
from garden_core.jit import records

REDRAWS = 64
"""Redraws per position."""


class Evaluator(Protocol):
    """A network that can guide a search by priors and values."""

    def evaluate(self, observation: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the actions' probabilities, float32 (N, num_actions), and values, about -1 to 1.

        The values are float32 (N,), for the player to move; or float32 (N, num_players), for all seats, counted from the
        player to move, on the scale of `garden_agents.search.values.first_places`. In cooperative games they are
        float32 (N,), `x / (1 + |x|)` for the score still to come, x times the game's reward_divisor.
        """


def evaluated(
    network: Evaluator, observations: np.ndarray, masks: np.ndarray, num_players: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return a network's probabilities and values, float32 (n, num_actions) and (n, seats or 1), after checking them.

    Raises:
        ValueError: if they have other shapes or ranges than `Evaluator.evaluate` says.
    """
    given = network.evaluate(observations, masks)
    probabilities, values = (np.asarray(part, np.float32) for part in given)
    n = len(masks)
    wanted = (n,) if values.ndim == 1 else (n, num_players)
    if probabilities.shape != masks.shape or values.shape != wanted:
        raise ValueError(
            f"evaluate must return shapes {masks.shape} and {wanted}, not {probabilities.shape} and {values.shape}"
        )
    in_range = (probabilities >= 0).all() and (np.abs(values) < 1.01).all()
    if not (in_range and (np.abs(probabilities.sum(1) - 1) < 0.01).all()):
        raise ValueError("evaluate must return probabilities, which sum to 1, and values from -1 to 1")
    return probabilities, values[:, None] if values.ndim == 1 else values


def belief(
    batch: Batch, network: Evaluator, redraws: int = REDRAWS, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Return possible states of each row, as far as its player to move knows, and their probabilities.

    The states are redraws of what the player cannot see. Their probabilities take the earlier decisions of the other seats
    into account, as the network would have taken them with the redrawn cards: this is the posterior from which search
    draws. In games without `Hints.private_fields` all redraws are equally probable.

    The probabilities are right only if the other seats play as the network does. Of other players they can be wrong and
    overconfident: `garden_agents.belief_calibration` measures it.

    Args:
        batch: the games; with `history=True` if the game has private fields.
        network: for example `garden_agents.load("cacti")`.
        redraws: number of redraws of each row.
        seed: see `Batch.redraws`.

    Returns:
        state records (N, redraws), and float64 (N, redraws), which sum to 1 in each row.

    Raises:
        ValueError: for a batch without a history in a game with private fields, for a network that returns other shapes or
            ranges than `Evaluator` says, and as `Batch.redraws`.

    Example:
        >>> import numpy as np
        >>> from garden_agents import belief, load
        >>> from garden_core import Batch
        >>> batch, agent = Batch("cacti", 4, history=True), load("cacti")
        >>> batch.reset(seed=1)
        >>> for _ in range(11):
        ...     batch.step(agent(batch, batch.all_rows))
        >>> states, weights = belief(batch, agent, redraws=200)
        >>> other = 1 - batch.current_player[0]
        >>> chances = np.bincount(states["bonus"][0, :, other], weights[0])  # of the other's Bonus Planter
        >>> int(chances.argmax()), int(batch.states["bonus"][0, other])
        (0, 0)
    """
    game = batch.game
    if hints_of(game).private_fields and batch.history is None:
        raise ValueError(f"a belief about {game.name} needs a Batch with history=True")
    drawn = batch.redraws(redraws, seed)
    return drawn, _weights(batch, batch.all_rows, network, drawn)


def weighted_redraws(
    batch: Batch, rows: np.ndarray, network: Evaluator, rng_states: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return redraws of the positions in `rows`, records (n, number), and their probabilities, float64 (n, number).

    The number is REDRAWS; it is 0 if the game has no private fields or the batch no history, so that each simulation draws
    its own.
    """
    game = batch.game
    number = REDRAWS if hints_of(game).private_fields and batch.history is not None else 0
    redraws = records((len(rows), number), game.state_dtype)
    if number:
        redraw_for_movers(batch.states, game.params, rows, rng_states, redraws)
    return redraws, _weights(batch, rows, network, redraws)


def _weights(batch: Batch, rows: np.ndarray, network: Evaluator, redraws: np.ndarray) -> np.ndarray:
    """Return the probabilities of redraws of `rows`, float64 (n, number), given the earlier decisions of the others."""
    game, history = batch.game, batch.history
    weights = np.full(redraws.shape, 1 / max(1, redraws.shape[1]))
    if weights.size and hints_of(game).private_fields and history is not None:
        for i, row in enumerate(rows):
            states, actions = history.of(row)
            player = int(batch.current_player[row])
            others = np.flatnonzero(states["current_player"] != player)
            _weigh(game, network, Past(states[others], actions[others]), redraws[i], player, weights[i])
    return weights


def _weigh(
    game: Game, network: Evaluator, past: Past, redraws: np.ndarray, player: int, weights: np.ndarray
) -> None:
    """Fill `weights`, float64 (number,), with the probabilities of the redraws, given the past of the others."""
    held, private = bytes_of(redraws), private_bytes(game)
    first = np.array([first_alike(held, k, private) for k in range(len(held))])
    n, different = len(past.actions), np.unique(first)
    if n == 0 or len(different) == 1:
        return
    states = records(n * len(different), game.state_dtype)
    observations = np.zeros((len(states), game.observation_size), np.int8)
    masks = np.zeros((len(states), game.num_actions), np.int8)
    supposed = Supposed(states, bytes_of(states), observations, masks)
    suppose(past, held[different], private, player, game.params, supposed)
    chances, _ = evaluated(network, observations, masks, game.num_players)
    logs = np.zeros(len(held))
    for i, k in enumerate(different):
        part = slice(i * n, i * n + n)
        logs[k] = log_likelihood(past.actions, chances[part], masks[part])
    normalise(logs[first], weights)


def bytes_of(states: np.ndarray) -> np.ndarray:
    """Return state records (n,) as bytes, int8 (n, size), in the same memory."""
    return states.view(np.int8).reshape(len(states), states.itemsize)


def private_bytes(game: Game) -> np.ndarray:
    """Return where the private fields are in a state's bytes, int64 (fields, seats)."""
    fields: Any = game.state_dtype.fields
    starts = [[fields[name][1]] for name in hints_of(game).private_fields]
    return np.array(starts, np.int64).reshape(-1, 1) + np.arange(game.max_players)
