"""check_game passes what keeps the contract: every game in its variants, and the toys."""

import pig
import pytest
from pig import Pig
from processes import python
from variants import each_game, each_variant, variants

from garden_core import make
from garden_core.testing import check_game

SHORT = 100  # decisions; so short games are played five times as often


def games_of(game, often):
    return (3 if often else 1) * (5 if game.max_game_length <= SHORT else 1)


@pytest.mark.many_games
@each_variant
def test_every_game_keeps_the_contract(name, options):
    """Most often with its defaults, and with as many other options as go together."""
    game, found = make(name, **options), variants(name)
    check_game(game, games_of(game, often=options in (found[0], *found[-2:])))


@each_game
def test_every_game_can_be_cut_after_its_first_decision(name):
    check_game(make(name, max_decisions=1), games=20)


TOYS = [Pig(), Pig(num_players=4, reward="margin"), Pig(num_players=3, goal=1), Pig(max_decisions=9)]
"""Others are checked in test_conformance_faults."""


@pytest.mark.parametrize("game", TOYS, ids=repr)
def test_toys(game):
    check_game(game, games=10)


def test_pig_runs_as_a_program():
    done = python(pig.__file__, NUMBA_DISABLE_JIT="1")  # compiled it was checked above
    assert "Pig passes the checks" in done.stdout
