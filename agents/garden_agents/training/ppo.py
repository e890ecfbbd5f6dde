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
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import torch

from garden_agents.registry import load_agent
from garden_agents.training import ppo_arguments
from garden_agents.training.arguments import in_words, open_run
from garden_agents.training.credit import Rollout
from garden_agents.training.gpu.self_play import TensorSelfPlay
from garden_agents.training.loop import Loop
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_update import Schedule, Update
from garden_agents.training.self_play import SelfPlay
from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy
from garden_core.game import Game

Arguments = ppo_arguments.Arguments
A = TypeVar("A", bound="Arguments")


class Training(Loop):
    """The training loop: games, updates, evaluations, checkpoints.

    Args:
        folder, arguments, game, command: see `open_run`.
        agents: further agents in the pool.
    """

    arguments: Arguments

    def __init__(
        self,
        folder: Path,
        arguments: Arguments,
        game: Game,
        command: str = "",
        agents: Sequence[Policy] = (),
    ) -> None:
        super().__init__(folder, arguments, game, command, arguments.device)
        self.update = Update(game, self.torch_network, arguments)
        self.optimizer = self.update.optimizer
        self.agents, self.pool = agents, arguments.pool(agents)
        if arguments.start is not None and arguments.resume is None and arguments.pool_share:
            self.pool.freeze(self.network)  # otherwise the first opponents would all be weak

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
            self.interpolated(*a.learning_rates),
        )

    def source(self) -> SelfPlay | TensorSelfPlay:
        a = self.arguments
        games = self._games(a.pool(self.agents), 0)
        self.update.compile(games.rollout(with_greedy=a.imitation_share > 0))
        return self._games(self.pool, a.seed + self.decisions)

    def _games(self, pool: OpponentPool, seed: int) -> SelfPlay | TensorSelfPlay:
        """Return games on the network's device."""
        games = TensorSelfPlay if self.torch_network.by_torch else SelfPlay
        return games(self.games, self.torch_network, pool, self.arguments, seed)

    def learn_from(self, source: SelfPlay | TensorSelfPlay) -> None:
        self.begin()
        while self.done < 1:
            rollout = source.rollout(with_greedy=self.imitation > 0)
            self.run.check()
            if not len(rollout.chosen):  # too short for a seat to reach its next decision
                continue
            losses = self.learn(rollout)
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

    def learn(self, rollout: Rollout) -> dict[str, float]:
        """Update the network by a rollout; return the mean losses.

        Raises:
            ValueError: see `check_finite`.
        """
        losses = self.update(rollout, self.schedule, self.rng, self.run.check)
        self.decisions += len(rollout.chosen)
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
    if arguments.device == "cuda":
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
    return Training(folder, arguments, game, command, agents).train(), arguments, game
