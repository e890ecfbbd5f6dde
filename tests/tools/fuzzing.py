"""Shared by the fuzzers: numbers of cases, mutations of bytes and structures, special paths, checks of errors."""

from __future__ import annotations

import contextlib
import copy
import os
import pickle
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from sealed import joined

FULL = os.environ.get("GARDEN_FUZZ") == "full"
CASES = 10_000 if FULL else 100
"""Cases of each kind; a tenth where one takes long."""
BLOCK = 250  # cases of one test, so that the full run spreads over processes
MESSAGE, LINES = 1_000, 5  # characters and lines that an error may have

properties = settings(
    max_examples=CASES,
    derandomize=True,
    deadline=None,
    database=None,
    phases=(Phase.generate,),  # examples are short, and shrinking can take minutes
    suppress_health_check=list(HealthCheck),
)
"""For hypothesis: the same examples each time."""


def blocks(cases: int = CASES) -> list[range]:
    """Return the numbers of the cases, block by block, for parametrize."""
    return [range(first, min(first + BLOCK, cases)) for first in range(0, cases, BLOCK)]


each_block = pytest.mark.parametrize("numbers", blocks(), ids=str)
"""Over the numbers of all cases, block by block."""


# --- allowed outcomes ---


class Hang(BaseException):
    """A call that took too long."""


@contextlib.contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if the block takes longer; it is interrupted between steps of Python."""

    def stop(number: int, frame: object) -> None:
        raise Hang(f"still busy after {seconds} s")

    start = time.monotonic()
    if hasattr(signal, "setitimer"):
        before = signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start < seconds


def outcome(
    call: Callable[[], Any],
    errors: type[BaseException] | tuple[type[BaseException], ...],
    names: object = "",
    seconds: float = 5.0,
) -> tuple[Any, BaseException | None]:
    """Return the result of a call and None, or None and one of the allowed errors, with its message checked.

    Args:
        errors: allowed types, without subclasses except of OSError.
        names: part of the message, mostly a file's name.
    """
    allowed = errors if isinstance(errors, tuple) else (errors,)
    try:
        with within(seconds):
            return call(), None
    except allowed as error:
        raised = error
    if type(raised) not in allowed and not isinstance(raised, OSError):
        raise raised
    check_message(raised, names)
    return None, raised


def check_message(error: BaseException, names: object = "") -> None:
    """Check that a message is short, of few lines, shows no control characters, and names the file."""
    message = str(error)
    assert message, type(error)
    assert len(message) <= MESSAGE, f"{len(message)} characters: {message[:200]}"
    assert message.count("\n") < LINES, message
    odd = [character for character in message if not character.isprintable() and character != "\n"]
    assert not odd, f"{odd[:5]} in {message!r}"
    assert str(names) in message, f"{names} is not in {message!r}"


# --- mutations of bytes ---

_STRUCTURES = [
    b"\0",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"[" * 3000,
    b"{" * 3000,
    b'{"a":' * 2000,
    b"9" * 5000,
    b"-1e999",
    b"NaN",
    b"\n[[a]]\n",
    b'"""',
    b"\x1b[2J",
    b'"\\ud800"',
    b"x" * 10_000,
    "\u202e\u2028\U0001f335".encode(),
    b"0x" + b"f" * 5000,
    b"\\",
]


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Return bytes with one to three faults: flipped, cut, repeated, moved, or with a structure put in."""
    changed = bytearray(content)
    for _ in range(rng.randint(1, 3)):
        at, other = sorted((rng.randint(0, len(changed)), rng.randint(0, len(changed))))
        kind = rng.randrange(7)
        if kind == 0 and changed:
            changed[min(at, len(changed) - 1)] ^= 1 << rng.randrange(8)
        elif kind == 1:
            del changed[at:]
        elif kind == 2:
            del changed[at : at + rng.randint(1, 40)]
        elif kind == 3:
            changed[at:at] = changed[at:other][:2000]
        elif kind == 4:
            changed[at : at + rng.randint(0, 9)] = rng.choice(_STRUCTURES)
        elif kind == 5:
            changed[at:at] = rng.randbytes(rng.randint(1, 20))
        else:
            changed[at:at] = rng.choice(_STRUCTURES)
    return bytes(changed)


# --- mutations of structures ---

STRANGE_TEXTS = [
    "",
    "\0",
    "\x1b[2J\x1b]0;title\x07",
    "a\nb\nc\nd\ne\nf\ng",
    "\u2028",
    "x" * 10_000,
    "../../etc/passwd",
    "/dev/zero",
    "module:attribute",
    "<script>alert(1)</script>",
    "%s%n",
    "ä" * 41,
    "mars",
    "mcts:999999999999999",
    "mcts:" + "9" * 5000,
    "network",
    "\ud800",
]


def strange_value(rng: random.Random) -> Any:
    """Return a value that JSON can hold and that mostly does not belong."""
    numbers = [0, 1, -1, 7, 20, 127, 255, 2**31, 2**53, 2**63, 2**64, 10**30, -(2**63)]
    values = [*numbers, 10**4200, 1.0, 2.5, float("inf"), float("nan"), True, False]
    pick = rng.randrange(10)
    if pick < 5:
        return rng.choice(values)
    if pick < 8:
        return rng.choice(STRANGE_TEXTS)
    if pick == 8:
        return rng.choice([[], {}, [[]], [{}], {"": 1}, {"a": {"a": {}}}, [1, "a"], [True] * 40])
    deep: Any = rng.choice([[], {}, 1])
    for _ in range(rng.choice([3, 60, 400])):
        deep = [deep] if rng.random() < 0.5 else {"a": deep}
    return deep


def mutated(value: Any, rng: random.Random) -> Any:
    """Return a copy of plain data with one to three places replaced, removed, repeated or added."""
    changed = copy.deepcopy(value)
    for _ in range(rng.randint(1, 3)):
        place, key = rng.choice(list(_places(changed)) or [(None, None)])
        if place is None:
            return strange_value(rng)
        kind = rng.randrange(6)
        if kind == 0:
            del place[key]
        elif kind == 1 and isinstance(place, list):
            place.insert(key, copy.deepcopy(place[key]))
        elif kind == 1:
            place[rng.choice(STRANGE_TEXTS)] = strange_value(rng)
        elif kind == 2:
            place[key] = near(place[key], rng)
        elif kind == 3 and isinstance(place, list):
            place[key:] = (place[key:] or [0]) * rng.choice([0, 2, 40])
        elif kind == 4:
            other, its = rng.choice(list(_places(changed)))
            place[key] = copy.deepcopy(other[its])
        else:
            place[key] = strange_value(rng)
    return changed


def near(value: Any, rng: random.Random) -> Any:
    """Return a value of the same type, if it is a plain one."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + rng.choice([-1, 1, 10, -10, 2**8, 2**16, 2**32])
    if isinstance(value, str):
        at = rng.randint(0, len(value))
        return value[:at] + rng.choice(STRANGE_TEXTS)[:200] + value[at:]
    return strange_value(rng)


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Yield every (container, key) within plain data."""
    keys = value if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in list(keys):
        yield value, key
        yield from _places(value[key])


# --- values that callers may pass by mistake ---


class Unshowable:
    """An object without a repr."""

    def __repr__(self) -> str:
        raise ValueError("not to be shown")


def _endless() -> list[Any]:
    held: list[Any] = []
    held.append(held)
    return held


def _deep() -> list[Any]:
    held: list[Any] = []
    for _ in range(5000):
        held = [held]
    return held


STRANGE_ARGUMENTS: list[Any] = [
    *(None, True, False, 0, 1, -1, 2, 99, 2**31, 2**63, 2**64 - 1, 2**64, 10**5000, -(2**63)),
    *(0.0, 1.0, 2.5, float("nan"), float("inf"), 1j),
    *(np.True_, np.float32(1), np.float64(0), np.int8(-1), np.int64(0), np.uint64(2**64 - 1)),
    *(np.array(0), np.array(1.0), np.array(True)),
    *(np.array([0]), np.array([0.0, 1.0]), np.array([True, False]), np.array([[0, 1]])),
    *(np.array([2**64 - 1, 0], np.uint64), np.array([], np.int64), np.array(["a", "b"])),
    *(np.array([None, 1], object), np.array([1, 2], "M8[s]"), np.zeros(2, [("a", "i4")])),
    *("", "0", "random", "player_0", "player_9", "\x1b[2J", "x" * 10_000, b"0", bytearray(b"01")),
    *([], [0], [1, 0], [0, 0], [0, -1], [0, 99], [0.0, 1.0], [True, False], [[0], [0, 1]], [[0, 1]]),
    *(["0", "1"], [None, None], [2**64, 0], [10**5000, 0], _endless(), _deep()),
    *((0, 1), {0, 1}, {"a": 1}, range(2), slice(0, 2), ..., object(), Unshowable(), int, np.int64),
    lambda: 0,
]


# --- files that are none ---


class _Marker:
    """Something whose unpickling would create a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))


def pickles(marker: Path) -> list[bytes]:
    """Return pickles, also one in a torch archive's first entry, that create `marker` when they are loaded."""
    return [pickle.dumps(_Marker(marker), protocol) for protocol in (0, 2, 5)]


def special_paths(folder: Path) -> list[Path]:
    """Return paths that are no regular files: devices, a pipe, folders, broken links, missing and huge ones."""
    (folder / "folder").mkdir()
    paths = [folder / "missing", folder / "folder", folder / ("x" * 300), folder / "folder" / "x" / "y"]
    (folder / "loop").symlink_to(folder / "loop")
    (folder / "nowhere").symlink_to(folder / "missing")
    paths += [folder / "loop", folder / "nowhere"]
    if hasattr(os, "mkfifo"):
        os.mkfifo(folder / "pipe")
        paths.append(folder / "pipe")
        (folder / "to_zero").symlink_to("/dev/zero")
        paths += [Path("/dev/zero"), Path("/dev/stdin"), Path("/dev/null"), folder / "to_zero"]
    sparse = folder / "huge"
    with sparse.open("wb") as file:
        file.truncate(2**40)
    return [*paths, sparse]


# --- loading files: `load` returns the content or None if it is refused, and checks both ---

Load = Callable[[Path], Any]


def load_damaged(load: Load, path: Path, content: bytes, numbers: range, head: int = 0) -> None:
    """Load files with faults anywhere, and every other one with faults in the first `head` bytes alone."""
    for number in numbers:
        kept = head if head and number % 2 else len(content)
        path.write_bytes(damaged(content[:kept], random.Random(number)) + content[kept:])
        load(path)


def load_changed(load: Load, path: Path, plain: Any, dump: Callable[[Any], bytes], numbers: range) -> int:
    """Load files of changed plain data, unless it is nothing that can be written; return how many were taken."""
    taken = 0
    for number in numbers:
        try:
            content = dump(mutated(plain, random.Random(number)))
        except (TypeError, ValueError, RecursionError, AttributeError):
            continue
        path.write_bytes(content)
        taken += load(path) is not None
    return taken


def load_no_files(load: Load, path: Path) -> None:
    """Load special paths and pickles: all are refused, and no code runs."""
    for special in special_paths(path.parent):
        assert load(special) is None, special
    marker = path.with_name("marker")
    for content in pickles(marker):
        path.write_bytes(content)
        assert load(path) is None
    assert not marker.exists()


def load_huge(load: Load, path: Path, header: dict[str, Any], name: str, dtype: str, width: int) -> None:
    """Load safetensors files whose array claims sizes up to all that there is: refused at once."""
    for size in (2**31, 2**40, 2**50, 2**63, 2**64 - 1):
        claim = {"dtype": dtype, "shape": [size // width], "data_offsets": [0, size]}
        content = joined(header | {name: claim}, b"")
        path.write_bytes(content)
        assert load(path) is None
        if size <= 2**40:
            os.truncate(path, len(content) + size)
            assert load(path) is None
        path.write_bytes(size.to_bytes(8, "little") + b"{}")
        assert load(path) is None


CLAIMS: dict[str, dict[str, Any]] = {
    "a path": {"options": {"cards": "/dev/zero"}, "game": "cacti", "data_files": {}},
    "a long path": {"options": {"cards": "x" * 100_000}, "game": "cacti", "data_files": {}},
    "code as game": {"game": "os:system"},
    "long game": {"game": "x" * 100_000},
    "control characters": {"game": "\x1b[2J\n\n\n\n\n\n\n"},
    "half a character": {"game": "\ud800"},
    "many options": {"options": {f"option {i}": i for i in range(50_000)}},
    "a long option": {"options": {"\x1b" * 50_000: 1}},
    "a long key": {"\x1b[2J" * 50_000: 1},
    "huge numbers": {"options": {"num_players": 10**4000}},
    "many players": {"options": {"num_players": 2**31 - 1}},
    "a huge cap": {"options": {"max_decisions": 2**31 - 1}},
    "a cap beyond": {"options": {"max_decisions": 2**31}},
}
"""False claims about the game that a file is of."""
RECORD_CLAIMS: dict[str, dict[str, Any]] = {
    **CLAIMS,
    "a huge seed": {"seed": 10**4000},
    "a huge version": {"version": 10**4000},
    "a negative seed": {"seed": -1},
    "a seed that is none": {"seed": True},
    "a digest": {"data": "\x1b[2J\n" * 1000},
    "a format": {"format": "\x1b[2J\n" * 1000},
}
"""False claims of replays and datasets."""
