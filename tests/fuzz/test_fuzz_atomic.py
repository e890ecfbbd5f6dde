"""A call that raises changes nothing: whatever is called, in whatever order, everything is and plays on as before."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import fuzzing
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_fuzz_interfaces import Trickster, vec_env, wrong_answers

from garden_core import Batch, make
from garden_core.batch.learner import Learner
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv

GAME = make("cacti", reward="margin")
N = 3
ERRORS = (ValueError, IndexError, RuntimeError, ZeroDivisionError)


def contents(value: Any, seen: tuple[int, ...] = ()) -> Any:
    """Return everything that can be observed of an object, as values that compare."""
    if isinstance(value, np.ndarray):
        return value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, np.random.Generator):
        return repr(value.bit_generator.state)
    if isinstance(value, dict):
        return {key: contents(held, seen) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [contents(held, seen) for held in value]
    if (
        isinstance(value, Batch | Learner | GardenEnv | Env | VectorEnv)
        or type(value).__name__ == "GardenVecEnv"
    ):
        hidden = ("_kept", "_actions", "_start")  # workspace, what was asked for, the clock
        return {key: contents(held, seen) for key, held in vars(value).items() if key not in hidden}
    return (
        repr(value) if isinstance(value, str | int | float | bool | np.generic | type(None)) else type(value)
    )


# --- the interfaces: how one is made, what can be called, how it plays on ---


def batch() -> Batch:
    return Batch(GAME, N, autoreset=False)


def batch_on(env: Batch) -> Any:
    env = env.clone()
    rows = np.flatnonzero(~(env.terminated | env.truncated)) if env.dealt else []
    if len(rows):
        env.step(env.action_mask[rows].argmax(1), rows)
    if env.dealt:
        env.reset()
    return contents(env)


def tricked(make_it: Callable[[Trickster], Any]) -> Callable[[], Any]:
    def made() -> Any:
        policy = Trickster()
        env = make_it(policy)
        env.trickster = policy
        return env

    return made


def learner_on(learner: Learner) -> Any:
    learner = copy.deepcopy(learner)
    if learner.dealt:
        over = learner.terminated.copy()
        if over.any():
            learner.reset(rows=over)
        learner.step(learner.action_mask.argmax(1))
    learner.reset()
    return contents(learner)


def on(env: Any) -> Any:
    """Play an environment on, in a copy."""
    env = copy.deepcopy(env)
    if isinstance(env, GardenEnv):
        while env.agents and not env.terminations[env.agent_selection]:
            env.step(int(env.last()[0]["action_mask"].argmax()))
        env.reset()
        return contents(env)
    learner_on(env.learner)
    seen = [contents(env.reset())]
    actions = env.action_masks().argmax(-1)
    seen.append(contents(env.step(int(actions) if isinstance(env, Env) else actions)))
    return seen


INTERFACES: dict[
    str, tuple[Callable[[], Any], Callable[[Any], Any], dict[str, Callable[[Any, Any], Any]]]
] = {
    "Batch": (
        batch,
        batch_on,
        {
            "reset": lambda env, value: env.reset(value),
            "reset rows": lambda env, value: env.reset(None, value),
            "reset a row": lambda env, value: env.reset(value, [0]),
            "step": lambda env, value: env.step(value),
            "step rows": lambda env, value: env.step([0, 0], value),
            "step first": lambda env, value: env.step(env.action_mask.argmax(1)),
            "step some": lambda env, value: env.step(env.action_mask.argmax(1)[:1], [0]),
            "observe": lambda env, value: env.observe(value),
            "observe states": lambda env, value: env.observe(0, value),
            "check_actions": lambda env, value: env.check_actions(value, env.all_rows),
            "refresh": lambda env, value: env.refresh(),
        },
    ),
    "Learner": (
        tricked(lambda policy: Learner(GAME, N, ["random", policy, "greedy"], seat=1, autoreset="disabled")),
        learner_on,
        {
            "reset": lambda env, value: env.reset(value),
            "reset rows": lambda env, value: env.reset(None, value),
            "reset a row": lambda env, value: env.reset(value, [1]),
            "step": lambda env, value: env.step(value),
            "step first": lambda env, value: env.step(env.action_mask.argmax(1)),
            "set_weights": lambda env, value: env.set_weights(value),
        },
    ),
    "GardenEnv": (
        lambda: GardenEnv(GAME, render_mode="ansi"),
        on,
        {
            "reset": lambda env, value: env.reset(value),
            "step": lambda env, value: env.step(value),
            "step first": lambda env, value: env.step(int(env.last()[0]["action_mask"].argmax())),
            "step None": lambda env, value: env.step(None),
            "observe": lambda env, value: env.observe(value),
            "last": lambda env, value: env.last(),
            "render": lambda env, value: env.render(value),
            "set_state": lambda env, value: env.set_state(value),
            "set a part of the state": lambda env, value: env.set_state(env.get_state() | {"states": value}),
        },
    ),
    "Env": (
        tricked(lambda policy: Env(GAME, ["greedy", policy], render_mode="ansi")),
        on,
        {
            "reset": lambda env, value: env.reset(seed=value),
            "step": lambda env, value: env.step(value),
            "step first": lambda env, value: env.step(int(env.action_masks().argmax())),
            "action_masks": lambda env, value: env.action_masks(),
            "render": lambda env, value: env.render(),
            "snapshot": lambda env, value: env.snapshot(),
        },
    ),
    "VectorEnv": (
        tricked(lambda policy: VectorEnv(GAME, N, ["greedy", policy], autoreset_mode="SameStep")),
        on,
        {
            "reset": lambda env, value: env.reset(seed=value),
            "reset rows": lambda env, value: env.reset(options={"reset_mask": value}),
            "reset some rows": lambda env, value: env.reset(
                seed=value, options={"reset_mask": np.array([True, False, True])}
            ),
            "reset options": lambda env, value: env.reset(options=value),
            "step": lambda env, value: env.step(value),
            "step first": lambda env, value: env.step(env.action_masks().argmax(1)),
        },
    ),
    "GardenVecEnv": (
        tricked(lambda policy: vec_env(GAME, N, ["greedy", policy], [1, 2], seed=4)),
        on,
        {
            "reset": lambda env, value: env.reset(),
            "seed": lambda env, value: env.seed(value),
            "step": lambda env, value: env.step(value),
            "step first": lambda env, value: env.step(env.action_masks().argmax(1)),
            "step_wait": lambda env, value: env.step_wait(),
            "env_method": lambda env, value: env.env_method("reset", indices=value),
            "env_method seed": lambda env, value: env.env_method("seed", value, indices=[0]),
            "set_attr": lambda env, value: env.set_attr("render_mode", None, indices=value),
            "get_attr": lambda env, value: env.get_attr("game", value),
            "get_images": lambda env, value: env.get_images(),
        },
    ),
}


def _failing(batch: Batch, rows: np.ndarray) -> Any:
    raise ZeroDivisionError("the policy's own")


def _answer(number: int) -> Callable[[Batch, np.ndarray], Any]:
    def answer(batch: Batch, rows: np.ndarray) -> Any:
        answers = wrong_answers(batch, rows)
        return answers[number % len(answers)]

    return answer


VALUES = [
    *fuzzing.STRANGE_ARGUMENTS,
    0,
    5,
    [0, 1],
    [1],
    [0, 0, 0],
    np.array([True, False, True]),
    [3, 4, 5],
    np.zeros(N, np.int64),
]
ANSWERS = [None, None, _failing, *map(_answer, range(20))]


def is_dealt(env: Any) -> bool:
    return env._dealt if isinstance(env, GardenEnv) else getattr(env, "learner", env).dealt


@pytest.mark.parametrize("interface", INTERFACES)
def test_a_call_that_raises_changes_nothing(interface):
    make_it, play_on, calls = INTERFACES[interface]
    raised: set[str] = set()

    def call(env: Any, name: str, value: Any, answer: Any, deep: bool) -> None:
        """Call once; if it raises, check that nothing has changed (deep: and that it plays on alike)."""
        before = contents(env)
        expected = play_on(env) if deep and is_dealt(env) else None  # else its first seed is by chance
        if hasattr(env, "trickster"):
            env.trickster.answer = answer
        try:
            calls[name](env, value)
            return
        except ERRORS as error:
            raised.add(name)
            fuzzing.check_message(error)
        finally:
            if hasattr(env, "trickster"):
                env.trickster.answer = None
        assert contents(env) == before, f"{name} raised, and changed something"
        assert expected is None or play_on(env) == expected

    steps = st.lists(
        st.tuples(
            st.sampled_from([*calls]),
            st.integers(0, len(VALUES) - 1),
            st.integers(0, len(ANSWERS) - 1),
            st.integers(0, 9).map(lambda n: n == 0),
        ),
        min_size=1,
        max_size=6,
    )

    @fuzzing.properties
    @given(steps, st.booleans(), st.integers(0, 2**64 - 1))
    def property_of_all_calls(sequence, already, seed):
        env = make_it()
        if already:
            if interface in ("Env", "VectorEnv"):
                env.reset(seed=seed)
            elif interface == "GardenVecEnv":
                env.seed(seed)
                env.reset()
            else:
                env.reset(seed)
            for _ in range(3):
                calls["step first"](env, None)
        for name, value, answer, deep in sequence:
            call(env, name, VALUES[value], ANSWERS[answer], deep)

    property_of_all_calls()
    assert len(raised) >= len(calls) // 2, raised
