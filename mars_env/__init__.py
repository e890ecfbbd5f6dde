"""Gardens of Mars as a reinforcement-learning environment.

`mars_v0.env()` is the PettingZoo environment, `garden/Mars-v0` the Gymnasium one (registered on import), and
`garden_core.Batch(Mars())` runs many games at once.
"""

from garden_core.interfaces.registration import register_environments
from mars_env import mars_v0
from mars_env.game import Mars

__all__ = ["Mars", "mars_v0"]

register_environments(Mars)
