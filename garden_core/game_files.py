"""Games in files: the game, its options and the content of its own data files, and how to make it again.

A file's word imports no code and opens no other file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from garden_core import registry
from garden_core.checks import one_line, short
from garden_core.data import DataFile
from garden_core.game import Game

__all__ = ["GameContent", "content_of", "game_of"]


class GameContent(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """What a file holds of a game."""

    game: str
    version: int  # of the game
    options: dict[str, bool | int | str]
    data: str  # digest
    data_files: dict[str, str] = {}  # content of own data files by option


def content_of(game: Game) -> dict[str, Any]:
    """Return what a file holds of a game, the keys of `GameContent`, as plain JSON values."""
    files = game.data
    content: dict[str, Any] = {
        "game": game.name,
        "version": game.version,
        "options": game.shown_options,
        "data": game.data_digest,
    }
    if files:
        content["data_files"] = {name: file.content for name, file in files.items()}
    return content


def game_of(
    path: str | Path,
    content: GameContent,
    game: type[Game] | str | None,
    data: str | Path | None,
    kind: tuple[str, type[ValueError]],
) -> Game:
    """Return the game that a file names, with the options and data that it carries.

    Args:
        path: what messages call the file.
        content: what the file holds.
        game: of a game that is not installed its class or "module:Class".
        data: path of the data file, in place of the one that the file carries.
        kind: the kind of file, and what is raised for it.

    Raises:
        ValueError: as `kind` says, if it names code, or a game, an option or a value that there is not, or was played with
            another version of the game or other data.
    """
    what, error_type = kind
    try:
        found = _named(content, game, data, what)
    except (TypeError, ValueError) as error:
        raise error_type(f"{path} cannot be played here: {one_line(error)}") from None
    if found.version != content.version:
        raise error_type(
            f"{path} was played with version {content.version} of {found.name}, and this is version {found.version}"
        )
    if found.data_digest != content.data:
        raise error_type(
            f"{path} was played with other data or options of {found.name} ({short(content.data)}) than here"
        )
    return found


def _named(content: GameContent, game: type[Game] | str | None, data: str | Path | None, what: str) -> Game:
    if game is None and ":" in content.game:
        raise ValueError(f"it names code, {short(content.game)}; pass game= to import that")
    maker = registry.game_class(content.game if game is None else game)
    if maker.name != content.game:
        raise ValueError(f"it is a game of {short(content.game)}, not of {maker.name}")
    options: dict[str, Any] = dict(content.options)
    named = [option.name for option in maker.options if option.is_file and options.get(option.name)]
    for name in named:
        if data is not None:
            options[name] = data
        elif name in content.data_files:
            options[name] = DataFile(
                f"{one_line(options[name], 100)} of the {what}", content.data_files[name]
            )
        else:
            raise ValueError(
                f"it was played with {name}={short(options[name])}; pass data= with that file's path"
            )
    return maker(**options)
