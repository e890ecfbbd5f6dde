"""Baseline agents, and the commands that train them, compare them and play against them.

Run `garden COMMAND`, or `python -m garden_agents COMMAND`; `garden --help` lists the commands.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garden_agents.evaluation.score import Score, score
    from garden_agents.matches.agent_checks import belief_calibration, check_agent
    from garden_agents.matches.meet import Result, meet, table
    from garden_agents.matches.mixed import MixedResult, meet_mixed, mixed_table
    from garden_agents.networks.all_seats import Values
    from garden_agents.networks.network_agent import NetworkAgent, load
    from garden_agents.networks.onnx_files import export_onnx
    from garden_agents.registry import load_agent
    from garden_agents.search.agent import MCTSAgent
    from garden_agents.search.beliefs import belief
    from garden_agents.training.returns import advantages
    from garden_agents.untrusted import untrusted_agent

__all__ = [
    "MCTSAgent",
    "MixedResult",
    "NetworkAgent",
    "Result",
    "Score",
    "Values",
    "advantages",
    "belief",
    "belief_calibration",
    "check_agent",
    "export_onnx",
    "load",
    "load_agent",
    "meet",
    "meet_mixed",
    "mixed_table",
    "score",
    "table",
    "untrusted_agent",
]

_MODULES = {
    "MCTSAgent": "search.agent",
    "MixedResult": "matches.mixed",
    "NetworkAgent": "networks.network_agent",
    "Result": "matches.meet",
    "Score": "evaluation.score",
    "Values": "networks.all_seats",
    "advantages": "training.returns",
    "belief": "search.beliefs",
    "belief_calibration": "matches.agent_checks",
    "check_agent": "matches.agent_checks",
    "export_onnx": "networks.onnx_files",
    "load": "networks.network_agent",
    "load_agent": "registry",
    "meet": "matches.meet",
    "meet_mixed": "matches.mixed",
    "mixed_table": "matches.mixed",
    "score": "evaluation.score",
    "table": "matches.meet",
    "untrusted_agent": "untrusted",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


# Makes idle threads of GNU's OpenMP, which torch uses, sleep instead of spin. Next to another busy process, two
# threads keep most of their speed; when they spin, a third of it. Torch reads this once, when it is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "0")
