"""Games that no model has read about: other names for the same game, and other cards."""

from __future__ import annotations

import itertools
import re

import numpy as np

from garden_agents.games import hints_of
from garden_core.checks import as_seed
from garden_core.files.data import DataFile
from garden_core.game import Game
from garden_core.jit.rng import bounded, seed_rng

_VOWELS, _CONSONANTS, _RARE = "aeiou", "bdfgklmnprtvz", "kvz"
_ENDINGS = ("", "s", "es", "ed", "ing", "er", "ers")


class Disguise:
    """Swaps the words of a game's theme with invented words of the same length: a callable from text to text.

    It is its own inverse. `garden_agents.text.prompt` and `parse` take it as `disguise`: names, colours, things and actions
    are then called otherwise in rules, positions and error messages, and answers must use these names. Single letters on
    boards and numbers remain.

    Args:
        game: the game; its theme is `Hints.vocabulary`.
        seed: seed of the invented words.

    Raises:
        ValueError: for a seed out of range, or a game without a vocabulary.

    Example:
        >>> from garden_agents.text import Disguise
        >>> from garden_core import make
        >>> disguise = Disguise(make("cacti"), seed=1)
        >>> disguise("Grow: take all cacti of one type, for example each saguaro.")
        'Muko: take all fizii of one type, for example each molokuk.'
        >>> disguise(disguise("Plant a prickly pear in the Nursery."))
        'Plant a prickly pear in the Nursery.'
    """

    def __init__(self, game: Game, seed: int) -> None:
        vocabulary = [word for word in hints_of(game).vocabulary(game) if len(word) > 1]
        if not vocabulary:
            raise ValueError(f"{game.name} cannot be disguised: its hints have no vocabulary")
        rng_state = np.zeros(4, np.uint64)
        seed_rng(rng_state, np.uint64(as_seed(seed)))
        written = "\n".join((game.title, game.summary, game.rules_text, *game.labels)).lower()
        used = {*re.findall("[a-z]+", written)}
        used |= {form for word in vocabulary for form in _forms(word)}
        self._other: dict[str, str] = {}
        for word in vocabulary:
            invented = _invented(word, used, rng_state)
            used.update(_forms(invented))
            own, others = _forms(word), _forms(invented)
            self._other |= dict(zip(own + others, others + own, strict=True))
        longest = map(re.escape, sorted(self._other, key=len, reverse=True))
        # ASCII: with all of Unicode, ſ would be an s
        self._words = re.compile(rf"(?<![a-z])(?:{'|'.join(longest)})(?![a-z])", re.IGNORECASE | re.ASCII)

    def __call__(self, text: str) -> str:
        """Return a text with the words of the theme and the invented words swapped."""
        return self._words.sub(lambda word: _like(word[0], self._other[word[0].lower()]), text)


def _forms(word: str) -> list[str]:
    """Return all forms of a word of a vocabulary, which is written with several if they are irregular: "cactus/cacti"."""
    first, *others = word.split("/")
    return [*(first + ending for ending in _ENDINGS), *others]


def _invented(word: str, used: set[str], rng_state: np.ndarray) -> str:
    """Return an invented word of the same length, with the endings of the word's irregular forms.

    No form of it is in `used`; where all words of this length are, it is longer.
    """
    forms = word.split("/")
    same = itertools.takewhile(lambda letters: len({*letters}) == 1, zip(*forms, strict=False))
    stem = "".join(letters[0] for letters in same)
    for tries in itertools.count():
        start = int(word[0] in _VOWELS)  # "a" and "an" remain right
        letters = [
            choices[int(bounded(rng_state, len(choices)))]
            for choices in ((_CONSONANTS, _VOWELS)[(start + i) % 2] for i in range(len(stem) + tries // 500))
        ]
        if {*letters} & {*_RARE}:  # these are less often words of English
            invented = "/".join("".join(letters) + form[len(stem) :] for form in forms)
            if not used.intersection(_forms(invented)):
                return invented
    raise AssertionError


def _like(shown: str, word: str) -> str:
    """Return a word with the capitals of another."""
    if shown.isupper() and len(shown) > 1:
        return word.upper()
    return word.capitalize() if shown[0].isupper() else word


def private_data(game: Game, seed: int) -> dict[str, DataFile]:
    """Return new cards for a game as options, about as balanced as the packaged ones.

    Prompts contain them (`garden_agents.text.prompt`). To use them on command lines, write the content to a file.

    Args:
        game: the game.
        seed: seed of the cards.

    Raises:
        ValueError: for a seed out of range, or a game without data files.

    Example:
        >>> from garden_agents.text import private_data
        >>> from garden_core import make
        >>> options = private_data(make("cacti"), seed=1)
        >>> make("cacti", **options).cards.count
        (13, 11, 11, 13)
        >>> print(options["cards"].content[:20])
        types = [
            "barre
    """
    make = hints_of(game).private_data
    if make is None:
        raise ValueError(f"{game.name} has no data files")
    return make(int(as_seed(seed)))
