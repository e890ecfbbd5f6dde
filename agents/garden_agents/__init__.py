"""Baseline agents, their training and an arena; run from a checkout: `garden train --help`."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garden_agents.networks.network_agent import NetworkAgent
    from garden_core.game import Game

__all__ = ["load"]

# Idle threads of torch's OpenMP then sleep instead of spinning: beside one busy process, two threads keep
# most of their speed where they would fall to a third (GNU's OpenMP; read once, when torch is imported).
os.environ.setdefault("GOMP_SPINCOUNT", "0")


def load(game: str | Game, num_players: int | None = None, **arguments: Any) -> NetworkAgent:
    """Return the trained agent that comes with a game; see `garden_agents.networks.network_agent.load`."""
    from garden_agents.networks import network_agent  # and with it torch, which nothing else here needs

    return network_agent.load(game, num_players, **arguments)
