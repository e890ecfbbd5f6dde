"""What replays have in common wherever they are written, also on the page without a server. It imports nothing else."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Literal

REPLAY = "garden-replay-1"
"""Format of a replay."""
Ended = Literal["terminated", "truncated", "running"]
"""How the game of a replay ended."""


def ended(state: Any) -> Ended:
    """Return how the game in a state ended."""
    return "terminated" if state["terminated"] else "truncated" if state["truncated"] else "running"


def checksum(content: dict[str, Any]) -> str:
    """Return the checksum of a replay's content, plain JSON values without the checksum."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def digest_of_params(params: bytes) -> str:
    """Return the digest of a game's options and data (`Game.data_digest`), from the bytes of its params record."""
    return hashlib.sha256(params).hexdigest()[:16]
