"""PPO's loss and its derivatives in one pass over a minibatch, compiled: torch's operations on rows so short cost more
than what they compute. `garden_agents.training.ppo.formula` is the same in torch.
"""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled

__all__ = ["NAMES", "policy_loss", "seat_loss", "team_loss"]

NAMES = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
"""What the losses add up in `sums`, float64 (5,), over the rows."""


@compiled
def policy_loss(
    logits, masks, actions, before, greedy, advantages, clip, entropy_weight, imitation, d_logits, sums
):
    """Fill `d_logits` with the derivatives of the policy's part of the loss, the mean over the rows.

    That is 1 - imitation of (PPO's clipped loss less entropy_weight x entropy), and imitation of the cross-entropy with
    the greedy action. Adds to all entries of `sums` but the second.

    Args:
        logits, d_logits: float32 (N, actions).
        masks: int8 (N, actions).
        actions, greedy: int64 (N,).
        before, advantages: float32 (N,); `before` are the log probabilities of the actions when they were chosen.
        clip, entropy_weight, imitation: float.
        sums: see `NAMES`.
    """
    rows, num_actions = logits.shape
    for i in range(rows):
        highest = np.float32(-np.inf)
        for k in range(num_actions):
            if masks[i, k]:
                highest = max(highest, logits[i, k])
        total = np.float32(0)
        for k in range(num_actions):
            d_logits[i, k] = np.exp(logits[i, k] - highest) if masks[i, k] else np.float32(0)
            total += d_logits[i, k]
        log_total, entropy = np.log(total), np.float32(0)
        for k in range(num_actions):
            d_logits[i, k] /= total  # the probability
            if masks[i, k]:
                entropy -= d_logits[i, k] * (logits[i, k] - highest - log_total)
        change = logits[i, actions[i]] - highest - log_total - before[i]
        ratio, advantage = np.exp(change), advantages[i]
        clipped = ratio > 1 + clip if advantage > 0 else ratio < 1 - clip
        by_action = 0.0 if clipped else (1 - imitation) * ratio * advantage
        by_entropy = (1 - imitation) * entropy_weight
        for k in range(num_actions):
            if masks[i, k]:
                p, log_p = d_logits[i, k], logits[i, k] - highest - log_total
                d = p * (by_action + by_entropy * (log_p + entropy) + imitation)
                d -= by_action * (k == actions[i]) + imitation * (k == greedy[i])
                d_logits[i, k] = d / rows
        sums[0] -= min(max(ratio, 1 - clip), 1 + clip) * advantage if clipped else ratio * advantage
        sums[2] += entropy
        sums[3] -= change
        sums[4] += abs(ratio - 1) > clip


@compiled
def seat_loss(raw, targets, weight, d_raw, sums):
    """Fill `d_raw` with the derivatives of weight x the mean value loss of all seats; add the loss to sums[1].

    That is the cross-entropy of the chances to finish first plus the mean squared error of the margins, as
    `heads.chances_and_margins` reads them.

    Args:
        raw, targets, d_raw: float32 (N, 2 seats).
        weight: float.
        sums: see `NAMES`.
    """
    rows, n = raw.shape[0], raw.shape[1] // 2
    for i in range(rows):
        highest, total, mean, error = raw[i, 0], np.float32(0), np.float32(0), np.float32(0)
        for k in range(n):
            highest = max(highest, raw[i, k])
        for k in range(n):
            total += np.exp(raw[i, k] - highest)
            mean += raw[i, n + k] / n
        for k in range(n):
            error += (raw[i, n + k] - mean - targets[i, n + k]) / n
        for k in range(n):
            log_chance = raw[i, k] - highest - np.log(total)
            d_raw[i, k] = weight * (np.exp(log_chance) - targets[i, k]) / rows
            off = raw[i, n + k] - mean - targets[i, n + k]
            d_raw[i, n + k] = weight * 2 * (off - error) / (n * rows)
            sums[1] += off * off / n - targets[i, k] * log_chance


@compiled
def team_loss(raw, targets, weight, d_raw, sums):
    """Fill `d_raw`, float32 (N, 1), with the derivatives of weight x the mean squared error; add that to sums[1]."""
    for i in range(raw.shape[0]):
        off = raw[i, 0] - targets[i, 0]
        d_raw[i, 0] = weight * 2 * off / raw.shape[0]
        sums[1] += off * off
