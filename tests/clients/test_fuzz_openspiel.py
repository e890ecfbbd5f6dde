"""Wrong calls of OpenSpiel's states raise and change nothing; right ones go on as they should."""

import random

import fuzzing
import pytest

pyspiel = pytest.importorskip("pyspiel")
pytest.importorskip("open_spiel")

from garden_core.interfaces import register_games

register_games()
ODD = [-(2**31), -3, -2, -1, 0, 1, 4, 34, 35, 127, 2**31 - 1, 2**40, None, "0", 1.5, True, [0]]
CALLS = (
    "apply_action action_to_string legal_actions legal_actions_mask information_state_string "
    "information_state_tensor observation_string observation_tensor undo_action"
)


@pytest.mark.parametrize("name", ["cacti", "mars", "botanicus"])
@pytest.mark.parametrize("numbers", fuzzing.blocks(fuzzing.CASES // 3), ids=str)
def test_odd_calls(name, numbers):
    rng = random.Random(f"{name} {numbers.start}")
    game = pyspiel.load_game(f"garden_{name}")
    game.seed(1)
    state = game.new_initial_state()
    for _ in numbers:
        if state.is_terminal():
            state = game.new_initial_state()
        for _ in range(rng.randrange(4)):
            if not state.is_terminal():
                state.apply_action(rng.choice(state.legal_actions()))
        legal, before = state.legal_actions(), (state.history(), str(state))
        call, value = rng.choice(CALLS.split()), rng.choice(ODD)
        raised = False
        try:
            getattr(state, call)(*([value] if rng.random() < 0.9 else [value, rng.choice(ODD)]))
        except (RuntimeError, TypeError, ValueError, pyspiel.SpielError):
            raised = True
        if raised or call != "apply_action":
            assert (state.history(), str(state)) == before
        else:
            assert value in legal
            assert state.history() == [*before[0], int(value)]
