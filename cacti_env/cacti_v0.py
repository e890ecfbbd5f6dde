"""The PettingZoo environment: `cacti_v0.env(...)`; options as in `cacti_env.Cacti`."""

import functools

from cacti_env.game import Cacti
from garden_core.interfaces import pettingzoo_env

env = functools.partial(pettingzoo_env.env, Cacti)
raw_env = functools.partial(pettingzoo_env.GardenEnv, Cacti)
