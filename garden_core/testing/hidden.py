"""Checks of chance and of what is hidden from a seat."""

from __future__ import annotations

import copy
import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from garden_core.game import Game
from garden_core.jit import kernels
from garden_core.presentation import Presentation
from garden_core.testing.played import (
    Played,
    act,
    dealt,
    differing_fields,
    hidden,
    legal_actions,
    observations,
    play_on,
    public,
    read_all,
    some_positions,
)

_CORE_FIELDS = ("decisions", "current_player", "terminated", "truncated", "rewards", "paid")
_DEALS = 300  # deals that redraws are compared with
_COURSES, _LOOKS = 4, 4  # ways in which each is played on, and decisions between two observations


def check_chance(game: Game, played: list[Played], choose: np.random.Generator) -> None:
    seeds = {one.states[0]["rng"].tobytes() for one in played}
    assert len(seeds) == len(played), f"{game!r}: deal must seed the generator from the seed"
    drawn = ""  # the first decision whose result depends on the generator
    for one in played:
        for number, action in enumerate(one.actions):
            other = one.states[number].copy()
            other["rng"] = choose.integers(1, 2**64, 4, np.uint64)
            act(game, other, action)
            if not drawn and differing_fields(other, one.states[number + 1], "rng"):
                drawn = f"{one.name}, decision {number + 1}"
    same_deal = all(not differing_fields(one.states[0], played[0].states[0], "rng") for one in played)
    if game.chance == "none":
        assert same_deal, f"{game!r}: chance is 'none', but deals differ"
    elif len(played) > 1:
        # If all games are truncated, they may end before the first roll or draw.
        cut = game.chance == "play" and all(one.states[-1]["truncated"][0] for one in played)
        varied = drawn or not same_deal or cut
        assert varied, f"{game!r}: chance is {game.chance!r}, but {len(played)} seeds give the same game"
    if game.chance != "play":
        assert not drawn, f"{drawn}: chance is {game.chance!r}, but the generator has decided here"


def check_resample(game: Game, played: list[Played], choose: np.random.Generator) -> None:
    redrawn = False
    for one in played:
        draws = 1 if game.information == "perfect" else 4
        for which, number in enumerate(np.repeat(some_positions(one, choose), draws)):
            for seat in range(game.num_players):
                at = f"{one.name}, after {number} decisions, resampled for seat {seat}"
                redrawn |= _check_redraw(game, one.states[number], seat, choose, at, picture=which < draws)
    if game.information == "imperfect":
        assert redrawn, f"{game!r}: information is 'imperfect', but resample never redraws anything"


def _check_redraw(
    game: Game, states: np.ndarray, seat: int, choose: np.random.Generator, at: str, picture: bool
) -> bool:
    """Check one redraw; return whether it changed anything but the generator."""
    seeds = _seeds(1, choose)
    other = _redrawn(game, states, seat, seeds)
    assert other["rng"].tobytes() != states["rng"].tobytes(), f"{at}: the generator is still the same"
    again = states.copy()
    again["rng"] += np.uint64(0x9E3779B97F4A7C15)
    again = _redrawn(game, again, seat, seeds)
    assert again.tobytes() == other.tobytes(), f"{at}: resample must draw from its seed alone"
    differing = differing_fields(other, states, "rng", "tally")
    changed = [name for name in differing if name in _CORE_FIELDS]
    assert not changed, f"{at}: {changed} must not change"
    before, after = (_shown(game, each, seat, at, picture) for each in (states, other))
    for what, value in before.items():
        assert value == after[what], f"{at}: {what} is no longer the same: what the seat sees must not change"
    if game.observation_parts:
        one, two = (public(game, each).tobytes() for each in (states, other))
        assert one == two, f"{at}: parts of the observation that only seat 0 sees must be marked as private"
    if game.hidden_parts and game.snapshot(states[0]) != game.snapshot(other[0]):
        one, two = (hidden(game, each)[seat].tobytes() for each in (states, other))
        assert one != two, f"{at}: observe_hidden shows nothing of {differing}, which have changed"
    if game.information == "perfect":
        assert not differing, f"{at}: information is 'perfect', but {differing} have changed"
    if type(game).fill_state is not Presentation.fill_state:
        try:
            game.checked_state(other[0])
        except ValueError as error:
            raise AssertionError(f"{at}: resample makes a position that cannot be: {error}") from error
    play_on(game, other, choose, at)
    return bool(differing)


def _shown(game: Game, states: np.ndarray, seat: int, at: str, picture: bool) -> dict[str, Any]:
    """Return all that a seat is shown of a position, by where it is shown."""
    read, state = read_all(game, states, 77, at), states[0]
    kernel = [f"observe for seat {seat}", "public_points"]
    if state["current_player"] == seat:
        kernel += ["legal_actions", "legal_actions: the number returned"]
    shown = {what: read[what].tolist() for what in kernel}
    view = game.seat_view(state, seat)
    try:
        json.dumps(view)
    except TypeError as error:
        raise AssertionError(f"{at}: seat_view is not plain JSON: {error}") from error
    shown["describe"] = view.pop("legal")
    shown["what seen leaves"] = view
    shown["text"] = game.text(state, seat)
    if picture and (type(game).own_svg, type(game).svg) != (Presentation.own_svg, Presentation.svg):
        shown["svg"] = game.svg(state, seat, legal=True)
    return shown


def _seeds(count: int, choose: np.random.Generator) -> np.ndarray:
    return choose.integers(1, 2**64, count, np.uint64)


def _redrawn(game: Game, states: np.ndarray, seat: int, seeds: np.ndarray) -> np.ndarray:
    """Return a copy of states in which what a seat does not see is redrawn, from a seed for each."""
    states = states.copy()
    for state, seed in zip(states, seeds, strict=True):
        kernels.resample(state, game.params[0], seat, seed)
    return states


def check_hidden(game: Game, played: list[Played], choose: np.random.Generator) -> None:
    """Check that redraws differ in all that `seen` hides, unless it is always the same or follows from what is seen.

    Scores follow from the rest, and are left out.
    """
    positions = [
        (-i, dealt(game, seed)) for i, seed in enumerate(_seeds(100, choose))
    ]  # with a number for each game
    for number, one in enumerate(played, start=1):
        positions += [(number, one.states[i]) for i in some_positions(one, choose)]
    for seat in range(game.num_players):
        hidden: dict[_Place, list[_Hidden]] = defaultdict(list)
        varied = set()
        for number, states in positions:
            snapshot = game.snapshot(states[0])
            given = copy.deepcopy(snapshot)
            view = game.seen(given, seat)
            assert given == snapshot, f"{game!r}: seen changes the snapshot that it is given"
            keys = {key: json.dumps(part) for key, part in view.items()}
            first, second = (
                game.snapshot(_redrawn(game, states, seat, _seeds(1, choose))[0]) for _ in range(2)
            )
            for place in _hidden_places(snapshot, view):
                instead, value = (json.dumps(_at(each, place)) for each in (view, snapshot))
                hidden[place].append(_Hidden(number, keys, instead, value))
                if _at(first, place) != _at(second, place):
                    varied.add(place)
        for place, values in hidden.items():
            can_vary = place[0] != "scores" and _differences(values) >= 10 and not _follows(values)
            assert place in varied or not can_vary, (
                f"{game!r}: seen hides {_name(place)} from seat {seat}, but resample does not redraw it: {len(values)} "
                f"times two redraws were the same in it, but from game to game it differs"
            )


class _Hidden(NamedTuple):
    """A hidden value, with the number of its game, all that is seen there, and what is seen in its place."""

    game: int
    view: dict[str, str]
    instead: str
    value: str


_Place = tuple[str | int, ...]
"""The keys and indices of a value in a snapshot."""


def _hidden_places(whole: Any, view: Any, place: _Place = ()) -> Iterator[_Place]:
    """Yield the places at which a view differs from the snapshot."""
    if isinstance(whole, dict) and isinstance(view, dict):
        for key, value in whole.items():
            yield from _hidden_places(value, view.get(key), (*place, key))
    elif isinstance(whole, list) and isinstance(view, list) and len(whole) == len(view):
        for index, (value, seen) in enumerate(zip(whole, view, strict=True)):
            yield from _hidden_places(value, seen, (*place, index))
    elif whole != view:
        yield place


def _at(snapshot: Any, place: _Place) -> Any:
    """Return the value at a place; None where there is none."""
    try:
        for key in place:
            snapshot = snapshot[key]
    except (IndexError, KeyError, TypeError):
        return None
    return snapshot


def _name(place: _Place) -> str:
    return str(place[0]) + "".join(f"[{key!r}]" for key in place[1:])


def _differences(values: list[_Hidden]) -> float:
    """Return how many redraws should differ if values are as likely as among `values` with the same in their place."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for each in values:
        counts[each.instead][each.value] += 1
    return sum(own.total() - sum(n * n for n in own.values()) / own.total() for own in counts.values())


def _follows(values: list[_Hidden]) -> bool:
    """Return whether up to three visible keys decide the value: it agrees each time that they agree in two games."""
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


def check_redraws(game: Game, choose: np.random.Generator) -> None:
    """Check that redraws after the deal are as likely, and as different, as deals that look the same to the seat.

    Compares what all seats observe, then and as the game goes on with the same choices and the same generator.
    """
    deals = game.new_states(_DEALS)
    for state, seed in zip(deals, _seeds(_DEALS, choose), strict=True):
        kernels.deal(state, game.params[0], seed)
    chances = choose.random((_COURSES, 2 * _LOOKS))
    original = _courses(game, deals, chances)
    for seat in range(game.num_players):
        drawn, again = (
            _courses(game, _redrawn(game, deals, seat, _seeds(_DEALS, choose)), chances) for _ in range(2)
        )
        columns = np.flatnonzero((original != original[0]).any(0) | (drawn != original[0]).any(0))
        real, redrawn = original[:, columns], drawn[:, columns]
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
        alike: dict[str, int] = {}  # the last deal by what the seat is shown of it
        pairs = []
        for number, states in enumerate(deals):
            observed = original[number, seat * game.observation_size :][: game.observation_size]
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
    """Return what all seats observe of each state, and every `_LOOKS` decisions as it goes on.

    Args:
        chances: (courses, decisions), choose the actions.

    Returns:
        int8 (N, looks * seats * observation size).
    """
    looks = []
    for row in range(len(states)):
        looks.append(observations(game, states[row : row + 1]))
        for course in chances:
            now = states[row : row + 1].copy()
            now["rng"] = 1
            for made, chance in enumerate(course, start=1):
                mask, count = legal_actions(game, now)
                if count:
                    act(game, now, int(np.flatnonzero(mask)[int(chance * count)]))
                if made % _LOOKS == 0:
                    looks.append(observations(game, now))
    return np.reshape(looks, (len(states), -1))


def _where(game: Game, column: int) -> str:
    look, rest = divmod(int(column), game.num_players * game.observation_size)
    seat, entry = divmod(rest, game.observation_size)
    later = f", {(1 + (look - 1) % 2) * _LOOKS} decisions later" if look else ""
    return f"entry {entry} of what seat {seat} observes{later}"
