"""Compiled losses with their derivatives by a network's outputs, for rows too short for torch's overhead per operation.
`garden_agents.training.ppo_update.torch_loss` is PPO's loss in torch.
"""

from __future__ import annotations

import numpy as np

from garden_agents.networks.heads import exponentials
from garden_core.jit import compiled

NAMES = ("policy_loss", "value_loss", "entropy", "approx_kl", "clip_fraction")
"""Entries of `sums`, float64 (at least 5,), to which losses add."""


@compiled
def policy_loss(
    logits,
    rows,
    masks,
    actions,
    before,
    greedy,
    advantages,
    clip,
    entropy_weight,
    imitation,
    size,
    d_logits,
    sums,
):
    """Fill `d_logits` with the derivatives of the policy loss, a mean over `size` decisions.

    The loss is (1 - imitation) x (PPO's clipped loss - entropy_weight x entropy) + imitation x the cross-entropy with the greedy
    action. Adds to all entries of `sums` but the second.

    Args:
        logits, d_logits: float32 (n, actions), of some of the decisions.
        rows: int64 (n,), indexes of these decisions in the following arrays.
        masks: int8 (N, actions).
        actions, greedy: int64 (N,).
        before, advantages: float32 (N,); `before` are log probabilities of the actions when they were sampled.
        clip, entropy_weight, imitation: float.
        size: number of decisions in the mean.
        sums: see `NAMES`.
    """
    num_actions = logits.shape[1]
    for i in range(logits.shape[0]):
        row = rows[i]
        highest, total = exponentials(logits[i], masks[row], d_logits[i])
        log_total, entropy = np.log(total), np.float32(0)
        for k in range(num_actions):
            d_logits[i, k] /= total  # the probability
            if masks[row, k]:
                p, log_p = d_logits[i, k], logits[i, k] - highest - log_total
                entropy -= p * log_p
        change = logits[i, actions[row]] - highest - log_total - before[row]
        ratio, advantage = np.exp(change), advantages[row]
        clipped = ratio > 1 + clip if advantage > 0 else ratio < 1 - clip
        by_action = 0.0 if clipped else (1 - imitation) * ratio * advantage
        by_entropy = (1 - imitation) * entropy_weight
        for k in range(num_actions):
            if masks[row, k]:
                p, log_p = d_logits[i, k], logits[i, k] - highest - log_total
                d = p * (by_action + by_entropy * (log_p + entropy) + imitation)
                d -= by_action * (k == actions[row]) + imitation * (k == greedy[row])
                d_logits[i, k] = d / size
        sums[0] -= min(max(ratio, 1 - clip), 1 + clip) * advantage if clipped else ratio * advantage
        sums[2] += entropy
        sums[3] -= change
        sums[4] += abs(ratio - 1) > clip


@compiled
def seat_loss(raw, rows, targets, counted, seats, weight, size, d_raw, sums):
    """Fill `d_raw` with the derivatives of weight x the mean value loss of all seats; add the loss to sums[1].

    The loss is the cross-entropy of the chances to finish first plus the mean squared error of the margins, as
    `heads.chances_and_margins` reads them.

    Args:
        raw, d_raw: float32 (n, 2 seats), of some of the decisions.
        rows, size, sums: see `policy_loss`.
        targets: float32 (N, 2 seats).
        counted: float32 (N,), 1 where the loss counts, else 0.
        seats: int64 (N,), number of seats of each decision's game; values of further ones do not count.
        weight: float.
    """
    half = raw.shape[1] // 2
    d_raw[:] = 0
    for i in range(raw.shape[0]):
        n = seats[rows[i]]
        target, factor = targets[rows[i]], weight * counted[rows[i]] / size
        highest, total, mean, error = raw[i, 0], np.float32(0), np.float32(0), np.float32(0)
        for k in range(n):
            highest = max(highest, raw[i, k])
        for k in range(n):
            total += np.exp(raw[i, k] - highest)
            mean += raw[i, half + k] / n
        for k in range(n):
            error += (raw[i, half + k] - mean - target[half + k]) / n
        for k in range(n):
            log_chance = raw[i, k] - highest - np.log(total)
            d_raw[i, k] = factor * (np.exp(log_chance) - target[k])
            off = raw[i, half + k] - mean - target[half + k]
            d_raw[i, half + k] = factor * 2 * (off - error) / n
            sums[1] += counted[rows[i]] * (off * off / n - target[k] * log_chance)


@compiled
def team_loss(raw, rows, targets, counted, seats, weight, size, d_raw, sums):
    """Fill `d_raw`, float32 (n, 1), with the derivatives of weight x the mean squared error; see `seat_loss`."""
    for i in range(raw.shape[0]):
        off, count = raw[i, 0] - targets[rows[i], 0], counted[rows[i]]
        d_raw[i, 0] = weight * count * 2 * off / size
        sums[1] += count * off * off
