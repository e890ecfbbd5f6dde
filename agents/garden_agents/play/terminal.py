"""Play a game in the terminal, against agents or with several people at one keyboard.

    garden play mars --seats human greedy --save game.json

People see what their seat may see. With --show-estimate, agents report their evaluation of the position: their method
`estimate(batch, row) -> str`, if they have one, is called after they chose an action in that row and before the step.
"""

from __future__ import annotations

import cmd
import contextlib
import importlib.util
import pydoc
import re
import shlex
import shutil
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path

from garden_agents.errors import one_line_errors
from garden_agents.play.match import Arguments, Match, sentence, set_up

MANY = 40  # more actions than this that differ only in their last word are counted instead of listed
COLUMNS = 100  # largest width of the text
HELP = """\
Type an action's number, its name, or the beginning of it or of one of its words, if unique in the list; or
  rules      the rules in short; rules all: the full rules
  hint       the choice of a strong agent
  save FILE  save the game now, and again when it ends or you leave
  quit       leave the game, like Ctrl-D and Ctrl-C
  help       this text"""


def find(text: str, labels: Sequence[str]) -> int:
    """Return the index of the label that matches typed text.

    The text is the label's number, counted from 1, the whole label, its beginning, or the beginning of one of its words.

    Raises:
        ValueError: if no label or several labels match; the message says what can be typed.
    """
    text = " ".join(text.lower().split())
    if text.isdecimal() and 1 <= int(text) <= len(labels):
        return int(text) - 1
    names = [f" {label.lower()}" for label in labels]  # a space begins every word
    matches: list[int] = []
    for fits in (str.__eq__, str.startswith, str.__contains__):
        matches = matches or [i for i, name in enumerate(names) if text and fits(name, f" {text}")]
    if len(matches) == 1:
        return matches[0]
    if matches:
        some = "; ".join(labels[i] for i in matches[:8]) + ("; …" if len(matches) > 8 else "")
        raise ValueError(f"{text!r} fits {len(matches)} actions: {some}")
    raise ValueError(f"{text!r} is not in the list: type a number from 1 to {len(labels)}, a name, or help")


class Table:
    """A game in the terminal.

    Args:
        match: the game.
        path: file for the game, None for no file.
        again: the command that continues the saved game.
    """

    def __init__(self, match: Match, path: Path | None, again: str) -> None:
        self.match, self.game, self.path, self.again = match, match.game, path, again
        self.secret = len(match.people) > 1 and self.game.information != "perfect"
        self.at_keyboard = -1  # seat
        self.seen = [len(match.moves)] * self.game.num_players  # how many moves each seat has seen

    def play(self) -> None:
        """Play to the end, or until a person leaves; print the result, and save the game if it has a file."""
        try:
            while not self.match.over:
                self._turn()
            self._print_end()
        except (EOFError, KeyboardInterrupt):
            again = f"to continue: {self.again}"
            print("\n\nyou left the game;", again if self.path else "it was not saved, as no file was named")
        finally:
            if self.path:
                self.save(self.path)

    def _turn(self) -> None:
        """Ask the player to move for an action, and carry it out."""
        match, seat = self.match, self.match.seat
        if match.agents[seat] is None:
            match.act(self._choose(seat))
        else:
            match.act(*match.choose())
        if match.forfeited >= 0:
            print(f"{match.names[seat]} loses the game", flush=True)
            return
        self.seen[seat] = len(match.moves)
        print(self._in_words(len(match.moves) - 1), flush=True)

    def _in_words(self, number: int) -> str:
        """Return a move in words, as far as all people may know it."""
        move = self.match.moves[number]
        line = wrapped(
            f"{self.match.names[move.seat]}: {self.match.in_words(number, self.match.people)}", indent=4
        )
        return line + ("\n" + textwrap.indent(move.estimate, "    ") if move.estimate else "")

    def _choose(self, seat: int) -> int:
        """Show the position to the person on `seat`; return the chosen action."""
        if self.secret and self.at_keyboard != seat:
            self._pass_keyboard(seat)
        match = self.match
        choices = dict(match.choices())
        labels = [self.game.labels[action] for action in choices]
        text, _, _ = self.game.text(match.state, seat).partition("\n\nlegal: ")  # they are listed below
        points = ", ".join(f"{name} {own}" for name, own in zip(match.names, match.points(), strict=True))
        perfect = self.game.information == "perfect"
        what = "points so far" if perfect else "points on the table, which all can see"
        print("", "-" * 79, text, "", wrapped(f"{what}: {points}", indent=4), "", sep="\n")
        print(f"{match.names[seat]} can choose (or: help, rules, hint, save FILE, quit)")
        list_actions(labels, [*choices.values()])
        while True:
            line = typed(f"{match.names[seat]}> ").strip()
            try:
                match line.lower().split():
                    case ["help"]:
                        print(self._help())
                    case ["rules"]:
                        print(self._rules())
                    case ["rules", "all"]:
                        pydoc.pager(full_rules(self.game.rules_text or self._rules()) + "\n")
                    case ["hint"]:
                        advice = match.advise()
                        move = sentence(self.game.labels[advice.action], choices[advice.action])
                        value = (
                            "" if advice.value is None else f"; it expects {advice.value:+.2f} (from -1 to 1)"
                        )
                        print(wrapped(f"{advice.by} would choose {move}{value}", indent=4))
                    case ["save", *_]:
                        name = line[len("save") :].strip()
                        self.save(Path(name).expanduser() if name else self.path)
                    case ["quit"]:
                        raise EOFError
                    case _:
                        return [*choices][find(line, labels)]
            except (ValueError, OSError) as error:
                print(error)

    def _pass_keyboard(self, seat: int) -> None:
        """Clear the screen, wait for the next person, and print the moves since their last one."""
        if sys.stdout.isatty():
            print("\033[H\033[2J\033[3J", end="")  # the screen and the scrollback
        typed(f"{self.match.names[seat]}, take the keyboard and press Enter: ")
        self.at_keyboard = seat
        if self.seen[seat] < len(self.match.moves):
            since = map(self._in_words, range(self.seen[seat], len(self.match.moves)))
            print("since your last move:", *since, sep="\n")

    def _help(self) -> str:
        """Return the help text: the commands, and the meaning of the game's actions."""
        lines, first = [HELP, "The game's actions:"], 0
        for part in self.game.action_parts:
            name = self.game.labels[first] + (" …" if part.size > 1 else "")
            lines += textwrap.wrap(f"  {name}: {part.meaning}", 79, subsequent_indent="      ")
            first += part.size
        return "\n".join(lines)

    def _rules(self) -> str:
        """Return the rules in short, if the game has them, and references to the full rules."""
        paragraphs = [" ".join(paragraph.split()) for paragraph in self.game.summary.strip().split("\n\n")]
        if self.game.rules_text != self.game.summary:
            paragraphs.append('Type "rules all" for the full rules.')
        page = Path(__file__).parents[3] / "docs" / f"{self.game.name}.md"
        if page.exists():
            paragraphs.append(f"More is in docs/{page.name}.")
        if not self.game.summary:
            paragraphs[0] = f"{self.game.title} has no rules in short."
        return "\n\n".join(map(wrapped, paragraphs))

    def save(self, path: Path | None) -> None:
        """Write the replay to `path`, which becomes the game's file.

        Raises:
            ValueError: if `path` is None, or another existing file.
            OSError: if the file cannot be written.
        """
        if path is None or (path.exists() and path != self.path):
            raise ValueError(f"save FILE needs the name of a new file, not {path or 'none'}")
        self.match.replay().save(path)
        self.path = path
        print(f"saved in {path}")

    def _print_end(self) -> None:
        """Print the final position, the places, and the parts of every score."""
        match, places = self.match, self.match.places()
        scores = [place.score for place in places]
        print("", "-" * 79, self.game.text(match.state), "", sep="\n")
        if match.state["truncated"]:
            print(f"stopped by the cap of {match.state['decisions']} decisions: scored as it stands")
        if self.game.cooperative:
            print(f"the team has {min(scores)} points, the least that one of its players has")
        for seat, place, tied, score, sheet in places:
            first = "" if self.game.cooperative else f"{place}.{' (tied)' if tied else ''} "
            print(wrapped(f"{first}{match.names[seat]}: {score} points{sum_in_words(sheet)}", indent=4))
        if not self.game.cooperative and len(set(scores)) < len({each.place for each in places}):
            print("equal points are ranked by the rules for ties")


def sum_in_words(sheet: dict[str, int]) -> str:
    """Return the parts of a score as ` = planted 14 + special 4 - left over 4`; "" if "score" is the only part."""
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
    """Return a paragraph wrapped to the width; all lines but the first are indented."""
    return textwrap.fill(text, columns(), subsequent_indent=" " * indent, break_on_hyphens=False)


def full_rules(text: str) -> str:
    """Return a game's rules with paragraphs and list items wrapped to the width; tables are unchanged."""
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
    if any(rest[number] for number in listed):
        width = max(len(labels[number]) for number in listed)
        for number in listed:
            line = f"{number + 1:>2} {labels[number]:<{width}}  {rest[number]}".rstrip()
            print(wrapped(line, min(width + 5, columns() // 2)))
    elif listed:
        lines = [f"{number + 1:>2} {labels[number]}" for number in listed]
        cmd.Cmd(stdout=sys.stdout).columnize(lines, columns())


def typing_of(number: int, labels: Sequence[str]) -> str:
    """Return what to type for an action: its label, and its last word if that is enough."""
    last = labels[number].split()[-1]
    with contextlib.suppress(ValueError):
        if find(last, labels) == number:
            return f"{labels[number]} (or just {last})"
    return labels[number]


def typed(prompt: str) -> str:
    """Return a line of input; print it if it comes from a pipe, so that the output is readable.

    Raises:
        EOFError: at the end of the input.
    """
    line = input(prompt)
    if not sys.stdin.isatty():
        print(line)
    return line


def table(arguments: Arguments) -> Table:
    """Return the table of a new game, or of the game to continue.

    Raises:
        SystemExit: for arguments that are not valid.
    """
    path = arguments.save or arguments.resume
    words = [arguments.game, "--seats", *arguments.seats, "--resume", str(path)]
    return Table(set_up(arguments), path, f"garden play {shlex.join(words)}")


def main(arguments: Arguments) -> None:
    """Play a game. Errors are reported in one line; the game is saved first, if it has a file.

    Raises:
        SystemExit: for arguments that are not valid, an agent's illegal action, or a file that cannot be written.
    """
    if sys.stdin.isatty() and importlib.util.find_spec("readline"):  # Windows has none
        import readline

        readline.set_auto_history(False)  # a person must not recall another person's input
    with one_line_errors():
        table(arguments).play()
