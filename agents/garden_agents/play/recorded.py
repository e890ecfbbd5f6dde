"""A recorded game in the terminal: checked by playing it again, shown move by move or at one position."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tyro

from garden_core.files import write_atomically
from garden_core.replay import Replay

__all__ = ["Arguments", "main"]


@dataclass
class Arguments:
    """Check a recorded game and show its moves, or a position."""

    file: tyro.conf.Positional[Path]
    """replay's file, as `garden play --save`, `garden train` and `garden_core.replay` write it"""
    game: str | None = None
    """module:Class of a game that is not installed, as a file's word imports no code"""
    data: Path | None = None
    """data file, in place of the content in the replay"""
    position: int | None = None
    """number of decisions before the position to show, negative ones counted from the end; all moves by default"""
    seat: int | None = None
    """seat that looks at the position; an onlooker who sees everything by default"""
    picture: Path | None = None
    """SVG file for a picture of the position, of the last one by default"""


def main(arguments: Arguments) -> None:
    """Show a replay.

    Raises:
        SystemExit: for a file that cannot be trusted or played, or arguments that do not fit.
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
