"""The library's own errors: one base class, and an illegal action that says what was legal."""

import pickle

import pytest
from pig import HOLD, Pig

from garden_core import (
    Batch,
    IllegalActionError,
)
from garden_core.interfaces import env


def by_batch(action):
    batch = Batch(Pig(), 3)
    batch.reset(1)
    batch.step([0, action, 0])


def by_env(action):
    game = env(Pig)
    game.reset(1)
    game.step(action)


@pytest.mark.parametrize(("step", "where"), [(by_batch, "row 1: "), (by_env, "player_0: ")])
def test_an_illegal_action_says_what_is_legal(step, where):
    with pytest.raises(IllegalActionError) as caught:
        step(HOLD)
    error = pickle.loads(pickle.dumps(caught.value))
    assert str(error) == str(caught.value) == f"{where}action 1 ('hold') is illegal; legal are 'roll'"
    assert (error.game, error.seat, error.action, error.label, error.legal) == (Pig(), 0, 1, "hold", ["roll"])


def test_an_action_that_there_is_not_has_no_label():
    with pytest.raises(
        IllegalActionError, match=r"action 7 does not exist \(0 to 1\); legal are 'roll'"
    ) as caught:
        by_batch(7)
    assert caught.value.label is None
