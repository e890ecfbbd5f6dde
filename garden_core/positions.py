"""Checks of snapshots that are read back into states, for every game's `fill_state`."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta

from garden_core.checks import one_line, short
from garden_core.errors import PositionError

Count = Annotated[int, Meta(ge=0, le=127)]
"""A number from 0 to 127, as int8 fields store it."""

T = TypeVar("T", bound=msgspec.Struct)


def parsed(snapshot: Any, form: type[T]) -> T:
    """Return a snapshot as an instance of `form`, a msgspec Struct of its keys.

    Raises:
        PositionError: if it does not fit; the message names the key.
    """
    try:
        return msgspec.convert(snapshot, form)
    except (ValueError, RecursionError) as error:  # UnicodeError for a lone surrogate
        raise PositionError(f"this is no snapshot: {one_line(error)}") from None


def require(condition: Any, message: str) -> None:
    """Raise PositionError with the message unless the condition holds."""
    if not condition:
        raise PositionError(message)


def require_lengths(snapshot: Any, names: str, length: int) -> None:
    """Raise PositionError unless each list in `names`, separated by spaces, has `length` entries."""
    for name in names.split():
        entries = getattr(snapshot, name)
        require(len(entries) == length, f"{name} must have {length} entries, not {short(entries)}")
