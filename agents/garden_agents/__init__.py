"""Baseline agents, with the commands that train them, compare them and play against them.

The command is `garden train|play|arena|replay|warm-up`, or `python -m garden_agents` with the same words.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garden_agents.evaluation.matches import Result, meet, table
    from garden_agents.networks.network_agent import NetworkAgent
    from garden_agents.registry import load_agent
    from garden_agents.search.agent import MCTSAgent
    from garden_core.game import Game

__all__ = ["MCTSAgent", "NetworkAgent", "Result", "load", "load_agent", "meet", "table"]

_MODULES = {
    "MCTSAgent": "search.agent",
    "NetworkAgent": "networks.network_agent",
    "Result": "evaluation.matches",
    "load_agent": "registry",
    "meet": "evaluation.matches",
    "table": "evaluation.matches",
}


def __getattr__(name: str) -> Any:
    """Import a name from its module when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


# Idle threads of GNU's OpenMP, which torch uses, then sleep instead of spinning. Beside one busy process, two
# threads keep most of their speed; spinning they fall to a third. Torch reads this once, when it is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "0")


def load(game: str | Game, num_players: int | None = None, **arguments: Any) -> NetworkAgent:
    """Return the trained agent that comes with a game; see `garden_agents.networks.network_agent.load`."""
    from garden_agents.networks import network_agent

    return network_agent.load(game, num_players, **arguments)
