"""The PettingZoo environment: `mars_v0.env(num_players=3, ...)`; options as in `mars_env.Mars`.

Example:
    >>> from mars_env import mars_v0
    >>> env = mars_v0.env(num_players=3)
    >>> env.reset(seed=1)
    >>> env.agent_selection, env.action_space("player_0")
    ('player_0', Discrete(103))
"""

from garden_core.interfaces import pettingzoo_env
from mars_env.game import Mars

env = raw_env = pettingzoo_env.module_env(Mars, __name__)
