"""The client."""

from typing import Any

from openenv.core import EnvClient
from openenv.core.client_types import StepResult
from openenv.core.env_server.types import State

from .models import GardenAction, GardenObservation


class GardenEnv(EnvClient[GardenAction, GardenObservation, State]):
    """Client of a running server.

    Example:
        >>> with GardenEnv(base_url="http://localhost:8000").sync() as env:
        ...     step = env.reset(seed=1, game="cacti", opponent="greedy")
        ...     while not step.done:
        ...         answer = model(step.observation.messages)
        ...         step = env.step(GardenAction(text=answer))
        ...     print(step.reward)
    """

    def _step_payload(self, action: GardenAction) -> dict[str, Any]:
        return {"text": action.text, "finish": action.finish}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[GardenObservation]:
        reward, done = payload.get("reward"), payload.get("done", False)
        seen = payload.get("observation", {})
        observation = GardenObservation(**{**seen, "done": done, "reward": reward})
        return StepResult(observation=observation, reward=reward, done=done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)
