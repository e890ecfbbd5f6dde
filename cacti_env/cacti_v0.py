"""The PettingZoo environment: `cacti_v0.env(...)`; options as in `cacti_env.Cacti`."""

from cacti_env.game import Cacti
from garden_core.interfaces import pettingzoo_env

env = raw_env = pettingzoo_env.module_env(Cacti, __name__)
