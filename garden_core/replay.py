"""Replays: a whole game in a small JSON file, verified when it is loaded.

A file holds the format, the game with its options and a digest of its data, the seed of the deal, the label of
every action, the final scores, how the game ended, and a checksum over all of it. Loading plays the game again.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from garden_core import game as registry
from garden_core import kernels
from garden_core.batch import Batch
from garden_core.game import Game
from garden_core.policies import Policy
from garden_core.rng import game_seed

__all__ = ["FORMAT", "Replay", "ReplayError", "record", "write_atomically"]

FORMAT = "garden-replay-1"


class ReplayError(ValueError):
    """A replay that cannot be trusted or played; the message says why."""


@dataclass(frozen=True)
class Replay:
    """One game from its deal to its end (or as far as it was recorded).

    Attributes:
        game: the game with its options.
        seed: uint64 of the deal.
        actions: label of every action, in order.
        scores: every seat's score at the end of the record.
        ended: "terminated", "truncated" or "running".
    """

    game: Game
    seed: int
    actions: tuple[str, ...]
    scores: tuple[int, ...]
    ended: str

    @classmethod
    def of(cls, game: Game, seed: int, actions: Sequence[str]) -> Replay:
        """Return the replay of these actions, played out here.

        Raises:
            ReplayError: if an action is unknown or illegal where it stands; it names the step.
        """
        state = deque(_states(game, seed, actions), maxlen=1)[0]
        ended = "terminated" if state["terminated"] else "truncated" if state["truncated"] else "running"
        return cls(game, int(seed), tuple(actions), tuple(game.scores(state)), ended)

    def states(self) -> Iterator[Any]:
        """Yield the state record after the deal and after every action; a new record each time."""
        yield from _states(self.game, self.seed, self.actions)

    def save(self, path: str | Path) -> None:
        """Write the file; an existing one stays whole until the new one is complete."""
        content = {
            "format": FORMAT,
            "game": self.game.name,
            "options": self.game.chosen,
            "data": self.game.data_digest,
            "seed": self.seed,
            "actions": list(self.actions),
            "scores": list(self.scores),
            "ended": self.ended,
        }
        content["checksum"] = _checksum(content)
        write_atomically(Path(path), (json.dumps(content, indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> Replay:
        """Read and verify a file by playing it again.

        Raises:
            ReplayError: if it is no replay, of another format, damaged or changed, of a game that is not
                installed or has other data or rules here, or if an action is illegal.
            OSError: if the file cannot be read.
        """
        try:
            content = json.loads(Path(path).read_text(encoding="utf-8"))
        except ValueError as error:
            raise ReplayError(f"{path} is not a replay: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            found = content.get("format") if isinstance(content, dict) else None
            raise ReplayError(f"{path} is not a replay of format {FORMAT!r} (found {found!r})")
        claimed = content.pop("checksum", None)
        if claimed != _checksum(content):
            raise ReplayError(f"{path} was changed or damaged: its checksum does not fit")
        try:
            game = registry.make(content["game"], **content["options"])
            seed, actions, data = int(content["seed"]), list(content["actions"]), content["data"]
            scores, ended = tuple(content["scores"]), content["ended"]
        except (KeyError, TypeError, ValueError) as error:
            raise ReplayError(f"{path} cannot be played here: {error}") from None
        if game.data_digest != data:
            raise ReplayError(
                f"{path} was played with other data or options of {game.name} ({data}) than here"
            )
        replay = cls.of(game, seed, actions)
        if (replay.scores, replay.ended) != (scores, ended):
            raise ReplayError(
                f"{path} ends {ended} with scores {list(scores)}, but plays here to {replay.ended} with "
                f"{list(replay.scores)}: other rules made it"
            )
        return replay


def record(game: Game, policies: Sequence[Policy], seed: int = 0) -> Replay:
    """Play game 0 of row 0 of `seed` with one policy a seat, and return its replay."""
    batch = Batch(game, 1, autoreset=False)
    batch.reset(seed)
    dealt = int(game_seed(batch.bases[0], batch.streams[0], batch.games[0]))
    row = np.zeros(1, np.int64)
    actions = []
    while not (batch.terminated[0] or batch.truncated[0]):
        chosen = np.asarray(policies[batch.current_player[0]](batch, row), np.int64)
        batch.step(chosen)
        actions.append(game.labels[chosen[0]])
    return Replay.of(game, dealt, actions)


def write_atomically(path: Path, content: bytes) -> None:
    """Write to a temporary file beside `path` and rename it, so that no crash leaves half a file."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(content)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _states(game: Game, seed: int, actions: Sequence[str]) -> Iterator[Any]:
    index = {label: action for action, label in enumerate(game.labels)}
    states = game.new_states(1)
    mask = np.zeros(game.num_actions, np.int8)
    kernels.deal(states[0], game.params[0], np.uint64(seed))
    yield states.copy()[0]
    for step, label in enumerate(actions):
        action = index.get(label)
        if action is None:
            raise ReplayError(f"step {step}: {game.name} has no action {label!r}")
        if not kernels.legal_actions(states[0], game.params[0], mask) or not mask[action]:
            raise ReplayError(f"step {step}: {label!r} is illegal there")
        kernels.apply_action(states[0], game.params[0], action)
        yield states.copy()[0]


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
