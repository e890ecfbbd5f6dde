"""A random game with every position checked, and what all checks do with states. `states` holds one state everywhere."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from garden_core.game import Game
from garden_core.jit import kernels
from garden_core.jit.rng import game_seed
from garden_core.presentation import Presentation

_MARGIN = 64  # entries around an array given to a kernel, which the kernel must leave alone
_READ_BACK_EVERY = 7  # decisions: reading a snapshot takes a millisecond


@dataclass
class Played:
    """A random game: its seed, its actions, and the state before each action and at the end."""

    name: str
    seed: np.uint64
    actions: list[int]
    states: list[np.ndarray]


def dealt(game: Game, seed: np.uint64) -> np.ndarray:
    """Return a new game."""
    states = game.new_states(1)
    kernels.deal(states[0], game.params[0], seed)
    return states


def act(game: Game, states: np.ndarray, action: int) -> None:
    """Carry out an action."""
    kernels.apply_action(states[0], game.params[0], action)


def legal_actions(game: Game, states: np.ndarray) -> tuple[np.ndarray, int]:
    """Return the mask, and the number that the kernel returns."""
    mask = np.zeros(game.num_actions, np.int8)
    return mask, kernels.legal_actions(states[0], game.params[0], mask)


def observations(game: Game, states: np.ndarray) -> np.ndarray:
    """Return what every seat observes, int8 (num_players, observation_size)."""
    out = np.zeros((game.num_players, game.observation_size), np.int8)
    for seat in range(game.num_players):
        kernels.observe(states[0], game.params[0], seat, out[seat])
    return out


def hidden(game: Game, states: np.ndarray) -> np.ndarray:
    """Return what is hidden from every seat, int8 (num_players, hidden_size)."""
    out = np.zeros((game.num_players, game.hidden_size), np.int8)
    for seat in range(game.num_players):
        kernels.observe_hidden(states[0], game.params[0], seat, out[seat])
    return out


def public(game: Game, states: np.ndarray) -> np.ndarray:
    """Return the observation of seat 0 without its private parts, int8 (observation_size,)."""
    out = observations(game, states)[0]
    for part in game.observation_parts:
        if part.private:
            out[game.observation_slices[part.name]] = 0
    return out


def is_over(states: np.ndarray) -> bool:
    """Return whether the game is over."""
    return bool(states["terminated"][0] or states["truncated"][0])


def differing_fields(one: np.ndarray, other: np.ndarray, *but: str) -> list[str]:
    """Return the names of the fields in which two states differ, other than `but`."""
    names = [name for name in one.dtype.names or () if name not in but]
    return [name for name in names if one[name].tobytes() != other[name].tobytes()]


def play(game: Game, seed: int, number: int, choose: np.random.Generator) -> Played:
    """Play a random game, checking every position on the way."""
    name = f"{game!r}, game {number} of seed {seed}"
    one = Played(name, game_seed(np.uint64(seed), np.uint64(0), np.uint64(number)), [], [])
    states = dealt(game, one.seed)
    assert states["decisions"][0] == 0, f"{name}: decisions must be 0 after the deal"
    assert not is_over(states), f"{name}: must not be over after the deal"
    while True:
        at = f"{name}, after {len(one.actions)} decisions"
        one.states.append(states.copy())
        mask = check_position(game, states, at)
        check_snapshot(game, states, at)
        if len(one.actions) % _READ_BACK_EVERY == 0:
            _check_read_back(game, states, at)
        if is_over(states):
            break
        assert len(one.actions) < game.max_game_length, f"{at}: should be over, max_game_length is reached"
        legal = np.flatnonzero(mask)
        for action in legal:
            _check_action(game, states, int(action), at)
        one.actions.append(int(choose.choice(legal)))
        act(game, states, one.actions[-1])
    for position in (one.states[0], one.states[-1]):
        for seat in (None, *range(game.num_players)):
            assert isinstance(game.text(position[0], seat), str), f"{name}: text must give a str"
    return one


def check_position(game: Game, states: np.ndarray, at: str) -> np.ndarray:
    """Check what the kernels return for a position; return the mask."""
    read = read_all(game, states, 77, at)
    mask, count = read["legal_actions"], int(read["legal_actions: the number returned"])
    assert mask.view(np.uint8).max() <= 1, f"{at}: legal_actions must write 0 or 1 into every entry"
    assert count == mask.sum(), f"{at}: legal_actions returns {count} but marks {mask.sum()}"
    if not is_over(states):
        assert count > 0, f"{at}: the game is not over, so something must be legal"
        player = states["current_player"][0]
        assert 0 <= player < game.num_players, f"{at}: current_player is {player}"
    for what, value in read.items():
        if what.startswith("observe"):
            assert value.min(initial=0) >= 0, (
                f"{at}: {what} gives negative entries; observations must be 0 … 127"
            )
    _check_same(read, read_all(game, states, -78, at), f"{at}: {{}} does not write every entry")
    other = states.copy()
    other["rng"] += np.uint64(0x9E3779B97F4A7C15)
    _check_same(read, read_all(game, other, 77, at), f"{at}: {{}} leaks the random state")
    return mask


def read_all(game: Game, states: np.ndarray, fill: int, at: str) -> dict[str, np.ndarray]:
    """Call all kernels that only read, with arrays full of `fill`; return what they write, by name."""
    state, params, seats = states[0], game.params[0], game.max_players
    before = states.tobytes()

    def call(name: str, size: int, dtype: type, *arguments: Any) -> tuple[np.ndarray, Any]:
        room: np.ndarray = np.full(size + 2 * _MARGIN, fill, dtype)
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
        read[f"observe_hidden for seat {seat}"] = call("observe_hidden", game.hidden_size, np.int8, seat)[0]
    for name in ("points", "public_points", "standings"):
        read[name] = call(name, seats, np.int32)[0][: game.num_players]
    return read


def _check_same(one: dict[str, np.ndarray], other: dict[str, np.ndarray], message: str) -> None:
    for what, value in one.items():
        assert value.tobytes() == other[what].tobytes(), message.format(what)


def check_snapshot(game: Game, states: np.ndarray, at: str) -> None:
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
        given = snapshot.get(key)
        same = given == value and type(given) is type(value)
        assert same, f"{at}: snapshot[{key!r}] is {given!r}, not {value!r}"
    phase = snapshot.get("phase", snapshot.get("asked"))
    assert phase is not None, f"{at}: the snapshot needs 'phase' or 'asked'"
    assert (phase == "over") == is_over(states), f"{at}: the snapshot says {phase!r}"


def _check_read_back(game: Game, states: np.ndarray, at: str) -> None:
    """Check that the state read from a snapshot shows what the original does."""
    if type(game).fill_state is Presentation.fill_state:
        return
    try:
        read = game.from_snapshot(game.snapshot(states[0]), 0)
    except ValueError as error:
        raise AssertionError(f"{at}: from_snapshot refuses the game's own snapshot: {error}") from error
    again = game.new_states(1)
    again[0] = read
    shown = read_all(game, states, 77, at)
    _check_same(shown, read_all(game, again, 77, at), f"{at}: from_snapshot changes {{}}")


def _check_action(game: Game, states: np.ndarray, action: int, at: str) -> None:
    """Check what a legal action does to a copy."""
    after = states.copy()
    act(game, after, action)
    done = f"{at}, then {game.labels[action]!r}"
    assert after["decisions"][0] == states["decisions"][0] + 1, f"{done}: decisions must go up by 1"
    ends = (int(after["terminated"][0]), int(after["truncated"][0]))
    assert ends in ((0, 0), (0, 1), (1, 0)), f"{done}: terminated and truncated are {ends}"
    capped = after["decisions"][0] >= game.option_values["max_decisions"] and not ends[0]
    assert ends[1] == capped, f"{done}: truncated is for the cap alone, and for the core to set"
    count = legal_actions(game, after)[1]
    assert count > 0 or is_over(after), f"{done}: the game is not over, so something must be legal"


def play_on(game: Game, states: np.ndarray, choose: np.random.Generator, at: str) -> None:
    """Play a few decisions from `states`, which is overwritten."""
    for number in range(10):
        mask, count = legal_actions(game, states)
        assert count == mask.sum(), f"{at}, then {number} decisions: {count} legal, {mask.sum()} marked"
        if is_over(states):
            return
        assert count > 0, f"{at}, then {number} decisions: nothing is legal"
        act(game, states, int(choose.choice(np.flatnonzero(mask))))


def some_positions(one: Played, choose: np.random.Generator) -> np.ndarray:
    """Return the numbers of some positions of a game, not of the last."""
    return choose.choice(len(one.actions), min(len(one.actions), 8), replace=False)
