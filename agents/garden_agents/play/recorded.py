"""Verify a recorded game by replaying it; show its moves or a position, or make a page or a film of it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from garden_agents.errors import one_line_errors
from garden_agents.matches.meet import fitted
from garden_agents.matches.values import chances
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.play.match import sentence
from garden_agents.registry import load_agent
from garden_core.recorded.film import picture, save_film, save_page
from garden_core.recorded.replay import Replay


@dataclass
class Arguments:
    """Verify a recorded game and show its moves or a position; make a page or a film of it."""

    file: tyro.conf.Positional[Path]
    """replay file of `garden play --save`, `garden train` or `garden_core.recorded.replay`, or a page made from one"""
    game: str | None = None
    """module:Class of a game that is not installed; required for such a game, as a file alone never imports code"""
    data: Path | None = None
    """data file of the game; the data in the replay if not given"""
    position: int | None = None
    """show the position after this many decisions, from which a film goes on; a negative number counts from the end; all moves
    are shown if not given, unless a picture, page or film is made"""
    seat: int | None = None
    """show only what this seat may see; everything hidden is shown if not given"""
    picture: Path | None = None
    """SVG or PNG file for a picture of the position, or of the last one; none if not given"""
    page: Path | None = None
    """HTML file for a page that shows the game in a browser, also offline; none if not given"""
    judge: str | None = None
    """agent whose estimates for each seat the page shows: network, or a network's file or folder"""
    film: Path | None = None
    """GIF or MP4 file for a film of the game; MP4 needs the package av; none if not given"""
    width: int = 800
    """width of the film and of a PNG, pixels"""
    every: int = 1
    """number of decisions between two positions in the film, counted back from the last one"""
    dark: bool = False
    """use dark colours in pictures"""
    steps: bool = False
    """show one position after the other, each after the Enter key"""


def main(arguments: Arguments) -> None:
    """Show a replay.

    Raises:
        SystemExit: for an invalid replay or invalid arguments.
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
            start = range(len(states))[a.position or 0]
            save_film(replay, a.film, a.seat, a.width, every=a.every, start=start, dark=a.dark)
    print(f"{game.title}: {game!r}, seed {replay.seed}, {len(replay.actions)} decisions, {replay.ended}")
    for seat, name in enumerate(replay.players):
        print(f"player_{seat}: {fitted(name, 60)}")
    if a.steps:
        _step(replay, states, a.seat)
    elif a.picture or a.page or a.film:
        pass  # that is what was asked for
    elif a.position is None:
        for number, before in enumerate(states[:-1]):
            print(_move(replay, number, before, a.seat))
    else:
        print(game.text(state, a.seat))
    print(f"scores: {', '.join(map(str, game.scores(states[-1], a.seat)))}")


def _move(replay: Replay, number: int, before: Any, seat: int | None) -> str:
    """Return decision `number` in words, as far as `seat` may know it (None: everything)."""
    game, label = replay.game, replay.actions[number]
    words = sentence(label, game.describe_to(before, game.labels.index(label), seat))
    return f"{number + 1:>4} player_{before['current_player']}: {words}"


def _step(replay: Replay, states: list[Any], seat: int | None) -> None:
    """Show one position after the other, until the end of the game or of the input."""
    print(replay.game.text(states[0], seat))
    for number, (before, state) in enumerate(itertools.pairwise(states)):
        try:
            input("Enter: on ")
        except EOFError:
            return
        print(f"\n{_move(replay, number, before, seat)}")
        print(replay.game.text(state, seat))


def _estimates(replay: Replay, name: str) -> list[list[float]]:
    """Return a network's estimates in each position.

    Raises:
        ValueError: for an agent that is no network, or a network that does not value every seat.
    """
    agent = load_agent(name, replay.game)
    if not isinstance(agent, NetworkAgent) or agent.value_target != "seats":
        raise ValueError(f"--judge must be a network that values every seat, not {name}")
    return chances(agent, replay)
