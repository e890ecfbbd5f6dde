"""Language models as players: prompts, the actions that answers name, and a policy around any model."""

from garden_agents.text.agent import Counts, TextAgent
from garden_agents.text.answers import AnswerError, parse
from garden_agents.text.disguises import Disguise, private_data
from garden_agents.text.prompts import prompt
from garden_agents.text.transcripts import Completion

__all__ = ["AnswerError", "Completion", "Counts", "Disguise", "TextAgent", "parse", "private_data", "prompt"]
