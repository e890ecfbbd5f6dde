"""Spaces, render modes and rendering, shared by the interfaces."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from garden_core.batch.learner import Learner
from garden_core.checks import require_reset, short
from garden_core.game import Game
from garden_core.render.display import Display
from garden_core.render.svg import to_pixels


def spaces_of(game: Game) -> tuple[spaces.Box, spaces.Discrete]:
    """Return the spaces of one seat's observations and actions."""
    return spaces.Box(0, 127, game.observation_shape, np.int8), spaces.Discrete(game.num_actions)


def check_render_mode(mode: str | None) -> None:
    """Raise ValueError for an unknown render mode."""
    if not (mode is None or (isinstance(mode, str) and mode in ("ansi", "rgb_array", "human"))):
        raise ValueError(f"render_mode must be None, 'ansi', 'rgb_array' or 'human', not {short(mode)}")


def masked_space(game: Game, name: str, dtype: type) -> spaces.Dict:
    """Return the space of dicts of one seat's observation, called `name`, and its mask of legal actions."""
    view = spaces.Box(0, 127, game.observation_shape, dtype)
    return spaces.Dict({name: view, "action_mask": spaces.Box(0, 1, (game.num_actions,), dtype)})


def render(
    game: Game,
    state: Any,
    mode: str | None,
    seat: int | None,
    last: tuple[int, int] | None,
    display: Display | None = None,
    fps: float | None = None,
) -> str | np.ndarray | None:
    """Return the text or the pixels of a position, or show the picture with mode "human"; warn without a mode.

    Args:
        game: the game.
        state: a state record.
        mode: the render mode.
        seat: render the view of this seat; None shows everything.
        last: the last decision, seat and action, which pictures mark.
        display: where mode "human" shows the picture.
        fps: maximum number of pictures per second with mode "human".
    """
    if mode == "ansi":
        return game.text(state, seat)
    if mode == "rgb_array":
        return to_pixels(game.svg(state, seat, last=last))
    if mode == "human" and display is not None:
        display.show(game.svg(state, seat, last=last), fps)
        return None
    gymnasium.logger.warn(
        "render() was called without a render mode; choose one when the environment is made: "
        "render_mode='ansi', 'rgb_array' or 'human'"
    )
    return None


def render_row(
    learner: Learner, row: int, mode: str | None, display: Display | None = None, fps: float | None = None
) -> str | np.ndarray | None:
    """Render the current game in a row of a learner, from the learner's seat; see `render`.

    Raises:
        RuntimeError: before the first reset.
    """
    require_reset(learner.dealt, "render")
    state, seat = learner.batch.states[row], int(learner.seats[row])
    return render(
        learner.batch.games[int(state["variant"])],
        state,
        mode,
        seat,
        learner.last_decision(row),
        display,
        fps,
    )
