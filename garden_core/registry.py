"""Games by name: games of installed packages, and Game classes named by module:Class."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import MappingProxyType
from typing import Any

from garden_core.checks import short
from garden_core.errors import UntrustedError
from garden_core.files.data import DataFile
from garden_core.game import Game
from garden_core.plugins import GAMES, INSTALL, imported

GameClass = type[Game] | str
"""A Game class, or the name by which `game_class` finds one."""
AnyGame = Game | GameClass
"""A game, or a class or name for the game with its default options."""

_announced: dict[str, EntryPoint] = {}  # cached, as a search takes ten milliseconds


def list_games() -> list[str]:
    """Return the names of all installed games, including third-party ones, without loading them.

    Example:
        >>> import garden_core
        >>> "cacti" in garden_core.list_games()
        True
    """
    _announced.clear()
    _announced.update({point.name: point for point in entry_points(group=GAMES)})
    return sorted(_announced)


def make(name: str, **options: Any) -> Game:
    """Return the game called `name` with these options; loads only that game.

    Packages announce games by the entry-point group `garden_core.games`. A class that is not installed is named by
    "module:Class", which imports the module. For names that strangers chose there is `untrusted_game`.

    Raises:
        ValueError: if no installed game has that name, it is not a Game class, or an option's value is out of range.
        TypeError: for an unknown option.

    Example:
        >>> import garden_core
        >>> garden_core.make("mars", num_players=3).num_actions
        103
    """
    return game_class(name)(**options)


def game_class(game: GameClass) -> type[Game]:
    """Return the class of a game by its name or "module:Class", as `make` finds it.

    Raises:
        TypeError: for anything but a name or a Game class.
        ValueError: if no installed game has that name, or it is not a Game class.
    """
    if isinstance(game, type) and issubclass(game, Game):
        return game
    if not isinstance(game, str):
        raise TypeError(f"a game is a Game, a Game class or a name, not {short(game)}")
    if ":" in game:
        named = imported(game, "game")
        if not (isinstance(named, type) and issubclass(named, Game)):
            raise ValueError(f"{short(game)} is not a Game class")
        return named
    if game not in _announced and game not in (installed := list_games()):
        raise ValueError(
            f"unknown game {short(game)}; installed are: {', '.join(installed) or f'none. Games come {INSTALL}'}; "
            "a class of your own is named module:Class"
        )
    return _announced[game].load()


def as_game(game: AnyGame, options: dict[str, Any]) -> Game:
    """Return a game: `game` itself, or a class or name with `options`.

    Raises:
        TypeError: for anything but a game, a Game class or a name, or options for a game.
        ValueError: as `make`.
    """
    if not isinstance(game, Game):
        return game_class(game)(**options)
    if options:
        raise TypeError(f"the game's options are chosen already; not taken: {', '.join(sorted(options))}")
    return game


def untrusted_game(
    name: str,
    options: Mapping[str, Any],
    files: Mapping[str, DataFile | str | Path] = MappingProxyType({}),
    own: GameClass | None = None,
) -> Game:
    """Return a game that a stranger named, in a request, on a page or in a file: that imports no code and opens no file.

    Args:
        name: the game's name, as the stranger wrote it.
        options: its options, as the stranger wrote them.
        files: data files by option, from the caller; they replace the names in `options`.
        own: the class or "module:Class" of a game that is not installed, from the caller; `name` must agree with it.

    Raises:
        UntrustedError: for code, or a data file that is not among `files`.
        ValueError: for a game that is not installed, or another one than `own`; for an option's value out of range.
        TypeError: for an unknown option, or names that are no text.

    Example:
        >>> from garden_core.registry import untrusted_game
        >>> untrusted_game("mars", {"num_players": 3})
        Mars(num_players=3)
    """
    if not isinstance(name, str):
        raise TypeError(f"a game's name is a text, not {short(name)}")
    if not isinstance(options, Mapping):
        raise TypeError(f"options are values by name, not {short(options)}")
    if own is None and ":" in name:
        raise UntrustedError(f"{short(name)} is code, which only the caller may name")
    kind = game_class(name if own is None else own)
    if name not in (kind.name, own):
        raise ValueError(f"it is a game of {short(name)}, not of {kind.name}")
    named = [option.name for option in kind.options if option.is_file and options.get(option.name)]
    if missing := sorted(set(named) - files.keys()):
        raise UntrustedError(
            f"{missing[0]}={short(options[missing[0]])} is a file, which only the caller may name"
        )
    return kind(**{**options, **{option: files[option] for option in named}})
