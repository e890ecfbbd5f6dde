"""The core of all games: the class Game and its registry, batches of games, replays and datasets.

`kernels` has the generic functions for your own compiled code. Environments for other libraries (Gymnasium, PettingZoo,
Stable-Baselines3, ...) are in `garden_core.interfaces`.
"""

from garden_core.batch.batch import Batch
from garden_core.batch.learner import Learner
from garden_core.batch.policies import GreedyPolicy, Policy, RandomPolicy
from garden_core.errors import (
    DatasetError,
    GardenError,
    IllegalActionError,
    PositionError,
    ReplayError,
    UntrustedError,
)
from garden_core.game import Game, Part
from garden_core.jit import compiled, kernels
from garden_core.options import Option
from garden_core.recorded.dataset import Dataset
from garden_core.recorded.film import picture, save_film, save_page
from garden_core.recorded.replay import Replay, record
from garden_core.registry import list_games, make, untrusted_game

__all__ = [
    "Batch",
    "Dataset",
    "DatasetError",
    "Game",
    "GardenError",
    "GreedyPolicy",
    "IllegalActionError",
    "Learner",
    "Option",
    "Part",
    "Policy",
    "PositionError",
    "RandomPolicy",
    "Replay",
    "ReplayError",
    "UntrustedError",
    "compiled",
    "kernels",
    "list_games",
    "make",
    "picture",
    "record",
    "save_film",
    "save_page",
    "untrusted_game",
]
