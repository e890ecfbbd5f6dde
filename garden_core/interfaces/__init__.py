"""Clients of other libraries, one module each; a name is imported from its module when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from garden_core.lazy import exports

if TYPE_CHECKING:
    from garden_core.interfaces.gymnasium_env import Env, VectorEnv
    from garden_core.interfaces.minari import to_minari
    from garden_core.interfaces.openspiel import BotPolicy, register_games
    from garden_core.interfaces.pettingzoo_env import GardenEnv, env
    from garden_core.interfaces.registration import register_environments
    from garden_core.interfaces.rllib import MultiAgentGame
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
    "MultiAgentGame",
    "TorchDataset",
    "VectorEnv",
    "env",
    "register_environments",
    "register_games",
    "to_minari",
]

__getattr__ = exports(
    __name__,
    {
        "gymnasium_env": ("Env", "VectorEnv"),
        "minari": ("to_minari",),
        "openspiel": ("BotPolicy", "register_games"),
        "pettingzoo_env": ("GardenEnv", "env"),
        "registration": ("register_environments",),
        "rllib": ("MultiAgentGame",),
        "sb3": ("GardenVecEnv",),
        "torch_dataset": ("TorchDataset",),
        "torchrl": ("BatchEnv", "LearnerEnv"),
    },
)
