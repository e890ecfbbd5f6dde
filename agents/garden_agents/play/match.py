"""A game in progress between agents and people, for the terminal and for a page.

It decides how much of others' moves a person may know: an action's label is public, its description is shown only if it
depends on nothing that is hidden from this person.
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro

from garden_agents.evaluation import matches
from garden_agents.games import hints_of
from garden_agents.registry import load_agent, make_game
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT, Policy, ask
from garden_core.checks import as_seed
from garden_core.files.replay import Replay
from garden_core.game import Game
from garden_core.jit.rng import game_seed
from garden_core.registry import game_class

PERSON = "human"
"""The name of a person among the names of agents."""
ADVISER, OTHER_ADVISER = "network-mcts:100", "mcts:400"
"""The agents that give hints; the second one where the first one cannot play the game."""


@dataclass
class Arguments:
    """Play a game in the terminal or on a web page, against agents or with several people."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    seats: list[str] = field(default_factory=lambda: [PERSON, "greedy"])
    """name of each seat's player: human, random, greedy, mcts:400, a run's folder, module:attribute, …"""
    num_players: int | None = None
    """number of players; as many as there are names in --seats if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, name and value in turn, for example --options peaks 2"""
    seed: int | None = None
    """seed of the game and of the agents' choices; a random one if not given"""
    save: Path | None = None
    """file for the replay, written when the game ends or you leave; none if not given; a page has a button for it"""
    resume: Path | None = None
    """replay file of an unfinished game to continue, with its options; in the terminal it is saved there again"""
    show_estimate: bool = False
    """show the agents' evaluations of the position, which can reveal their hidden cards"""
    allow_other_options: bool = False
    """accept networks that were trained with other options or data"""
    web: bool = False
    """play on a page in the browser, that this command serves until Ctrl-C"""
    host: str = "127.0.0.1"
    """address that the page is served at; by default for this machine alone, with 0.0.0.0 for others in the network too"""
    port: int = 0
    """port that the page is served at; 0 for any free one"""
    open: bool = True
    """open the page in the browser"""


class Move(NamedTuple):
    """A decision.

    Attributes:
        before: the state record in which it was taken.
        seat: who took it.
        action: the action.
        estimate: what the agent thought of the position; "" if it says nothing.
        descriptions: by seat (None: an onlooker) what the action does, filled on demand.
    """

    before: np.void
    seat: int
    action: int
    estimate: str
    descriptions: dict[int | None, str]


class Advice(NamedTuple):
    """An adviser's opinion of a position.

    Attributes:
        by: its name.
        action: the action that it would choose.
        shares: float32 (num_actions,), how good it takes each action to be, as probabilities.
        value: -1 to 1, what it expects for the player to move; None where there was only one thing to do, so that it
            did not search.
    """

    by: str
    action: int
    shares: np.ndarray
    value: float | None


class Place(NamedTuple):
    """A seat's result: its place from 1 on, whether others share it, its score and the parts of that by name."""

    seat: int
    place: int
    tied: bool
    score: int
    sheet: dict[str, int]


class Match:
    """A game between agents and people.

    Args:
        replay: the game so far.
        names: of each seat's player, PERSON for a person.
        agents: the policy on each seat, None for a person.
        show_estimate: keep what agents that have a method `estimate(batch, row) -> str` say of the position, which is asked
            after they chose an action and before it is carried out.

    Attributes:
        game: the game.
        state: the present state record.
        moves: the decisions so far.
        people: the seats of people.
        forfeited: the seat that has given the game up, -1 if none has.
    """

    def __init__(
        self,
        replay: Replay,
        names: Sequence[str],
        agents: Sequence[Policy | None],
        show_estimate: bool = False,
    ) -> None:
        self.game, self.seed = replay.game, replay.seed
        self.agents, self.show_estimate = agents, show_estimate
        self.people = [seat for seat, agent in enumerate(agents) if agent is None]
        called = ["you" if [seat] == self.people else name for seat, name in enumerate(names)]
        self.names = [f"player_{seat} ({name})" for seat, name in enumerate(called)]
        self.batch = Batch(self.game, 1, autoreset=False, history=bool(hints_of(self.game).private_fields))
        self.batch.reset(0)
        self.batch.states[0] = next(replay.states())
        self.batch.refresh()
        self.state = self.batch.states[0]
        self.moves: list[Move] = []
        self.forfeited = -1
        for label in replay.actions:
            self.act(self.game.labels.index(label))

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.forfeited >= 0 or bool(self.state["terminated"] or self.state["truncated"])

    @property
    def seat(self) -> int:
        """The seat that must move."""
        return int(self.state["current_player"])

    @property
    def legal(self) -> list[int]:
        """The legal actions of the seat that must move; none when the game is over."""
        return [] if self.over else np.flatnonzero(self.batch.action_mask[0]).tolist()

    def act(self, action: int, estimate: str = "") -> None:
        """Carry out an action of the seat that must move.

        Raises:
            ValueError: if it is not legal; nothing has changed.
        """
        if self.over:
            raise ValueError("the game is over")
        move = Move(self.state.copy(), self.seat, action, estimate, {})
        self.batch.step([action])
        self.moves.append(move)

    def choose(self) -> tuple[int, str]:
        """Return the action and the estimate of the agent that must move; nothing changes.

        Raises:
            ValueError: if its answer is no legal action.
        """
        agent = self.agents[self.seat]
        assert agent is not None
        action = int(ask(agent, self.batch, np.zeros(1, np.int64), may_forfeit=True)[0])
        estimate = getattr(agent, "estimate", None) if self.show_estimate and action != FORFEIT else None
        return action, "" if estimate is None else estimate(self.batch, 0)

    def take(self, action: int, estimate: str = "") -> None:
        """Carry out an agent's choice: an action of the seat that must move, or FORFEIT.

        Raises:
            ValueError: if it is not legal; nothing has changed.
        """
        if action == FORFEIT:
            self.forfeited = self.seat
        else:
            self.act(action, estimate)

    @property
    def can_undo(self) -> bool:
        """Whether a decision can be taken back: a person plays alone against agents, and has decided something."""
        return len(self.people) == 1 and any(move.seat == self.people[0] for move in self.moves)

    def undo(self) -> None:
        """Go back to the position of the person's last decision.

        Raises:
            ValueError: if that cannot be done.
        """
        if not self.can_undo:
            raise ValueError("there is no decision to take back, or several people play")
        move = self.moves.pop()
        while move.seat != self.people[0]:
            move = self.moves.pop()
        self.forfeited = -1
        self.batch.states[0] = move.before
        self.batch.refresh()
        self.batch.rewards[:], self.batch.terminated[:], self.batch.truncated[:] = 0, False, False
        if self.batch.history is not None:
            self.batch.history.lengths[0] = len(self.moves)

    def advise(self) -> Advice:
        """Return a strong agent's advice for the position, from what the player to move may know.

        Raises:
            ValueError: if the game is over.
        """
        if self.over:
            raise ValueError("the game is over")
        name, agent = self._adviser
        found = agent.search(self.batch, np.zeros(1, np.int64))
        value = float(found.values[0, 0]) if len(self.legal) > 1 else None
        return Advice(name, int(found.actions[0]), found.shares[0], value)

    @functools.cached_property
    def _adviser(self) -> tuple[str, Any]:
        """The name of the agent that gives hints, and the agent."""
        try:
            return ADVISER, load_agent(ADVISER, self.game)
        except ValueError:  # no network is shipped with the game, or not with these options
            return OTHER_ADVISER, load_agent(OTHER_ADVISER, self.game)

    def in_words(self, number: int, seats: Sequence[int | None]) -> str:
        """Return move `number` in words: its label, and what it does if all of `seats` may know that (None: an onlooker)."""
        move = self.moves[number]
        label, viewers = self.game.labels[move.action], (*seats, None)
        for seat in viewers:
            if seat not in move.descriptions:
                move.descriptions[seat] = self.game.describe_to(move.before, move.action, seat)
        found = {move.descriptions[seat] for seat in viewers}
        return label if label in found else sentence(label, found.pop())

    def choices(self) -> list[tuple[int, str]]:
        """Return the legal actions: their numbers and descriptions."""
        return [(action, self.game.describe(self.state, action)) for action in self.legal]

    def points(self) -> list[int]:
        """Return every seat's points so far, by what all can see; its score when the game is over."""
        return self.game.scores(self.state, None if self.over else self.seat)

    def places(self) -> list[Place]:
        """Return the seats' results so far, the first place first; a seat that has forfeited is last."""
        ahead = matches.places(self.game, self.batch.states, np.array([self.forfeited]))[0].tolist()
        scores = self.game.scores(self.state)
        sheets = self.game.score_sheet(self.game.snapshot(self.state))
        return [
            Place(seat, 1 + ahead[seat], ahead.count(ahead[seat]) > 1, scores[seat], sheets[seat])
            for seat in sorted(range(len(ahead)), key=lambda seat: ahead[seat])
        ]

    def replay(self) -> Replay:
        """Return the game so far as a replay."""
        return Replay.of(self.game, self.seed, [self.game.labels[move.action] for move in self.moves])


def sentence(label: str, description: str) -> str:
    """Return an action's label and description as one sentence."""
    return description if description.startswith(label) else f"{label}: {description}"


def agents_of(
    names: Sequence[str], game: Game, seed: int, allow_other_options: bool = False
) -> list[Policy | None]:
    """Return the policy for each seat, None for a person.

    Raises:
        ValueError: for not as many names as players, an unknown agent, or a program that does not start.
    """
    if len(names) != game.num_players:
        raise ValueError(f"{game.num_players} players need as many names in --seats, not {len(names)}")
    return [
        None
        if name == PERSON
        else load_agent(name, game, (seed + seat) % 2**64, allow_other_options, check=True)
        for seat, name in enumerate(names)
    ]


def new_replay(game: Game, seed: int) -> Replay:
    """Return a new game without decisions, game 0 of row 0 of `seed`."""
    return Replay.of(game, int(game_seed(as_seed(seed), 0, 0)), [])


def set_up(arguments: Arguments) -> Match:
    """Return the new game that the arguments describe, or the one to continue.

    Raises:
        SystemExit: for arguments that are not valid.
    """
    a, names = arguments, arguments.seats
    seed = secrets.randbits(64) if a.seed is None else a.seed
    try:
        as_seed(seed)
        own = a.game if ":" in a.game else None
        replay = Replay.load(a.resume, own) if a.resume else None
        options = {"num_players": str(len(names)), **a.options}
        game = replay.game if replay else make_game(a.game, a.num_players, options)
        if replay and (type(game) is not game_class(a.game) or replay.ended != "running"):
            raise ValueError(f"{a.resume} holds no unfinished game of {a.game}")
        if a.web and a.save:
            raise ValueError("--save is for the terminal: the page has a button that saves the game")
        path = a.save or a.resume
        if path and path != a.resume and (path.exists() or not path.parent.is_dir()):
            raise ValueError(f"--save {path} must name a new file in a folder that exists")
        agents = agents_of(names, game, seed, a.allow_other_options)
    except (ValueError, TypeError, ImportError, AttributeError, OSError) as error:
        raise SystemExit(str(error)) from error
    print(f"{game.title}, seed {seed}: {', '.join(names)}; compiling on first use", flush=True)
    return Match(replay or new_replay(game, seed), names, agents, a.show_estimate)
