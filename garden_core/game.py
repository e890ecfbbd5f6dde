"""Game: the contract that a game fulfils."""

from __future__ import annotations

import functools
import hashlib
import inspect
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from garden_core.checks import as_seat, short
from garden_core.files.data import DataFile, read
from garden_core.jit import kernels, records
from garden_core.jit.field_names import check_field_names
from garden_core.jit.rewards import REWARDS
from garden_core.options import REWARD, Option
from garden_core.presentation import Presentation


@dataclass(frozen=True)
class Part:
    """A run of entries of an observation, or of actions, that belong together: how many, and what they mean."""

    size: int
    meaning: str
    values: str = "0, 1"
    """What an entry of an observation can be, in words."""


class Game(Presentation):
    """A game with its options chosen: metadata, record types, labels, snapshot, pictures.

    A subclass sets the class attributes below and the abstract methods; its rules are eight compiled
    functions (`garden_core.jit.kernels.Kernels`). Defining the subclass makes its record type and registers it.
    Instances are values: two with equal options and data are equal, and pickling keeps both: data files are read
    once, on construction.

    Raises (on construction):
        TypeError: for an option that the game does not have.
        ValueError: for a value out of range; it names the option and what is allowed.
    """

    # --- metadata ---
    name: ClassVar[str]
    title: ClassVar[str]
    version: ClassVar[int] = 0
    """Goes up when learning results can change: rules, data, observations, actions, rewards."""
    chance: ClassVar[Literal["none", "deal", "play"]]
    """Where chance comes in: nowhere, in the deal alone, or during play too."""
    information: ClassVar[Literal["perfect", "imperfect"]]
    options: ClassVar[tuple[Option, ...]]
    """Every option but `reward`, which all games have. `num_players` and `max_decisions` must be among them."""

    # --- record types and rules ---
    state_fields: ClassVar[Sequence[tuple[Any, ...]]]
    """The game's own fields of a state, as NumPy dtype fields; the core's are added."""
    params_fields: ClassVar[Sequence[tuple[Any, ...]]] = ()
    rules: ClassVar[Any]
    """What holds the compiled functions under their own names: a module, by default that of the class, or a `Kernels`, as
    which it is stored. `kernels.Kernels` says which functions have defaults."""

    state_dtype: ClassVar[np.dtype]
    """Record type of a state, made from `state_fields`; its last field names the build of the rules."""
    params_dtype: ClassVar[np.dtype]

    max_players: ClassVar[int]
    """The largest `num_players` that the game allows: the length of what states have by seat."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Make the record types and register the rules."""
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "rules") and hasattr(module := sys.modules[cls.__module__], "legal_actions"):
            cls.rules = module
        if inspect.isabstract(cls) or "rules" not in cls.__dict__:
            return
        cls.rules = kernels.completed(cls.rules, cls)
        players = cls.option("num_players").high
        if players is None:
            raise TypeError(f"{cls.__name__}: the option num_players must have an upper bound")
        cls.max_players = seats = players
        build = hashlib.sha256(f"{cls.name} {kernels.fingerprint_of(cls.rules)}".encode()).hexdigest()[:16]
        cls.state_dtype = _record(
            [
                ("rng", "u8", 4),  # xoshiro256++ (garden_core.jit.rng)
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
                ("reward", "u1"),  # code in garden_core.jit.rewards
                ("cooperative", "u1"),
                *cls.params_fields,
            ]
        )
        check_field_names(cls.rules, {"state": cls.state_dtype, "params": cls.params_dtype})
        kernels.register(cls.state_dtype, cls.rules)

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

    # --- what follows ---

    @property
    def num_actions(self) -> int:
        """Number of actions; they are 0 … num_actions - 1."""
        return len(self.labels)

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
    def defaults(self) -> dict[str, Any]:
        """Every option with its default."""
        return {option.name: option.default for option in (*self.options, REWARD)}

    def with_options(self, **options: Any) -> Self:
        """Return the same game with some options changed."""
        return type(self)(**{**self.arguments, **options})

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
        plain = {name: self.defaults[name] for name in ("reward", "max_decisions")}
        return self.with_options(**plain).data_digest

    def check_seat(self, seat: int | None) -> None:
        """Raise ValueError unless `seat` is a seat of this game, or None for an onlooker."""
        if seat is not None:
            as_seat(seat, self.num_players)

    def new_states(self, n: int) -> np.ndarray:
        """Return n zeroed state records, shape (n,); deal before use."""
        return records(n, self.state_dtype)

    def scores(self, state: Any, seat: int | None = None) -> list[int]:
        """Return every seat's score as things stand; for a seat, before the end, the part that everybody can see."""
        over = state["terminated"] or state["truncated"]
        count = kernels.points if seat is None or over else kernels.public_points
        out = np.zeros(self.max_players, np.int32)
        count(state, self.params[0], out)
        return out[: self.num_players].tolist()

    def __repr__(self) -> str:
        """Show the options that are not at their default."""
        changed = [
            f"{name}={value!r}" for name, value in self.option_values.items() if value != self.defaults[name]
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
    def option(cls, name: str) -> Option:
        """Return the option called `name`."""
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
