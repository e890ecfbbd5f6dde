"""Calls out of order and with odd arguments, in every interface: one clear error each, and never a wrong answer."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import fuzzing
import numpy as np
import pytest
from variants import each_game

from cacti_env import Cacti
from garden_core import Batch, make
from garden_core.batch.learner import Learner
from garden_core.batch.policies import GreedyPolicy, RandomPolicy, ask
from garden_core.errors import IllegalActionError, ReplayError
from garden_core.files.replay import Replay, record
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.registry import as_game, game_class

WRONG = (ValueError, IndexError, IllegalActionError)


def vec_env(*args: Any, **options: Any) -> Any:
    """A GardenVecEnv, where Stable-Baselines3 is installed."""
    pytest.importorskip("stable_baselines3")
    from garden_core.interfaces.sb3 import GardenVecEnv

    return GardenVecEnv(*args, **options)


EARLY: dict[str, tuple[Callable[[str], Any], dict[str, Callable[[Any], Any]]]] = {
    "GardenEnv": (
        lambda name: GardenEnv(name, render_mode="ansi"),
        {
            "last": lambda env: env.last(),
            "observe": lambda env: env.observe("player_0"),
            "step": lambda env: env.step(0),
            "snapshot": lambda env: env.snapshot(),
            "render": lambda env: env.render(),
            "_repr_svg_": lambda env: env._repr_svg_(),
            "agent_iter": lambda env: env.agent_iter(),
        },
    ),
    "Batch": (
        lambda name: Batch(name, 2),
        {
            "step": lambda batch: batch.step([0, 0]),
            "observe": lambda batch: batch.observe(0),
            "refresh": lambda batch: batch.refresh(),
            "a policy": lambda batch: RandomPolicy()(batch, batch.all_rows),
        },
    ),
    "Learner": (lambda name: Learner(as_game(name, {}), 2), {"step": lambda learner: learner.step([0, 0])}),
    "Env": (
        lambda name: Env(name, render_mode="ansi"),
        {
            "step": lambda env: env.step(0),
            "action_masks": lambda env: env.action_masks(),
            "snapshot": lambda env: env.snapshot(),
            "render": lambda env: env.render(),
        },
    ),
    "VectorEnv": (
        lambda name: VectorEnv(name, num_envs=2, render_mode="ansi"),
        {
            "step": lambda env: env.step([0, 0]),
            "action_masks": lambda env: env.action_masks(),
            "render": lambda env: env.render(),
        },
    ),
    "GardenVecEnv": (
        lambda name: vec_env(name, 2, render_mode="rgb_array"),
        {
            "step": lambda env: env.step(np.zeros(2, np.int64)),
            "action_masks": lambda env: env.action_masks(),
            "render": lambda env: env.render(),
            "get_images": lambda env: env.get_images(),
        },
    ),
}


@each_game
@pytest.mark.parametrize("interface", EARLY)
def test_before_the_first_reset(name, interface):
    make_it, calls = EARLY[interface]
    env = make_it(name)
    for what, call in calls.items():
        with pytest.raises(RuntimeError) as raised:
            call(env)
        assert str(raised.value) == f"call reset() before {what}()"


def in_play(interface: str, name: Any) -> Any:
    env = EARLY[interface][0](name)
    if interface == "GardenVecEnv":
        env.seed(3)
        env.reset()
    elif interface in ("Env", "VectorEnv"):
        env.reset(seed=3)
    else:
        env.reset(3)
    return env


ARGUMENTS: dict[tuple[str, str], Callable[[Any, Any], Any]] = {
    ("Batch", "reset seed"): lambda batch, value: batch.reset(value),
    ("Batch", "reset rows"): lambda batch, value: batch.reset(rows=value),
    ("Batch", "reset seeds of rows"): lambda batch, value: batch.reset(value, [1]),
    ("Batch", "step actions"): lambda batch, value: batch.step(value),
    ("Batch", "step rows"): lambda batch, value: batch.step(batch.action_mask.argmax(1), value),
    ("Batch", "observe player"): lambda batch, value: batch.observe(value),
    ("Batch", "observe states"): lambda batch, value: batch.observe(0, value),
    ("Learner", "reset seed"): lambda learner, value: learner.reset(value),
    ("Learner", "reset rows"): lambda learner, value: learner.reset(None, value),
    ("Learner", "step"): lambda learner, value: learner.step(value),
    ("Learner", "set_weights"): lambda learner, value: learner.set_weights(value),
    ("GardenEnv", "reset seed"): lambda env, value: env.reset(value),
    ("GardenEnv", "observe"): lambda env, value: env.observe(value),
    ("GardenEnv", "step"): lambda env, value: env.step(value),
    ("GardenEnv", "render seat"): lambda env, value: env.render(value),
    ("GardenEnv", "set_state"): lambda env, value: env.set_state(value),
    ("Env", "reset seed"): lambda env, value: env.reset(seed=value),
    ("Env", "step"): lambda env, value: env.step(value),
    ("VectorEnv", "reset seed"): lambda env, value: env.reset(seed=value),
    ("VectorEnv", "reset mask"): lambda env, value: env.reset(options={"reset_mask": value}),
    ("VectorEnv", "reset options"): lambda env, value: env.reset(options=value),
    ("VectorEnv", "step"): lambda env, value: env.step(value),
    ("GardenVecEnv", "seed"): lambda env, value: env.seed(value),
    ("GardenVecEnv", "step"): lambda env, value: env.step(value),
    ("GardenVecEnv", "get_attr"): lambda env, value: env.get_attr("game", value),
    ("GardenVecEnv", "env_method"): lambda env, value: env.env_method("action_masks", indices=value),
    ("GardenVecEnv", "env_is_wrapped"): lambda env, value: env.env_is_wrapped(Env, value),
}
WHOLE = (int, np.integer)


def is_whole(value: Any) -> bool:
    """Whether a value is one whole number, as seeds, seats and actions must be."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    return isinstance(value, WHOLE) and not isinstance(value, bool)


@pytest.mark.parametrize(("interface", "what"), ARGUMENTS, ids=map(" ".join, ARGUMENTS))
def test_odd_arguments(interface, what):
    """Either they are taken, which only whole numbers in range are (or sequences of them), or one clear error says why."""
    call = ARGUMENTS[interface, what]
    env = None
    for value in fuzzing.STRANGE_ARGUMENTS:
        env = env or in_play(interface, Cacti)
        _, error = fuzzing.outcome(lambda env=env, value=value: call(env, value), WRONG, seconds=60)
        one = {"step", "observe", "set_state"} if interface in ("GardenEnv", "Env") else set()
        if error is None and (what in one or "seat" in what):
            assert is_whole(value) or value is None or value == "player_0", fuzzing.short(value)
        if error is None and isinstance(value, float | complex | str | bytes | np.floating):
            assert value == "player_0", (what, value)
        if error is None:  # for the next one a fresh environment
            env = None


CONSTRUCTORS: dict[str, Callable[[Any, Any], Any]] = {
    "Batch num_envs": lambda kind, value: Batch(kind(), value),
    "Learner num_envs": lambda kind, value: Learner(kind(), value),
    "Learner seat": lambda kind, value: Learner(kind(), 2, seat=value),
    "Learner opponents": lambda kind, value: Learner(kind(), 2, value),
    "Learner weights": lambda kind, value: Learner(kind(), 2, ["random", "greedy"], value),
    "Learner autoreset": lambda kind, value: Learner(kind(), 2, autoreset=value),
    "Env seat": lambda kind, value: Env(kind, seat=value),
    "Env render_mode": lambda kind, value: Env(kind, render_mode=value),
    "VectorEnv num_envs": lambda kind, value: VectorEnv(kind, num_envs=value),
    "VectorEnv autoreset_mode": lambda kind, value: VectorEnv(kind, num_envs=2, autoreset_mode=value),
    "GardenVecEnv num_envs": lambda kind, value: vec_env(kind, value),
    "GardenVecEnv seed": lambda kind, value: vec_env(kind, 2, seed=value),
    "GardenEnv render_mode": lambda kind, value: GardenEnv(kind, render_mode=value),
    "GardenEnv illegal": lambda kind, value: GardenEnv(kind, illegal=value),
    "option num_players": lambda kind, value: kind(num_players=value),
    "option max_decisions": lambda kind, value: kind(max_decisions=value),
    "option reward": lambda kind, value: kind(reward=value),
    "RandomPolicy seed": lambda kind, value: RandomPolicy(value),
}
LARGE = 2**20  # rows that memory is not taken for here


@pytest.mark.parametrize("what", CONSTRUCTORS)
def test_odd_arguments_of_constructors(what):
    for value in fuzzing.STRANGE_ARGUMENTS:
        if "num_envs" in what and is_whole(value) and value > LARGE:
            continue
        found, error = fuzzing.outcome(
            lambda value=value: CONSTRUCTORS[what](Cacti, value), (ValueError, TypeError), seconds=60
        )
        if error is None and what.split()[1] in ("num_envs", "seed", "num_players", "max_decisions"):
            assert is_whole(value) or (value is None and "GardenVecEnv seed" in what), (what, value)
        if isinstance(error, TypeError):
            assert "game" in str(error), (what, value, error)
        del found


@pytest.mark.parametrize("value", fuzzing.STRANGE_ARGUMENTS, ids=range(len(fuzzing.STRANGE_ARGUMENTS)))
def test_odd_names_of_games_and_actions_of_replays(value):
    fuzzing.outcome(lambda: game_class(value), (ValueError, TypeError))
    game = make("cacti")
    if isinstance(value, list | tuple | str):
        fuzzing.outcome(lambda: Replay.of(game, 0, value), ReplayError)
    fuzzing.outcome(lambda: Replay.of(game, value, []), ReplayError)


# --- what opponents answer ---


class Trickster:
    """A policy with an answer to be set; the first legal action if it is None."""

    def __init__(self) -> None:
        self.answer: Any = None

    def __call__(self, batch: Batch, rows: np.ndarray) -> Any:
        if self.answer is None:
            return batch.action_mask[rows].argmax(1)
        return self.answer(batch, rows)


def wrong_answers(batch: Batch, rows: np.ndarray) -> list[Any]:
    """Return answers that are none."""
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


@each_game
def test_wrong_answers_of_policies_are_named(name):
    game, policy = make(name), Trickster()
    batch = Batch(game, 3)
    batch.reset(5)
    for answer in wrong_answers(batch, batch.all_rows):
        policy.answer = lambda batch, rows, answer=answer: answer
        _, error = fuzzing.outcome(lambda: ask(policy, batch, batch.all_rows), ValueError, names="Trickster")
        assert error is not None
        _, error = fuzzing.outcome(
            lambda: record(game, [policy] * game.num_players, 0), ValueError, names="Trickster"
        )
        assert error is not None


@each_game
def test_a_game_is_over_for_all(name):
    env = GardenEnv(name, illegal="terminate", render_mode="ansi")
    env.reset(1)
    mask = env.last()[0]["action_mask"]
    env.step(int(mask.argmin()) if not mask.all() else env.game.num_actions)
    while env.agents:
        assert env.last()[2]
        for value in fuzzing.STRANGE_ARGUMENTS[1:]:
            _, error = fuzzing.outcome(lambda value=value: env.step(value), ValueError)
            assert error is not None
        env.step(None)
    for call in (env.last, lambda: env.step(None), lambda: env.step(0)):
        with pytest.raises(RuntimeError, match="over for all agents"):
            call()
    assert env.render()
    assert env.observation_space("player_0").contains(env.observe("player_0"))


def test_pictures_of_a_vec_env():
    for mode in ("ansi", "human"):
        env = vec_env("cacti", 2, render_mode=mode)
        env.reset()
        with pytest.raises(ValueError, match="use 'rgb_array'"):
            env.render()
    env = vec_env("cacti", 2)
    env.reset()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert env.render() is None
    assert caught


@each_game
def test_policies_answer_for_rows_that_are_over(name):
    batch = Batch(make(name, max_decisions=1), 2, autoreset=False)
    batch.reset(0)
    batch.step(batch.action_mask.argmax(1))
    for policy in (RandomPolicy(), GreedyPolicy()):
        with fuzzing.within(60):
            policy(batch, batch.all_rows)
        _, error = fuzzing.outcome(
            lambda policy=policy: batch.step(policy(batch, batch.all_rows)),
            ValueError,
            names="over",
            seconds=60,
        )
        assert error is not None
