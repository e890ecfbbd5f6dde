"""Datasets: many games in a small file, a byte or two for each decision; loading plays them again.

A file holds, in the format safetensors, the seed of every deal, all actions, who sat where, who gave up and the final
scores; as JSON
the game with its version and options, the content of its own data files and a digest of its data, the agents' names, and
a checksum over all of it. Observations, action masks and rewards are not in it: they are computed when they are asked
for. Loading imports no code and opens no other file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np

from garden_core.batch.seats import FORFEITED
from garden_core.checks import as_integer, as_seed, one_line, short
from garden_core.errors import DatasetError
from garden_core.files import array_files, recorded
from garden_core.files.game_files import GameContent, checked, content_of, game_of
from garden_core.files.recorded import Games
from garden_core.files.replay import Replay
from garden_core.game import Game
from garden_core.jit import loops
from garden_core.registry import GameClass

Decisions = recorded.Decisions
FORMAT = "garden-dataset-1"
KEY = "dataset"
LIMIT = 500_000_000
"""Bytes that a dataset's file may have."""
MOST_AGENTS = 256
LONGEST_NAME = 1000  # of an agent, characters
CHUNK = 16_384  # decisions that are played at a time


_KIND = "dataset", DatasetError  # for what `game_files` raises


class Record(NamedTuple):
    """Games as a file has them.

    Attributes:
        seeds: uint64 (G,), seed of each deal.
        lengths: int32 (G,), decisions of each game.
        actions: uint8, or uint16 in a game of more than 256 actions, (D,): the actions of all games, one game after another.
        lineups: uint8 (G, num_players), who sat where: indexes into the agents.
        forfeited: int8 (G,), the seat that gave the game up when it was to move, -1 for none. That game ends there; its
            scores are those of the last position. None: no game was given up.
    """

    seeds: np.ndarray
    lengths: np.ndarray
    actions: np.ndarray
    lineups: np.ndarray
    forfeited: np.ndarray | None = None


class _Content(GameContent, forbid_unknown_fields=True, kw_only=True):
    """The metadata of a dataset file."""

    format: str
    agents: list[str]
    seed: Annotated[int, msgspec.Meta(ge=0)]
    library: str  # version of garden-envs, when it was written
    checksum: str


class Dataset:
    """Finished games and games that were given up, played again on construction, whose decisions can be asked for.

    Args:
        game: the game with its options.
        agents: names of the agents that played, 1 to 256.
        record: the games: whole numbers in arrays of the shapes of `Record`, at least one game.
        seed: the seed that all was played with, for the record; each game has its own.

    Attributes:
        game, seed: as given.
        agents: tuple of names.
        record: `Record`. This and all other arrays of the dataset are read-only.
        scores: int32 (G, num_players), every seat's points at the end.
        returns: float32 (G, num_players), the sum of every seat's rewards: with `reward="outcome"` its outcome. Who gives
            a game up receives -1 for it, and the others nothing.
        num_decisions: number of decisions of all games.

    Raises:
        DatasetError: for arrays that do not fit together, an action that is illegal at its step, or a game that is
            not played to its end or given up by the seat to move; it names the game, counted from 0.
    """

    def __init__(self, game: Game, agents: Sequence[str], record: Record, seed: int = 0) -> None:
        self.game = game
        check_names(agents)
        self.agents = tuple(agents)
        self.record = _checked(game, len(self.agents), record)
        try:
            self.seed = int(as_seed(seed))
        except ValueError as error:
            raise DatasetError(str(error)) from None
        assert self.record.forfeited is not None
        self._forfeited = self.record.forfeited
        lengths = self.record.lengths.astype(np.int64)
        self._games = Games(self.record.seeds, np.cumsum(lengths) - lengths, lengths, self.record.actions)
        self.num_decisions = len(self.record.actions)
        shape = (len(self), game.num_players)
        self.scores, self.returns = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        for games in self._blocks(np.arange(len(self)), CHUNK):
            self._play(games)
        self.scores.flags.writeable = self.returns.flags.writeable = False

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.record.seeds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle what the constructor takes."""
        return (Dataset, (self.game, self.agents, self.record, self.seed))

    def __repr__(self) -> str:
        """Show the game, the agents and how much there is."""
        agents = ", ".join(self.agents)
        return f"<{len(self):,} games of {self.game!r}, {self.num_decisions:,} decisions, by {agents}>"

    # --- decisions ---

    def expand(self, games: Any = None) -> Decisions:
        """Return the decisions of some games, or of all.

        Args:
            games: what chooses of an array of all games: a number, numbers in any order, a slice, or bools (G,).

        Raises:
            IndexError: for a game that does not exist, or anything else that chooses none.
        """
        chosen = self.numbers(games)
        n, players = int(self._games.lengths[chosen].sum()), self.game.num_players
        decisions = Decisions(
            observation=np.zeros((n, self.game.observation_size), np.int8),
            action_mask=np.zeros((n, self.game.num_actions), np.int8),
            action=np.zeros(n, np.int64),
            player=np.zeros(n, np.int64),
            agent=np.zeros(n, np.int64),
            reward=np.zeros(n, np.float32),
            return_to_go=np.zeros(n, np.float32),
            game=np.repeat(chosen, self._games.lengths[chosen]),
            last=np.zeros(n, np.bool_),
        )
        latest, sums = np.zeros(players, np.int64), np.zeros(players, np.float32)
        states = self.game.new_states(len(chosen))
        recorded.expand(self._of(chosen), self.game.params, states, decisions, latest, sums)
        gave_up = self._forfeited[decisions.game] == decisions.player
        decisions.return_to_go[gave_up] += FORFEITED
        decisions.reward[gave_up & decisions.last] += FORFEITED
        decisions.agent[:] = self.record.lineups[decisions.game, decisions.player]
        return decisions._replace(observation=decisions.observation.reshape(n, *self.game.observation_shape))

    def chunks(self, games: Any = None, size: int = CHUNK) -> Iterator[Decisions]:
        """Return the decisions of some games, or of all, in chunks of whole games: memory for one chunk is enough.

        Args:
            games: as for `expand`.
            size: number of decisions that a chunk may have; a longer game is its own chunk.

        Raises:
            IndexError: as `expand`.
            ValueError: for a size below 1.
        """
        as_integer(size, "size", "at least 1", 1)
        return map(self.expand, self._blocks(self.numbers(games), size))

    def final_states(self, games: Any = None) -> np.ndarray:
        """Return the state records in which some games, or all, ended, (k,).

        Args:
            games: as for `expand`.

        Raises:
            IndexError: as `expand`.
        """
        return self._replay(self.numbers(games))[0]

    def replay(self, game: int) -> Replay:
        """Return a game as a replay.

        Raises:
            IndexError: for a game that does not exist.
            ValueError: for anything but a whole number.
        """
        number = as_integer(game, "game")
        seeds, starts, lengths, _ = self._games
        actions = self.record.actions[starts[number] : starts[number] + lengths[number]]
        return Replay.of(self.game, int(seeds[number]), [self.game.labels[action] for action in actions])

    def numbers(self, games: Any = None) -> np.ndarray:
        """Return the numbers of some games, or of all, int64 (k,), as `expand` takes and chooses them."""
        every = np.arange(len(self))
        chosen = np.atleast_1d(every if games is None else every[games])
        if chosen.ndim > 1:
            raise IndexError(f"games must be chosen in one dimension, not {short(games)}")
        return chosen

    def _of(self, chosen: np.ndarray) -> Games:
        seeds, starts, lengths, actions = self._games
        return Games(seeds[chosen], starts[chosen], lengths[chosen], actions)

    def _blocks(self, chosen: np.ndarray, size: int) -> Iterator[np.ndarray]:
        """Yield `chosen` in parts of at most `size` decisions, but of one game at least."""
        ends = np.cumsum(self._games.lengths[chosen])
        first = 0
        while first < len(chosen):
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + size, "right")))
            yield chosen[first:last]
            first = last

    def _replay(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return of each game the last state, the decisions that were legal, int64 (k,), and its returns."""
        states, played = self.game.new_states(len(chosen)), np.zeros(len(chosen), np.int64)
        returns = np.zeros((len(chosen), self.game.num_players), np.float32)
        mask = np.zeros(self.game.num_actions, np.int8)
        recorded.play_again(self._of(chosen), self.game.params, states, mask, played, returns)
        return states, played, returns

    def _play(self, chosen: np.ndarray) -> None:
        """Play some games again and note how they end.

        Raises:
            DatasetError: if that cannot be.
        """
        states, played, self.returns[chosen] = self._replay(chosen)
        over = (states["terminated"] | states["truncated"]) != 0
        lengths, seats = self._games.lengths[chosen], self._forfeited[chosen]
        ended = np.where(seats < 0, over, ~over & (seats == states["current_player"]))
        wrong = np.flatnonzero((played < lengths) | ~ended)
        if len(wrong):
            i = int(wrong[0])
            raise DatasetError(f"game {chosen[i]}: {self._why(chosen[i], int(played[i]), bool(over[i]))}")
        given_up = np.flatnonzero(seats >= 0)
        self.returns[chosen[given_up], seats[given_up]] += FORFEITED
        self.scores[chosen] = loops.by_seat(loops.points_rows, self.game, states)

    def _why(self, game: int, played: int, over: bool) -> str:
        """Say why a game is not one from the deal to its end."""
        length, seat = self._games.lengths[game], self._forfeited[game]
        if played == length and seat >= 0:
            return f"after its {length} decisions it was not for seat {seat} to give it up"
        if played == length:
            return f"it is not over after its {length} decisions"
        if over:
            return f"it is over after {played} of its {length} decisions"
        action = int(self.record.actions[self._games.starts[game] + played])
        return f"step {played}: {self.game.labels[action]!r} is illegal there"

    # --- files ---

    def save(self, path: str | Path) -> None:
        """Write the file; an existing one stays whole until the new one is complete.

        Raises:
            OSError: if the disk is full or the folder cannot be written.
            ValueError: if the file would be larger than `LIMIT` bytes.
        """
        content = {
            "format": FORMAT,
            **content_of(self.game),
            "agents": list(self.agents),
            "seed": self.seed,
            "library": version("garden-envs"),
        }
        arrays = {**self.record._asdict(), "scores": self.scores}
        if (self._forfeited < 0).all():  # as in files that earlier versions can read
            del arrays["forfeited"]
        whole = content | {"checksum": _checksum(content, arrays)}
        array_files.write(Path(path), arrays, KEY, whole, LIMIT)

    @classmethod
    def load(cls, path: str | Path, game: GameClass | None = None, data: str | Path | None = None) -> Dataset:
        """Read and verify a file, by playing its games again.

        Args:
            path: the file.
            game: of a game that is not installed its class or "module:Class", as a file's word imports no code.
            data: path of the data file, in place of the one that the dataset carries. A dataset never opens a path by
                itself.

        Raises:
            DatasetError: if it cannot be read, is no dataset, of another format, larger than `LIMIT` bytes, damaged or
                changed, of a game that is not installed or has other data or rules here, or as the class.
        """
        content, arrays = _read(path)
        played = game_of(path, content, game, data, _KIND)
        scores = arrays.pop("scores")
        try:
            for name, kind in record_types(played).items():
                if name in arrays and arrays[name].dtype != kind:
                    raise DatasetError(f"its {name} are {arrays[name].dtype}, not {kind}")
            dataset = cls(played, content.agents, Record(**arrays), content.seed)
        except DatasetError as error:
            raise DatasetError(f"{path}: {one_line(error)}") from None
        if not np.array_equal(dataset.scores, scores):
            raise DatasetError(f"{path}: a game ends here with other scores: other rules made it")
        return dataset


def check_names(agents: Sequence[str]) -> None:
    """Raise DatasetError unless a dataset may give these names of agents."""
    if isinstance(agents, str) or not 1 <= len(agents) <= MOST_AGENTS:
        raise DatasetError(f"agents must be 1 to {MOST_AGENTS} names, not {short(agents)}")
    for name in agents:
        if not (isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_NAME):
            raise DatasetError(f"an agent cannot be called {short(name)}")


def record_types(game: Game) -> dict[str, np.dtype]:
    """Return the type of each array of a `Record`."""
    action = np.uint8 if game.num_actions <= 256 else np.uint16
    kinds = (np.uint64, np.int32, action, np.uint8, np.int8)
    return {name: np.dtype(kind) for name, kind in zip(Record._fields, kinds, strict=True)}


def _checked(game: Game, agents: int, given: Record) -> Record:
    """Return copies of the arrays in the types of `Record`, read-only, after checking that they fit together."""
    n = np.size(given.seeds)
    if given.forfeited is None:
        given = given._replace(forfeited=np.full(n, -1, np.int8))
    arrays = {name: np.asarray(array) for name, array in given._asdict().items()}
    shapes = {
        "seeds": (n,),
        "lengths": (n,),
        "actions": (arrays["actions"].size,),
        "lineups": (n, game.num_players),
        "forfeited": (n,),
    }
    if not n:
        raise DatasetError("there are no games")
    if n == np.count_nonzero(np.equal(arrays["lengths"], 0)):
        raise DatasetError("there are no decisions")
    ranges = {
        "seeds": (0, 2**64 - 1),
        "lengths": (0 if np.any(arrays["forfeited"] != -1) else 1, game.max_game_length),
        "actions": (0, game.num_actions - 1),
        "lineups": (0, agents - 1),
        "forfeited": (-1, game.num_players - 1),
    }
    copies = {}
    for name, kind in record_types(game).items():
        array, (low, high) = arrays[name], ranges[name]
        if array.shape != shapes[name]:
            raise DatasetError(f"{name} must have shape {shapes[name]}, not {array.shape}")
        if (
            array.dtype.kind not in "iu"
            or not array.size
            or int(array.min()) < low
            or int(array.max()) > high
        ):
            raise DatasetError(f"{name} must be whole numbers from {low} to {high}")
        copies[name] = np.array(array, kind)
        copies[name].flags.writeable = False
    total, actions = int(copies["lengths"].sum(dtype=np.int64)), len(copies["actions"])
    if total != actions:
        raise DatasetError(f"the games have {total:,} decisions, and there are {actions:,} actions")
    return Record(**copies)


def _read(path: str | Path) -> tuple[_Content, dict[str, np.ndarray]]:
    """Return what a file holds, its size, format and checksum verified."""
    try:
        arrays, content, _ = array_files.read(Path(path), KEY, dict[str, Any], LIMIT)
    except ValueError as error:
        raise DatasetError(f"{one_line(path)} is not a dataset: {one_line(error)}") from None

    def digest(content: dict[str, Any]) -> str:
        if arrays.keys() | {"forfeited"} != {*Record._fields, "scores"}:
            raise ValueError(f"its arrays are {short(sorted(arrays))}")
        return _checksum(content, arrays)

    return checked(path, content, _Content, FORMAT, digest, _KIND), arrays


def _checksum(content: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> str:
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"{name} {array.dtype.str} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
