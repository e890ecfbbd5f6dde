"""Snapshots of Gardens of Mars: a state as plain JSON values, and back."""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from garden_core.positions import parsed, require, require_lengths
from mars_env.board import (
    CENTRE,
    FLOWERS_PER_COLOUR,
    HEXES,
    INDEX,
    MAX_DIE,
    NEIGHBOURS,
    NUM_COLOURS,
    NUM_HEXES,
)
from mars_env.describing import connected
from mars_env.state import MAX_PLAYERS, MOVE, PHASES, PLACE, PLANT

MOST_DICE = 6  # a gardener has six neighbours
MOST_POINTS = NUM_COLOURS * FLOWERS_PER_COLOUR * (FLOWERS_PER_COLOUR + MAX_PLAYERS - 1)
"""Upper bound: a flower makes a group of ten at most, and the scorer slides past each of the others."""

Hex = tuple[int, int]
Colour = Annotated[int, Meta(ge=0, lt=NUM_COLOURS)]
Stock = Annotated[list[Annotated[int, Meta(ge=0, le=FLOWERS_PER_COLOUR)]], Meta(min_length=6, max_length=6)]


class Snapshot(msgspec.Struct, forbid_unknown_fields=True):
    """The keys, as documented in docs/mars.md."""

    game: str  # checked by the core
    num_players: int
    phase: Literal["place", "move", "plant", "over"]
    current_player: Annotated[int, Meta(ge=0, lt=MAX_PLAYERS)]
    dice: Annotated[list[Annotated[int, Meta(ge=1, le=MAX_DIE)]], Meta(max_length=MOST_DICE)]
    gardeners: list[list[Hex]]
    flowers: list[tuple[int, int, Colour]]
    stocks: list[Stock]
    scores: list[Annotated[int, Meta(ge=0, le=MOST_POINTS)]]
    peaks: list[Hex]
    pending: Hex | None
    decisions: Annotated[int, Meta(ge=0, lt=2**31)]
    terminated: bool
    truncated: bool


def written(state: Any, num_players: int, gardeners: int) -> dict[str, Any]:
    """Return a state as plain JSON values, without the core's keys.

    Args:
        state: the record.
        num_players: number of players.
        gardeners: number of gardeners each.
    """
    n = num_players
    over = bool(state["terminated"] or state["truncated"])
    where = state["gardeners"][:n, :gardeners].tolist()
    flowers = state["flowers"].tolist()
    pending = int(state["pending"])
    return {
        "num_players": n,
        "phase": "over" if over else PHASES[state["phase"]],
        "current_player": int(state["current_player"]),
        "dice": [value for value, count in enumerate(state["dice"].tolist()) for _ in range(count)],
        "gardeners": [[list(HEXES[hex_]) for hex_ in own if hex_ >= 0] for own in where],
        "flowers": [[*HEXES[hex_], colour] for hex_, colour in enumerate(flowers) if colour >= 0],
        "stocks": state["stocks"][:n].tolist(),
        "scores": state["score"][:n].tolist(),
        "peaks": [list(HEXES[hex_]) for hex_, peak in enumerate(state["peaks"].tolist()) if peak],
        "pending": list(HEXES[pending]) if pending >= 0 else None,
    }


def fill(state: Any, snapshot: Any, num_players: int, gardeners: int, peaks: int) -> None:
    """Write a position into a zeroed state.

    Args:
        state: the record.
        snapshot: as returned by `Game.snapshot`.
        num_players, gardeners, peaks: the game's options.

    Raises:
        PositionError: if the position is impossible.
    """
    position = parsed(snapshot, Snapshot)
    require(
        position.num_players == num_players, f"num_players must be {num_players}, not {position.num_players}"
    )
    require_lengths(position, "gardeners stocks scores", num_players)
    require(position.current_player < num_players, f"there is no player {position.current_player}")
    _fill_board(state, position, gardeners, peaks)
    state["stocks"][:num_players] = position.stocks
    state["score"][:num_players] = position.scores
    shared = [score for score, count in Counter(position.scores).items() if score > 0 and count > 1]
    require(not shared, f"two players have the score {shared}, and a space above 0 has room for one")
    state["current_player"] = position.current_player
    for value in position.dice:
        state["dice"][value] += 1
    state["num_dice"] = len(position.dice)
    state["pending"] = -1 if position.pending is None else _hex(position.pending)
    state["phase"] = MOVE if position.phase == "over" else PHASES.index(position.phase)
    placed = [len(own) for own in position.gardeners]
    if position.phase == "place" or (position.phase == "over" and sum(placed) < num_players * gardeners):
        state["phase"] = PLACE
        _check_placing(position, placed, gardeners)
    else:
        _check_playing(state, position, placed, gardeners)


def _hex(place: Hex) -> int:
    require(place in INDEX, f"there is no hex {list(place)}")
    return INDEX[place]


def _fill_board(state: Any, position: Snapshot, gardeners: int, peaks: int) -> None:
    """Write peaks, gardeners and flowers."""
    state["gardeners"][:] = -1
    state["flowers"][:] = -1
    require(len(position.peaks) == peaks, f"there must be {peaks} peaks, not {len(position.peaks)}")
    for place in position.peaks:
        hex_ = _hex(place)
        require(hex_ != CENTRE, "a peak is on the centre")
        require(not state["peaks"][hex_], f"two peaks are on {list(place)}")
        state["peaks"][hex_] = state["blocked"][hex_] = 1
    free = {hex_ for hex_ in range(NUM_HEXES) if hex_ != CENTRE and not state["peaks"][hex_]}
    require(connected(min(free), free) == free, "the peaks cut the board in two")  # [1.4]
    for player, own in enumerate(position.gardeners):
        require(len(own) <= gardeners, f"player {player} has {len(own)} gardeners, and may have {gardeners}")
        for number, place in enumerate(own):
            hex_ = _hex(place)
            require(hex_ != CENTRE, "a gardener is on the centre")
            require(
                not state["blocked"][hex_],
                f"a gardener is on the hex of another one or of a peak, {list(place)}",
            )
            state["gardeners"][player, number] = hex_
            state["blocked"][hex_] = 1
    for q, r, colour in position.flowers:
        hex_ = _hex((q, r))
        require(hex_ != CENTRE and not state["peaks"][hex_], f"no flower can grow on {[q, r]}")
        require(state["flowers"][hex_] < 0, f"two flowers grow on {[q, r]}")
        state["flowers"][hex_] = colour
        state["garden"][colour, hex_ >> 6] |= state["garden"].dtype.type(1 << (hex_ & 63))
        state["planted"][colour] += 1


def _check_flowers(state: Any, position: Snapshot) -> None:
    """Check that the remaining and the planted flowers are all flowers [1.7]."""
    n = position.num_players
    each = NUM_COLOURS * FLOWERS_PER_COLOUR // n
    for player, stock in enumerate(position.stocks):
        require(sum(stock) <= each, f"player {player} was dealt {each} flowers and has {sum(stock)} left")
    for colour in range(NUM_COLOURS):
        count = int(state["planted"][colour]) + sum(stock[colour] for stock in position.stocks)
        require(
            count == FLOWERS_PER_COLOUR,
            f"there must be {FLOWERS_PER_COLOUR} flowers of colour {colour}, not {count}",
        )


def _check_placing(position: Snapshot, placed: list[int], gardeners: int) -> None:
    """Check that gardeners are placed in turn, round by round, and nothing else has happened [1.6, 1.7, 7.1]."""
    n, done = position.num_players, sum(placed)
    expected = [(done + n - 1 - player) // n for player in range(n)]
    require(placed == expected, f"gardeners are placed in turn, which cannot give {placed}")
    require(done < n * gardeners, "all gardeners are placed, so the phase is not 'place'")
    require(position.current_player == done % n, f"player {done % n} places the next gardener")
    require(
        not (position.flowers or position.dice or any(position.scores)),
        "flowers, dice and scores must be empty until all gardeners are placed",
    )
    require(
        not any(map(any, position.stocks)),
        "stocks must be 0 while gardeners are placed: flowers are drawn after that",
    )
    require(position.pending is None, "pending must be null until all gardeners are placed")
    require(not position.terminated, "terminated: the game does not end before all gardeners are placed")


def _check_playing(state: Any, position: Snapshot, placed: list[int], gardeners: int) -> None:
    """Check that phase, dice and remaining flowers agree."""
    player, over = position.current_player, position.phase == "over"
    _check_flowers(state, position)
    require(set(placed) == {gardeners}, f"all players must have placed {gardeners} gardeners, not {placed}")
    if position.pending is not None:
        own = state["gardeners"][player, :gardeners].tolist()
        require(over or position.phase == "plant", "pending must be null outside the phase 'plant'")
        require(state["pending"] in own, "the hex that waits for a flower must hold a gardener of the player")
        require(state["flowers"][state["pending"]] < 0, "the hex that waits for a flower has one")
        state["phase"] = PLANT
    empty = [seat for seat, stock in enumerate(position.stocks) if not any(stock)]
    if position.terminated:
        stuck = not position.dice and not any(
            _can_roll(state, hex_) for own in position.gardeners for hex_ in own
        )
        require(
            empty or stuck,
            "terminated: the game ends when a player has no flowers left, or no player can roll",
        )
    if over:
        return
    require(not empty, f"player {empty} has planted the last flower, so the game is over")
    if position.phase == "move":
        require(position.dice, "dice must not be empty in the phase 'move'")
        return
    require(position.pending is not None, "pending must name a hex in the phase 'plant'")
    require(len(position.dice) < MOST_DICE, "a die was used for the pending flower")
    kinds = sum(count > 0 for count in position.stocks[player])
    require(kinds > 1, "a flower is planted at once if the player has only one colour")


def _can_roll(state: Any, place: Hex) -> bool:
    """Return whether a neighbour of this hex has no flower [2.2]."""
    return any(hex_ >= 0 and state["flowers"][hex_] < 0 for hex_ in NEIGHBOURS[_hex(place)].tolist())
