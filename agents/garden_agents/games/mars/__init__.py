"""Hints for Gardens of Mars: the board of hexes, with features per hex."""

from __future__ import annotations

from pathlib import Path

from garden_agents.games import Board, Hints, register
from garden_agents.games.mars import features
from garden_agents.games.mars.look_ahead import NUM_ROWS
from garden_core.game import Game
from mars_env.board import COLOURS, NEIGHBOURS, NUM_COLOURS
from mars_env.game import Mars
from mars_env.rules import GARDENER_PLANES, NUM_BOARD_PLANES, NUM_SCALARS, SEAT_SCALARS
from mars_env.state import MAX_PLAYERS

_FLOWERS = [*range(0, MAX_PLAYERS * SEAT_SCALARS, SEAT_SCALARS), NUM_SCALARS - NUM_COLOURS]
"""The scalar with the number of blue flowers of each seat, then of planted ones; the other colours follow it."""


def board(game: Game) -> Board | None:
    """Return the board of 91 hexes; the marks are the gardeners of the observer and the next seat, and the pending hex."""
    if game.option_values["view"] == "planes":
        return None
    each = game.option_values["gardeners"]
    return Board(
        planes=NUM_BOARD_PLANES,
        neighbours=NEIGHBOURS,
        colours=NUM_COLOURS,
        marks=(*range(GARDENER_PLANES, GARDENER_PLANES + 2 * each), NUM_BOARD_PLANES - 1),
        action_blocks=each,
        num_features=features.num_features(each),
        fill_features=features.with_one_gardener if each == 1 else features.with_two_gardeners,
        work_rows=NUM_ROWS,
        colour_features=1,
        colour_scalars=tuple(tuple(range(first, first + NUM_COLOURS)) for first in _FLOWERS),
        colour_actions=True,
        targets=-1,
    )


def vocabulary(game: Game) -> tuple[str, ...]:
    """Return the words of the theme."""
    author = "néstor", "romeral", "andrés"  # named in the rules
    return "mars", *author, "garden", "flower", "plant", "peak", *COLOURS


register(
    Mars,
    Hints(
        board=board,
        folder=Path(__file__).parent,
        vocabulary=vocabulary,
    ),
)
