"""The PettingZoo environment: `botanicus_v0.env(num_players=3, ...)`; options as in `botanicus_env.Botanicus`.

Example:
    >>> from botanicus_env import botanicus_v0
    >>> env = botanicus_v0.env(num_players=3)
    >>> env.reset(seed=1)
    >>> env.agent_selection, env.action_space("player_0")
    ('player_1', Discrete(81))
"""

from botanicus_env.game import Botanicus
from garden_core.interfaces import pettingzoo_env

env = raw_env = pettingzoo_env.module_env(Botanicus, __name__)
