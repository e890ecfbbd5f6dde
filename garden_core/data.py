"""Printed data of a game: TOML files that are checked while they are loaded."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import msgspec

from garden_core.files import read_regular

__all__ = ["LIMIT", "DataFile", "load", "read"]

LIMIT = 1_000_000
"""Bytes that a data file may have."""
_MESSAGE = 400  # characters of an error that are shown

T = TypeVar("T")


@dataclass(frozen=True)
class DataFile:
    """A data file that has been read: its name, for messages, and its content."""

    name: str
    content: str


def read(path: str | Path) -> DataFile:
    """Return what the file at `path` holds.

    Raises:
        ValueError: if it cannot be read, is no regular file, is larger than `LIMIT` bytes, or is not text.
    """
    try:
        return DataFile(os.fspath(path), read_regular(path, LIMIT).decode("utf-8"))
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not a TOML file: {error}") from None
    except ValueError as error:  # a path that no file can have
        raise ValueError(f"{_cut(repr(path))} cannot be read: {error}") from None


def load(source: str | Path | DataFile, form: type[T]) -> T:
    """Return what a TOML file holds as a `form`, a msgspec Struct that says what is allowed.

    Args:
        source: the file's path, or the file as `read` returned it.

    Raises:
        ValueError: if the file cannot be read, is not TOML (the message names line and column) or does not
            fit the form (the message names the key).
    """
    file = source if isinstance(source, DataFile) else read(source)
    try:
        content = tomllib.loads(file.content)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        raise ValueError(f"{file.name} is not a TOML file: {_cut(str(error))}") from None
    try:
        return msgspec.convert(content, form)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(f"{file.name}: {_cut(str(error))}") from None


def _cut(message: str) -> str:
    return message if len(message) <= _MESSAGE else f"{message[:_MESSAGE]} …"
