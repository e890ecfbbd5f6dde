"""The library's own errors: one base class, and an illegal action that says what was legal."""

import pickle

import pytest
from pig import HOLD, ROLL, Pig
from playing import dealt

from garden_core import IllegalActionError
from garden_core.interfaces import env


def by_batch(action):
    dealt(Pig(), 3).step([ROLL, action, ROLL])


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
    assert (error.game, error.seat, error.action, error.label, error.legal) == (
        Pig(),
        0,
        HOLD,
        "hold",
        ["roll"],
    )


def test_an_action_that_does_not_exist_has_no_label():
    with pytest.raises(IllegalActionError, match=r"does not exist \(0 to 1\); legal are 'roll'") as caught:
        by_batch(2)
    assert caught.value.label is None
