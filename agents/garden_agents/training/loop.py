"""The course of a training by this project's own methods: preparation, games and updates, evaluations, checkpoints."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch

from garden_agents.networks.architecture import empty_network, new_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network_agent import start_from
from garden_agents.progress import progress_bar
from garden_agents.training.arguments import in_words
from garden_agents.training.checkpoint import CHECKPOINT, check
from garden_agents.training.expert_arguments import Arguments as SearchArguments
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_arguments import Arguments
from garden_agents.training.run_folder import Run
from garden_agents.training.torch_network import TorchNetwork
from garden_core.game import Game


class Loop(ABC):
    """A training, new or as its checkpoint left it.

    Args:
        arguments: the training's arguments.
        run: the run's folder.
        game: the game with the reward "margin".
        device: where the network learns.

    Attributes:
        title: first words of the training's description.
        bar_settings: arguments of the progress bar.
        optimizer, rng: the network's optimizer, and the generator of what is learned from; subclasses make them.
        pool: the opponent pool, if there is one.
        decisions: number of decisions so far.
    """

    title: ClassVar[str]
    bar_settings: dict[str, Any]
    optimizer: torch.optim.Optimizer
    rng: np.random.Generator
    pool: OpponentPool | None = None

    def __init__(
        self, arguments: Arguments | SearchArguments, run: Run, game: Game, device: str = "cpu"
    ) -> None:
        self.arguments, self.run, self.game = arguments, run, game
        self.target = target_of(game)
        self.network = new_network(game, run.architecture, self.target, arguments.seed)
        if arguments.start is not None and arguments.resume is None:
            start_from(arguments.start, self.network, game, run.architecture)
        self.torch_network = TorchNetwork(self.network, device, arguments.threads)
        self.decisions = 0

    @property
    @abstractmethod
    def done(self) -> float:
        """Completed share of the training; it ends at 1."""

    @abstractmethod
    def source(self) -> Any:
        """Return the games, with what they need compiled."""

    @abstractmethod
    def learn_from(self, source: Any) -> None:
        """Play and learn until the training is done."""

    def cluster(self) -> contextlib.AbstractContextManager[None]:
        """Return the context in which `source` is used; subclasses connect to a cluster in it."""
        return contextlib.nullcontext()

    def go(self) -> None:
        """Train until the end or until Ctrl-C is pressed, and save a checkpoint.

        Raises:
            SystemExit: after Ctrl-C.
        """
        with progress_bar(**self.bar_settings, desc="compiling") as self.bar:
            self.run.report = self.bar.set_description
            with self.cluster():
                source = self.source()
                self.run.warm_up(self.network, self.target)
                with self.run.interruptible(self.save, self.arguments.command):
                    self.learn_from(source)

    def save(self) -> int:
        """Write the checkpoint, but for a replay buffer, which new games fill again; return the number of decisions."""
        self.torch_network.synchronise()
        return self.run.save(self.network, self.optimizer, self.decisions, self.pool)

    def load(self) -> None:
        """Restore the training and the run from the checkpoint.

        Raises:
            ValueError: if the checkpoint cannot be read or is damaged, or its network or pool is another one.
        """
        self.decisions = self.run.load(self.network, self.optimizer, self.pool)
        self.torch_network.take_weights()
        self.rng = np.random.default_rng((self.arguments.seed, self.decisions))


def carry_out(
    kind: Callable[..., Loop],
    folder: Path,
    arguments: Arguments | SearchArguments,
    game: Game,
    command: str,
    *more: Any,
) -> None:
    """Train and evaluate, and write the run's folder.

    Args:
        kind: makes the training of its arguments, run, game and `more`.
        folder, arguments, game, command: see `open_run`.

    Raises:
        SystemExit: after Ctrl-C, once a checkpoint is saved.
        ValueError: for a checkpoint or an initial network that is damaged or does not fit, and unknown agents.
    """
    torch.set_num_threads(1)  # passes of the network have threads of their own
    empty = empty_network(game, arguments.architecture, target_of(game))  # raises before the folder is made
    if arguments.resume is not None:  # before memory is allocated for the widths in the config
        check(folder / CHECKPOINT, game, empty.shapes)
    elif arguments.start is not None:
        start_from(
            arguments.start, empty, game, arguments.architecture
        )  # raises before the folder is made, too
    run = Run.of(folder, game, arguments, command)
    training = kind(arguments, run, game, *more)
    if arguments.resume is None:
        run.rewind(0, 0.0)
    else:
        training.load()
    run.write_config(arguments)
    training.save()
    print(f"{training.title} {in_words(game)}, in {folder}", flush=True)
    if training.done < 1:
        training.go()
    run.finish(arguments.eval_games, training.network, training.decisions, training.target)
