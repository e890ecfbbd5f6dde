"""The PettingZoo environment: `mars_v0.env(num_players=3, ...)`; options as in `mars_env.Mars`."""

from garden_core.interfaces import pettingzoo_env
from mars_env.game import Mars

env = raw_env = pettingzoo_env.module_env(Mars, __name__)
