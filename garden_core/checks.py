"""Checks of arguments, the same for every interface: whole numbers, seeds, seats, rows, and the first reset."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

SEEDS = 2**64
"""Number of seeds, which are 0 to SEEDS - 1."""
_SHOWN = 80  # characters of a wrong value in a message


def short(value: object) -> str:
    """Return `repr(value)` for a message, shortened in the middle if it is long."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, a list within itself
        text = f"a {type(value).__name__} too long to show"
    half = _SHOWN // 2
    return text if len(text) <= _SHOWN else f"{text[:half]} … {text[-half:]}"


def one_line(text: object, limit: int = 400) -> str:
    """Return an untrusted text for a message: on one line, without control characters, cut after `limit`."""
    whole = str(text)
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in whole[:limit])
    return shown if len(whole) <= limit and len(shown) <= limit else f"{shown[:limit]} …"


def as_integer(
    value: Any, name: str, allowed: str = "", low: float = -math.inf, high: float = math.inf
) -> int:
    """Return a whole number as int; bools, floats and strings are refused.

    Args:
        name: name of the value in the message.
        allowed: the range in the message.
        low, high: the smallest and the largest number allowed.

    Raises:
        ValueError: if it is not a whole number, or out of range.
    """
    try:
        number = None if isinstance(value, bool | np.bool_) else operator.index(value)
    except TypeError:
        number = None
    if number is None:
        what = f"{allowed}, a whole number" if allowed else "a whole number"
        raise ValueError(f"{name} must be {what}, not {short(value)}")
    if not low <= number <= high:
        raise ValueError(f"{name} must be {allowed}, not {short(value)}")
    return number


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, no bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def check_choice(value: Any, name: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless `value` is one of `choices`; the message contains `name`."""
    if not (isinstance(value, str) and value in choices):
        raise ValueError(f"{name} must be one of {', '.join(map(repr, choices))}, not {short(value)}")


def as_seed(seed: Any) -> np.uint64:
    """Return `seed` as uint64.

    Raises:
        ValueError: if it is not a whole number from 0 to 2**64 - 1.
    """
    return np.uint64(as_integer(seed, "seed", "0 to 2**64 - 1", 0, SEEDS - 1))


def as_seeds(seeds: Any, count: int) -> np.ndarray:
    """Return a sequence of seeds, one for each of `count` rows, as uint64 (count,).

    Raises:
        ValueError: unless it is a sequence of `count` seeds.
    """
    if not isinstance(seeds, Sequence | np.ndarray) or isinstance(seeds, str | bytes) or np.ndim(seeds) == 0:
        raise ValueError(
            f"seed must be 0 to 2**64 - 1, a whole number or one for each row, not {short(seeds)}"
        )
    if len(seeds) != count:
        raise ValueError(f"seed has {len(seeds)} entries for {count} rows")
    return np.array([as_seed(seed) for seed in seeds], np.uint64)


def as_seat(seat: Any, num_players: int, name: str = "seat") -> int:
    """Return `seat` as int.

    Raises:
        ValueError: if it is not a whole number from 0 to num_players - 1.
    """
    return as_integer(seat, name, f"0 to {num_players - 1}", 0, num_players - 1)


def as_rows(rows: Any, num_envs: int, verb: str) -> np.ndarray:
    """Return indexes of rows, or a mask of bools (num_envs,), as indexes int64 (n,).

    Args:
        verb: what the caller does to the rows, for the message, such as "stepped".

    Raises:
        ValueError: for anything but whole numbers without repeats in one dimension, or a mask of another shape.
        IndexError: for a row that does not exist.
    """
    given = np.asarray(rows)
    if given.dtype == np.bool_:
        if given.shape != (num_envs,):
            raise ValueError(f"a mask of rows must have shape ({num_envs},), not {given.shape}")
        return np.flatnonzero(given)
    given = np.atleast_1d(given)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iu"):
        raise ValueError(
            f"rows must be whole numbers in one dimension, or a mask of bools, not {short(rows)}"
        )
    if given.size and not (given.min() >= 0 and given.max() < num_envs):
        raise IndexError(f"rows must be 0 to {num_envs - 1}, not {short(given.tolist())}")
    indexes = given.astype(np.int64)
    if np.bincount(indexes).max(initial=0) > 1:
        raise ValueError(f"a row can be {verb} only once: {short(given.tolist())}")
    return indexes


def check_illegal(illegal: Any) -> None:
    """Raise ValueError unless `illegal`, the effect of an illegal action, is "raise" or "terminate"."""
    check_choice(illegal, "illegal", ("raise", "terminate"))


def require_reset(dealt: bool, call: str) -> None:
    """Raise RuntimeError before the first deal; `call` names the caller's method."""
    if not dealt:
        raise RuntimeError(f"call reset() before {call}()")
