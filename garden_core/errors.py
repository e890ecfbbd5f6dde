"""The library's exceptions. All derive from `GardenError`, a ValueError."""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core.checks import short


class GardenError(ValueError):
    """Base class of the library's exceptions."""


class PositionError(GardenError):
    """An impossible position; the message gives the reason."""


class ReplayError(GardenError):
    """A replay that cannot be read or replayed; the message gives the reason."""


class DatasetError(GardenError):
    """A dataset that cannot be read or replayed; the message gives the reason."""


class IllegalActionError(GardenError):
    """An illegal action; nothing has changed.

    Attributes:
        game: the `Game`.
        seat: the player to move.
        action: the action.
        label: the action's label, None for an unknown action.
        legal: labels of the legal actions.
    """

    def __init__(self, where: str, game: Any, seat: int, action: int, mask: np.ndarray) -> None:
        self.game, self.seat, self.action = game, seat, action
        self.label = game.labels[action] if 0 <= action < game.num_actions else None
        self.legal = [game.labels[legal] for legal in np.flatnonzero(mask)]
        self._arguments = where, game, seat, action, mask
        some = ", ".join(map(repr, self.legal[:6])) + (", …" if len(self.legal) > 6 else "")
        wrong = (
            f"action {short(action)} does not exist (0 to {game.num_actions - 1})"
            if self.label is None
            else f"action {action} ({self.label!r}) is illegal"
        )
        super().__init__(f"{where}{wrong}; legal are {some}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the constructor's arguments."""
        return type(self), self._arguments
