"""garden-envs as an OpenEnv environment: a language model plays against a rated opponent."""

from .client import GardenEnv
from .models import GardenAction, GardenObservation

__all__ = ["GardenAction", "GardenEnv", "GardenObservation"]
