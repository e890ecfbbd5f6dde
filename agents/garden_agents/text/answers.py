"""Answers: the action that a language model's text names.

- Thoughts are left out: what stands before the last closing tag of `TAGS`, and after an opening one that is not closed.
- The action stands in a line `ACTION: <number or name>`; all other text is ignored. Several such lines must name the same
  action. Without one, the whole answer must be an action, or a JSON object with an entry "action", nested or not.
- A number is that of the list of legal actions, where one was shown. A name is the label of an action, whole.
- Not part of either: Markdown and quotes around it, a final stop, upper or lower case, tokens that end an answer (`STOPS`).
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from garden_agents.text.prompts import FORMS, Mode, listed
from garden_core.game import Game

LIMIT = 1_000_000
"""Largest number of characters of an answer."""
TAGS = {
    **{
        f"<{name}>": f"</{name}>"
        for name in ("think", "thinking", "thought", "reasoning", "reflection", "seed:think")
    },
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|begin_of_thought|>": "<|end_of_thought|>",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "<|channel|>analysis<|message|>": "<|channel|>final<|message|>",
}
"""Opening and closing tags of thoughts, as models of several makers write them."""
_OPENING, _CLOSING = (
    re.compile("|".join(map(re.escape, tags)), re.IGNORECASE) for tags in (TAGS, TAGS.values())
)
STOPS = re.compile(r"(?:<\|[^<>|\s]{1,40}\|>|</s>|<(?:seed:)?eos>|<end_of_turn>|\[/INST\])\Z", re.IGNORECASE)
"""Tokens that end an answer, as some servers leave them in the text."""
_LINE = re.compile(
    r"^(?:[ \t>#*_`\"'“‘-]|<\|[^<>|\s]{1,40}\|>){0,20}action[ \t*_`]{0,9}:(.*)$",
    re.IGNORECASE | re.MULTILINE | re.ASCII,
)
_FENCE = re.compile(r"\s*```(?:json)?\s*(\{.*\})\s*```\s*", re.IGNORECASE | re.DOTALL)
_MARKS = " \t\r*_`\"'“”‘’«»"
_MOST_STOPS = 9
_LONGEST = 500  # characters of the part that names an action


Outcome = Literal["legal", "illegal", "unreadable", "truncated"]
"""What an answer is; see `AnswerError`."""


class AnswerError(ValueError):
    """An answer that names no legal action; the message is for the model that gave it.

    Attributes:
        outcome: "illegal": it names an action of the game that is not legal, or a number that is not in the list; "truncated":
            it was cut off at the limit of tokens; "unreadable": it names no action, or several.

    Example:
        >>> from garden_agents.text import AnswerError, parse
        >>> from garden_core import Batch, make
        >>> batch = Batch(make("cacti"), 1)
        >>> batch.reset(seed=1)
        >>> try:
        ...     parse(batch.game, batch.states[0], 0, "ACTION: grow a beard")
        ... except AnswerError as error:
        ...     print(error)
        'grow a beard' is no action of this game. End your answer with one line: ACTION: <number or name>
    """

    def __init__(self, message: str, outcome: Outcome = "unreadable") -> None:
        super().__init__(message)
        self.outcome: Outcome = outcome


def parse(
    game: Game,
    state: Any,
    seat: int,
    answer: str,
    *,
    finish: str = "stop",
    mode: Mode = "legal",
    disguise: Callable[[str], str] | None = None,
    order: int = 0,
) -> int:
    """Return the legal action that a language model's answer names.

    Args:
        game: the game with its options.
        state: a state record in which `seat` is the player to move.
        seat: the model's seat.
        answer: the model's text.
        finish: why the text ended, as the server says; one that ended at its limit of tokens, "length", is no answer.
        mode: the mode of the prompt (`garden_agents.text.prompt`).
        disguise: the disguise of the prompt.
        order: the seed of the order of its list.

    Raises:
        AnswerError: if it names no legal action, or several; the message gives the reason and can be sent back to the
            model. In the mode "form" it does not say which actions are legal.

    Example:
        >>> from garden_agents.text import parse
        >>> from garden_core import Batch, make
        >>> game = make("cacti")
        >>> batch = Batch(game, 1)
        >>> batch.reset(seed=1)
        >>> action = parse(game, batch.states[0], 0, "The stars look good.\\n**ACTION: Grow star**")
        >>> game.labels[action]
        'grow star'
    """
    if finish == "length":
        raise AnswerError(
            f"Your answer was cut off, as it was too long. Answer in few words, with the line {FORMS[mode]}",
            "truncated",
        )
    if disguise is not None:
        try:
            return parse(game, state, seat, disguise(answer[: LIMIT + 1]), mode=mode, order=order)
        except AnswerError as error:
            raise AnswerError(disguise(str(error)), error.outcome) from None
    legal = [entry["action"] for entry in listed(game, state, seat, order)]
    return match(game.labels, legal, answer, mode)


def match(labels: Sequence[str], legal: Sequence[int], answer: str, mode: Mode) -> int:
    """Return the legal action that an answer names: see `parse`; `legal` has the order of the list."""
    form = FORMS[mode]
    if len(answer) > LIMIT:
        raise AnswerError(f"Your answer has more than {LIMIT:,} characters. End it with one line: {form}")
    actions, errors = set(), {}
    for text in named(answer, form):
        try:
            actions.add(_action(labels, legal, text, mode))
        except AnswerError as error:
            errors[str(error)] = error
    if len(actions) + len(errors) > 1:
        raise AnswerError(f"Your answer names different actions. End it with one line: {form}")
    for wrong in errors.values():
        raise wrong
    if not actions:
        raise AnswerError(f"Your answer names no action. End it with one line: {form}")
    return actions.pop()


def spoken(answer: str) -> str:
    """Return an answer without thoughts."""
    *_, rest = _CLOSING.split(answer)
    return _OPENING.split(rest)[0]


def named(answer: str, form: str) -> list[str]:
    """Return the parts of an answer that name an action: of its lines, its JSON object, or the whole answer.

    The form of the line, `form`, does not count if it is only repeated.
    """
    text = _ended(unicodedata.normalize("NFKC", spoken(answer)))
    lines = [line[1].strip(_MARKS) for line in _LINE.finditer(text) if form not in line[0]]
    if lines:
        return lines
    fenced = _FENCE.fullmatch(text)
    try:
        content = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        content = None
    if isinstance(content, dict):
        return [*_entries(content)]
    whole = text.strip(_MARKS + "\n")
    return [whole] if whole and "\n" not in whole and form not in whole else []


def _ended(text: str) -> str:
    """Return a text without tokens at its end."""
    for _ in range(_MOST_STOPS):
        text = text.rstrip()
        stop = STOPS.search(text[-60:])
        if stop is None:
            break
        text = text[: len(text) - len(stop[0])]
    return text


def _entries(value: Any) -> Iterator[str]:
    """Yield the entries "action" in a JSON value."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    if isinstance(value, dict) and type(value.get("action")) in (str, int):
        yield str(value["action"])
    for each in inner:
        yield from _entries(each)


def _action(labels: Sequence[str], legal: Sequence[int], text: str, mode: Mode) -> int:
    """Return the legal action that a number or name is."""
    stopped = _ended(text).strip(_MARKS).removesuffix(".").strip(_MARKS)
    if mode == "legal" and re.fullmatch(r"[0-9]{1,9}", stopped):
        if not 1 <= int(stopped) <= len(legal):
            raise AnswerError(
                f"{stopped} is not in the list: its numbers go from 1 to {len(legal)}.", "illegal"
            )
        return legal[int(stopped) - 1]
    for form in (str, _plain):
        for name in (text, stopped):
            found = [action for action, label in enumerate(labels) if form(label) == form(name)]
            if len(found) == 1 and found[0] in legal:
                return found[0]
            if len(found) == 1:
                raise AnswerError(f"{labels[found[0]]!r} is not legal now.", "illegal")
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST // 2]} … {text[-_LONGEST // 2 :]}"
    raise AnswerError(f"{shown!r} is no action of this game. End your answer with one line: {FORMS[mode]}")


def _plain(name: str) -> str:
    """Return a name as names are compared."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
