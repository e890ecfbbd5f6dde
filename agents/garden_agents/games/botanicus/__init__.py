"""Hints for Botanicus: features instead of the observation."""

from __future__ import annotations

from pathlib import Path

from botanicus_env.game import Botanicus
from garden_agents.games import Hints, register
from garden_agents.games.botanicus.features import features
from garden_agents.games.botanicus.private_tables import private_data
from garden_core.game import Game


def vocabulary(game: Game) -> tuple[str, ...]:
    """Return the words of the theme."""
    things = (
        "garden",
        "bed",
        "plant",
        "water",
        "flower",
        "fountain",
        "animal",
        "prize",
        "coin",
        "money",
        "wheelbarrow",
    )
    stages = "seed", "seedling", "maturing", "bloom"
    return "botanicus", "hans", "glück", *things, *stages, "shovel", "pole", "walk"


register(
    Botanicus,
    Hints(
        features=features,
        folder=Path(__file__).parent,
        vocabulary=vocabulary,
        private_data=private_data,
    ),
)
