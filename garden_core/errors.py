"""The library's exceptions. All derive from `GardenError`, a ValueError."""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core.checks import short


class GardenError(ValueError):
    """Base class of the library's exceptions.

    Example:
        >>> from garden_core import GardenError, Replay
        >>> try:
        ...     Replay.load("missing.json")
        ... except GardenError as error:
        ...     print(type(error).__name__)
        ReplayError
    """


class UntrustedError(GardenError):
    """A stranger named code, a file of this machine, or an agent that might never end.

    Example:
        >>> from garden_core import UntrustedError
        >>> from garden_core.registry import untrusted_game
        >>> try:
        ...     untrusted_game("os:system", {})
        ... except UntrustedError as error:
        ...     print(error)
        'os:system' is code, which only the caller may name
    """


class PositionError(GardenError):
    """An impossible position; the message gives the reason.

    Example:
        >>> from garden_core import Batch, PositionError
        >>> batch = Batch("cacti", num_envs=1)
        >>> batch.reset(seed=0)
        >>> snapshot = batch.game.snapshot(batch.states[0])
        >>> try:
        ...     batch.game.from_snapshot(snapshot | {"decisions": -1})
        ... except PositionError as error:
        ...     print(error)
        this is no snapshot: Expected `int` >= 0 - at `$.decisions`
    """


class ReplayError(GardenError):
    """A replay that cannot be read or replayed; the message gives the reason.

    Example:
        >>> from pathlib import Path
        >>> from garden_core import Replay, ReplayError
        >>> _ = Path("other.json").write_text("{}", "utf-8")
        >>> try:
        ...     Replay.load("other.json")
        ... except ReplayError as error:
        ...     print(error)
        other.json is not a replay of format 'garden-replay-1' (found None)
    """


class DatasetError(GardenError):
    """A dataset that cannot be read or replayed; the message gives the reason.

    Example:
        >>> from pathlib import Path
        >>> from garden_core import Dataset, DatasetError
        >>> _ = Path("other.npz").write_text("no dataset", "utf-8")
        >>> try:
        ...     Dataset.load("other.npz")
        ... except DatasetError as error:
        ...     print(error)
        other.npz is not a dataset: Error while deserializing: header too large
    """


class IllegalActionError(GardenError):
    """An illegal action; nothing has changed.

    Attributes:
        game: the `Game`.
        seat: the player to move.
        action: the action.
        label: the action's label, None for an unknown action.
        legal: labels of the legal actions.

    Example:
        >>> from garden_core import Batch, IllegalActionError
        >>> batch = Batch("cacti", num_envs=1)
        >>> batch.reset(seed=0)
        >>> try:
        ...     batch.step([batch.action_mask[0].argmin()])
        ... except IllegalActionError as error:
        ...     print(error.seat, error.label, len(error.legal))
        0 grow prickly pear 6
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
