"""PPO by self-play: `garden train mars --minutes 10`.

The network learns from every seat that it plays; a decision is credited with all that its seat receives until the seat's own
next decision (J. Schulman et al., "Proximal policy optimization algorithms", 2017; advantages as in J. Schulman et al.,
"High-dimensional continuous control using generalized advantage estimation", 2016, without discount). In a share of the games
the network plays one seat and an opponent pool the others. A training from random weights begins by imitating greedy play,
whose weight in the loss then falls to 0.

A run's folder has a checkpoint and the files that `garden_agents.training.run_folder.Run` lists. Ctrl-C saves the checkpoint;
`--resume FOLDER` continues from it.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch

from garden_agents.registry import load_agent
from garden_agents.training import ppo_arguments
from garden_agents.training.arguments import in_words, open_run
from garden_agents.training.credit import Rollout
from garden_agents.training.gpu.self_play import TensorSelfPlay
from garden_agents.training.loop import Loop
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_update import Schedule, Update
from garden_agents.training.processes import Follower, Processes, require_one
from garden_agents.training.run_folder import Run
from garden_agents.training.self_play import SelfPlay
from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy
from garden_core.game import Game

Arguments = ppo_arguments.Arguments
A = TypeVar("A", bound="Arguments")
LARGEST_FACTOR = 2.0
"""Largest factor of the learning rate, which is multiplied by the root of the number of processes; measured up to four."""
GAMES_APART = 2**53
"""Difference of the seeds of two processes' games; more than the decisions of a training."""


class Training(Loop):
    """The training loop: games, updates, evaluations, checkpoints.

    Args:
        folder, arguments, game, command: see `open_run`.
        agents: further agents in the pool.
        processes: the processes that train this network.
    """

    arguments: Arguments

    def __init__(
        self,
        folder: Path,
        arguments: Arguments,
        game: Game,
        command: str = "",
        agents: Sequence[Policy] = (),
        processes: Processes | None = None,
    ) -> None:
        self.processes = processes or Processes()
        self._agreed: float | None = None
        run = Follower if self.processes.rank else Run
        super().__init__(folder, arguments, game, command, arguments.device, run=run)
        self.update = Update(self.game, self.torch_network, arguments, self.processes.average)
        self.optimizer = self.update.optimizer
        self.agents, self.pool = agents, arguments.pool(agents)
        if arguments.start is not None and arguments.resume is None and arguments.pool_share:
            self.pool.freeze(self.network)  # otherwise the first opponents would all be weak

    @property
    def seconds(self) -> float:
        return self.run.seconds if self._agreed is None else self._agreed

    @property
    def imitation(self) -> float:
        """Weight of imitation in the loss, 1 to 0; PPO's loss has the rest."""
        share = self.arguments.imitation_share
        if not share:
            return 0.0
        done = max(self.schedule_done / share, self.decisions / ppo_arguments.IMITATION_DECISIONS)
        return max(0.0, 1 - done)

    @property
    def schedule(self) -> Schedule:
        """The present settings."""
        a = self.arguments
        return Schedule(
            self.interpolated(a.outcome, 1.0),
            self.interpolated(a.entropy, ppo_arguments.FINAL_ENTROPY),
            self.imitation,
            self.interpolated(*a.learning_rates) * min(LARGEST_FACTOR, math.sqrt(self.processes.count)),
        )

    def source(self) -> SelfPlay | TensorSelfPlay:
        a = self.arguments
        games = self._games(a.pool(self.agents), 0)
        self.update.compile(games.rollout(with_greedy=a.imitation_share > 0))
        return self._games(self.pool, a.seed + self.decisions + self.processes.rank * GAMES_APART)

    def _games(self, pool: OpponentPool, seed: int) -> SelfPlay | TensorSelfPlay:
        """Return games on the network's device."""
        games = TensorSelfPlay if self.torch_network.by_torch else SelfPlay
        return games(self.games, self.torch_network, pool, self.arguments, seed)

    def learn_from(self, source: SelfPlay | TensorSelfPlay) -> None:
        self.begin()
        self.agree(0)
        while self.done < 1:
            rollout = source.rollout(with_greedy=self.imitation > 0)
            self.run.check()
            counts = self.agree(len(rollout.chosen))
            if not counts.all():  # too short for a seat to reach its next decision
                continue
            losses = self.learn(rollout, counts)
            if self.arguments.pool_share:
                self.freeze()
            self.conclude(
                {
                    **self.pool.report(self.bar, ("random", "greedy", "agents", "self")),
                    **losses,
                    "imitation": self.imitation,
                    "first_place_share": self.schedule.outcome,
                    "learning_rate": self.optimizer.param_groups[0]["lr"],
                }
            )

    def agree(self, decisions: int) -> np.ndarray:
        """Return the numbers of decisions of all processes' rollouts; all take the time from the first process."""
        if self.processes.count > 1:
            self._agreed = float(self.processes.gathered(self.run.seconds)[0])
        return self.processes.gathered(decisions)

    def learn(self, rollout: Rollout, counts: np.ndarray | None = None) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses.

        Args:
            rollout: this process's decisions.
            counts: the numbers of decisions of all processes' rollouts.

        Raises:
            ValueError: see `check_finite`.
        """
        counts = np.array([len(rollout.chosen)]) if counts is None else counts
        losses = self.update(rollout, self.schedule, self.rng, self.run.check, int(counts.min()))
        self.decisions += int(counts.sum())
        self.torch_network.synchronise()
        self.check_finite(*losses.values())
        return losses


def train(arguments: Arguments) -> Path:
    """Train, evaluate and write the run's folder; return its path.

    Raises:
        SystemExit: as `arguments.open_run`, after Ctrl-C (a checkpoint is saved), and if `device` is cuda and Numba or torch
            finds no GPU.
        ValueError: for a config, checkpoint or initial network that is damaged or does not fit, for unknown agents, for a
            folder that another process uses, and if the training diverges.
    """
    return trained(arguments)[0]


def trained(arguments: A) -> tuple[Path, A, Game]:
    """Run `train`; return the run's folder, its arguments and its game."""
    folder, arguments, game, command = open_run(arguments)
    # the defaults are written to config.toml, too
    arguments = dataclasses.replace(
        arguments, learning_rate=arguments.learning_rates[0], imitation=arguments.imitation_share
    )
    processes = Processes()
    if arguments.device == "cuda":
        require_one("--device cuda")
        if not torch.cuda.is_available():
            raise SystemExit(f"--device cuda: torch {torch.__version__} finds no GPU")
        try:
            Batch(game, 1, device="cuda")
        except (ImportError, RuntimeError) as error:
            raise SystemExit(f"--device cuda: {error}") from None
    if game.cooperative and arguments.pool_share:
        raise SystemExit(f"in {in_words(game)} there are no opponents for a pool: leave out pool_share")
    agents = [
        load_agent(name, game, arguments.seed + i, check=True) for i, name in enumerate(arguments.pool_agents)
    ]
    if processes.count > 1:
        alone = "garden", f"torchrun --nproc-per-node {processes.count} -m -- garden_agents"
        command = command.replace(*alone, 1)
        processes.join()
    return Training(folder, arguments, game, command, agents, processes).train(), arguments, game
