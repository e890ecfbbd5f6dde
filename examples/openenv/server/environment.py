"""The environment: one game after another, each against a rated opponent."""

import os
import secrets
from typing import Any
from uuid import uuid4

from garden_agents.text.session import Session

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata, State

try:
    from ..models import GardenAction, GardenObservation
except ImportError:  # run from this folder
    from models import GardenAction, GardenObservation

GAME = os.environ.get("GARDEN_GAME", "mars")
OPPONENT = os.environ.get("GARDEN_OPPONENT", "greedy")


class GardenEnvironment(Environment[GardenAction, GardenObservation, State]):
    """A language model plays a game against an opponent; the reward comes at the end, -1 to 1."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self) -> None:
        super().__init__()
        self._session: Session | None = None
        self._state = State(episode_id=str(uuid4()), step_count=0)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        game: str = GAME,
        options: dict[str, Any] | None = None,
        opponent: str = OPPONENT,
        **session: Any,
    ) -> GardenObservation:
        """Begin a game; see `garden_agents.text.session.Session.requested` for the arguments."""
        if opponent is None:
            raise ValueError("opponent must be the name of an agent")
        seed = secrets.randbits(32) if seed is None else seed
        own = (OPPONENT,)
        self._session = Session.requested(game, options or {}, opponent, own, seed=seed, **session)
        self._state = State(episode_id=episode_id or str(uuid4()), step_count=0)
        return self._observation(self._session, 0.0)

    def step(self, action: GardenAction, timeout_s: float | None = None, **kwargs: Any) -> GardenObservation:
        """Take an answer."""
        session = self._session
        if session is None:
            raise RuntimeError("reset must come before step")
        before = session.rewards[session.seat]
        session.answer(action.text, action.finish)
        self._state.step_count += 1
        return self._observation(session, before)

    @property
    def state(self) -> State:
        """Episode and number of answers."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Name, description and version."""
        return EnvironmentMetadata(name="garden", description=str(type(self).__doc__), version="1.0.0")

    def _observation(self, session: Session, before: float) -> GardenObservation:
        return GardenObservation(
            messages=session.messages,
            result=session.result,
            done=session.done,
            outcomes=session.outcomes[session.seat],
            reward=float(session.rewards[session.seat] - before),
        )
