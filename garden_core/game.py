"""Game: the contract that a game fulfils."""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import secrets
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from garden_core import kernels
from garden_core.checks import as_integer, as_seat, as_seed, short
from garden_core.data import DataFile, read
from garden_core.jit import records
from garden_core.options import REWARD, Option
from garden_core.positions import PositionError, require
from garden_core.rewards import REWARDS
from garden_core.rng import seed_rng
from garden_core.svg import Look

__all__ = ["Game", "Part", "Table"]

_DRAWS = 200
"""Redraws that are tried, to find out whether a description depends on hidden information."""


@dataclass(frozen=True)
class Part:
    """A run of entries of an observation, or of actions, that belong together: how many, and what they mean."""

    size: int
    meaning: str
    values: str = "0, 1"
    """What an entry of an observation can be, in words."""


Table = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""A table for people: its head, its rows."""


class Game(ABC):
    """A game with its options chosen: identity card, record types, labels, snapshot, pictures.

    A subclass sets the class attributes below and the abstract methods; its rules are eight compiled
    functions (`garden_core.kernels.Kernels`). Defining the subclass makes its record type and registers it.
    Instances are values: two with equal options and data are equal, and pickling keeps both: data files are read
    once, on construction.

    Raises (on construction):
        TypeError: for an option that the game does not have.
        ValueError: for a value out of range; it names the option and what is allowed.
    """

    # --- identity card ---
    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int] = 0
    """Goes up when learning results can change: rules, data, observations, actions, rewards."""
    chance: ClassVar[Literal["none", "deal", "play"]]
    """Where chance comes in: nowhere, in the deal alone, or during play too."""
    information: ClassVar[Literal["perfect", "imperfect"]]
    summary: ClassVar[str] = ""
    """The rules in short, for people: plain text in paragraphs, which the game's page in docs shows as well."""
    options: ClassVar[tuple[Option, ...]]
    """Every option but `reward`, which all games have. `num_players` and `max_decisions` must be among them."""

    # --- record types and rules ---
    state_fields: ClassVar[Sequence[tuple[Any, ...]]]
    """The game's own fields of a state, as NumPy dtype fields; the core's are added."""
    params_fields: ClassVar[Sequence[tuple[Any, ...]]] = ()
    rules: ClassVar[Any]
    """A module (or anything else) with the eight compiled functions under their own names."""

    state_dtype: ClassVar[np.dtype]
    """Record type of a state, made from `state_fields`; its last field names the build of the rules."""
    params_dtype: ClassVar[np.dtype]

    max_players: ClassVar[int]
    """The largest `num_players` that the game allows: the length of what states have by seat."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the record types and register the rules."""
        super().__init_subclass__(**kwargs)
        if inspect.isabstract(cls) or "rules" not in cls.__dict__:
            return
        functions = kernels.Kernels(*(getattr(cls.rules, name) for name in kernels.Kernels._fields))
        players = cls._option("num_players").high
        if players is None:
            raise TypeError(f"{cls.__name__}: the option num_players must have an upper bound")
        cls.max_players = seats = players
        build = hashlib.sha256(f"{cls.name} {kernels.fingerprint_of(functions)}".encode()).hexdigest()[:16]
        cls.state_dtype = _record(
            [
                ("rng", "u8", 4),  # xoshiro256++ (garden_core.rng)
                ("tally", "i4", seats),  # workspace of the rewards: points or standings, as last counted
                ("paid", "i4", seats),  # points that margin rewards have paid for so far
                ("rewards", "f4", seats),  # what each seat was paid for the last decision
                ("decisions", "i4"),  # taken since the deal
                *cls.state_fields,
                ("current_player", "i1"),  # seat to move; means nothing when the game is over
                ("terminated", "u1"),  # the rules ended the game
                ("truncated", "u1"),  # the cap on decisions ended it
            ],
            last=f"build_{build}",
        )
        cls.params_dtype = _record(
            [
                ("reward_divisor", "f8"),
                ("num_players", "i4"),
                ("max_decisions", "i4"),
                ("reward", "u1"),  # code in garden_core.rewards
                ("cooperative", "u1"),
                *cls.params_fields,
            ]
        )
        kernels.register(cls.state_dtype, functions)

    def __init__(self, **options: Any) -> None:
        self.option_values: dict[str, Any] = self.check_options(options)
        """Every option with its value, as plain Python; of a data file its path or name."""
        self.data: dict[str, DataFile] = self._read_data(options)
        """The data files that were given, by option."""
        self.num_players: int = self.option_values["num_players"]
        if self.num_players == 1 and not self.cooperative:
            raise ValueError(f"{self.name} for one player must be cooperative: other rewards compare players")
        self.params: np.ndarray = records(1, self.params_dtype)
        """Options and tables as the kernels take them: an array of one record. Do not write to it."""
        row = self.params[0]
        row["num_players"] = self.num_players
        row["max_decisions"] = self.option_values["max_decisions"]
        row["reward"] = REWARDS.index(self.option_values["reward"])
        row["cooperative"] = self.cooperative
        row["reward_divisor"] = self.reward_divisor
        self.fill_params(row)

    # --- what a game defines ---

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """Name of every action in words, one distinct string an index."""

    @property
    @abstractmethod
    def reward_divisor(self) -> float:
        """What `margin` rewards, or both kinds in a cooperative game, are divided by."""

    @abstractmethod
    def own_snapshot(self, state: Any) -> dict[str, Any]:
        """Return the game's own keys of `snapshot`, as plain JSON values; `current_player` and `scores` among them."""

    def fill_state(self, state: Any, snapshot: dict[str, Any]) -> None:
        """Write the position of a snapshot, the core's keys included, into a zeroed state: the inverse of `own_snapshot`.

        The core writes the generator, `decisions`, `terminated` and `truncated`.

        Raises:
            ValueError: for a position that cannot be (`garden_core.positions`), and here: the game reads no snapshots.
        """
        raise ValueError(f"{self.name} reads no snapshots: its class has no fill_state")

    def seen(self, snapshot: dict[str, Any], seat: int) -> dict[str, Any]:
        """Return a snapshot without what `seat` does not see; all of it where information is perfect.

        Raises:
            ValueError: if information is imperfect and the game does not say what is hidden.
        """
        if self.information == "perfect":
            return snapshot
        raise ValueError(f"{self.name} does not say what a seat sees of a snapshot: its class has no seen")

    @property
    def cooperative(self) -> bool:
        """Whether all seats share one reward."""
        return False

    @property
    def observation_parts(self) -> tuple[Part, ...]:
        """What lies where in a flat observation, from its first entry to its last; it makes `observation_shape`.

        () for a game that sets `observation_shape` itself.
        """
        return ()

    @property
    def action_parts(self) -> tuple[Part, ...]:
        """The blocks of actions, from the first to the last; () if the game does not describe them."""
        return ()

    @property
    def data_tables(self) -> dict[str, Table]:
        """The printed data that the game is played with, as tables by name."""
        return {}

    @property
    def reward_range(self) -> tuple[float, float]:
        """Bounds of a seat's total reward over a whole game."""
        return (-1.0, 1.0) if self.option_values["reward"] == "outcome" else (-np.inf, np.inf)

    def check_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return every option with its value; a game may add what does not go together.

        Raises:
            TypeError: for an unknown option.
            ValueError: for a value that is not allowed.
        """
        known = (*self.options, REWARD)
        unknown = sorted(set(options) - {option.name for option in known})
        if unknown:
            names = ", ".join(option.name for option in known)
            some = ", ".join(map(short, unknown[:5])) + (", …" if len(unknown) > 5 else "")
            words = f"{self.name} got an unexpected keyword argument {some}"  # Python's own: some callers go by them
            raise TypeError(f"{words}; its options are {names}")
        return {option.name: option.check(options.get(option.name, option.default)) for option in known}

    def _read_data(self, options: dict[str, Any]) -> dict[str, DataFile]:
        data = {}
        for option in self.options:
            if option.is_file and self.option_values[option.name]:
                given = options[option.name]
                path = self.option_values[option.name]
                try:
                    data[option.name] = given if isinstance(given, DataFile) else read(path)
                except ValueError as error:
                    raise ValueError(f"{option.name}: {error}") from None
        return data

    def fill_params(self, params: Any) -> None:
        """Write the game's own fields of the params record: here those that are named as an option is."""
        for name, *_ in self.params_fields:
            if name in self.option_values:
                params[name] = self.option_values[name]

    def describe(self, state: Any, action: int) -> str:
        """Return what a legal action does in this position, for people; by what its player knows, one line.

        Here the action's label. Labels stay the same in all positions; a description may name amounts and points.
        """
        return self.labels[action]

    def describe_to(self, state: Any, action: int, seat: int | None) -> str:
        """Return `describe` for an action that the player to move has taken, if `seat` may know all of it, else the label.

        A description that is the same in many redraws of what is hidden from the seat tells nothing hidden. An onlooker
        (None) may know all.
        """
        description, label = self.describe(state, action), self.labels[action]
        if self.information == "perfect" or seat in (None, state["current_player"]) or description == label:
            return description
        redrawn, mask = self.new_states(1), np.zeros(self.num_actions, np.int8)
        for draw in range(_DRAWS):
            redrawn[0] = state
            kernels.resample(redrawn[0], self.params[0], seat, draw)
            kernels.legal_actions(redrawn[0], self.params[0], mask)
            if mask[action] and self.describe(redrawn[0], action) != description:
                return label
        return description

    def snapshot(self, state: Any) -> dict[str, Any]:
        """Return the whole state as plain JSON values; see the game's page for the keys.

        All games have `game`, `current_player`, `scores`, `decisions`, `terminated` and `truncated`.
        """
        return {
            "game": self.name,
            **self.own_snapshot(state),
            "decisions": int(state["decisions"]),
            "terminated": bool(state["terminated"]),
            "truncated": bool(state["truncated"]),
        }

    def from_snapshot(self, snapshot: dict[str, Any], seed: int | None = None) -> Any:
        """Return the position of a snapshot as a state record that can be played on (`Batch.set_states`).

        Args:
            snapshot: the whole state, as `snapshot` gives it, or written by hand.
            seed: of what chance does from here on; None for a random one.

        Raises:
            ValueError: for a position that cannot be, with the reason: keys or values that do not fit, cards or pieces
                that are missing or there twice, values that do not follow from the others, or nobody able to move.
        """
        if not isinstance(snapshot, dict):
            raise PositionError(f"a snapshot is a dict, not {short(snapshot)}")
        require(
            snapshot.get("game") == self.name,
            f"game must be {self.name!r}, not {short(snapshot.get('game'))}",
        )
        states = self.new_states(1)
        state = states[0]
        seed_rng(state["rng"], np.uint64(secrets.randbits(64)) if seed is None else as_seed(seed))
        self.fill_state(state, snapshot)
        for name in ("decisions", "terminated", "truncated"):
            state[name] = snapshot[name]
        self._check_end(snapshot)
        found = self.snapshot(state)
        for key, value in snapshot.items():
            given = json.loads(json.dumps(value))
            require(
                given == found.get(key),
                f"{key} is {short(given)}, but by the rest it is {short(found.get(key))}",
            )
        if not (state["terminated"] or state["truncated"]):
            require(self.legal_labels(state), "nobody can move, but the game is not over")
        if self.option_values["reward"] == "margin":
            count = kernels.points if state["terminated"] or state["truncated"] else kernels.public_points
            count(state, self.params[0], state["paid"])
        return state

    def checked_state(self, state: Any) -> Any:
        """Return a state record with the position and generator of `state` that is safe to play on.

        It is built from the snapshot, so that nothing which no snapshot shows is taken over. Of a game that reads no
        snapshots the record is returned as it is; only its generator is checked.

        Raises:
            ValueError: for a state that was never dealt, or a position that cannot be, with the reason.
        """
        require(kernels.is_dealt(state), "the state was never dealt")
        if type(self).fill_state is Game.fill_state:
            return state
        try:
            checked = self.from_snapshot(self.snapshot(state), 0)
        except (IndexError, KeyError) as error:  # codes that no name stands for
            raise PositionError(f"the state holds what no rule can bring about: {error!r}") from None
        checked["rng"] = state["rng"]
        return checked

    def _check_end(self, snapshot: dict[str, Any]) -> None:
        """Raise PositionError unless the number of decisions fits how the game has ended, or not."""
        cap, made = self.option_values["max_decisions"], snapshot["decisions"]
        require(not (snapshot["terminated"] and snapshot["truncated"]), "a game ends in one way")
        if snapshot["truncated"]:
            require(made >= cap, f"truncated means that all {cap} decisions were made, not {made}")
        elif not snapshot["terminated"]:
            require(made < cap, f"after {cap} decisions the game is truncated")

    def seat_view(self, state: Any, seat: int) -> dict[str, Any]:
        """Return what one seat sees, as plain JSON values: the snapshot without what is hidden, and what it may do.

        Beside the snapshot's keys it has `seat` and `legal`, a list of `action`, `label` and `description` for each
        legal action, empty where the seat is not to move.

        Raises:
            ValueError: for a seat that does not exist.
        """
        number = as_seat(seat, self.num_players)
        legal = [
            {"action": action, "label": self.labels[action], "description": self.describe(state, action)}
            for action in self._offered(state, number)
        ]
        return {**self._view(state, number), "seat": number, "legal": legal}

    def _view(self, state: Any, seat: int | None) -> dict[str, Any]:
        """Return what `seat` sees of the snapshot; None: all of it. Whatever is shown to a seat is made from this."""
        snapshot = self.snapshot(state)
        return snapshot if seat is None else self.seen(snapshot, as_seat(seat, self.num_players))

    def _offered(self, state: Any, seat: int | None) -> list[int]:
        """Return the legal actions if `seat` is to move, or for an onlooker, None."""
        return self._legal_actions(state) if seat in (None, state["current_player"]) else []

    def score_sheet(self, snapshot: dict[str, Any]) -> list[dict[str, int]]:
        """Return how every seat's score comes about: by seat the parts by name, which sum to `scores`.

        Args:
            snapshot: the whole state, as `snapshot` gives it.

        A game without parts of its own has the one part "score", from the snapshot's key "scores".
        """
        return [{"score": score} for score in snapshot["scores"]]

    def own_text(self, view: dict[str, Any], seat: int | None, legal: Sequence[str]) -> str:
        """Return a position in words.

        Args:
            view: what `seat` sees of the snapshot, by `seen`; the whole snapshot for an onlooker.
            seat: who looks; None: an onlooker.
            legal: labels of the legal actions, if the seat is to move, and for an onlooker.
        """
        return "\n".join(f"{key}: {value}" for key, value in view.items())

    def own_svg(self, view: dict[str, Any], seat: int | None, look: Look) -> str:
        """Return the picture of a position as an SVG document; `view` and `seat` as for `own_text`."""
        raise ValueError(f"{self.name} has no picture; use render_mode='ansi'")

    # --- what follows ---

    @property
    def num_actions(self) -> int:
        """Number of actions; they are 0 … num_actions - 1."""
        return len(self.labels)

    @property
    def rules_text(self) -> str:
        """The full rules, for people: the file `rules.md` beside the class's module, else `summary`."""
        module = getattr(sys.modules.get(type(self).__module__), "__file__", None)
        path = Path(module).with_name("rules.md") if module else None
        return path.read_text("utf-8") if path and path.is_file() else self.summary

    @property
    def utility(self) -> Literal["zero-sum", "identical"]:
        """How the seats' rewards relate: they sum to zero, or all are the same."""
        return "identical" if self.cooperative else "zero-sum"

    @property
    def max_game_length(self) -> int:
        """No game takes more decisions."""
        return self.option_values["max_decisions"]

    @functools.cached_property
    def observation_shape(self) -> tuple[int, ...]:
        """Shape of an observation (int8): one dimension, unless a game has more."""
        return (sum(part.size for part in self.observation_parts),)

    @functools.cached_property
    def observation_size(self) -> int:
        """Number of entries of an observation."""
        return int(np.prod(self.observation_shape))

    @property
    def arguments(self) -> dict[str, Any]:
        """The options as the constructor takes them, data files by their content: they make an equal game."""
        return {**self.option_values, **self.data}

    @property
    def shown_options(self) -> dict[str, Any]:
        """The options for files and other people: of a data file its name without the folder."""
        return {**self.option_values, **{name: Path(file.name).name for name, file in self.data.items()}}

    @functools.cached_property
    def data_digest(self) -> str:
        """Hex digest of the params record, options and data: equal digests play by equal tables."""
        return hashlib.sha256(self.params.tobytes()).hexdigest()[:16]

    @functools.cached_property
    def tables_digest(self) -> str:
        """Hex digest of options and data but for the reward and the cap, which are neither seen nor learned from."""
        options = {option.name: option.default for option in (*self.options, REWARD)}
        plain = {name: options[name] for name in ("reward", "max_decisions")}
        return type(self)(**{**self.arguments, **plain}).data_digest

    def check_seat(self, seat: int | None) -> None:
        """Raise ValueError unless `seat` is a seat of this game, or None for an onlooker."""
        if seat is not None:
            as_seat(seat, self.num_players)

    def new_states(self, n: int) -> np.ndarray:
        """Return n zeroed state records, shape (n,); deal before use."""
        return records(n, self.state_dtype)

    def text(self, state: Any, seat: int | None = None) -> str:
        """Return the position in words, as much of it as `seat` may see (None: an onlooker sees all).

        Raises:
            ValueError: for a seat that does not exist.
        """
        view = self._view(state, seat)
        return self.own_text(view, seat, [self.labels[action] for action in self._offered(state, seat)])

    def svg(
        self,
        state: Any,
        seat: int | None = None,
        *,
        legal: bool = False,
        last: tuple[int, int] | None = None,
        dark: bool = False,
        compact: bool = False,
        names: bool = False,
    ) -> str:
        """Return the picture of a position as an SVG document that needs nothing from outside.

        Args:
            state: a state record.
            seat: who looks, and sees nothing hidden from this seat; None: an onlooker, who sees all.
            legal: mark what the player to move may do, for this player and onlookers: what one clicks for an action has its
                number as `data-action` and its description as title.
            last: the last decision, seat and action, whose place is marked.
            dark: light on dark.
            compact: for a width of about 400 pixels.
            names: write on places the names that labels use for them.

        Raises:
            ValueError: for a seat or an action that does not exist, or a game that has no picture.
        """
        view = self._view(state, seat)
        offered = {self.labels[action]: action for action in self._offered(state, seat)} if legal else {}
        says = {label: self.describe(state, action) for label, action in offered.items()}
        look = Look(offered, dark=dark, compact=compact, names=names, says=says)
        if last is not None:
            by, action = as_seat(last[0], self.num_players), as_integer(last[1], "the last action")
            if not 0 <= action < self.num_actions:
                raise ValueError(f"the last action must be 0 to {self.num_actions - 1}, not {short(action)}")
            look = look._replace(last=self.labels[action], by=by)
        return self.own_svg(view, seat, look)

    def legal_labels(self, state: Any) -> list[str]:
        """Return the labels of what the player to move may do; none when the game is over."""
        return [self.labels[action] for action in self._legal_actions(state)]

    def _legal_actions(self, state: Any) -> list[int]:
        mask = np.zeros(self.num_actions, np.int8)
        kernels.legal_actions(state, self.params[0], mask)
        return np.flatnonzero(mask).tolist()

    def scores(self, state: Any, seat: int | None = None) -> list[int]:
        """Return every seat's score as things stand; for a seat, before the end, the part that everybody can see."""
        over = state["terminated"] or state["truncated"]
        count = kernels.points if seat is None or over else kernels.public_points
        out = np.zeros(self.max_players, np.int32)
        count(state, self.params[0], out)
        return out[: self.num_players].tolist()

    def __repr__(self) -> str:
        """Show the options that are not at their default."""
        defaults = {option.name: option.default for option in (*self.options, REWARD)}
        changed = [
            f"{name}={value!r}" for name, value in self.option_values.items() if value != defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __eq__(self, other: object) -> bool:
        """Equal class, options and data."""
        return (
            isinstance(other, Game)
            and type(self) is type(other)
            and self._contents() == other._contents()
            and self.data_digest == other.data_digest
        )

    def _contents(self) -> dict[str, Any]:
        """Every option with its value, of a data file its content alone."""
        return {**self.option_values, **{name: file.content for name, file in self.data.items()}}

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((type(self), self.data_digest))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the options and data files alone."""
        return (_rebuild, (type(self), self.arguments))

    @classmethod
    def _option(cls, name: str) -> Option:
        for option in cls.options:
            if option.name == name:
                return option
        raise TypeError(f"{cls.__name__}.options must have {name!r}")


def _rebuild(cls: type[Game], options: dict[str, Any]) -> Game:
    return cls(**options)


def _record(fields: Sequence[Any], last: str | None = None) -> np.dtype:
    """Order fields from wide to narrow, so that there is no padding; `last` names an unused byte at the end."""
    for name in (field[0] for field in fields):
        if hasattr(np.record, name):
            raise TypeError(f"a field must not be called {name!r}: records have an attribute of that name")
    wide_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    size = np.dtype(wide_first).itemsize + (last is not None)
    if -size % 8:
        wide_first.append(("spare", "u1", -size % 8))
    if last is not None:
        wide_first.append((last, "u1"))
    return np.dtype(wide_first, align=True)
