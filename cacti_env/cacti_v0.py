"""The PettingZoo environment: `cacti_v0.env(...)`; options as in `cacti_env.Cacti`.

Example:
    >>> from cacti_env import cacti_v0
    >>> env = cacti_v0.env()
    >>> env.reset(seed=1)
    >>> env.agent_selection, env.action_space("player_0")
    ('player_0', Discrete(35))
"""

from cacti_env.game import Cacti
from garden_core.interfaces import pettingzoo_env

env = raw_env = pettingzoo_env.module_env(Cacti, __name__)
