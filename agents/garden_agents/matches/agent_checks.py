"""Checks of agents: whether values predict outcomes, and whether beliefs predict hidden cards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from garden_agents.games import hints_of
from garden_agents.matches.values import by_fifths, first_place_values
from garden_agents.search.beliefs import REDRAWS, Evaluator, belief, evaluated
from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy, ask
from garden_core.checks import SEEDS
from garden_core.game import Game
from garden_core.jit import loops, rewards

LEAST_CORRELATION = 0.1
"""Values whose correlation with the outcomes is lower towards the end of the games are no estimates of them."""
BINS = 10


def check_agent(agent: Evaluator, game: Game, games: int = 200, seed: int = 0) -> dict[str, list[float]]:
    """Compare the values that `agent.evaluate` gives positions with the outcomes of games, which search relies on.

    The games are between copies of the agent that sample their actions from its probabilities. Only the decisions with more
    than one legal action count.

    Args:
        agent: an agent with the method `evaluate`, such as `garden_agents.load("cacti")`.
        game: the game with its options.
        games: number of games; with fewer, a right agent can be refused by chance.
        seed: seed of deals and actions.

    Returns:
        "mean_value", "mean_outcome" and "correlation" of the values for the player to move: each over all decisions, and
        then in each fifth of the games.

    Raises:
        ValueError: if the values are reversed, uncorrelated with the outcomes, from 0 to 1, or those of several seats not
            counted from the player to move; or if `evaluate` returns other shapes or ranges than `Evaluator` says.

    Example:
        >>> import garden_agents
        >>> from garden_core import make
        >>> found = garden_agents.check_agent(garden_agents.load("cacti"), make("cacti"))
        >>> found["correlation"][-1] > 0.5
        True
    """
    values, outcomes, seats = zip(*_sampled_games(agent, game, games, seed), strict=True)
    own = [all_seats[np.arange(len(at)), at] for all_seats, at in zip(outcomes, seats, strict=True)]
    found = by_fifths([value[:, 0] for value in values], own)
    part, where = (0, "over all decisions") if game.cooperative else (-1, "in the last fifth of the games")
    correlation = found["correlation"][part]
    if values[0].shape[1] > 1:
        from_0 = [value[np.arange(len(at)), at] for value, at in zip(values, seats, strict=True)]
        if by_fifths(from_0, own)["correlation"][-1] > np.nan_to_num(abs(correlation)) + LEAST_CORRELATION:
            raise ValueError(
                "the values of all seats are counted from seat 0: count them from the player to move"
            )
    if not correlation >= LEAST_CORRELATION:
        is_reversed = correlation <= -LEAST_CORRELATION
        kind = "reversed, as if they were the opponent's" if is_reversed else "uncorrelated with the outcomes"
        raise ValueError(
            "evaluate must estimate the outcome for the player to move, as garden_agents.search.beliefs.Evaluator says; its "
            f"values are {kind}: {where} their correlation with the outcomes is {correlation:.2f}"
        )
    every = np.concatenate([value[:, 0] for value in values])
    if not game.cooperative and every.min() >= 0 and min(each.min() for each in outcomes) < 0:
        raise ValueError(
            f"the values are from {every.min():.2f} to {every.max():.2f}, never negative, as chances to win from 0 to 1 are: "
            f"return (n * chance - 1) / (n - 1) for n players, here {game.num_players}"
        )
    return found


def _sampled_games(
    agent: Evaluator, game: Game, games: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Play games; return for each the values, the outcomes of all seats and the player to move, by decision.

    The values are float (D, seats or 1), counted from the player to move; the outcomes float (D, max players), by seat.
    """
    batch, choose = Batch(game, games, autoreset=False), np.random.default_rng(seed)
    batch.reset(seed)
    steps = []
    while len(rows := np.flatnonzero(~batch.over)):
        masks = batch.action_mask[rows]
        chances, values = evaluated(agent, batch.observation[rows], masks, game.num_players)
        chances = np.cumsum(np.where(masks != 0, chances.astype(np.float64), 0), 1)
        actions = (chances > choose.random((len(rows), 1)) * chances[:, -1:]).argmax(1)
        several = np.flatnonzero(masks.sum(1, dtype=np.int64) > 1)
        scores = loops.by_seat(loops.points_rows, game, batch.states[rows])
        decisions = rows, values, batch.current_player[rows].copy(), scores
        steps.append([part[several] for part in decisions])
        batch.step(actions, rows)
    rows, *arrays = map(np.concatenate, zip(*steps, strict=True))
    noted = []
    for row in range(games):
        values, seats, scores = (array[rows == row] for array in arrays)
        noted.append((values, _outcomes(game, batch.states[row], scores), seats))
    return noted


def _outcomes(game: Game, end: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return what values estimate, by decision and seat, float (D, seats): see `Evaluator.evaluate`."""
    if not game.cooperative:
        return np.tile(first_place_values(game, end), (len(scores), 1))
    n = game.num_players
    final = rewards.team_score(np.array(game.scores(end), np.int32), n)
    to_come = np.array([final - rewards.team_score(own, n) for own in scores]) / game.reward_divisor
    return np.repeat((to_come / (1 + np.abs(to_come)))[:, None], n, 1)


class Calibration(NamedTuple):
    """How well probabilities predict a hidden card.

    Attributes:
        predictions: number of predictions.
        log_loss: mean of -log(probability of the true card), in nats.
        calibration_error: expected calibration error: the mean distance between the probability of the likeliest card and how
            often it is the true one, in BINS bins of that probability.
        accuracy: how often the likeliest card is the true one.
    """

    predictions: int
    log_loss: float
    calibration_error: float
    accuracy: float


def belief_calibration(
    game: Game,
    network: Evaluator,
    player: Policy | None = None,
    games: int = 50,
    redraws: int = REDRAWS,
    seed: int = 0,
) -> dict[str, tuple[Calibration, Calibration]]:
    """Measure how well `belief` predicts what other seats hold, compared with uniform redraws.

    A belief assumes that the others play as the network does. `player` plays all seats, and can be another agent.

    Args:
        game: a game with `Hints.private_fields`.
        network: the network of the beliefs.
        player: the policy that plays; the network itself, which must then be a policy, if None.
        games: number of games. At each decision, the belief of the player to move is compared with the cards of the others.
        redraws: redraws of each position. The probability of a card counts as at least half a redraw.
        seed: seed of deals and redraws.

    Returns:
        by private field, the calibration of the belief and that of the uniform redraws.

    Raises:
        ValueError: for a game without private fields, a network without calls as a policy if there is no player, and as
            `belief`.

    Example:
        >>> from garden_agents import belief_calibration, load
        >>> from garden_core import make
        >>> found = belief_calibration(make("cacti"), load("cacti"), games=20)
        >>> weighted, uniform = found["bonus"]
        >>> weighted.log_loss < uniform.log_loss
        True
    """
    fields = hints_of(game).private_fields
    if not fields:
        raise ValueError(f"{game.name} has no private fields, so beliefs about it are uniform")
    if player is None:
        if not callable(network):
            raise ValueError("give a player: this network is no policy")
        player = network
    batch = Batch(game, games, autoreset=False, history=True)
    batch.reset(seed)
    found: dict[str, list[tuple[np.ndarray, ...]]] = {field: [] for field in fields}
    step = 0
    while len(rows := np.flatnonzero(~batch.over)):
        states, weights = belief(batch, network, redraws, (seed + step) % SEEDS)
        for field in fields:
            for row in rows:
                drawn, true = states[field][row], batch.states[field][row]
                for seat in range(game.num_players):
                    if seat != batch.current_player[row] and true[seat] >= 0:
                        found[field].append((drawn[:, seat] == true[seat], drawn[:, seat], weights[row]))
        batch.step(ask(player, batch, rows), rows)
        step += 1
    equal = np.full(redraws, 1 / redraws)
    return {
        field: (_calibration(each), _calibration([(right, cards, equal) for right, cards, _ in each]))
        for field, each in found.items()
    }


def _calibration(predictions: list[tuple[np.ndarray, ...]]) -> Calibration:
    """Return the calibration of predictions: for each redraw whether the card is the true one, the card, and the weight."""
    losses, tops, hits = [], [], []
    for right, cards, weights in predictions:
        losses.append(-np.log(max(float(weights[right].sum()), 0.5 / len(weights))))
        chances = np.bincount(cards - cards.min(), weights)
        tops.append(chances.max())
        hits.append(bool(right[cards - cards.min() == chances.argmax()].any()))
    top, hit = np.array(tops), np.array(hits, float)
    bins = np.minimum((top * BINS).astype(int), BINS - 1)
    error = sum(abs((top[bins == b] - hit[bins == b]).sum()) for b in range(BINS)) / max(1, len(top))
    return Calibration(len(top), float(np.mean(losses)), float(error), float(hit.mean()))
