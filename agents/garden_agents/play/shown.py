"""What people see of a game: positions as messages for a page, moves in words, results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from garden_core.jit import kernels

PERSON = "human"
"""The name of a person among the names of agents."""
ADVISER, OTHER_ADVISER = "network-mcts:100", "mcts:400"
"""The agents that give hints; the second one if the first one cannot play the game."""
AGENTS = (PERSON, "network", ADVISER, "greedy", "mcts:100", "random")
"""Players that every page offers; page.js has words for each."""
SHOW_SECONDS = 0.1
"""Seconds within which several moves of agents are shown as one position."""


class RefusedError(Exception):
    """A page's message cannot be carried out; the text is for the person."""


class Move(NamedTuple):
    """A decision.

    Attributes:
        before: state record before the decision.
        seat: the seat that decided.
        action: the action.
        estimate: the agent's evaluation of the position; "" if there is none.
        descriptions: the action's description by seat (None: an onlooker), filled on demand.
    """

    before: Any
    seat: int
    action: int
    estimate: str
    descriptions: dict[int | None, str]


class Place(NamedTuple):
    """A seat's result: its place from 1 on, whether it is shared, its score, and the parts of the score by name."""

    seat: int
    place: int
    tied: bool
    score: int
    sheet: dict[str, int]


class Shown(ABC):
    """A game that people see: the base class of `Match`, and of the game on the static page.

    A move is shown by its description if that depends on nothing hidden from the people who see it, else by its label.

    Args:
        game: the game.
        names: name of each seat's player.
        people: the seats of people.

    Attributes:
        game: the game.
        state: the current state record.
        moves: the decisions so far.
        people: the seats of people.
        names: name of each seat, for people.
        forfeited: the seat that gave the game up, -1 if none did.
    """

    state: Any

    def __init__(self, game: Any, names: Sequence[str], people: Sequence[int]) -> None:
        self.game = game
        self.moves: list[Move] = []
        self.people = list(people)
        self.names = [
            f"player_{seat} ({'you' if [seat] == self.people else name})" for seat, name in enumerate(names)
        ]
        self.forfeited = -1

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.forfeited >= 0 or bool(self.state["terminated"] or self.state["truncated"])

    @property
    def seat(self) -> int:
        """The seat of the player to move."""
        return int(self.state["current_player"])

    @property
    @abstractmethod
    def legal(self) -> list[int]:
        """The legal actions of the player to move; none after the end."""

    @property
    def can_undo(self) -> bool:
        """Whether a decision can be taken back: one person plays against agents and has made a decision."""
        return len(self.people) == 1 and any(move.seat == self.people[0] for move in self.moves)

    @property
    def agent_moves(self) -> bool:
        """Whether the player to move is an agent that plays against people."""
        return not self.over and bool(self.people) and self.seat not in self.people

    def in_words(self, number: int, seats: Sequence[int | None]) -> str:
        """Return what move `number` did, if all of `seats` may know it (None: an onlooker), else its label."""
        move = self.moves[number]
        viewers = (*seats, None)
        for seat in viewers:
            if seat not in move.descriptions:
                move.descriptions[seat] = self.game.describe_to(move.before, move.action, seat)
        descriptions = {move.descriptions[seat] for seat in viewers}
        return descriptions.pop() if len(descriptions) == 1 else self.game.labels[move.action]

    def choices(self) -> list[tuple[int, str]]:
        """Return numbers and descriptions of the legal actions."""
        return [(action, self.game.describe(self.state, action)) for action in self.legal]

    def points(self) -> list[int]:
        """Return every seat's public points so far; its score after the end."""
        return self.game.scores(self.state, None if self.over else self.seat)

    def places(self) -> list[Place]:
        """Return the seats' results so far, first place first; a seat that gave up is last."""
        out = np.zeros(self.game.max_players, np.int32)
        kernels.standings(self.state, self.game.params[0], out)
        standings = out[: self.game.num_players].tolist()
        if self.forfeited >= 0:
            standings[self.forfeited] = min(standings) - 1
        ahead = [sum(other > own for other in standings) for own in standings]
        scores, sheets = self.game.scores(self.state), self.game.score_sheet(self.game.snapshot(self.state))
        return [
            Place(seat, 1 + ahead[seat], ahead.count(ahead[seat]) > 1, scores[seat], sheets[seat])
            for seat in sorted(range(len(ahead)), key=lambda seat: ahead[seat])
        ]

    def position(self, seat: int | None, style: Mapping[str, bool], first: int) -> dict[str, Any]:
        """Return the position as a message for a page: what a seat may see.

        Args:
            seat: the page's seat; None: an onlooker, who sees all.
            style: `dark`, `compact`, `names` of `Game.svg`.
            first: number of the moves that the page has already.
        """
        mine = not self.over and seat == self.seat
        last = (self.moves[-1].seat, self.moves[-1].action) if self.moves else None
        try:
            svg = self.game.svg(self.state, seat, legal=mine, last=last, **style)
        except ValueError:  # a game without pictures
            svg = ""
        return {
            "type": "position",
            "svg": svg,
            "text": "" if svg else self.game.text(self.state, seat),
            "mine": mine,
            "mover": self.seat,
            "legal": [
                {"action": action, "text": words} for action, words in (self.choices() if mine else ())
            ],
            "status": self.status(seat),
            "first": first,
            "moves": [
                {"seat": move.seat, "text": self.in_words(number, [seat]), "estimate": move.estimate}
                for number, move in enumerate(self.moves[first:], first)
            ],
            "points": self.points(),
            "over": self.over,
            "places": [place._asdict() for place in self.places()] if self.over else [],
            "undo": self.can_undo and seat is not None,
        }

    def status(self, seat: int | None) -> str:
        """Return a few words for a seat about the turn or the result."""
        if self.over:
            places = self.places()
            if self.game.cooperative:
                return f"The team has {min(place.score for place in places)} points"
            firsts = [place.seat for place in places if place.place == 1]
            if seat in firsts:
                return "You won" if len(firsts) == 1 else "You share the first place"
            return f"{' and '.join(self.names[first] for first in firsts)} won"
        if seat == self.seat:
            return "Your turn"
        return f"{self.names[self.seat]} {'is thinking' if self.agent_moves else 'moves next'}"
