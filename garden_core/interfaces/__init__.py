"""Interfaces to other libraries, one module each; names are imported from their modules on first use."""

from __future__ import annotations

import importlib
from importlib.util import find_spec
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


_LIBRARIES = {
    "minari": "minari",
    "openspiel": "pyspiel",
    "rllib": "ray",
    "sb3": "stable_baselines3",
    "torch_dataset": "torch",
    "torchrl": "torchrl",
}
"""Libraries that interfaces need, by module; `from garden_core.interfaces import *` leaves those out that are not installed."""


def _is_installed(library: str) -> bool:
    try:
        return find_spec(library) is not None
    except ValueError:  # as of a module that is None in sys.modules
        return False


if not TYPE_CHECKING:
    _usable = {module for module in _MODULES.values() if _is_installed(_LIBRARIES.get(module, "numpy"))}
    __all__ = [name for name, module in _MODULES.items() if module in _usable]


def __getattr__(name: str) -> Any:
    """Import a name from its module on first use."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
