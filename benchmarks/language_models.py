"""Evaluate scripted text players and a very small language model in the benchmark's tasks: `python -m benchmarks.language_models`.

The scripted players show that the way through words changes nothing: greedy play, put into words and read again, has greedy
play's rating, and a place in the list has that of random play. The small model (`make .venv-llama/installed`, and
`examples/small_model.py`) shows what a real one does in one task, free and held to the legal actions; --small 0 leaves it out.
"""

from __future__ import annotations

import contextlib
import json
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

import numpy as np
import tyro
from garden_agents.errors import one_line_errors
from garden_agents.evaluation import score_command
from garden_agents.evaluation.tasks import tasks
from garden_agents.text import TextAgent
from garden_agents.text.estimate import cost_of_game
from garden_agents.text.prompts import Message
from garden_agents.text.served import served

from benchmarks import common
from garden_core import Batch, Game, GreedyPolicy

RESULT = "language_models"
PLAYERS = {
    "greedy play in words": "benchmarks.language_models:greedy_in_words?mode=form",
    "the first action in the list": "benchmarks.language_models:at_place?place=first",
    "the last action in the list": "benchmarks.language_models:at_place?place=last",
    "any action in the list": "benchmarks.language_models:at_place?place=any",
}
SERVER = Path(".venv-llama/bin/python"), "examples/small_model.py"
PORT = 8125
SMALL_TASK = "cacti-2"
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


@dataclass
class Arguments:
    """Evaluate scripted text players in the benchmark's tasks, and a very small language model in one of them."""

    games: int = 400
    """largest number of games of a scripted player in a task"""
    small: int = 40
    """largest number of games of the small model; 0 leaves it out"""
    task: tuple[str, ...] = ()
    """tasks of the scripted players, such as cacti-2; all if none is given"""
    output: Path = common.RESULTS
    """folder for language_models.json"""


@one_line_errors()
def main(arguments: Arguments) -> None:
    """Write the results."""
    a = arguments
    names = a.task or (*tasks(),)
    measurements = [
        each for title, agent in PLAYERS.items() for each in _played(title, agent, names, a.games)
    ]
    if a.small:
        with _served() as url:
            for title, agent in SMALL_PLAYERS.items():
                measurements += _played(title, agent, (SMALL_TASK,), a.small, url)
    settings = {"games": a.games, "small": a.small, "per_game": {name: _cost(name) for name in names}}
    common.save(a.output, RESULT, settings, measurements)


def _cost(name: str) -> tuple[int, int]:
    """Return about how many prompts, and tokens of prompts, a game of a task takes, by four deals."""
    agent = served("none", tasks()[name].make(), base_url="http://127.0.0.1/v1")  # which is not asked
    prompts, tokens = np.mean([cost_of_game(agent, seed) for seed in range(4)], axis=0)
    return round(prompts), round(tokens)


def _played(
    title: str, agent: str, names: tuple[str, ...], games: int, url: str | None = None
) -> list[dict[str, Any]]:
    """Score an agent in tasks; return the results by task, without those of each game."""
    with tempfile.TemporaryDirectory() as folder:
        score_command.main(score_command.Arguments(agent, names, games, 0, output=Path(folder), base_url=url))
        scores = [json.loads(path.read_text("utf-8")) for path in sorted(Path(folder).glob("*.json"))]
    for score in scores:
        del score["results"]
    return [{"player": title} | score for score in scores]


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
