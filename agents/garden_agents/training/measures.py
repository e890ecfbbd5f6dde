"""What evaluations of a training measure: a rating in the game's task, or else win rates, or a team's score."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np

from garden_agents.evaluation import score
from garden_agents.evaluation.score_command import table as table_of_score
from garden_agents.evaluation.tasks import Field, field_of, task_of, task_of_game
from garden_agents.games import TEST_SEEDS
from garden_agents.identity import identity_of
from garden_agents.matches.meet import Result, meet, play, scores, table
from garden_agents.networks.variants import with_card_set
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_agents.report.run_files import RATING, TEAM
from garden_agents.training.arguments import in_words
from garden_core.batch.policies import Policy
from garden_core.game import Game

OPPONENTS = ("random", "greedy", "mcts:50")
"""Opponents in games that no task of the benchmark has."""
MOST_EVALUATED = 12
"""Largest number of variants in an evaluation."""
FINAL_GAMES = 600
"""Default number of final games against each of these."""
Finished = Callable[[int], object]


class Measure(ABC):
    """What evaluations of a game measure.

    Args:
        game: the game.
        games: number of games of an evaluation.
        seed: seed of the games.

    Attributes:
        columns: names of the numbers.
        identity: digests or versions, by name, of what the numbers depend on besides the network.
        drawn: arguments of `report.curves.learning_curves` besides the numbers.
    """

    columns: tuple[str, ...]
    identity: dict[str, str]
    drawn: dict[str, Any]

    def __init__(self, game: Game, games: int, seed: int) -> None:
        self.game, self.games, self.seed = game, games, seed
        self.identity, self.drawn = {}, {}

    def opponents(self) -> list[Policy]:
        """Return the opponents."""
        return []

    @abstractmethod
    def measured(self, agent: Policy, on_finished: Finished) -> dict[str, float]:
        """Return an agent's numbers by column, from the same deals at each call; `on_finished` as in `meet.play`."""

    @abstractmethod
    def final(self, agent: Policy, games: int | None) -> tuple[dict[str, Any], str]:
        """Return the final evaluation as plain JSON values, and as text.

        Args:
            agent: the agent.
            games: largest number of games; None for the default.
        """


class Rated(Measure):
    """Ratings in a task. Evaluations leave out the members of the field that search, as they are slow."""

    columns = RATING

    def __init__(self, game: Game, games: int, seed: int, task: str) -> None:
        super().__init__(game, games, seed)
        self.field = field_of(task)
        fast = tuple(member for member in self.field.members if "mcts" not in member.agent)
        self.fast = msgspec.structs.replace(self.field, members=fast)
        self.identity = {task: f"version {self.field.version}"}
        self.drawn = {"members": {member.agent: member.rating for member in self.field.members}}

    def opponents(self) -> list[Policy]:
        return [load_agent(member.agent, self.game) for member in self.fast.members]

    def measured(self, agent: Policy, on_finished: Finished) -> dict[str, float]:
        found = self._score(agent, self.fast, self.games, 0, 1 + self.seed, on_finished)
        return dict(zip(self.columns, (found.rating, *found.interval), strict=True))

    def final(self, agent: Policy, games: int | None) -> tuple[dict[str, Any], str]:
        most = score.GAMES if games is None else games
        with progress_bar(total=most, unit="game", desc=self.field.task) as bar:
            found = self._score(agent, self.field, most, score.PRECISION, 0, bar.update)
        return {"score": found.plain}, table_of_score(found)

    def _score(
        self, agent: Policy, field: Field, games: int, precision: float, seed: int, on_finished: Finished
    ) -> score.Score:
        cards = task_of(field.task).cards
        played = score.Direct(
            self.game, agent, score.seed_of(field, seed), on_finished=on_finished, cards=cards
        )
        opponents = [member.agent for member in field.members]
        return score.scored(played, "network", field, opponents, games, precision, seed)


class WinRates(Measure):
    """Win rates against opponents."""

    def __init__(self, game: Game, games: int, seed: int, opponents: Sequence[str], threads: int) -> None:
        n = game.num_players
        super().__init__(game, -(-games // (n * len(opponents))) * n, seed)
        self.columns, self.threads = tuple(opponents), threads
        self.identity = {name: identity_of(name, game).digest for name in opponents}
        self.drawn = {"games": self.games, "chance": 1 / n}

    def opponents(self) -> list[Policy]:
        return [load_agent(name, self.game) for name in self.columns]

    def measured(self, agent: Policy, on_finished: Finished) -> dict[str, float]:
        return {
            name: self._met(agent, name, self.games, self.seed, self.seed + 1, on_finished).win_rate
            for name in self.columns
        }

    def final(self, agent: Policy, games: int | None) -> tuple[dict[str, Any], str]:
        each, start = FINAL_GAMES if games is None else games, self.seed + 1_000_000
        with progress_bar(total=len(self.columns) * each, unit="game", desc="evaluation") as bar:
            results = [
                self._met(agent, name, each, start + i, self.seed + i, bar.update)
                for i, name in enumerate(self.columns)
            ]
        return {"results": [dataclasses.asdict(result) for result in results]}, table(results)

    def _met(
        self, agent: Policy, name: str, games: int, seed: int, own_seed: int, on_finished: Finished
    ) -> Result:
        opponent = load_agent(name, self.game, own_seed, threads=self.threads)
        return meet(self.game, ("network", name), (agent, opponent), games, seed, on_finished)


class OnVariants(Measure):
    """Means of win rates over variants of a game."""

    def __init__(
        self, games: Sequence[Game], number: int, seed: int, opponents: Sequence[str], threads: int
    ) -> None:
        super().__init__(games[0], number, seed)
        self.each = [WinRates(game, -(-number // len(games)), seed, opponents, threads) for game in games]
        first = self.each[0]
        self.columns, self.identity = first.columns, first.identity
        counted, chances = zip(*(each.drawn.values() for each in self.each), strict=True)
        self.drawn = {"games": sum(counted), "chance": float(np.mean(chances))}

    def opponents(self) -> list[Policy]:
        return self.each[0].opponents()

    def measured(self, agent: Policy, on_finished: Finished) -> dict[str, float]:
        found = [each.measured(agent, on_finished) for each in self.each]
        return {name: float(np.mean([rates[name] for rates in found])) for name in self.columns}

    def final(self, agent: Policy, games: int | None) -> tuple[dict[str, Any], str]:
        number = -(-(FINAL_GAMES if games is None else games) // len(self.each))
        results, texts = [], []
        for each in self.each:
            name = in_words(each.game)
            found, text = each.final(agent, number)
            results += [result | {"variant": name} for result in found["results"]]
            texts.append(f"{name}\n{text}")
        return {"results": results}, "\n\n".join(texts)


class TeamScore(Measure):
    """The mean score of a cooperative game's team."""

    columns = (TEAM,)

    def measured(self, agent: Policy, on_finished: Finished) -> dict[str, float]:
        seats = np.zeros((self.games, self.game.num_players), np.int64)
        states = play(self.game, [agent], seats, self.seed, on_finished).states
        return {TEAM: float(scores(self.game, states).min(1).mean() / self.game.reward_divisor)}

    def final(self, agent: Policy, games: int | None) -> tuple[dict[str, Any], str]:
        return {"results": []}, ""


def evaluated_on(variants: Sequence[Game]) -> list[Game]:
    """Return at most `MOST_EVALUATED` of the variants, evenly spread; those with generated cards get unseen ones."""
    chosen = np.unique(np.linspace(0, len(variants) - 1, MOST_EVALUATED).round().astype(int))
    games = [variants[index] for index in chosen]
    return [with_card_set(game, TEST_SEEDS[i]) if game.data else game for i, game in enumerate(games)]


def measure_of(
    variants: Sequence[Game],
    games: int,
    seed: int,
    opponents: Sequence[str],
    threads: int,
    generated: bool = False,
) -> Measure:
    """Return what evaluations of a game measure.

    Args:
        variants: the game, or the variants that a network learns.
        games: number of games of an evaluation.
        seed: seed of the games.
        opponents: opponents of win rates, which replace a rating; () for a rating, or the usual opponents without a task.
        threads: number of threads of opponents.
        generated: whether the network learns generated card sets, as tasks with unseen cards ask for.

    Raises:
        ValueError: for an unknown opponent.
    """
    game = variants[0]
    if game.cooperative:
        return TeamScore(game, games, seed)
    different = {
        tuple(value for name, value in each.option_values.items() if name not in each.data)
        for each in variants
    }
    task = None if opponents or len(different) > 1 else task_of_game(game)
    if task is not None and task_of(task).card_sets and not generated:
        task = None
    if task is not None:
        return Rated(game, games, seed, task)
    if len(variants) > 1:
        return OnVariants(evaluated_on(variants), games, seed, opponents or OPPONENTS, threads)
    return WinRates(game, games, seed, opponents or OPPONENTS, threads)
