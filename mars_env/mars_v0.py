"""The PettingZoo environment: `mars_v0.env(num_players=3, ...)`; options as in `mars_env.Mars`."""

import functools

from garden_core.interfaces import pettingzoo_env
from mars_env.game import Mars

env = functools.partial(pettingzoo_env.env, Mars)
raw_env = functools.partial(pettingzoo_env.GardenEnv, Mars)
