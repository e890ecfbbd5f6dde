"""Datasets: many games in a small file, one or two bytes per decision; loading plays them again.

A file is in the safetensors format. Its arrays are the seeds of the deals, all actions, the lineups, the seats that gave up,
the final scores and, if they were recorded, the probabilities of the actions. Its metadata is JSON: the game with version and
options, the content of its data files, a digest of its data, the agents' names, and a checksum of everything. Observations,
action masks and rewards are computed on request. Loading imports no code and opens no other file.
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
from garden_core.checks import SEEDS, as_integer, as_seed, one_line, short
from garden_core.errors import DatasetError
from garden_core.files import array_files
from garden_core.game import Game
from garden_core.jit import loops
from garden_core.recorded.decisions import Decisions, Following, PlayedGames, expand, play_again
from garden_core.recorded.game_files import GameContent, checked, content_of, game_of
from garden_core.recorded.replay import LONGEST_NAME, Replay
from garden_core.registry import GameClass

FORMAT = "garden-dataset-1"
KEY = "dataset"
LIMIT = 500_000_000
"""Maximum size of a dataset's file in bytes."""
MOST_AGENTS = 256
CHUNK = 16_384  # decisions played at a time

_KIND = "dataset", DatasetError  # for the errors of `game_files`


class Record(NamedTuple):
    """Games in the form of a file.

    Attributes:
        seeds: uint64 (G,), seed of each deal.
        lengths: int32 (G,), decisions of each game.
        actions: uint8, or uint16 if the game has more than 256 actions, (D,): the actions of all games, in sequence.
        lineups: uint8 (G, num_players), the agent of each seat, as an index into the agents.
        forfeited: int8 (G,), the seat that gave up the game on its turn, -1 for none. The game ends there with the scores of
            the last position. None: no game was given up.
        probabilities: float32 (D,), the probability with which the agent chose each action, NaN where unknown. None: all are
            unknown.
    """

    seeds: np.ndarray
    lengths: np.ndarray
    actions: np.ndarray
    lineups: np.ndarray
    forfeited: np.ndarray | None = None
    probabilities: np.ndarray | None = None


class _Content(GameContent, forbid_unknown_fields=True, kw_only=True):
    """The metadata of a dataset file."""

    format: str
    agents: list[str]
    seed: Annotated[int, msgspec.Meta(ge=0)]
    library: str  # version of garden-envs that wrote it
    checksum: str


class Dataset:
    """Finished or given-up games, verified on construction by playing them; computes their decisions on request.

    Args:
        game: the game with its options.
        agents: names of the agents that played, 1 to 256.
        record: the games: arrays with the shapes of `Record`, at least one game.
        seed: the seed of the whole series, for information; each game has its own.

    Attributes:
        game, seed: as given.
        agents: tuple of names.
        record: `Record`; `probabilities` is None if all are unknown. All arrays of the dataset are read-only.
        scores: int32 (G, num_players), every seat's points at the end.
        returns: float32 (G, num_players), the sum of every seat's rewards: with `reward="outcome"` its outcome. A seat
            that gives up receives -1, the others 0.
        num_decisions: number of decisions of all games.

    Raises:
        DatasetError: for arrays that do not fit together, an illegal action, or a game that neither reaches its end nor is
            given up by the player to move; it names the game, counted from 0.

    Example:
        >>> from garden_core import Dataset
        >>> dataset = Dataset.load("games.safetensors")  # written by `garden record`
        >>> dataset
        <20 games of Cacti(), 484 decisions, by random, greedy>
        >>> decisions = dataset.expand(games=0)
        >>> decisions.observation.shape == (dataset.record.lengths[0], 113)
        True
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
        seeds, lengths, actions, _, forfeited, _ = self.record
        assert forfeited is not None
        self._forfeited = forfeited
        self._games = PlayedGames(seeds, np.cumsum(lengths) - lengths, lengths.astype(np.int64), actions)
        self.num_decisions = len(actions)
        shape = (len(self), game.num_players)
        self.scores, self.returns = np.zeros(shape, np.int32), np.zeros(shape, np.float32)
        for games in self._blocks(np.arange(len(self)), CHUNK):
            self._play(games)
        self.scores.flags.writeable = self.returns.flags.writeable = False

    def __len__(self) -> int:
        """Return the number of games."""
        return len(self.record.seeds)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arguments of the constructor."""
        return (Dataset, (self.game, self.agents, self.record, self.seed))

    def __repr__(self) -> str:
        """Show the game, the agents and the number of games and decisions."""
        agents = ", ".join(self.agents)
        return f"<{len(self):,} games of {self.game!r}, {self.num_decisions:,} decisions, by {agents}>"

    # --- decisions ---

    def expand(self, games: Any = None) -> Decisions:
        """Return the decisions of some games, or of all.

        Args:
            games: an index into an array of all games: a number, numbers in any order, a slice, or bools (G,).

        Raises:
            IndexError: for a game that does not exist, or an invalid index.
        """
        chosen = self.numbers(games)
        n, players = int(self._games.lengths[chosen].sum()), self.game.num_players
        observation = np.zeros((n, self.game.observation_size), np.int8)
        mask, last = np.zeros((n, self.game.num_actions), np.int8), np.zeros(n, np.bool_)
        action, player, agent = np.zeros((3, n), np.int64)
        reward, return_to_go = np.zeros((2, n), np.float32)
        starts, lengths = self._games.starts[chosen], self._games.lengths[chosen]
        game, probability = np.repeat(chosen, lengths), np.full(n, np.nan, np.float32)
        if self.record.probabilities is not None:
            skipped = np.repeat(starts - np.cumsum(lengths) + lengths, lengths)
            probability[:] = self.record.probabilities[np.arange(n) + skipped]
        decisions = Decisions(
            observation, mask, action, player, agent, reward, return_to_go, game, last, probability
        )
        latest, sums = np.zeros(players, np.int64), np.zeros(players, np.float32)
        states = self.game.new_states(len(chosen))
        expand(self._of(chosen), self.game.params, states, decisions, latest, sums)
        gave_up = self._forfeited[game] == player
        return_to_go[gave_up] += FORFEITED
        reward[gave_up & last] += FORFEITED
        agent[:] = self.record.lineups[game, player]
        return decisions._replace(observation=observation.reshape(n, *self.game.observation_shape))

    def chunks(self, games: Any = None, size: int = CHUNK) -> Iterator[Decisions]:
        """Iterate over the decisions of some games, or of all, in chunks of whole games; only one chunk is in memory.

        Args:
            games: as for `expand`.
            size: maximum number of decisions in a chunk; a longer game is a chunk of its own.

        Raises:
            IndexError: as `expand`.
            ValueError: for a size below 1.
        """
        as_integer(size, "size", "at least 1", 1)
        return map(self.expand, self._blocks(self.numbers(games), size))

    def following(self, decisions: Decisions) -> Following:
        """Return what each decision's seat sees at its next decision.

        Args:
            decisions: of whole games, as `expand` and `chunks` return them.

        Raises:
            ValueError: if a seat's later decisions in a game are missing.
        """
        number, player, last = decisions.game, decisions.player, decisions.last
        rows, following = np.arange(len(last)), np.zeros(len(last), np.int64)
        for seat in range(self.game.num_players):
            own = rows[player == seat]
            following[own] = np.roll(own, -1)
        if not (last | (following > rows) & (number[following] == number)).all():
            raise ValueError("decisions must be those of whole games, in the order of play")
        observation, mask = decisions.observation[following], decisions.action_mask[following]
        games, at = np.unique(number[last], return_inverse=True)
        view = np.zeros((len(at), self.game.observation_size), np.int8)
        loops.observe_rows(self.final_states(games)[at], self.game.params, player[last], view)
        observation[last], mask[last] = view.reshape(-1, *self.game.observation_shape), 1
        return Following(observation, mask)

    def final_states(self, games: Any = None) -> np.ndarray:
        """Return the final state records of some games, or of all, (k,).

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
        seeds, starts, lengths, actions = self._games
        start, end = starts[number], starts[number] + lengths[number]
        labels = [self.game.labels[action] for action in actions[start:end]]
        players = [self.agents[agent] for agent in self.record.lineups[number]]
        return Replay.of(self.game, int(seeds[number]), labels, players)

    def numbers(self, games: Any = None) -> np.ndarray:
        """Return the numbers of some games, or of all, int64 (k,), chosen as by `expand`."""
        every = np.arange(len(self))
        chosen = np.atleast_1d(every if games is None else every[games])
        if chosen.ndim > 1:
            raise IndexError(f"games must be chosen in one dimension, not {short(games)}")
        return chosen

    def _of(self, chosen: np.ndarray) -> PlayedGames:
        seeds, starts, lengths, actions = self._games
        return PlayedGames(seeds[chosen], starts[chosen], lengths[chosen], actions)

    def _blocks(self, chosen: np.ndarray, size: int) -> Iterator[np.ndarray]:
        """Yield `chosen` in parts of at most `size` decisions and at least one game."""
        ends = np.cumsum(self._games.lengths[chosen])
        first = 0
        while first < len(chosen):
            before = ends[first - 1] if first else 0
            last = max(first + 1, int(np.searchsorted(ends, before + size, "right")))
            yield chosen[first:last]
            first = last

    def _replay(self, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return each game's last state, number of legal decisions, int64 (k,), and returns."""
        states, played = self.game.new_states(len(chosen)), np.zeros(len(chosen), np.int64)
        returns = np.zeros((len(chosen), self.game.num_players), np.float32)
        mask = np.zeros(self.game.num_actions, np.int8)
        play_again(self._of(chosen), self.game.params, states, mask, played, returns)
        return states, played, returns

    def _play(self, chosen: np.ndarray) -> None:
        """Play some games again and write their scores and returns.

        Raises:
            DatasetError: if a game cannot be played to its end.
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
        """Explain why a game cannot be played to its end."""
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
        if self.record.probabilities is None:
            del arrays["probabilities"]
        if (self._forfeited < 0).all():  # as in files that earlier versions can read
            del arrays["forfeited"]
        whole = content | {"checksum": _checksum(content, arrays)}
        array_files.write(Path(path), arrays, KEY, whole, LIMIT)

    @classmethod
    def load(cls, path: str | Path, game: GameClass | None = None, data: str | Path | None = None) -> Dataset:
        """Read and verify a file, by playing its games again.

        Args:
            path: the file.
            game: the class, or "module:Class", of a game that is not installed; the file's own text never imports code.
            data: path of a data file that replaces the one in the dataset. A path in the dataset is never opened.

        Raises:
            DatasetError: if the file cannot be read, is no dataset, has another format, more than `LIMIT` bytes or a wrong
                checksum, if the game is not installed or has other data or rules here, or as the class.
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
    """Raise DatasetError unless a dataset can have these names of agents."""
    if isinstance(agents, str) or not 1 <= len(agents) <= MOST_AGENTS:
        raise DatasetError(f"agents must be 1 to {MOST_AGENTS} names, not {short(agents)}")
    for name in agents:
        if not (isinstance(name, str) and name.isprintable() and len(name) <= LONGEST_NAME):
            raise DatasetError(f"an agent cannot be called {short(name)}")


def checked_probabilities(given: Any, decisions: int) -> np.ndarray:
    """Return probabilities as float32 (decisions,); raise DatasetError unless they are from above 0 to 1, or NaN."""
    array = np.asarray(given)
    if array.shape != (decisions,):
        raise DatasetError(f"probabilities must have shape {(decisions,)}, not {array.shape}")
    if array.dtype.kind == "f":
        with np.errstate(over="ignore"):
            array = array.astype(np.float32)
        if (np.isnan(array) | (array > 0) & (array <= 1)).all():
            return array
    raise DatasetError("probabilities must be above 0 and at most 1, or NaN where unknown")


def record_types(game: Game) -> dict[str, np.dtype]:
    """Return the dtype of each array of a `Record`."""
    action = np.uint8 if game.num_actions <= 256 else np.uint16
    kinds = map(np.dtype, (np.uint64, np.int32, action, np.uint8, np.int8, np.float32))
    return dict(zip(Record._fields, kinds, strict=True))


def _checked(game: Game, agents: int, given: Record) -> Record:
    """Return read-only copies of the arrays in the dtypes of `Record`, after checking that they fit together."""
    n, decisions = np.size(given.seeds), np.size(given.actions)
    if not n:
        raise DatasetError("there are no games")
    if not decisions:
        raise DatasetError("there are no decisions")
    if given.forfeited is None:
        given = given._replace(forfeited=np.full(n, -1))
    limits = {
        "seeds": ((n,), 0, SEEDS - 1),
        "lengths": ((n,), 0 if np.any(np.asarray(given.forfeited) != -1) else 1, game.max_game_length),
        "actions": ((decisions,), 0, game.num_actions - 1),
        "lineups": ((n, game.num_players), 0, agents - 1),
        "forfeited": ((n,), -1, game.num_players - 1),
    }
    copies = {}
    kinds = record_types(game)
    for name, (shape, low, high) in limits.items():
        array = np.asarray(getattr(given, name))
        if array.shape != shape:
            raise DatasetError(f"{name} must have shape {shape}, not {array.shape}")
        if array.dtype.kind not in "iu" or int(array.min()) < low or int(array.max()) > high:
            raise DatasetError(f"{name} must be whole numbers from {low} to {high}")
        copies[name] = np.array(array, kinds[name])
        copies[name].flags.writeable = False
    total = int(copies["lengths"].sum(dtype=np.int64))
    if total != decisions:
        raise DatasetError(f"the games have {total:,} decisions, and there are {decisions:,} actions")
    if given.probabilities is None:
        return Record(**copies)
    probabilities = checked_probabilities(given.probabilities, decisions)
    probabilities.flags.writeable = False
    return Record(**copies, probabilities=None if np.isnan(probabilities).all() else probabilities)


def _read(path: str | Path) -> tuple[_Content, dict[str, np.ndarray]]:
    """Return the content of a file after checking its size, format and checksum."""
    try:
        arrays, content, _ = array_files.read(Path(path), KEY, dict[str, Any], LIMIT)
    except ValueError as error:
        raise DatasetError(f"{one_line(path)} is not a dataset: {one_line(error)}") from None

    def digest(content: dict[str, Any]) -> str:
        if arrays.keys() | {"forfeited", "probabilities"} != {*Record._fields, "scores"}:
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
