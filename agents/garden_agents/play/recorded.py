"""A recorded game: verified by playing it again, shown move by move or at one position, made a page or a film."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.values import chances
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.play.match import sentence
from garden_agents.registry import load_agent
from garden_core.files.replay import Replay
from garden_core.render.film import picture, save_film, save_page


@dataclass
class Arguments:
    """Verify a recorded game and show its moves, or one position; make it a page or a film."""

    file: tyro.conf.Positional[Path]
    """replay file, as `garden play --save`, `garden train` and `garden_core.files.replay` write it, or a page made of one"""
    game: str | None = None
    """module:Class of a game that is not installed; required for such a game, as a file alone never imports code"""
    data: Path | None = None
    """data file of the game, in place of the data in the replay; that in the replay by default"""
    position: int | None = None
    """number of decisions before the position to show, negative counted from the end; all moves are shown by default"""
    seat: int | None = None
    """seat that the position is shown to; all hidden information is shown by default"""
    picture: Path | None = None
    """SVG or PNG file for a picture of the position, by default of the last one; no picture if not given"""
    page: Path | None = None
    """HTML file for a page that shows the game in a browser, also offline; no page if not given"""
    judge: str | None = None
    """agent whose estimates for each seat are shown on the page: network, or a network's file or folder"""
    film: Path | None = None
    """GIF or MP4 file (the latter needs the package av) for a film of the game; no film if not given"""
    width: int = 800
    """width of the film and of a PNG, pixels"""
    every: int = 1
    """the film shows the last position and each that is a multiple of so many decisions before it"""
    dark: bool = False
    """pictures light on dark"""
    steps: bool = False
    """show position after position, each after the Enter key"""


def main(arguments: Arguments) -> None:
    """Show a replay.

    Raises:
        SystemExit: for a file that is no valid replay, or arguments that are not valid.
    """
    a = arguments
    with one_line_errors("stopped", ImportError):
        replay = Replay.load(a.file, a.game, a.data)
        replay.game.check_seat(a.seat)
        states, game = list(replay.states()), replay.game
        if a.position is not None and not -len(states) <= a.position < len(states):
            raise ValueError(f"--position must be {-len(states)} to {len(states) - 1}, not {a.position}")
        state = states[-1 if a.position is None else a.position]
        if a.picture is not None:
            picture(game, state, a.picture, a.width, seat=a.seat, dark=a.dark)
        if a.page is not None:
            estimates = None if a.judge is None else _estimates(replay, a.judge)
            save_page(replay, a.page, seat=a.seat, estimates=estimates, dark=a.dark)
        if a.film is not None:
            save_film(replay, a.film, a.seat, a.width, every=a.every, dark=a.dark)
    print(f"{game.title}: {game!r}, seed {replay.seed}, {len(replay.actions)} decisions, {replay.ended}")
    if a.steps:
        _step(replay, states, a.seat)
    elif a.position is None:
        for number, (before, label) in enumerate(zip(states, replay.actions, strict=False), 1):
            print(f"{number:>4} {_in_words(replay, before, label, a.seat)}")
    else:
        print(game.text(state, a.seat))
    print(f"scores: {', '.join(map(str, game.scores(states[-1], a.seat)))}")


def _in_words(replay: Replay, before: Any, label: str, seat: int | None) -> str:
    """Return a decision in words, as much as `seat` may know (None: all)."""
    words = sentence(label, replay.game.describe_to(before, replay.game.labels.index(label), seat))
    return f"player_{before['current_player']}: {words}"


def _step(replay: Replay, states: list[Any], seat: int | None) -> None:
    """Show position after position, until the end or the end of the input."""
    for number, state in enumerate(states):
        if number:
            print(f"\n{number:>4} {_in_words(replay, states[number - 1], replay.actions[number - 1], seat)}")
        print(replay.game.text(state, seat))
        if number < len(states) - 1:
            try:
                input("Enter: on ")
            except EOFError:
                return


def _estimates(replay: Replay, judge: str) -> list[list[float]]:
    """Return what the network `judge` expects in each position.

    Raises:
        ValueError: for an agent that is no network, or one that does not value seats.
    """
    agent = load_agent(judge, replay.game)
    if not isinstance(agent, NetworkAgent) or agent.value_target != "seats":
        raise ValueError(f"--judge must be a network that values every seat, not {judge}")
    return chances(agent, replay)
