"""The variants of a game that a network is trained on: several values of options, and generated card sets."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from garden_agents.games import TRAINING_SEEDS, hints_of
from garden_core.checks import as_seed, one_line
from garden_core.game import Game

MOST = len(TRAINING_SEEDS)
"""Largest number of variants."""


class Variants(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The variants of a game that a network is trained on.

    Attributes:
        options: values by option.
        card_sets: number of generated card sets, of the first `TRAINING_SEEDS` (`garden_agents.games`); 0 for the game's own cards.

    Example:
        >>> from garden_agents.networks.variants import Variants
        >>> from garden_core import make
        >>> [game.num_players for game in Variants({"num_players": (2, 3)}).of(make("mars"))]
        [2, 3]
    """

    options: dict[str, tuple[bool | int | str, ...]] = {}
    card_sets: int = 0

    @property
    def several(self) -> bool:
        """Whether there is more than the game as it is."""
        return bool(self.options or self.card_sets)

    def of(self, game: Game) -> list[Game]:
        """Return the variants of a game: all combinations of the options' values, each with each card set.

        Raises:
            ValueError, TypeError: for an unknown option or a wrong value, more than `MOST` variants, or card sets of a game that
                generates none.
        """
        for option in game.options:
            if option.is_file and option.name in self.options:
                raise ValueError(
                    f"variants: {option.name} is a file, of which a training has one; there are generated card sets"
                )
        count = max(self.card_sets, 1)
        for values in self.options.values():
            count *= len(values)
        if not 0 < count <= MOST:
            raise ValueError(f"a training has 1 to {MOST:,} variants, not {count:,}")
        cards = [with_card_set(game, seed) for seed in TRAINING_SEEDS[: self.card_sets]] or [game]
        chosen = [
            dict(zip(self.options, values, strict=True))
            for values in itertools.product(*self.options.values())
        ]
        try:
            return [own.with_options(**options) for options in chosen for own in cards]
        except (ValueError, TypeError) as error:
            raise type(error)(f"variants: {one_line(error)}") from None


def with_card_set(game: Game, seed: int) -> Game:
    """Return the game with other cards, generated from a seed, about as balanced as its own.

    Raises:
        ValueError: for a seed out of range, or a game that generates no cards.
    """
    make = hints_of(game).private_data
    if make is None:
        raise ValueError(f"{game.name} generates no card sets")
    options: dict[str, Any] = dict(make(int(as_seed(seed))))
    return game.with_options(**options)
