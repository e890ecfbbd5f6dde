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
"""More than any game brings: a flower makes a group of ten at most, and the scorer slides past each of the others."""

Hex = tuple[int, int]
Colour = Annotated[int, Meta(ge=0, lt=NUM_COLOURS)]
Stock = Annotated[list[Annotated[int, Meta(ge=0, le=FLOWERS_PER_COLOUR)]], Meta(min_length=6, max_length=6)]


class Snapshot(msgspec.Struct, forbid_unknown_fields=True):
    """The keys; docs/mars.md says what they mean."""

    game: Literal["mars"]
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
        snapshot: what `Game.snapshot` gave.
        num_players, gardeners, peaks: the game's options.

    Raises:
        PositionError: for a position that cannot be.
    """
    found = parsed(snapshot, Snapshot)
    require(found.num_players == num_players, f"num_players must be {num_players}, not {found.num_players}")
    require_lengths(found, "gardeners stocks scores", num_players)
    require(found.current_player < num_players, f"there is no player {found.current_player}")
    _fill_board(state, found, gardeners, peaks)
    state["stocks"][:num_players] = found.stocks
    state["score"][:num_players] = found.scores
    shared = [score for score, count in Counter(found.scores).items() if score > 0 and count > 1]
    require(not shared, f"two players have the score {shared}, and a space above 0 has room for one")
    state["current_player"] = found.current_player
    for value in found.dice:
        state["dice"][value] += 1
    state["num_dice"] = len(found.dice)
    state["pending"] = -1 if found.pending is None else _hex(found.pending)
    state["phase"] = MOVE if found.phase == "over" else PHASES.index(found.phase)
    placed = [len(own) for own in found.gardeners]
    if found.phase == "place" or (found.phase == "over" and sum(placed) < num_players * gardeners):
        state["phase"] = PLACE
        _check_placing(found, placed, gardeners)
    else:
        _check_playing(state, found, placed, gardeners)


def _hex(place: Hex) -> int:
    require(place in INDEX, f"there is no hex {list(place)}")
    return INDEX[place]


def _fill_board(state: Any, found: Snapshot, gardeners: int, peaks: int) -> None:
    """Write peaks, gardeners and flowers."""
    state["gardeners"][:] = -1
    state["flowers"][:] = -1
    require(len(found.peaks) == peaks, f"there must be {peaks} peaks, not {len(found.peaks)}")
    for place in found.peaks:
        hex_ = _hex(place)
        require(hex_ != CENTRE, "a peak stands on the centre")
        require(not state["peaks"][hex_], f"two peaks stand on {list(place)}")
        state["peaks"][hex_] = state["blocked"][hex_] = 1
    free = {hex_ for hex_ in range(NUM_HEXES) if hex_ != CENTRE and not state["peaks"][hex_]}
    require(connected(min(free), free) == free, "the peaks cut the board in two")  # [1.4]
    for player, own in enumerate(found.gardeners):
        require(len(own) <= gardeners, f"player {player} has {len(own)} gardeners, and may have {gardeners}")
        for number, place in enumerate(own):
            hex_ = _hex(place)
            require(hex_ != CENTRE, "a gardener stands on the centre")
            require(
                not state["blocked"][hex_], f"a gardener stands where another or a peak is, {list(place)}"
            )
            state["gardeners"][player, number] = hex_
            state["blocked"][hex_] = 1
    for q, r, colour in found.flowers:
        hex_ = _hex((q, r))
        require(hex_ != CENTRE and not state["peaks"][hex_], f"no flower can grow on {[q, r]}")
        require(state["flowers"][hex_] < 0, f"two flowers grow on {[q, r]}")
        state["flowers"][hex_] = colour
        state["garden"][colour, hex_ >> 6] |= state["garden"].dtype.type(1 << (hex_ & 63))
        state["planted"][colour] += 1


def _check_flowers(state: Any, found: Snapshot) -> None:
    """Check that the flowers left and those planted are the ones that were drawn [1.7]."""
    n = found.num_players
    each = NUM_COLOURS * FLOWERS_PER_COLOUR // n
    for player, stock in enumerate(found.stocks):
        require(sum(stock) <= each, f"player {player} was dealt {each} flowers and has {sum(stock)} left")
    for colour in range(NUM_COLOURS):
        count = int(state["planted"][colour]) + sum(stock[colour] for stock in found.stocks)
        require(
            count == FLOWERS_PER_COLOUR,
            f"there must be {FLOWERS_PER_COLOUR} flowers of colour {colour}, not {count}",
        )


def _check_placing(found: Snapshot, placed: list[int], gardeners: int) -> None:
    """While gardeners are placed, in turn and round by round, nothing else has happened [1.6, 1.7, 7.1]."""
    n, done = found.num_players, sum(placed)
    expected = [(done + n - 1 - player) // n for player in range(n)]
    require(placed == expected, f"gardeners are placed in turn, which cannot give {placed}")
    require(done < n * gardeners, "all gardeners are placed, so the phase is not 'place'")
    require(found.current_player == done % n, f"player {done % n} places the next gardener")
    require(
        not (found.flowers or found.dice or any(found.scores)), "nothing happens before all gardeners stand"
    )
    require(
        not any(map(any, found.stocks)),
        "stocks must be 0 while gardeners are placed: flowers are drawn after that",
    )
    require(found.pending is None, "no flower is planted before all gardeners stand")
    require(not found.terminated, "terminated: the game does not end before all gardeners stand")


def _check_playing(state: Any, found: Snapshot, placed: list[int], gardeners: int) -> None:
    """Check what phase, dice and the flowers that are left say together."""
    player, over = found.current_player, found.phase == "over"
    _check_flowers(state, found)
    require(set(placed) == {gardeners}, f"everybody must have placed {gardeners} gardeners, not {placed}")
    if found.pending is not None:
        own = state["gardeners"][player, :gardeners].tolist()
        require(over or found.phase == "plant", "a hex waits for a flower in the phase 'plant' alone")
        require(
            state["pending"] in own, "the hex that waits for a flower is where the player's gardener stands"
        )
        require(state["flowers"][state["pending"]] < 0, "the hex that waits for a flower has one")
        state["phase"] = PLANT
    empty = [seat for seat, stock in enumerate(found.stocks) if not any(stock)]
    if found.terminated:
        stuck = not found.dice and not any(_can_roll(state, hex_) for own in found.gardeners for hex_ in own)
        require(
            empty or stuck, "terminated: the game ends when a player has no flowers left, or nobody can roll"
        )
    if over:
        return
    require(not empty, f"player {empty} has planted the last flower, so the game is over")
    if found.phase == "move":
        require(found.dice, "dice must lie on the table in the phase 'move'")
        return
    require(found.pending is not None, "a hex must wait for a flower in the phase 'plant'")
    require(len(found.dice) < MOST_DICE, "a die was used for the flower that is to be planted")
    kinds = sum(count > 0 for count in found.stocks[player])
    require(kinds > 1, "a flower is planted at once where there is no choice of its colour")


def _can_roll(state: Any, place: Hex) -> bool:
    """Whether a hex next to this one holds no flower [2.2]."""
    return any(hex_ >= 0 and state["flowers"][hex_] < 0 for hex_ in NEIGHBOURS[_hex(place)].tolist())
