"""Answers: the action that a language model's text names.

The grammar:

- Thoughts, `<think>…</think>`, are left out. The action is the rest of the last line `ACTION: …`; if there is none, the last
  `<action>…</action>`, `\\boxed{…}`, `{"action": …}` or `answer: …`, also with "move" or "choice"; else the last sentence or
  line of the text. What follows "because", "rather than", "not", a comma, a dash or a bracket can explain the action.
- It is a label, in any case and with other punctuation; in the mode "legal" its number in the list, or both.
- Or it is other words that fit exactly one legal action. They contain the words that distinguish its label from labels
  with the same first word, or are taken from its description. All of them are words of the label, the description or the
  meaning of the action, or say only that something is done (`_NEUTRAL_WORDS`); so "don't grow star" fits nothing.
- A number fits if the description has it with the same neighbour: not the 3 of "3 coins" for "flower 3".
- Questions, denials and labels of two actions are errors.
"""

from __future__ import annotations

import functools
import itertools
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from garden_agents.games import hints_of
from garden_agents.text.prompts import Mode
from garden_core.game import Game

LIMIT = 1_000_000
"""Largest number of characters of an answer."""

END = "End your answer with one line: ACTION: <action>"
THOUGHTS = re.compile(r"<(think(?:ing)?)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_CHANNEL = re.compile(r"</think(?:ing)?>|<\|message\|>", re.IGNORECASE)
"""Ends of thoughts that the prompt's template began."""
_NAMES = r"(?:action|answer|move|choice|decision)"
_LINE = re.compile(
    r"^[^\w\n]{0,20}(?:my |final )*action\b(?:[\s*_`]{0,9}[:=→]|[ \t*_`]{1,9}[–—-][ \t])[ \t]*(.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_BRACKETS = re.compile(
    rf"<{_NAMES}>([^<]{{0,500}})</{_NAMES}>|\\boxed\{{((?:[^{{}}\n]|\{{[^{{}}\n]*\}}){{0,500}})\}}"
    rf"|\"{_NAMES}\"\s{{0,9}}:\s{{0,9}}([^}}\n]{{0,500}})",
    re.IGNORECASE,
)
_LOOSE = re.compile(rf"\b{_NAMES}\b[\s*_`]{{0,9}}(?:[:=→]|is:)[ \t]*(.*)$", re.IGNORECASE | re.MULTILINE)
_LATEX = re.compile(r"\\[a-z]+\s*(?=\{)|\\(?=\W)|[{}$]", re.IGNORECASE)
_LONGEST = 500  # characters of the part that names the action
_DECORATION = " \t\r*_`\"'“”{}<>"
_EXPLANATION = re.compile(
    r";|\((?!\s*(?:q\s*=\s*)?[-−]?\d+\s*,)|\*\*|,\s+(?![-−\d]|r\b)|(?<!\d)[.!]\s|\s[–—-]\s"
)
_REJECTED = re.compile(
    r"\W*\b(?:rather than|instead of|because|since|whereas|which|as (?:it|this|that)|(?:and |but )?not)\b.*$",
    re.IGNORECASE | re.DOTALL,
)
"""Words after the action that explain it, or that name what is not chosen."""
_DENIED = re.compile(
    r"\?|\b(?:is|are|was|would|will|do|does|did|can|could|should|must) not\b|cannot|n['’]t\b|^\W*(?:the )?(?:opponent|player_\d+)\b",
    re.IGNORECASE,
)
"""Signs that a sentence chooses nothing: a question, a denial, another player's action."""
_NUMBER = r"[\[(]?#?(\d{1,4})[\])]?"
_NUMBERED = re.compile(
    rf"(?:(?:option|number|no\.|nr\.)\s*)?{_NUMBER}(?:\s*[.,):\]]+|\s+[–—-]|(?=\s*\()|(?<=\]))\s*\(?(?=[^\W\d])(.*)",
    re.DOTALL | re.IGNORECASE,
)
_SEVERAL = re.compile(
    rf"{_NUMBER}\s*(?:and|or|then|&|/|\+)\s*(?:option|number)?\s*{_NUMBER}\W*", re.IGNORECASE
)
_ONLY_NUMBER = re.compile(
    rf"(?:i(?:'ll| will)? )?(?:(?:choose|pick|take|select|play|go with|go for)\s+)?(?:the )?(?:option|number|no\.|nr\.)?\s*{_NUMBER}\W*",
    re.IGNORECASE,
)
_OPTION = re.compile(r"\b(?:option|number)\s+#?(\d{1,4})\b", re.IGNORECASE)
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth"]
_ORDINAL = re.compile(
    rf"\bthe ({'|'.join(_ORDINALS)}) (?:option|action|one|choice|in the list)\b", re.IGNORECASE | re.ASCII
)

_PAIR = re.compile(
    r"\(?(?:\bq\s*[=:]?\s*|\brow\s+)?(?<![_\d])(-?\d+)(?:\s*,\s*|\s+(?=-\d))(?:r\s*[=:]?\s*|column\s+)?(-?\d+)\)?"
)
_FROM = re.compile(r"\bfrom\s+-?\d+,-?\d+(?=\s+to\b)")
_ROMAN = re.compile(r"(\d) (i{1,3}|iv)\b")
_TOKEN = re.compile(r"-?\d+,-?\d+|\d+_i+v?|[+-]?\d+|[^\W\d]\w*")
_CHARACTERS = str.maketrans({"−": "-", "–": "-", "‑": "-", "’": "'"})
_NEUTRAL_WORDS = (
    "choose chose pick select take use play make do will would ll d want like prefer "
    "now here there where first my own all both one two three four five six so "
    "shall that option offer put place move walk send goe by down type color colour "
)
_NEUTRAL = frozenset(_NEUTRAL_WORDS.split())
_FILLER_WORDS = "a an the to at on in onto into of for with i my me it this that and then go please is"
_FILLERS = frozenset(_FILLER_WORDS.split())


class AnswerError(ValueError):
    """An answer that names no legal action; the message is for the model that gave it.

    Attributes:
        illegal: whether it names an action of the game that is not legal.

    Example:
        >>> from garden_agents.text import AnswerError, parse
        >>> from garden_core import Batch, make
        >>> batch = Batch(make("cacti"), 1)
        >>> batch.reset(seed=1)
        >>> try:
        ...     parse(batch.game, batch.states[0], 0, "ACTION: grow a beard")
        ... except AnswerError as error:
        ...     print(error)
        'grow a beard' names no action of this game. End your answer with one line: ACTION: <action>
    """

    def __init__(self, message: str, illegal: bool = False) -> None:
        super().__init__(message)
        self.illegal = illegal


class _Label(NamedTuple):
    """A label as words.

    Attributes:
        words: all words; the first one is its verb.
        needed: the words that distinguish it from other labels with this verb; the verb if there are none.
    """

    words: tuple[str, ...]
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
    legal = {entry["action"]: entry["description"] for entry in game.seat_view(state, seat)["legal"]}
    question = game.text(state, seat, legal=False).partition("\n\n")[0]
    return match(
        game.labels,
        legal,
        answer,
        synonyms=hints_of(game).synonyms,
        question=question,
        meanings=[part.meaning for part in game.action_parts for _ in range(part.size)],
        numbers=mode == "legal",
    )


def match(
    labels: Sequence[str],
    legal: Mapping[int, str],
    answer: str,
    *,
    synonyms: Mapping[str, str] = MappingProxyType({}),
    question: str = "",
    meanings: Sequence[str] = (),
    numbers: bool = False,
) -> int:
    """Return the legal action that an answer names.

    Args:
        labels: the labels of all actions.
        legal: the descriptions of the legal actions, by action.
        answer: the model's text.
        synonyms: other words for those in labels, see `garden_agents.games.Hints`.
        question: what the player must decide: its places and numbers may be repeated.
        meanings: what each action does, by action: its words may be used.
        numbers: whether the number of a legal action in `legal`, from 1 on, names it.

    Raises:
        AnswerError: as `parse`.
    """
    named, marked = named_action(answer)
    reader = _Reader(labels, legal, synonyms, question, meanings, marked, numbers)
    errors = []
    readings = [*_readings(named, marked)]
    if numbers and _SEVERAL.fullmatch(named):
        raise AnswerError(f"{_quoted(named)} names two actions. Name one.")
    if numbers and (action := reader.numbered(named)) is not None:
        return action
    for text, whole in readings:
        try:
            action = reader.numbered(text) if numbers else None
            return reader.named(text, whole) if action is None else action
        except AnswerError as error:
            errors.append(error)
    raise next((error for error in errors if error.illegal), errors[-1])


def named_action(answer: str) -> tuple[str, bool]:
    """Return the part of an answer that names the action, and whether it is marked as such.

    Raises:
        AnswerError: for an answer without one.

    Example:
        >>> from garden_agents.text.answers import named_action
        >>> named_action("Blue is scarce.\\n**ACTION:** plant blue")
        ('plant blue', True)
    """
    text = unicodedata.normalize("NFKC", _CHANNEL.split(THOUGHTS.sub("\n", answer))[-1])
    lines = [*_LINE.finditer(text)]
    for earlier, later in itertools.pairwise(lines):
        same = earlier[1].strip(_DECORATION).lower() == later[1].strip(_DECORATION).lower()
        if later is lines[-1] and not same and not text[earlier.end() : later.start()].strip():
            raise AnswerError(
                f"Your answer names two actions, {_quoted(earlier[1])} and {_quoted(later[1])}. Name one."
            )
    for marks in (lines, [*_BRACKETS.finditer(text)], [*_LOOSE.finditer(text)]):
        for mark in reversed(marks):
            after = next(filter(None, mark.groups()), "") or text[mark.end() :]
            if named := next(filter(None, (line.strip(_DECORATION) for line in after.split("\n"))), ""):
                named = _LATEX.sub("", named[:_LONGEST])
                inner = _LINE.match(named)
                return (inner[1] if inner else named), True
    rest = [*filter(None, (line.strip(_DECORATION) for line in text.split("\n")))]
    if not rest:
        raise AnswerError(f"Your answer names no action. {END}")
    return rest[-1][-_LONGEST:], False


def _readings(named: str, marked: bool) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text that may name the action, in the order in which they are tried, and what they are a part of."""
    kept = _REJECTED.sub("", named)
    first = _EXPLANATION.split(kept)[0].strip(_DECORATION)
    sentence = first if marked else re.split(r"(?<!^\d)(?<!^\d\d)[.!]\s+", named.rstrip(" .!"))[-1]
    if (
        not kept
        or _DENIED.search(sentence)
        or (marked and ("?" in named or _DENIED.search(named[: len(first) + 5])))
    ):
        raise AnswerError(f"{_quoted(named)} leaves the choice open. Name only the action that you choose.")
    if marked:
        yield first, named
        yield re.split(r"\s+and\s+", first)[0], named
    else:
        sentence = re.split(r"(?<!^\d)(?<!^\d\d)[.!]\s+", kept.rstrip(" .!"))[-1]
        clause = re.split(r"[:;]\s+", sentence)[-1]
        yield clause, clause
        yield re.split(r"\s+and\s+|,\s+(?![-−\d]|r\b)", sentence)[0], sentence
        yield sentence, sentence
    yield kept, named


class _Reader:
    """Finds the legal action that words name; the arguments are those of `match`, and whether the answer marks them."""

    def __init__(
        self,
        labels: Sequence[str],
        legal: Mapping[int, str],
        synonyms: Mapping[str, str],
        question: str,
        meanings: Sequence[str],
        marked: bool,
        numbers: bool,
    ) -> None:
        self.names, self.legal, self.marked, self.listed = labels, legal, marked, numbers
        self.words = functools.partial(_words, synonyms=synonyms)
        self.labels = _labels(tuple(labels), tuple(synonyms.items()))
        self.question = self.words(question)
        self.texts = {a: [*self.labels.each[a].words, *self.words(text)] for a, text in legal.items()}
        self.meanings = {a: self.words(meanings[a]) if meanings else [] for a in legal}
        self.known = {
            *itertools.chain(*(label.words for label in self.labels.each), *self.texts.values())
        } - _FILLERS

    def numbered(self, text: str) -> int | None:
        """Return the action that a number in the list names, None if the text is not of that form."""
        form = _ONLY_NUMBER.fullmatch(text) or _NUMBERED.fullmatch(text)
        number, rest = (form[1], form[2] if form.re is _NUMBERED else "") if form else ("", "")
        if not form:
            options = {*_OPTION.findall(text)} | {
                str(1 + _ORDINALS.index(word.lower())) for word in _ORDINAL.findall(text)
            }
            if len(options) != 1:
                return None
            (number,) = options
        if not 1 <= int(number) <= len(self.legal):
            raise AnswerError(f"{number} is not in the list: its numbers go from 1 to {len(self.legal)}.")
        action = [*self.legal][int(number) - 1]
        if rest and self.named(_EXPLANATION.split(rest)[0].rstrip(" )"), rest) != action:
            raise AnswerError(f"{number} is {self.names[action]!r} in the list, not {_quoted(rest)}.")
        return action

    def named(self, text: str, whole: str) -> int:
        """Return the legal action that a text names, which is a part of `whole`."""
        action = self._label(text)
        if action is None:
            action = self._fitting(text)
        kept = _REJECTED.sub("", whole)
        words, first = (
            [word for word in self.words(part) if word not in _FILLERS]
            for part in (kept, _EXPLANATION.split(kept)[0])
        )
        for other in range(len(self.names)):
            if other != action and self._competes(other, action, words if other in self.legal else first):
                raise AnswerError(
                    f"{_quoted(whole)} could mean several actions, {self.names[action]!r} and {self.names[other]!r}. "
                    "Name exactly one."
                )
        return action

    def _competes(self, other: int, action: int, words: list[str]) -> bool:
        """Return whether words that name an action name another one as well, or before it."""
        label, own = self.labels.each[other], self.labels.each[action]
        if len(label.words) > 1 and _contains(words, label.words) and not _contains(own.words, label.words):
            first = min((words.index(word) for word in own.needed if word in words), default=0)
            return other in self.legal or words.index(label.words[0]) < first
        return (
            label.words[0] == own.words[0]
            and not all(word.isdigit() for word in label.needed)
            and label.needed <= {*words}
            and not label.needed <= {*self.texts[action], *self.question}
        )

    def _label(self, text: str) -> int | None:
        """Return the legal action with this label, None if there is none."""
        words = self.words(text)
        for action, label in enumerate(self.labels.each):
            if words == [*label.words] or _squashed(text) == _squashed(self.names[action]):
                if action in self.legal:
                    return action
                raise AnswerError(f"{self.names[action]!r} is not legal now.", illegal=True)
        return None

    def _fitting(self, text: str) -> int:
        """Return the only legal action that a text fits."""
        words = self.words(text)
        said = [word for word in words if word not in _FILLERS]
        fits = [a for a in self.legal if self._fits(words, a) and self._names(words, a)] or [
            a for a in self.legal if self._fits(words, a) and self._quotes(words, said, a)
        ]
        if len(fits) == 1:
            return fits[0]
        if fits:
            some = f": {'; '.join(self.names[action] for action in fits[:8])}" if self.listed else ""
            raise AnswerError(f"{_quoted(text)} fits several actions{some}. Name exactly one.")
        others = [a for a, label in enumerate(self.labels.each) if label.needed <= {*said} <= {*label.words}]
        if len(others) == 1:
            raise AnswerError(f"{self.names[others[0]]!r} is not legal now.", illegal=True)
        if sum(label.needed <= {*said} for label in self.labels.each) > 1:
            raise AnswerError(f"{_quoted(text)} could mean several actions. Name exactly one, by its name.")
        raise AnswerError(f"{_quoted(text)} names no action of this game. {END}")

    def _fits(self, words: list[str], action: int) -> bool:
        """Return whether all words belong to a legal action, apart from fillers and neutral words."""
        text = self.texts[action]
        pairs, asked = ({*itertools.pairwise(each)} for each in (text, self.question))
        own = {*text, *self.meanings[action], *self.question} | _NEUTRAL | _FILLERS
        for word, after in itertools.zip_longest(words, words[1:]):
            if word in self.labels.verbs - {*self.labels.each[action].words}:
                in_question = _has_digit(after) and (word, after) in asked
                in_text = word in text and not (_has_digit(after) and (word, after) not in pairs)
                if not in_question and not in_text:
                    return False
            elif word not in own or (_has_digit(word) and _other_amount(word, after, pairs)):
                return False
        return True

    def _names(self, words: list[str], action: int) -> bool:
        """Return whether words name an action by the words that distinguish its label.

        A number must not be an amount, such as 3 in "3 coins", or belong to something else, such as 2 in "row 2".
        """
        needed = self.labels.each[action].needed
        if not needed <= {*words}:
            return False
        return all(
            any(self._is_own(words, at, action) for at, each in enumerate(words) if each == number)
            for number in needed
            if number.isdigit()
        )

    def _is_own(self, words: list[str], at: int, action: int) -> bool:
        amount, own = words[at : at + 2], self.labels.each[action].words
        if len(amount) == 2 and any(_contains(text, amount) for text in self.texts.values()):
            return _contains(own, amount)
        before = [word for word in words[:at] if word not in _FILLERS][-1:]
        having = {a for a, text in self.texts.items() if before and _contains(text, [*before, words[at]])}
        return not having or (action in having and (len(having) < len(self.legal) or len(having) == 1))

    def _quotes(self, words: list[str], said: list[str], action: int) -> bool:
        """Return whether words are taken from an action's description; numbers need a neighbour that they have there."""
        text = self.texts[action]
        if _begins(words, text[len(self.labels.each[action].words) :]):
            return True
        known = self.known.intersection(said)
        things = {word for word in known if any(map(str.isalpha, word))}
        one = self.marked and known == things and len(said) <= (1 if known <= self.labels.verbs else 2)
        enough = bool(things) and (len(things) > 1 or one) and 2 * len(known) >= len({*said})
        numbers = [at for at, word in enumerate(words) if _has_digit(word)]
        return enough and known <= {*text} and all(_has_neighbour(words, at, text) for at in numbers)


def _quoted(text: str) -> str:
    """Return a text for a message, without words from the middle if it is long."""
    words = text.strip(_DECORATION)[:1000].split(" ")
    return repr(" ".join(words if len(words) < 14 else [*words[:6], "…", *words[-6:]])[:300])


def _squashed(text: str) -> str:
    return re.sub(r"[^\w,-]|_", "", text.lower().translate(_CHARACTERS).rstrip(" .!"))


def _has_digit(word: str | None) -> bool:
    return word is not None and any(character.isdigit() for character in word)


def _begins(words: list[str], description: list[str]) -> bool:
    """Return whether a description begins with the last words, at least three."""
    return any(description[: len(words) - i] == words[i:] for i in range(len(words) - 2))


def _other_amount(number: str, noun: str | None, pairs: set[tuple[str, str]]) -> bool:
    """Return whether a text has this noun only with other numbers."""
    having = {first for first, second in pairs if second == noun and _has_digit(first)}
    return noun not in _FILLERS and bool(having) and number not in having


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Return whether words contain others next to each other."""
    return any([*words[i : i + len(part)]] == [*part] for i in range(len(words) - len(part) + 1))


def _has_neighbour(words: list[str], at: int, text: list[str]) -> bool:
    """Return whether a number words[at] has a neighbour in a text that it has among the words, too."""
    pairs = {*itertools.pairwise(text)}
    return (at > 0 and (words[at - 1], words[at]) in pairs) or (*words[at : at + 2],) in pairs


@functools.lru_cache(maxsize=64)
def _labels(names: tuple[str, ...], synonyms: tuple[tuple[str, str], ...]) -> _Labels:
    split = [_words(label, dict(synonyms)) for label in names]
    arguments: dict[str, list[frozenset[str]]] = {}
    for verb, *rest in split:
        arguments.setdefault(verb, []).append(frozenset(rest))
    shared = {verb: frozenset.intersection(*each) for verb, each in arguments.items()}
    each = [
        _Label((verb, *rest), frozenset(rest) - shared[verb] or frozenset((verb,))) for verb, *rest in split
    ]
    verbs = frozenset(arguments)
    return _Labels(tuple(each), verbs, frozenset().union(*(label.needed for label in each)) - verbs)


def _words(text: str, synonyms: Mapping[str, str]) -> list[str]:
    """Return the words, numbers and places of a text in a common form: lower case, singular, without synonyms."""
    plain = text.lower().translate(_CHARACTERS)
    for phrase in sorted(synonyms, key=len, reverse=True):
        plain = re.sub(rf"(?<!\w){re.escape(phrase)}(?!\w)", synonyms[phrase], plain)
    plain = _ROMAN.sub(r"\1_\2", plain)
    plain = _PAIR.sub(lambda pair: f" {int(pair[1])},{int(pair[2])} ", plain)
    return [_singular(token) for token in _TOKEN.findall(_FROM.sub("", plain))]


def _singular(word: str) -> str:
    if word.endswith("xes"):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
