"""Every installed game in variants that follow from its metadata."""

import functools
import inspect
from pathlib import Path

import pytest

from garden_core import list_games, make
from garden_core.game import Game
from garden_core.options import REWARD
from garden_core.registry import game_class

FEW = 8
"""A whole number with at most so many values is tried with all of them, another one with its lowest."""
CAP = 20
"""Decisions after which a variant stops in the midst of a game."""


def values(option):
    """Return other values of an option than its default; none of a data file, whose content only the game knows."""
    if option.is_file:
        tried = []
    elif option.name == "max_decisions":
        tried = [CAP]
    elif isinstance(option.default, bool):
        tried = [True, False]
    elif option.choices:
        tried = [*option.choices]
    elif option.low is None:
        tried = []
    elif option.high is None or option.high - option.low >= FEW:
        tried = [option.low]
    else:
        tried = [*range(option.low, option.high + 1)]
    return [value for value in tried if value != option.default]


@functools.cache
def variants(name):
    """Return options of a game: none; each value of each alone; as many as go together.

    A value that is refused alone is tried with each other one.
    """
    kind = game_class(name)
    single = [{option.name: value} for option in (*kind.options, REWARD) for value in values(option)]
    tried = [{}]
    for one in single:
        pairs = ({**other, **one} for other in ({}, *single))
        tried += [next(filter(functools.partial(_allowed, kind), pairs), None)]
    for order in (single, single[::-1]):
        together = {}
        for one in order:
            more = {**one, **together}
            if "max_decisions" not in one and _allowed(kind, more):
                together = more
        tried.append(together)
    return [
        options
        for number, options in enumerate(tried)
        if options is not None and options not in tried[:number]
    ]


def tables(name):
    """Return of the variants the first for each number of players."""
    return list({make(name, **options).num_players: options for options in variants(name)[::-1]}.values())[
        ::-1
    ]


def _allowed(kind, options):
    try:
        kind(**options)
    except ValueError:
        return False
    return True


def own_file(name):
    """Return the option and the packaged file of a game's printed data; (None, None) without one."""
    kind = game_class(name)
    for option in kind.options:
        if option.is_file:
            for path in sorted(Path(inspect.getfile(kind)).parent.glob("*.toml")):
                if _allowed(kind, {option.name: path}):
                    return option.name, path
    return None, None


def shortened(name, cap, **options):
    """Return a game whose cap on decisions is no higher than this."""
    least = min(cap, make(name, **options).option_values["max_decisions"])
    return make(name, **options | {"max_decisions": least})


def seeds(options, many):
    """Return seeds of games to play: many with a game's defaults, one for each other variant."""
    return range(1 if options else many)


def has_picture(game):
    """Whether a game can be drawn."""
    return type(game).own_svg is not Game.own_svg


GAMES = list_games()
VARIANTS = [(name, options) for name in GAMES for options in variants(name)]
TABLES = [(name, options) for name in GAMES for options in tables(name)]

each_game = pytest.mark.parametrize("name", GAMES)
"""Over the names of all installed games."""
each_variant = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
"""Over names and options."""
each_table = pytest.mark.parametrize(("name", "options"), TABLES, ids=str)
"""Over names and options, a variant for each number of players."""
hidden_games = pytest.mark.parametrize(
    "name", [name for name in GAMES if game_class(name).information == "imperfect"]
)
"""Over the games in which seats see different things."""


def made():
    """Return every variant as a game."""
    return [make(name, **options) for name, options in VARIANTS]
