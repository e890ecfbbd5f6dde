"""The PettingZoo environment: `botanicus_v0.env(num_players=3, ...)`; options as in `botanicus_env.Botanicus`."""

from botanicus_env.game import Botanicus
from garden_core.interfaces import pettingzoo_env

env = raw_env = pettingzoo_env.module_env(Botanicus, __name__)
