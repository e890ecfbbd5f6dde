"""Printed data of a game: TOML files that are checked while they are loaded."""

from __future__ import annotations

import functools
import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

import msgspec

from garden_core.checks import one_line
from garden_core.files.disk import read_regular

LIMIT = 1_000_000
"""Bytes that a data file may have."""
_PARTS = 16  # of a dotted key: reading takes time in proportion to their square
_LONG_KEY = re.compile(
    r"""(?:\.[ \t]*+(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+)""" + f"{{{_PARTS}}}"
)

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
        raise ValueError(f"{one_line(repr(path))} cannot be read: {error}") from None


def parsed(content: str, limit: int = LIMIT) -> dict[str, Any]:
    """Return the content of a TOML text of unknown origin: reading ends soon, with a short message if it fails.

    Args:
        limit: bytes that it may have.

    Raises:
        ValueError: if it is longer, is not TOML, or has a key of many parts.
    """
    try:
        size = len(content.encode())  # a text out of JSON may hold half a character, which no file can
        if size > limit:
            raise ValueError(f"it has {size:,} bytes; {limit:,} are allowed")
        if _LONG_KEY.search(content):
            raise ValueError(f"a key has more than {_PARTS} parts")
        return tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        raise ValueError(one_line(error)) from None


def load(source: str | Path | DataFile, form: type[T]) -> T:
    """Return what a TOML file holds as a `form`, a frozen msgspec Struct that says what is allowed.

    Files with the same content give the same object.

    Args:
        source: the file's path, or the file as `read` returned it.

    Raises:
        ValueError: if the file cannot be read, is not TOML (the message names line and column) or does not
            fit the form (the message names the key).
    """
    file = source if isinstance(source, DataFile) else read(source)
    try:
        return _converted(file.content, cast(Any, form))
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(f"{file.name}: {one_line(error)}") from None
    except ValueError as error:
        raise ValueError(f"{file.name} is not a TOML file: {error}") from None


@functools.lru_cache(maxsize=16)
def _converted(content: str, form: Any) -> Any:
    return msgspec.convert(parsed(content), form)
