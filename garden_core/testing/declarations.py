"""Checks of what a game declares: metadata, labels, options, records, parts of its observation."""

from __future__ import annotations

import pickle
import re
from typing import Any

import numpy as np

from garden_core.game import Game
from garden_core.jit import JIT, kernels
from garden_core.options import REWARD, Option
from garden_core.presentation import Presentation
from garden_core.testing.played import Played, read_all

_CHANCE, _INFORMATION = ("none", "deal", "play"), ("perfect", "imperfect")  # what a Game may declare


def check_card(game: Game) -> None:
    text = [game.name, game.title, *game.labels]
    assert all(isinstance(word, str) and word for word in text), (
        f"{game!r}: name, title and labels must be str"
    )
    assert len(set(game.labels)) == len(game.labels), f"{game!r}: labels must be distinct"
    assert game.num_actions == len(game.labels) >= 1, f"{game!r}: needs a label for each action"
    assert isinstance(game.version, int), f"{game!r}: version must be an int"
    assert game.version >= 0, f"{game!r}: version must not be negative"
    for what, allowed in (("chance", _CHANCE), ("information", _INFORMATION)):
        value = getattr(game, what)
        names = ", ".join(map(repr, allowed))
        assert value in allowed, f"{game!r}: {what} is {value!r}; allowed are {names}"
    says = game.information == "perfect" or type(game).seen is not Presentation.seen
    assert says, f"{game!r}: information is 'imperfect', so the class needs seen, which says what a seat sees"
    shape = game.observation_shape
    assert isinstance(shape, tuple), f"{game!r}: observation_shape must be a tuple"
    assert all(isinstance(n, int) and n > 0 for n in shape), f"{game!r}: observation_shape is {shape}"
    for parts, size in (
        (game.observation_parts, game.observation_size),
        (game.action_parts, game.num_actions),
    ):
        described = sum(part.size for part in parts)
        assert not parts or described == size, (
            f"{game!r}: the parts of observation or actions have {described} of {size}"
        )
    low, high = game.reward_range
    assert low < high, f"{game!r}: reward_range is {game.reward_range}"
    assert game.reward_divisor > 0, f"{game!r}: reward_divisor must be positive"
    assert game.utility == ("identical" if game.cooperative else "zero-sum"), f"{game!r}: {game.utility=}"
    if JIT:
        for name in kernels.Kernels._fields:
            compiled = hasattr(getattr(game.rules, name), "py_func")
            assert compiled, f"{game!r}: {name} must be decorated with garden_core.compiled"


def check_options(game: Game) -> None:
    try:
        type(game)()
    except (TypeError, ValueError) as error:
        raise AssertionError(f"{game!r}: the defaults of the options are refused: {error}") from error
    for option in (*game.options, REWARD):
        for value in _refused(option):
            message = _error(game, ValueError, {option.name: value})
            assert message is not None, f"{game!r}: {option.name}={value!r} must raise ValueError"
            assert option.name in message, (
                f"{game!r}: the error for {option.name}={value!r} lacks its name: {message}"
            )
    message = _error(game, TypeError, {"no_such_option": 1})
    assert message is not None, f"{game!r}: an unknown option must raise TypeError"
    assert "no_such_option" in message, f"{game!r}: the error for an unknown option lacks its name: {message}"


def _error(game: Game, kind: type[Exception], options: dict[str, Any]) -> str | None:
    try:
        game.with_options(**options)
    except kind as error:
        return str(error)
    return None


def _refused(option: Option) -> list[Any]:
    """Values that the option cannot allow."""
    if isinstance(option.default, bool):
        return [2, "yes", None]
    if option.choices:
        return ["no such choice", None]
    if isinstance(option.default, str):
        return [1, True]
    if option.low is None and option.high is None:
        return []  # an option of a kind of its own
    beyond = [] if option.low is None else [option.low - 1]
    beyond += [] if option.high is None else [option.high + 1]
    return [*beyond, "1", None, 1.5, True]


def check_records(game: Game) -> None:
    for dtype in (game.state_dtype, game.params_dtype):
        packed = np.dtype([(name, dtype[name]) for name in dtype.names or ()]).itemsize
        assert packed == dtype.itemsize, f"{game!r}: the record {dtype.names} has padding"
    last = (game.state_dtype.names or ("",))[-1]
    assert last.startswith("build_"), f"{game!r}: the last field must be build_<digest>, not {last}"
    try:
        int(last.removeprefix("build_"), 16)
    except ValueError:
        raise AssertionError(f"{game!r}: the field {last} does not end with a digest") from None
    seats = game.max_players
    assert 1 <= game.num_players <= seats, f"{game!r}: {game.num_players} players, but {seats} seats"
    assert not any(game.new_states(3).tobytes()), f"{game!r}: new_states must be zeros"


def check_pickle(game: Game) -> None:
    try:
        other = pickle.loads(pickle.dumps(game))
    except (pickle.PickleError, AttributeError, TypeError, ValueError, ImportError) as error:
        raise AssertionError(f"{game!r}: cannot be pickled: {error}") from error
    assert other == game, f"{game!r}: pickling gives another game, {other!r}"
    assert hash(other) == hash(game), f"{game!r}: equal games have different hashes"
    assert other.params.tobytes() == game.params.tobytes(), f"{game!r}: pickling changes params"


def check_undealt(game: Game) -> None:
    """A state that was never dealt, all zeros, is harmless: nothing is legal in it, reading it goes well."""
    at = f"{game!r}, a state that was never dealt"
    states = game.new_states(1)
    try:
        read = read_all(game, states, 77, at)
    except IndexError as error:
        raise AssertionError(f"{at}: a rule reaches outside of an array: {error}") from error
    assert not read["legal_actions"].any(), f"{at}: legal_actions must mark nothing"
    kernels.apply_action(states[0], game.params[0], 0)
    kernels.resample(states[0], game.params[0], 0, 1)
    assert not states.tobytes().strip(b"\0"), f"{at}: apply_action and resample must leave it as it is"


def check_observation_parts(game: Game, played: list[Played]) -> None:
    """Every part of a flat observation holds what it says: values of its range."""
    for one in played:
        seen = np.zeros((len(one.states), game.num_players, game.observation_size), np.int8)
        for i, states in enumerate(one.states):
            for seat in range(game.num_players):
                kernels.observe(states[0], game.params[0], seat, seen[i, seat])
        first = 0
        for part in game.observation_parts:
            found = seen[:, :, first : first + part.size]
            low, high = _range(part.values)
            assert low <= found.min() <= found.max() <= high, (
                f"{one.name}: {part.meaning!r} is {found.min()} … {found.max()}, not {part.values}"
            )
            first += part.size


def _range(values: str) -> tuple[float, float]:
    """Return lowest and highest of "0, 1", "0 … 5" or "≥ 0"."""
    numbers = [float(number) for number in re.findall(r"-?\d+", values)]
    return (numbers[0], np.inf) if values.startswith("≥") else (numbers[0], numbers[-1])
