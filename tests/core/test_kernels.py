"""Records and dispatch: every state finds the rules of its game, and what is no state or no rule is refused."""

import re

import numba
import numpy as np
import pytest
from pig import ROLL, Pig
from playing import dealt
from toys import Cards

import garden_core
from garden_core import compiled, kernels
from garden_core.jit import loops


def foreign():
    """Return a state that is not registered: Pig's fields but another build."""
    fields = [(name, Pig.state_dtype[name]) for name in Pig.state_dtype.names[:-1]]
    return np.zeros(1, np.dtype([*fields, ("build_0123", "u1")]))


def test_every_kernel_refuses_other_records():
    params, out = Pig().params[0], np.zeros(9, np.int32)
    further = {
        "deal": [1],
        "apply_action": [0],
        "legal_actions": [out],
        "observe": [0, out],
        "points": [out],
        "public_points": [out],
        "standings": [out],
        "resample": [0, 1],
        "observe_hidden": [0, out],
    }
    assert set(further) == set(Pig.rules._fields)
    for name, arguments in further.items():
        with pytest.raises((TypeError, numba.TypingError), match="not the state of a registered game"):
            getattr(kernels, name)(foreign()[0], params, *arguments)
    with pytest.raises(TypeError, match="list is not the state of a registered game"):
        kernels.points([], params, out)
    with pytest.raises((TypeError, numba.TypingError), match="not the state of a registered game"):
        loops.observe_rows(foreign(), Pig().params, np.zeros(1, np.int64), np.zeros((1, 9), np.int8))


@pytest.mark.parametrize(("cap", "end"), [(10, "terminated"), (1, "truncated")])
def test_the_core_gives_the_mask_of_a_finished_game(cap, end):
    """The rules of Cards return two legal actions in every state."""
    game = Cards(max_decisions=cap)
    batch, mask = dealt(game, autoreset=False), np.full(2, 77, np.int8)
    assert kernels.legal_actions(batch.states[0], game.params[0], mask) == mask.sum() == 2
    while not (batch.terminated[0] or batch.truncated[0]):
        batch.step([0])
    assert batch.states[0][end]
    assert kernels.legal_actions(batch.states[0], game.params[0], mask) == 0
    assert not mask.any()
    assert batch.action_mask.all()  # so that a policy can choose something
    assert game.legal_labels(batch.states[0]) == []


def test_registering_a_type_twice_is_refused():
    with pytest.raises(
        ValueError, match=r"the state type with field 'build_[0-9a-f]+' is registered already"
    ):
        kernels.register(Pig.state_dtype, Pig.rules)
    with pytest.raises(ValueError, match="is registered already"):

        class Pig2(Pig):
            rules = Pig.rules


def test_a_kernel_with_other_argument_names_is_refused():
    def points(state, parameters, out):
        out[:] = 0

    def standings(state, values, out):
        out[:] = 0

    for faulty in (points, standings):
        with pytest.raises(
            TypeError, match=rf"{faulty.__name__}\(state, .*\) must be .*\(state, params, out\)"
        ):
            kernels.register(foreign().dtype, Pig.rules._replace(**{faulty.__name__: faulty}))


@pytest.mark.parametrize("words", [(0,), (1,), (2,), (3,), (0, 1), (1, 2), (2, 3), (0, 3)])
@pytest.mark.parametrize("last", [1, 2**64 - 1])
def test_a_state_is_dealt_if_any_word_of_its_generator_is_not_zero(words, last):
    state = Pig().new_states(1)[0]
    assert not kernels.is_dealt(state)
    mask = np.ones(2, np.int8)
    assert kernels.legal_actions(state, Pig().params[0], mask) == mask.sum() == 0
    state["rng"][list(words)] = 1
    state["rng"][words[-1]] = last
    assert kernels.is_dealt(state)


pig_deal = Pig.rules.deal


@compiled
def deal_with_a_lead(state, params, seed):
    pig_deal(state, params, seed)
    state.score[0] = 7


def test_points_of_the_deal_give_no_reward():
    class Lead(Pig):
        """Seat 0 begins with seven points."""

        name = "lead"
        rules = Pig.rules._replace(deal=deal_with_a_lead)

    for reward, paid in (("outcome", [0, 0]), ("margin", [7, 0])):
        batch = dealt(Lead(reward=reward))
        assert batch.states["paid"][0, :2].tolist() == paid
        batch.step([ROLL])
        assert not batch.rewards.any()


def test_a_field_named_like_an_attribute_of_records_is_refused():
    with pytest.raises(TypeError, match="a field must not be called 'round'"):

        class Rounds(Pig):
            rules = Pig.rules
            state_fields = (("round", "i1"),)


def defined_below(state, out):
    """A rule that the test below takes away again."""


def test_a_class_above_its_rules_is_refused(monkeypatch):
    """The build could not tell a change of a rule that is defined later."""

    @garden_core.compiled
    def points(state, params, out):
        defined_below(state, out)

    monkeypatch.delitem(globals(), "defined_below")

    with pytest.raises(NameError, match=r"'defined_below', which .*points uses, is not defined yet"):

        class Early(Pig):
            """Other points."""

            name = "early"
            rules = Pig.rules._replace(points=points)


@compiled
def _helper(state):
    return state.whose


@compiled
def apply_to_no_field(state, params, action):
    state.turn_sums = _helper(state)


@compiled
def read_no_option(state, params, mask):
    mask[:] = params.gaol
    return 2


@pytest.mark.parametrize(
    ("rule", "function", "field", "hint"),
    [
        ("apply_action", apply_to_no_field, "state.turn_sums", "; did you mean turn_sum?"),
        ("deal", _helper, "state.whose", ": rng, "),
        ("legal_actions", read_no_option, "params.gaol", "; did you mean goal?"),
    ],
)
def test_a_missing_field_is_named(rule, function, field, hint):
    words = re.escape(f"{function.__name__} uses {field}, but the record has no such field{hint}")
    with pytest.raises(TypeError, match=f"{re.escape(__file__)}:[0-9]+: {words}"):

        class Misspelt(Pig):
            """A field that is not there."""

            name = "misspelt"
            rules = Pig.rules._replace(**{rule: function})


@pytest.mark.parametrize(
    ("missing", "information", "words"),
    [
        (("legal_actions", "observe"), "perfect", "lack legal_actions, observe"),
        (("resample",), "imperfect", "lack resample"),
    ],
)
def test_rules_that_are_missing_are_named(missing, information, words):
    """Hidden information needs rules to redraw it."""
    rules = Pig.rules._replace(**dict.fromkeys(missing))
    with pytest.raises(TypeError, match=rf"test_kernels\.py: the rules of Lacking {words}"):
        type("Lacking", (Pig,), {"__module__": __name__, "information": information, "rules": rules})


@pytest.mark.parametrize("name", ["mars", "botanicus", "connect_four:ConnectFour", "tic_tac_toe:TicTacToe"])
def test_games_leave_defaults_to_the_core(name):
    game = garden_core.make(name)
    assert game.rules.public_points is game.rules.points
    assert game.information == "imperfect" or game.rules.resample is kernels.redraw_nothing
