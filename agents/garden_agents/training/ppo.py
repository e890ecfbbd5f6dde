"""PPO by self-play: `garden train mars --minutes 10`.

Every seat that the current network plays is learned from; a decision is credited with all that its seat gets until the
seat's own next decision (J. Schulman et al., "Proximal policy optimization algorithms", 2017; advantages as in J. Schulman
et al., "High-dimensional continuous control using generalized advantage estimation", 2016, without discount). In a share
of the games one seat is the network's and the others are drawn from an opponent pool. The training begins by imitating
greedy play, whose weight in the loss then falls to 0.

A run's folder holds the files that `garden_agents.training.run_folder.Run` lists, and a checkpoint. Ctrl-C saves the
checkpoint; `--resume FOLDER` continues from it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from garden_agents.cluster import connected
from garden_agents.networks.architecture import empty_network, new_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network_agent import start_from
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_agents.training.arguments import in_words, open_run
from garden_agents.training.checkpoint import CHECKPOINT, Progress, check, load, save
from garden_agents.training.credit import Rollout
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_arguments import FINAL_ENTROPY, IMITATION_DECISIONS, VALUE_LAMBDA, Arguments
from garden_agents.training.ppo_update import Schedule, Update
from garden_agents.training.run_folder import Interrupted, Interruption, Run
from garden_agents.training.self_play import SelfPlay, Source
from garden_agents.training.tensor_self_play import TensorSelfPlay
from garden_agents.training.torch_network import TorchNetwork
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.policies import Policy

A = TypeVar("A", bound="Arguments")


class Training:
    """The training loop: games, updates, evaluations, checkpoints.

    Args:
        arguments: the training's arguments.
        run: the run's folder.
        game: the game with the reward "margin".
        agents: the further agents in the pool.
    """

    def __init__(self, arguments: Arguments, run: Run, game: Game, agents: Sequence[Policy] = ()) -> None:
        a = self.arguments = arguments
        self.run, self.game = run, game
        self.network = new_network(game, run.architecture, target_of(game), a.seed)
        if a.start is not None and a.resume is None:
            start_from(a.start, self.network, game, run.architecture)
        self.torch_network = TorchNetwork(self.network, a.device, a.threads)
        self.update = Update(game, self.torch_network, a)
        self.agents = agents
        self.pool = a.pool(agents)
        self.decisions = 0
        """Decisions learned from so far."""
        self.steps = (2_000_000 if a.minutes is None else 10**12) if a.steps is None else a.steps
        self.limit = math.inf if a.minutes is None else a.minutes * 60

    @property
    def done(self) -> float:
        """Completed share of the training, 0 to 1, by decisions or by time, whichever is larger."""
        return min(
            1.0, max(self.decisions / self.steps if self.steps else 1.0, self.run.seconds / self.limit)
        )

    @property
    def imitation(self) -> float:
        """Weight of imitation in the loss, 1 to 0; that of PPO's loss is the rest."""
        share = self.arguments.imitation
        if self.arguments.values_only:
            return 0.0
        return max(0.0, 1 - max(self.done / share, self.decisions / IMITATION_DECISIONS)) if share else 0.0

    def _between(self, first: float, last: float) -> float:
        """Return what is interpolated linearly over the training."""
        return first + (last - first) * self.done

    @property
    def schedule(self) -> Schedule:
        """The settings as they are now."""
        a = self.arguments
        outcome, entropy = self._between(a.outcome, 1.0), self._between(a.entropy, FINAL_ENTROPY)
        return Schedule(outcome, entropy, self.imitation, self._between(*a.learning_rates))

    def go(self) -> None:
        """Train until the end or until Ctrl-C is pressed, and save a checkpoint.

        Raises:
            SystemExit: after Ctrl-C.
        """
        with progress_bar(unit="decision", unit_scale=True, smoothing=0.1, desc="compiling") as self.bar:
            self.run.report = self.bar.set_description
            self._compile()
            with self._source() as source:
                self.run.warm_up(self.network, target_of(self.game))
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
        """Give the games of this process, or those of workers until they are no longer needed."""
        a = self.arguments
        seed = a.seed + self.decisions
        if a.ray is None:
            yield self._games(self.pool, seed)
            return
        from garden_agents.training import ray_workers  # loads Ray

        with connected(a.ray):
            yield ray_workers.Workers(self.game, self.network, self.pool, a, seed)

    def _games(self, pool: OpponentPool, seed: int) -> Source:
        """Return games of this process, on the device of the network unless workers play the games."""
        a, network = self.arguments, self.torch_network
        if not network.by_torch or a.ray is not None:
            return SelfPlay(self.game, network, pool, a, seed)
        shape = a.envs, a.rollout, a.pool_share, a.gae_lambda, VALUE_LAMBDA
        return TensorSelfPlay(self.game, network, pool, seed, *shape)

    def _compile(self) -> None:
        """Compile all that the training needs, before the clock starts."""
        games = self._games(self.arguments.pool(self.agents), 0)
        self.update.compile(games.rollout(with_greedy=self.arguments.imitation > 0))

    def _loop(self, source: Source) -> None:
        a, evaluations = self.arguments, self.arguments.evaluation_count(self.arguments.minutes)
        self.run.begin()
        self.bar.reset(None if a.minutes else self.steps)
        self.bar.update(self.decisions)
        self.run.report("training")
        snapshot_every = max(1, a.checkpoint_every // 4)
        snapshots, checkpoints = self.decisions // snapshot_every, self.decisions // a.checkpoint_every
        evaluated = min(
            int(self.done * evaluations), len(self.run.past)
        )  # one that was interrupted is made up
        while self.done < 1:
            rollout = source.rollout(with_greedy=self.imitation > 0)
            self.run.check()
            if not len(rollout.chosen):  # too short for a seat to come to its next decision
                continue
            losses = self.learn(rollout)
            if a.pool_share and self.decisions // snapshot_every > snapshots:
                snapshots = self.decisions // snapshot_every
                self.pool.freeze(self.network)
            if self.decisions // a.checkpoint_every > checkpoints:
                checkpoints = self.decisions // a.checkpoint_every
                self.save()
            self._log(losses)
            due = int(self.done * evaluations)
            if evaluated < due < evaluations:  # the last evaluation follows the last update, in Run.finish
                evaluated = due
                self.run.evaluate(self.network, self.decisions, target_of(self.game))
                self.save()
                self.run.report("training")

    def learn(self, rollout: Rollout) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses."""
        losses = self.update(rollout, self.schedule, self.run.check)
        self.decisions += len(rollout.chosen)
        self.torch_network.synchronise()
        return losses

    def _log(self, losses: dict[str, float]) -> None:
        """Show and write the progress."""
        seconds, rates = self.run.seconds, self.pool.rates()
        if self.arguments.minutes is not None:  # the length that the present speed will reach
            self.bar.total = max(self.decisions, min(self.steps, int(self.decisions / seconds * self.limit)))
        self.bar.update(self.decisions - self.bar.n)
        self.bar.set_postfix_str(", ".join(f"{name} {rate:.0%}" for name, rate in rates.items()))
        self.run.log(
            {
                "decisions": self.decisions,
                "seconds": seconds,
                "decisions_per_second": self.decisions / seconds,
                **{
                    f"ahead_of_{name}": rates.get(name, math.nan)
                    for name in ("random", "greedy", "agents", "self")
                },
                **losses,
                "imitation": self.imitation,
                "first_place_share": self.schedule.outcome,
                "learning_rate": self.update.optimizer.param_groups[0]["lr"],
            }
        )

    def save(self) -> None:
        """Write the checkpoint."""
        self.torch_network.synchronise()
        pool = self.pool
        progress = Progress(self.decisions, self.run.seconds, pool.ahead.tolist(), pool.met.tolist())
        past = [network.weights for network in pool.networks]
        save(
            self.run.folder / CHECKPOINT,
            self.run.game,
            self.network.weights,
            self.update.optimizer,
            progress,
            past,
        )

    def load(self) -> None:
        """Restore the training and the run from the checkpoint.

        Raises:
            ValueError: if the checkpoint cannot be read or is damaged, or its network or pool is another one.
        """
        path, shapes = self.run.folder / CHECKPOINT, self.network.shapes
        progress, weights, past = load(path, self.run.game, shapes, shapes, self.update.optimizer)
        try:
            self.pool.restore(progress.ahead, progress.met, past, self.network)
        except ValueError as error:
            raise ValueError(f"{path} is no checkpoint of this training: {error}") from None
        for name, array in weights.items():
            self.network.weights[name][:] = array
        self.torch_network.take_weights()
        self.decisions = progress.decisions
        self.update.rng = np.random.default_rng((self.arguments.seed, self.decisions))
        self.run.rewind(progress.decisions, progress.seconds)


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: as `arguments.open_run`, after Ctrl-C (a checkpoint is saved), and where `device` is cuda and games or
            torch find no GPU.
        ValueError: for a config, checkpoint or initial network that is damaged or does not fit, and unknown agents.
    """
    return trained(arguments)[0]


def trained(arguments: A) -> tuple[Path, A, Game]:
    """Do what `train` does; return the run's folder, its arguments and its game."""
    folder, arguments, game, command = open_run(arguments)
    # config.toml is to hold it, given or not
    arguments = dataclasses.replace(arguments, learning_rate=arguments.learning_rates[0])
    if arguments.device == "cuda":
        if not torch.cuda.is_available():
            raise SystemExit(f"--device cuda: torch {torch.__version__} finds no GPU")
        if arguments.ray is None:
            try:
                Batch(game, 1, device="cuda")
            except (ImportError, RuntimeError) as error:
                raise SystemExit(f"--device cuda: {error}") from None
    torch.set_num_threads(1)  # passes of the network have threads of their own
    if game.cooperative and arguments.pool_share:
        raise SystemExit(f"in {in_words(game)} there are no opponents for a pool: leave out pool_share")
    empty = empty_network(game, arguments.architecture, target_of(game))  # raises before the folder is made
    if arguments.start is not None and arguments.resume is None:
        start_from(arguments.start, empty, game, arguments.architecture)  # likewise
    if arguments.resume is not None:  # before memory is allocated for the widths in the config
        check(folder / CHECKPOINT, game, empty.shapes)
    agents = [load_agent(name, game, arguments.seed + i) for i, name in enumerate(arguments.pool_agents)]
    run = Run.of(folder, game, arguments, command)
    training = Training(arguments, run, game, agents)
    if arguments.resume is None:
        run.rewind(0, 0.0)
    else:
        training.load()
    run.write_config(arguments)
    training.save()
    print(f"training on {in_words(game)}, in {folder}", flush=True)
    if training.done < 1:
        training.go()
    run.finish(arguments.eval_games, training.network, training.decisions, target_of(game))
    return folder, arguments, game
