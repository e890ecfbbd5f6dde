"""Cacti as a reinforcement-learning environment.

`cacti_v0.env()` is the PettingZoo environment, `garden/Cacti-v0` the Gymnasium one (registered on import), and
`garden_core.Batch(Cacti())` runs many games at once. `load_cards` reads and checks a file with other cards.
"""

from cacti_env import cacti_v0
from cacti_env.cards import load as load_cards
from cacti_env.game import Cacti
from garden_core.interfaces.registration import register_environments

__all__ = ["Cacti", "cacti_v0", "load_cards"]

register_environments(Cacti)
