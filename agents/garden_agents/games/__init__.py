"""Hints for agents beyond a game's rules: its board, features, private fields and pretrained networks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path

import numpy as np

from garden_core.files.data import DataFile
from garden_core.game import Game

__all__ = [
    "TEST_SEEDS",
    "TRAINING_SEEDS",
    "Board",
    "Features",
    "Hints",
    "hints_of",
    "networks_folder",
    "register",
]

TRAINING_SEEDS = range(10_000)
"""Seeds of `Hints.private_data` for training (docs/many-variants.md)."""
TEST_SEEDS = range(1_000_000, 2_000_000)
"""Seeds of `Hints.private_data` for tests, which no training should use."""


@dataclass(frozen=True)
class Board:
    """The mapping of the first entries of a flat observation, and of the first actions, to the cells of a board.

    Entry `plane * cells + i` of an observation is cell i of board plane `plane`, and action `block * cells + i` goes to
    that cell. The other entries of the observation are scalars; the other actions have no cell.

    Attributes:
        planes: number of board planes.
        neighbours: int8 (cells, directions), the neighbours of each cell, -1 off the board.
        colours: number of planes, the first ones, whose pieces form groups with neighbours on the same plane. On a cell,
            networks read all colours with the same weights, and tell them apart by what comes one per colour.
        marks: planes with a single piece that affects decisions on distant cells.
        action_blocks: number of actions per cell.
        num_features: number of the game's own features per cell, in addition to the features that every board has.
        fill_features: the function, decorated with `compiled`, that fills them; None if there are none. Its arguments are
            observations, int8 (N, size), working memory, int16 (work_rows, cells), and the features, float32 (N, cells, F).
            It fills the last `num_features` columns. The others contain the planes, for each colour the size of the group
            that a cell belongs to or that a piece there would join, and the number of empty neighbours.
        work_rows: rows of working memory, at least 4.
        colour_features: number of the game's own features that come one per colour: they are the first `colours *
            colour_features` of them, and features of the same kind are next to each other.
        colour_scalars: for each kind of scalar that comes one per colour, their indexes among the scalars, by colour.
        colour_actions: whether the last `colours` actions choose a colour for the cell that the last of `marks` marks.
        targets: the column of the features, counted from the end if negative, that is 0 on cells without a legal action;
            None if there is none.

    Example:
        >>> from garden_agents.games import hints_of
        >>> from mars_env import Mars
        >>> board = hints_of(Mars).board(Mars())
        >>> board.planes, board.neighbours.shape, board.action_blocks
        (14, (91, 6), 1)
    """

    planes: int
    neighbours: np.ndarray
    colours: int
    marks: tuple[int, ...]
    action_blocks: int
    num_features: int = 0
    fill_features: Callable[..., None] | None = None
    work_rows: int = 4
    colour_features: int = 0
    colour_scalars: tuple[tuple[int, ...], ...] = ()
    colour_actions: bool = False
    targets: int | None = None


@dataclass(frozen=True)
class Features:
    """The inputs of networks instead of an observation, for games without a board.

    Attributes:
        num: number of features.
        fill: the function, decorated with `compiled`, that fills them. Its arguments are observations, int8 (N, size),
            `params`, and the features, float32 (N, num), which should be of magnitude 1.
        params: the game's params, records (1,).

    Example:
        >>> from botanicus_env import Botanicus
        >>> from garden_agents.games import hints_of
        >>> features = hints_of(Botanicus).features(Botanicus())
        >>> features.num, features.params.shape
        (1212, (1,))
    """

    num: int
    fill: Callable[..., None]
    params: np.ndarray


@dataclass(frozen=True)
class Hints:
    """Hints for agents beyond a game's rules; every attribute is optional.

    Attributes:
        board: returns the `Board` of a game with its options chosen, or None if it has none.
        features: returns the `Features` of a game without a board, or None to read the observation as a vector.
        private_fields: fields of the state with one int8 per seat that only the seat itself sees: fixed from the deal
            on, -1 once revealed. Search infers them from the actions of other seats.
        folder: folder with the game's defaults of `garden train` (`training.toml`) and pretrained networks
            (`networks/2.safetensors` for two players).
        vocabulary: returns the words of the game's theme, in lower case, which a `garden_agents.text.Disguise` replaces;
            regular endings are added, irregular forms follow a slash: "cactus/cacti".
        private_data: returns the content of new data files for a seed, by option: other cards, about as balanced as the
            packaged ones; None for a game without data files.

    Example:
        >>> from garden_agents.games import hints_of
        >>> from mars_env import Mars
        >>> hints = hints_of(Mars)
        >>> hints.board(Mars()).neighbours.shape, hints.features(Mars()), hints.folder.name
        ((91, 6), None, 'mars')
    """

    board: Callable[[Game], Board | None] = lambda game: None
    features: Callable[[Game], Features | None] = lambda game: None
    private_fields: tuple[str, ...] = ()
    folder: Path | None = None
    vocabulary: Callable[[Game], tuple[str, ...]] = lambda game: ()
    private_data: Callable[[int], dict[str, DataFile]] | None = None


_registered: dict[type[Game], Hints] = {}


def register(game: type[Game], hints: Hints) -> None:
    """Register the hints for a game class and its subclasses, replacing earlier ones.

    Raises:
        ValueError: for private fields that are not fields of the state with one int8 per seat.

    Example:
        >>> from garden_agents.games import Hints, hints_of, register
        >>> from mars_env import Mars
        >>> class SmallMars(Mars):
        ...     pass
        >>> register(SmallMars, Hints())
        >>> hints_of(SmallMars).folder is None
        True
    """
    for name in hints.private_fields:
        field = game.state_dtype[name] if name in (game.state_dtype.names or ()) else np.dtype("V")
        if field.shape != (game.max_players,) or field.base != np.int8:
            raise ValueError(
                f"private_fields names {name!r}, but {game.__name__} has no state field {name!r} with an int8 for "
                f"each of {game.max_players} seats"
            )
    _registered[game] = hints


def hints_of(game: Game | type[Game]) -> Hints:
    """Return the registered hints for a game, or empty ones; imports the installed module that registers them.

    A variant of a game has the game's hints; their folder's pretrained networks are not for it.

    Example:
        >>> import garden_core
        >>> from garden_agents.games import hints_of
        >>> hints_of(garden_core.make("cacti")).private_fields
        ('bonus', 'basic_in_hand')
    """
    found = _registering(game)
    return Hints() if found is None else _registered[found]


def networks_folder(game: Game) -> Path | None:
    """Return the folder of a game's pretrained networks, or None; a variant, with other rules than they learned, has none.

    Example:
        >>> import garden_core
        >>> from garden_agents.games import networks_folder
        >>> sorted(path.name for path in networks_folder(garden_core.make("cacti")).iterdir())
        ['2.safetensors']
    """
    found = _registering(game)
    folder = None if found is None or found.name != game.name else _registered[found].folder
    return None if folder is None else folder / "networks"


def _registering(game: Game | type[Game]) -> type[Game] | None:
    """Return the class whose registered hints are those of a game."""
    kind = game if isinstance(game, type) else type(game)
    for base in kind.__mro__:
        own = vars(base)
        if "name" in own:
            _load(own["name"])
        if base in _registered:
            return base
        if "state_dtype" in own and own["variant_of"] is None:
            break  # a game of its own, although it may share code with another one
    return None


@functools.cache
def _load(name: str) -> None:
    for point in entry_points(group="garden_agents.games", name=name):
        point.load()
