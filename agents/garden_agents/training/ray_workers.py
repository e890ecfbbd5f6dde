"""Games of expert iteration from workers on a Ray cluster: `garden train mars --method expert-iteration --ray local`.

Each worker plays its own games by search with the network that it is sent, and sends back what there is to learn from; the
learner takes what comes. A worker that dies, or whose node leaves the cluster, is replaced; its games in flight are lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayActorError, RayTaskError

from garden_agents.networks.architecture import empty_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network import Network
from garden_agents.training.expert_arguments import Arguments
from garden_agents.training.search_games import Games, Played
from garden_core.game import Game

SEED_STEP = 1_000_003  # between the seeds of two workers
REPLACED_AT_ONCE = 3  # times that a worker is replaced for one answer, before the training gives up
MOVES = 8  # decisions in each game of a worker of expert iteration, before it is sent new weights


class _Actors:
    """Workers in processes of the cluster; those that die, or whose node leaves, are replaced.

    Args:
        number: how many.
        kind: the class of the workers, whose last argument is a seed.
        made_of: its other arguments.
        seed: seed of the first worker; the others' follow from it.

    Attributes:
        all: the actors.
        replaced: number of those that were replaced so far.
    """

    def __init__(self, number: int, kind: type, made_of: tuple[Any, ...], seed: int) -> None:
        self.kind, self.made_of, self.seed = kind, made_of, seed
        self.replaced = self._made = 0
        self.all = [self._new() for _ in range(number)]
        ray.wait([actor.__ray_ready__.remote() for actor in self.all], num_returns=number)

    def _new(self) -> Any:
        """Start a worker, with a seed that none has had."""
        seed, self._made = self.seed + SEED_STEP * self._made, self._made + 1
        return ray.remote(num_cpus=1)(self.kind).remote(*self.made_of, seed)

    def result(self, i: int, reference: Any, ask: Callable[[int], Any]) -> Any:
        """Return what worker `i` answers.

        Args:
            i: its place.
            reference: the answer to come.
            ask: asks worker `i` again, once it has been replaced.

        Raises:
            RuntimeError: if it dies again and again.
        """
        deaths = 0
        while True:
            try:
                return ray.get(reference)
            except RayTaskError:  # an error of the worker's code, which would come again
                raise
            except RayActorError as error:
                deaths += 1
                if deaths > REPLACED_AT_ONCE:
                    raise RuntimeError(f"worker {i} died {deaths} times in a row: {error}") from error
            warnings.warn(f"worker {i} died and is replaced; its games in flight are lost", stacklevel=2)
            self.replaced += 1
            self.all[i] = self._new()
            reference = ask(i)


class SearchWorker:
    """Games that search plays against itself, in a process of their own.

    Args:
        game: the game with the reward "margin".
        arguments: the training's arguments.
        weights: the network's parameters at first.
        seed: seed of the games.
    """

    def __init__(self, game: Game, arguments: Arguments, weights: np.ndarray, seed: int) -> None:
        self.network = empty_network(game, arguments.architecture, target_of(game))
        self.network.parameters[:] = weights
        self.games = Games(game, arguments, self.network, 1, seed)
        self.games.compile()

    def play(self, weights: np.ndarray, guided: bool) -> list[Played]:
        """Play on with the network that has these parameters, for `MOVES` decisions in each game."""
        self.network.parameters[:] = weights
        return [self.games.play(guided) for _ in range(MOVES)]


class SearchWorkers:
    """Workers on the cluster, as a source of positions from search; each plays on while others are learned from.

    Args:
        game: the game with the reward "margin".
        network: the network; a worker plays with its weights as they are when it is asked.
        arguments: the training's arguments.
        seed: seed of the first worker's games; the others' follow from it.
    """

    def __init__(self, game: Game, network: Network, arguments: Arguments, seed: int) -> None:
        self.network = network
        made_of = game, arguments, network.parameters.copy()
        self.actors = _Actors(arguments.workers or 2, SearchWorker, made_of, seed)
        self._asked: dict[Any, int] = {}
        self._received: list[Played] = []

    def play(self, guided: bool) -> Played:
        """Return what some worker has played meanwhile, and let it play on with the network as it is now.

        Raises:
            RuntimeError: if workers die again and again.
        """
        if not self._received:
            self._received = self._from_any(guided)
        return self._received.pop(0)

    def _from_any(self, guided: bool) -> list[Played]:
        def ask(i: int) -> Any:
            return self.actors.all[i].play.remote(self.network.parameters, guided)

        if not self._asked:
            self._asked = {ask(i): i for i in range(len(self.actors.all))}
        (done, *_), _ = ray.wait(list(self._asked), num_returns=1)
        i = self._asked.pop(done)
        found = self.actors.result(i, done, ask)
        self._asked[ask(i)] = i
        return found
