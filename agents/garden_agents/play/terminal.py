"""Play a game in the terminal, against agents or several people at one keyboard.

    garden play mars --seats human greedy --save game.json

A person sees the position as their seat does. For --show-estimate an agent has a method `estimate(batch, row) ->
str`, what it thinks of the position in that row; it is called after the agent chose there, before the step.
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
from garden_core.policies import Policy, ask
from garden_core.registry import game_class
from garden_core.replay import Replay
from garden_core.rng import game_seed

__all__ = ["Arguments", "Table", "find", "main", "set_up"]

ADVISER = "mcts:400"
MANY = 40  # more actions than this that differ only in their last word are counted, not listed
COLUMNS = 100  # of text at most; fewer if the terminal is narrower
DRAWS = 200  # of what a person cannot see, to find out whether a description depends on it
HELP = f"""\
Type an action's number, its name, or as much of it as no other in the list has; or
  rules      the rules in short; rules all: the full rules
  hint       what {ADVISER} would do
  save FILE  keep the game so far, and again when it ends or you leave
  quit       leave, as do Ctrl-D and Ctrl-C
  help       this"""


@dataclass
class Arguments:
    """Play a game in the terminal, against agents or several people at one keyboard."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    seats: list[str] = field(default_factory=lambda: ["human", "greedy"])
    """one name a seat: human, random, greedy, mcts:400, a run's folder, module:attribute, …"""
    num_players: int | None = None
    """players at the table; as many as there are seats if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, for example --options peaks 2"""
    seed: int | None = None
    """of the game and the agents' choices; a random one if not given"""
    save: Path | None = None
    """file for the replay, written when the game ends or you leave"""
    resume: Path | None = None
    """go on with the unfinished game in this file, with its options, and save it there again"""
    show_estimate: bool = False
    """show what agents think of the position; this can give their hidden cards away"""
    allow_other_options: bool = False
    """take networks that were made for other options or data, too"""


def find(text: str, labels: Sequence[str]) -> int:
    """Return the index of the label meant by its number from 1 on, its name, or the beginning of it or of a word.

    Raises:
        ValueError: if none or several are meant; the message tells what would do.
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
    """A game in the terminal, as far as `replay` has it; `agents` has None for each seat of a person."""

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
        self.batch = Batch(self.game, 1, autoreset=False)
        self.batch.reset(0)
        *_, self.batch.states[0] = replay.states()
        self.batch.refresh()
        self.state = self.batch.states[0]

    def play(self) -> None:
        """Play to the end, or until somebody leaves, save the game if it has a file, and tell how it went."""
        try:
            while not (self.state["terminated"] or self.state["truncated"]):
                self._turn()
            self._tell_end()
        except (EOFError, KeyboardInterrupt):
            words = [self.arguments.game, "--seats", *self.arguments.seats, "--resume", str(self.path)]
            again = f"to go on: garden play {shlex.join(words)}"
            print("\n\nyou left the game;", again if self.path else "it was not saved, as no file was named")
        finally:
            if self.path:
                self.save(self.path)

    def _turn(self) -> None:
        """Let the player to move choose, and carry it out."""
        seat = int(self.state["current_player"])
        agent = self.agents[seat]
        action, thought = (self._choose(seat), "") if agent is None else self._ask(agent)
        before = self.state.copy()
        self.batch.step([action])
        told = self._tell(action, self._open_description(before, seat, action))
        self.actions.append(self.game.labels[action])
        self.moves.append(wrapped(f"{self.names[seat]}: {told}", indent=4) + thought)
        self.seen[seat] = len(self.moves)
        print(self.moves[-1], flush=True)

    def _tell(self, action: int, description: str) -> str:
        """Return an action's label and description as one sentence."""
        label = self.game.labels[action]
        return description if description.startswith(label) else f"{label}: {description}"

    def _open_description(self, state: np.void, seat: int, action: int) -> str:
        """Return what the action of `seat` does, or its label if that would tell a person what they cannot see."""
        label, description = self.game.labels[action], self.game.describe(state, action)
        if self.game.information == "perfect" or description == label:
            return description
        others = [other for other, agent in enumerate(self.agents) if agent is None and other != seat]
        return (
            description
            if all(self._is_open(description, state, action, other) for other in others)
            else label
        )

    def _is_open(self, description: str, state: np.void, action: int, seat: int) -> bool:
        """Whether an action is described alike wherever it is legal when what `seat` cannot see is redrawn."""
        redrawn, mask = self.game.new_states(1), np.zeros(self.game.num_actions, np.int8)
        told = set()
        for draw in range(DRAWS):
            redrawn[0] = state
            kernels.resample(redrawn[0], self.game.params[0], seat, draw)
            kernels.legal_actions(redrawn[0], self.game.params[0], mask)
            if mask[action]:
                told.add(self.game.describe(redrawn[0], action))
        return told == {description}

    def _ask(self, agent: Policy) -> tuple[int, str]:
        """Return the agent's choice, and what it thinks if that is to be shown."""
        action = int(ask(agent, self.batch, np.zeros(1, np.int64))[0])
        estimate = getattr(agent, "estimate", None) if self.arguments.show_estimate else None
        return action, "" if estimate is None else "\n" + textwrap.indent(estimate(self.batch, 0), "    ")

    def _choose(self, seat: int) -> int:
        """Show the position to the person on `seat` and return the action that they type."""
        if self.secret and self.at_keyboard != seat:
            self._pass_keyboard(seat)
        actions = np.flatnonzero(self.batch.action_mask[0])
        labels = [self.game.labels[action] for action in actions]
        described = [self.game.describe(self.state, int(action)) for action in actions]
        text = self.game.text(self.state, seat).partition("\n\nlegal: ")[0]  # they are listed below
        points = zip(self.names, self._tally(kernels.public_points), strict=True)
        told = ", ".join(f"{name} {own}" for name, own in points)
        what = (
            "points so far"
            if self.game.information == "perfect"
            else "points on the table, which all can see"
        )
        print("", "-" * 79, text, "", wrapped(f"{what}: {told}", indent=4), "", sep="\n")
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
                    action, thought = self._ask(self.adviser)
                    told = self._tell(action, self.game.describe(self.state, action))
                    print(wrapped(f"{ADVISER} would choose {told}", indent=4) + thought)
                elif command.lower() == "save":
                    self.save(Path(rest.strip()).expanduser() if rest else self.path)
                elif line.lower() == "quit":
                    raise EOFError
                else:
                    return int(actions[find(line, labels)])
            except (ValueError, OSError) as error:
                print(error)

    def _pass_keyboard(self, seat: int) -> None:
        """Hide what the last person saw, wait for the next, and tell them what they missed."""
        if sys.stdout.isatty():
            print("\033[H\033[2J\033[3J", end="")  # the screen, and what was scrolled off it
        typed(f"{self.names[seat]}, take the keyboard and press Enter: ")
        self.at_keyboard = seat
        if self.seen[seat] < len(self.moves):
            print("since your last move:", *self.moves[self.seen[seat] :], sep="\n")

    def _help(self) -> str:
        """Return what can be typed, and what the game's actions mean."""
        lines, first = [HELP, "The game's actions:"], 0
        for part in self.game.action_parts:
            name = self.game.labels[first] + (" …" if part.size > 1 else "")
            lines += textwrap.wrap(f"  {name}: {part.meaning}", 79, subsequent_indent="      ")
            first += part.size
        return "\n".join(lines)

    def _rules(self) -> str:
        """Return the rules in short, if the game tells them, and where there is more."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in self.game.summary.strip().split("\n\n")]
        if self.game.rules_text != self.game.summary:
            paragraphs.append('Type "rules all" for the full rules.')
        page = Path(__file__).parents[3] / "docs" / f"{self.game.name}.md"
        if page.exists():
            paragraphs.append(f"More is in docs/{page.name}.")
        if not self.game.summary:
            paragraphs[0] = f"{self.game.title} tells no rules in short."
        return "\n\n".join(map(wrapped, paragraphs))

    def _tally(self, count: Callable[..., None]) -> list[int]:
        """Return what a kernel counts for each seat."""
        out = np.zeros(len(self.state["paid"]), np.int32)
        count(self.state, self.game.params[0], out)
        return out[: self.game.num_players].tolist()

    def save(self, path: Path | None) -> None:
        """Write the replay to `path`, the game's file from now on; ValueError if that is another's, or None."""
        if path is None or (path.exists() and path != self.path):
            raise ValueError(f"save FILE needs the name of a new file, not {path or 'none'}")
        Replay.of(self.game, self.seed, self.actions).save(path)
        self.path = path
        print(f"saved in {path}")

    def _tell_end(self) -> None:
        """Print the final position, who won, and how every score came about."""
        scores, ranks = self._tally(kernels.points), self._tally(kernels.standings)
        sheets = self.game.score_sheet(self.game.snapshot(self.state))
        print("", "-" * 79, self.game.text(self.state), "", sep="\n")
        if self.state["truncated"]:
            print(f"stopped by the cap of {self.state['decisions']} decisions: scored as it stands")
        if self.game.cooperative:
            print(f"the team has {min(scores)} points, the least that one of its players has")
        for seat in sorted(range(len(ranks)), key=lambda seat: -ranks[seat]):
            place = 1 + sum(rank > ranks[seat] for rank in ranks)
            tied = " (tied)" if ranks.count(ranks[seat]) > 1 else ""
            first = "" if self.game.cooperative else f"{place}.{tied} "
            parts = sum_in_words(sheets[seat])
            print(wrapped(f"{first}{self.names[seat]}: {scores[seat]} points{parts}", indent=4))
        if not self.game.cooperative and len(set(scores)) < len(set(ranks)):
            print("equal points are ranked by the rules for ties")


def sum_in_words(sheet: dict[str, int]) -> str:
    """Return the parts of a score as ` = planted 14 + special 4 - left over 4`; nothing for "score" alone."""
    if list(sheet) == ["score"]:
        return ""
    parts = [
        f"{'-' if points < 0 else '+'} {part.replace('_', ' ')} {abs(points)}"
        for part, points in sheet.items()
    ]
    return f" = {' '.join(parts).removeprefix('+ ')}"


def columns() -> int:
    """Return how many columns text may have."""
    return min(COLUMNS, shutil.get_terminal_size().columns)


def wrapped(text: str, indent: int = 0) -> str:
    """Return one paragraph over as many lines as it needs, all but the first indented."""
    return textwrap.fill(text, columns(), subsequent_indent=" " * indent, break_on_hyphens=False)


def full_rules(text: str) -> str:
    """Return the text of a game's rules with its paragraphs and items wrapped anew; tables stay as they are."""
    lines = re.sub(r"(?<=\S)\n *(?![\n|#]|- )", " ", text.strip()).splitlines()
    return "\n".join(
        line if line.startswith("|") else wrapped(line, 2 if line.startswith("- ") else 0) for line in lines
    )


def list_actions(labels: Sequence[str], described: Sequence[str]) -> None:
    """Print the actions with their numbers, from 1 on, and descriptions; many of a kind are told in a line."""
    kinds = [label.rpartition(" ")[0] for label in labels]
    rest = [text.removeprefix(label).lstrip(" ,:") for text, label in zip(described, labels, strict=True)]
    many = [kind for kind in dict.fromkeys(kinds) if kind and kinds.count(kind) > MANY]
    for kind in many:
        alike = [number for number, own in enumerate(kinds) if own == kind]
        typical = alike[len(alike) // 2]
        told = f"{kind} …: any of {len(alike)}, such as {typing_of(typical, labels)}"
        print(wrapped(f"{told}: {rest[typical]}" if rest[typical] else told, indent=4))
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
    """Return what to type for an action: its label, or its last word too if that fits no other."""
    last = labels[number].split()[-1]
    try:
        alone = find(last, labels) == number
    except ValueError:
        alone = False
    return f"{labels[number]} (or just {last})" if alone else labels[number]


def typed(prompt: str) -> str:
    """Return a typed line, EOFError if there is none; print a piped one, so that the output can be read."""
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)
    return line


def set_up(arguments: Arguments) -> Table:
    """Return the table, its game dealt or taken up again; SystemExit tells what is wrong with the arguments."""
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
    """Play a game; what goes wrong takes one line, as the game is saved where it has a file.

    Raises:
        SystemExit: for arguments that do not fit, an agent that answers wrongly, or a file that cannot be written.
    """
    if sys.stdin.isatty() and importlib.util.find_spec("readline"):  # Windows has none
        import readline

        readline.set_auto_history(False)  # nobody can call up what another has typed
    try:
        set_up(arguments).play()
    except ValueError as error:
        raise SystemExit(f"error: {error}") from error
    except OSError as error:
        raise SystemExit(f"error: {error.filename or 'writing'}: {error.strerror or error}") from error
