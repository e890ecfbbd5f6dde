"""Language models as players: prompts, the actions that answers name, and a policy around any model."""

from garden_agents.text.agent import Completion, Counts, TextAgent
from garden_agents.text.answers import AnswerError, parse
from garden_agents.text.disguises import Disguise, private_data
from garden_agents.text.prompts import prompt

__all__ = ["AnswerError", "Completion", "Counts", "Disguise", "TextAgent", "parse", "private_data", "prompt"]
