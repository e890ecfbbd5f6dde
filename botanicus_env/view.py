"""A position for texts and pictures: a whole snapshot, or what one seat sees of it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from types import SimpleNamespace
from typing import Any

from botanicus_env import wording
from botanicus_env.rules import AROUND, COINS_PER_FLOWER, COINS_PER_POINT
from botanicus_env.tables import COLUMNS, TRACKS, Tables, ways


class View(SimpleNamespace):
    """A position: what `snapshots.seen` returns, or a whole snapshot, its keys as attributes, and the printed `tables`."""

    def __init__(self, snapshot: dict[str, Any], tables: Tables) -> None:
        super().__init__(**{"pile_left": len(snapshot["pile"] or ()), **snapshot}, tables=tables)

    @property
    def at_hand(self) -> str:
        """The kind of the action at hand; "" for none."""
        return self.hand_action[0] if self.hand_action else ""

    def num_cards(self, player: int) -> int:
        """Return how many cards a player holds."""
        hand = self.hands[player]
        return hand if isinstance(hand, int) else sum(hand)

    def cards(self, numbers: Sequence[int]) -> list[str]:
        """Return Garden cards in words, from how many there are of each kind."""
        kinds = zip(numbers, self.tables.cards, strict=True)
        return [wording.action(card.action) + (f" (x{n})" if n > 1 else "") for n, card in kinds if n]

    def node(self, track: str) -> int:
        """Return the node of a track where the piece of the player to move is."""
        return self.tracks[self.current_player][TRACKS.index(track)]

    def edges(self, track: str) -> list[tuple[int, int]]:
        """Return where the piece of the player to move can go: nodes of a track and costs, the upper way first."""
        return ways(self.tables.track(track))[self.node(track)]

    def reach(self, player: int) -> set[int]:
        """Return the places for beds around a player's Gardener."""
        return set(AROUND[self.gardeners[player]].tolist())

    def tile(self, column: int, space: int) -> str:
        """Return the action of the tile on a space, as in the data file, on the side that is up; "" without a tile."""
        if column % 2 or self.covered[column // 2 - 1][space]:
            return ""
        number = self.tiles[column // 2 - 1][space]
        return (self.tables.tiles.spotted + self.tables.tiles.striped)[number][self.round > 1]

    def printed(self, space: int) -> str:
        """Return the action that is printed at a space of the current column, as in the data file."""
        return self.tables.board[self.column - 1][space]

    def flower_cost(self, space: int) -> int:
        """Return how many coins a Flower costs on a space of the current column."""
        pole = self.printed(space).startswith("pole")
        return 0 if pole else COINS_PER_FLOWER * len(self.flowers[space])

    def unassigned(self, player: int) -> dict[int, int]:
        """Return the special tasks that a player has not yet given to a row, by their places among those dealt."""
        own = self.tasks[player]
        return {j: task for j, task in enumerate(self.dealt[player]) if task not in own}

    def column_points(self, garden: list[int], column: int) -> int:
        """Return what a column of a garden would score now: 0 unless all its beds are planted."""
        levels = garden[column::COLUMNS]
        return 0 if 0 in levels else self.tables.columns[max(levels) - 1]

    def score_sheet(self, player: int) -> dict[str, int]:
        """Return the parts of a player's score as things stand; they sum to the snapshot's `scores`."""
        special = [self.tables.special[task] for task in self.tasks[player]]
        done = [*compress(self.tables.basic, self.basic_done[player])]
        done += compress(special, self.special_done[player])
        tasks = sum(task.points for task in done)
        animals = sum(self.tables.animals[: self.animals[player]])
        garden = self.gardens[player]
        return {
            "tasks": tasks,
            "animals": animals,
            "columns": sum(self.column_points(garden, column) for column in range(COLUMNS)),
            "coins": self.coins[player] // COINS_PER_POINT,
            "other points": self.points[player] - tasks - animals,
        }
