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
    # no branch by the mask but in `exponentials`: illegal actions have the probability 0
    for i in range(logits.shape[0]):
        row, own, d, entropy = rows[i], logits[i], d_logits[i], np.float32(0)
        highest, total = exponentials(own, masks[row], d)
        shift = highest + np.log(total)
        for k in range(own.shape[0]):
            d[k] /= total  # the probability
            entropy -= d[k] * (own[k] - shift)
        change = own[actions[row]] - shift - before[row]
        ratio, advantage = np.exp(change), advantages[row]
        clipped = ratio > 1 + clip if advantage > 0 else ratio < 1 - clip
        by_action = np.float32(0.0 if clipped else (1 - imitation) * ratio * advantage / size)
        by_entropy = np.float32((1 - imitation) * entropy_weight / size)
        by_greedy = np.float32(imitation / size)
        for k in range(own.shape[0]):
            d[k] *= by_action + by_entropy * (own[k] - shift + entropy) + by_greedy
        d[actions[row]] -= by_action
        d[greedy[row]] -= by_greedy
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
