"""Progress of long commands: a bar on a terminal, else a plain line now and then."""

from __future__ import annotations

import math
import sys
from time import monotonic
from typing import Any

from tqdm import tqdm

EVERY = 10.0
"""Seconds between two lines where there is no terminal."""


def progress_bar(**settings: Any) -> tqdm:
    """Return a `tqdm` with these settings, which writes to standard error.

    Where that is no terminal, it writes the first and the last state, and in between a line every `EVERY` seconds at most.
    """
    return tqdm(**settings) if sys.stderr.isatty() else tqdm(**settings, file=_Lines(), ncols=0)


class _Lines:
    """A text stream for `tqdm`, which writes its line again and again, and a line feed at the end."""

    def __init__(self) -> None:
        self._latest = self._written = ""
        self._due = -math.inf

    def write(self, text: str) -> None:
        """Note the latest line, and write it if it is a new one and time for it."""
        self._latest = (
            text.strip().replace(": : ", ": ").removeprefix(": ") or self._latest
        )  # without a total, or a name
        if self._latest != self._written and (text == "\n" or monotonic() >= self._due):
            self._written, self._due = self._latest, monotonic() + EVERY
            print(self._latest, file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Do nothing, as lines are written at once."""
