"""Play a game in the terminal, against agents or with several people at one keyboard.

    garden play mars --seats human greedy --save game.json

A person sees what their seat may see. With --show-estimate, agents that can report their evaluation of the position do
so: an agent's method `estimate(batch, row) -> str` is called after it chose an action in that row and before the step.
"""

from __future__ import annotations

import cmd
import importlib.util
import pydoc
import re
import secrets
import shlex
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import tyro

from garden_agents.registry import load_agent, make_game
from garden_core import kernels
from garden_core.batch import Batch
from garden_core.checks import as_seed
from garden_core.policies import FORFEIT, Policy, ask
from garden_core.registry import game_class
from garden_core.replay import Replay
from garden_core.rng import game_seed

__all__ = ["Arguments", "Table", "find", "main", "set_up"]

ADVISER = "mcts:400"
MANY = 40  # if more actions than this differ only in their last word, they are counted instead of listed
COLUMNS = 100  # widest text; narrower in a narrow terminal
DRAWS = (
    200  # determinizations that are tried, to find out whether a description depends on hidden information
)
HELP = f"""\
Type an action's number, its name, or enough of its name to tell it from the others in the list; or
  rules      the rules in short; rules all: the full rules
  hint       what {ADVISER} would do
  save FILE  save the game now, and again when it ends or you leave
  quit       leave the game; so do Ctrl-D and Ctrl-C
  help       this text"""


@dataclass
class Arguments:
    """Play a game in the terminal, against agents or with several people at one keyboard."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    seats: list[str] = field(default_factory=lambda: ["human", "greedy"])
    """name of each seat's player: human, random, greedy, mcts:400, a run's folder, module:attribute, …"""
    num_players: int | None = None
    """number of players; as many as there are names in --seats if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, name and value in turn, for example --options peaks 2"""
    seed: int | None = None
    """seed of the game and of the agents' choices; a random one if not given"""
    save: Path | None = None
    """file for the replay, written when the game ends or you leave; none if not given"""
    resume: Path | None = None
    """replay file of an unfinished game to continue, with its options; it is saved there again"""
    show_estimate: bool = False
    """show the agents' evaluations of the position, which can reveal their hidden cards"""
    allow_other_options: bool = False
    """accept networks that were trained with other options or data"""


def find(text: str, labels: Sequence[str]) -> int:
    """Return the index of the one label that matches what somebody typed.

    That is its number, counted from 1, the whole label, its beginning, or the beginning of one of its words.

    Raises:
        ValueError: if no label matches, or several do; the message says what can be typed.
    """
    text = " ".join(text.lower().split())
    if text.isdecimal() and 1 <= int(text) <= len(labels):
        return int(text) - 1
    names = [f" {label.lower()}" for label in labels]  # a space begins every word
    found: list[int] = []
    for fits in (str.__eq__, str.startswith, str.__contains__):
        found = found or [i for i, name in enumerate(names) if text and fits(name, f" {text}")]
    if len(found) == 1:
        return found[0]
    if found:
        some = "; ".join(labels[i] for i in found[:8]) + ("; …" if len(found) > 8 else "")
        raise ValueError(f"{text!r} fits {len(found)} actions: {some}")
    raise ValueError(f"{text!r} is not in the list: type a number from 1 to {len(labels)}, a name, or help")


class Table:
    """A game in the terminal.

    Args:
        arguments: the command's arguments.
        replay: the game so far.
        agents: the policy on each seat, None for a person.
    """

    def __init__(self, arguments: Arguments, replay: Replay, agents: Sequence[Policy | None]) -> None:
        self.arguments, self.agents, self.path = arguments, agents, arguments.save or arguments.resume
        self.game, self.seed, self.actions = replay.game, replay.seed, list(replay.actions)
        people = [seat for seat, agent in enumerate(agents) if agent is None]
        called = ["you" if [seat] == people else name for seat, name in enumerate(arguments.seats)]
        self.names = [f"player_{seat} ({name})" for seat, name in enumerate(called)]
        self.adviser = load_agent(ADVISER, self.game)
        self.secret = len(people) > 1 and self.game.information != "perfect"
        self.moves: list[str] = []
        self.at_keyboard, self.seen = -1, [0] * len(agents)  # seat; how many moves each seat has seen
        self.batch = Batch(self.game, 1, autoreset=False, history=bool(self.game.held))
        self.batch.reset(0)
        *_, self.batch.states[0] = replay.states()
        self.batch.refresh()
        self.state = self.batch.states[0]
        self.forfeited = -1  # the seat that has given the game up

    def play(self) -> None:
        """Play to the end, or until somebody leaves; print the result, and save the game if it has a file."""
        try:
            while self.forfeited < 0 and not (self.state["terminated"] or self.state["truncated"]):
                self._turn()
            self._print_end()
        except (EOFError, KeyboardInterrupt):
            words = [self.arguments.game, "--seats", *self.arguments.seats, "--resume", str(self.path)]
            again = f"to continue: garden play {shlex.join(words)}"
            print("\n\nyou left the game;", again if self.path else "it was not saved, as no file was named")
        finally:
            if self.path:
                self.save(self.path)

    def _turn(self) -> None:
        """Have the player to move choose an action, and carry it out."""
        seat = int(self.state["current_player"])
        agent = self.agents[seat]
        action, estimate = (self._choose(seat), "") if agent is None else self._ask(agent)
        if action == FORFEIT:
            self.forfeited = seat
            print(f"{self.names[seat]} loses the game", flush=True)
            return
        before = self.state.copy()
        self.batch.step([action])
        move = self._sentence(action, self._open_description(before, seat, action))
        self.actions.append(self.game.labels[action])
        self.moves.append(wrapped(f"{self.names[seat]}: {move}", indent=4) + estimate)
        self.seen[seat] = len(self.moves)
        print(self.moves[-1], flush=True)

    def _sentence(self, action: int, description: str) -> str:
        """Return an action's label and description as one sentence."""
        label = self.game.labels[action]
        return description if description.startswith(label) else f"{label}: {description}"

    def _open_description(self, state: np.void, seat: int, action: int) -> str:
        """Return what the action of `seat` does; only its label if that would reveal hidden information to a person."""
        label, description = self.game.labels[action], self.game.describe(state, action)
        if self.game.information == "perfect" or description == label:
            return description
        others = [other for other, agent in enumerate(self.agents) if agent is None and other != seat]
        is_open = all(self._is_open(description, state, action, other) for other in others)
        return description if is_open else label

    def _is_open(self, description: str, state: np.void, action: int, seat: int) -> bool:
        """Whether the description is the same in all determinizations for `seat` in which the action is legal."""
        redrawn, mask = self.game.new_states(1), np.zeros(self.game.num_actions, np.int8)
        descriptions = set()
        for draw in range(DRAWS):
            redrawn[0] = state
            kernels.resample(redrawn[0], self.game.params[0], seat, draw)
            kernels.legal_actions(redrawn[0], self.game.params[0], mask)
            if mask[action]:
                descriptions.add(self.game.describe(redrawn[0], action))
        return descriptions == {description}

    def _ask(self, agent: Policy) -> tuple[int, str]:
        """Return the agent's action, and its evaluation of the position if that is to be shown."""
        action = int(ask(agent, self.batch, np.zeros(1, np.int64), may_forfeit=True)[0])
        estimate = getattr(agent, "estimate", None) if self.arguments.show_estimate else None
        return action, "" if estimate is None else "\n" + textwrap.indent(estimate(self.batch, 0), "    ")

    def _choose(self, seat: int) -> int:
        """Show the position to the person on `seat`; return the action that they choose."""
        if self.secret and self.at_keyboard != seat:
            self._pass_keyboard(seat)
        actions = np.flatnonzero(self.batch.action_mask[0])
        labels = [self.game.labels[action] for action in actions]
        described = [self.game.describe(self.state, int(action)) for action in actions]
        text = self.game.text(self.state, seat).partition("\n\nlegal: ")[
            0
        ]  # legal actions are listed below, with their descriptions
        by_name = zip(self.names, self._by_seat(kernels.public_points), strict=True)
        points = ", ".join(f"{name} {own}" for name, own in by_name)
        perfect = self.game.information == "perfect"
        what = "points so far" if perfect else "points on the table, which all can see"
        print("", "-" * 79, text, "", wrapped(f"{what}: {points}", indent=4), "", sep="\n")
        print(f"{self.names[seat]} can choose (or: help, rules, hint, save FILE, quit)")
        list_actions(labels, described)
        while True:
            line = typed(f"{self.names[seat]}> ").strip()
            command, _, rest = line.partition(" ")
            try:
                if line.lower() == "help":
                    print(self._help())
                elif line.lower() == "rules":
                    print(self._rules())
                elif line.lower().split() == ["rules", "all"]:
                    pydoc.pager(full_rules(self.game.rules_text or self._rules()) + "\n")
                elif line.lower() == "hint":
                    action, estimate = self._ask(self.adviser)
                    move = self._sentence(action, self.game.describe(self.state, action))
                    print(wrapped(f"{ADVISER} would choose {move}", indent=4) + estimate)
                elif command.lower() == "save":
                    self.save(Path(rest.strip()).expanduser() if rest else self.path)
                elif line.lower() == "quit":
                    raise EOFError
                else:
                    return int(actions[find(line, labels)])
            except (ValueError, OSError) as error:
                print(error)

    def _pass_keyboard(self, seat: int) -> None:
        """Clear the screen, wait for the next person, and print the moves since their last one."""
        if sys.stdout.isatty():
            print("\033[H\033[2J\033[3J", end="")  # the screen and the scrollback
        typed(f"{self.names[seat]}, take the keyboard and press Enter: ")
        self.at_keyboard = seat
        if self.seen[seat] < len(self.moves):
            print("since your last move:", *self.moves[self.seen[seat] :], sep="\n")

    def _help(self) -> str:
        """Return the help text: what can be typed, and what the game's actions mean."""
        lines, first = [HELP, "The game's actions:"], 0
        for part in self.game.action_parts:
            name = self.game.labels[first] + (" …" if part.size > 1 else "")
            lines += textwrap.wrap(f"  {name}: {part.meaning}", 79, subsequent_indent="      ")
            first += part.size
        return "\n".join(lines)

    def _rules(self) -> str:
        """Return the rules in short, if the game has them, and where to find more."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in self.game.summary.strip().split("\n\n")]
        if self.game.rules_text != self.game.summary:
            paragraphs.append('Type "rules all" for the full rules.')
        page = Path(__file__).parents[3] / "docs" / f"{self.game.name}.md"
        if page.exists():
            paragraphs.append(f"More is in docs/{page.name}.")
        if not self.game.summary:
            paragraphs[0] = f"{self.game.title} has no rules in short."
        return "\n\n".join(map(wrapped, paragraphs))

    def _by_seat(self, kernel: Callable[..., None]) -> list[int]:
        """Return each seat's number by `kernels.points`, `public_points` or `standings`."""
        out = np.zeros(self.game.max_players, np.int32)
        kernel(self.state, self.game.params[0], out)
        return out[: self.game.num_players].tolist()

    def save(self, path: Path | None) -> None:
        """Write the replay to `path`, which is the game's file from now on.

        Raises:
            ValueError: if `path` is None, or a file that is not this game's.
            OSError: if the file cannot be written.
        """
        if path is None or (path.exists() and path != self.path):
            raise ValueError(f"save FILE needs the name of a new file, not {path or 'none'}")
        Replay.of(self.game, self.seed, self.actions).save(path)
        self.path = path
        print(f"saved in {path}")

    def _print_end(self) -> None:
        """Print the final position, the places, and the parts of every score."""
        scores, standings = self._by_seat(kernels.points), self._by_seat(kernels.standings)
        if self.forfeited >= 0:
            standings[self.forfeited] = min(standings) - 1
        sheets = self.game.score_sheet(self.game.snapshot(self.state))
        print("", "-" * 79, self.game.text(self.state), "", sep="\n")
        if self.state["truncated"]:
            print(f"stopped by the cap of {self.state['decisions']} decisions: scored as it stands")
        if self.game.cooperative:
            print(f"the team has {min(scores)} points, the least that one of its players has")
        for seat in sorted(range(len(standings)), key=lambda seat: -standings[seat]):
            place = 1 + sum(other > standings[seat] for other in standings)
            tied = " (tied)" if standings.count(standings[seat]) > 1 else ""
            first = "" if self.game.cooperative else f"{place}.{tied} "
            parts = sum_in_words(sheets[seat])
            print(wrapped(f"{first}{self.names[seat]}: {scores[seat]} points{parts}", indent=4))
        if not self.game.cooperative and len(set(scores)) < len(set(standings)):
            print("equal points are ranked by the rules for ties")


def sum_in_words(sheet: dict[str, int]) -> str:
    """Return the parts of a score as ` = planted 14 + special 4 - left over 4`; "" if the only part is "score"."""
    if list(sheet) == ["score"]:
        return ""
    parts = [
        f"{'-' if points < 0 else '+'} {part.replace('_', ' ')} {abs(points)}"
        for part, points in sheet.items()
    ]
    return f" = {' '.join(parts).removeprefix('+ ')}"


def columns() -> int:
    """Return the width of the text, columns."""
    return min(COLUMNS, shutil.get_terminal_size().columns)


def wrapped(text: str, indent: int = 0) -> str:
    """Return one paragraph wrapped to the width, all lines but the first indented."""
    return textwrap.fill(text, columns(), subsequent_indent=" " * indent, break_on_hyphens=False)


def full_rules(text: str) -> str:
    """Return the text of a game's rules, its paragraphs and list items wrapped to the width; tables are unchanged."""
    lines = re.sub(r"(?<=\S)\n *(?![\n|#]|- )", " ", text.strip()).splitlines()
    return "\n".join(
        line if line.startswith("|") else wrapped(line, 2 if line.startswith("- ") else 0) for line in lines
    )


def list_actions(labels: Sequence[str], described: Sequence[str]) -> None:
    """Print the actions with numbers from 1 on and their descriptions; more than MANY of a kind share one line."""
    kinds = [label.rpartition(" ")[0] for label in labels]
    rest = [text.removeprefix(label).lstrip(" ,:") for text, label in zip(described, labels, strict=True)]
    many = [kind for kind in dict.fromkeys(kinds) if kind and kinds.count(kind) > MANY]
    for kind in many:
        alike = [number for number, own in enumerate(kinds) if own == kind]
        typical = alike[len(alike) // 2]
        line = f"{kind} …: any of {len(alike)}, such as {typing_of(typical, labels)}"
        print(wrapped(f"{line}: {rest[typical]}" if rest[typical] else line, indent=4))
    listed = [number for number, kind in enumerate(kinds) if kind not in many]
    width = max((len(labels[number]) for number in listed), default=0)
    if any(rest[number] for number in listed):
        indent = min(width + 5, columns() // 2)
        for number in listed:
            print(
                wrapped(f"{number + 1:>2} {labels[number]:<{width}}  {rest[number]}".rstrip(), indent=indent)
            )
    elif listed:
        numbered = [f"{number + 1:>2} {labels[number]}" for number in listed]
        cmd.Cmd(stdout=sys.stdout).columnize(numbered, columns())


def typing_of(number: int, labels: Sequence[str]) -> str:
    """Return what to type for an action: its label, and its last word where that is enough."""
    last = labels[number].split()[-1]
    try:
        alone = find(last, labels) == number
    except ValueError:
        alone = False
    return f"{labels[number]} (or just {last})" if alone else labels[number]


def typed(prompt: str) -> str:
    """Return a line of input; if it comes from a pipe, print it too, so that the output is readable.

    Raises:
        EOFError: at the end of the input.
    """
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)
    return line


def set_up(arguments: Arguments) -> Table:
    """Return the table with a new game, or with the one to continue.

    Raises:
        SystemExit: for arguments that are not valid.
    """
    names, resume, path = arguments.seats, arguments.resume, arguments.save or arguments.resume
    seed = secrets.randbits(32) if arguments.seed is None else arguments.seed
    try:
        allow = arguments.allow_other_options
        base, options = as_seed(seed), {"num_players": str(len(names)), **arguments.options}
        own = arguments.game if ":" in arguments.game else None
        replay = Replay.load(resume, own) if resume else None
        game = replay.game if replay else make_game(arguments.game, arguments.num_players, options)
        if len(names) != game.num_players:
            raise ValueError(f"{game.num_players} players need as many names in --seats, not {len(names)}")
        if replay and (type(game) is not game_class(arguments.game) or replay.ended != "running"):
            raise ValueError(f"{resume} holds no unfinished game of {arguments.game}")
        if path and path != resume and (path.exists() or not path.parent.is_dir()):
            raise ValueError(f"--save {path} must name a new file in a folder that exists")
        agents = [
            None if n == "human" else load_agent(n, game, (seed + i) % 2**64, allow)
            for i, n in enumerate(names)
        ]
    except (ValueError, TypeError, ImportError, AttributeError, OSError) as error:
        raise SystemExit(str(error)) from error
    print(f"{game.title}, seed {seed}: {', '.join(names)}; compiling on first use", flush=True)
    return Table(arguments, replay or Replay.of(game, int(game_seed(base, 0, 0)), []), agents)


def main(arguments: Arguments) -> None:
    """Play a game. Errors are reported in one line; the game is saved first, if it has a file.

    Raises:
        SystemExit: for arguments that are not valid, an agent's illegal action, or a file that cannot be written.
    """
    if sys.stdin.isatty() and importlib.util.find_spec("readline"):  # Windows has none
        import readline

        readline.set_auto_history(False)  # so that nobody can recall another person's input
    try:
        set_up(arguments).play()
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    except OSError as error:
        raise SystemExit(f"error: {error.filename or 'writing'}: {error.strerror or error}") from error
