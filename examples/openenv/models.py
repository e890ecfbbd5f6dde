"""Actions and observations of the environment."""

from pydantic import Field

from openenv.core.env_server.types import Action, Observation


class GardenAction(Action):
    """A language model's answer."""

    text: str = Field(
        ..., max_length=100_000, description="the answer, which ends with a line ACTION: <number or name>"
    )
    finish: str = Field("stop", description='why it ended; "length" at the limit of tokens is no answer')


class GardenObservation(Observation):
    """The conversation; the model must answer its last message unless `done`."""

    messages: list[dict[str, str]] = Field(default_factory=list, description="chat messages")
    outcomes: dict[str, int] = Field(
        default_factory=dict, description="how many answers were legal, illegal, unreadable and truncated"
    )
    result: str = Field("", description="the scores, once the game is over")
