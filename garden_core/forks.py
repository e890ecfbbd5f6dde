"""Noticing that a process was forked, so that games without a seed are not the same in all children."""

from __future__ import annotations

import os
from typing import Any


class Process:
    """The process in which an object was made or seeded. Copies and pickles of the object belong to the process that has them.

    Only a fork leaves an object in another process without a copy or pickle. If an object is copied or pickled in a forked
    process before it noticed the fork, its copy notices it.

    Example:
        >>> from garden_core.forks import Process
        >>> Process().was_forked()
        False
    """

    def __init__(self, number: int | None = None) -> None:
        self._number = os.getpid() if number is None else number

    def was_forked(self) -> bool:
        """Return whether this is another process, forked from that one."""
        return self._number != os.getpid()

    def __repr__(self) -> str:
        return "Process()"  # the same for a copy in another process

    def __reduce__(self) -> tuple[Any, ...]:
        return Process, (self._number,) if self.was_forked() else ()
