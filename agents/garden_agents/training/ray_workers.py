"""Rollouts of `garden_agents.training.ppo` from workers on a Ray cluster: `garden train mars --ray local --workers 4`.

Each worker plays its own games with the network that it is sent, and sends back the decisions to learn from. The learner,
this process, waits for all of them, so the same seeds give the same results, and with one worker those of a training
without Ray. A worker that dies, or whose node leaves the cluster, is replaced; its games in flight are lost.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import ray
import torch
from ray.exceptions import RayActorError, RayTaskError

from garden_agents.networks.architecture import empty_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network import Network
from garden_agents.registry import load_agent
from garden_agents.training.pool import OpponentPool
from garden_agents.training.torch_network import TorchNetwork
from garden_core.game import Game

if TYPE_CHECKING:
    from garden_agents.training.ppo import Arguments, Rollout, SelfPlay

__all__ = ["Worker", "Workers"]

SEED_STEP = 1_000_003  # between the seeds of two workers
REPLACED_AT_ONCE = 3  # times that a worker is replaced for one rollout, before the training gives up


class _Results(OpponentPool):
    """A worker's copy of the opponent pool, which also notes results for the learner's."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.results: list[tuple[int, float]] = []

    def count(self, opponent: int, result: float) -> None:
        super().count(opponent, result)
        self.results.append((opponent, result))


class Worker:
    """Games of the network against itself and the pool, in a process of their own.

    Args:
        game: the game with the reward "margin".
        arguments: the training's arguments.
        kind: the class of the games, `ppo.SelfPlay`.
        seed: seed of the games.
    """

    def __init__(self, game: Game, arguments: Arguments, kind: type[SelfPlay], seed: int) -> None:
        torch.set_num_threads(1)
        a = arguments
        agents = [load_agent(name, game, a.seed + i) for i, name in enumerate(a.pool_agents)]
        self.pool = cast(_Results, a.pool(agents, _Results))
        self.network = empty_network(game, a.architecture, target_of(game))
        self.torch_network = TorchNetwork(self.network)
        self.games: SelfPlay | None = None
        self.made = game, arguments, kind, seed

    def rollout(
        self,
        weights: np.ndarray,
        with_greedy: bool,
        pool: tuple[np.ndarray, np.ndarray],
        past: dict[int, np.ndarray],
    ) -> tuple[Rollout, list[tuple[int, float]]]:
        """Play a rollout.

        Args:
            weights: the network's parameters.
            with_greedy: also note what greedy play would have chosen.
            pool: the pool's `ahead` and `met`.
            past: parameters of past selves that are new, by their place.

        Returns:
            The decisions to learn from, and results of games against the pool: opponent, and 1, ½ or 0.
        """
        self.network.parameters[:] = weights
        self.pool.ahead[:], self.pool.met[:] = pool
        for place, parameters in past.items():
            self.pool.selves[place].freeze(self.network)
            copy = self.pool.selves[place].network
            assert copy is not None
            copy.parameters[:] = parameters
            self.pool.frozen = max(self.pool.frozen, place + 1)
        if self.games is None:
            game, arguments, kind, seed = self.made
            self.games = kind(game, self.torch_network, self.pool, arguments, seed)
        found = self.games.rollout(with_greedy)
        results, self.pool.results = self.pool.results, []
        return _only_chosen(found), results


def _only_chosen(rollout: Rollout) -> Rollout:
    """Return a copy with the chosen decisions alone."""
    chosen = rollout.chosen
    return rollout._replace(
        decisions=type(rollout.decisions)(*(part[chosen] for part in rollout.decisions)),
        inputs=tuple(part[chosen] for part in rollout.inputs),
        chosen=np.arange(len(chosen)),
        advantages=rollout.advantages[chosen],
    )


def _joined(rollouts: list[Rollout]) -> Rollout:
    """Return the decisions of several rollouts as one."""
    if len(rollouts) == 1:
        return rollouts[0]
    first, advantages = rollouts[0], np.concatenate([each.advantages for each in rollouts])
    columns = zip(*(each.decisions for each in rollouts), strict=True)
    return first._replace(
        decisions=type(first.decisions)(*map(np.concatenate, columns)),
        inputs=tuple(map(np.concatenate, zip(*(each.inputs for each in rollouts), strict=True))),
        chosen=np.arange(len(advantages)),
        advantages=advantages,
    )


class Workers:
    """Workers on the cluster, as a source of rollouts.

    Args:
        game: the game with the reward "margin".
        network: the network; the workers play with its weights as they are when a rollout is asked for.
        pool: the opponent pool, which records the results.
        arguments: the training's arguments.
        kind: the class of the workers' games, `ppo.SelfPlay`.
        seed: seed of the first worker's games; the others' follow from it.

    Attributes:
        replaced: number of workers that were replaced so far.
    """

    def __init__(
        self,
        game: Game,
        network: Network,
        pool: OpponentPool,
        arguments: Arguments,
        kind: type[SelfPlay],
        seed: int,
    ) -> None:
        self.game, self.network, self.pool, self.arguments = game, network, pool, arguments
        self.kind, self.seed = kind, seed
        self.replaced = 0
        self._made = 0
        self._sent: list[dict[int, Network]] = []
        self.actors: list[Any] = []
        for _ in range(arguments.workers):
            self.actors.append(self._new())
            self._sent.append({})

    def _new(self) -> Any:
        """Start a worker, with a seed that none has had."""
        seed, self._made = self.seed + SEED_STEP * self._made, self._made + 1
        return ray.remote(num_cpus=1)(Worker).remote(self.game, self.arguments, self.kind, seed)

    def rollout(self, with_greedy: bool) -> Rollout:
        """Play with the network as it is now, in all workers; return their decisions as one rollout.

        Raises:
            RuntimeError: if workers die again and again.
        """
        weights = ray.put(self.network.parameters)
        asked = [self._ask(i, weights, with_greedy) for i in range(len(self.actors))]
        found = []
        for i, reference in enumerate(asked):
            for attempt in range(REPLACED_AT_ONCE + 1):
                try:
                    rollout, results = ray.get(reference)
                    break
                except RayTaskError:
                    raise
                except RayActorError as error:
                    if attempt == REPLACED_AT_ONCE:
                        raise RuntimeError(
                            f"worker {i} died {attempt + 1} times in a row: {error}"
                        ) from error
                    warnings.warn(
                        f"worker {i} died and is replaced; its games in flight are lost", stacklevel=2
                    )
                    self.replaced += 1
                    self.actors[i], self._sent[i] = self._new(), {}
                    reference = self._ask(i, weights, with_greedy)
            found.append(rollout)
            for opponent, result in results:
                self.pool.count(opponent, result)
        return _joined(found)

    def _ask(self, i: int, weights: Any, with_greedy: bool) -> Any:
        """Ask a worker for a rollout; send it the past selves that it does not have yet."""
        past = {}
        for place, network in enumerate(self.pool.networks):
            if self._sent[i].get(place) is not network:
                self._sent[i][place] = network
                past[place] = network.parameters
        return self.actors[i].rollout.remote(weights, with_greedy, (self.pool.ahead, self.pool.met), past)
