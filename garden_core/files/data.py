"""Printed data of a game: TOML files, checked on loading."""

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
"""Maximum size of a data file in bytes."""
_PARTS = 16  # maximum number of parts of a dotted key: parsing takes time proportional to their square
_LONG_KEY = re.compile(
    r"""(?:\.[ \t]*+(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')[ \t]*+)""" + f"{{{_PARTS}}}"
)

T = TypeVar("T")


@dataclass(frozen=True)
class DataFile:
    """The content of a data file, and its name for messages."""

    name: str
    content: str


def read(path: str | Path) -> DataFile:
    """Read the file at `path`.

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
    """Return the content of an untrusted TOML text, in bounded time.

    Args:
        content: the text.
        limit: maximum size in bytes.

    Raises:
        ValueError: if it is larger, is not TOML, or has a key of many parts; the message is short.
    """
    try:
        size = len(content.encode())  # raises for a lone surrogate, which JSON allows
        if size > limit:
            raise ValueError(f"it has {size:,} bytes; {limit:,} are allowed")
        if _LONG_KEY.search(content):
            raise ValueError(f"a key has more than {_PARTS} parts")
        return tomllib.loads(content)
    except (ValueError, RecursionError) as error:  # also an integer of thousands of digits
        raise ValueError(one_line(error)) from None


def load(source: str | Path | DataFile, form: type[T]) -> T:
    """Return the content of a TOML file as a `form`, a frozen msgspec Struct that defines the allowed values.

    Files with the same content give the same object.

    Args:
        source: the file's path, or the result of `read`.
        form: the type.

    Raises:
        ValueError: if the file cannot be read, is not TOML (the message names line and column) or does not fit the form
            (the message names the key).
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
