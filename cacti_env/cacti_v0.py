"""The PettingZoo environment: `cacti_v0.env(...)`; options as in `cacti_env.Cacti`."""

import functools

from cacti_env.game import Cacti
from garden_core import aec

__all__ = ["env", "raw_env"]

env = functools.partial(aec.env, Cacti)
raw_env = functools.partial(aec.GardenEnv, Cacti)
