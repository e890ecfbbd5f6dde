"""The printed cards of Cacti [1]: format of the data file, validation and loading."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from garden_core.files import data

NUM_PLAYERS = 2
MIDDLE = 5  # cacti face up in the middle
MIN_TYPES, MAX_TYPES = 2, 6
MAX_OF_TYPE = 20
MIN_CACTI, MAX_CACTI = 12, MAX_TYPES * MAX_OF_TYPE
MIN_BASIC, MAX_BASIC = 3, 32
MAX_BONUS = 32
MAX_POINTS = 100

PACKAGED = Path(__file__).with_name("cacti.toml")
"""The default data file."""

Name = Annotated[str, Meta(pattern=r"^\S(.*\S)?$", max_length=40)]
Cost = tuple[Annotated[int, Meta(ge=0, le=MAX_OF_TYPE)], ...]


class Arrangement(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """The cost, in cacti of each type, and the points that planting it scores."""

    cost: Cost
    points: Annotated[int, Meta(ge=0, le=MAX_POINTS)]


class Basic(msgspec.Struct, frozen=True, order=True, forbid_unknown_fields=True):
    """A Basic Arrangement: the player who plants it chooses one of its halves. Ordered by cost and points, upper half first."""

    upper: Arrangement
    lower: Arrangement


class Cards(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All cards of the game. A type is its index in `types`; Bonus Planters may also give its name.

    Raises:
        ValueError: if keys do not fit together; it names the key at fault.
    """

    types: Annotated[tuple[Name, ...], Meta(min_length=MIN_TYPES, max_length=MAX_TYPES)]
    count: tuple[Annotated[int, Meta(ge=1, le=MAX_OF_TYPE)], ...]
    bonus: Annotated[tuple[int | Name, ...], Meta(min_length=NUM_PLAYERS, max_length=MAX_BONUS)]
    starting: Arrangement
    basic: Annotated[tuple[Basic, ...], Meta(min_length=MIN_BASIC, max_length=MAX_BASIC)]

    def __post_init__(self) -> None:
        """Check what the field types cannot express."""
        n = len(self.types)
        for name in self.types:
            if not name.isprintable():
                raise ValueError(f"types must be printable, not {name!r}")
            if self.types.count(name) > 1:
                raise ValueError(f"types must be distinct; {name!r} occurs more than once")
        if len(self.count) != n:
            raise ValueError(f"count must have {n} numbers, one for each type, not {len(self.count)}")
        if sum(self.count) < MIN_CACTI:
            raise ValueError(f"count must come to {MIN_CACTI} cacti at least, not {sum(self.count)}")
        for number, planter in enumerate(self.bonus):
            if planter not in self.types and planter not in range(n):
                raise ValueError(
                    f"bonus[{number}] must be the name of a type or its index, 0 to {n - 1}, not {planter!r}"
                )
        named = {"starting": self.starting}
        for k, card in enumerate(self.basic):
            named |= {f"basic[{k}].upper": card.upper, f"basic[{k}].lower": card.lower}
        for key, arrangement in named.items():
            if len(arrangement.cost) != n:
                raise ValueError(
                    f"{key}.cost must have {n} numbers, one for each type, not {len(arrangement.cost)}"
                )
            if sum(arrangement.cost) == 0:
                raise ValueError(f"{key}.cost must ask for at least one cactus")

    @property
    def bonus_types(self) -> list[int]:
        """The type of each Bonus Planter as an index."""
        return [planter if isinstance(planter, int) else self.types.index(planter) for planter in self.bonus]

    @property
    def halves(self) -> list[Arrangement]:
        """The Arrangements that players can plant: 2 k is the upper half of Basic Arrangement k, 2 k + 1 the lower; then Starting."""
        return [half for card in self.basic for half in (card.upper, card.lower)] + [self.starting]


def load(source: str | Path | data.DataFile = PACKAGED) -> Cards:
    """Load the cards from a TOML file, given by its path or already read.

    Raises:
        ValueError: if the file cannot be read or is invalid; it names the line or key.

    Example:
        >>> from cacti_env import load_cards
        >>> cards = load_cards()
        >>> cards.types, cards.starting
        (('barrel', 'prickly pear', 'saguaro', 'star'), Arrangement(cost=(1, 1, 1, 1), points=5))
    """
    return data.load(source, Cards)
