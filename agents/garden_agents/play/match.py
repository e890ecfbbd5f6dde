"""A game in progress between agents and people, for the terminal and the web page."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro

from garden_agents.play.shown import ADVISER, OTHER_ADVISER, PERSON, Move, Shown
from garden_agents.registry import load_agent, make_game
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT, Policy, ask
from garden_core.checks import SEEDS, as_seed
from garden_core.game import Game
from garden_core.jit.rng import game_seed
from garden_core.recorded.replay import Replay
from garden_core.registry import game_class


@dataclass
class Arguments:
    """Play a game in the terminal or on a web page, against agents or with several people."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    seats: list[str] = field(default_factory=lambda: [PERSON, "greedy"])
    """name of each seat's player: human, random, greedy, mcts:400, a run's folder, module:attribute, …"""
    num_players: int | None = None
    """number of players; the number of names in --seats if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game as names and values, for example --options peaks 2"""
    seed: int | None = None
    """seed of the game and of the agents' choices; random if not given"""
    save: Path | None = None
    """file for the replay, written when the game ends or you leave; none if not given; the web page has a button instead"""
    resume: Path | None = None
    """replay file of an unfinished game to continue, with its options; the terminal saves to the same file"""
    show_estimate: bool = False
    """show the agents' evaluations of the position, which can reveal their hidden cards"""
    allow_other_options: bool = False
    """accept networks that were trained with other options or data"""
    web: bool = False
    """play on a page in the browser, which this command serves until Ctrl-C"""
    host: str = "127.0.0.1"
    """address of the server; by default only this machine can reach it, with 0.0.0.0 other computers can too"""
    port: int = 0
    """port of the server; 0 for any free one"""
    open: bool = True
    """open the page in the browser"""


class Advice(NamedTuple):
    """A strong agent's advice for a position.

    Attributes:
        by: name of the agent.
        action: the action that it would choose.
        shares: float32 (num_actions,), its probability of each action.
        value: expected result for the player to move, -1 to 1; None without a search, for a single legal action.
    """

    by: str
    action: int
    shares: np.ndarray
    value: float | None


class Match(Shown):
    """A game between agents and people.

    Args:
        replay: the game so far.
        names: name of each seat's player, PERSON for a person.
        agents: policy of each seat, None for a person.
        show_estimate: keep the agents' evaluations: their method `estimate(batch, row) -> str`, if they have one, is called
            after they chose an action and before it is carried out.
    """

    game: Game

    def __init__(
        self,
        replay: Replay,
        names: Sequence[str],
        agents: Sequence[Policy | None],
        show_estimate: bool = False,
    ) -> None:
        super().__init__(replay.game, names, [seat for seat, agent in enumerate(agents) if agent is None])
        self._players = list(names)
        self.seed, self.agents, self.show_estimate = replay.seed, agents, show_estimate
        self.batch = Batch(self.game, 1, autoreset=False, history=True)
        self.batch.reset(0)
        self.batch.states[0] = next(replay.states())
        self.batch.refresh()
        self.state = self.batch.states[0]
        for label in replay.actions:
            self.act(self.game.labels.index(label))

    @property
    def legal(self) -> list[int]:
        """The legal actions of the player to move; none after the end."""
        return [] if self.over else np.flatnonzero(self.batch.action_mask[0]).tolist()

    def act(self, action: int, estimate: str = "") -> None:
        """Carry out an action of the player to move, or FORFEIT.

        Raises:
            ValueError: if it is not legal; nothing has changed.
        """
        if self.over:
            raise ValueError("the game is over")
        if action == FORFEIT:
            self.forfeited = self.seat
            return
        move = Move(self.state.copy(), self.seat, action, estimate, {})
        self.batch.step([action])
        self.moves.append(move)

    def choose(self) -> tuple[int, str]:
        """Return the action and the estimate of the agent to move; nothing changes.

        Raises:
            ValueError: if the action is not legal.
        """
        agent = self.agents[self.seat]
        assert agent is not None
        action = int(ask(agent, self.batch, np.zeros(1, np.int64), may_forfeit=True)[0])
        if self.show_estimate and action != FORFEIT and hasattr(agent, "estimate"):
            return action, agent.estimate(self.batch, 0)
        return action, ""

    def undo(self) -> None:
        """Go back to the position of the person's last decision.

        Raises:
            ValueError: if there is none, or several people play.
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
        """Return a strong agent's advice for a position before the end, from what the player to move may know."""
        name, agent = self._adviser
        search = agent.search(self.batch, np.zeros(1, np.int64))
        value = float(search.values[0, 0]) if len(self.legal) > 1 else None
        return Advice(name, int(search.actions[0]), search.shares[0], value)

    @functools.cached_property
    def _adviser(self) -> tuple[str, Any]:
        """The name of the agent that gives hints, and the agent."""
        try:
            return ADVISER, load_agent(ADVISER, self.game)
        except ValueError:  # no network is shipped for the game with these options
            return OTHER_ADVISER, load_agent(OTHER_ADVISER, self.game)

    def replay(self) -> Replay:
        """Return the game so far as a replay."""
        labels = [self.game.labels[move.action] for move in self.moves]
        return Replay.of(self.game, self.seed, labels, self._players)


def sentence(label: str, description: str) -> str:
    """Return an action's label and description as one sentence."""
    return description if description.startswith(label) else f"{label}: {description}"


def agents_of(
    names: Sequence[str], game: Game, seed: int, allow_other_options: bool = False
) -> list[Policy | None]:
    """Return the policy of each seat, None for a person.

    Raises:
        ValueError: for a wrong number of names, an unknown agent, or a program that does not start.
    """
    if len(names) != game.num_players:
        raise ValueError(f"{game.num_players} players need as many names in --seats, not {len(names)}")
    return [
        None
        if name == PERSON
        else load_agent(name, game, (seed + seat) % SEEDS, allow_other_options, check=True)
        for seat, name in enumerate(names)
    ]


def new_replay(game: Game, seed: int) -> Replay:
    """Return a new game without decisions: game 0 of row 0 of `seed`."""
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
        if a.save and a.save != a.resume and (a.save.exists() or not a.save.parent.is_dir()):
            raise ValueError(f"--save {a.save} must name a new file in a folder that exists")
        agents = agents_of(names, game, seed, a.allow_other_options)
    except (ValueError, TypeError, ImportError, AttributeError, OSError) as error:
        raise SystemExit(str(error)) from error
    print(f"{game.title}, seed {seed}: {', '.join(names)}; compiling on first use", flush=True)
    return Match(replay or new_replay(game, seed), names, agents, a.show_estimate)
