"""New cards of Cacti, which no model has read about: other costs and numbers of cacti, drawn from a seed."""

from __future__ import annotations

import itertools
import random

import msgspec

from cacti_env.cards import PACKAGED, Arrangement, Basic, load
from garden_core.checks import as_seed
from garden_core.files.data import DataFile

_UPPER, _LOWER = ((2, 1), (1, 1, 1)), ((3, 2), (2, 2, 1))
"""Numbers of cacti that the halves of Basic Arrangements cost."""


def private_data(seed: int) -> dict[str, DataFile]:
    """Return a data file by option.

    New are the numbers of cacti, 11 to 13 of each type and together as many as in the packaged file, and the costs of Basic
    Arrangements: an upper half asks for 3 cacti, as 2 + 1 or 1 + 1 + 1, and a lower half for 5, as 3 + 2 or 2 + 2 + 1, of any types;
    no two upper halves are alike, and no two lower ones. Points are those of the packaged file, 3 and 6, one more for three types.
    The types, the Bonus Planters, the Starting Arrangement and the number of Basic Arrangements stay.
    """
    draw, cards = random.Random(int(as_seed(seed))), load(PACKAGED)
    types = len(cards.types)
    count = [*cards.count]
    for _ in range(types):
        more, less = draw.sample(range(types), 2)
        if count[more] <= cards.count[more] and count[less] >= cards.count[less]:
            count[more], count[less] = count[more] + 1, count[less] - 1

    def halves(shapes: tuple[tuple[int, ...], ...], points: int) -> list[Arrangement]:
        """Return distinct costs, in random order."""
        costs = {
            tuple(dict(zip(chosen, shape, strict=True)).get(t, 0) for t in range(types))
            for shape in shapes
            for chosen in itertools.permutations(range(types), len(shape))
        }
        drawn = draw.sample(sorted(costs), len(cards.basic))
        return [Arrangement(cost, points + (sum(map(bool, cost)) > 2)) for cost in drawn]

    first = cards.basic[0]
    uppers, lowers = halves(_UPPER, first.upper.points), halves(_LOWER, first.lower.points)
    basic = tuple(Basic(*pair) for pair in zip(uppers, lowers, strict=True))
    made = msgspec.structs.replace(cards, count=tuple(count), basic=basic)
    return {"cards": DataFile(f"private cards {seed}", msgspec.toml.encode(made).decode())}
