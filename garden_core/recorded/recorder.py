"""Recording the games of an environment as replays in a folder."""

from __future__ import annotations

import os
import re
import warnings
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from garden_core.checks import short
from garden_core.errors import ReplayError
from garden_core.game import Game
from garden_core.recorded.replay import Replay

Folder = str | os.PathLike[str]
"""The path of a folder."""
_NAME = re.compile(r"game-(\d+)\.json")


class Recorder:
    """Writes games as `game-000001.json` etc., numbered after the highest in the folder; overwrites no file.

    Args:
        game: the game, or the variants of a batch.
        folder: created if missing.

    Raises:
        TypeError: for anything but a path.
        ValueError: for the path of a file.
        OSError: for a folder that cannot be created or read.
    """

    def __init__(self, game: Game | Sequence[Game], folder: Folder) -> None:
        if not isinstance(folder, str | os.PathLike):
            raise TypeError(f"record must be the path of a folder, or None, not {short(folder)}")
        self.games = [game] if isinstance(game, Game) else game
        self.folder = Path(folder).absolute()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise ValueError(f"record must be a folder, and a file is in the way: {short(folder)}") from None
        names = map(_NAME.fullmatch, os.listdir(self.folder))
        self._number = max((int(name[1]) for name in names if name), default=0)
        self._warned = False

    def save(self, seed: int, actions: Sequence[int], state: Any) -> None:
        """Write a game if it has at least one decision.

        A game whose actions do not lead to `state` is not written; the first one causes a warning.

        Args:
            seed: uint64 of the deal.
            actions: all actions.
            state: the state record that they lead to.

        Raises:
            OSError: if the file cannot be written.
        """
        if not actions:
            return
        game, alone = self.games[int(state["variant"])], state.copy()
        alone["variant"] = 0  # as in a batch of this game alone
        try:
            replay = Replay.of(game, seed, [game.labels[action] for action in actions])
            leads_here = deque(replay.states(), maxlen=1)[0].tobytes() == alone.tobytes()
        except ReplayError:
            leads_here = False
        if not leads_here:
            if not self._warned:
                self._warned = True
                warnings.warn(
                    f"a game of {game.name} is not recorded: it was not played here from its deal on, "
                    "but a position was put in (set_states)",
                    stacklevel=1,
                )
            return
        path = self._new_file()
        try:
            replay.save(path)
        except BaseException:
            path.unlink()
            raise

    def _new_file(self) -> Path:
        """Create an empty file with the next free number, which reserves it against other recorders."""
        while True:
            self._number += 1
            path = self.folder / f"game-{self._number:06d}.json"
            try:
                path.touch(exist_ok=False)
            except FileExistsError:
                continue
            return path
