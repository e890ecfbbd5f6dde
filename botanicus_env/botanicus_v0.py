"""The PettingZoo environment: `botanicus_v0.env(num_players=3, ...)`; options as in `botanicus_env.Botanicus`."""

import functools

from botanicus_env.game import Botanicus
from garden_core import aec

__all__ = ["env", "raw_env"]

env = functools.partial(aec.env, Botanicus)
raw_env = functools.partial(aec.GardenEnv, Botanicus)
