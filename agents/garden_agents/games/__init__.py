"""What agents know of a game beyond its rules: how its observation maps to a board, features, pretrained networks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np

from garden_core.game import Game

__all__ = ["Board", "Features", "Hints", "hints_of", "register"]

GROUP = "garden_agents.games"
"""Entry-point group of the modules that call `register`; an entry has the name of the game."""


@dataclass(frozen=True)
class Board:
    """How the first entries of a flat observation, and the first actions, map to the cells of a board.

    Entry `plane * cells + i` of an observation is cell i of board plane `plane`, and action
    `block * cells + i` goes to that cell. The other entries of the observation are scalars, the other actions have
    no place.

    Attributes:
        planes: number of board planes.
        neighbours: int8 (cells, directions), the neighbours of each cell, -1 off the board.
        colours: the first so many planes hold pieces that form groups with neighbours of the same plane.
        marks: planes with a single piece each that matters to decisions far from it.
        action_blocks: number of actions for each cell.
        num_features: number of features of a cell beyond those that networks compute for any board.
        fill_features: the function, decorated with `compiled`, that fills them; None if there are none. Its arguments are
            observations, int8 (N, size), working memory, int16 (work_rows, cells), and the features, float32 (N, cells, F). Of
            these the last `num_features` columns are to be filled; the others hold the planes, by colour the size of the
            group that a cell belongs to or a piece there would join, and the number of empty neighbours.
        work_rows: rows of working memory, at least 4.
    """

    planes: int
    neighbours: np.ndarray
    colours: int
    marks: tuple[int, ...]
    action_blocks: int
    num_features: int = 0
    fill_features: Callable[..., None] | None = None
    work_rows: int = 4


@dataclass(frozen=True)
class Features:
    """What networks read instead of an observation, for games without a board.

    Attributes:
        num: number of features.
        fill: the function, decorated with `compiled`, that fills them. Its arguments are observations, int8 (N, size),
            `params`, and the features, float32 (N, num), which should be numbers of about 1.
        params: the game's params, records (1,).
    """

    num: int
    fill: Callable[..., None]
    params: np.ndarray


def _none(game: Game) -> None:
    return None


@dataclass(frozen=True)
class Hints:
    """What agents know of a game beyond its rules; every attribute is optional.

    Attributes:
        board: returns the `Board` of a game with its options chosen; None for networks that read the observation as a
            vector.
        features: returns the `Features` of a game without a board; None for the observation itself.
        private_fields: fields of the state, each with an integer for every seat, that only the seat itself sees and that
            stay the same from the deal on, except that -1 marks what was revealed. Search infers them from the actions
            of other seats.
        folder: folder with the game's defaults of `garden train` (`training.toml`) and pretrained networks
            (`networks/2.safetensors` for two players).
    """

    board: Callable[[Game], Board | None] = _none
    features: Callable[[Game], Features | None] = _none
    private_fields: tuple[str, ...] = ()
    folder: Path | None = None


_registered: dict[type[Game], Hints] = {}


def register(game: type[Game], hints: Hints) -> None:
    """Give agents the hints for a game class and its subclasses, in place of earlier ones.

    Raises:
        ValueError: for private fields that are not fields of the state with an integer for every seat.
    """
    for name in hints.private_fields:
        field = game.state_dtype[name] if name in (game.state_dtype.names or ()) else np.dtype("V")
        if field.shape != (game.max_players,) or field.base.kind != "i":
            raise ValueError(
                f"private_fields names {name!r}, but {game.__name__} has no state field {name!r} with an integer for "
                f"each of {game.max_players} seats"
            )
    _registered[game] = hints


def hints_of(game: Game | type[Game]) -> Hints:
    """Return the registered hints for a game, or empty ones; imports the installed module that registers them."""
    kind = game if isinstance(game, type) else type(game)
    _load(kind.name)
    return next((_registered[base] for base in kind.__mro__ if base in _registered), Hints())


@functools.cache
def _load(name: str) -> None:
    for point in entry_points(group=GROUP, name=name):
        point.load()
