"""Checks of what a game declares: metadata, labels, options, parts of its observation; and of pickling."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from garden_core.game import Game
from garden_core.jit import kernels
from garden_core.jit.rows import JIT
from garden_core.options import REWARD, Option
from garden_core.presentation import Presentation
from garden_core.testing.played import Played, act, hidden, observations, read_all


def check_metadata(game: Game) -> None:
    text = [game.name, game.title, *game.labels]
    assert all(isinstance(word, str) and word for word in text), (
        f"{game!r}: name, title and labels must be str"
    )
    assert len(set(game.labels)) == len(game.labels), f"{game!r}: labels must be distinct"
    assert game.labels, f"{game!r}: needs at least one label"
    assert isinstance(game.version, int), f"{game!r}: version must be an int"
    assert game.version >= 0, f"{game!r}: version must not be negative"
    for what, allowed in (("chance", ("none", "deal", "play")), ("information", ("perfect", "imperfect"))):
        value = getattr(game, what)
        assert value in allowed, f"{game!r}: {what} is {value!r}, not one of {allowed}"
    has_seen = game.information == "perfect" or type(game).seen is not Presentation.seen
    assert has_seen, (
        f"{game!r}: information is 'imperfect', so the class needs seen, which returns what a seat sees"
    )
    shape = game.observation_shape
    assert isinstance(shape, tuple), f"{game!r}: observation_shape must be a tuple"
    assert all(isinstance(n, int) and n > 0 for n in shape), f"{game!r}: observation_shape is {shape}"
    for parts, size in (
        (game.observation_parts, game.observation_size),
        (game.hidden_parts, game.hidden_size),
        (game.action_parts, game.num_actions),
    ):
        described, names = sum(part.size for part in parts), [part.name for part in parts]
        assert not parts or described == size, (
            f"{game!r}: the parts of observation or actions have {described} of {size}"
        )
        assert len(set(names)) == len(names), f"{game!r}: names of parts must be distinct: {names}"
    low, high = game.reward_range
    assert low < high, f"{game!r}: reward_range is {game.reward_range}"
    assert game.reward_divisor > 0, f"{game!r}: reward_divisor must be positive"
    if JIT:
        for name in kernels.Kernels._fields:
            compiled = hasattr(getattr(game.rules, name), "py_func")
            assert compiled, f"{game!r}: {name} must be decorated with garden_core.compiled"


def check_options(game: Game) -> None:
    try:
        type(game)()
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{game!r}: the defaults of the options are refused: {error}") from error
    wrong: list[tuple[str, Any, type[Exception]]] = [("no_such_option", 1, TypeError)]
    for option in (*game.options, REWARD):
        wrong += [(option.name, value, ValueError) for value in _refused(option)]
    for name, value, kind in wrong:
        try:
            game.with_options(**{name: value})
        except kind as error:
            message = str(error)
        else:
            raise AssertionError(f"{game!r}: {name}={value!r} must raise {kind.__name__}")
        assert name in message, f"{game!r}: the error for {name}={value!r} lacks its name: {message}"


def _refused(option: Option) -> list[Any]:
    """Return values that the option cannot allow."""
    if isinstance(option.default, bool):
        return [2, "yes", None]
    if option.choices:
        return ["no such choice", None]
    if isinstance(option.default, str):
        return [1, True]
    bounds = (option.low, -1), (option.high, 1)
    beyond = [bound + step for bound, step in bounds if bound is not None]
    # An option without bounds has its own checks.
    return [*beyond, "1", None, 1.5, True] if beyond else []


def check_pickle(game: Game) -> None:
    try:
        other = pickle.loads(pickle.dumps(game))
    except Exception as error:
        raise AssertionError(f"{game!r}: cannot be pickled: {error}") from error
    assert other == game, f"{game!r}: pickling gives another game, {other!r}"
    assert other.params.tobytes() == game.params.tobytes(), f"{game!r}: pickling changes params"


def check_undealt(game: Game) -> None:
    """Check that a state that was never dealt, all zeros, can be read, and that nothing is legal in it."""
    at = f"{game!r}, a state that was never dealt"
    states = game.new_states(1)
    try:
        read = read_all(game, states, 77, at)
    except IndexError as error:
        raise AssertionError(f"{at}: a rule reaches outside of an array: {error}") from error
    assert not read["legal_actions"].any(), f"{at}: legal_actions must mark nothing"
    act(game, states, 0)
    kernels.resample(states[0], game.params[0], 0, 1)
    assert not states.tobytes().strip(b"\0"), f"{at}: apply_action and resample must leave it as it is"


def check_observation_parts(game: Game, played: list[Played]) -> None:
    """Check that every part of a flat observation, and of what is hidden, has values of its range."""
    for one in played:
        for parts, read in ((game.observation_parts, observations), (game.hidden_parts, hidden)):
            seen = np.array([read(game, states) for states in one.states])
            first = 0
            for part in parts:
                entries = seen[:, :, first : first + part.size]
                low, high = part.bounds
                assert low <= entries.min() <= entries.max() <= high, (
                    f"{one.name}: {part.meaning!r} is {entries.min()} … {entries.max()}, not {part.values}"
                )
                first += part.size
