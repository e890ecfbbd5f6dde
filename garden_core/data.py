"""Printed data of a game: TOML files that are checked while they are loaded."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

__all__ = ["load"]

T = TypeVar("T")


def load(path: str | Path, form: type[T]) -> T:
    """Return what the TOML file at `path` holds as a `form`, a msgspec Struct that says what is allowed.

    Raises:
        ValueError: if the file cannot be read, is not TOML (the message names line and column) or does not
            fit the form (the message names the key).
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from None
    try:
        return msgspec.convert(content, form)
    except msgspec.ValidationError as error:
        raise ValueError(f"{path}: {error}") from None
