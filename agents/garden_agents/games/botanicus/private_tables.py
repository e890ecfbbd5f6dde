"""New tables of Botanicus, which no model has read about: other tasks, boards, cards and tiles, drawn from a seed."""

from __future__ import annotations

import random
import tomllib

import msgspec

from botanicus_env.tables import LEVELS, PACKAGED
from garden_core.checks import as_seed
from garden_core.files.data import DataFile

_WORTH = (1.6, 2.6, 3.7, 5.1)
"""About how many points of a packaged task a plant of each level is worth."""


def private_data(seed: int) -> dict[str, DataFile]:
    """Return a data file by option.

    The special tasks are new: they ask for 2 to 4 plants, and score 7 to 17 points by the levels of these plants, as packaged
    tasks do. Each prize differs by at most 1. The columns of the board
    with Pole Positions, those with tiles, and the spaces in each column are in another order, as are the numbers of copies
    of the cards, and the gains of each track without its ends. All else stays, also the number of special tasks.
    """
    draw, tables = random.Random(int(as_seed(seed))), tomllib.loads(PACKAGED.read_text("utf-8"))
    tasks: dict[tuple[int, ...], int] = {}
    while len(tasks) < len(tables["special"]):
        plants = [0] * LEVELS
        for _ in range(draw.choice((2, 3, 3, 3, 4))):
            plants[draw.randrange(LEVELS)] += 1
        points = round(sum(n * worth for n, worth in zip(plants, _WORTH, strict=True)))
        if 7 <= points <= 17:
            tasks[tuple(plants)] = points
    tables["special"] = [{"plants": plants, "points": points} for plants, points in tasks.items()]
    for stack, values in tables["prizes"].items():
        near = {max(1, value + draw.randint(-1, 1)) for value in values}
        tables["prizes"][stack] = sorted(near, reverse=True)
    board = tables["board"]
    for first in (0, 1):  # columns with Pole Positions, and those with tiles
        board[first::2] = draw.sample(board[first::2], len(board) // 2)
    tables["board"] = [draw.sample(column, len(column)) for column in board]
    copies = [card["copies"] for card in tables["cards"]]
    for card, number in zip(tables["cards"], draw.sample(copies, len(copies)), strict=True):
        card["copies"] = number
    for nodes in tables["tracks"].values():
        inner = nodes[1:-1]
        gains = [node["gains"] for node in inner]
        for node, gained in zip(inner, draw.sample(gains, len(gains)), strict=True):
            node["gains"] = gained
    return {"tables": DataFile(f"private tables {seed}", msgspec.toml.encode(tables).decode())}
