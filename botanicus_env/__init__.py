"""Botanicus as a reinforcement-learning environment.

`botanicus_v0.env()` is the PettingZoo environment, `garden/Botanicus-v0` the Gymnasium one (registered on import), and
`garden_core.Batch(Botanicus())` runs many games at once. `load_tables` reads and checks a file with other values.
"""

from botanicus_env import botanicus_v0
from botanicus_env.game import Botanicus
from botanicus_env.tables import load as load_tables
from garden_core.interfaces.registration import register_environments

__all__ = ["Botanicus", "botanicus_v0", "load_tables"]

register_environments(Botanicus)
