"""Observations with cards_shown="values": all that is printed changes them; a track is shown from the observer's piece."""

import msgspec
import numpy as np
import pytest
from botanicus_tools import DATA, M1, M3, S3, SHOVEL_END, W4, Table, mine
from data_tools import changed

from garden_core.files.data import DataFile

AMOUNTS = [
    "coins",
    "points",
    "animal",
    "card",
    "prize_money",
    "prize_shovel",
    "plant_1",
    "plant_2",
    "plant_3",
    "plant_4",
    "water",
    "walk",
]
PLACE = [*AMOUNTS, "end", "by upper", "by lower", "cost by upper", "cost by lower"]


def other_entries():
    """Yield for each entry that the default leaves out its keys and another value."""
    for column, spaces in enumerate(DATA["board"]):
        for space, text in enumerate(spaces):
            kind, amount = text.split()
            yield ("board", column, space), f"{kind} {int(amount) + 1}"
            yield ("board", column, space), f"{'pole' if kind == 'animal' else 'animal'} {amount}"
    for name, nodes in DATA["tracks"].items():
        for number, node in enumerate(nodes):
            here = "tracks", name, number
            for i, text in enumerate(node.get("gains", [])):
                kind, amount = text.split()
                more = "prize shovel" if amount == "money" else "prize money"
                yield (*here, "gains", i), f"{kind} {int(amount) + 1}" if amount.isdigit() else more
                yield (*here, "gains", i), f"{'coins' if kind == 'walk' else 'walk'} 2"
            if number and len(node["gains"]) < 3:
                yield (*here, "gains"), [*node["gains"], "coins 1"]
            for edge in ("upper", "lower"):
                if edge in node:
                    yield (*here, edge, "cost"), node[edge].get("cost", 0) + 1
            if "lower" not in node and "upper" in node and node["upper"]["to"] != "end":
                yield (*here, "lower"), {"to": "end"}
    for stack in DATA["prizes"]:
        for k, points in enumerate(DATA["prizes"][stack]):
            yield ("prizes", stack, k), points + 1
        yield ("prizes", stack), DATA["prizes"][stack][:-1]
    for key in ("columns", "animals"):
        for k, points in enumerate(DATA[key]):
            yield (key, k), points + 1
    for row, task in enumerate(DATA["basic"]):
        yield ("basic", row, "points"), task["points"] + 1
        for level, plants in enumerate(task["plants"]):
            yield ("basic", row, "plants", level), plants + 1
    for number, card in enumerate(DATA["cards"]):
        yield ("cards", number, "action"), f"plant_4 {number + 1}"
        yield ("cards", number, "copies"), card["copies"] + 1
    for row, beds in enumerate(DATA["beds"]):
        for column, bed in enumerate(beds):
            yield ("beds", row, column), 1 - bed


def test_tables_that_differ_in_one_entry_look_different():
    """At the deal or, for a cost that another way avoids, once a piece is there.

    The dark sides of tiles show in round two, and special tasks once they are dealt, as by default.
    """

    def seen(data):
        file = DataFile("other tables", msgspec.toml.encode(data).decode())
        table = Table(num_players=4, cards_shown="values", tables=file).deal(1)
        for number in range(6):
            table.state["piece"][0] = number
            yield table.observation(0)

    packaged = [*seen(DATA)]
    for where, value in other_entries():
        both = zip(seen(changed(DATA, where, value)), packaged, strict=True)
        changes = [not np.array_equal(*each) for each in both]
        assert changes[0] or (any(changes) and where[-1] == "cost"), (where, value)


def ahead(table, track, steps):
    """Return by name what is not 0 of the two nodes so many steps ahead of the piece of seat 0; of its own node for 0."""
    part = table.observation(0)[table.game.observation_slices["tracks ahead"]].reshape(3, -1)[track]
    places = [part[:12]] if steps == 0 else part[12:].reshape(5, 2, 17)[steps - 1]
    return [
        {name: int(n) for name, n in zip(PLACE, place, strict=False) if n} for place in places if place.any()
    ]


def test_a_track_is_shown_from_the_piece():
    table = mine(pieces=(M1, W4, S3), cards_shown="values")
    both = {"by upper": 1, "by lower": 1}
    assert ahead(table, 0, 0) == [{"coins": 3}]
    assert ahead(table, 0, 1) == [{"coins": 5, "by upper": 1}, {"coins": 2, "card": 1, "by lower": 1}]
    assert ahead(table, 0, 2) == [{"coins": 4, "points": 1, **both}]
    assert ahead(table, 0, 3) == [{"coins": 6, **both}, {"coins": 3, "card": 1, **both}]
    assert ahead(table, 0, 4) == [{"coins": 4, "prize_money": 1, "end": 1, **both}]
    assert ahead(table, 0, 5) == []
    assert ahead(table, 1, 1) == [{"points": 7, "water": 2, "end": 1, "by upper": 1}]
    end = {"plant_2": 1, "prize_shovel": 1, "end": 1}
    assert ahead(table, 2, 1) == [
        {**end, "by upper": 1, "cost by upper": 2},
        {"plant_1": 2, "by lower": 1},
    ]
    assert ahead(table, 2, 2) == [{**end, "by lower": 1}]
    other = mine(pieces=(M3, W4, SHOVEL_END), cards_shown="values")
    assert ahead(other, 0, 1) == [{"coins": 6, "by upper": 1}, {"coins": 3, "card": 1, "by lower": 1}]
    assert ahead(other, 2, 1) == []


@pytest.mark.parametrize("column", [1, 5, 7, 8])
@pytest.mark.parametrize("round_number", [1, 2])
def test_further_columns_come_in_order(round_number, column):
    table = mine(round=round_number, column=column, cards_shown="values")
    seen = table.observation(0)[table.game.observation_slices["further columns"]].reshape(6, 4, 16)
    coming = [*range(8)] * (3 - round_number)
    for columns_ahead in range(6):
        spaces = DATA["board"][coming[at]] if (at := column + 1 + columns_ahead) < len(coming) else []
        amounts = [int(text.split()[1]) for text in spaces]
        assert seen[columns_ahead].sum(1).tolist() == (amounts or [0] * 4)
        poles = [text.startswith("pole") for text in spaces]
        assert (seen[columns_ahead, :, -1] > 0).tolist() == (poles or [False] * 4)
