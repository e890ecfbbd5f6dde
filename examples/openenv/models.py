"""Actions and observations of the environment."""

from pydantic import Field

from openenv.core.env_server.types import Action, Observation


class GardenAction(Action):
    """A language model's answer."""

    text: str = Field(
        ..., max_length=100_000, description="the answer, which ends with a line ACTION: <number or name>"
    )


class GardenObservation(Observation):
    """The conversation; the model must answer its last message unless `done`."""

    messages: list[dict[str, str]] = Field(default_factory=list, description="chat messages")
    result: str = Field("", description="the scores, once the game is over")
