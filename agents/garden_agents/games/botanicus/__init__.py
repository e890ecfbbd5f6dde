"""Hints for Botanicus: features instead of the observation."""

from __future__ import annotations

from pathlib import Path

from botanicus_env.game import Botanicus
from garden_agents.games import Features, Hints, register
from garden_agents.games.botanicus.features import NUM_SCORES, fill_features, num_entries
from garden_core.game import Game


def features(game: Game) -> Features:
    """Return the features of a game: the observation's entries, scaled, and the current scores of all seats."""
    return Features(num_entries(game.params) + NUM_SCORES, fill_features, game.params)


register(Botanicus, Hints(features=features, folder=Path(__file__).parent))
