"""Snapshots of Cacti: states as plain JSON values, in both directions, and what each seat sees of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from cacti_env.cards import MIDDLE, NUM_PLAYERS, Cards
from cacti_env.describing import score_sheet
from cacti_env.state import ACTION, ASKED
from garden_core.errors import PositionError
from garden_core.positions import Count, parsed, require, require_lengths

HALVES = ("upper", "lower")
OPEN_PARTS = ("planted", "special")  # of a score, during the game

Counts = list[Count]
Seat = Annotated[int, Meta(ge=0, lt=NUM_PLAYERS)]
Half = Annotated[list[Count | Literal["starting", "upper", "lower"]], Meta(min_length=1, max_length=2)]
Both = Meta(min_length=NUM_PLAYERS, max_length=NUM_PLAYERS)


class Snapshot(msgspec.Struct, forbid_unknown_fields=True):
    """The keys, as documented in docs/cacti.md."""

    game: str  # checked by the core
    current_player: Seat
    active_player: Seat
    asked: Literal["action", "response", "last_card", "over"]
    middle: Counts
    nurseries: Annotated[list[Counts], Both]
    special: Annotated[list[Counts | None], Both]
    bonus: Annotated[list[Count], Both]
    starting_in_hand: Annotated[list[bool], Both]
    basic_in_hand: Annotated[list[Annotated[Counts, Meta(max_length=1)]], Both]
    arrangement_deck: Counts
    planted: Annotated[list[list[Half]], Both]
    deck: Counts
    discards: Counts
    last_turn: bool
    scores: Annotated[list[int], Both]
    decisions: Annotated[int, Meta(ge=0, lt=2**31)]
    terminated: bool
    truncated: bool


def written(
    state: Any, cards: Cards, file_places: Sequence[int], scores: list[int], remembered: dict[str, int]
) -> dict[str, Any]:
    """Return a state as plain JSON values, without the core's keys.

    Args:
        state: the record.
        cards: the printed cards, with the Basic Arrangements as states number them.
        file_places: the place of each of these in the data file, which names it in the snapshot.
        scores: every seat's score.
        remembered: the keys of the memory, and how many counts each seat has there.
    """
    types, starting = len(cards.types), 2 * len(cards.basic)
    over = bool(state["terminated"] or state["truncated"])
    planted = [
        [
            ["starting"] if half == starting else [file_places[half // 2], HALVES[half % 2]]
            for half in own[:n].tolist()
        ]
        for own, n in zip(state["planted"], state["num_planted"], strict=True)
    ]
    special = zip(state["under_special"][:, :types].tolist(), state["special_used"], strict=True)
    return {
        "current_player": int(state["current_player"]),
        "active_player": int(state["active_player"]),
        "asked": "over" if over else ASKED[state["asked"]],
        "middle": state["middle"][:types].tolist(),
        "nurseries": state["nursery"][:, :types].tolist(),
        "special": [under if used else None for under, used in special],
        "bonus": state["bonus"].tolist(),
        "starting_in_hand": list(map(bool, state["starting_in_hand"])),
        "basic_in_hand": [[file_places[k]] if k >= 0 else [] for k in state["basic_in_hand"].tolist()],
        "arrangement_deck": [
            file_places[k] for k in state["arrangement_deck"][: state["arrangements_left"]][::-1]
        ],
        "planted": planted,
        "deck": state["deck"][: state["deck_left"]][::-1].tolist(),
        "discards": state["discards"][:types].tolist(),
        "last_turn": bool(state["last_turn"]),
        "scores": scores,
        **{name: state[name][:, :width].tolist() for name, width in remembered.items()},
    }


def seen(snapshot: dict[str, Any], cards: Cards, seat: int | None) -> dict[str, Any]:
    """Return the snapshot as `seat` sees it: what is hidden becomes None, of the decks only the sizes stay.

    `scores` of a seat whose Bonus Planter is hidden become None, and its part of `sheets`, the score sheets, loses
    what depends on that card. An onlooker (None) sees all, and in the end the Bonus Planters are open.
    """
    deck, arrangements = snapshot["deck"], snapshot["arrangement_deck"]
    view = dict(snapshot, cards_left=len(deck), arrangements_left=len(arrangements))
    view |= {"top": arrangements[:1], "sheets": score_sheet(snapshot, cards)}
    if seat is None:
        return view
    other = 1 - seat
    view["deck"] = view["arrangement_deck"] = None
    for key in ("basic_in_hand", "bonus", "scores"):
        view[key] = list(snapshot[key])
    view["basic_in_hand"][other] = [None] * len(snapshot["basic_in_hand"][other])
    if snapshot["asked"] != "over":
        view["bonus"][other] = view["scores"][other] = None
        view["sheets"][other] = {part: view["sheets"][other][part] for part in OPEN_PARTS}
    return view


def fill(
    state: Any, snapshot: Any, cards: Cards, file_places: Sequence[int], remembered: dict[str, int]
) -> None:
    """Write a position into a zeroed state.

    Args:
        state: the record.
        snapshot: as returned by `Game.snapshot`.
        cards, file_places, remembered: as for `written`.

    Raises:
        PositionError: if the position is impossible.
    """
    for name, width in remembered.items():
        state[name][:, :width] = _counts(snapshot.get(name), name, width)
    position = parsed({name: value for name, value in snapshot.items() if name not in remembered}, Snapshot)
    _fill_cacti(state, position, cards)
    _fill_arrangements(state, position, cards, file_places)
    state["current_player"], state["active_player"] = position.current_player, position.active_player
    state["asked"] = ACTION if position.asked == "over" else ASKED.index(position.asked)
    state["last_turn"] = position.last_turn
    state["bonus"] = position.bonus
    drawn, there_are = Counter(position.bonus), Counter(cards.bonus_types)
    require(drawn <= there_are, f"there are no such Bonus Planters: bonus is {position.bonus}")
    _check_turn(position)


def _counts(value: Any, name: str, width: int) -> list[Counts]:
    """Return the counts of both seats in a snapshot's `name`, `width` numbers each.

    Raises:
        PositionError: if they have another form.
    """
    try:
        both = msgspec.convert(value, Annotated[list[Counts], Both])
    except msgspec.ValidationError as error:
        raise PositionError(f"{name}: {error}") from None
    require(all(len(own) == width for own in both), f"{name} must have {width} numbers for each player")
    return both


def _fill_cacti(state: Any, position: Snapshot, cards: Cards) -> None:
    """Write the places of the Cacti cards; each card must be in one place."""
    types = len(cards.types)
    require_lengths(position, "middle discards", types)
    places = [*position.nurseries, *(under for under in position.special if under is not None)]
    require(
        all(len(place) == types for place in places), f"nurseries and special must have {types} numbers each"
    )
    require(all(t < types for t in position.deck), f"deck: a type is 0 to {types - 1}")
    require(sum(position.middle) <= MIDDLE, f"there are {MIDDLE} cacti in the middle at most")
    for t, count in enumerate(cards.count):
        there = sum(
            place[t] for place in (*places, position.middle, position.discards)
        ) + position.deck.count(t)
        require(there == count, f"there must be {count} cacti of type {t}, not {there}")
    state["nursery"][:, :types] = position.nurseries
    state["middle"][:types] = position.middle
    state["discards"][:types] = position.discards
    state["deck_left"] = len(position.deck)
    state["deck"][: len(position.deck)] = position.deck[::-1]
    for player in range(NUM_PLAYERS):
        under = position.special[player]
        state["special_used"][player] = under is not None
        state["under_special"][player, :types] = under or 0


def _fill_arrangements(state: Any, position: Snapshot, cards: Cards, file_places: Sequence[int]) -> None:
    """Write the places of the Arrangements; each must be in one place."""
    basics, halves = len(cards.basic), cards.halves
    places = [k for hand in position.basic_in_hand for k in hand] + position.arrangement_deck
    numbers: dict[tuple[int | str, ...], int] = {("starting",): 2 * basics}
    numbers |= {(k, half): 2 * own + i for own, k in enumerate(file_places) for i, half in enumerate(HALVES)}
    for half in (half for own in position.planted for half in own):
        require(tuple(half) in numbers, f"planted: {half} is no half of an Arrangement")
        places += [int(half[0])] if len(half) == 2 else []
    require(
        sorted(places) == list(range(basics)),
        f"each of the {basics} Basic Arrangements must be in one hand, in the deck or planted: {sorted(places)}",
    )
    state["arrangements_left"] = len(position.arrangement_deck)
    state["arrangement_deck"][: len(position.arrangement_deck)] = [
        file_places.index(k) for k in position.arrangement_deck[::-1]
    ]
    spent = [0] * len(cards.types)
    for player, own in enumerate(position.planted):
        held = position.starting_in_hand[player]
        require(
            own.count(["starting"]) == (not held),
            f"player {player} must have planted the Starting Arrangement or have it in hand, not both",
        )
        state["starting_in_hand"][player] = held
        state["basic_in_hand"][player] = next(map(file_places.index, position.basic_in_hand[player]), -1)
        state["num_planted"][player] = len(own)
        for place, half in enumerate(own):
            which = numbers[tuple(half)]
            state["planted"][player, place] = which
            state["arrangement_points"][player] += halves[which].points
            spent = [a + b for a, b in zip(spent, halves[which].cost, strict=True)]
    enough = all(left <= most for left, most in zip(position.discards, spent, strict=True))
    require(enough, f"planting cost {spent}, so the discards cannot be {position.discards}")
    whole = position.discards == spent or position.last_turn
    require(whole, f"planting cost {spent}; before the last turn the discards must be equal to this")


def _check_turn(position: Snapshot) -> None:
    """Check which decision is asked, and of which player [3, 4]."""
    active, asked = position.active_player, position.asked
    if asked == "over":
        return
    answers = asked == "response"
    require(
        (position.current_player != active) == answers,
        "only the active player is asked, except for a response, which is asked of the other player",
    )
    require(not position.last_turn or active == 1, "the last turn is player 1's")
    require(asked != "last_card" or position.last_turn, "'last_card' is asked in the last turn alone")
    require(asked != "last_card" or position.deck, "'last_card' is asked only while the deck has cards")
    full = sum(position.middle) == MIDDLE
    require(
        asked != "action" or full or position.last_turn, f"a turn begins with {MIDDLE} cacti in the middle"
    )
    require(not (answers and full), "a response follows a Grow, which leaves less than a full middle")
