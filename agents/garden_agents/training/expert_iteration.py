"""Train a network by expert iteration: `garden train mars --method expert-iteration --minutes 30`.

Tree search plays games against itself. The network learns to predict the policy of the search and the result of the games
(value), and then guides the search (T. Anthony et al., "Thinking fast and slow with deep learning and tree
search", 2017; D. Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play", 2018). The search redraws chance and hidden cards (`garden_agents.search`). In the first part of the training,
the warm-up, the search uses greedy rollouts in place of the untrained network.

Most moves get a fast search and are only played; a share of them gets a full search, which the policy learns from (D. Wu,
"Accelerating self-play learning in Go", 2019).
"""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import ClassVar

import numpy as np
import torch

from garden_agents.cluster import connected
from garden_agents.training import expert_arguments
from garden_agents.training.arguments import open_run
from garden_agents.training.loop import Loop
from garden_agents.training.loss import search_loss, seat_loss, team_loss
from garden_agents.training.search_games import Positions, PositionSource, SearchGames, zeros
from garden_agents.training.torch_network import Loss, clip
from garden_core.game import Game

Arguments = expert_arguments.Arguments
SAVE_EVERY = 60.0  # seconds of training between two checkpoints


class _ReplayBuffer:
    """Replay buffer of positions.

    Attributes:
        held: the positions.
        added: number of positions added so far.
    """

    def __init__(self, game: Game, size: int) -> None:
        self.held = zeros(game, size)
        self.added = 0

    def add(self, positions: Positions) -> None:
        """Add positions; they replace the oldest ones when the buffer is full."""
        n, size = len(positions.values), len(self.held.values)
        places = (self.added + np.arange(n)[-size:]) % size
        for column, added in zip(self.held, positions, strict=True):
            column[places] = added[-size:]
        self.added += n

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, Loss]:
        """Return observations of `n` random positions, and their loss.

        The loss logs the sums of the policy loss and the value loss, and the number of positions with a policy target.
        """
        chosen = rng.integers(min(self.added, len(self.held.values)), size=n)
        observation, mask, shares, values = (column[chosen] for column in self.held)
        shares, all_count = shares.astype(np.float32), np.ones(n, np.float32)
        searched = np.any(shares, axis=1)
        size, on_values = max(1, int(searched.sum())), team_loss if values.shape[1] == 1 else seat_loss

        def loss(
            rows: np.ndarray,
            logits: np.ndarray,
            raw: np.ndarray,
            d_logits: np.ndarray,
            d_raw: np.ndarray,
            sums: np.ndarray,
        ) -> None:
            search_loss(logits, rows, mask, shares, size, d_logits, sums)
            on_values(raw, rows, values, all_count, 1.0, n, d_raw, sums)
            sums[2] += np.count_nonzero(searched[rows])

        return observation, loss


class Training(Loop):
    """The training loop: games, updates, evaluations, checkpoints."""

    title = "expert iteration on"
    bar_settings: ClassVar = {"unit": "s"}
    arguments: Arguments

    def __init__(self, folder: Path, arguments: Arguments, game: Game, command: str = "") -> None:
        super().__init__(folder, arguments, game, command)
        parameters = [self.torch_network.parameters]
        self.optimizer = torch.optim.AdamW(parameters, arguments.learning_rate, weight_decay=1e-4, fused=True)
        self.positions = _ReplayBuffer(game, arguments.positions)
        self.used = 0
        """Positions used in updates so far, with repeats."""
        self.warmup_share = 0.0 if arguments.start is not None else arguments.warmup_share
        self.limit = (30.0 if arguments.minutes is None else arguments.minutes) * 60
        """Seconds of training in all."""

    @property
    def done(self) -> float:
        return self.run.seconds / self.limit

    def cluster(self) -> contextlib.AbstractContextManager[None]:
        return super().cluster() if self.arguments.ray is None else connected(self.arguments.ray)

    def source(self) -> PositionSource:
        a, seed = self.arguments, self.arguments.seed + self.decisions
        if a.ray is None:
            games = SearchGames(self.game, a, self.network, a.threads, seed)
            games.compile()
            return games
        from garden_agents.training import ray_workers  # loads Ray

        return ray_workers.SearchWorkers(self.game, self.network, a, seed)

    def learn_from(self, source: PositionSource) -> None:
        limit = self.limit
        self.run.begin(self.done, limit / 60)
        next_log = self.run.seconds
        next_save = self.run.seconds + SAVE_EVERY
        self.bar.reset(round(limit))
        self.bar.update(round(min(self.run.seconds, limit)))
        self.run.report("training")
        while (now := self.run.seconds) < limit:
            self.run.check()
            played = source.play(guided=now >= limit * self.warmup_share)
            self.positions.add(played.positions)
            self.decisions += played.decisions
            losses = self._learn(now / limit)
            if losses and now >= next_log:
                next_log = now + 10
                policy, value = losses
                self.bar.set_postfix_str(
                    f"{self.decisions:,} decisions, policy {policy:.3f}, value {value:.3f}"
                )
                self.run.log(
                    {
                        "decisions": self.decisions,
                        "seconds": self.run.seconds,
                        "policy_loss": policy,
                        "value_loss": value,
                    }
                )
            if self.run.is_due(now / limit):
                self.evaluate()
                next_save = now
            if now >= next_save:
                next_save = now + SAVE_EVERY
                self.save()
            self.bar.update(round(min(now, limit)) - self.bar.n)

    def _learn(self, done: float) -> tuple[float, float] | None:
        """Update the network until every position is used `reuse` times on average.

        Returns:
            The last losses of policy and value, or None if there was no update.
        """
        a = self.arguments
        for group in self.optimizer.param_groups:
            group["lr"] = a.learning_rate + (a.final_learning_rate - a.learning_rate) * min(1.0, done)
        losses = None
        while self.positions.added >= 4 * a.minibatch and self.used < a.reuse * self.positions.added:
            observation, loss = self.positions.draw(self.rng, a.minibatch)
            inputs, sums = self.network.inputs(observation), np.zeros(3)
            gradient = self.torch_network.gradient(inputs, np.arange(a.minibatch), loss, sums)
            self.torch_network.parameters.grad = clip(gradient, 1.0)
            self.optimizer.step()
            self.used += a.minibatch
            self.run.check()
            losses = sums[0] / max(1, sums[2]), sums[1] / a.minibatch
        return losses


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), or for a folder that cannot be resumed.
    """
    return Training(*open_run(arguments)).train()
