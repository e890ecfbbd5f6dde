"""The PettingZoo environment: `botanicus_v0.env(num_players=3, ...)`; options as in `botanicus_env.Botanicus`."""

import functools

from botanicus_env.game import Botanicus
from garden_core.interfaces import pettingzoo_env

env = functools.partial(pettingzoo_env.env, Botanicus)
raw_env = functools.partial(pettingzoo_env.GardenEnv, Botanicus)
