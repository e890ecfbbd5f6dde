"""Mixed games: a different agent in each seat, in games of more than two players.

A deal is played once in each rotation of the agents around the table, so that each has each seat once. From deal to deal they sit in
another order, in turn, until all seatings have been played, of which there are 24 with four players.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from garden_agents.matches.meet import fitted, interval_of, places, play, scores
from garden_core.batch.policies import Policy
from garden_core.game import Game

GROUPS = 100
"""Largest number of groups, unless there are more agents."""


def check_mixed(game: Game, agents: int) -> None:
    """Raise ValueError unless mixed games of `game` are possible with this number of agents."""
    n = game.num_players
    if game.cooperative or n < 3:
        raise ValueError(
            f"mixed games need more than two players against each other (option num_players), not {game!r}"
        )
    if agents < n:
        raise ValueError(f"mixed games of {n} players need at least {n} agents, not {agents}")


def seatings(games: int, num_players: int, first_deal: int = 0) -> np.ndarray:
    """Return lineups, int (games, num_players), of as many agents as seats: the deals from `first_deal` on, in all rotations."""
    orders = itertools.cycle(itertools.permutations(range(1, num_players)))
    deals = itertools.islice(orders, first_deal, first_deal + games // num_players)
    return np.array([np.roll((0, *order), turn) for order in deals for turn in range(num_players)])


def groups_of(names: Sequence[str], num_players: int) -> list[tuple[str, ...]]:
    """Return the groups of a set of agents: all combinations of `num_players` agents, or, of more than `GROUPS`, a sample.

    In the sample each agent is in equally many groups: a combination is taken together with all its shifts through the list.
    """
    count = len(names)
    numbers = list(itertools.combinations(range(count), num_players))
    if len(numbers) > GROUPS:
        cycles = []
        for first in itertools.takewhile(lambda combination: combination[0] == 0, numbers):
            cycle = [tuple(sorted((i + by) % count for i in first)) for by in range(count)]
            if min(cycle) == first and len(set(cycle)) == count:
                cycles.append(cycle)
        taken = min(max(1, GROUPS // count), len(cycles))
        numbers = [each for i in range(taken) for each in cycles[i * len(cycles) // taken]]
    return [tuple(names[i] for i in each) for each in numbers]


def place_shares(placed: np.ndarray) -> np.ndarray:
    """Return each seat's share of each place, float (games, num_players, num_players); tied seats share their places equally.

    Args:
        placed: int (games, num_players), see `garden_agents.matches.meet.places`.
    """
    ahead, number = placed[:, :, None], np.arange(placed.shape[1])
    tied = (ahead == placed[:, None, :]).sum(axis=2, keepdims=True)
    return ((ahead <= number) & (number < ahead + tied)) / tied


class Group(NamedTuple):
    """Mixed games of as many agents as seats, the rotations of a deal one after another.

    Attributes:
        names: names of the agents.
        places: float (games, agents, num_players), share of each place, see `place_shares`; those of the first are the wins.
        scores: int (games, agents), see `garden_agents.matches.meet.scores`.
        forfeits: int (agents,), numbers of games that they gave up.
    """

    names: tuple[str, ...]
    places: np.ndarray
    scores: np.ndarray
    forfeits: np.ndarray

    @property
    def shares(self) -> np.ndarray:
        """Shares of the win, float (deals, rotations, agents)."""
        n = len(self.names)
        return self.places[:, :, 0].reshape(-1, n, n)


def group_of(
    names: Sequence[str], seated: np.ndarray, placed: np.ndarray, points: np.ndarray, forfeited: np.ndarray
) -> Group:
    """Return finished games by agent; the arrays are those of `seatings`, `places`, `scores` and `Finished.forfeited`."""
    seats = seated.argsort(axis=1)  # of each agent
    shares = np.take_along_axis(place_shares(placed), seats[:, :, None], axis=1)
    gave_up = (seats == forfeited[:, None]).sum(axis=0)
    return Group(tuple(names), shares, np.take_along_axis(points, seats, axis=1), gave_up)


@dataclass
class MixedResult:
    """Results of an agent in mixed games.

    Example:
        >>> from garden_agents import load_agent, meet_mixed
        >>> from garden_core import make
        >>> game = make("mars", num_players=3)
        >>> names = ["random", "greedy", "greedy~0.5"]
        >>> result = meet_mixed(game, names, [load_agent(name, game) for name in names], games=60)[0]
        >>> result.agent, result.games, result.win_rate == result.by_place[0]
        ('random', 60, True)
    """

    agent: str
    games: int
    win_rate: float
    """Share of the wins: 1 for a win, 1/k for each of k tied winners."""
    interval: tuple[float, float]
    """95 % confidence interval, see `garden_agents.matches.meet.interval_of`."""
    mean_place: float
    """1 is the first; tied agents share their places, so that two winners have 1.5 each."""
    mean_score: float
    by_place: list[float]
    """Share of the games in which it had each place, the first one first."""
    forfeits: int = 0
    """Games that the agent gave up, in which it had the last place."""


def mixed_results(names: Sequence[str], groups: Sequence[Group]) -> list[MixedResult]:
    """Return the results of each agent, in the order of `names`, over all its groups."""
    results = []
    for name in names:
        own = [(group, group.names.index(name)) for group in groups if name in group.names]
        by_place = np.concatenate([group.places[:, i] for group, i in own])
        shares, mean = [group.shares[:, :, i] for group, i in own], by_place.mean(axis=0)
        # Groups differ in strength, which is no chance.
        levelled = np.concatenate([each - each.mean() + mean[0] for each in shares])
        results.append(
            MixedResult(
                name,
                len(by_place),
                float(mean[0]),
                interval_of(levelled),
                float(mean @ np.arange(1, len(mean) + 1)),
                float(np.concatenate([group.scores[:, i] for group, i in own]).mean()),
                mean.tolist(),
                sum(int(group.forfeits[i]) for group, i in own),
            )
        )
    return results


def meet_mixed(
    game: Game,
    names: Sequence[str],
    agents: Sequence[Policy],
    games: int,
    seed: int = 0,
    on_finished: Callable[[int], object] | None = None,
) -> list[MixedResult]:
    """Play games with a different agent in each seat; return the results of each agent, in the order of `names`.

    Each deal is played in all rotations of the agents, and from deal to deal they sit in another order.

    Args:
        game: the game with its options, of more than two players.
        names: names of the agents, as many as seats.
        agents: the agents.
        games: number of games, rounded up to a multiple of the number of players.
        seed: seed of the games.
        on_finished: called after each step of all games with the number of games that it ended.

    Raises:
        ValueError: for a game of two players or a cooperative one, for numbers that do not fit, or if an agent returns an illegal
            action; its own exceptions are passed on.

    Example:
        >>> from garden_agents import load_agent, meet_mixed
        >>> from garden_core import make
        >>> game = make("mars", num_players=3)
        >>> names = ["random", "greedy", "greedy~0.5"]
        >>> results = meet_mixed(game, names, [load_agent(name, game) for name in names], games=60)
        >>> min(results, key=lambda result: result.mean_place).agent
        'greedy'
    """
    n = game.num_players
    check_mixed(game, len(agents))
    if not len(set(names)) == len(names) == len(agents) == n:
        raise ValueError(
            f"{n} agents with different names are needed, not {len(agents)} with the names {' '.join(names)}"
        )
    seated = seatings(-(-games // n) * n, n)
    states, forfeited, _ = play(game, agents, seated, seed, on_finished, rotations=n)
    placed = places(game, states, forfeited)
    return mixed_results(names, [group_of(names, seated, placed, scores(game, states), forfeited)])


def mixed_table(results: Sequence[MixedResult]) -> str:
    """Return the results of `meet_mixed` as a text table, followed by the numbers of games that agents gave up.

    Example:
        >>> from garden_agents import load_agent, meet_mixed, mixed_table
        >>> from garden_core import make
        >>> game, names = make("mars", num_players=3), ["random", "greedy", "greedy~0.5"]
        >>> results = meet_mixed(game, names, [load_agent(name, game) for name in names], games=60)
        >>> print(mixed_table(results).splitlines()[0])
        agent       games win rate   95 % interval  place  score  by place, %
    """
    width = min(30, max(5, *(len(r.agent) for r in results)))
    lines = [f"{'agent':<{width}}  games win rate   95 % interval  place  score  by place, %"]
    for r in results:
        low, high = r.interval
        lines.append(
            f"{fitted(r.agent, width):<{width}} {r.games:>6} {r.win_rate:>8.1%} {low:>6.1%} … {high:>6.1%}"
            f" {r.mean_place:>6.2f} {r.mean_score:>6.1f}  "
            + " ".join(f"{100 * share:3.0f}" for share in r.by_place)
        )
    lines += [f"{r.agent} gave up {r.forfeits} of {r.games} games" for r in results if r.forfeits]
    return "\n".join(lines)
