"""Progress of long commands: a bar on a terminal, otherwise occasional lines."""

from __future__ import annotations

import math
import sys
from time import monotonic
from typing import Any

from tqdm import tqdm

EVERY = 10.0
"""Seconds between two lines without a terminal."""


def progress_bar(**settings: Any) -> tqdm:
    """Return a `tqdm` with these settings that writes to standard error.

    Without a terminal it writes the first and the last state, and at most one line per `EVERY` seconds in between.
    """
    return tqdm(**settings) if sys.stderr.isatty() else tqdm(**settings, file=_Lines(), ncols=0)


class _Lines:
    """A text stream for `tqdm`, which rewrites its line repeatedly and writes a line feed at the end."""

    def __init__(self) -> None:
        self._latest = self._written = ""
        self._due = -math.inf

    def write(self, text: str) -> None:
        """Store the latest line, and write it if it has changed and is due."""
        line = text.strip().replace(": : ", ": ").removeprefix(": ")  # of a bar without a total or a name
        self._latest = line or self._latest
        if self._latest != self._written and (text == "\n" or monotonic() >= self._due):
            self._written, self._due = self._latest, monotonic() + EVERY
            print(self._latest, file=sys.stderr, flush=True)

    def flush(self) -> None:
        """Do nothing, as `write` flushes."""
