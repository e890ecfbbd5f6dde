"""A recorded game in the terminal: verified by playing it again, shown move by move or at one position."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from garden_core.files import write_atomically
from garden_core.replay import Replay

__all__ = ["Arguments", "main"]


@dataclass
class Arguments:
    """Verify a recorded game and show its moves, or one position."""

    file: tyro.conf.Positional[Path]
    """replay file, as `garden play --save`, `garden train` and `garden_core.replay` write it"""
    game: str | None = None
    """module:Class of a game that is not installed; required for such a game, as a file alone never imports code"""
    data: Path | None = None
    """data file of the game, in place of the data in the replay; that in the replay by default"""
    position: int | None = None
    """number of decisions before the position to show, negative counted from the end; all moves are shown by default"""
    seat: int | None = None
    """seat that the position is shown to; all hidden information is shown by default"""
    picture: Path | None = None
    """SVG file for a picture of the position, by default of the last one; no picture if not given"""


def main(arguments: Arguments) -> None:
    """Show a replay.

    Raises:
        SystemExit: for a file that is no valid replay, or arguments that are not valid.
    """
    a = arguments
    try:
        replay = Replay.load(a.file, a.game, a.data)
        replay.game.check_seat(a.seat)
        states, game = list(replay.states()), replay.game
        if a.position is not None and not -len(states) <= a.position < len(states):
            raise ValueError(f"--position must be {-len(states)} to {len(states) - 1}, not {a.position}")
        state = states[-1 if a.position is None else a.position]
        if a.picture is not None:
            write_atomically(a.picture, game.svg(state, a.seat).encode())
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    except OSError as error:
        raise SystemExit(f"error: {error.filename or 'writing'}: {error.strerror or error}") from error
    print(f"{game.title}: {game!r}, seed {replay.seed}, {len(replay.actions)} decisions, {replay.ended}")
    if a.position is None:
        for number, (before, label) in enumerate(zip(states, replay.actions, strict=False), 1):
            description = game.describe(before, game.labels.index(label))
            text = description if description.startswith(label) else f"{label}: {description}"
            print(f"{number:>4} player_{before['current_player']}: {text}")
    else:
        print(game.text(state, a.seat))
    print(f"scores: {', '.join(map(str, replay.scores))}")
