"""Replays: a whole game in a small JSON file, verified when it is loaded.

A file holds the format, the game with its version and options, the content of its own data files and a digest of its
data, the seed of the deal, the label of every action, the final scores, how the game ended, and a checksum over all of
it. Loading plays the game again. It imports no code and opens no other file.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy, ask
from garden_core.checks import as_seed, one_line, short
from garden_core.errors import ReplayError
from garden_core.files.disk import read_regular, write_json
from garden_core.files.game_files import GameContent, checked, content_of, game_of
from garden_core.game import Game
from garden_core.jit import kernels
from garden_core.jit.rng import game_seed
from garden_core.registry import GameClass
from garden_core.render.svg import height_of, to_pixels

FORMAT = "garden-replay-1"
LIMIT = 10_000_000
"""Bytes that a replay's file may have."""


_KIND = "replay", ReplayError  # for what `game_files` raises


class _Content(GameContent, forbid_unknown_fields=True, kw_only=True):
    """The content of a replay file."""

    format: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    actions: list[str]
    scores: list[int]
    ended: Literal["terminated", "truncated", "running"]
    checksum: str


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
            ReplayError: for a seed outside 0 … 2**64 - 1, or if an action is unknown or illegal at its step; it
                names the step.
        """
        state = deque(_states(game, seed, actions), maxlen=1)[0]
        ended = "terminated" if state["terminated"] else "truncated" if state["truncated"] else "running"
        return cls(game, int(seed), tuple(actions), tuple(game.scores(state)), ended)

    def states(self) -> Iterator[Any]:
        """Yield the state record after the deal and after every action; a new record each time."""
        yield from _states(self.game, self.seed, self.actions)

    def decisions(self) -> Iterator[tuple[Any, tuple[int, int] | None]]:
        """Yield each state record, beginning with the deal, and the decision that led to it: seat and action."""
        last = None
        for state, label in zip(self.states(), (*self.actions, None), strict=True):
            yield state, last
            last = None if label is None else (int(state["current_player"]), self.game.labels.index(label))

    def frames(
        self, seat: int | None = None, width: int | None = None, every: int = 1, **look: Any
    ) -> Iterator[np.ndarray]:
        """Yield a picture of each position, uint8 (H, W, 3), with the last decision marked.

        All are as high as the highest: compact ones grow in some games, and the others are continued below.

        Args:
            seat: who looks; None: an onlooker, who sees all.
            width: in pixels; the height follows. None: the picture's own.
            every: yield the last position and each that is a multiple of `every` decisions before it.
            **look: `dark`, `compact`, `names` of `Game.svg`.

        Raises:
            ValueError: for a seat that does not exist, an `every` that is not positive, or a game that has no picture.
        """
        if every < 1:
            raise ValueError(f"every must be positive, not {every}")

        def drawn() -> Iterator[str]:
            shown = itertools.islice(self.decisions(), len(self.actions) % every, None, every)
            return (self.game.svg(state, seat, last=last, **look) for state, last in shown)

        height = len(to_pixels(max(drawn(), key=height_of), width))
        for picture in drawn():  # again, as a long game's pictures together take much memory
            pixels = to_pixels(picture, width)
            yield np.pad(pixels, ((0, height - len(pixels)), (0, 0), (0, 0)), mode="edge")

    def content(self) -> dict[str, Any]:
        """Return what a file holds, as plain JSON values."""
        content = {
            "format": FORMAT,
            **content_of(self.game),
            "seed": self.seed,
            "actions": list(self.actions),
            "scores": list(self.scores),
            "ended": self.ended,
        }
        return content | {"checksum": _checksum(content)}

    def save(self, path: str | Path) -> None:
        """Write the file; an existing one stays whole until the new one is complete."""
        write_json(Path(path), self.content())

    @classmethod
    def load(cls, path: str | Path, game: GameClass | None = None, data: str | Path | None = None) -> Replay:
        """Read and verify a file, or a page of `garden_core.render.film`, by playing it again.

        Args:
            game: of a game that is not installed its class or "module:Class", as a file's word imports no code.
            data: path of the data file, in place of the one that the replay carries. A replay never opens a path by
                itself.

        Raises:
            ReplayError: if it cannot be read, or as `parse`.
        """
        try:
            read = read_regular(path, LIMIT)
        except OSError as error:
            raise ReplayError(f"{path} cannot be read: {error.strerror}") from None
        except ValueError as error:
            raise ReplayError(f"{one_line(path)} is not a replay: {one_line(error)}") from None
        return cls.parse(read, str(path), game, data)

    @classmethod
    def parse(
        cls,
        text: bytes,
        path: str = "this file",
        game: GameClass | None = None,
        data: str | Path | None = None,
    ) -> Replay:
        """Return the replay that a file's bytes hold, as `load`; `path` is what messages call the file.

        Raises:
            ReplayError: if it is no replay, of another format, larger than `LIMIT` bytes, damaged or
                changed, of a game that is not installed or has other data or rules here, or if an action is illegal.
        """
        content = _read(text, path)
        played = game_of(path, content, game, data, _KIND)
        try:
            replay = cls.of(played, content.seed, content.actions)
        except ReplayError as error:
            raise ReplayError(f"{path}: {one_line(error)}") from None
        if (list(replay.scores), replay.ended) != (content.scores, content.ended):
            raise ReplayError(
                f"{path} ends {content.ended} with scores {short(content.scores)}, but plays here to {replay.ended} "
                f"with {list(replay.scores)}: other rules made it"
            )
        return replay


def _read(text: bytes, path: str) -> _Content:
    """Return what a replay's file holds, its size, format and checksum verified."""
    try:
        if len(text) > LIMIT:
            raise ValueError(f"it is larger than {LIMIT} bytes")
        content = json.loads(_in_page(text) if text.startswith(b"<!doctype html>") else text)
    except (ValueError, RecursionError) as error:
        raise ReplayError(f"{one_line(path)} is not a replay: {one_line(error)}") from None
    return checked(path, content, _Content, FORMAT, _checksum, _KIND)


def _in_page(page: bytes) -> bytes:
    """Return the replay that a page holds."""
    return page.partition(b'<script type="application/json" id="replay">')[2].partition(b"</script>")[0]


def record(game: Game, policies: Sequence[Policy], seed: int = 0) -> Replay:
    """Play game 0 of row 0 of `seed` with one policy a seat, and return its replay.

    Raises:
        ValueError: for a seed outside 0 … 2**64 - 1, not as many policies as seats, or a policy that answers wrongly.
    """
    if len(policies) != game.num_players:
        raise ValueError(f"{game.num_players} seats need as many policies, not {len(policies)}")
    batch = Batch(game, 1, autoreset=False)
    batch.reset(seed)
    dealt = int(game_seed(batch.seeds[0], batch.seed_rows[0], batch.episodes[0]))
    row = np.zeros(1, np.int64)
    actions = []
    while not batch.over[0]:
        chosen = ask(policies[batch.current_player[0]], batch, row)
        batch.step(chosen)
        actions.append(game.labels[chosen[0]])
    return Replay.of(game, dealt, actions)


def _states(game: Game, seed: int, actions: Sequence[str]) -> Iterator[Any]:
    try:
        dealt = as_seed(seed)
    except ValueError as error:
        raise ReplayError(str(error)) from None
    index = {label: action for action, label in enumerate(game.labels)}
    states = game.new_states(1)
    mask = np.zeros(game.num_actions, np.int8)
    kernels.deal(states[0], game.params[0], dealt)
    yield states.copy()[0]
    for step, label in enumerate(actions):
        action = index.get(label) if isinstance(label, str) else None
        if action is None:
            raise ReplayError(f"step {step}: {game.name} has no action {short(label)}")
        if not kernels.legal_actions(states[0], game.params[0], mask) or not mask[action]:
            raise ReplayError(f"step {step}: {label!r} is illegal there")
        kernels.apply_action(states[0], game.params[0], action)
        yield states.copy()[0]


def _checksum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
