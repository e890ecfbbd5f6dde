"""The errors that are this library's own: all are `GardenError`, and ValueError too."""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core.checks import short


class GardenError(ValueError):
    """Base class of the errors that are this library's own."""


class PositionError(GardenError):
    """A position that cannot be; the message says why."""


class ReplayError(GardenError):
    """A replay that cannot be read, or does not play; the message says why."""


class DatasetError(GardenError):
    """A dataset that cannot be read, or does not play; the message says why."""


class IllegalActionError(GardenError):
    """An action that is not legal in a position; nothing has changed.

    Attributes:
        game: the `Game`.
        seat: the seat to move.
        action: the action.
        label: the action's label, None for an action that the game does not have.
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
        """Pickle what it was made of."""
        return type(self), self._arguments
