"""Options of a game: what is allowed, and the check of a value."""

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
    """One option of a game: its name, default and what is allowed.

    Give `choices` for one of a few values, or `low` and `high` (None: no bound) for a whole number; an option
    whose default is a bool takes True and False, one whose default is a string and that has no choices a data file:
    its path (None or "": none), or a `garden_core.files.data.DataFile` that has been read.
    """

    name: str
    default: Any
    help: str
    low: int | None = None
    high: int | None = None
    choices: tuple[Any, ...] = ()
    note: str = ""
    """Other restrictions of the value, by other options, in words."""

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
        """Return `value` as a plain Python value; of a data file its path or name.

        Raises:
            ValueError: if it is not allowed; the message names the option and what is.
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
        if type(self.default) is not int or self.choices:
            fits = type(value) is type(self.default) and (not self.choices or value in self.choices)
        else:
            fits = isinstance(value, int) and not isinstance(value, bool)
            fits = fits and (self.low is None or value >= self.low)
            fits = fits and (self.high is None or value <= self.high)
        if not fits:
            raise ValueError(f"{self.name} must be {self.allowed}, not {short(value)}")
        return value


REWARD = Option(
    "reward", "outcome", "what is paid: the final rank, or the change of the margin", choices=REWARDS
)
"""The option that every game has."""
