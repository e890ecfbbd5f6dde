"""Evaluate scripted text players, and set the ratings of the suite: `python -m benchmarks.language_models`.

The players show that the way through words changes nothing: greedy play, put into words and read again, has greedy play's
rating. No language model is involved. The ratings of the suite's opponents (`anchors.json` of
`garden_agents.evaluation.evaluate`) are those of the leaderboard; --check compares them.
"""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tyro
from garden_agents.errors import one_line_errors
from garden_agents.evaluation import evaluate
from garden_agents.evaluation.arena import evaluated
from garden_agents.evaluation.leaderboard import SEED, read_tables
from garden_agents.text import TextAgent
from garden_agents.text.prompts import Message

from benchmarks import common
from garden_core import Batch, Game, GreedyPolicy

RESULT = "language_models"
OPPONENTS = ("random", "greedy", "mcts:50", "network")
"""The leaderboard's entries that are opponents in the suite, as a package without a checkout has them."""
PLAYERS = {
    "greedy play in words": "benchmarks.language_models:greedy_in_words?mode=form",
    "the first action in the list": "benchmarks.language_models:first",
    "chatter in every second answer": "benchmarks.language_models:chatter",
}


def first(game: Game, seed: int, **options: Any) -> TextAgent:
    """Return a player who takes the first action in the list."""
    return TextAgent(lambda messages: "ACTION: 1", game, seed, model="first", **options)


def chatter(game: Game, seed: int, **options: Any) -> TextAgent:
    """Return a player who takes the last action in the list, but only after it was asked again."""

    def complete(messages: list[Message]) -> str:
        listed = re.findall(r"^(\d+)\. ", messages[1]["content"], re.MULTILINE)
        return f"ACTION: {listed[-1]}" if len(messages) > 2 else "What a nice garden this is!"

    return TextAgent(complete, game, seed, model="chatter", **options)


class _InWords(TextAgent):
    """A text player who says what a policy would do."""

    def __init__(self, game: Game, seed: int, **options: Any) -> None:
        super().__init__(
            lambda messages: self._said[messages[1]["content"]],
            game,
            seed,
            model="greedy in words",
            **options,
        )
        self._policy = GreedyPolicy(seed)
        self._said: dict[str, str] = {}

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        actions = self._policy(batch, rows)
        prompts = [self.prompt(batch, int(row))[1]["content"] for row in rows]
        self._said = {
            text: f"I do this.\n**Action:** {self.game.labels[action]}."
            for text, action in zip(prompts, actions, strict=True)
        }
        return super().__call__(batch, rows)


def greedy_in_words(game: Game, seed: int, **options: Any) -> TextAgent:
    """Return a text player who plays as `greedy`."""
    return _InWords(game, seed, **options)


def anchors(folder: Path = Path("leaderboard")) -> dict[str, evaluate.Anchors]:
    """Return the suite by the leaderboard's ratings."""
    suite = {}
    for table in read_tables(folder):
        names = sorted({agent for block in table.done for agent in block[:2]})
        jobs = {block: line.played for block, line in sorted(table.done.items())}
        rated = {r.agent: float(round(r.rating)) for r in evaluated(names, jobs, SEED)[1]}
        ratings = {name: rated[name] for name in OPPONENTS if name in rated}
        game = table.game
        suite[f"{game.name}-{game.num_players}"] = evaluate.Anchors(game.name, game.num_players, ratings)
    return suite


@dataclass
class Arguments:
    """Evaluate scripted text players on the suite."""

    games: int = 200
    """games against each opponent"""
    check: bool = False
    """play nothing; fail if the suite's ratings are not the leaderboard's"""
    output: Path = common.RESULTS
    """folder for language_models.json"""


@one_line_errors()
def main(arguments: Arguments) -> None:
    """Write the suite and the results.

    Raises:
        SystemExit: with --check, if the suite is not current.
    """
    ratings = anchors()
    if arguments.check:
        if ratings != evaluate.suite():
            raise ValueError(f"{evaluate.ANCHORS} is not current: run python -m benchmarks.language_models")
        return
    evaluate.ANCHORS.write_bytes(msgspec.json.format(msgspec.json.encode(ratings), indent=1) + b"\n")
    measurements = []
    with tempfile.TemporaryDirectory() as name:
        for number, (title, agent) in enumerate(PLAYERS.items()):
            folder = Path(name) / str(number)
            tables = evaluate.main(evaluate.Arguments(agent, arguments.games, output=folder))["tables"]
            measurements += [{"player": title, "table": key} | table for key, table in tables.items()]
    common.save(arguments.output, RESULT, {"games": arguments.games}, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
