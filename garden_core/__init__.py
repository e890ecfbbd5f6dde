"""What all games share: the Game contract and its registry, batches of games, and the usual interfaces.

Import what you need from here; `garden_core.kernels` has the generic functions for your own compiled code.
Gymnasium, PettingZoo and Stable-Baselines3 interfaces are in `garden_core.interfaces`.
"""

from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.jit import compiled
from garden_core.options import Option
from garden_core.registry import list_games, make

__all__ = ["Batch", "Game", "Option", "compiled", "list_games", "make"]
