"""Hints for Cacti: the cards that a seat has from the deal on, and features where cards are shown by value."""

from __future__ import annotations

import re
from pathlib import Path

from cacti_env.game import Cacti
from garden_agents.games import Hints, register
from garden_agents.games.cacti.features import features
from garden_agents.games.cacti.private_cards import private_data
from garden_core.game import Game


def vocabulary(game: Game) -> tuple[str, ...]:
    """Return the words of the theme, with the types of cactus."""
    assert isinstance(game, Cacti)
    types = {word: None for name in game.cards.types for word in re.findall("[a-z]+", name.lower())}
    return "cactus/cacti", "nursery/nurseries", "arrangement", "plant", "grow", *types


register(
    Cacti,
    Hints(
        features=features,
        private_fields=("bonus", "basic_in_hand"),
        folder=Path(__file__).parent,
        vocabulary=vocabulary,
        private_data=private_data,
    ),
)
