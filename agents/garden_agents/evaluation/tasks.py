"""The tasks of the benchmark, and their fields: agents whose ratings are frozen."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import Any

import msgspec

from garden_agents.games import TEST_SEEDS
from garden_agents.registry import FIELDS
from garden_core.files import data
from garden_core.game import Game
from garden_core.registry import make

FILE = Path(__file__).with_name("tasks.toml")


class Task(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A task: a game with options, and the agents of its field, from the weakest to the strongest.

    Attributes:
        version: number of the version; a score names it.
        game: the game's name.
        options: the game's options, the number of players among them.
        members: names of the agents, see `garden_agents.registry.load_agent`; "random" first.
        card_sets: number of card sets, which no training saw, that its games are played with; 0 for the game's own cards.
    """

    version: int
    game: str
    options: dict[str, Any]
    members: tuple[str, ...]
    card_sets: int = 0

    @property
    def cards(self) -> range:
        """Seeds of the card sets."""
        return TEST_SEEDS[: self.card_sets]

    def make(self) -> Game:
        """Return the game."""
        return make(self.game, **self.options)


class Member(msgspec.Struct, frozen=True):
    """An agent of a field.

    Attributes:
        agent: its name.
        rating: its rating, a whole number; that of "random" is 0.
        error: the standard error of the rating.
        actions: what it does in the task's positions, see `positions`.
    """

    agent: str
    rating: int
    error: float
    actions: tuple[int, ...]


class Field(msgspec.Struct, frozen=True):
    """The frozen field of a task.

    Attributes:
        task, version: the task.
        game: properties of the game that a change of makes another task, see `conditions`.
        members: the agents, the strongest last.
        misfit: how far, in points, a rating by four members is off because pairs win more or less often than ratings say, beyond chance
            (one standard deviation). It is part of every interval.
        pairs: agent, opponent, number of games, win rate, expected win rate, and the residual in standard errors.
    """

    task: str
    version: int
    game: dict[str, Any]
    members: tuple[Member, ...]
    misfit: float
    pairs: tuple[tuple[str, str, int, float, float, float], ...]


@functools.cache
def tasks() -> dict[str, Task]:
    """Return the tasks by name, such as "cacti-2"."""
    return data.load(FILE, dict[str, Task])


def task_of(name: str) -> Task:
    """Return a task.

    Raises:
        ValueError: if there is no task of this name.
    """
    if name not in tasks():
        raise ValueError(f"there is no task {name}; tasks are {', '.join(tasks())}")
    return tasks()[name]


def task_of_game(game: Game) -> str | None:
    """Return the name of the task that a game belongs to with any reward, in a task of card sets with any cards; None if there is none."""
    for name, task in tasks().items():
        if task.game == game.name and type(made := task.make()) is type(game):
            own_cards = {option: "" for option in game.data if task.card_sets}
            alike = game.with_options(reward=made.option_values["reward"], **own_cards)
            with contextlib.suppress(ValueError):  # the game has changed since its field was rated
                if field_of(name).game == msgspec.to_builtins(conditions(alike, task.card_sets)):
                    return name
    return None


def conditions(game: Game, card_sets: int = 0) -> dict[str, Any]:
    """Return all of a task's game on which its ratings depend."""
    sets = {"card_sets": card_sets} if card_sets else {}
    return sets | {
        "name": game.name,
        "version": game.version,
        "options": game.shown_options,
        "data": game.tables_digest,
        "observation": list(game.observation_shape),
        "actions": game.num_actions,
    }


@functools.cache
def field_of(name: str) -> Field:
    """Return the field of a task.

    Raises:
        ValueError: if there is no such task, or its game has changed since the field was rated.
    """
    task = task_of(name)
    field, game = msgspec.json.decode((FIELDS / f"{name}.json").read_bytes(), type=Field), task.make()
    # a field may be older than an option, which then had its default
    field.game["options"] = game.defaults | field.game["options"]
    if (field.version, field.game) != (task.version, msgspec.to_builtins(conditions(game, task.card_sets))):
        raise ValueError(f"the field of {name} was rated for {field.game}, and must be rated again")
    return field
