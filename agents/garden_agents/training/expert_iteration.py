"""Train a network by expert iteration: `garden train mars --method expert-iteration --minutes 30`.

Tree search plays games against itself. The network learns to predict what search finds (policy) and the result of
the games (value), and then guides the search (T. Anthony et al., "Thinking fast and slow with deep learning and tree
search", 2017; D. Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go through
self-play", 2018). The search redraws chance and hidden cards (`garden_agents.search`). In a first part of the training,
the warm-up, the search uses greedy rollouts in place of the untrained network.

Most moves are searched a little, only to be played; a share of them, which the policy learns from, thoroughly (D. Wu,
"Accelerating self-play learning in Go", 2019).
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from garden_agents.cluster import connected
from garden_agents.networks.architecture import empty_network, new_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network_agent import start_from
from garden_agents.progress import progress_bar
from garden_agents.training.arguments import in_words, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, load, save
from garden_agents.training.expert_arguments import Arguments
from garden_agents.training.loss import search_loss, seat_loss, team_loss
from garden_agents.training.run_folder import Interrupted, Interruption, Run
from garden_agents.training.search_games import Games, Positions, Source, room
from garden_agents.training.torch_network import Loss, TorchNetwork, clip
from garden_core.game import Game

SAVE_EVERY = 60.0  # seconds of training between two checkpoints


class _Replay:
    """Replay buffer of positions.

    Attributes:
        held: the positions.
        added: number of positions added so far.
    """

    def __init__(self, game: Game, size: int) -> None:
        self.held = room(game, size)
        self.added = 0

    def add(self, positions: Positions) -> None:
        """Add positions; they replace the oldest ones when the buffer is full."""
        n, size = len(positions.values), len(self.held.values)
        places = (self.added + np.arange(n)[-size:]) % size
        for column, added in zip(self.held, positions, strict=True):
            column[places] = added[-size:]
        self.added += n

    def draw(self, rng: np.random.Generator, n: int) -> tuple[np.ndarray, Loss]:
        """Return observations of `n` random positions, and the loss of policy and value over them.

        The loss logs the sums of the policy's, of the value's, and the number of positions that the policy learns from.
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


class Training:
    """The training loop: games, updates, evaluations, checkpoints."""

    def __init__(self, arguments: Arguments, run: Run, game: Game) -> None:
        self.arguments, self.run, self.game = arguments, run, game
        self.rng = np.random.default_rng(arguments.seed)
        self.target = target_of(game)
        self.network = new_network(game, run.architecture, self.target, arguments.seed)
        if arguments.start is not None and arguments.resume is None:
            start_from(arguments.start, self.network, game, run.architecture)
        self.torch_network = TorchNetwork(self.network, threads=arguments.threads)
        parameters = [self.torch_network.parameters]
        self.optimizer = torch.optim.AdamW(parameters, arguments.learning_rate, weight_decay=1e-4, fused=True)
        self.positions = _Replay(game, arguments.positions)
        self.used = 0
        """Positions used in updates so far, with repeats."""
        self.decisions = 0
        """Decisions of the games so far."""
        self.warmup_share = 0.0 if arguments.start is not None else arguments.warmup_share
        self.limit = (30.0 if arguments.minutes is None else arguments.minutes) * 60
        """Seconds of training in all."""

    def go(self) -> None:
        """Train until the time is over or Ctrl-C is pressed, and save a checkpoint.

        Raises:
            SystemExit: after Ctrl-C.
        """
        with progress_bar(total=round(self.limit), unit="s", desc="compiling") as self.bar:
            self.run.report = self.bar.set_description
            with self._source() as source:
                self.run.warm_up(self.network, self.target)
                with Interruption() as interruption:
                    self.run.check = interruption.check
                    with contextlib.suppress(Interrupted):
                        self._loop(source)
                    self.save()
        if interruption.requested:
            raise SystemExit(
                f"stopped at {self.decisions:,} decisions; "
                f"continue with: {self.arguments.command} --resume {self.run.folder}"
            )

    @contextlib.contextmanager
    def _source(self) -> Iterator[Source]:
        """Give the games of this process, with what they need compiled, or those of workers until they are no longer needed."""
        a, seed = self.arguments, self.arguments.seed + self.decisions
        if a.ray is None:
            games = Games(self.game, a, self.network, a.threads, seed)
            games.compile()
            yield games
            return
        from garden_agents.training import ray_workers  # loads Ray

        with connected(a.ray):
            yield ray_workers.SearchWorkers(self.game, self.network, a, seed)

    def _loop(self, source: Source) -> None:
        limit, evaluations = self.limit, self.arguments.evaluation_count(self.limit / 60)
        self.run.begin()
        evaluated = min(int(self.run.seconds / limit * evaluations), len(self.run.past))
        next_log = self.run.seconds
        next_save = self.run.seconds + SAVE_EVERY
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
                self._log(losses)
            due = int(now / limit * evaluations)
            if evaluated < due:
                evaluated = due
                self.run.evaluate(self.network, self.decisions, self.target)
                self.run.report("training")
                next_save = now
            if now >= next_save:
                next_save = now + SAVE_EVERY
                self.save()
            self.bar.update(round(min(now, limit)) - self.bar.n)

    def _learn(self, done: float) -> tuple[float, float] | None:
        """Update the network until every position is used `reuse` times on average.

        Returns the last losses of policy and value, or None if there was no update.
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

    def _log(self, losses: tuple[float, float]) -> None:
        policy, value = losses
        self.bar.set_postfix_str(f"{self.decisions:,} decisions, policy {policy:.3f}, value {value:.3f}")
        row = {
            "decisions": self.decisions,
            "seconds": self.run.seconds,
            "policy_loss": policy,
            "value_loss": value,
        }
        self.run.log(row)

    def save(self) -> None:
        """Write the checkpoint. It does not hold the replay buffer; new games fill it again."""
        save(
            self.run.folder / CHECKPOINT,
            self.run.game,
            self.network.weights,
            self.optimizer,
            Progress(self.decisions, self.run.seconds),
        )

    def load(self) -> None:
        """Restore the training and the run from the checkpoint.

        Raises:
            ValueError: if the checkpoint cannot be read or is damaged, or its network is another one.
        """
        shapes = self.network.shapes
        progress, weights, _ = load(
            self.run.folder / CHECKPOINT, self.run.game, shapes, shapes, self.optimizer
        )
        for name, array in weights.items():
            self.network.weights[name][:] = array
        self.decisions = progress.decisions
        self.run.rewind(progress.decisions, progress.seconds)
        self.rng = np.random.default_rng((self.arguments.seed, self.decisions))


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), or for a folder that cannot be resumed.
    """
    folder, arguments, game, command = open_run(arguments)
    torch.set_num_threads(1)  # passes of the network have threads of their own
    target = target_of(game)
    empty = empty_network(game, arguments.architecture, target)  # raises before the folder is made
    if arguments.start is not None and arguments.resume is None:
        start_from(arguments.start, empty, game, arguments.architecture)  # likewise
    if arguments.resume is not None:  # before memory is allocated for the widths in the config
        check(folder / CHECKPOINT, game, empty.shapes)
    run = Run.of(folder, game, arguments, command)
    training = Training(arguments, run, game)
    if arguments.resume is None:
        run.rewind(0, 0.0)
    else:
        training.load()
    run.write_config(arguments)
    training.save()
    print(f"expert iteration on {in_words(game)}, in {folder}", flush=True)
    if run.seconds < training.limit:
        training.go()
    run.finish(arguments.eval_games, training.network, training.decisions, target)
    return folder
