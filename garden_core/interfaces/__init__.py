"""Interfaces to other libraries, one module each; names are imported from their modules on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from garden_core.interfaces.gymnasium_env import Env, VectorEnv
    from garden_core.interfaces.minari import to_minari
    from garden_core.interfaces.openspiel import BotPolicy, register_games
    from garden_core.interfaces.pettingzoo_env import GardenEnv, env
    from garden_core.interfaces.registration import register_environments
    from garden_core.interfaces.rllib import LearnerVectorEnv, MultiAgentGame
    from garden_core.interfaces.sb3 import GardenVecEnv
    from garden_core.interfaces.torch_dataset import TorchDataset
    from garden_core.interfaces.torchrl import BatchEnv, LearnerEnv

__all__ = [
    "BatchEnv",
    "BotPolicy",
    "Env",
    "GardenEnv",
    "GardenVecEnv",
    "LearnerEnv",
    "LearnerVectorEnv",
    "MultiAgentGame",
    "TorchDataset",
    "VectorEnv",
    "env",
    "register_environments",
    "register_games",
    "to_minari",
]

_MODULES = {
    "BatchEnv": "torchrl",
    "BotPolicy": "openspiel",
    "Env": "gymnasium_env",
    "GardenEnv": "pettingzoo_env",
    "GardenVecEnv": "sb3",
    "LearnerEnv": "torchrl",
    "LearnerVectorEnv": "rllib",
    "MultiAgentGame": "rllib",
    "TorchDataset": "torch_dataset",
    "VectorEnv": "gymnasium_env",
    "env": "pettingzoo_env",
    "register_environments": "registration",
    "register_games": "openspiel",
    "to_minari": "minari",
}


def __getattr__(name: str) -> Any:
    """Import a name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
