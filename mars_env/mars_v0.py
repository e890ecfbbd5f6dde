"""The PettingZoo environment: `mars_v0.env(num_players=3, ...)`; options as in `mars_env.Mars`."""

import functools

from garden_core import aec
from mars_env.game import Mars

__all__ = ["env", "raw_env"]

env = functools.partial(aec.env, Mars)
raw_env = functools.partial(aec.GardenEnv, Mars)
