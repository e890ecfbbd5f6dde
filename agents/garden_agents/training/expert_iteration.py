"""Train a network by expert iteration: `garden train mars --method expert-iteration --minutes 30`.

Search plays games against itself; the network learns to choose as search chose and to foresee how the games ended;
search is then guided by the network, and so on (T. Anthony et al., "Thinking fast and slow with deep learning and
tree search", 2017; D. Silver et al., "A general reinforcement learning algorithm that masters chess, shogi, and Go
through self-play", 2018). Chance and hidden cards are search's affair (`garden_agents.search`). In the beginning, while the
network knows nothing, search plays on greedily instead of asking it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from garden_agents.networks.network_agent import NetworkAgent, empty_policy, new_policy
from garden_agents.search.agent import MCTSAgent
from garden_agents.search.tree import seat_values
from garden_agents.training.arguments import TrainingArguments, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, load, save
from garden_agents.training.run_folder import Interrupted, Interruption, Run
from garden_core.batch import Batch
from garden_core.game import Game

__all__ = ["Arguments", "train"]


@dataclass
class Arguments(TrainingArguments):
    """Train a network by expert iteration on one game, evaluate it, and keep everything in a folder.

    Without `minutes` it takes 30.
    """

    method = "expert-iteration"

    envs: int = 64
    """games played at once"""
    simulations: int = 32
    """of each move"""
    exploration: float = 1.5
    """of search: how much actions are preferred that look promising and were seldom taken"""
    noise: float = 0.3
    """of the network's priors in search: the concentration of Dirichlet noise, x 10 / legal actions"""
    temperature: float = 0.5
    """moves are drawn by visits ** (1 / temperature)"""
    warmup_share: float = 0.2
    """share of the time in which search plays on greedily, before the network guides it"""

    positions: int = 200_000
    """kept to learn from, the latest ones"""
    reuse: float = 4.0
    """how often the network learns from each position"""
    minibatch: int = 512
    """positions in an update"""
    learning_rate: float = 2e-3
    """of AdamW, when training begins"""
    final_learning_rate: float = 2e-4
    """the same when it ends; in between it changes evenly"""
    search_value_share: float = 0.5
    """share of search's own value in what the value learns; the rest is the outcome"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "envs", "simulations", "positions", "minibatch")
        self._at_most(65_536, "envs", "minibatch")
        self._at_most(10_000, "simulations")
        self._at_most(10_000_000, "positions")
        if not self.temperature > 0:
            raise ValueError(f"temperature must be more than 0, not {self.temperature}")


class _Positions:
    """The latest positions: what the player to move saw, what search chose, and how it ended."""

    def __init__(self, game: Game, size: int) -> None:
        self.observation = np.zeros((size, *game.observation_shape), np.int8)
        self.mask = np.zeros((size, game.num_actions), np.int8)
        self.choice = np.zeros((size, game.num_actions), np.float16)
        self.value = np.zeros(size, np.float32)
        self.added = 0

    def add(self, observation: np.ndarray, mask: np.ndarray, choice: np.ndarray, value: float) -> None:
        """Add a position in place of the oldest."""
        i = self.added % len(self.value)
        self.observation[i], self.mask[i], self.choice[i], self.value[i] = observation, mask, choice, value
        self.added += 1

    def draw(self, rng: np.random.Generator, n: int) -> tuple[torch.Tensor, ...]:
        """Return `n` random positions."""
        rows = rng.integers(min(self.added, len(self.value)), size=n)
        return tuple(
            torch.from_numpy(a[rows]) for a in (self.observation, self.mask, self.choice, self.value)
        )


class _Games:
    """Games that search plays against itself; finished ones go to `positions`."""

    def __init__(
        self, game: Game, arguments: Arguments, positions: _Positions, rng: np.random.Generator
    ) -> None:
        self.game, self.arguments, self.positions, self.rng = game, arguments, positions, rng
        self.batch = Batch(game, arguments.envs)
        self.batch.reset(int(rng.integers(2**32)))
        self.told: list[list[tuple[np.ndarray, np.ndarray, np.ndarray, int, float]]] = [
            [] for _ in range(arguments.envs)
        ]
        seats = game.max_players
        self.ended, self.tally = np.zeros(seats, np.float32), np.zeros(seats, np.int32)

    def step(self, search: MCTSAgent) -> None:
        """Make one move in every game."""
        batch, a = self.batch, self.arguments
        masks, players = batch.action_mask.copy(), batch.current_player.copy()
        noise = self._noise(masks) if search.network else None
        visits, values = search.search(batch, batch.all_rows, noise)
        for row in np.flatnonzero(masks.sum(1) > 1):
            choice = visits[row] / visits[row].sum()
            seen = batch.observation[row].copy()
            self.told[row].append((seen, masks[row], choice, int(players[row]), float(values[row])))
        weights = (visits / visits.max(1, keepdims=True)) ** (1 / a.temperature)
        drawn = (
            weights.cumsum(1) >= self.rng.random((len(weights), 1)) * weights.sum(1, keepdims=True)
        ).argmax(1)
        batch.step(drawn)
        for row in np.flatnonzero(batch.terminated | batch.truncated):
            self._finish(int(row))

    def _noise(self, masks: np.ndarray) -> np.ndarray | None:
        """Return Dirichlet noise over the legal actions, float (N, num_actions); None if there is to be none."""
        if self.arguments.noise == 0:
            return None
        concentration = self.arguments.noise * 10 / masks.sum(1, keepdims=True)
        noise = self.rng.gamma(np.broadcast_to(concentration, masks.shape)) * masks + 1e-9 * masks
        return noise / noise.sum(1, keepdims=True)

    def _finish(self, row: int) -> None:
        game, share = self.game, self.arguments.search_value_share
        seat_values(self.batch.last_states[row], game.params[0], self.ended, self.tally)
        for observation, mask, choice, player, value in self.told[row]:
            self.positions.add(observation, mask, choice, share * value + (1 - share) * self.ended[player])
        self.told[row] = []


class _Training:
    """The loop: games, updates, evaluations, checkpoints."""

    def __init__(self, arguments: Arguments, run: Run, game: Game) -> None:
        self.arguments, self.run, self.game = arguments, run, game
        torch.manual_seed(arguments.seed)
        self.rng = np.random.default_rng(arguments.seed)
        self.policy = new_policy(game, run.network)
        self.optimizer = torch.optim.AdamW(
            self.policy.parameters(), arguments.learning_rate, weight_decay=1e-4
        )
        self.positions = _Positions(game, arguments.positions)
        self.learned = 0
        """Positions that the network has learned from."""
        self.decisions = 0
        a, network = arguments, NetworkAgent(self.policy)
        self.teacher = MCTSAgent(a.simulations, threads=a.threads, exploration=a.exploration, seed=a.seed)
        self.student = MCTSAgent(a.simulations, exploration=a.exploration, network=network, seed=a.seed)

    def go(self) -> None:
        """Train until the time is over; save a checkpoint at the end, also if Ctrl-C ends it.

        Raises:
            SystemExit: after Ctrl-C.
        """
        limit = (30.0 if self.arguments.minutes is None else self.arguments.minutes) * 60
        with tqdm(total=round(limit), unit="s", desc="compiling") as self.bar:
            self.run.report = self.bar.set_description
            games = _Games(self.game, self.arguments, self.positions, self.rng)
            for search in (self.teacher, self.student):
                games.step(search)  # compiles, which is not to count
            seat_values(games.batch.states[0], self.game.params[0], games.ended, games.tally)
            self.run.warm_up(self.policy)
            with Interruption() as interruption:
                self.run.check = interruption.check
                with contextlib.suppress(Interrupted):
                    self._loop(games, limit)
                self.save()
        if interruption.requested:
            raise SystemExit(
                f"stopped at {self.decisions:,} decisions; "
                f"go on with: garden train --method expert-iteration --resume {self.run.folder}"
            )

    def _loop(self, games: _Games, limit: float) -> None:
        a, evaluations = self.arguments, self.arguments.evaluation_count(limit / 60)
        self.run.begin()
        next_evaluation = self.run.seconds + limit / max(1, evaluations)
        next_log = self.run.seconds
        self.bar.update(round(min(self.run.seconds, limit)))
        self.run.report("training")
        while (now := self.run.seconds) < limit:
            self.run.check()
            games.step(self.teacher if now < limit * a.warmup_share else self.student)
            self.decisions += a.envs
            losses = self._learn(now / limit)
            if losses and now >= next_log:
                next_log = now + 10
                self._log(losses)
            if now >= next_evaluation:
                next_evaluation += limit / evaluations
                self.run.evaluate(self.policy, self.decisions, "outcome")
                self.save()
                self.run.report("training")
            self.bar.update(round(min(now, limit)) - self.bar.n)

    def _learn(self, done: float) -> tuple[float, float] | None:
        """Make the updates that the new positions are worth; return the last losses of policy and value."""
        a = self.arguments
        for group in self.optimizer.param_groups:
            group["lr"] = a.learning_rate + (a.final_learning_rate - a.learning_rate) * min(1.0, done)
        losses = None
        self.policy.set_training_mode(True)
        while self.positions.added >= 4 * a.minibatch and self.learned < a.reuse * self.positions.added:
            observation, mask, choice, value = self.positions.draw(self.rng, a.minibatch)
            logits, values = self.policy.logits_and_values(observation.float(), mask)
            policy_loss = -(choice.float() * logits.log_softmax(1)).sum(1).mean()
            value_loss = (values[:, 0] - value).square().mean()
            self.optimizer.zero_grad()
            (policy_loss + value_loss).backward()
            torch.nn.utils.clip_grad_norm_(self.policy.parameters(), 1.0)
            self.optimizer.step()
            self.learned += a.minibatch
            self.run.check()
            losses = policy_loss.item(), value_loss.item()
        self.policy.set_training_mode(False)
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
        """Write the checkpoint; the positions are not kept, as new games bring new ones."""
        save(
            self.run.folder / CHECKPOINT,
            self.policy,
            self.optimizer,
            Progress(self.decisions, self.run.seconds),
        )

    def load(self) -> None:
        """Go on from the checkpoint; the run too.

        Raises:
            ValueError: if the checkpoint cannot be read, is damaged, or is of another network.
        """
        progress, _ = load(self.run.folder / CHECKPOINT, self.policy, self.optimizer)
        self.decisions = progress.decisions
        self.run.rewind(progress.decisions, progress.seconds)
        self.rng = np.random.default_rng((self.arguments.seed, self.decisions))


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return it.

    Raises:
        SystemExit: after Ctrl-C (a checkpoint is saved), or for a folder that cannot be resumed.
    """
    folder, arguments, game, command = open_run(arguments)
    torch.set_num_threads(arguments.threads)
    empty = empty_policy(game, arguments.architecture)  # a network that cannot be is an error before a folder
    if arguments.resume is not None:  # before memory is taken for what a config claims
        check(folder / CHECKPOINT, empty)
    run = Run.of(folder, game, arguments, command)
    training = _Training(arguments, run, game)
    if arguments.resume is None:
        run.rewind(0, 0.0)
    else:
        training.load()
    run.write_config(arguments)
    training.save()
    print(f"expert iteration on {game!r} in {folder}")
    training.go()
    run.finish(arguments.eval_games, training.policy, training.decisions, "outcome")
    return folder
