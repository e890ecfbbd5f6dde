"""Hints for Cacti: the cards that a seat has from the deal on."""

from __future__ import annotations

from pathlib import Path

from cacti_env.game import Cacti
from garden_agents.games import Hints, register

register(Cacti, Hints(private_fields=("bonus", "basic_in_hand"), folder=Path(__file__).parent))
