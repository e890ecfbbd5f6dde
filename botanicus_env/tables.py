"""The printed values of Botanicus [12]: format of the data file, validation and loading."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from garden_core.files import data

MAX_PLAYERS = 4
ROWS, COLUMNS = 5, 4  # of a garden
BEDS = ROWS * COLUMNS
LEVELS = 4
CROSSINGS = tuple((r, c) for r in range(ROWS - 1) for c in range(COLUMNS - 1))
SPACES = 4  # of a column of the board
BOARD_COLUMNS = 8
TILES = 8  # of each sort
TASKS_EACH = 5  # special tasks of a player
MAX_ANIMALS = 5
MIN_SPECIAL, MAX_SPECIAL = 20, 32
MAX_NODES, MAX_EDGES, MAX_GAINS = 10, 2, 3  # of a track
MAX_PRIZES = 8
MAX_CARD_KINDS, MAX_CARDS = 12, 60
MAX_AMOUNT = 20
MAX_POINTS = 100

AT_ONCE = ("coins", "points", "animal", "card", "prize")
CHOSEN = ("plant_1", "plant_2", "plant_3", "plant_4", "water", "walk", "money", "wheelbarrow", "shovel")
KINDS = (*AT_ONCE, *CHOSEN, "pole")
"""The kinds of actions, by code: those carried out at once, in this order, those that need decisions, the pole."""
TRACKS = ("money", "wheelbarrow", "shovel")
PRIZES = ("money", "shovel")

PACKAGED = Path(__file__).with_name("botanicus.toml")
"""The default data file."""

Action = tuple[int, int]
"""A kind's code and an amount; the amount of a prize is 1 for the money stack, 2 for the shovel stack."""


def between(low: int, high: int) -> Meta:
    """Return the constraint that a number is in a range, both ends included."""
    return Meta(ge=low, le=high)


def exactly(n: int) -> Meta:
    """Return the constraint that a list has n entries."""
    return Meta(min_length=n, max_length=n)


Word = Annotated[str, Meta(max_length=40)]
Points = Annotated[int, between(0, MAX_POINTS)]
Plants = Annotated[tuple[Annotated[int, between(0, COLUMNS)], ...], exactly(LEVELS)]
Tile = Annotated[tuple[Word, ...], exactly(2)]
Row = Annotated[tuple[Annotated[int, between(0, 1)], ...], exactly(COLUMNS)]
Stack = Annotated[tuple[Points, ...], Meta(min_length=1, max_length=MAX_PRIZES)]


ONE_ACTION = (
    "a space, a side of a tile or a card has one action, as observations and labels have room for one"
)
_SEVERAL = re.compile(
    r"got `array` - at `\$\.(board\[\d+\]\[\d+\]|cards\[\d+\]\.action|tiles\.\w+\[\d+\]\[\d+\])`"
)
"""The error message of msgspec for a list of actions in place of a single one."""


class _Printed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A record of the data file."""


class Task(_Printed, frozen=True):
    """How many plants of each level a row must hold, and the points for it."""

    plants: Plants
    points: Points


class Card(_Printed, frozen=True):
    """A kind of Garden card."""

    action: Word
    copies: Annotated[int, between(1, MAX_CARDS)]


class Edge(_Printed, frozen=True):
    """A way from one node of a track to another, by name, and what it costs in coins."""

    to: Word
    cost: Annotated[int, between(0, MAX_AMOUNT)] = 0


class Node(_Printed, frozen=True):
    """A node of a track; the last of a track has no edges, and a single edge is the upper one."""

    name: Word
    gains: Annotated[tuple[Word, ...], Meta(max_length=MAX_GAINS)] = ()
    upper: Edge | None = None
    lower: Edge | None = None

    @property
    def edges(self) -> list[Edge]:
        """The edges, the upper one first."""
        return [edge for edge in (self.upper, self.lower) if edge is not None]


class Tiles(_Printed, frozen=True):
    """Light and dark side of each tile; spotted tiles are for the two upper spaces, striped ones for the lower."""

    spotted: Annotated[tuple[Tile, ...], exactly(TILES)]
    striped: Annotated[tuple[Tile, ...], exactly(TILES)]


class Stacks(_Printed, frozen=True):
    """Points of the Prize tokens, top first, with four players."""

    money: Stack
    shovel: Stack


Nodes = Annotated[tuple[Node, ...], Meta(min_length=2, max_length=MAX_NODES)]


class Tracks(_Printed, frozen=True):
    """The nodes of each track, from the start to the end."""

    money: Nodes
    wheelbarrow: Nodes
    shovel: Nodes


class Tables(_Printed, frozen=True):
    """All printed values. Actions are written as their kind and amount, "water 2".

    Raises:
        ValueError: if keys do not fit together; it names the key at fault.
    """

    beds: Annotated[tuple[Row, ...], exactly(ROWS)]
    fountain: Annotated[tuple[int, ...], exactly(2)]
    columns: Annotated[tuple[Points, ...], exactly(LEVELS)]
    animals: Annotated[tuple[Points, ...], exactly(MAX_ANIMALS)]
    basic: Annotated[tuple[Task, ...], exactly(ROWS)]
    special: Annotated[tuple[Task, ...], Meta(min_length=MIN_SPECIAL, max_length=MAX_SPECIAL)]
    board: Annotated[
        tuple[Annotated[tuple[Word, ...], exactly(SPACES)], ...],
        exactly(BOARD_COLUMNS),
    ]
    cards: Annotated[tuple[Card, ...], Meta(min_length=1, max_length=MAX_CARD_KINDS)]
    tiles: Tiles
    prizes: Stacks
    tracks: Tracks

    def __post_init__(self) -> None:
        """Check what the field types cannot express."""
        if self.fountain not in CROSSINGS:
            raise ValueError(f"fountain must be a crossing, [0, 0] to [3, 2], not {list(self.fountain)}")
        self._check_beds()
        for number, task in enumerate(self.basic + self.special):
            if not any(task.plants):
                key = f"basic[{number}]" if number < ROWS else f"special[{number - ROWS}]"
                raise ValueError(f"{key}.plants must ask for at least one plant")
        for key, text in self._actions():
            action(text, key)
        for number, card in enumerate(self.cards):
            if any(action(other.action, "") == action(card.action, "") for other in self.cards[:number]):
                raise ValueError(f"cards[{number}].action: {card.action!r} is another kind's action, too")
            if card.action.startswith("pole"):
                raise ValueError(f"cards[{number}].action must not be a pole")
        if sum(card.copies for card in self.cards) > MAX_CARDS:
            raise ValueError(f"cards must be {MAX_CARDS} copies in all at most")
        for name in TRACKS:
            _check_track(name, self.track(name))

    def _check_beds(self) -> None:
        in_range = {(r + dr, c + dc) for r, c in CROSSINGS for dr in (0, 1) for dc in (0, 1)}
        for row, beds in enumerate(self.beds):
            for column, bed in enumerate(beds):
                if bed and (row, column) not in in_range:
                    raise ValueError(f"beds[{row}][{column}] is in range of no crossing")
        for column in range(COLUMNS):
            if not any(row[column] for row in self.beds):
                raise ValueError(f"beds must have one in column {column}")

    def _actions(self) -> Iterator[tuple[str, str]]:
        """Yield every action in the file as (key, text)."""
        for column, spaces in enumerate(self.board):
            for space, text in enumerate(spaces):
                yield f"board[{column}][{space}]", text
        for number, card in enumerate(self.cards):
            yield f"cards[{number}].action", card.action
        for sort in ("spotted", "striped"):
            for number, tile in enumerate(getattr(self.tiles, sort)):
                for side, text in enumerate(tile):
                    if text.startswith("pole"):
                        raise ValueError(f"tiles.{sort}[{number}][{side}] must not be a pole")
                    yield f"tiles.{sort}[{number}][{side}]", text
                if action(tile[0], "") == action(tile[1], ""):
                    raise ValueError(
                        f"tiles.{sort}[{number}] must not have the same action on both sides, {tile[0]!r}: "
                        "turning the tiles changes what each of them gives"
                    )
        for name in TRACKS:
            for number, node in enumerate(self.track(name)):
                for i, text in enumerate(node.gains):
                    yield f"tracks.{name}[{number}].gains[{i}]", text

    def track(self, name: str) -> tuple[Node, ...]:
        """Return the nodes of a track."""
        return getattr(self.tracks, name)


def _check_track(track: str, nodes: tuple[Node, ...]) -> None:
    key = f"tracks.{track}"
    names = [node.name for node in nodes]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ValueError(f"{key}[{number}].name: {name!r} is another node's name, too")
    for number, node in enumerate(nodes):
        here = f"{key}[{number}]"
        if node.lower and not node.upper:
            raise ValueError(f"{here} must have an upper edge where it has a lower one")
        if bool(node.edges) != (number < len(nodes) - 1):
            raise ValueError(f"{here}: every node but the last has an edge, and the last has none")
        for edge in node.edges:
            if edge.to not in names[number + 1 :]:
                raise ValueError(f"{here}: an edge leads to {edge.to!r}, which is no later node of the track")
        for i, text in enumerate(node.gains):
            if text.split()[0] in (*TRACKS, "pole"):
                raise ValueError(
                    f"{here}.gains[{i}] must be neither a track action nor a pole, not {text!r}: nodes that give "
                    "steps on a track could follow one another without end"
                )
    if nodes[0].gains:
        raise ValueError(f"{key}[0].gains: the start is never gained")
    targets = {edge.to for node in nodes for edge in node.edges}
    for number, name in enumerate(names[1:], 1):
        if name not in targets:
            raise ValueError(f"{key}[{number}] can not be reached from the start")


def ways(nodes: tuple[Node, ...]) -> list[list[tuple[int, int]]]:
    """Return for each node of a track its edges, the upper one first, as (target node, cost in coins)."""
    numbers = {node.name: number for number, node in enumerate(nodes)}
    return [[(numbers[edge.to], edge.cost) for edge in node.edges] for node in nodes]


def stages(nodes: tuple[Node, ...]) -> list[list[int]]:
    """Return the numbers of the nodes of a track, grouped by the length of the longest way from the start."""
    depth = [0] * len(nodes)
    for number, edges in enumerate(ways(nodes)):
        for to, _ in edges:
            depth[to] = max(depth[to], depth[number] + 1)
    return [[n for n in range(len(nodes)) if depth[n] == stage] for stage in range(max(depth) + 1)]


def action(text: str, key: str) -> Action:
    """Parse an action, written as kind and amount; `key` names its place in messages.

    Raises:
        ValueError: if it is not an action.
    """
    kind, _, amount = text.partition(" ")
    if kind == "prize" and amount in PRIZES:
        return KINDS.index(kind), 1 + PRIZES.index(amount)
    number = int(amount) if amount.isascii() and amount.isdigit() else 0
    if kind in KINDS and kind != "prize" and 1 <= number <= MAX_AMOUNT:
        return KINDS.index(kind), number
    if "+" in text:
        raise ValueError(f"{key} must be one action, not {text!r}: {ONE_ACTION}")
    kinds = ", ".join(known for known in KINDS if known != "prize")
    raise ValueError(
        f"{key} must be a kind of action and an amount, 1 to {MAX_AMOUNT}, not {text!r}; kinds are {kinds}, "
        "and 'prize money' and 'prize shovel' go without amount"
    )


def load(source: str | Path | data.DataFile = PACKAGED) -> Tables:
    """Load the tables from a TOML file, given by its path or already read.

    Raises:
        ValueError: if the file cannot be read or something in it is not allowed; it names the line or key.

    Example:
        >>> from botanicus_env import load_tables
        >>> tables = load_tables()
        >>> len(tables.animals), len(tables.cards)
        (5, 9)
    """
    try:
        return data.load(source, Tables)
    except ValueError as error:
        if _SEVERAL.search(str(error)):
            raise ValueError(f"{error}: {ONE_ACTION}") from None
        raise
