"""Calls out of order and with odd arguments, in every interface: one clear error each, after which nothing has changed."""

import copy
import warnings
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import fuzzing
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from variants import each_game

from cacti_env import Cacti
from garden_core import (
    Batch,
    GreedyPolicy,
    IllegalActionError,
    Learner,
    RandomPolicy,
    Replay,
    ReplayError,
    make,
    record,
)
from garden_core.batch.policies import ask
from garden_core.interfaces import Env, GardenEnv, GardenVecEnv, VectorEnv
from garden_core.registry import as_game, game_class

N = 3
"""Games of a batch."""
ERRORS = (ValueError, IllegalActionError, IndexError, RuntimeError, ZeroDivisionError)


class Trickster:
    """A policy whose answer a test sets; None is the first legal action."""

    def __init__(self):
        self.answer = None

    def __call__(self, batch, rows):
        if self.answer is None:
            return batch.action_mask[rows].argmax(1)
        return self.answer(batch, rows)


def contents(value):
    """Return everything that can be observed of an object, in values that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, dict):
        return {key: contents(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [contents(held) for held in value]
    if isinstance(value, Batch | Learner | GardenEnv | Env | VectorEnv | GardenVecEnv):
        hidden = ("_kept", "_actions", "_start")  # workspace, what was asked for, the clock
        return {key: contents(held) for key, held in vars(value).items() if key not in hidden}
    plain = str | int | float | bool | np.generic | None
    return repr(value) if isinstance(value, plain) else type(value)


# --- the interfaces: how one is made and reset, how it plays on, what can be called ---


def batch_on(batch):
    batch = batch.clone()
    rows = np.flatnonzero(~(batch.terminated | batch.truncated))
    if len(rows):
        batch.step(batch.action_mask[rows].argmax(1), rows)
    batch.reset()
    return contents(batch)


def learner_on(learner):
    learner = copy.deepcopy(learner)
    if learner.terminated.any():
        learner.reset(rows=learner.terminated.copy())
    learner.step(first_legal(learner))
    learner.reset()
    return contents(learner)


def pettingzoo_on(env):
    env = copy.deepcopy(env)
    while env.agents and not env.terminations[env.agent_selection]:
        env.step(first_legal(env))
    env.reset()
    return contents(env)


def learning_on(env):
    env = copy.deepcopy(env)
    learner_on(env.learner)
    return [contents(env.reset()), contents(env.step(first_legal(env)))]


class Interface(NamedTuple):
    """How an interface is made for a game and a policy, reset by a seed, played on; and what can be called.

    `calls` pass on one argument, the `plain` ones none; a call's name begins with its method.
    `early`: methods that need a reset, with a correct argument.
    """

    make: Callable
    reset: Callable
    play_on: Callable
    early: dict
    calls: dict
    plain: dict


def passing(*methods):
    """Return calls of these methods with one argument."""
    return {method: lambda env, value, method=method: getattr(env, method)(value) for method in methods}


def plain(*methods):
    """Return calls of these methods without an argument, and of `step` with the first legal actions."""
    calls = {method: lambda env, _, method=method: getattr(env, method)() for method in methods}
    return calls | {"step first": lambda env, _: env.step(first_legal(env))}


def first_legal(env):
    """Return the first legal action, of each row where there are several."""
    if isinstance(env, GardenEnv):
        return int(env.last()[0]["action_mask"].argmax())
    actions = getattr(env, "learner", env).action_mask.argmax(1)
    return int(actions[0]) if isinstance(env, Env) else actions


def by_name(env, seed):
    return env.reset(seed=seed)


def reset_vec_env(env, seed):
    env.seed(seed)
    return env.reset()


ROWS = {
    "reset seed": by_name,
    "reset rows": lambda env, value: env.reset(None, value),
    "reset seeds of rows": lambda env, value: env.reset(value, [1]),
}
SOME = np.array([True, False, True])
INTERFACES = {
    "Batch": Interface(
        lambda game, policy: Batch(game, N, autoreset=False),
        by_name,
        batch_on,
        {"step": [0] * N, "observe": 0, "refresh": None},
        passing("step", "observe")
        | ROWS
        | {
            "step rows": lambda env, value: env.step([0, 0], value),
            "observe states": lambda env, value: env.observe(0, value),
            "check_actions": lambda env, value: env.check_actions(value, env.all_rows),
        },
        plain("refresh") | {"step some": lambda env, _: env.step(first_legal(env)[:1], [0])},
    ),
    "Learner": Interface(
        lambda game, policy: Learner(game, N, ["random", policy, "greedy"], seat=1, autoreset="disabled"),
        by_name,
        learner_on,
        {"step": [0] * N},
        passing("step", "set_weights") | ROWS,
        plain(),
    ),
    "GardenEnv": Interface(
        lambda game, policy: GardenEnv(game, render_mode="ansi"),
        by_name,
        pettingzoo_on,
        {
            "observe": "player_0",
            "step": 0,
            **dict.fromkeys(("last", "snapshot", "render", "_repr_svg_", "agent_iter")),
        },
        passing("step", "observe", "render") | {"reset seed": by_name},
        plain("last", "snapshot", "_repr_svg_", "agent_iter") | {"step None": lambda env, _: env.step(None)},
    ),
    "Env": Interface(
        lambda game, policy: Env(game, ["greedy", policy], render_mode="ansi"),
        by_name,
        learning_on,
        {"step": 0, "action_masks": None, "snapshot": None, "render": None},
        passing("step") | {"reset seed": by_name},
        plain("action_masks", "render", "snapshot"),
    ),
    "VectorEnv": Interface(
        lambda game, policy: VectorEnv(
            game, N, ["greedy", policy], autoreset_mode="SameStep", render_mode="ansi"
        ),
        by_name,
        learning_on,
        {"step": [0] * N, "action_masks": None, "render": None},
        passing("step")
        | {
            "reset seed": by_name,
            "reset mask": lambda env, value: env.reset(options={"reset_mask": value}),
            "reset seeds of rows": lambda env, value: env.reset(seed=value, options={"reset_mask": SOME}),
            "reset options": lambda env, value: env.reset(options=value),
        },
        plain("action_masks", "render"),
    ),
    "GardenVecEnv": Interface(
        lambda game, policy: GardenVecEnv(game, N, ["greedy", policy], [1, 2], seed=4),
        reset_vec_env,
        learning_on,
        {"step": np.zeros(N, np.int64), "action_masks": None},
        passing("seed", "step")
        | {
            "env_method": lambda env, value: env.env_method("reset", indices=value),
            "env_method seed": lambda env, value: env.env_method("seed", value, indices=[0]),
            "env_is_wrapped": lambda env, value: env.env_is_wrapped(Env, value),
            "set_attr": lambda env, value: env.set_attr("render_mode", None, indices=value),
            "get_attr": lambda env, value: env.get_attr("game", value),
        },
        plain("reset", "step_wait", "action_masks"),
    ),
}


def started(interface):
    """Return an interface in the midst of a game."""
    env = INTERFACES[interface].make(make("cacti", reward="margin"), Trickster())
    INTERFACES[interface].reset(env, 3)
    return env


@each_game
@pytest.mark.parametrize("interface", INTERFACES)
def test_before_the_first_reset(name, interface):
    kind = INTERFACES[interface]
    env = kind.make(as_game(name, {}), Trickster())
    for what, value in kind.early.items():
        with pytest.raises(RuntimeError) as raised:
            (kind.calls | kind.plain)[what](env, value)
        assert str(raised.value) == f"call reset() before {what}()"


# --- odd arguments ---


def is_whole(value):
    """Whether a value is one whole number, as seeds, seats and actions must be."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def is_one(value):
    """Whether a value is one thing, rather than several or none."""
    return np.isscalar(value) or (isinstance(value, np.ndarray) and value.ndim == 0)


def check_taken(what, value):
    """Check that a value was rightly taken: whole numbers in range, or sequences of them."""
    if is_one(value):
        assert is_whole(value) or value == "player_0"
    if what == "reset seed" and is_whole(value):
        assert 0 <= value < 2**64
    if "rows" in what and not is_one(value) and value is not None:
        assert all(map(is_whole, value))
        assert len({*value}) == len(value)
        assert {*value} <= {*range(N)}


@pytest.mark.quick
@pytest.mark.parametrize(
    ("interface", "what"), [(name, what) for name, kind in INTERFACES.items() for what in kind.calls]
)
def test_odd_arguments(interface, what):
    """Only whole numbers in range are taken, or sequences of them; of all else one clear error says why."""
    call, env = INTERFACES[interface].calls[what], None
    for value in fuzzing.STRANGE_ARGUMENTS:
        env = env or started(interface)
        before = contents(env)
        _, error = fuzzing.outcome(lambda env=env, value=value: call(env, value), ERRORS, seconds=60)
        if error is not None:
            assert contents(env) == before, type(value)
            continue
        check_taken(what, value)
        if what == "step" and interface in ("GardenEnv", "Env"):
            assert is_whole(value), type(value)
        env = None  # for the next one a fresh environment


SEEDS = [0, np.int8(3), np.uint64(2**64 - 1)]


@pytest.mark.parametrize("interface", INTERFACES)
def test_whole_numbers_of_any_type_are_seeds(interface):
    env = started(interface)
    for seed in SEEDS:
        INTERFACES[interface].reset(env, seed)


def replay_of(seed=0, action="grow star"):
    return Replay.of(Cacti(), seed, [action])


VECTOR = partial(VectorEnv, Cacti, num_envs=2)
VEC_ENV = partial(GardenVecEnv, Cacti, num_envs=2)
CONSTRUCTORS = {
    partial(Batch, Cacti(), num_envs=2): ("num_envs", "threads", "device"),
    partial(Learner, Cacti(), num_envs=2, opponents=["random", "greedy"]): (
        "num_envs",
        "seat",
        "opponents",
        "weights",
        "autoreset",
    ),
    partial(Env, Cacti): ("seat", "render_mode"),
    VECTOR: ("num_envs", "autoreset_mode", "max_episode_steps"),
    VEC_ENV: ("num_envs", "seed"),
    partial(GardenEnv, Cacti): ("render_mode", "illegal"),
    Cacti: ("num_players", "max_decisions", "reward"),
    replay_of: ("seed", "action"),
    game_class: ("game",),
    RandomPolicy: ("seed",),
    GreedyPolicy: ("seed",),
}
NUMBERS = ("num_envs", "threads", "seed", "num_players", "max_decisions", "max_episode_steps")
MAY_BE_NONE = {(VEC_ENV, "seed"), (VECTOR, "max_episode_steps")}
LARGE = 2**20  # rows and threads that memory is not taken for here


@pytest.mark.parametrize(
    ("make_it", "name"), [(make_it, name) for make_it, names in CONSTRUCTORS.items() for name in names]
)
def test_odd_arguments_of_constructors(make_it, name):
    for value in fuzzing.STRANGE_ARGUMENTS:
        if name in ("num_envs", "threads") and is_whole(value) and value > LARGE:
            continue
        _, error = fuzzing.outcome(
            lambda value=value: make_it(**{name: value}), (ValueError, TypeError, ReplayError), seconds=60
        )
        if error is None and name in NUMBERS:
            assert is_whole(value) or (value is None and (make_it, name) in MAY_BE_NONE), type(value)
            assert name != "seed" or value is None or 0 <= value < 2**64
        assert not isinstance(error, TypeError) or "game" in str(error), type(value)


# --- answers of opponents ---


def wrong_answers(batch, rows):
    """Return answers that a policy must not give."""
    right = batch.action_mask[rows].argmax(1)
    return [
        right[:-1],
        np.append(right, 0),
        right.astype(float),
        right[:, None],
        right[None],
        right.astype(bool),
        None,
        list(map(str, right)),
        batch.action_mask[rows].argmin(1) if (batch.action_mask[rows] == 0).any(1).all() else None,
        right - 10**6,
        right + 10**6,
        right.astype(object),
        int(right[0]) if len(right) else None,
        "0",
        object(),
        {},
        [right, [1]],
        np.full(len(rows), 2**64 - 1, np.uint64),
        right.astype("M8[s]"),
        np.full(len(rows), np.nan),
        fuzzing.Unshowable(),
    ]


WRONG_ANSWERS = [lambda batch, rows, n=n: wrong_answers(batch, rows)[n] for n in range(21)]


@pytest.mark.parametrize("answer", WRONG_ANSWERS, ids=range(len(WRONG_ANSWERS)))
def test_wrong_answers_of_policies_are_named(answer):
    from garden_agents.matches.meet import alone, play

    game, policy = make("cacti"), Trickster()
    batch = Batch(game, N)
    batch.reset(5)
    policy.answer = answer
    for call in (
        lambda: ask(policy, batch, batch.all_rows),
        lambda: record(game, [policy] * 2, 0),
        lambda: play(game, [policy, policy], alone(4, 2)),
        lambda: Learner(game, N, policy, seat=1).reset(0),
    ):
        assert fuzzing.outcome(call, ValueError, names="Trickster")[1] is not None


def test_pictures_of_a_vec_env():
    env = GardenVecEnv("cacti", 2, render_mode="rgb_array")
    for call in (env.render, env.get_images):
        with pytest.raises(RuntimeError, match=r"call reset\(\) before"):
            call()
    for mode in ("ansi", "human"):
        env = GardenVecEnv("cacti", 2, render_mode=mode)
        env.reset()
        with pytest.raises(ValueError, match="use 'rgb_array'"):
            env.render()
    env = GardenVecEnv("cacti", 2)
    env.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert env.render() is None
    assert caught


@pytest.mark.parametrize("policy", [RandomPolicy(), GreedyPolicy()], ids=["random", "greedy"])
def test_policies_check_rows(policy):
    batch = Batch(make("cacti", max_decisions=1), 2, autoreset=False)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before"):
        policy(batch, batch.all_rows)
    batch.reset(0)
    for rows in fuzzing.STRANGE_ARGUMENTS:
        answer, _ = fuzzing.outcome(
            lambda rows=rows: policy(batch, rows), (ValueError, IndexError), seconds=60
        )
        assert answer is None or (answer.dtype == np.int64 and len(answer) <= 2)
    batch.step(batch.action_mask.argmax(1))
    assert fuzzing.outcome(lambda: batch.step([0, 0]), ValueError, names="over")[1] is not None


# --- any calls in any order ---


def _failing(batch, rows):
    raise ZeroDivisionError("the policy's own")


VALUES = [*fuzzing.STRANGE_ARGUMENTS, 0, 5, [0, 1], [1], [0, 0, 0], SOME, [3, 4, 5], np.zeros(N, np.int64)]
ANSWERS = [None, None, _failing, *WRONG_ANSWERS]


def is_dealt(env):
    return env._dealt if isinstance(env, GardenEnv) else getattr(env, "learner", env).dealt


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_call_that_raises_changes_nothing(interface):
    make_it, reset, play_on, _, *both = INTERFACES[interface]
    calls, raised = both[0] | both[1], set()
    game, policy = make("cacti", reward="margin"), Trickster()

    def call(env, name, value, answer, deep):
        """Call once; if it raises, check that nothing has changed and (deep) that it plays on as before."""
        before = contents(env)
        expected = play_on(env) if deep and is_dealt(env) else None  # else its first seed is by chance
        policy.answer = answer
        try:
            calls[name](env, value)
            return
        except ERRORS as error:
            raised.add(name)
            fuzzing.check_message(error)
        finally:
            policy.answer = None
        assert contents(env) == before, f"{name} raised, and changed something"
        assert expected is None or play_on(env) == expected

    steps = st.lists(
        st.tuples(
            st.sampled_from([*calls]),
            st.sampled_from(range(len(VALUES))).map(VALUES.__getitem__),
            st.sampled_from(ANSWERS),
            st.integers(0, 9).map(lambda n: n == 0),
        ),
        min_size=1,
        max_size=6,
    )

    @fuzzing.properties
    @given(steps, st.booleans(), st.integers(0, 2**64 - 1))
    def property_of_all_calls(sequence, already, seed):
        env = make_it(game, policy)
        if already:
            reset(env, seed)
            for _ in range(3):
                calls["step first"](env, None)
        for step in sequence:
            call(env, *step)

    property_of_all_calls()
    assert len(raised) >= len(calls) // 2, raised
