"""The meaning of a network's outputs: probabilities of the legal actions, and values for the player to move."""

from __future__ import annotations

import numpy as np

from garden_core.batch.batch import Batch
from garden_core.game import Game
from garden_core.jit import compiled
from garden_core.jit.rng import next_float

VALUE_TARGETS = ("outcome", "margin", "score", "seats")
"""What a value head can predict: "outcome" or "margin" of the player to move; "score", the points that the team will still
score in a cooperative game; or "seats", for every seat the chance to finish first and the margin."""
SCORE, SEATS = VALUE_TARGETS.index("score"), VALUE_TARGETS.index("seats")


def target_of(game: Game) -> str:
    """Return the value target of networks trained for a game: "seats", or "score" in cooperative games."""
    return "score" if game.cooperative else "seats"


def num_values(value_target: str, num_players: int) -> int:
    """Return the number of raw values for a value target."""
    return 2 * num_players if value_target == "seats" else 1


def expected_values(raw: np.ndarray, value_target: str) -> np.ndarray:
    """Return values from -1 to 1, from raw values (N, num_values).

    With the target "seats", the values of all seats (two or more), counted from the player to move, float32 (N,
    num_players), on the scale of `garden_agents.search.values.first_places`: 1 is a certain first place, and their sum is
    0. With other targets, the value of the player to move, float32 (N,): the outcome, the margin, or `x / (1 + |x|)` for
    a predicted score x.
    """
    by_seat = value_target == "seats"
    values = np.empty((len(raw), raw.shape[1] // 2 if by_seat else 1), np.float32)
    fill_values(np.ascontiguousarray(raw, np.float32), VALUE_TARGETS.index(value_target), values)
    return values if by_seat else values[:, 0]


def chances_and_margins(raw: np.ndarray, seats: np.ndarray | None = None) -> np.ndarray:
    """Return the chances to finish first and the margins, float32 (N, 2n), from raw values of the target "seats".

    Seats are counted from the player to move. Chances sum to 1 (a softmax of the first n raw values), margins to 0.

    Args:
        raw: the raw values, float32 (N, 2n).
        seats: int64 (N,), number of seats of each row's game, whose other chances and margins are 0; None for n.
    """
    first, margins = np.hsplit(raw, 2)
    if seats is not None:
        absent = np.arange(first.shape[1]) >= seats[:, None]
        first, margins = np.where(absent, -np.inf, first), np.ma.array(margins, mask=absent)
    chances = np.exp(first - first.max(1, keepdims=True))
    chances /= chances.sum(1, keepdims=True)
    centred = np.ma.filled(margins - margins.mean(1, keepdims=True), 0)
    return np.hstack([chances, centred])


def best_actions(batch: Batch, row: int, value: float, shares: np.ndarray) -> str:
    """Describe the value of the position in `row` and its three best actions by `shares`, (num_actions,)."""
    if batch.action_mask[row].sum() == 1:
        return "the only action"
    order = np.argsort(-shares, kind="stable")[:3]
    best = ", ".join(f"{batch.game.labels[a]} {shares[a]:.0%}" for a in order if shares[a] > 0)
    return f"value {value:+.2f}; {best}"


def probabilities(logits: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """Return probabilities, float32 (N, num_actions), from logits; 0 where the mask, int8, is 0. A mask may be all zeros."""
    out = np.empty_like(logits)
    fill_probabilities(logits, masks, out)
    return out


def sample(
    logits: np.ndarray, masks: np.ndarray, rng_states: np.ndarray, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sample a legal action per row; return actions, int64 (N,), and their log probabilities, float32 (N,).

    Args:
        logits: float32 (N, num_actions).
        masks: int8 (N, num_actions), 1 for legal actions; at least one per row.
        rng_states: uint64 (envs, 4); row i draws from rng_states[rows[i]].
        rows: int64 (N,).
    """
    actions, logs = np.empty(len(logits), np.int64), np.empty(len(logits), np.float32)
    sample_rows(logits, masks, rng_states, rows, actions, logs)
    return actions, logs


@compiled
def _highest(logits, mask):
    highest = np.float32(-np.inf)
    for action in range(mask.shape[0]):
        if mask[action]:
            highest = max(highest, logits[action])
    return highest


@compiled
def exponentials(logits, mask, out):
    """Fill `out` with exp(logit - highest) of the legal actions, 0 for others; return the highest logit and the sum."""
    highest, total = _highest(logits, mask), np.float32(0)
    for action in range(mask.shape[0]):
        out[action] = np.exp(logits[action] - highest) if mask[action] else np.float32(0)
        total += out[action]
    return highest, total


@compiled
def fill_probabilities(logits, masks, out):
    """Fill `out` with the softmax of each row's logits over the legal actions."""
    for i in range(logits.shape[0]):
        _, total = exponentials(logits[i], masks[i], out[i])
        if total > 0:
            for action in range(masks.shape[1]):
                out[i, action] /= total


@compiled
def fill_values(raw, target, values):
    """Fill `values`, float32 (N, seats or 1), as `expected_values` returns them; `target` is an index of VALUE_TARGETS."""
    n = values.shape[1]
    for i in range(raw.shape[0]):
        if target == SEATS:
            highest, total = raw[i, 0], np.float32(0)
            for p in range(n):
                highest = max(highest, raw[i, p])
            for p in range(n):
                values[i, p] = np.exp(raw[i, p] - highest)
                total += values[i, p]
            for p in range(n):
                values[i, p] = (n * (values[i, p] / total) - np.float32(1)) / np.float32(n - 1)
        else:
            value = raw[i, 0]
            if target == SCORE:
                value = value / (np.float32(1) + abs(value))
            values[i, 0] = min(max(value, np.float32(-1)), np.float32(1))


@compiled
def sample_rows(logits, masks, rng_states, rows, actions, logs):
    """Fill actions[i] with a sampled legal action, and logs[i] with its log probability."""
    for i in range(logits.shape[0]):
        highest, total = _highest(logits[i], masks[i]), np.float32(0)
        for action in range(masks.shape[1]):
            if masks[i, action]:
                total += np.exp(logits[i, action] - highest)
        rest, chosen = next_float(rng_states[rows[i]]) * total, -1
        for action in range(masks.shape[1]):
            if masks[i, action]:
                chosen = action
                rest -= np.exp(logits[i, action] - highest)
                if rest < 0:
                    break
        actions[i] = chosen
        logs[i] = logits[i, chosen] - highest - np.log(total)
