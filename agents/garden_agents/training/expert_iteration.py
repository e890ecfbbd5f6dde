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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from garden_agents.cluster import connected
from garden_agents.networks.architecture import empty_network, new_network
from garden_agents.networks.heads import num_values, target_of
from garden_agents.networks.network import Network
from garden_agents.networks.network_agent import NetworkAgent, start_from
from garden_agents.progress import progress_bar
from garden_agents.search.agent import MCTSAgent
from garden_agents.search.tree import first_places
from garden_agents.training.arguments import WorkerArguments, in_words, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, load, save
from garden_agents.training.loss import search_loss, seat_loss, team_loss
from garden_agents.training.run_folder import Interrupted, Interruption, Run
from garden_agents.training.torch_network import Loss, TorchNetwork, clip
from garden_core.batch import Batch
from garden_core.game import Game

__all__ = ["Arguments", "train"]

SAVE_EVERY = 60.0  # seconds of training between two checkpoints


@dataclass
class Arguments(WorkerArguments):
    """Train a network by expert iteration, evaluate it, and keep everything in a folder.

    The training takes 30 minutes if --minutes is not given.
    """

    trainer = "expert-iteration"
    command = "garden train --method expert-iteration"

    envs: int = 64
    """number of games played at once"""
    simulations: int = 48
    """number of simulations for each move that the policy learns from"""
    full_share: float = 0.25
    """share of the moves that are searched with --simulations, and that the policy learns from"""
    fast_simulations: int = 8
    """number of simulations for each other move"""
    considered: int = 16
    """number of actions at the root that sequential halving begins with"""
    scale: float = 0.3
    """weight of values beside priors in sequential halving, and in what the policy learns"""
    exploration: float = 0.3
    """PUCT exploration constant below the root"""
    warmup_share: float = 0.2
    """share of the training time in which search uses greedy rollouts, before the network guides it; 0 with --start"""
    start: Path | None = None
    """file of a network with the initial weights, which may be of another number of players; random ones if not given"""

    positions: int = 200_000
    """size of the replay buffer, positions; the oldest are dropped"""
    reuse: float = 4.0
    """mean number of updates that each position is used in"""
    minibatch: int = 512
    """number of positions in an update"""
    learning_rate: float = 2e-3
    """initial learning rate (AdamW)"""
    final_learning_rate: float = 2e-4
    """final learning rate; interpolated linearly"""
    search_value_share: float = 0.5
    """share of the network-guided search's values at the root in the value target, but not of a team; the rest is the result"""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._at_least(1, "envs", "simulations", "fast_simulations", "positions", "minibatch")
        self._at_least(2, "considered")
        self._at_least(0, "full_share", "warmup_share", "search_value_share", "scale", "exploration")
        self._at_least(0, "reuse", "learning_rate", "final_learning_rate")
        self._at_most(65_536, "envs", "minibatch")
        self._at_most(10_000, "simulations", "fast_simulations")
        self._at_most(1, "full_share", "warmup_share", "search_value_share")
        self._at_most(10_000_000, "positions")


class Positions(NamedTuple):
    """Positions to learn from.

    Attributes:
        observation: int8 (n, *observation_shape), the observation of the player to move.
        mask: int8 (n, num_actions), its action mask.
        shares: float16 (n, num_actions), what the search found, see `Searched.shares`; zeros where the policy does not
            learn from the position.
        values: float32 (n, columns), the value targets, as `heads.num_values` counts them.
    """

    observation: np.ndarray
    mask: np.ndarray
    shares: np.ndarray
    values: np.ndarray


def _room(game: Game, n: int) -> Positions:
    """Return zeroed positions."""
    return Positions(
        np.zeros((n, *game.observation_shape), np.int8),
        np.zeros((n, game.num_actions), np.int8),
        np.zeros((n, game.num_actions), np.float16),
        np.zeros((n, num_values(target_of(game), game.num_players)), np.float32),
    )


class _Replay:
    """Replay buffer of positions.

    Attributes:
        held: the positions.
        added: number of positions added so far.
    """

    def __init__(self, game: Game, size: int) -> None:
        self.held = _room(game, size)
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


class _Decision(NamedTuple):
    """A decision of an unfinished game: what a position needs, except for the result.

    Attributes:
        shares: what the search found, see `Searched.shares`; zeros where the search was short.
        values: the search's values of all seats, counted from `player`; None where no network guided it.
        paid: what every seat was paid in the game before, by seat.
    """

    observation: np.ndarray
    mask: np.ndarray
    shares: np.ndarray
    player: int
    values: np.ndarray | None
    paid: np.ndarray


class Played(NamedTuple):
    """What games have given: the number of decisions, and the positions of the games that ended."""

    decisions: int
    positions: Positions


class Source(Protocol):
    """Where positions come from: games of this process (`Games`), or of workers."""

    def play(self, guided: bool) -> Played:
        """Play on, the search being guided by the network as it is now, or by greedy rollouts."""
        ...


class Games:
    """Games that search plays against itself.

    Args:
        game: the game with the reward "margin".
        arguments: the training's arguments.
        network: the network that guides the search.
        threads: number of threads of search by rollouts.
        seed: seed of the games and of the search's choices.
    """

    def __init__(self, game: Game, arguments: Arguments, network: Network, threads: int, seed: int) -> None:
        a = arguments
        self.game, self.arguments, self.rng = game, arguments, np.random.default_rng((seed, 1))
        own: dict[str, Any] = {
            "exploration": a.exploration,
            "considered": a.considered,
            "scale": a.scale,
            "seed": seed,
        }
        counts, agent = (a.simulations, a.fast_simulations), NetworkAgent(network, target_of(game))
        self.rollout_searches = tuple(MCTSAgent(count, threads=threads, **own) for count in counts)
        self.network_searches = tuple(MCTSAgent(count, network=agent, **own) for count in counts)
        self.batch = Batch(game, arguments.envs, history=bool(game.held))
        self.batch.reset(seed)
        self.trajectories: list[list[_Decision]] = [[] for _ in range(arguments.envs)]
        """The decisions of the unfinished game in each row, without those that had only one legal action."""
        self.paid = np.zeros((arguments.envs, game.num_players))
        """What every seat was paid in the unfinished game of each row, margins."""
        seats = game.max_players
        self.final, self.points = np.zeros(seats, np.float32), np.zeros(seats, np.int32)

    def compile(self) -> None:
        """Compile all that games need, by playing on."""
        for guided in (False, True):
            self.play(guided)
        if not self.game.cooperative:
            first_places(self.batch.states[0], self.game.params[0], self.final, self.points)

    def play(self, guided: bool) -> Played:
        """Take one action in every game, some after a full search and the others after a fast one."""
        batch, a = self.batch, self.arguments
        full, fast = self.network_searches if guided else self.rollout_searches
        masks, players = batch.action_mask.copy(), batch.current_player.copy()
        thorough = self.rng.random(a.envs) < a.full_share
        actions, shares, values = (
            masks.argmax(1),
            np.zeros(masks.shape, np.float32),
            np.zeros((a.envs, self.game.num_players)),
        )
        for search, rows in ((full, np.flatnonzero(thorough)), (fast, np.flatnonzero(~thorough))):
            noise = self.rng.gumbel(size=masks[rows].shape)
            found = search.search(batch, rows, noise)
            actions[rows], values[rows] = found.actions, found.values
            if search is full:
                shares[rows] = found.shares
        for row in np.flatnonzero(masks.sum(1) > 1):
            judged = values[row] if guided else None
            player, seen = int(players[row]), batch.observation[row].copy()
            decision = _Decision(seen, masks[row], shares[row], player, judged, self.paid[row].copy())
            self.trajectories[row].append(decision)
        batch.step(actions)
        self.paid += batch.rewards
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        return Played(a.envs, joined([_room(self.game, 0), *(self._finish(int(row)) for row in ended)]))

    def _finish(self, row: int) -> Positions:
        """Return the positions of the finished game in `row`."""
        game, n, decisions = self.game, self.game.num_players, self.trajectories[row]
        if not game.cooperative:
            first_places(self.batch.last_states[row], game.params[0], self.final, self.points)
        found = _room(game, len(decisions))
        for i, decision in enumerate(decisions):
            to_come = np.roll(self.paid[row] - decision.paid, -decision.player)
            if game.cooperative:
                target = to_come[:1]
            else:
                values = np.roll(self.final[:n], -decision.player)
                if decision.values is not None:
                    values = values + self.arguments.search_value_share * (decision.values - values)
                target = np.concatenate([((n - 1) * values + 1) / n, to_come])  # chances, margins
            for column, value in zip(
                found, (decision.observation, decision.mask, decision.shares, target), strict=True
            ):
                column[i] = value
        self.trajectories[row], self.paid[row] = [], 0
        return found


def joined(positions: Sequence[Positions]) -> Positions:
    """Return several positions as one."""
    return Positions(*map(np.concatenate, zip(*positions, strict=True)))


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
            yield ray_workers.SearchWorkers(self.game, self.network, a, Games, seed)

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
