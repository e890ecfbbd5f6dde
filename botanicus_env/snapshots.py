"""Snapshots of Botanicus: states as plain JSON values, in both directions, and what each seat sees of them."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from botanicus_env.state import (
    ASKED,
    LAST_ROUND,
    MAX_DEPTH,
    MAX_GROUP,
    NEUTRAL,
    NODE_GROUP,
    START,
    TILED_COLUMNS,
)
from botanicus_env.tables import (
    BEDS,
    BOARD_COLUMNS,
    CHOSEN,
    CROSSINGS,
    KINDS,
    LEVELS,
    MAX_AMOUNT,
    MAX_ANIMALS,
    MAX_GAINS,
    MAX_NODES,
    MAX_PLAYERS,
    PRIZES,
    ROWS,
    SPACES,
    TASKS_EACH,
    TILES,
    TRACKS,
    Tables,
    between,
    exactly,
)
from garden_core.positions import Count, parsed, require, require_lengths

ASKED_FOR = {"plant": CHOSEN[:4], "water": ("water",), "walk": ("walk",), "track": TRACKS}
"""Kinds of actions that can be at hand, by what is asked."""

SEAT_FIELDS = {
    "gardens": "garden",
    "gardeners": "gardener",
    "coins": "coins",
    "points": "points",
    "animals": "animals",
    "tracks": "piece",
    "tasks": "task",
    "dealt": "dealt",
    "basic_done": "basic_done",
    "special_done": "special_done",
}
"""Fields of the state with an entry per seat, by key of the snapshot, except for hands."""
NUMBERS = {
    "round": "round_number",
    "column": "column",
    "current_player": "current_player",
    "steps_taken": "steps_taken",
}
FLAGS = ("walked", "played")


MOST_COINS = 4_000
"""Upper bound: at most nine actions of 20 coins in each turn, and 3 coins for a card that is sold."""
MOST_POINTS = 8_000
"""Upper bound: nine actions of 20 points and 60 unused steps per turn, and 31 tasks, animals and prizes of 100 points."""

Flags = Annotated[list[bool], exactly(ROWS)]
Seat = Annotated[int, between(0, MAX_PLAYERS - 1)]
Coins = Annotated[int, between(0, MOST_COINS)]
Points = Annotated[int, between(0, MOST_POINTS)]
Chosen = tuple[str, Annotated[int, between(0, MAX_AMOUNT)]]


class Snapshot(msgspec.Struct, forbid_unknown_fields=True):
    """The keys, as documented in docs/botanicus.md."""

    game: str  # checked by the core
    num_players: int
    round: Annotated[int, between(1, LAST_ROUND)]
    column: Annotated[int, between(1, BOARD_COLUMNS)]
    current_player: Seat
    asked: Literal["assign", "neutral", "start", "choose", "plant", "water", "walk", "track", "over"]
    hand_action: Chosen | None
    steps_taken: Annotated[int, between(0, MAX_NODES - 1)]
    in_play: Count | None
    pending: Annotated[list[Annotated[list[Chosen], Meta(max_length=MAX_GROUP)]], Meta(max_length=MAX_DEPTH)]
    gardens: list[Annotated[list[Annotated[int, between(-1, LEVELS)]], exactly(BEDS)]]
    gardeners: list[Annotated[int, between(0, len(CROSSINGS) - 1)]]
    coins: list[Coins]
    points: list[Points]
    animals: list[Annotated[int, between(0, MAX_ANIMALS)]]
    hands: list[list[Count]]
    tracks: list[Annotated[list[Count], exactly(len(TRACKS))]]
    tasks: list[Annotated[list[Annotated[int, between(-1, 127)]], exactly(ROWS)]]
    dealt: list[Annotated[list[Count], exactly(TASKS_EACH)]]
    basic_done: list[Flags]
    special_done: list[Flags]
    flowers: Annotated[list[list[Seat | Literal["neutral"]]], exactly(SPACES)]
    order: list[Seat]
    stack: list[Seat]
    walked: bool
    played: bool
    prizes: Annotated[list[list[int]], exactly(len(PRIZES))]
    tiles: Annotated[
        list[Annotated[list[Annotated[int, between(0, 2 * TILES - 1)]], exactly(SPACES)]],
        exactly(TILED_COLUMNS),
    ]
    covered: Annotated[list[Annotated[list[bool], exactly(SPACES)]], exactly(TILED_COLUMNS)]
    pile: list[Count]
    discards: list[Count]
    scores: list[int]
    decisions: Annotated[int, between(0, 2**31 - 1)]
    terminated: bool
    truncated: bool

    @property
    def started(self) -> int:
        """Number of players who have finished phase 1 in this column."""
        return self.num_players - len(self.order)


def written(state: Any, tables: Tables, num_players: int, scores: list[int]) -> dict[str, Any]:
    """Return a state as plain JSON values, without the core's keys.

    Args:
        state: the record.
        tables: the printed values.
        num_players: number of players.
        scores: every seat's score.
    """
    n, kinds = num_players, len(tables.cards)
    at_hand, in_play = int(state["at_hand"]), int(state["in_play"])
    flowers = zip(state["flowers"].tolist(), state["num_flowers"].tolist(), strict=True)
    groups = zip(state["pending"].tolist(), state["group_size"].tolist(), strict=True)
    stack = state["stack"][:n].tolist()
    prizes = zip(PRIZES, state["prizes_taken"].tolist(), strict=True)
    values: dict[str, Any] = {key: int(state[field]) for key, field in NUMBERS.items()}
    values |= {key: bool(state[key]) for key in FLAGS}
    values |= {key: state[field][:n].tolist() for key, field in SEAT_FIELDS.items()}
    values |= {key: state[key][:n].astype(bool).tolist() for key in ("basic_done", "special_done")}
    values |= {
        "num_players": n,
        "asked": "over" if state["terminated"] or state["truncated"] else ASKED[state["asked"]],
        "hand_action": [KINDS[at_hand], int(state["left"])] if at_hand >= 0 else None,
        "in_play": in_play if in_play >= 0 else None,
        "pending": [
            [[KINDS[kind], amount] for kind, amount in group[:size]]
            for group, size in list(groups)[: state["depth"]]
        ],
        "hands": state["hand"][:n, :kinds].tolist(),
        "flowers": [["neutral" if f == NEUTRAL else f for f in space[:size]] for space, size in flowers],
        "order": stack[state["started"] :],
        "stack": stack,
        "prizes": [list(getattr(tables.prizes, name)[taken:]) for name, taken in prizes],
        "tiles": state["tiles"].tolist(),
        "covered": state["covered"].astype(bool).tolist(),
        "pile": state["pile"][: state["pile_left"]][::-1].tolist(),
        "discards": state["discards"][:kinds].tolist(),
        "scores": scores,
    }
    return {key: values[key] for key in Snapshot.__struct_fields__ if key in values}


def seen(snapshot: dict[str, Any], seat: int) -> dict[str, Any]:
    """Return the snapshot as `seat` sees it: the others' hands become counts, of the pile only the size stays."""
    hands = [hand if player == seat else sum(hand) for player, hand in enumerate(snapshot["hands"])]
    return {**snapshot, "pile_left": len(snapshot["pile"]), "pile": None, "hands": hands}


def fill(state: Any, snapshot: Any, tables: Tables, num_players: int) -> None:
    """Write a position into a zeroed state.

    Args:
        state: the record.
        snapshot: as returned by `Game.snapshot`.
        tables: the printed values.
        num_players: number of players.

    Raises:
        PositionError: if the position is impossible.
    """
    position, n = parsed(snapshot, Snapshot), num_players
    require(position.num_players == n, f"num_players must be {n}, not {position.num_players}")
    seats = "gardens gardeners coins points animals hands tracks tasks dealt basic_done special_done stack"
    require_lengths(position, seats, n)
    require(position.current_player < n, f"there is no player {position.current_player}")
    for key, field in NUMBERS.items():
        state[field] = getattr(position, key)
    for key in FLAGS:
        state[key] = getattr(position, key)
    for field in ("dealt", "task", "flowers", "stack"):
        state[field][:] = -1
    for key, field in SEAT_FIELDS.items():
        state[field][:n] = getattr(position, key)
    state["asked"] = START if position.asked == "over" else ASKED.index(position.asked)
    _check_gardens(position, tables)
    _check_tasks(position, tables)
    _fill_cards(state, position, tables)
    _fill_board(state, position, tables)
    _fill_order(state, position)
    _fill_actions(state, position, tables)


def _check_gardens(position: Snapshot, tables: Tables) -> None:
    """Check plants and the pieces on the tracks."""
    beds = [bed for row in tables.beds for bed in row]
    for player, garden in enumerate(position.gardens):
        fits = [(level >= 0) == bool(bed) for level, bed in zip(garden, beds, strict=True)]
        require(all(fits), f"gardens: player {player} must have -1 where there is no bed, and nowhere else")
    for player, pieces in enumerate(position.tracks):
        for track, node in zip(TRACKS, pieces, strict=True):
            nodes = len(tables.track(track))
            require(node < nodes, f"tracks: player {player} is on no node of {track}: {node}")
            gaining = player == position.current_player and len(position.pending) > NODE_GROUP
            require(
                node < nodes - 1 or gaining,
                f"tracks: player {player} is at the end of {track}, where a piece stays only while its gains are resolved",
            )


def _check_tasks(position: Snapshot, tables: Tables) -> None:
    """Check the special tasks, and which tasks are done."""
    dealt = [task for own in position.dealt for task in own]
    require(len(set(dealt)) == len(dealt), "dealt: a special task is dealt once")
    require(max(dealt) < len(tables.special), f"dealt: there are {len(tables.special)} special tasks")
    for player, own in enumerate(position.tasks):
        given = [task for task in own if task >= 0]
        in_order = own[: len(given)] == given and len(set(given)) == len(given)
        require(in_order, f"tasks: player {player} assigns a task to one row after the other")
        require(
            set(given) <= set(position.dealt[player]), f"tasks: player {player} was not dealt all of {given}"
        )
        done = position.basic_done[player], position.special_done[player]
        ready = all(basic or not special for basic, special in zip(*done, strict=True))
        require(ready, f"special_done: player {player} does a row's special task after its basic one")
        # The cap can end a game while tasks are assigned.
        early = position.asked == "assign" or (position.truncated and position.round == position.column == 1)
        require(early or len(given) == ROWS, f"tasks: player {player} has rows without one")


def _fill_cards(state: Any, position: Snapshot, tables: Tables) -> None:
    """Write hands, pile and discards; each card is in one place."""
    n, kinds = position.num_players, len(tables.cards)
    require_lengths(position, "discards", kinds)
    require(all(len(hand) == kinds for hand in position.hands), f"hands must have {kinds} numbers each")
    require(all(kind < kinds for kind in position.pile), f"pile: a kind is 0 to {kinds - 1}")
    require(position.in_play is None or position.in_play < kinds, f"in_play: a kind is 0 to {kinds - 1}")
    for kind, card in enumerate(tables.cards):
        there = (
            sum(hand[kind] for hand in position.hands) + position.pile.count(kind) + position.discards[kind]
        )
        there += position.in_play == kind
        require(there == card.copies, f"there must be {card.copies} cards of kind {kind}, not {there}")
    state["hand"][:n, :kinds] = position.hands
    state["pile_left"] = len(position.pile)
    state["pile"][: len(position.pile)] = position.pile[::-1]
    state["discards"][:kinds] = position.discards
    state["in_play"] = -1 if position.in_play is None else position.in_play
    for stack, name in enumerate(PRIZES):
        values = getattr(tables.prizes, name)
        taken = len(values) - len(position.prizes[stack])
        least = min(MAX_PLAYERS - n, len(values))
        require(taken >= least, f"prizes: at most {len(values) - least} of the {name} stack are in the game")
        state["prizes_taken"][stack] = max(taken, MAX_PLAYERS - n)


def _fill_board(state: Any, position: Snapshot, tables: Tables) -> None:
    """Write tiles and the Flowers of the current column."""
    for sort, half in enumerate((slice(0, 2), slice(2, 4))):
        tiles = sorted(tile for column in position.tiles for tile in column[half])
        there = list(range(TILES * sort, TILES * (sort + 1)))
        require(
            tiles == there,
            f"tiles: the tiles {there} must be on the spaces {half.start} and {half.start + 1}",
        )
    state["tiles"], state["covered"] = position.tiles, position.covered
    for space, flowers in enumerate(position.flowers):
        require(len(flowers) <= MAX_PLAYERS, f"flowers: too many on space {space}")
        codes = [NEUTRAL if flower == "neutral" else flower for flower in flowers]
        state["flowers"][space, : len(codes)] = codes
        state["num_flowers"][space] = len(codes)


def _fill_order(state: Any, position: Snapshot) -> None:
    """Write the order of players, and check the owners of the Flowers on the column [4]."""
    n, placed = position.num_players, list(chain(*position.flowers))
    require(
        sorted(position.stack) == list(range(n)), f"stack must name each player once, not {position.stack}"
    )
    started = position.started
    require(0 <= started <= n, f"order names more than {n} players")
    state["stack"][:n] = position.stack
    state["started"] = started
    neutral = n == 2 and position.round < LAST_ROUND and position.asked not in ("assign", "neutral")
    if position.asked != "over":
        require(
            placed.count("neutral") == neutral,
            "flowers: with two players the neutral Flower comes first, once",
        )
    own = [flower for flower in placed if flower != "neutral"]
    expected = position.stack[:started] if position.round < LAST_ROUND else []
    require(
        sorted(own) == sorted(expected),
        f"flowers: there must be one of each of the players {sorted(expected)}",
    )
    over = position.round == LAST_ROUND and not position.order and not position.pending
    require(over or not position.terminated, "terminated: the game ends after the last turn of all players")
    if position.asked == "assign":
        require(
            (position.round, position.column, started) == (1, 1, 0),
            "'assign' is asked before the first column",
        )
        least, most = ROWS, ROWS
        for player in position.stack:
            given = sum(task >= 0 for task in position.tasks[player])
            if player == position.current_player:
                least, most = 0, ROWS - 2
            require(least <= given <= most, f"tasks: player {player} cannot have assigned {given} yet")
            most = min(least, most)  # players after the current one have assigned none
    elif position.asked in ("neutral", "start"):
        require(started < n, "order: one player must have the turn")
        require(
            position.current_player == position.stack[started],
            f"player {position.stack[started]} has the turn",
        )
        if position.asked == "neutral":
            require(n == 2, "'neutral' is asked with two players alone")
            require(started == 0, "'neutral' is asked at the beginning of a column")
            require(position.round < LAST_ROUND, "'neutral' is not asked in the last turn")


def _fill_actions(state: Any, position: Snapshot, tables: Tables) -> None:
    """Write the action at hand and those pending [6.3]."""
    asked, at_hand = position.asked, position.hand_action
    state["at_hand"] = -1
    for kind, _ in chain(*position.pending, [at_hand] if at_hand else []):
        require(kind in CHOSEN, f"{kind!r} is no action that asks for a decision")
    if at_hand is not None:
        state["at_hand"], state["left"] = KINDS.index(at_hand[0]), at_hand[1]
    if asked in ASKED_FOR:
        require(
            at_hand is not None and at_hand[0] in ASKED_FOR[asked], f"hand_action must fit asked, {asked!r}"
        )
    elif asked != "over":
        require(at_hand is None, f"hand_action must be null while {asked!r} is asked")
    require(position.steps_taken == 0 or asked in ("track", "over"), "steps_taken must be 0 outside tracks")
    state["depth"] = len(position.pending)
    _check_groups(position)
    for number, group in enumerate(position.pending):
        state["group_size"][number] = len(group)
        for place, (kind, amount) in enumerate(group):
            state["pending"][number, place] = KINDS.index(kind), amount
    busy = asked in ("choose", *ASKED_FOR)
    require(busy or asked == "over" or not position.pending, f"nothing is pending while {asked!r} is asked")
    require(not busy or position.pending, f"pending must name the group that asks for {asked!r}")
    if asked == "choose":
        kinds = {kind for kind, _ in position.pending[-1]}
        require(len(kinds) > 1, "pending: 'choose' is asked where several kinds of actions are pending")
    if busy and position.in_play is None:
        begun = position.stack[: position.started][-1:]
        require(
            begun == [position.current_player],
            "an action is carried out by the player who has just begun phase 2",
        )
    elif busy or position.in_play is not None:
        require(busy or asked == "over", "in_play is a card whose action is being carried out")
        turn = position.stack[position.started :][:1]
        require(turn == [position.current_player], "a card is played by the player in phase 1")


def _check_groups(position: Snapshot) -> None:
    """Check how many actions a group can hold, and that no node gives track actions [6.3, 7.4]."""
    at_hand, pending = position.hand_action, position.pending
    if at_hand is not None and at_hand[0] not in TRACKS:
        require(at_hand[1] > 0, "hand_action: nothing is left of it")
    for number, group in enumerate(pending):
        require(all(amount > 0 for _, amount in group), "pending: an action has an amount")
        busy = number < len(pending) - 1 or at_hand is not None  # with another action of this group
        most = (MAX_GAINS if number == NODE_GROUP else 2) - busy
        require(len(group) <= most, f"pending: there are at most {most} actions in group {number}")
    if len(pending) > NODE_GROUP:
        kinds = {kind for kind, _ in pending[NODE_GROUP]} | {at_hand[0] if at_hand else None}
        require(not kinds & {*TRACKS}, "pending: a node of a track gives no track action")
