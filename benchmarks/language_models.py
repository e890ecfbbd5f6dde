"""Evaluate scripted text players and a very small language model, and set the ratings of the suite:
`python -m benchmarks.language_models`.

The scripted players show that the way through words changes nothing: greedy play, put into words and read again, has greedy
play's rating, and a place in the list has that of random play. The small model (`make .venv-llama/installed`, and
`examples/small_model.py`) shows what a real one does, against `random` in Cacti, free and held to the legal actions; --small 0
leaves it out. The ratings of the suite's opponents (`anchors.json` of `garden_agents.evaluation.evaluate`) are those of the
leaderboard; --check compares them.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import tempfile
import time
import urllib.request
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tyro
from garden_agents.errors import one_line_errors
from garden_agents.evaluation import evaluate
from garden_agents.evaluation.arena import evaluated
from garden_agents.evaluation.leaderboard import read_tables
from garden_agents.text import TextAgent
from garden_agents.text.prompts import Message

from benchmarks import common
from garden_core import Batch, Game, GreedyPolicy

RESULT = "language_models"
OPPONENTS = ("random", "greedy", "mcts:50", "network")
"""The leaderboard's entries that are opponents in the suite, as a package without a checkout has them."""
PLAYERS = {
    "greedy play in words": "benchmarks.language_models:greedy_in_words?mode=form",
    "the first action in the list": "benchmarks.language_models:at_place?place=first",
    "the last action in the list": "benchmarks.language_models:at_place?place=last",
    "any action in the list": "benchmarks.language_models:at_place?place=any",
}
SERVER = Path(".venv-llama/bin/python"), "examples/small_model.py"
PORT = 8125
SMALL = "openai:smollm2-135m?max_tokens=32&retries=0&fallback=random&limit=1"
SMALL_PLAYERS = {
    "SmolLM2, 135 million parameters": SMALL,
    "SmolLM2, held to the legal actions": f"{SMALL}&structured=true",
}


def at_place(game: Game, seed: int, place: str, **options: Any) -> TextAgent:
    """Return a player who takes the first or the last action in the list, or any."""

    def complete(messages: list[Message]) -> str:
        numbers = re.findall(
            r"^(\d+)\. ", messages[1]["content"].partition("legal actions:")[2], re.MULTILINE
        )
        drawn = zlib.crc32(messages[1]["content"].encode()) % len(numbers)
        return f"ACTION: {numbers[{'first': 0, 'last': -1, 'any': drawn}[place]]}"

    return TextAgent(complete, game, seed, model=place, **options)


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
        rated = {r.agent: float(round(r.rating)) for r in evaluated(names, jobs)[1]}
        ratings = {name: rated[name] for name in OPPONENTS if name in rated}
        game = table.game
        suite[f"{game.name}-{game.num_players}"] = evaluate.Anchors(game.name, game.num_players, ratings)
    return suite


@dataclass
class Arguments:
    """Evaluate scripted text players on the suite."""

    games: int = 200
    """games of the scripted players against each opponent"""
    small: int = 20
    """games of the small model"""
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
    games, small = arguments.games, arguments.small
    measurements = [each for title, agent in PLAYERS.items() for each in _played(title, agent, games)]
    if small:
        with _served() as url:
            for title, agent in SMALL_PLAYERS.items():
                where = {"tables": ("cacti-2",), "opponents": ("random",), "base_url": url}
                measurements += _played(title, agent, small, **where)
    settings = {"games": games, "small": small, "per_game": _costs()}
    common.save(arguments.output, RESULT, settings, measurements)


def _costs() -> dict[str, tuple[int, int]]:
    """Return about how many prompts, and tokens of prompts, a game of each table takes."""
    games, where = 4, "http://127.0.0.1/v1"
    counts = evaluate.main(evaluate.Arguments("openai:none", games, base_url=where, dry_run=True))
    played = {name: games * len(table.ratings) for name, table in evaluate.suite().items()}
    return {
        name: (round(prompts / played[name]), round(tokens / played[name]))
        for name, (prompts, tokens) in counts.items()
    }


def _played(title: str, agent: str, games: int, **where: Any) -> list[dict[str, Any]]:
    """Evaluate an agent; return the results by table."""
    with tempfile.TemporaryDirectory() as folder:
        tables = evaluate.main(evaluate.Arguments(agent, games, output=Path(folder), **where))["tables"]
    for table in tables.values():
        for result in table["results"]:
            del result["shares"]
    return [{"player": title, "table": key} | table for key, table in tables.items()]


@contextlib.contextmanager
def _served() -> Iterator[str]:
    """Serve the small model; return the server's address."""
    url = f"http://127.0.0.1:{PORT}"
    with subprocess.Popen(
        [*SERVER, str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            while server.poll() is None:
                with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/health"):
                    break
                time.sleep(0.5)
            yield f"{url}/v1"
        finally:
            server.kill()


if __name__ == "__main__":
    main(tyro.cli(Arguments))
