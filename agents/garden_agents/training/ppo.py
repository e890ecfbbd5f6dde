"""PPO by self-play: `garden train mars --num-players 2 --minutes 10`.

Every seat that the current network plays is learned from: a decision is paid what its seat gets until the seat's own next
decision (J. Schulman et al., "Proximal policy optimization algorithms", 2017; advantages by GAE, J. Schulman et al.,
2016). In a share of the games one seat is the network's and the others belong to an opponent pool. The training begins by
imitating greedy play. A run's folder holds the files that `garden_agents.training.run_folder.Run` lists, and a
checkpoint. Ctrl-C saves the checkpoint; `--resume FOLDER` continues from it.
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np
import torch

from garden_agents.training.torch_network import TorchNetwork
from garden_core import loops, policies
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.jit import compiled
from garden_core.rng import next_float

OVER, OPEN = -1, -2


class Decisions(NamedTuple):
    """Decisions of the current network's seats, in the order in which they were taken.

    `values` and `rewards` have a column for each seat's chance to finish first, then one for each seat's margin; seats
    are counted from the one that decides.
    """

    masks: np.ndarray
    actions: np.ndarray
    log_probabilities: np.ndarray
    values: np.ndarray
    rewards: np.ndarray
    next: np.ndarray  # index of the same seat's next decision, OVER or OPEN
    teacher: np.ndarray

    @classmethod
    def empty(cls, size, game):
        k = 2 * game.num_players
        return cls(
            np.zeros((size, game.num_actions), np.int8),
            np.zeros(size, np.int64),
            np.zeros(size, np.float32),
            np.zeros((size, k), np.float32),
            np.zeros((size, k), np.float32),
            np.full(size, OPEN),
            np.zeros(size, np.int64),
        )


@compiled
def sample_rows(logits, masks, rng_states, rows, actions, log_probabilities):
    """Draw a legal action for each row; fill actions[i] and log_probabilities[i]."""
    for i in range(logits.shape[0]):
        highest = np.float32(-1e30)
        for a in range(logits.shape[1]):
            if masks[i, a] and logits[i, a] > highest:
                highest = logits[i, a]
        total = np.float32(0)
        for a in range(logits.shape[1]):
            if masks[i, a]:
                total += np.exp(logits[i, a] - highest)
        rest = next_float(rng_states[rows[i]]) * total
        chosen = -1
        for a in range(logits.shape[1]):
            if masks[i, a]:
                chosen = a
                rest -= np.exp(logits[i, a] - highest)
                if rest < 0:
                    break
        actions[i] = chosen
        log_probabilities[i] = logits[i, chosen] - highest - np.log(total)


@compiled
def link(latest, next_, rows, players, first):
    """Make each new decision the next one of its row and seat."""
    for i in range(rows.shape[0]):
        before = latest[rows[i], players[i]]
        if before >= 0:
            next_[before] = first + i
        next_[first + i] = OPEN
        latest[rows[i], players[i]] = first + i


@compiled
def pay(latest, next_, rewards, margins, over, standings):
    """Pay every open decision what its seat and the others got; at a game's end also who is first."""
    n = margins.shape[1]
    for row in range(latest.shape[0]):
        best, firsts = np.int64(standings[row, 0]), 0
        if over[row]:
            for seat in range(n):
                best = max(best, np.int64(standings[row, seat]))
            for seat in range(n):
                firsts += standings[row, seat] == best
        for seat in range(n):
            decision = latest[row, seat]
            if decision < 0:
                continue
            for k in range(n):
                other = (seat + k) % n
                rewards[decision, n + k] += margins[row, other]
                if over[row] and standings[row, other] == best:
                    rewards[decision, k] += np.float32(1.0) / firsts
            if over[row]:
                next_[decision] = OVER
                latest[row, seat] = -1


@compiled
def advantages(next_, values, rewards, lambda_, out):
    """Fill `out` with generalised advantages, column by column; those of open decisions are 0."""
    for i in range(next_.shape[0] - 1, -1, -1):
        after = next_[i]
        for k in range(values.shape[1]):
            if after == OPEN:
                out[i, k] = 0
            elif after == OVER:
                out[i, k] = rewards[i, k] - values[i, k]
            else:
                out[i, k] = rewards[i, k] + values[after, k] - values[i, k] + lambda_ * out[after, k]


def expected(raw: np.ndarray, n: int) -> np.ndarray:
    """Chances to finish first (softmax) and margins (of sum 0) from raw values."""
    out = raw.copy()
    out[:, :n] = np.exp(raw[:, :n] - raw[:, :n].max(1, keepdims=True))
    out[:, :n] /= out[:, :n].sum(1, keepdims=True)
    out[:, n:] -= raw[:, n:].mean(1, keepdims=True)
    return out


class Rollout:
    def __init__(self, game: Game, envs: int, steps: int, network: TorchNetwork, seed: int):
        self.game, self.network, self.steps = game, network, steps
        self.batch = Batch(game, envs)
        self.batch.reset(seed)
        self.capacity = envs * steps + envs * game.num_players
        self.decisions = Decisions.empty(self.capacity, game)
        self.inputs = [
            np.zeros((self.capacity, *a.shape[1:]), np.float32)
            for a in network.network.inputs(self.batch.observation[:1])
        ]
        self.latest = np.full((envs, game.num_players), -1)
        self.count = 0
        self.rng_states = np.random.default_rng(seed).integers(2**63, size=(envs, 4), dtype=np.uint64)
        self.standings = np.zeros((envs, game.max_players), np.int32)
        self.time = {}

    def carry(self):
        """Keep only the open decisions."""
        d = self.decisions
        rows, seats = np.nonzero(self.latest >= 0)
        kept = self.latest[rows, seats]
        order = np.argsort(kept)
        rows, seats, kept = rows[order], seats[order], kept[order]
        for a in (*d, *self.inputs):
            a[: len(kept)] = a[kept]
        self.latest[rows, seats] = np.arange(len(kept))
        self.count = len(kept)

    def collect(self, teach: bool, follow: float, rng):
        self.carry()
        batch, d, game, n = self.batch, self.decisions, self.game, self.game.num_players
        t0 = time.perf_counter()
        scratch = policies.scratch(game)
        for _ in range(self.steps):
            actions = batch.action_mask.argmax(1)
            rows = np.flatnonzero(batch.action_mask.sum(1, dtype=np.int64) > 1)
            k, at = len(rows), self.count
            new = slice(at, at + k)
            t = time.perf_counter()
            fresh = self.network.network.inputs(batch.flat[rows])
            for own, part in zip(self.inputs, fresh, strict=True):
                own[new] = part
            self.tick("inputs", t)
            t = time.perf_counter()
            logits = np.empty((k, game.num_actions), np.float32)
            raw = np.empty((k, 2 * n), np.float32)
            self.network.forward(fresh, logits, raw)
            self.tick("forward", t)
            t = time.perf_counter()
            d.masks[new] = batch.action_mask[rows]
            d.values[new] = expected(raw, n)
            d.rewards[new] = 0
            sample_rows(logits, d.masks[new], self.rng_states, rows, d.actions[new], d.log_probabilities[new])
            if teach:
                policies.choose_rows(
                    policies.GREEDY,
                    batch.states,
                    game.params,
                    rows,
                    batch.action_mask,
                    self.rng_states,
                    d.teacher[new],
                    *scratch,
                )
                if follow:
                    d.actions[new] = np.where(rng.random(k) < follow, d.teacher[new], d.actions[new])
            link(self.latest, d.next, rows, batch.current_player[rows], at)
            actions[rows] = d.actions[new]
            self.count += k
            batch.step(actions)
            over = batch.terminated | batch.truncated
            ended = np.flatnonzero(over)
            if len(ended):
                standings = np.zeros((len(ended), game.max_players), np.int32)
                loops.standings_rows(batch.last_states[ended], game.params, standings)
                self.standings[ended] = standings
            pay(self.latest, d.next, d.rewards, batch.rewards, over, self.standings)
            self.tick("rest", t)
        self.tick("collect", t0)

    def tick(self, name, t):
        self.time[name] = self.time.get(name, 0) + time.perf_counter() - t


def update(rollout, network, optimizer, rng, a, share, beta, times):
    d, n, count = rollout.decisions, rollout.game.num_players, rollout.count
    t = time.perf_counter()
    adv = np.zeros((count, 2 * n), np.float32)
    advantages(d.next[:count], d.values[:count], d.rewards[:count], a["lambda_"], adv)
    done = np.flatnonzero(d.next[:count] != OPEN)
    targets = adv + d.values[:count]
    own = share * n / (n - 1) * adv[:, 0] + (1 - share) * adv[:, n]
    own = (own - own[done].mean()) / (own[done].std() + 1e-8)
    times["gae"] = times.get("gae", 0) + time.perf_counter() - t
    stats = []
    for _ in range(a["epochs"]):
        order = rng.permutation(done)
        size = -(-len(order) // max(1, round(len(order) / a["minibatch"])))
        for start in range(0, len(order), size):
            t = time.perf_counter()
            part = order[start : start + size]
            inputs = tuple(array[part] for array in rollout.inputs)
            mask = torch.from_numpy(d.masks[part]) != 0
            actions = torch.from_numpy(d.actions[part])
            advantage, old = torch.from_numpy(own[part]), torch.from_numpy(d.log_probabilities[part])
            target = torch.from_numpy(targets[part])
            times["gather"] = times.get("gather", 0) + time.perf_counter() - t
            t = time.perf_counter()
            logits, raw = network(inputs)
            times["net forward"] = times.get("net forward", 0) + time.perf_counter() - t
            t = time.perf_counter()
            logs = logits.masked_fill(~mask, -1e8).log_softmax(1)
            chosen = logs.gather(1, actions[:, None])[:, 0]
            ratio = (chosen - old).exp()
            policy_loss = -torch.minimum(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            entropy = -(logs.exp() * logs).sum(1).mean()
            value_loss = -(target[:, :n] * raw[:, :n].log_softmax(1)).sum(1).mean()
            margins = raw[:, n:] - raw[:, n:].mean(1, keepdim=True)
            margin_loss = (margins - target[:, n:]).square().mean()
            loss = (
                (1 - beta) * (policy_loss - a["entropy"] * entropy)
                + a["vf"] * value_loss
                + a["mf"] * margin_loss
            )
            if beta:
                loss = loss - beta * logs.gather(1, torch.from_numpy(d.teacher[part])[:, None]).mean()
            optimizer.zero_grad()
            times["loss"] = times.get("loss", 0) + time.perf_counter() - t
            t = time.perf_counter()
            loss.backward()
            times["backward"] = times.get("backward", 0) + time.perf_counter() - t
            t = time.perf_counter()
            torch.nn.utils.clip_grad_norm_([network.parameters], a["clip"])
            optimizer.step()
            times["adam"] = times.get("adam", 0) + time.perf_counter() - t
            stats.append(
                (
                    policy_loss.item(),
                    entropy.item(),
                    value_loss.item(),
                    margin_loss.item(),
                    ((ratio - 1).abs() > 0.2).float().mean().item(),
                    (old - chosen).mean().item(),
                )
            )
    return len(done), np.mean(stats, 0)
