"""Games in files: saving a game with its options and data files, and making it again.

A file's own text never imports code and never opens another file.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from garden_core.checks import one_line, short
from garden_core.errors import UntrustedError
from garden_core.files.data import DataFile
from garden_core.game import Game
from garden_core.registry import GameClass, untrusted_game

T = TypeVar("T")


class GameContent(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The game in a file: its name, version, options and data."""

    game: str
    version: int  # of the game
    options: dict[str, bool | int | str]
    data: str  # digest
    data_files: dict[str, str] = {}  # content of custom data files by option


def content_of(game: Game) -> dict[str, Any]:
    """Return a game for a file: the keys of `GameContent`, with plain JSON values."""
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
    """Return the JSON value of a file as a `form`, after checking its format and checksum.

    Args:
        path: name of the file for messages.
        content: the value.
        form: its type, a msgspec Struct.
        file_format: its entry `format`.
        digest: returns the checksum of all entries except `checksum`, or raises ValueError.
        kind: the kind of file, and the type of its errors.

    Raises:
        ValueError: of the type in `kind`, for another format, another checksum, or a value that does not fit `form`.
    """
    what, error_type = kind
    actual = content.get("format") if isinstance(content, dict) else None
    if actual != file_format:
        raise error_type(f"{path} is not a {what} of format {file_format!r} (found {short(actual)})")
    try:
        signed = {key: value for key, value in content.items() if key != "checksum"}
        if content.get("checksum") == digest(signed):
            return msgspec.convert(content, form)
    except (RecursionError, ValueError) as error:  # also a lone surrogate
        raise error_type(f"{path} cannot be played here: {one_line(error)}") from None
    raise error_type(f"{path} was changed or damaged: its checksum does not fit")


def game_of(
    path: str | Path,
    content: GameContent,
    game: GameClass | None,
    data: str | Path | None,
    kind: tuple[str, type[ValueError]],
) -> Game:
    """Return the game that a file names, with the file's options and data.

    Args:
        path: name of the file for messages.
        content: the content of the file.
        game: the class, or "module:Class", of a game that is not installed.
        data: path of a data file that replaces the one in the file.
        kind: the kind of file, and the type of its errors.

    Raises:
        ValueError: of the type in `kind`, if the file names code, an unknown game or option or an invalid value, or was
            played with another version of the game or other data.
    """
    what, error_type = kind
    files: dict[str, DataFile | str | Path]
    if data is None:
        files = {
            name: DataFile(f"{one_line(content.options.get(name, name), 100)} of the {what}", text)
            for name, text in content.data_files.items()
        }
    else:
        files = {name: data for name in content.options}  # used only for those that are files
    try:
        made = untrusted_game(content.game, content.options, files, game)
    except (TypeError, ValueError) as error:
        more = ", as game= or data=" if isinstance(error, UntrustedError) else ""
        raise error_type(f"{path} cannot be played here: {one_line(error)}{more}") from None
    if made.version != content.version:
        raise error_type(
            f"{path} was played with version {short(content.version)} of {made.name}, and this is version {made.version}"
        )
    if made.data_digest != content.data:
        raise error_type(
            f"{path} was played with other data or options of {made.name} ({short(content.data)}) than here"
        )
    return made
