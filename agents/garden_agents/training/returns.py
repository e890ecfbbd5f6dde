"""Advantages and returns of all seats, for your own training loop on `Batch`."""

from __future__ import annotations

import numpy as np

from garden_agents.training.credit import seat_advantages


def advantages(
    players: np.ndarray,
    rewards: np.ndarray,
    over: np.ndarray,
    values: np.ndarray,
    last_values: np.ndarray,
    gae_lambda: float = 0.95,
) -> tuple[np.ndarray, np.ndarray]:
    """Return advantages and returns of T decisions in each of N games, each along the decisions of its seat.

    A seat's reward for a decision is all that it is paid until its next decision, so the loser of a game learns of the loss,
    too. Advantages are generalized (J. Schulman et al., "High-dimensional continuous control using generalized advantage
    estimation", 2016), without discount: games end. A game that is cut at the cap on decisions pays its result, so it counts
    as over.

    Args:
        players: int (T, N), the seat of each decision: `batch.current_player` before the step.
        rewards: float (T, N, seats), `batch.rewards` after it.
        over: bool (T, N), whether it ended the game: `batch.terminated | batch.truncated`.
        values: float (T, N), estimated value for the seat of each decision.
        last_values: float (N, seats), estimated value for each seat after the last decision.
        gae_lambda: 0 to 1; 1 for returns up to the end of the game.

    Returns:
        advantages, float32 (T, N), and returns, the targets of the values: advantages + values.

    Raises:
        ValueError: for arrays whose shapes do not agree, a seat that does not exist, and a lambda outside 0 … 1.

    Example:
        >>> import numpy as np
        >>> from garden_agents import advantages
        >>> players = np.array([[0], [1], [0]])  # three decisions in one game, which seat 0 wins
        >>> rewards = np.array([[[0, 0]], [[0, 0]], [[1, -1]]])
        >>> over = np.array([[False], [False], [True]])
        >>> found, returns = advantages(players, rewards, over, np.zeros((3, 1)), np.zeros((1, 2)), gae_lambda=1)
        >>> returns[:, 0]
        array([ 1., -1.,  1.], dtype=float32)
    """
    given = (players, rewards, over, values, last_values)
    players, rewards, over, values, last_values = map(np.asarray, given)  # also of tensors
    steps, games, seats = rewards.shape if np.ndim(rewards) == 3 else (-1, -1, -1)
    shapes = [np.shape(array) for array in (players, over, values, last_values)]
    if shapes != [(steps, games)] * 3 + [(games, seats)]:
        raise ValueError(
            f"players, over and values must be (T, N), rewards (T, N, seats) and last_values (N, seats), not "
            f"{', '.join(map(str, shapes[:3]))}, {np.shape(rewards)} and {shapes[3]}"
        )
    if np.size(players) and not 0 <= np.min(players) <= np.max(players) < seats:
        raise ValueError(f"players must be 0 to {seats - 1}")
    if not 0 <= gae_lambda <= 1:
        raise ValueError(f"gae_lambda must be 0 to 1, not {gae_lambda}")
    out = np.zeros((steps, games), np.float32)
    estimates = np.ascontiguousarray(values, np.float32)
    waiting = np.zeros((3, games, seats), np.float32)
    waiting[0] = last_values
    seat_advantages(
        np.ascontiguousarray(players, np.int64),
        np.ascontiguousarray(rewards, np.float32),
        np.ascontiguousarray(over, np.bool_),
        estimates,
        waiting,
        np.float32(gae_lambda),
        out,
    )
    return out, out + estimates
