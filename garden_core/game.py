"""Game: the base class of all games."""

from __future__ import annotations

import functools
import hashlib
import inspect
import itertools
import re
import sys
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np

from garden_core.checks import as_seat, short
from garden_core.files.data import DataFile, read
from garden_core.files.formats import digest_of_params
from garden_core.jit import kernels, records
from garden_core.jit.field_names import check_field_names
from garden_core.jit.rewards import REWARDS
from garden_core.options import REWARD, Option
from garden_core.presentation import Presentation
from garden_core.variants import check_attached, complete_variant, is_variant

_VALUES = re.compile(r"(≥|>=) ?-?\d+|-?\d+ ?(…|\.\.\.) ?-?\d+|-?\d+(, ?-?\d+)*")


@functools.cache  # games make their parts anew whenever they are asked for
def _bounds(values: str) -> tuple[float, float] | None:
    """Return the lowest and the highest of a part's values, None if they are not written as `Part.values` says."""
    numbers = [float(number) for number in re.findall(r"-?\d+", values)]
    if not _VALUES.fullmatch(values) or numbers != sorted(numbers):
        return None
    return numbers[0], np.inf if values[0] in "≥>" else numbers[-1]


@dataclass(frozen=True)
class Part:
    """A range of observation entries, or of actions, that have one meaning.

    Raises:
        ValueError: for `values` of another form.

    Example:
        >>> import garden_core
        >>> game = garden_core.make("cacti")
        >>> part = game.observation_parts[0]
        >>> part.name, part.size, part.meaning
        ('middle', 4, 'cacti in the middle, by type')
        >>> game.observation_slices["middle"]
        slice(0, 4, None)
        >>> part.bounds, garden_core.Part("score", 1, "the score", ">= 0").bounds
        ((0.0, 5.0), (0.0, inf))
    """

    name: str
    """A short name, distinct from those of the other parts."""
    size: int
    """Number of entries, or of actions."""
    meaning: str
    values: str = "0, 1"
    """The values of an observation entry, as whole numbers in ascending order: a list such as "0, 1", a range such as
    "0 … 5" or "0 ... 5", or a lower bound such as "≥ 0" or ">= 0"."""
    private: bool = False
    """Whether only the observer sees it."""

    def __post_init__(self) -> None:
        _ = self.bounds

    @property
    def bounds(self) -> tuple[float, float]:
        """The lowest and the highest of `values`; infinity if these have only a lower bound."""
        if (bounds := _bounds(self.values)) is None:
            raise ValueError(
                f"the values of part {short(self.name)} must be written like '0, 1' or '0 … 5' or '≥ 0', in ascending order, "
                f"not {short(self.values)}"
            )
        return bounds


def _slices(parts: Sequence[Part]) -> dict[str, slice]:
    ends = itertools.accumulate(part.size for part in parts)
    return {part.name: slice(end - part.size, end) for part, end in zip(parts, ends, strict=True)}


class Game(Presentation):
    """A game with its options chosen: metadata, record types, labels, snapshot, pictures.

    A subclass sets the class attributes below and implements the abstract methods; its rules are nine compiled
    functions (`garden_core.jit.kernels.Kernels`). Defining the subclass creates and registers its record types. A subclass of
    a complete game that sets other `rules` is a variant of it (docs/change-a-rule.md).
    Instances with equal options and data are equal. The constructor reads data files once; pickles contain their content.

    Raises (on construction):
        TypeError: for an unknown option.
        ValueError: for a value out of range; it names the option and the allowed values.

    Example:
        >>> import garden_core
        >>> game = garden_core.make("mars", num_players=3)
        >>> game, game.num_actions, game.labels[0]
        (Mars(num_players=3), 103, 'hex -5,0')
    """

    # --- metadata ---
    name: ClassVar[str]
    """The name in code and of files, such as "mars": at most 50 letters, digits and _."""
    title: ClassVar[str]
    """The name for people."""
    version: ClassVar[int] = 0
    """The number in `garden/Pig-v0`; raise it when learning results can change: rules, data, observations,
    actions, rewards."""
    chance: ClassVar[Literal["none", "deal", "play"]]
    """Where chance occurs: nowhere, only in the deal, or also during play."""
    information: ClassVar[Literal["perfect", "imperfect"]]
    """Whether every seat sees everything but the future ("perfect"), or something is hidden from it ("imperfect")."""
    options: ClassVar[tuple[Option, ...]]
    """All options except `reward`, which the core adds. Must include `num_players` and `max_decisions`."""

    # --- record types and rules ---
    state_fields: ClassVar[Sequence[tuple[Any, ...]]]
    """The game's own fields of a state, as NumPy dtype fields; the core adds more (docs/own-game.md)."""
    params_fields: ClassVar[Sequence[tuple[Any, ...]]] = ()
    """The game's own fields of the params, which do not change during a game; see `fill_params`."""
    rules: ClassVar[Any]
    """The module or `kernels.Kernels` that contains the compiled functions; by default the module of the class. Stored as a
    `Kernels`, which documents the functions that have defaults."""

    state_dtype: ClassVar[np.dtype]
    """Record type of a state, made from `state_fields`; its last field names the build of the rules."""
    params_dtype: ClassVar[np.dtype]
    """Record type of the params, made from `params_fields`."""

    variant_of: ClassVar[type[Game] | None]
    """The game whose actions and observations it has, with other rules or options; None for a game of its own."""
    max_players: ClassVar[int]
    """The upper bound of the option `num_players`: the length of state fields that have an entry per seat."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Create the record types and register the rules."""
        super().__init_subclass__(**kwargs)
        if not hasattr(cls, "rules") and hasattr(module := sys.modules[cls.__module__], "legal_actions"):
            cls.rules = module
        base = next((kind for kind in cls.__mro__[1:] if "state_dtype" in kind.__dict__), None)
        if base is not None and "rules" not in cls.__dict__:
            check_attached(cls, base)
        if inspect.isabstract(cls) or "rules" not in cls.__dict__:
            return
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,49}", cls.name):
            raise TypeError(
                f"{cls.__name__}: a game's name has at most 50 letters, digits and _, the first one a letter, as files are named "
                f"by it; not {short(cls.name)}"
            )
        cls.rules = kernels.completed(cls.rules, cls)
        cls.variant_of = base if base is not None and is_variant(cls, base) else None
        if cls.variant_of is not None:
            complete_variant(cls, base)
        seats = cls.option("num_players").high
        if seats is None:
            raise TypeError(f"{cls.__name__}: the option num_players must have an upper bound")
        cls.max_players = seats
        build = hashlib.sha256(f"{cls.name} {kernels.fingerprint_of(cls.rules)}".encode()).hexdigest()[:16]
        cls.state_dtype = _record(
            [
                ("rng", "u8", 4),  # xoshiro256++ (garden_core.jit.rng)
                ("tally", "i4", seats),  # workspace of the rewards: the latest points or standings
                ("paid", "i4", seats),  # points that earlier margin rewards account for
                ("rewards", "f4", seats),  # each seat's reward for the last decision
                ("decisions", "i4"),  # since the deal
                ("variant", "u4"),  # the record of the params that the game is played by
                *cls.state_fields,
                ("current_player", "i1"),  # the player to move; meaningless when the game is over
                ("terminated", "u1"),  # the rules ended the game
                ("truncated", "u1"),  # the cap on decisions ended it
            ],
            (f"build_{build}", "u1"),
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
        """All options with their values, as plain Python; a data file is its path or name."""
        self.data: dict[str, DataFile] = self._read_data(options)
        """The data files, by option."""
        self.num_players: int = self.option_values["num_players"]
        if self.num_players == 1 and not self.cooperative:
            raise ValueError(f"{self.name} for one player must be cooperative: other rewards compare players")
        self.params: np.ndarray = records(1, self.params_dtype)
        """Options and tables for the kernels: an array of one record. Do not write to it."""
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
        """The name of each action, all distinct; the index in this tuple is the action."""

    @property
    @abstractmethod
    def reward_divisor(self) -> float:
        """Divisor of margin rewards; in a cooperative game, of both kinds of reward."""

    @property
    def cooperative(self) -> bool:
        """Whether all seats receive the same reward; required for one player."""
        return False

    @property
    def observation_parts(self) -> tuple[Part, ...]:
        """The parts of a flat observation, from its first entry to its last, from which `observation_shape` follows.

        () if the game sets `observation_shape` itself.
        """
        return ()

    @property
    def hidden_parts(self) -> tuple[Part, ...]:
        """The parts of what is hidden from a seat (`Batch.observe_hidden`); () if the rules hide nothing."""
        return ()

    @property
    def action_parts(self) -> tuple[Part, ...]:
        """The ranges of actions, from the first action to the last; () if the game does not describe them."""
        return ()

    @property
    def reward_range(self) -> tuple[float, float]:
        """Bounds of a seat's return, its total reward in a game."""
        return (-1.0, 1.0) if self.option_values["reward"] == "outcome" else (-np.inf, np.inf)

    def check_options(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return all options with their values; override it to refuse combinations.

        Raises:
            TypeError: for an unknown option.
            ValueError: for a value that is not allowed.
        """
        if unknown := sorted(options.keys() - self.defaults.keys()):
            some = ", ".join(map(short, unknown[:5])) + (", …" if len(unknown) > 5 else "")
            words = f"{self.name} got an unexpected keyword argument {some}"  # Python's words: some callers parse them
            raise TypeError(f"{words}; its options are {', '.join(self.defaults)}")
        return {
            option.name: option.check(options.get(option.name, option.default))
            for option in (*self.options, REWARD)
        }

    def _read_data(self, options: dict[str, Any]) -> dict[str, DataFile]:
        data = {}
        for option in self.options:
            if option.is_file and (path := self.option_values[option.name]):
                given = options[option.name]
                try:
                    data[option.name] = given if isinstance(given, DataFile) else read(path)
                except ValueError as error:
                    raise ValueError(f"{option.name}: {error}") from None
        return data

    def fill_params(self, params: Any) -> None:
        """Write the game's own fields of the params record; by default those that have the name of an option.

        If the game has other fields, override it, and call `super().fill_params(params)` first.
        """
        for name, *_ in self.params_fields:
            if name in self.option_values:
                params[name] = self.option_values[name]

    # --- provided for all games ---

    @property
    def num_actions(self) -> int:
        """Number of actions, which are 0 … num_actions - 1."""
        return len(self.labels)

    @property
    def utility(self) -> Literal["zero-sum", "identical"]:
        """Whether the seats' rewards sum to zero or are identical."""
        return "identical" if self.cooperative else "zero-sum"

    @property
    def max_game_length(self) -> int:
        """Upper bound of the number of decisions in a game."""
        return self.option_values["max_decisions"]

    @functools.cached_property
    def observation_shape(self) -> tuple[int, ...]:
        """Shape of an observation (int8); one dimension by default."""
        return (sum(part.size for part in self.observation_parts),)

    @functools.cached_property
    def observation_size(self) -> int:
        """Number of entries of an observation."""
        return int(np.prod(self.observation_shape))

    @functools.cached_property
    def hidden_size(self) -> int:
        """Number of entries of what is hidden from a seat."""
        return sum(part.size for part in self.hidden_parts)

    @functools.cached_property
    def observation_slices(self) -> dict[str, slice]:
        """The slice of each part of a flat observation, by name."""
        return _slices(self.observation_parts)

    @functools.cached_property
    def hidden_slices(self) -> dict[str, slice]:
        """The slice of each part of what is hidden from a seat, by name."""
        return _slices(self.hidden_parts)

    @functools.cached_property
    def action_slices(self) -> dict[str, slice]:
        """The slice of each part of the actions, by name."""
        return _slices(self.action_parts)

    @property
    def defaults(self) -> dict[str, Any]:
        """The default of each option."""
        return {option.name: option.default for option in (*self.options, REWARD)}

    def with_options(self, **options: Any) -> Self:
        """Return the same game with some options changed."""
        return type(self)(**(self.arguments | options))

    @property
    def arguments(self) -> dict[str, Any]:
        """Constructor arguments that make an equal game, with the content of data files."""
        return self.option_values | self.data

    @property
    def shown_options(self) -> dict[str, Any]:
        """The options for files and other people; a data file is its name without the folder."""
        return self.option_values | {name: Path(file.name).name for name, file in self.data.items()}

    @functools.cached_property
    def data_digest(self) -> str:
        """Hex digest of the params record, which contains options and data."""
        return digest_of_params(self.params.tobytes())

    @functools.cached_property
    def tables_digest(self) -> str:
        """Hex digest of options and data, without the reward and the cap, which no network reads."""
        plain = {name: self.defaults[name] for name in ("reward", "max_decisions")}
        return self.with_options(**plain).data_digest

    def check_seat(self, seat: int | None) -> None:
        """Raise ValueError unless `seat` is a seat of this game, or None (an onlooker)."""
        if seat is not None:
            as_seat(seat, self.num_players)

    def new_states(self, n: int) -> np.ndarray:
        """Return n state records of zeros, shape (n,); deal before use."""
        return records(n, self.state_dtype)

    def scores(self, state: Any, seat: int | None = None) -> list[int]:
        """Return each seat's current score; with `seat`, before the end, the public part of it."""
        over = state["terminated"] or state["truncated"]
        count = kernels.points if seat is None or over else kernels.public_points
        out = np.zeros(self.max_players, np.int32)
        count(state, self.params[0], out)
        return out[: self.num_players].tolist()

    def __repr__(self) -> str:
        """Show the options that differ from their defaults."""
        changed = [
            f"{name}={value!r}" for name, value in self.option_values.items() if value != self.defaults[name]
        ]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __eq__(self, other: object) -> bool:
        """Compare class, options and data."""
        return isinstance(other, Game) and type(self) is type(other) and self._contents() == other._contents()

    def _contents(self) -> dict[str, Any]:
        """Return all options with their values; a data file is its content."""
        return self.option_values | {name: file.content for name, file in self.data.items()}

    def __hash__(self) -> int:
        """Agree with equality."""
        return hash((type(self), self.data_digest))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the options and data files."""
        return functools.partial(type(self), **self.arguments), ()

    @classmethod
    def option(cls, name: str) -> Option:
        """Return the option called `name`."""
        for option in cls.options:
            if option.name == name:
                return option
        raise TypeError(f"{cls.__name__}.options must have {name!r}")


def _record(fields: Sequence[Any], *last: tuple[str, str]) -> np.dtype:
    """Return a record type without padding: the fields from wide to narrow, unused bytes, and the `last` fields."""
    for name, *_ in fields:
        if hasattr(np.record, name):
            raise TypeError(f"a field must not be called {name!r}: records have an attribute of that name")
    wide_first = sorted(fields, key=lambda field: -np.dtype(field[1]).itemsize)
    unused = -np.dtype([*wide_first, *last]).itemsize % 8
    spare = [("spare", "u1", unused)] if unused else []
    return np.dtype([*wide_first, *spare, *last], align=True)
