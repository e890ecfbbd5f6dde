"""Stand-ins for NumPy and compiled code, where there are none: in a browser.

With them, the games' own files show positions there: snapshots, pictures, descriptions. Rules are not among what works; a
`State` asks its `rules`, which run in WebAssembly.
"""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

CODES = dict(zip(["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"], "bBhHiIqQfd", strict=True))
"""Codes of Python's `struct` by NumPy's."""


class Array:
    """Nested lists with a few methods of NumPy's arrays."""

    def __init__(self, values: Any) -> None:
        self.values = [value.tolist() if isinstance(value, Array) else value for value in values]

    def __getitem__(self, key: Any) -> Any:
        first, *rest = key if isinstance(key, tuple) else (key,)
        if isinstance(first, slice):
            rows = self.values[first]
            return Array([Array(row)[tuple(rest)] for row in rows] if rest else rows)
        row = self.values[first]
        row = Array(row) if isinstance(row, list) else row
        return row[tuple(rest)] if rest else row

    def __setitem__(self, key: int, value: Any) -> None:
        self.values[key] = value

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self.values)))

    def __len__(self) -> int:
        return len(self.values)

    def tolist(self) -> list[Any]:
        return [value[:] if isinstance(value, list) else value for value in self.values]

    def sum(self) -> Any:
        return sum(self.values)

    def astype(self, kind: Any) -> Array:
        return Array([Array(row).astype(kind) if isinstance(row, list) else kind(row) for row in self.values])


class State:
    """A record in bytes.

    Args:
        record: `size` and `fields` of the record type, as `garden export` describes them.
        content: the bytes.
        rules: an object with the methods that `kernels` calls below.
    """

    def __init__(self, record: Any, content: bytes, rules: Any = None) -> None:
        self.record, self.content, self.rules = record, content, rules

    def __getitem__(self, name: str) -> Any:
        offset, code, shape = self.record["fields"][name]
        size = int(code[1])
        for length in shape:
            size *= length
        part: Any = memoryview(self.content)[offset : offset + size]
        return Array(part.cast(CODES[code], shape).tolist()) if shape else part.cast(CODES[code])[0]

    def copy(self) -> State:
        return State(self.record, self.content, self.rules)


class _States(list):
    """Records, into which others are copied."""

    def __setitem__(self, row: Any, state: Any) -> None:
        super().__setitem__(row, state.copy())


def _legal_actions(state: State, params: Any, mask: Array) -> int:
    legal = state.rules.legal(state.content)
    mask.values = [int(action in legal) for action in range(len(mask))]
    return len(legal)


def _apply_action(state: State, params: Any, action: int) -> None:
    state.content = state.rules.apply(state.content, action)


def _resample(state: State, params: Any, player: int, seed: int) -> None:
    state.content = state.rules.resample(state.content, player, seed)


def _count(name: str) -> Any:
    def count(state: State, params: Any, out: Array) -> None:
        out.values = state.rules.count(name, state.content)

    return count


def _zeros(shape: Any, _: Any = None) -> Array:
    first, *rest = shape if isinstance(shape, tuple) else (shape,)
    return Array([_zeros(tuple(rest)) if rest else 0 for _ in range(first)])


def _module(name: str, **members: Any) -> ModuleType:
    made = sys.modules[name] = ModuleType(name)
    made.__dict__.update(members)
    return made


def _compiled(function: Any) -> Any:
    return function


def install(core: str) -> None:
    """Make the stand-ins importable; `core` is the folder of garden_core."""
    kinds = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "generic"]
    _module(
        "numpy",
        array=lambda values, _=None: Array(values),
        zeros=_zeros,
        flatnonzero=lambda mask: Array([k for k, value in enumerate(mask) if value]),
        ndarray=Array,
        bool_=bool,
        **dict.fromkeys(kinds, int),
    )
    counts = {name: _count(name) for name in ("points", "public_points", "standings")}
    rules = {"legal_actions": _legal_actions, "apply_action": _apply_action, "resample": _resample}
    kernels = _module("garden_core.jit.kernels", **counts, **rules)
    jit = _module("garden_core.jit", compiled=_compiled, inlined=_compiled, kernels=kernels)
    jit.__path__ = [f"{core}/jit"]
    _module("garden_core.jit.decorator", compiled=_compiled, inlined=_compiled)
    _module("garden_core.game", Game=_game_class(), Part=None)


def _game_class() -> Any:
    from garden_core.presentation import Presentation

    class Game(Presentation):
        """A game that shows positions."""

        rules = SimpleNamespace(_replace=lambda **_: None)
        version, cooperative = 0, False
        about: Any

        def __init_subclass__(cls) -> None:
            cls.rules = Game.rules

        def __init__(self, **options: Any) -> None:
            self.option_values = options
            self.data: dict[str, Any] = {}
            self.num_players = options["num_players"]

        def new_states(self, number: int) -> Any:
            return _States([None] * number)

        @property
        def num_actions(self) -> int:
            return len(self.labels)

        def scores(self, state: State, seat: int | None = None) -> list[int]:
            over = state["terminated"] or state["truncated"]
            name = "points" if seat is None or over else "public_points"
            return state.rules.count(name, state.content)[: self.num_players]

    return Game
