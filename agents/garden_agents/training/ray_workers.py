"""Games from workers on a Ray cluster, for both trainers of this project: `garden train mars --ray local --workers 4`.

Each worker plays its own games with the network that it is sent, and sends back what there is to learn from. The learner of
`garden_agents.training.ppo`, this process, waits for all of them, so the same seeds give the same results, and with one worker
those of a training without Ray. That of `garden_agents.training.expert_iteration` takes what comes. A worker that dies, or
whose node leaves the cluster, is replaced; its games in flight are lost.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from operator import itemgetter
from typing import Any, cast

import numpy as np
import ray
import torch
from ray.exceptions import RayActorError, RayTaskError

from garden_agents.networks.architecture import empty_network
from garden_agents.networks.heads import target_of
from garden_agents.networks.network import Network
from garden_agents.registry import load_agent
from garden_agents.training.credit import Rollout
from garden_agents.training.expert_arguments import Arguments as SearchArguments
from garden_agents.training.pool import OpponentPool
from garden_agents.training.ppo_arguments import Arguments
from garden_agents.training.search_games import Games, Played
from garden_agents.training.self_play import SelfPlay
from garden_agents.training.torch_network import TorchNetwork
from garden_core.game import Game

SEED_STEP = 1_000_003  # between the seeds of two workers
REPLACED_AT_ONCE = 3  # times that a worker is replaced for one answer, before the training gives up
MOVES = 8  # decisions in each game of a worker of expert iteration, before it is sent new weights


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
        seed: seed of the games.
    """

    def __init__(self, game: Game, arguments: Arguments, seed: int) -> None:
        torch.set_num_threads(1)
        a = arguments
        agents = [load_agent(name, game, a.seed + i) for i, name in enumerate(a.pool_agents)]
        self.pool = cast(_Results, a.pool(agents, _Results))
        self.network = empty_network(game, a.architecture, target_of(game))
        self.torch_network = TorchNetwork(self.network)
        self.games: SelfPlay | None = None
        self.made = game, arguments, seed

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
            game, arguments, seed = self.made
            self.games = SelfPlay(game, self.torch_network, self.pool, arguments, seed)
        found = self.games.rollout(with_greedy)
        results, self.pool.results = self.pool.results, []
        return only_chosen(found), results


def only_chosen(rollout: Rollout) -> Rollout:
    """Return a copy with the chosen decisions alone."""
    kept = rollout.map(itemgetter(rollout.chosen))
    return kept._replace(chosen=np.arange(len(rollout.chosen)))


def joined(rollouts: list[Rollout]) -> Rollout:
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


class Workers:
    """Workers on the cluster, as a source of rollouts.

    Args:
        game: the game with the reward "margin".
        network: the network; the workers play with its weights as they are when a rollout is asked for.
        pool: the opponent pool, which records the results.
        arguments: the training's arguments.
        seed: seed of the first worker's games; the others' follow from it.
    """

    def __init__(
        self,
        game: Game,
        network: Network,
        pool: OpponentPool,
        arguments: Arguments,
        seed: int,
    ) -> None:
        self.network, self.pool = network, pool
        self.actors = _Actors(arguments.num_workers, Worker, (game, arguments), seed)
        self._sent: dict[Any, dict[int, Network]] = {}
        """By actor, the past selves that it has, by their place in the pool."""

    def rollout(self, with_greedy: bool) -> Rollout:
        """Play with the network as it is now, in all workers; return their decisions as one rollout.

        Raises:
            RuntimeError: if workers die again and again.
        """
        weights = ray.put(self.network.parameters)

        def ask(i: int) -> Any:
            actor = self.actors.all[i]
            standing = self.pool.ahead, self.pool.met
            return actor.rollout.remote(weights, with_greedy, standing, self._unknown(actor))

        found = []
        for i, reference in enumerate([ask(i) for i in range(len(self.actors.all))]):
            rollout, results = self.actors.result(i, reference, ask)
            found.append(rollout)
            for opponent, result in results:
                self.pool.count(opponent, result)
        return joined(found)

    def _unknown(self, actor: Any) -> dict[int, np.ndarray]:
        """Return the parameters of past selves that a worker does not have yet, by their place, as it is sent them."""
        sent, past = self._sent.setdefault(actor, {}), {}
        for place, network in enumerate(self.pool.networks):
            if sent.get(place) is not network:
                sent[place] = network
                past[place] = network.parameters
        return past


class SearchWorker:
    """Games that search plays against itself, in a process of their own.

    Args:
        game: the game with the reward "margin".
        arguments: the training's arguments.
        weights: the network's parameters at first.
        seed: seed of the games.
    """

    def __init__(self, game: Game, arguments: SearchArguments, weights: np.ndarray, seed: int) -> None:
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

    def __init__(self, game: Game, network: Network, arguments: SearchArguments, seed: int) -> None:
        self.network = network
        made_of = game, arguments, network.parameters.copy()
        self.actors = _Actors(arguments.num_workers, SearchWorker, made_of, seed)
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
