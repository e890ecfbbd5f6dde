"""Games of expert iteration from workers on a Ray cluster: `garden train mars --method expert-iteration --ray local`.

Each worker plays its own games by search with the weights that it receives, and returns training positions; the learner
uses them as they arrive. A worker that dies, or whose node leaves the cluster, is replaced; its games in flight are lost.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayActorError

from garden_agents.networks.architecture import empty_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network import Network
from garden_agents.training.expert_arguments import Arguments
from garden_agents.training.search_games import Played, SearchGames
from garden_core.game import Game

SEED_STEP = 1_000_003  # between the seeds of two workers
MAX_DEATHS = 3  # deaths of a worker in one call before the training gives up
MOVES = 8  # decisions per game of a worker between two updates of its weights


class SearchWorker:
    """Games that search plays against itself, in their own process.

    Args:
        game: the game with the reward "margin".
        arguments: the training's arguments.
        weights: the network's initial parameters.
        seed: seed of the games.
    """

    def __init__(self, game: Game, arguments: Arguments, weights: np.ndarray, seed: int) -> None:
        self.network = empty_network(game, arguments.architecture, target_of(game))
        self.network.parameters[:] = weights
        self.games = SearchGames(game, arguments, self.network, 1, seed)
        self.games.compile()

    def play(self, weights: np.ndarray, guided: bool) -> list[Played]:
        """Play `MOVES` decisions in each game with these parameters of the network."""
        self.network.parameters[:] = weights
        return [self.games.play(guided) for _ in range(MOVES)]


class SearchWorkers:
    """Workers on the cluster as a source of positions; each plays on while the learner uses the others' positions.

    A worker that dies, or whose node leaves the cluster, is replaced.

    Args:
        game: the game with the reward "margin".
        network: the network; each call sends a worker its present weights.
        arguments: the training's arguments.
        seed: seed of the first worker's games, from which the other workers' seeds follow.

    Attributes:
        actors: the workers, in processes of the cluster.
        replaced: number of workers replaced so far.
    """

    def __init__(self, game: Game, network: Network, arguments: Arguments, seed: int) -> None:
        self.network, self.seed = network, seed
        self._made_of = game, arguments, network.parameters.copy()
        self.replaced = self._made = 0
        self.actors = [self._new() for _ in range(arguments.workers or 2)]
        ray.wait([actor.__ray_ready__.remote() for actor in self.actors], num_returns=len(self.actors))
        self._asked: dict[Any, int] = {}
        self._received: list[Played] = []

    def _new(self) -> Any:
        """Start a worker, with an unused seed."""
        seed, self._made = self.seed + SEED_STEP * self._made, self._made + 1
        return ray.remote(num_cpus=1)(SearchWorker).remote(*self._made_of, seed)

    def play(self, guided: bool) -> Played:
        """Return the games of the next worker that is ready, and let it play on with the present network.

        Raises:
            RuntimeError: if a worker dies more than `MAX_DEATHS` times in a row.
        """
        if not self._received:
            if not self._asked:
                self._asked = {self._ask(i, guided): i for i in range(len(self.actors))}
            (done, *_), _ = ray.wait(list(self._asked), num_returns=1)
            i = self._asked.pop(done)
            self._received = self._answer(i, done, guided)
            self._asked[self._ask(i, guided)] = i
        return self._received.pop(0)

    def _ask(self, i: int, guided: bool) -> Any:
        return self.actors[i].play.remote(self.network.parameters, guided)

    def _answer(self, i: int, reference: Any, guided: bool) -> list[Played]:
        """Return the answer of worker `i`; one that died is replaced and asked again."""
        deaths = 0
        while True:
            try:
                return ray.get(reference)
            except RayActorError as error:  # errors of the worker's code pass, as they would occur again
                deaths += 1
                if deaths > MAX_DEATHS:
                    raise RuntimeError(f"worker {i} died {deaths} times in a row: {error}") from error
            warnings.warn(f"worker {i} died and is replaced; its games in flight are lost", stacklevel=2)
            self.replaced += 1
            self.actors[i] = self._new()
            reference = self._ask(i, guided)
