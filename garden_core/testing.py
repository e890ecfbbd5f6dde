"""The checks that any Game must pass: `check_game(MyGame())`, for the tests of whoever writes one."""

from __future__ import annotations

import copy
import itertools
import json
import pickle
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from garden_core import kernels
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.jit import JIT
from garden_core.options import REWARD, Option
from garden_core.rewards import REWARDS
from garden_core.rng import game_seed

__all__ = ["check_game"]

_MARGIN = 64  # entries around an array given to a kernel, which the kernel must leave alone
_READ_BACK_EVERY = 7  # decisions: reading a snapshot takes a millisecond
_CHANCE, _INFORMATION = ("none", "deal", "play"), ("perfect", "imperfect")  # what a Game may declare
_CORE_FIELDS = ("decisions", "current_player", "terminated", "truncated", "rewards", "paid")
_REWARD_FIELDS = ("rewards", "tally", "paid")
_DEALS = 300  # that redraws are compared with
_COURSES, _LOOKS = 4, 4  # ways in which these go on, and decisions between two looks at one


@dataclass
class _Played:
    """A random game: what it was dealt from, what was done, and the state before each decision and at the end."""

    name: str
    seed: np.uint64
    actions: list[int]
    states: list[np.ndarray]


def check_game(game: Game, games: int = 20, seed: int = 0) -> None:
    """Check by random play that `game` keeps what a Game promises, whatever its rules.

    Reads the identity card and the options, and checks records, masks, views, snapshots, rewards, the cap,
    copies, and that Batch and the PettingZoo environment play the same game. Redrawing what a seat does not see must
    change nothing that the seat is shown (observation, mask, `seat_view`, text, picture), and all that `seen` hides. Both
    kinds of reward are checked; give each variant of the rules a call of its own.

    Args:
        game: the game with its options.
        games: random games to play; what happens seldom needs many.
        seed: of the deals and the random play.

    Raises:
        AssertionError: says what is wrong, and in which game after how many decisions.
    """
    assert games >= 1, "games must be at least 1"
    params = game.params.tobytes()
    _check_card(game)
    _check_options(game)
    _check_records(game)
    _check_pickle(game)
    _check_undealt(game)
    choose = np.random.default_rng(seed)
    played = [_play(game, seed, number, choose) for number in range(games)]
    for one in played:
        _check_deal(game, one)
        _check_copies(game, one, choose)
        for reward in REWARDS:
            _check_rewards(_with(game, reward=reward), one)
        _check_cap(game, one)
    _check_observation_parts(game, played)
    _check_chance(game, played, choose)
    _check_resample(game, played, choose)
    if game.information == "imperfect":
        _check_hidden(game, played, choose)
        _check_redraws(game, choose)
    _check_batch(game, seed, choose)
    _check_aec(game, seed, choose)
    assert game.params.tobytes() == params, f"{game!r}: playing has changed params, which is read-only"


# --- what the game says of itself ---


def _check_card(game: Game) -> None:
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
    says = game.information == "perfect" or type(game).seen is not Game.seen
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


def _check_options(game: Game) -> None:
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
        _with(game, **options)
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


def _check_records(game: Game) -> None:
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


def _check_pickle(game: Game) -> None:
    try:
        other = pickle.loads(pickle.dumps(game))
    except (pickle.PickleError, AttributeError, TypeError, ValueError, ImportError) as error:
        raise AssertionError(f"{game!r}: cannot be pickled: {error}") from error
    assert other == game, f"{game!r}: pickling gives another game, {other!r}"
    assert hash(other) == hash(game), f"{game!r}: equal games have different hashes"
    assert other.params.tobytes() == game.params.tobytes(), f"{game!r}: pickling changes params"


def _check_undealt(game: Game) -> None:
    """A state that was never dealt, all zeros, is harmless: nothing is legal in it, reading it goes well."""
    at = f"{game!r}, a state that was never dealt"
    states = game.new_states(1)
    try:
        read = _read(game, states, 77, at)
    except IndexError as error:
        raise AssertionError(f"{at}: a rule reaches outside of an array: {error}") from error
    assert not read["legal_actions"].any(), f"{at}: legal_actions must mark nothing"
    kernels.apply_action(states[0], game.params[0], 0)
    kernels.resample(states[0], game.params[0], 0, 1)
    assert not states.tobytes().strip(b"\0"), f"{at}: apply_action and resample must leave it as it is"


def _check_observation_parts(game: Game, played: list[_Played]) -> None:
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


# --- one random game ---


def _play(game: Game, seed: int, number: int, choose: np.random.Generator) -> _Played:
    """Play a random game, checking every position on the way."""
    name = f"{game!r}, game {number} of seed {seed}"
    one = _Played(name, game_seed(np.uint64(seed), np.uint64(0), np.uint64(number)), [], [])
    states = game.new_states(1)
    kernels.deal(states[0], game.params[0], one.seed)
    assert states["decisions"][0] == 0, f"{name}: decisions must be 0 after the deal"
    assert not _over(states), f"{name}: must not be over after the deal"
    while True:
        at = f"{name}, after {len(one.actions)} decisions"
        one.states.append(states.copy())
        mask = _check_position(game, states, at)
        _check_snapshot(game, states, at)
        if len(one.actions) % _READ_BACK_EVERY == 0:
            _check_read_back(game, states, at)
        if _over(states):
            break
        assert len(one.actions) < game.max_game_length, f"{at}: should be over, max_game_length is reached"
        legal = np.flatnonzero(mask)
        for action in legal:
            _check_action(game, states, int(action), at)
        one.actions.append(int(choose.choice(legal)))
        kernels.apply_action(states[0], game.params[0], one.actions[-1])
    for position in (one.states[0], one.states[-1]):
        for seat in (None, *range(game.num_players)):
            assert isinstance(game.text(position[0], seat), str), f"{name}: text must give a str"
    return one


def _check_position(game: Game, states: np.ndarray, at: str) -> np.ndarray:
    """Check all that the kernels say of a position; return the mask."""
    read = _read(game, states, 77, at)
    mask, count = read["legal_actions"], int(read["legal_actions: the number returned"])
    assert mask.view(np.uint8).max() <= 1, f"{at}: legal_actions must write 0 or 1 into every entry"
    assert count == mask.sum(), f"{at}: legal_actions returns {count} but marks {mask.sum()}"
    if not _over(states):
        assert count > 0, f"{at}: the game is not over, so something must be legal"
        player = states["current_player"][0]
        assert 0 <= player < game.num_players, f"{at}: current_player is {player}"
    for what, value in read.items():
        if what.startswith("observe"):
            assert value.min() >= 0, f"{at}: {what} gives negative entries; observations lie in 0 … 127"
    _check_same(read, _read(game, states, -78, at), f"{at}: {{}} does not write every entry")
    other = states.copy()
    other["rng"] += np.uint64(0x9E3779B97F4A7C15)
    _check_same(read, _read(game, other, 77, at), f"{at}: {{}} leaks the random state")
    return mask


def _read(game: Game, states: np.ndarray, fill: int, at: str) -> dict[str, np.ndarray]:
    """Call all kernels that only read; their arrays are full of `fill` before."""
    state, params, seats = states[0], game.params[0], game.max_players
    before = states.tobytes()

    def call(name: str, size: int, dtype: type, *arguments: Any) -> tuple[np.ndarray, Any]:
        room: np.ndarray = np.empty(size + 2 * _MARGIN, dtype)
        room.fill(fill)
        margins = room[:_MARGIN].tobytes()
        out = room[_MARGIN:-_MARGIN]
        result = getattr(kernels, name)(state, params, *arguments, out)
        assert states.tobytes() == before, f"{at}: {name} changes the state"
        kept = room[:_MARGIN].tobytes() == margins == room[-_MARGIN:].tobytes()
        assert kept, f"{at}: {name} writes outside of its array"
        return out, result

    mask, count = call("legal_actions", game.num_actions, np.int8)
    read = {"legal_actions": mask, "legal_actions: the number returned": np.array(count)}
    for seat in range(game.num_players):
        read[f"observe for seat {seat}"] = call("observe", game.observation_size, np.int8, seat)[0]
    for name in ("points", "public_points", "standings"):
        read[name] = call(name, seats, np.int32)[0][: game.num_players]
    return read


def _check_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray], message: str) -> None:
    for what, value in one.items():
        assert value.tobytes() == other[what].tobytes(), message.format(what)


def _check_snapshot(game: Game, states: np.ndarray, at: str) -> None:
    before = states.tobytes()
    snapshot = game.snapshot(states[0])
    assert states.tobytes() == before, f"{at}: snapshot changes the state"
    try:
        plain = json.loads(json.dumps(snapshot)) == snapshot
    except TypeError:
        plain = False
    assert plain, f"{at}: the snapshot is not plain JSON (dict, list, int, str, bool, None): {snapshot}"
    state = states[0]
    expected = {
        "game": game.name,
        "current_player": int(state["current_player"]),
        "decisions": int(state["decisions"]),
        "terminated": bool(state["terminated"]),
        "truncated": bool(state["truncated"]),
        "scores": game.scores(state),
    }
    for key, value in expected.items():
        found = snapshot.get(key)
        assert found == value, f"{at}: snapshot[{key!r}] is {found!r}, not {value!r}"
        assert type(found) is type(value), f"{at}: snapshot[{key!r}] is {found!r}, not {value!r}"
    phase = snapshot.get("phase", snapshot.get("asked"))
    assert phase is not None, f"{at}: the snapshot needs 'phase' or 'asked'"
    assert (phase == "over") == _over(states), f"{at}: the snapshot says {phase!r}"


def _check_read_back(game: Game, states: np.ndarray, at: str) -> None:
    """The state made of a snapshot shows what the original does."""
    if type(game).fill_state is Game.fill_state:
        return
    try:
        read = game.from_snapshot(game.snapshot(states[0]), 0)
    except ValueError as error:
        raise AssertionError(f"{at}: from_snapshot refuses the game's own snapshot: {error}") from error
    again = game.new_states(1)
    again[0] = read
    _check_same(_read(game, states, 77, at), _read(game, again, 77, at), f"{at}: from_snapshot changes {{}}")


def _check_action(game: Game, states: np.ndarray, action: int, at: str) -> None:
    """Carry out a legal action on a copy."""
    after = states.copy()
    kernels.apply_action(after[0], game.params[0], action)
    done = f"{at}, then {game.labels[action]!r}"
    assert after["decisions"][0] == states["decisions"][0] + 1, f"{done}: decisions must go up by 1"
    ends = (int(after["terminated"][0]), int(after["truncated"][0]))
    assert ends in ((0, 0), (0, 1), (1, 0)), f"{done}: terminated and truncated are {ends}"
    capped = after["decisions"][0] >= game.option_values["max_decisions"] and not ends[0]
    assert ends[1] == capped, f"{done}: truncated is for the cap alone, and for the core to set"
    mask = np.zeros(game.num_actions, np.int8)
    count = kernels.legal_actions(after[0], game.params[0], mask)
    assert count > 0 or _over(after), f"{done}: the game is not over, so something must be legal"


# --- the same game again ---


def _check_deal(game: Game, one: _Played) -> None:
    names = game.state_dtype.names or ()
    unused = [name for name in names if name == "spare" or name == names[-1]]
    for fill in (0xA5, 0xFF):
        states = game.new_states(1)
        states.view(np.uint8)[:] = fill
        for name in unused:
            states[name] = 0
        kernels.deal(states[0], game.params[0], one.seed)
        left = _differing(states, one.states[0])
        assert not left, f"{one.name}: deal must fill every field, but leaves {', '.join(left)} in part"


def _check_copies(game: Game, one: _Played, choose: np.random.Generator) -> None:
    """A state plays on alike from its bytes, a pickle and a copy; and so does the whole game from its seed."""
    middle = int(choose.integers(len(one.states)))
    original = one.states[middle]
    from_bytes = game.new_states(1)
    from_bytes[0] = np.frombuffer(original.tobytes(), game.state_dtype)[0]
    from_row = game.new_states(2)
    from_row[1] = original[0]
    ways = {
        "bytes": from_bytes,
        "a pickle": pickle.loads(pickle.dumps(original)),
        "a copied row": from_row[1:],
    }
    for way, states in ways.items():
        assert states.tobytes() == original.tobytes(), f"{one.name}: {way} of a state differs from it"
        for action in one.actions[middle:]:
            kernels.apply_action(states[0], game.params[0], action)
        played_on = states.tobytes() == one.states[-1].tobytes()
        assert played_on, f"{one.name}: does not play on alike from {way} after {middle} decisions"
    states = game.new_states(1)
    kernels.deal(states[0], game.params[0], one.seed)
    for number, action in enumerate(one.actions):
        differing = _differing(states, one.states[number])
        assert not differing, f"{one.name}: replayed, {differing} differ after {number} decisions"
        kernels.apply_action(states[0], game.params[0], action)


def _check_rewards(game: Game, one: _Played) -> None:
    """Play the game again for the kind of reward of `game`."""
    n, outcome = game.num_players, game.option_values["reward"] == "outcome"
    states = game.new_states(1)
    kernels.deal(states[0], game.params[0], one.seed)
    before = _numbers(game, states, kernels.public_points)
    total = np.zeros(n)
    for number, action in enumerate(one.actions, start=1):
        at = f"{game!r}, as {one.name}, reward of decision {number}"
        kernels.apply_action(states[0], game.params[0], action)
        differing = _differing(states, one.states[number], *_REWARD_FIELDS)
        assert not differing, f"{at}: option reward must not change the game, but {differing} differ"
        paid = states["rewards"][0, :n].astype(float)
        assert np.isfinite(paid).all(), f"{at}: {paid}"
        if outcome and number < len(one.actions):
            assert not paid.any(), f"{at}: {paid} before the end"
        if game.cooperative:
            assert (paid == paid[0]).all(), f"{at}: {paid} in a cooperative game"
        else:
            assert abs(paid.sum()) < 1e-4, f"{at}: {paid} does not sum to zero"
        total += paid
    end = f"{game!r}, as {one.name}"
    low, high = game.reward_range
    within = (total >= low - 1e-4).all() and (total <= high + 1e-4).all()
    assert within, f"{end}: pays {total} in all, but reward_range is {game.reward_range}"
    points = _numbers(game, states, kernels.points)
    if game.cooperative:
        expected = np.full(n, (points.min() - (0 if outcome else before.min())) / game.reward_divisor)
        if outcome:
            level = _numbers(game, states, kernels.standings)
            assert (level == level[0]).all(), f"{end}: standings {level} in a cooperative game"
    elif outcome:
        expected = _by_rank(_numbers(game, states, kernels.standings))
    else:
        expected = (_margins(points) - _margins(before)) / game.reward_divisor
    fits = np.allclose(total, expected, rtol=1e-4, atol=1e-4)
    assert fits, f"{end}: pays {total} in all, but by points or standings it is {expected}"


def _by_rank(standings: np.ndarray) -> np.ndarray:
    """From +1 for the first to -1 for the last, tied seats sharing the mean of their ranks."""
    better = (standings[None, :] > standings[:, None]).sum(axis=1)
    level = (standings[None, :] == standings[:, None]).sum(axis=1)
    return 1 - 2 * (better + (level - 1) / 2) / (len(standings) - 1)


def _margins(points: np.ndarray) -> np.ndarray:
    return points - (points.sum() - points) / (len(points) - 1)


def _numbers(game: Game, states: np.ndarray, kernel: Any) -> np.ndarray:
    out = np.zeros(game.max_players, np.int32)
    kernel(states[0], game.params[0], out)
    return out[: game.num_players].astype(float)


def _check_cap(game: Game, one: _Played) -> None:
    """Cut the game one decision before its end, and exactly there."""
    ends, length = one.states[-1], len(one.actions)
    lowest = next(option.low for option in game.options if option.name == "max_decisions") or 1
    for cap in (length - 1, length):
        if cap < lowest:
            continue
        capped = _with(game, max_decisions=cap)
        assert capped.max_game_length == cap, f"{capped!r}: max_game_length is {capped.max_game_length}"
        states = capped.new_states(1)
        kernels.deal(states[0], capped.params[0], one.seed)
        for action in one.actions[:cap]:
            assert not _over(states), f"{capped!r}, as {one.name}: over before the cap"
            kernels.apply_action(states[0], capped.params[0], action)
        cut = cap < length or bool(ends["truncated"][0])
        found = bool(states["terminated"][0]), bool(states["truncated"][0])
        assert found == (not cut, cut), f"{capped!r}, as {one.name}: terminated, truncated are {found}"
        end = f"{capped!r}, as {one.name}, after {cap} decisions"
        _check_position(capped, states, end)
        _check_snapshot(capped, states, end)
        differing = _differing(states, one.states[cap], "truncated", *_REWARD_FIELDS)
        assert not differing, f"{capped!r}, as {one.name}: the cap must not change {differing}"


# --- chance and hidden things ---


def _check_chance(game: Game, played: list[_Played], choose: np.random.Generator) -> None:
    seeds = {one.states[0]["rng"].tobytes() for one in played}
    assert len(seeds) == len(played), f"{game!r}: deal must seed the generator from the seed"
    drawn = ""  # where the generator has decided something after the deal
    for one in played:
        for number, action in enumerate(one.actions):
            other = one.states[number].copy()
            other["rng"] = choose.integers(1, 2**64, 4, np.uint64)
            kernels.apply_action(other[0], game.params[0], action)
            if not drawn and _differing(other, one.states[number + 1], "rng"):
                drawn = f"{one.name}, decision {number + 1}"
    same_deal = all(not _differing(one.states[0], played[0].states[0], "rng") for one in played)
    if game.chance == "none":
        assert same_deal, f"{game!r}: chance is 'none', but deals differ"
    elif len(played) > 1:
        # Games that are all cut short may end before the first roll or draw.
        cut = game.chance == "play" and all(one.states[-1]["truncated"][0] for one in played)
        varied = drawn or not same_deal or cut
        assert varied, f"{game!r}: chance is {game.chance!r}, but {len(played)} seeds give the same game"
    if game.chance != "play":
        assert not drawn, f"{drawn}: chance is {game.chance!r}, but the generator has decided here"


def _check_resample(game: Game, played: list[_Played], choose: np.random.Generator) -> None:
    redrawn = False
    for one in played:
        draws = 1 if game.information == "perfect" else 4
        for which, number in enumerate(np.repeat(_some(one, choose), draws)):
            for seat in range(game.num_players):
                at = f"{one.name}, after {number} decisions, resampled for seat {seat}"
                redrawn |= _resampled(game, one.states[number], seat, choose, at, picture=which < draws)
    if game.information == "imperfect":
        assert redrawn, f"{game!r}: information is 'imperfect', but resample never redraws anything"


def _some(one: _Played, choose: np.random.Generator) -> np.ndarray:
    """Numbers of some positions of a game, but for the last."""
    return choose.choice(len(one.actions), min(len(one.actions), 8), replace=False)


def _resampled(
    game: Game, states: np.ndarray, seat: int, choose: np.random.Generator, at: str, picture: bool
) -> bool:
    """Check one redraw; return whether it changed anything but the generator."""
    other = states.copy()
    seed = choose.integers(1, 2**64, dtype=np.uint64)
    kernels.resample(other[0], game.params[0], seat, seed)
    assert other["rng"].tobytes() != states["rng"].tobytes(), f"{at}: the generator is still the same"
    again = states.copy()
    again["rng"] += np.uint64(0x9E3779B97F4A7C15)
    kernels.resample(again[0], game.params[0], seat, seed)
    assert again.tobytes() == other.tobytes(), f"{at}: resample must draw from its seed alone"
    differing = _differing(other, states, "rng", "tally")
    changed = [name for name in differing if name in _CORE_FIELDS]
    assert not changed, f"{at}: {changed} must not change"
    shown, shows = (_shown(game, each, seat, at, picture) for each in (states, other))
    for what, value in shown.items():
        assert value == shows[what], f"{at}: {what} is no longer the same: what the seat sees must not change"
    if game.information == "perfect":
        assert not differing, f"{at}: information is 'perfect', but {differing} have changed"
    if type(game).fill_state is not Game.fill_state:
        try:
            game.checked_state(other[0])
        except ValueError as error:
            raise AssertionError(f"{at}: resample makes a position that cannot be: {error}") from error
    _play_on(game, other, choose, at)
    return bool(differing)


def _shown(game: Game, states: np.ndarray, seat: int, at: str, picture: bool) -> dict[str, Any]:
    """All that a seat is shown of a position, by what shows it."""
    read, state = _read(game, states, 77, at), states[0]
    kernel = [f"observe for seat {seat}", "public_points"]
    if state["current_player"] == seat:
        kernel += ["legal_actions", "legal_actions: the number returned"]
    shown: dict[str, Any] = {what: read[what].tolist() for what in kernel}
    view = game.seat_view(state, seat)
    try:
        json.dumps(view)
    except TypeError as error:
        raise AssertionError(f"{at}: seat_view is not plain JSON: {error}") from error
    shown["describe"] = view.pop("legal")
    shown["what seen leaves"] = view
    shown["text"] = game.text(state, seat)
    if picture and (type(game).own_svg, type(game).svg) != (Game.own_svg, Game.svg):
        shown["svg"] = game.svg(state, seat, legal=True)
    return shown


def _redrawn(game: Game, states: np.ndarray, seat: int, choose: np.random.Generator) -> np.ndarray:
    """Copies of states in which what a seat does not see is redrawn."""
    states = states.copy()
    for state in states:
        kernels.resample(state, game.params[0], seat, choose.integers(1, 2**64, dtype=np.uint64))
    return states


def _deals(game: Game, count: int, choose: np.random.Generator) -> np.ndarray:
    states = game.new_states(count)
    for state in states:
        kernels.deal(state, game.params[0], choose.integers(1, 2**64, dtype=np.uint64))
    return states


def _check_hidden(game: Game, played: list[_Played], choose: np.random.Generator) -> None:
    """Whatever `seen` hides differs between redraws somewhere, unless it is always the same or follows from what is seen.

    Scores follow from the rest, and are left out.
    """
    deals = _deals(game, 100, choose)
    positions = [(-i, deals[i : i + 1]) for i in range(len(deals))]  # with a number for each game
    for number, one in enumerate(played, start=1):
        positions += [(number, one.states[i]) for i in _some(one, choose)]
    for seat in range(game.num_players):
        found: dict[_Place, list[_Found]] = defaultdict(list)
        varied = set()
        for number, states in positions:
            snapshot = game.snapshot(states[0])
            given = copy.deepcopy(snapshot)
            view = game.seen(given, seat)
            assert given == snapshot, f"{game!r}: seen changes the snapshot that it is given"
            keys = {key: json.dumps(part) for key, part in view.items()}
            redraws = [game.snapshot(_redrawn(game, states, seat, choose)[0]) for _ in range(2)]
            for place in _hidden(snapshot, view):
                instead, value = (json.dumps(_at(each, place)) for each in (view, snapshot))
                found[place].append(_Found(number, keys, instead, value))
                if _at(redraws[0], place) != _at(redraws[1], place):
                    varied.add(place)
        for place, values in found.items():
            can_vary = place[0] != "scores" and _differences(values) >= 10 and not _follows(values)
            assert place in varied or not can_vary, (
                f"{game!r}: seen hides {_name(place)} from seat {seat}, but resample does not redraw it: {len(values)} "
                f"times two redraws were the same in it, but from game to game it differs"
            )


class _Found(NamedTuple):
    """A hidden value: in which game it was found, all that is seen there, what is seen in its place, and itself."""

    game: int
    view: dict[str, str]
    instead: str
    value: str


_Place = tuple[str | int, ...]
"""Keys and indices that lead to a value of a snapshot."""


def _hidden(whole: Any, view: Any, place: _Place = ()) -> Iterator[_Place]:
    """Yield the places at which a view is not what the snapshot is."""
    if isinstance(whole, dict) and isinstance(view, dict):
        for key, value in whole.items():
            yield from _hidden(value, view.get(key), (*place, key))
    elif isinstance(whole, list) and isinstance(view, list) and len(whole) == len(view):
        for index, (value, seen) in enumerate(zip(whole, view, strict=True)):
            yield from _hidden(value, seen, (*place, index))
    elif whole != view:
        yield place


def _at(snapshot: Any, place: _Place) -> Any:
    """The value at a place; None where there is none."""
    try:
        for key in place:
            snapshot = snapshot[key]
    except (IndexError, KeyError, TypeError):
        return None
    return snapshot


def _name(place: _Place) -> str:
    return str(place[0]) + "".join(f"[{key!r}]" for key in place[1:])


def _differences(values: list[_Found]) -> float:
    """How many redraws are expected to differ, were a value as likely as it was found where the same is seen in its place."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in values:
        counts[each.instead][each.value] += 1
    return sum(own.total() - sum(n * n for n in own.values()) / own.total() for own in counts.values())


def _follows(values: list[_Found]) -> bool:
    """Whether up to three keys of what is seen decide a value: where these agree in two games, it does, many times."""
    rate = _differences(values) / len(values)
    for size in (1, 2, 3):
        for keys in itertools.combinations(values[0].view, size):
            seen = sorted(
                ([each.view.get(key, "") for key in keys], each.game, each.value) for each in values
            )
            pairs = [(a, b) for a, b in itertools.pairwise(seen) if a[0] == b[0] and a[1] != b[1]]
            if rate * len(pairs) >= 15 and all(a[2] == b[2] for a, b in pairs):
                return True
    return False


def _check_redraws(game: Game, choose: np.random.Generator) -> None:
    """After the deal redraws for a seat are like deals that it cannot tell apart: as likely, and as different.

    Compared is what all seats observe, then and when the game goes on by the same choices and the same generator.
    """
    deals, chances = _deals(game, _DEALS, choose), choose.random((_COURSES, 2 * _LOOKS))
    dealt = _courses(game, deals, chances)
    for seat in range(game.num_players):
        drawn, again = (_courses(game, _redrawn(game, deals, seat, choose), chances) for _ in range(2))
        columns = np.flatnonzero((dealt != dealt[0]).any(0) | (drawn != dealt[0]).any(0))
        real, redrawn = dealt[:, columns], drawn[:, columns]
        values, distance = np.zeros(len(columns)), np.zeros(len(columns))
        for value in np.union1d(real, redrawn):
            one, other = (real == value).sum(0), (redrawn == value).sum(0)
            values += one + other > 0
            distance += (one - other) ** 2 / np.maximum(one + other, 1)  # chi squared
        wrong = np.flatnonzero(distance > 60 + values + 15 * np.sqrt(values))
        assert not len(wrong), (
            f"{game!r}: resample for seat {seat} draws otherwise than deal: other values in "
            f"{_where(game, columns[wrong[0]])}"
        )
        alike: dict[str, int] = {}  # by what the seat is shown the last deal that looks so
        pairs = []
        for number, states in enumerate(deals):
            observed = dealt[number, seat * game.observation_size :][: game.observation_size]
            view = observed.tobytes().hex() + json.dumps(game.seen(game.snapshot(states), seat))
            if view in alike:
                pairs.append((alike[view], number))
            alike[view] = number
        if not pairs:
            continue
        one, other = np.transpose(pairs)
        should = (real[one] != real[other]).sum(0)
        differ = (drawn != again)[one][:, columns].sum(0)
        wrong = np.flatnonzero((should >= 80) & (2 * differ < should))
        assert not len(wrong), (
            f"{game!r}: resample for seat {seat} redraws too little: {_where(game, columns[wrong[0]])} differs between "
            f"two redraws {differ[wrong[0]]} of {len(pairs)} times, but between deals that look the same to the seat "
            f"{should[wrong[0]]} times"
        )


def _courses(game: Game, states: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """What all seats observe of each state, and every `_LOOKS` decisions as it goes on: int8 (N, looks * seats * size).

    `chances`, (courses, decisions), choose the actions.
    """
    params, mask = game.params[0], np.zeros(game.num_actions, np.int8)
    looks = 1 + chances.size // _LOOKS
    out = np.zeros((len(states), looks, game.num_players, game.observation_size), np.int8)

    def look(state: Any, into: np.ndarray) -> None:
        for seat in range(game.num_players):
            kernels.observe(state, params, seat, into[seat])

    for row in range(len(states)):
        look(states[row], out[row, 0])
        number = 0
        for course in chances:
            now = states[row : row + 1].copy()
            now["rng"] = 1
            for made, chance in enumerate(course, start=1):
                count = kernels.legal_actions(now[0], params, mask)
                if count:
                    kernels.apply_action(now[0], params, int(np.flatnonzero(mask)[int(chance * count)]))
                if made % _LOOKS == 0:
                    number += 1
                    look(now[0], out[row, number])
    return out.reshape(len(states), -1)


def _where(game: Game, column: int) -> str:
    look, rest = divmod(int(column), game.num_players * game.observation_size)
    seat, entry = divmod(rest, game.observation_size)
    later = f", {(1 + (look - 1) % 2) * _LOOKS} decisions later" if look else ""
    return f"entry {entry} of what seat {seat} observes{later}"


def _play_on(game: Game, states: np.ndarray, choose: np.random.Generator, at: str) -> None:
    """Play a few decisions from `states`, which is overwritten."""
    mask = np.zeros(game.num_actions, np.int8)
    for number in range(10):
        count = kernels.legal_actions(states[0], game.params[0], mask)
        assert count == mask.sum(), f"{at}, then {number} decisions: {count} legal, {mask.sum()} marked"
        if _over(states):
            return
        assert count > 0, f"{at}, then {number} decisions: nothing is legal"
        kernels.apply_action(states[0], game.params[0], int(choose.choice(np.flatnonzero(mask))))


# --- the interfaces ---


class _Direct:
    """Games one after the other by the kernels alone, as row `row` of a batch has them."""

    def __init__(self, game: Game, seed: int, row: int) -> None:
        self.game, self.seed, self.row, self.number = game, seed, row, -1
        self.states = game.new_states(1)
        self.deal()

    def deal(self) -> None:
        self.number += 1
        seed = game_seed(np.uint64(self.seed), np.uint64(self.row), np.uint64(self.number))
        kernels.deal(self.states[0], self.game.params[0], seed)

    def apply(self, action: int) -> None:
        kernels.apply_action(self.states[0], self.game.params[0], action)

    @property
    def player(self) -> int:
        return int(self.states["current_player"][0])

    @property
    def mask(self) -> np.ndarray:
        mask = np.zeros(self.game.num_actions, np.int8)
        kernels.legal_actions(self.states[0], self.game.params[0], mask)
        return mask

    def view(self, seat: int) -> np.ndarray:
        out = np.zeros(self.game.observation_size, np.int8)
        kernels.observe(self.states[0], self.game.params[0], seat, out)
        return out.reshape(self.game.observation_shape)


def _check_batch(game: Game, seed: int, choose: np.random.Generator) -> None:
    rows = [_Direct(game, seed, row) for row in range(3)]
    batch = Batch(game, len(rows))
    batch.reset(seed=seed)
    step = 0
    while step < 30 or rows[0].number == 0:
        at = f"{game!r}, Batch of seed {seed}, step {step}"
        for row, direct in enumerate(rows):
            same = batch.states[row].tobytes() == direct.states[0].tobytes()
            assert same, f"{at}: the state of row {row} is not that of direct play"
            assert batch.current_player[row] == direct.player, f"{at}: current_player of row {row} is wrong"
            assert np.array_equal(batch.action_mask[row], direct.mask), f"{at}: mask of row {row} is wrong"
            same = np.array_equal(batch.observation[row], direct.view(direct.player))
            assert same, f"{at}: the observation of row {row} is wrong"
        actions = [int(choose.choice(np.flatnonzero(mask))) for mask in batch.action_mask]
        batch.step(actions)
        step += 1
        for row, direct in enumerate(rows):
            direct.apply(actions[row])
            paid = direct.states["rewards"][0, : game.num_players]
            assert np.array_equal(batch.rewards[row], paid), f"{at}: the rewards of row {row} are wrong"
            ends = bool(direct.states["terminated"][0]), bool(direct.states["truncated"][0])
            found = bool(batch.terminated[row]), bool(batch.truncated[row])
            assert found == ends, f"{at}: terminated, truncated of row {row} are {found}, not {ends}"
            if any(ends):
                same = batch.last_states[row].tobytes() == direct.states[0].tobytes()
                assert same, f"{at}: last_states of row {row} is not the finished game"
                direct.deal()


def _check_aec(game: Game, seed: int, choose: np.random.Generator) -> None:
    direct = _Direct(game, seed, 0)
    env = GardenEnv(game)
    env.reset(seed=seed)
    agents = env.possible_agents
    paid, total = np.zeros(game.num_players), np.zeros(game.num_players)
    step = 0
    while True:
        at = f"{game!r}, PettingZoo environment of seed {seed}, step {step}"
        over = _over(direct.states)
        for seat, agent in enumerate(agents):
            seen = env.observe(agent)
            mask = direct.mask if seat == direct.player else np.zeros_like(direct.mask)
            assert np.array_equal(seen["observation"], direct.view(seat)), f"{at}: {agent}'s view is wrong"
            assert np.array_equal(seen["action_mask"], mask), f"{at}: {agent}'s mask is wrong"
            assert abs(env.rewards[agent] - paid[seat]) < 1e-6, f"{at}: {agent}'s reward is wrong"
            ends = env.terminations[agent], env.truncations[agent]
            assert any(ends) == over, f"{at}: {agent}'s terminated, truncated are {ends}"
        if over:
            break
        assert env.agent_selection == agents[direct.player], f"{at}: {env.agent_selection} is to move"
        action = int(choose.choice(np.flatnonzero(direct.mask)))
        total[direct.player] = 0  # what the mover was paid before has been handed over
        env.step(action)
        direct.apply(action)
        step += 1
        paid = direct.states["rewards"][0, : game.num_players].astype(float)
        total += paid
    for _ in agents:
        agent = env.agent_selection
        reward = env.last()[1]
        due = total[agents.index(agent)]
        assert abs(reward - due) < 1e-4, f"{at}: {agent} is paid {reward} in the end, not {due}"
        env.step(None)
    assert not env.agents, f"{at}: {env.agents} are left after all dead steps"


# --- helpers ---


def _with(game: Game, **options: Any) -> Game:
    """The same game with some options changed."""
    return type(game)(**{**game.arguments, **options})


def _over(states: np.ndarray) -> bool:
    return bool(states["terminated"][0] or states["truncated"][0])


def _differing(one: np.ndarray, other: np.ndarray, *but: str) -> list[str]:
    """Names of the fields in which two states differ, other than `but`."""
    names = [name for name in one.dtype.names or () if name not in but]
    return [name for name in names if one[name].tobytes() != other[name].tobytes()]
