"""Checks that play a game again: the deal, copies, rewards, the cap on decisions."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np

from garden_core.game import Game
from garden_core.jit import kernels
from garden_core.testing.played import (
    Played,
    act,
    check_position,
    check_snapshot,
    dealt,
    differing_fields,
    is_over,
)

_REWARD_FIELDS = ("rewards", "tally", "paid")


def check_deal(game: Game, one: Played) -> None:
    unused = "spare", "variant", (game.state_dtype.names or ())[-1]  # a variant is set before the deal
    for fill in (0xA5, 0xFF):
        states = game.new_states(1)
        states.view(np.uint8)[:] = fill
        kernels.deal(states[0], game.params[0], one.seed)
        left = differing_fields(states, one.states[0], *unused)
        assert not left, f"{one.name}: deal must fill every field, but leaves {', '.join(left)} in part"


def check_copies(game: Game, one: Played, choose: np.random.Generator) -> None:
    """Check that a state plays on alike from its bytes, a pickle and a copy, and the whole game from its seed."""
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
            act(game, states, action)
        played_on = states.tobytes() == one.states[-1].tobytes()
        assert played_on, f"{one.name}: does not play on alike from {way} after {middle} decisions"
    states = dealt(game, one.seed)
    for number, action in enumerate(one.actions):
        differing = differing_fields(states, one.states[number])
        assert not differing, f"{one.name}: replayed, {differing} differ after {number} decisions"
        act(game, states, action)


def check_rewards(game: Game, one: Played) -> None:
    """Play the game again and check its rewards, of the kind of `game`."""
    n, outcome = game.num_players, game.option_values["reward"] == "outcome"
    states = dealt(game, one.seed)
    before = _numbers(game, states, kernels.public_points)
    total = np.zeros(n)
    for number, action in enumerate(one.actions, start=1):
        at = f"{game!r}, as {one.name}, reward of decision {number}"
        act(game, states, action)
        differing = differing_fields(states, one.states[number], *_REWARD_FIELDS)
        assert not differing, f"{at}: option reward must not change the game, but {differing} differ"
        rewards = states["rewards"][0, :n].astype(float)
        assert np.isfinite(rewards).all(), f"{at}: {rewards}"
        if outcome and number < len(one.actions):
            assert not rewards.any(), f"{at}: {rewards} before the end"
        if game.cooperative:
            assert (rewards == rewards[0]).all(), f"{at}: {rewards} in a cooperative game"
        else:
            assert abs(rewards.sum()) < 1e-4, f"{at}: {rewards} does not sum to zero"
        total += rewards
    end = f"{game!r}, as {one.name}"
    low, high = game.reward_range
    within = (total >= low - 1e-4).all() and (total <= high + 1e-4).all()
    assert within, f"{end}: rewards are {total} in all, but reward_range is {game.reward_range}"
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
    assert fits, f"{end}: rewards are {total} in all, but by points or standings it is {expected}"


def _by_rank(standings: np.ndarray) -> np.ndarray:
    """Return +1 for the first to -1 for the last; tied seats share the mean of their ranks."""
    better = (standings[None, :] > standings[:, None]).sum(axis=1)
    level = (standings[None, :] == standings[:, None]).sum(axis=1)
    return 1 - 2 * (better + (level - 1) / 2) / (len(standings) - 1)


def _margins(points: np.ndarray) -> np.ndarray:
    return points - (points.sum() - points) / (len(points) - 1)


def _numbers(game: Game, states: np.ndarray, kernel: Any) -> np.ndarray:
    out = np.zeros(game.max_players, np.int32)
    kernel(states[0], game.params[0], out)
    return out[: game.num_players].astype(float)


def check_cap(game: Game, one: Played) -> None:
    """Check the game when it is cut one decision before its end, and exactly there."""
    ends, length = one.states[-1], len(one.actions)
    lowest = game.option("max_decisions").low or 1
    for cap in range(max(lowest, length - 1), length + 1):
        capped = game.with_options(max_decisions=cap)
        at = f"{capped!r}, as {one.name}, after {cap} decisions"
        assert capped.max_game_length == cap, f"{capped!r}: max_game_length is {capped.max_game_length}"
        states = dealt(capped, one.seed)
        for action in one.actions[:cap]:
            assert not is_over(states), f"{capped!r}, as {one.name}: over before the cap"
            act(capped, states, action)
        cut = cap < length or bool(ends["truncated"][0])
        flags = bool(states["terminated"][0]), bool(states["truncated"][0])
        assert flags == (not cut, cut), f"{at}: terminated, truncated are {flags}"
        check_position(capped, states, at)
        check_snapshot(capped, states, at)
        differing = differing_fields(states, one.states[cap], "truncated", *_REWARD_FIELDS)
        assert not differing, f"{at}: the cap must not change {differing}"
