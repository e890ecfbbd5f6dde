"""Answers: the action that a language model's text names.

The grammar, from strict to tolerant:

- The action is the rest of the last line `ACTION: …`; if there is none, the last `<action>…</action>`, `\\boxed{…}`,
  `{"action": …}` or `answer: …`, also with "move" or "choice"; else the last line of the text.
- It is a label, in any case and with other punctuation; in the mode "legal" its number in the list, or both.
- Or it is other words that fit exactly one legal action. They fit if they contain the words of its label that distinguish
  it from labels with the same first word, no first word of other labels, and no number, place or name that neither the
  label nor the description has. They also fit if they are taken from its description.
- Words like `not`, `or` and `instead` leave the choice open, which is an error.

Thoughts in `<think>…</think>` are ignored.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from garden_agents.games import hints_of
from garden_agents.text.prompts import Mode
from garden_core.checks import short
from garden_core.game import Game

LIMIT = 100_000
"""Largest number of characters of an answer."""

END = "End your answer with one line: ACTION: <action>"
THOUGHTS = re.compile(r"<(think(?:ing)?)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_NAMES = r"(?:action|answer|move|choice|decision)"
_MARKS = [  # in the order in which they count
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"^\W*(?:my |final )*action\b[\s*_`]*[:=]\s*(.*)$",
        rf"<{_NAMES}>\s*([^<]*?)\s*</{_NAMES}>|\\boxed\{{(?:\\text\{{)?([^{{}}\n]*)\}}|\"{_NAMES}\"\s*:\s*([^}}\n]*)",
        rf"\b{_NAMES}\b[\s*_`]*(?:[:=]|is:)\s*(.*)$",
    )
]
_DECORATION = " \t\r*_`\"'“”{}<>"
_NUMBERED = re.compile(r"(?:(?:option|number|no\.|nr\.)\s*)?#?(\d{1,4})(?:[.):]+\s*(.*)|\s*)", re.IGNORECASE)
_PAIR = re.compile(r"\(?(?:\bq\s*[=:]?\s*|\brow\s+)?(-?\d+)(?:\s*[,;]\s*|\s+(?=-\d))(?:r\s*[=:]?\s*|column\s+)?(-?\d+)\)?")
_TOKEN = re.compile(r"-?\d+,-?\d+|[+-]?\d+|[^\W\d]\w*")
_FILLERS = frozenset("a an the to at on in onto into of for with i my me it this that and then go please".split())
_OPEN = frozenset("not never don without except avoid neither nor instead rather unless either or".split())


class AnswerError(ValueError):
    """An answer that names no legal action; the message is for the model that gave it.

    Attributes:
        illegal: whether it names an action of the game that is not legal.
    """

    def __init__(self, message: str, illegal: bool = False) -> None:
        super().__init__(message)
        self.illegal = illegal


class _Label(NamedTuple):
    """A label as words.

    Attributes:
        verb: the first word.
        words: all words.
        needed: the words that distinguish it from other labels with this verb; the verb if there are none.
    """

    verb: str
    words: frozenset[str]
    needed: frozenset[str]


class _Labels(NamedTuple):
    """The labels of a game.

    Attributes:
        each: by action.
        verbs: the verbs of all labels.
        arguments: the words that distinguish labels with the same verb.
    """

    each: tuple[_Label, ...]
    verbs: frozenset[str]
    arguments: frozenset[str]


def parse(
    game: Game,
    state: Any,
    seat: int,
    answer: str,
    *,
    mode: Mode = "legal",
    disguise: Callable[[str], str] | None = None,
) -> int:
    """Return the legal action that a language model's answer names.

    Args:
        game: the game with its options.
        state: a state record in which `seat` is the player to move.
        seat: the model's seat.
        answer: the model's text.
        mode: the mode of the prompt (`garden_agents.text.prompt`).
        disguise: the disguise of the prompt.

    Raises:
        AnswerError: if it names no legal action, or several; the message gives the reason and can be sent back to the
            model. In the modes "form" and "none" it does not say which actions are legal, except those named.

    Example:
        >>> from garden_agents.text import parse
        >>> from garden_core import Batch, make
        >>> game = make("cacti")
        >>> batch = Batch(game, 1)
        >>> batch.reset(seed=1)
        >>> action = parse(game, batch.states[0], 0, "The stars look good. **Action:** Grow the stars.")
        >>> game.labels[action]
        'grow star'
    """
    if disguise is not None:
        try:
            return parse(game, state, seat, disguise(answer[: LIMIT + 1]), mode=mode)
        except AnswerError as error:
            raise AnswerError(disguise(str(error)), error.illegal) from None
    if len(answer) > LIMIT:
        raise AnswerError(f"Your answer has more than {LIMIT:,} characters. {END}")
    named = named_action(answer)
    legal = {entry["action"]: entry["description"] for entry in game.seat_view(state, seat)["legal"]}
    question = game.text(state, seat, legal=False).partition("\n\n")[0]
    words = functools.partial(match, game.labels, legal, synonyms=hints_of(game).synonyms, question=question)
    numbered = _NUMBERED.fullmatch(named) if mode == "legal" else None
    if numbered is None:
        return words(named)
    number, rest = int(numbered[1]), numbered[2]
    if not 1 <= number <= len(legal):
        raise AnswerError(f"{number} is not in the list: its numbers go from 1 to {len(legal)}.")
    action = [*legal][number - 1]
    if rest and words(rest) != action:
        raise AnswerError(f"{number} is {game.labels[action]!r} in the list, not {_quoted(rest)}.")
    return action


def named_action(answer: str) -> str:
    """Return the part of an answer that names the action.

    Raises:
        AnswerError: for an answer without one.

    Example:
        >>> from garden_agents.text.answers import named_action
        >>> named_action("Blue is scarce.\\n**ACTION:** plant blue")
        'plant blue'
    """
    text = THOUGHTS.sub("\n", answer)
    for mark in _MARKS:
        for match in reversed([*mark.finditer(text)]):
            after = (next(filter(None, match.groups()), "") + text[match.end() :]).split("\n")
            if named := next(filter(None, (line.strip(_DECORATION) for line in after)), ""):
                return named
    lines = [*filter(None, (line.strip(_DECORATION) for line in text.split("\n")))]
    if not lines:
        raise AnswerError(f"Your answer names no action. {END}")
    return lines[-1]


def match(
    labels: Sequence[str],
    legal: Mapping[int, str],
    named: str,
    *,
    synonyms: Mapping[str, str] = MappingProxyType({}),
    question: str = "",
) -> int:
    """Return the legal action that words name.

    Args:
        labels: the labels of all actions.
        legal: the descriptions of the legal actions, by action.
        named: the words.
        synonyms: other words for those in labels, see `garden_agents.games.Hints`.
        question: what the player must decide: its places and numbers may be repeated.

    Raises:
        AnswerError: as `parse`.
    """
    words = _words(named, synonyms)
    for action, label in enumerate(labels):
        if words == _words(label, synonyms):
            if action in legal:
                return action
            raise AnswerError(f"{label!r} is not legal now.", illegal=True)
    said = [word for word in words if word not in _FILLERS]
    if _OPEN.intersection(words):
        raise AnswerError(f"{_quoted(named)} leaves the choice open. Name only the action that you choose.")
    if not said:
        raise AnswerError(f"{_quoted(named)} names no action of this game. {END}")
    known = _labels(tuple(labels), tuple(synonyms.items()))
    asked = _words(question, synonyms)
    texts = {action: _words(text, synonyms) for action, text in legal.items()}
    fits = [a for a in legal if _fits(said, known, known.each[a], {*texts[a], *asked})] or [
        a for a in legal if _quotes(said, [*_words(labels[a], synonyms), *texts[a]])
    ]
    if len(fits) == 1:
        return fits[0]
    if fits:
        some = "; ".join(labels[action] for action in fits[:8])
        raise AnswerError(f"{_quoted(named)} fits several actions: {some}. Name exactly one.")
    others = [a for a, label in enumerate(known.each) if _fits(said, known, label, set())]
    if len(others) == 1:
        raise AnswerError(f"{labels[others[0]]!r} is not legal now.", illegal=True)
    if sum(label.needed <= {*said} for label in known.each) > 1:
        raise AnswerError(f"{_quoted(named)} could mean several actions. Name exactly one, by its name.")
    raise AnswerError(f"{_quoted(named)} names no action of this game. {END}")


def _quoted(text: str) -> str:
    return short(text)


def _fits(said: list[str], labels: _Labels, label: _Label, allowed: set[str]) -> bool:
    """Return whether words name the action of a label; they may also contain the words `allowed`."""
    foreign = {*said} - label.words - allowed
    return (
        label.needed <= {*said}
        and not foreign & labels.verbs
        and not foreign & labels.arguments
        and not any(word[-1].isdigit() for word in foreign)
    )


def _quotes(said: list[str], description: list[str]) -> bool:
    """Return whether words are taken from a description, which begins with the label.

    They are its first word or at least two words; with a number, they must be next to each other.
    """
    words = [word for word in description if word not in _FILLERS]
    if (len(said) < 2 and said[0] != description[0]) or not {*said} <= {*words}:
        return False
    return not any(word[-1].isdigit() for word in said) or any(
        words[i : i + len(said)] == said for i in range(len(words))
    )


@functools.lru_cache(maxsize=64)
def _labels(names: tuple[str, ...], synonyms: tuple[tuple[str, str], ...]) -> _Labels:
    split = [_words(label, dict(synonyms)) for label in names]
    arguments: dict[str, list[frozenset[str]]] = {}
    for verb, *rest in split:
        arguments.setdefault(verb, []).append(frozenset(rest))
    shared = {verb: frozenset.intersection(*each) for verb, each in arguments.items()}
    each = [
        _Label(verb, frozenset((verb, *rest)), frozenset(rest) - shared[verb] or frozenset((verb,)))
        for verb, *rest in split
    ]
    verbs = frozenset(arguments)
    return _Labels(tuple(each), verbs, frozenset().union(*(label.needed for label in each)) - verbs)


def _words(text: str, synonyms: Mapping[str, str]) -> list[str]:
    """Return the words, numbers and places of a text in a common form: lower case, singular, without synonyms."""
    plain = text.lower().translate(_CHARACTERS)
    for phrase in sorted(synonyms, key=len, reverse=True):
        plain = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", synonyms[phrase], plain)
    plain = _PAIR.sub(lambda pair: f" {int(pair[1])},{int(pair[2])} ", plain)
    return [_singular(token) for token in _TOKEN.findall(plain)]


_CHARACTERS = str.maketrans({"−": "-", "–": "-", "‑": "-", "’": "'"})


def _singular(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
