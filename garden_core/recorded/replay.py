"""Replays: a whole game in a small JSON file, verified on loading.

A file contains the format, the game with version and options, the content of its data files, a digest of its data, the seed
of the deal, the label of every action, the final scores, how the game ended, who played in each seat if that is known, and
a checksum of everything. Loading plays the game again; it imports no code and opens no other file.
"""

from __future__ import annotations

import itertools
import json
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np

from garden_core.batch.batch import Batch
from garden_core.batch.policies import Policy, ask
from garden_core.checks import as_seed, one_line, short
from garden_core.errors import ReplayError
from garden_core.files.disk import read_regular, write_json
from garden_core.files.formats import REPLAY, Ended, checksum, ended
from garden_core.game import Game
from garden_core.jit import kernels
from garden_core.recorded.game_files import GameContent, checked, content_of, game_of
from garden_core.registry import GameClass
from garden_core.render.svg import height_of, to_pixels

LIMIT = 10_000_000
"""Maximum size of a replay's file in bytes."""
LONGEST_NAME = 1000
"""Most characters of an agent's name in a file."""

_KIND = "replay", ReplayError  # for the errors of `game_files`


class _Content(GameContent, forbid_unknown_fields=True, kw_only=True):
    """The content of a replay file."""

    format: str
    seed: Annotated[int, msgspec.Meta(ge=0)]
    actions: list[str]
    scores: list[int]
    ended: Ended
    players: tuple[str, ...] = ()
    checksum: str


@dataclass(frozen=True)
class Replay:
    """One game from its deal to its end, or to the last recorded decision.

    Attributes:
        game: the game with its options.
        seed: uint64 of the deal.
        actions: label of every action, in order.
        scores: every seat's score after the last action.
        ended: "terminated", "truncated" or "running".
        players: who played in each seat, such as "network"; () if unknown. Replays of equal games are equal.

    Example:
        >>> from garden_core import RandomPolicy, make, record
        >>> replay = record(make("cacti"), [RandomPolicy(1), RandomPolicy(2)], seed=3)
        >>> replay.ended, len(replay.scores)
        ('terminated', 2)
    """

    game: Game
    seed: int
    actions: tuple[str, ...]
    scores: tuple[int, ...]
    ended: str
    players: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def of(cls, game: Game, seed: int, actions: Sequence[str], players: Sequence[str] = ()) -> Replay:
        """Play these actions and return their replay.

        Raises:
            ReplayError: for a seed outside 0 … 2**64 - 1, an unknown or illegal action (it names the step), or another number
                of players than of seats.
        """
        state = deque(_states(game, seed, actions), maxlen=1)[0]
        if players and len(players) != game.num_players:
            raise ReplayError(f"{game.num_players} seats need as many players, not {short(players)}")
        for name in players:
            if not (name.isprintable() and len(name) <= LONGEST_NAME):
                raise ReplayError(f"a player cannot be called {short(name)}")
        return cls(game, int(seed), tuple(actions), tuple(game.scores(state)), ended(state), tuple(players))

    def states(self) -> Iterator[Any]:
        """Iterate over new state records: after the deal and after every action."""
        return _states(self.game, self.seed, self.actions)

    def decisions(self) -> Iterator[tuple[Any, tuple[int, int] | None]]:
        """Yield each state record, from the deal on, with the decision that led to it: seat and action, or None."""
        last = None
        for state, label in zip(self.states(), (*self.actions, None), strict=True):
            yield state, last
            last = None if label is None else (int(state["current_player"]), self.game.labels.index(label))

    def frames(
        self, seat: int | None = None, width: int | None = None, every: int = 1, start: int = 0, **look: Any
    ) -> Iterator[np.ndarray]:
        """Yield a picture of each position, uint8 (H, W, 3), with the last decision marked.

        All have the height of the highest, as compact pictures grow in some games; the others are padded at the bottom.

        Args:
            seat: show the view of this seat; None shows everything.
            width: in pixels, with proportional height; None: the picture's own.
            every: yield the last position and every `every`-th before it.
            start: leave out the positions before decision `start`.
            **look: `dark`, `compact`, `names` of `Game.svg`.

        Raises:
            ValueError: for a seat that does not exist, an `every` that is not positive, a `start` after the end of the game,
                or a game without pictures.
        """
        if every < 1:
            raise ValueError(f"every must be positive, not {every}")
        if not 0 <= start <= len(self.actions):
            raise ValueError(f"start must be 0 to {len(self.actions)}, not {start}")
        first = start + (len(self.actions) - start) % every

        def drawn() -> Iterator[str]:
            shown = itertools.islice(self.decisions(), first, None, every)
            return (self.game.svg(state, seat, last=last, **look) for state, last in shown)

        height = len(to_pixels(max(drawn(), key=height_of), width))
        for picture in drawn():  # again, because all pictures of a long game need much memory
            pixels = to_pixels(picture, width)
            yield np.pad(pixels, ((0, height - len(pixels)), (0, 0), (0, 0)), mode="edge")

    def content(self) -> dict[str, Any]:
        """Return the content of a file, as plain JSON values."""
        content = {
            "format": REPLAY,
            **content_of(self.game),
            "seed": self.seed,
            "actions": list(self.actions),
            "scores": list(self.scores),
            "ended": self.ended,
        }
        if self.players:
            content["players"] = list(self.players)
        return content | {"checksum": checksum(content)}

    def save(self, path: str | Path) -> None:
        """Write the file; an existing one stays whole until the new one is complete."""
        write_json(Path(path), self.content())

    @classmethod
    def load(cls, path: str | Path, game: GameClass | None = None, data: str | Path | None = None) -> Replay:
        """Read a file, or a page of `garden_core.recorded.film`, and verify it by playing it again.

        Args:
            path: the file.
            game: the class, or "module:Class", of a game that is not installed; the file's own text never imports code.
            data: path of a data file that replaces the one in the replay. A path in the replay is never opened.

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
        """Return the replay in a file's bytes, as `load`; `path` is the file's name for messages.

        Raises:
            ReplayError: if it is no replay, has another format, more than `LIMIT` bytes, a wrong checksum or an illegal
                action, or if the game is not installed or has other data or rules here.
        """
        content = _read(text, path)
        played = game_of(path, content, game, data, _KIND)
        try:
            replay = cls.of(played, content.seed, content.actions, content.players)
        except ReplayError as error:
            raise ReplayError(f"{path}: {one_line(error)}") from None
        if (list(replay.scores), replay.ended) != (content.scores, content.ended):
            raise ReplayError(
                f"{path} ends {content.ended} with scores {short(content.scores)}, but plays here to {replay.ended} "
                f"with {list(replay.scores)}: other rules made it"
            )
        return replay


def _read(text: bytes, path: str) -> _Content:
    """Return the content of a replay's file, or of a page, after checking its size, format and checksum."""
    try:
        if len(text) > LIMIT:
            raise ValueError(f"it is larger than {LIMIT} bytes")
        if text.startswith(b"<!doctype html>"):
            start, end = b'<script type="application/json" id="replay">', b"</script>"
            text = text.partition(start)[2].partition(end)[0]
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ReplayError(f"{one_line(path)} is not a replay: {one_line(error)}") from None
    return checked(path, content, _Content, REPLAY, checksum, _KIND)


def record(game: Game, policies: Sequence[Policy], seed: int = 0, players: Sequence[str] = ()) -> Replay:
    """Play game 0 of row 0 of `seed` with one policy per seat, and return its replay.

    Args:
        game: the game.
        policies: the policy of each seat.
        seed: the seed of the deal.
        players: their names, for `Replay.players`.

    Raises:
        ValueError: for a seed outside 0 … 2**64 - 1, the wrong number of policies, or a policy's invalid answer.

    Example:
        >>> from garden_core import GreedyPolicy, RandomPolicy, make, record
        >>> replay = record(make("mars"), [GreedyPolicy(), RandomPolicy(1)], seed=42)
        >>> replay.scores[0] > replay.scores[1]
        True
    """
    if len(policies) != game.num_players:
        raise ValueError(f"{game.num_players} seats need as many policies, not {len(policies)}")
    batch = Batch(game, 1, autoreset=False)
    batch.reset(seed)
    labels = []
    while not batch.over[0]:
        actions = ask(policies[batch.current_player[0]], batch, batch.all_rows)
        batch.step(actions)
        labels.append(game.labels[actions[0]])
    return Replay.of(game, batch.game_seed(0), labels, players)


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
