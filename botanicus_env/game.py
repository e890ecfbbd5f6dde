"""Botanicus as a Game: options, metadata, labels, snapshots, pictures."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, ClassVar

from botanicus_env import describing, drawing, rules, shown, snapshots, tables, wording
from botanicus_env.state import ASKED, PARAMS_FIELDS, STATE_FIELDS
from botanicus_env.tables import (
    BEDS,
    CHOSEN,
    COLUMNS,
    CROSSINGS,
    MAX_CARD_KINDS,
    MAX_CARDS,
    MAX_NODES,
    MAX_PLAYERS,
    PRIZES,
    ROWS,
    SPACES,
    TASKS_EACH,
    TRACKS,
)
from botanicus_env.view import View
from garden_core.game import Game, Part
from garden_core.options import Option
from garden_core.presentation import Table
from garden_core.render.svg import Look


class Botanicus(Game):
    """Botanicus (base game) for 2 to 4 players.

    Options: see `Botanicus.options`. Observation: int8 (1224,), or (2414,) with `cards_shown="values"`; 81 actions. docs/botanicus.md has the tables.

    Raises:
        ValueError: for an option out of range, or a data file that cannot be read or is invalid; it names the line
            or key at fault.

    Example:
        >>> from botanicus_env import Botanicus
        >>> game = Botanicus(num_players=3)
        >>> game.observation_shape, game.num_actions
        ((1224,), 81)
    """

    name = "botanicus"
    title = "Botanicus"
    chance = "play"
    information = "imperfect"
    options = (
        Option("num_players", 2, "players", low=2, high=MAX_PLAYERS),
        Option("max_decisions", 2000, "cap at which a game is truncated", low=1, high=2**31 - 1),
        Option("tables", "", "TOML file with other printed values; the packaged ones if empty"),
        Option(
            "cards_shown",
            "places",
            "also show all that is printed on board, cards and tracks by value",
            choices=("places", "values"),
        ),
    )
    state_fields = STATE_FIELDS
    params_fields = PARAMS_FIELDS
    rules: ClassVar[Any] = rules
    seen = staticmethod(snapshots.seen)

    @functools.cached_property
    def tables(self) -> tables.Tables:
        """The printed values of the game's components."""
        try:
            return tables.load(self.data.get("tables", tables.PACKAGED))
        except ValueError as error:
            raise ValueError(f"tables: {error}") from None

    @property
    def summary(self) -> str:
        """The rules in brief, with the values of this game."""
        return wording.summary(self.tables)

    def fill_params(self, params: Any) -> None:
        """Write the printed values."""
        printed = self.tables
        params["values_shown"] = self.option_values["cards_shown"] == "values"
        params["num_special"] = len(printed.special)
        params["num_card_kinds"] = len(printed.cards)
        params["column_points"] = printed.columns
        params["animal_points"] = printed.animals
        params["bed"] = [bed for row in printed.beds for bed in row]
        params["row_beds"] = [sum(row) for row in printed.beds]
        params["fountain"] = CROSSINGS.index((printed.fountain[0], printed.fountain[1]))
        for sort, tasks in (("basic", printed.basic), ("special", printed.special)):
            params[sort][: len(tasks)] = [task.plants for task in tasks]
            params[f"{sort}_points"][: len(tasks)] = [task.points for task in tasks]
        params["board"] = [[tables.action(space, "board") for space in column] for column in printed.board]
        tiles = printed.tiles.spotted + printed.tiles.striped
        params["tile"] = [[tables.action(side, "tiles") for side in tile] for tile in tiles]
        for kind, card in enumerate(printed.cards):
            params["card"][kind] = tables.action(card.action, "cards")
            params["copies"][kind] = card.copies
        for stack, name in enumerate(PRIZES):
            values = getattr(printed.prizes, name)
            params["prize"][stack, : len(values)] = values
            params["num_prizes"][stack] = len(values)
        params["edge"] = -1
        for track, name in enumerate(TRACKS):
            nodes = printed.track(name)
            for number, (node, edges) in enumerate(zip(nodes, tables.ways(nodes), strict=True)):
                params["num_gains"][track, number] = len(node.gains)
                for i, gain in enumerate(node.gains):
                    params["gains"][track, number, i] = tables.action(gain, "tracks")
                for i, edge in enumerate(edges):
                    params["edge"][track, number, i], params["cost"][track, number, i] = edge

    @property
    def reward_divisor(self) -> float:
        """20 [11.2]."""
        return 20

    @functools.cached_property
    def labels(self) -> tuple[str, ...]:
        """`pass`, `walk r,c`, `bed r,c`, `resolve KIND`, `advance upper`, `use CARD`, `flower s`, … 81 in all."""
        cards = [card.action for card in self.tables.cards]
        cards += [f"kind {kind}" for kind in range(len(cards), MAX_CARD_KINDS)]
        return (
            "pass",
            *(f"walk {r},{c}" for r, c in CROSSINGS),
            *(f"bed {bed // COLUMNS},{bed % COLUMNS}" for bed in range(BEDS)),
            *(f"resolve {kind}" for kind in CHOSEN),
            "advance upper",
            "advance lower",
            *(f"use {card}" for card in cards),
            *(f"sell {card}" for card in cards),
            *(f"flower {space}" for space in range(SPACES)),
            *(f"neutral {space}" for space in range(SPACES)),
            *(f"assign {j}" for j in range(TASKS_EACH)),
        )

    @property
    def action_parts(self) -> tuple[Part, ...]:
        """The blocks of actions."""
        return (
            Part(
                "forfeit",
                1,
                "forfeit the rest of the action at hand, or at a choice all that is pending in its group; "
                "stop on the track; do without the last turn's track",
            ),
            Part(
                "crossing",
                len(CROSSINGS),
                "move the Gardener to this crossing: in phase 1 for coins, by a walk action for free",
            ),
            Part("bed", BEDS, "put the plant or water at hand on this bed"),
            Part(
                "next action",
                len(CHOSEN),
                "carry out a pending action next; in the last turn, choose a track",
            ),
            Part(
                "advance",
                2,
                "advance on the track by the upper or lower edge; an edge without an alternative is the upper one",
            ),
            Part("use", MAX_CARD_KINDS, "use a Garden card of this kind"),
            Part("sell", MAX_CARD_KINDS, "sell a Garden card of this kind"),
            Part("flower", SPACES, "place the Flower on this space"),
            Part("neutral", SPACES, "two players: place the neutral Flower on this space"),
            Part("assign", TASKS_EACH, "assign this one of the dealt special tasks to the row at hand"),
        )

    @property
    def observation_parts(self) -> tuple[Part, ...]:
        """The parts of an observation, in order."""
        seats = []
        for seat in ("observer", *(f"seat {i} after it" for i in range(1, MAX_PLAYERS))):
            seats += [
                Part(f"{seat}: beds", 4 * BEDS, f"{seat}: level of the plant in each bed, one-hot"),
                Part(f"{seat}: crossing", len(CROSSINGS), f"{seat}: the Gardener's crossing, one-hot"),
                Part(f"{seat}: counts", 4, f"{seat}: coins, points // 2, animals, cards in hand", "0 … 127"),
                Part(f"{seat}: tracks", 3 * MAX_NODES, f"{seat}: node on each track, one-hot"),
                Part(f"{seat}: tasks done", 2 * ROWS, f"{seat}: basic, then special tasks done, by row"),
                Part(
                    f"{seat}: special tasks",
                    6 * ROWS,
                    f"{seat}: special task by row: plants by level, points, beds enough",
                    "≥ 0",
                ),
                Part(
                    f"{seat}: flower",
                    SPACES + 1,
                    f"{seat}: space of the Flower in this column, one-hot, and its height",
                    "≥ 0",
                ),
                Part(
                    f"{seat}: turn",
                    1,
                    f"{seat}: place in the order of turns in this column, 0 for an unused seat",
                    "0 … 4",
                ),
            ]
        return (
            *seats,
            Part("own hand", MAX_CARD_KINDS, "the observer's hand, by kind", "≥ 0", private=True),
            *(
                Part(
                    f"{which} column",
                    SPACES * rules.SPACE_SIZE,
                    f"spaces of the {which} column: kind one-hot, amount, Flowers",
                    "≥ 0",
                )
                for which in ("current", "next")
            ),
            Part("tiles", 16 * rules.TILE_SIZE, "tiles: kind one-hot, amount; 0 when covered", "≥ 0"),
            Part("prizes", 2 * len(PRIZES), "prizes by stack: the top one, how many are left", "≥ 0"),
            Part("discards", MAX_CARD_KINDS, "discards, by kind", "≥ 0"),
            Part("counts", 3, "cards in the pile, round, column", "≥ 0"),
            Part("decision", len(ASKED), "the decision to make, one-hot"),
            Part(
                "action at hand",
                len(CHOSEN) + 2,
                "the action at hand: kind one-hot, amount left, steps taken",
                "≥ 0",
            ),
            Part("pending", len(CHOSEN), "pending actions, amount by kind", "≥ 0"),
            Part(
                "tasks to assign",
                MAX_PLAYERS * TASKS_EACH * rules.TASK_SIZE,
                "for each of 4 seats, dealt tasks still to be assigned: plants by level, points",
                "≥ 0",
            ),
            Part("number of players", 1, "number of players", "2 … 4"),
            *(shown.parts() if self.option_values["cards_shown"] == "values" else ()),
        )

    @property
    def hidden_parts(self) -> tuple[Part, ...]:
        """The parts of what is hidden from a seat, in order."""
        return (
            *(
                Part(f"seat {i} after it: hand", MAX_CARD_KINDS, f"hand of seat {i} after it, by kind", "≥ 0")
                for i in range(1, MAX_PLAYERS)
            ),
            Part("pile", MAX_CARDS, "the pile from its top: kind + 1, 0 for none", f"0 … {MAX_CARD_KINDS}"),
        )

    @property
    def data_tables(self) -> dict[str, Table]:
        """The printed values."""
        printed = self.tables
        words = wording.action
        tasks = [
            (f"{sort} {number}", *task.plants, task.points)
            for sort, each in (("basic, row", printed.basic), ("special", printed.special))
            for number, task in enumerate(each)
        ]
        board = [(column, *map(words, spaces)) for column, spaces in enumerate(printed.board, 1)]
        tiles = [
            (sort, *map(words, tile))
            for sort in ("spotted", "striped")
            for tile in getattr(printed.tiles, sort)
        ]
        cards = [(words(card.action), card.copies) for card in printed.cards]
        tracks = []
        for track in TRACKS:
            nodes = printed.track(track)
            for number, ways in enumerate(tables.ways(nodes)):
                edges = [f"to {to}" + (wording.for_coins(cost) if cost else "") for to, cost in ways]
                tracks.append((track, number, wording.step(nodes, number), *edges, *[""] * (2 - len(edges))))
        values = [
            (f"{name} prizes, top first, as four players have them", getattr(printed.prizes, name))
            for name in PRIZES
        ]
        values += [
            ("row and column of the fountain's crossing", printed.fountain),
            ("points of the first to the fifth animal", printed.animals),
            ("points of a full column whose highest level is I, II, III, IV", printed.columns),
        ]
        garden = [(row, *("bed" if bed else "-" for bed in beds)) for row, beds in enumerate(printed.beds)]
        return {
            "garden": (("row", *(f"column {column}" for column in range(COLUMNS))), garden),
            "tasks": (("task", *wording.LEVELS[1:], "points"), tasks),
            "board": (("column", *(f"space {space}" for space in range(SPACES))), board),
            "tiles": (("tile", "light side", "dark side"), tiles),
            "garden cards": (("card", "copies"), cards),
            "tracks": (("track", "node", "what it gives", "upper edge", "lower edge"), tracks),
            "values": (("values", "in order"), [(name, ", ".join(map(str, each))) for name, each in values]),
        }

    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the state as plain JSON values; keys as in docs/botanicus.md."""
        return snapshots.written(state, self.tables, self.num_players, self.scores(state))

    def fill_state(self, state: Any, snapshot: dict[str, Any]) -> None:
        """Write the position of a snapshot into a zeroed state."""
        snapshots.fill(state, snapshot, self.tables, self.num_players)

    def describe(self, state: Any, action: int) -> str:
        """Return in one line what a legal action does in this position, without information hidden from the player to move."""
        return describing.describe(View(self.snapshot(state), self.tables), self.labels[action])

    def describe_to(self, state: Any, action: int, seat: int | None) -> str:
        """Return the description of an action; none reveals anything hidden, so this needs no redraws."""
        return self.describe(state, action)

    def score_sheet(self, snapshot: dict[str, Any]) -> list[dict[str, int]]:
        """Return by seat the parts of the score as things stand, which sum to the snapshot's `scores`."""
        view = View(snapshot, self.tables)
        return [view.score_sheet(player) for player in range(self.num_players)]

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return the position as text that `seat` can play from; an onlooker (None) sees all hands."""
        return drawing.text(View(view, self.tables), legal)

    def own_svg(self, view: dict[str, Any], seat: int | None, look: Look) -> str:
        """Return the picture of a position as `seat` sees it; an onlooker (None) sees all hands."""
        return drawing.svg(View(view, self.tables), seat, look)
