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
from garden_core.testing.played import Played, differing_fields, play_on, read_all, some_positions

_CORE_FIELDS = ("decisions", "current_player", "terminated", "truncated", "rewards", "paid")
_DEALS = 300  # that redraws are compared with
_COURSES, _LOOKS = 4, 4  # ways in which these go on, and decisions between two looks at one


def check_chance(game: Game, played: list[Played], choose: np.random.Generator) -> None:
    seeds = {one.states[0]["rng"].tobytes() for one in played}
    assert len(seeds) == len(played), f"{game!r}: deal must seed the generator from the seed"
    drawn = ""  # where the generator has decided something after the deal
    for one in played:
        for number, action in enumerate(one.actions):
            other = one.states[number].copy()
            other["rng"] = choose.integers(1, 2**64, 4, np.uint64)
            kernels.apply_action(other[0], game.params[0], action)
            if not drawn and differing_fields(other, one.states[number + 1], "rng"):
                drawn = f"{one.name}, decision {number + 1}"
    same_deal = all(not differing_fields(one.states[0], played[0].states[0], "rng") for one in played)
    if game.chance == "none":
        assert same_deal, f"{game!r}: chance is 'none', but deals differ"
    elif len(played) > 1:
        # Games that are all cut short may end before the first roll or draw.
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
                redrawn |= _resampled(game, one.states[number], seat, choose, at, picture=which < draws)
    if game.information == "imperfect":
        assert redrawn, f"{game!r}: information is 'imperfect', but resample never redraws anything"


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
    differing = differing_fields(other, states, "rng", "tally")
    changed = [name for name in differing if name in _CORE_FIELDS]
    assert not changed, f"{at}: {changed} must not change"
    shown, shows = (_shown(game, each, seat, at, picture) for each in (states, other))
    for what, value in shown.items():
        assert value == shows[what], f"{at}: {what} is no longer the same: what the seat sees must not change"
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
    """All that a seat is shown of a position, by what shows it."""
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


def check_hidden(game: Game, played: list[Played], choose: np.random.Generator) -> None:
    """Whatever `seen` hides differs between redraws somewhere, unless it is always the same or follows from what is seen.

    Scores follow from the rest, and are left out.
    """
    deals = _deals(game, 100, choose)
    positions = [(-i, deals[i : i + 1]) for i in range(len(deals))]  # with a number for each game
    for number, one in enumerate(played, start=1):
        positions += [(number, one.states[i]) for i in some_positions(one, choose)]
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


def check_redraws(game: Game, choose: np.random.Generator) -> None:
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
