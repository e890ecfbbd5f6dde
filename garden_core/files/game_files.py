"""Games in files: the game, its options and the content of its own data files, and how to make it again.

A file's word imports no code and opens no other file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from garden_core.checks import one_line, short
from garden_core.files.data import DataFile
from garden_core.game import Game
from garden_core.registry import GameClass, game_class

T = TypeVar("T")


class GameContent(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The game in a file: its name, version, options and data."""

    game: str
    version: int  # of the game
    options: dict[str, bool | int | str]
    data: str  # digest
    data_files: dict[str, str] = {}  # content of own data files by option


def content_of(game: Game) -> dict[str, Any]:
    """Return what a file holds of a game, the keys of `GameContent`, as plain JSON values."""
    content = {
        "game": game.name,
        "version": game.version,
        "options": game.shown_options,
        "data": game.data_digest,
    }
    if game.data:
        content["data_files"] = {name: file.content for name, file in game.data.items()}
    return content


def checked(
    path: str | Path,
    content: Any,
    form: type[T],
    file_format: str,
    digest: Callable[[dict[str, Any]], str],
    kind: tuple[str, type[ValueError]],
) -> T:
    """Return the JSON value of a file as a `form`, its format and checksum verified.

    Args:
        path: what messages call the file.
        content: the value.
        form: a msgspec Struct of which it must be.
        file_format: its entry `format`.
        digest: returns the checksum of all but the entry `checksum`, or raises ValueError.
        kind: the kind of file, and what is raised for it.

    Raises:
        ValueError: as `kind` says, for another format, another checksum, or a value that does not fit `form`.
    """
    what, error_type = kind
    found = content.get("format") if isinstance(content, dict) else None
    if found != file_format:
        raise error_type(f"{path} is not a {what} of format {file_format!r} (found {short(found)})")
    try:
        kept = {key: value for key, value in content.items() if key != "checksum"}
        whole = content.get("checksum") == digest(kept)
        result = msgspec.convert(content, form) if whole else None
    except (RecursionError, ValueError) as error:  # also a text with half a character
        raise error_type(f"{path} cannot be played here: {one_line(error)}") from None
    if result is None:
        raise error_type(f"{path} was changed or damaged: its checksum does not fit")
    return result


def game_of(
    path: str | Path,
    content: GameContent,
    game: GameClass | None,
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
            f"{path} was played with version {short(content.version)} of {found.name}, and this is version {found.version}"
        )
    if found.data_digest != content.data:
        raise error_type(
            f"{path} was played with other data or options of {found.name} ({short(content.data)}) than here"
        )
    return found


def _named(content: GameContent, game: GameClass | None, data: str | Path | None, what: str) -> Game:
    if game is None and ":" in content.game:
        raise ValueError(f"it names code, {short(content.game)}; pass game= to import that")
    maker = game_class(content.game if game is None else game)
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
