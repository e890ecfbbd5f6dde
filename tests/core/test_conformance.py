"""check_game passes every game in its variants and the toys, and finds interfaces that play another game."""

import numba
import pig
import pytest
from pig import Pig
from processes import python
from variants import each_game, each_variant, variants

from garden_core import Batch, make
from garden_core.interfaces import GardenEnv
from garden_core.testing import check_game, interfaces

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


class ShortView(Pig):
    observation_shape = (pig.OBSERVATION_SIZE - 1,)


def test_writing_outside_of_an_array_is_found():
    """By check_game; where bounds are checked, these say it first."""
    checked = numba.config.BOUNDSCHECK or numba.config.DISABLE_JIT
    words = "reaches outside of an array" if checked else "writes outside of its array"
    with pytest.raises(AssertionError, match=words):
        check_game(ShortView())


class WrongSeed(Batch):
    def reset(self, seed):
        super().reset(seed + 1)


class WrongSeat(GardenEnv):
    def observe(self, agent):
        return super().observe("player_0") | {"action_mask": super().observe(agent)["action_mask"]}


class NoLastStates(Batch):
    def step(self, actions):
        super().step(actions)
        self.last_states["score"] += 1


@pytest.mark.parametrize(
    ("name", "broken", "words"),
    [
        ("Batch", WrongSeed, "Batch of seed 0, step 0: the state of row 0"),
        ("Batch", NoLastStates, "last_states of row . is not the finished game"),
        ("GardenEnv", WrongSeat, "step 0: player_1's view is wrong"),
    ],
)
def test_interfaces_that_play_another_game_are_found(monkeypatch, name, broken, words):
    monkeypatch.setattr(interfaces, name, broken)
    with pytest.raises(AssertionError, match=words):
        check_game(Pig(goal=10), games=2)
