"""Options of a game: allowed values, and their check."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from garden_core.checks import short
from garden_core.files.data import DataFile
from garden_core.jit.rewards import REWARDS


@dataclass(frozen=True)
class Option:
    """One option of a game: its name, default, help text and allowed values.

    `choices` lists the allowed values; `low` and `high` bound an integer (None: no bound). With a bool as default, the
    option is True or False. With a string as default and no choices, it is a data file: a path (None or "": none), or a
    `garden_core.files.data.DataFile`.

    Example:
        >>> from garden_core import Option
        >>> option = Option("rounds", 10, "number of rounds", low=1, high=20)
        >>> option.check(12)
        12
        >>> try:
        ...     option.check(21)
        ... except ValueError as error:
        ...     print(error)
        rounds must be a whole number from 1 to 20, not 21
    """

    name: str
    default: Any
    help: str
    low: int | None = None
    high: int | None = None
    choices: tuple[Any, ...] = ()
    note: str = ""
    """Restrictions that depend on other options, in words."""

    @property
    def is_file(self) -> bool:
        """Whether the value is a data file."""
        return isinstance(self.default, str) and not self.choices

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        if isinstance(self.default, bool):
            return "True or False"
        if self.choices:
            return " or ".join(repr(choice) for choice in self.choices)
        if self.is_file:
            return "the path of a file"
        if self.low is not None and self.low == self.high:
            return f"{self.low}"
        numbers = f"from {self.low} on" if self.high is None else f"from {self.low} to {self.high}"
        return f"a whole number {numbers}" + (f" ({self.note})" if self.note else "")

    def check(self, value: Any) -> Any:
        """Return `value` as a plain Python value; for a data file its path or name.

        Raises:
            ValueError: if it is not allowed; it names the option and the allowed values.
        """
        if isinstance(value, np.generic):
            value = value.item()
        if self.is_file:
            if isinstance(value, DataFile):
                value = value.name
            elif value is None:
                value = ""
            elif isinstance(value, str | os.PathLike) and str(value):
                value = os.path.abspath(os.path.expanduser(value))
        fits = type(value) is type(self.default) and (not self.choices or value in self.choices)
        fits = fits and (self.low is None or value >= self.low)
        fits = fits and (self.high is None or value <= self.high)
        if not fits:
            raise ValueError(f"{self.name} must be {self.allowed}, not {short(value)}")
        return value


REWARD = Option("reward", "outcome", "reward the final rank, or each change of the margin", choices=REWARDS)
"""The option that every game has."""
