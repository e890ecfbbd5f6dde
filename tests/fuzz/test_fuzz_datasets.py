"""Datasets that strangers made or that were damaged: games that can be expanded, or a DatasetError that names the file."""

from __future__ import annotations

import hashlib
import json
import random
from pathlib import Path
from typing import Any

import fuzzing
import numpy as np
import pytest
from dataset_tools import dataset_of, joined, parts, played
from safetensors.numpy import load, save
from variants import GAMES, shortened

from garden_core.errors import DatasetError
from garden_core.files.dataset import KEY, LIMIT, Dataset

LONG = 25
"""Decisions of a game."""


@pytest.fixture(scope="module", params=GAMES)
def kept(request, tmp_path_factory) -> bytes:
    """A dataset's file."""
    path = tmp_path_factory.mktemp("dataset") / "games.safetensors"
    dataset_of(played(shortened(request.param, LONG), 4), ["one", "two"]).save(path)
    return path.read_bytes()


def loaded(path: Path, seconds: float = 5.0) -> Dataset | None:
    """Load a file; what comes out can be expanded, kept and loaded again."""
    games, _ = fuzzing.outcome(lambda: Dataset.load(path), DatasetError, names=path.name, seconds=seconds)
    if games is not None:
        expanded = games.expand()
        assert expanded.action_mask[np.arange(games.num_decisions), expanded.action].all()
        assert np.isfinite(games.returns).all()
        again = path.with_name("again.safetensors")
        games.save(again)
        assert all(map(np.array_equal, Dataset.load(again).record, games.record))
        assert repr(games).isprintable()
    return games


def sealed(content: Any, arrays: dict[str, np.ndarray]) -> bytes:
    """Return a file of plain data and arrays with a checksum that fits."""
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key != "checksum"}
        digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
        for name in sorted(arrays):
            digest.update(f"{name} {arrays[name].dtype.str} {arrays[name].shape}".encode())
            digest.update(arrays[name].tobytes())
        content["checksum"] = digest.hexdigest()
    return save(arrays, {KEY: json.dumps(content)})


def content_of(kept: bytes) -> dict[str, Any]:
    """Return a file's plain data."""
    return json.loads(parts(kept)[0]["__metadata__"][KEY])


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_damaged_bytes(kept, numbers, tmp_path):
    path = tmp_path / "games.safetensors"
    head = len(kept) - len(parts(kept)[1])
    for number in numbers:
        path.write_bytes(fuzzing.damaged_head_or_all(kept, head, number))
        loaded(path)


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_changed_headers(kept, numbers, tmp_path):
    header, arrays = parts(kept)
    path = tmp_path / "games.safetensors"
    for number in numbers:
        try:
            path.write_bytes(joined(fuzzing.mutated(header, random.Random(number)), arrays))
        except (ValueError, RecursionError):
            continue
        loaded(path)


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_changed_content_with_a_checksum_that_fits(kept, numbers, tmp_path):
    content, arrays = content_of(kept), load(kept)
    path = tmp_path / "games.safetensors"
    for number in numbers:
        try:
            path.write_bytes(sealed(fuzzing.mutated(content, random.Random(number)), arrays))
        except (ValueError, RecursionError, TypeError):  # nothing that JSON can hold
            continue
        loaded(path)


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_changed_arrays_with_a_checksum_that_fits(kept, numbers, tmp_path):
    content, path = content_of(kept), tmp_path / "games.safetensors"
    for number in numbers:
        rng, arrays = random.Random(number), {name: array.copy() for name, array in load(kept).items()}
        for _ in range(rng.randint(1, 3)):
            name = rng.choice([*arrays])
            array = arrays[name]
            kind = rng.randrange(6)
            if kind == 0 and array.size:
                array.flat[rng.randrange(array.size)] = rng.randrange(np.iinfo(array.dtype).max + 1)
            elif kind == 1 and array.size:
                array.flat[rng.randrange(array.size)] += np.asarray(1, array.dtype)
            elif kind == 2:
                arrays[name] = array[: rng.randrange(len(array) + 1)]
            elif kind == 3:
                arrays[name] = array.astype(rng.choice([np.int8, np.uint8, np.int64, np.float64, np.bool_]))
            elif kind == 4:
                arrays[name] = array.reshape(rng.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)]))
            else:
                arrays[name] = np.concatenate([array, array])
        path.write_bytes(sealed(content, arrays))
        loaded(path)


def test_no_file_and_pickles(tmp_path):
    for path in fuzzing.special_paths(tmp_path):
        assert fuzzing.outcome(lambda path=path: Dataset.load(path), DatasetError, names=path.name)[1]
    for content in fuzzing.pickles(tmp_path / "marker"):
        (tmp_path / "games.safetensors").write_bytes(content)
        assert loaded(tmp_path / "games.safetensors") is None
    assert not (tmp_path / "marker").exists()
    assert fuzzing.outcome(lambda: Dataset.load("a\0b"), DatasetError)[1]


CLAIMS: dict[str, dict[str, Any]] = {
    "a path": {"options": {"cards": "/dev/zero"}, "game": "cacti", "data_files": {}},
    "code as game": {"game": "os:system"},
    "long game": {"game": "x" * 100_000},
    "control characters": {"game": "\x1b[2J\n\n\n\n\n\n\n"},
    "a long option": {"options": {"\x1b" * 50_000: 1}},
    "a long key": {"\x1b[2J" * 50_000: 1},
    "huge numbers": {"options": {"num_players": 10**4000}},
    "a huge cap": {"options": {"max_decisions": 2**31 - 1}},
    "a huge seed": {"seed": 10**4000},
    "a seed that is none": {"seed": True},
    "many agents": {"agents": ["x"] * 100_000},
    "an odd agent": {"agents": ["\x1b[2J\n" * 1000, "two"]},
    "half a character": {"agents": ["\ud800", "two"]},
    "a digest": {"data": "\x1b[2J\n" * 1000},
    "a format": {"format": "\x1b[2J\n" * 1000},
}


@pytest.mark.parametrize("kept", GAMES[:1], indirect=True)
@pytest.mark.parametrize("claim", CLAIMS)
def test_false_claims(kept, claim, tmp_path):
    path = tmp_path / "games.safetensors"
    path.write_bytes(sealed(content_of(kept) | CLAIMS[claim], load(kept)))
    assert loaded(path) is None


@pytest.mark.parametrize("kept", GAMES[:1], indirect=True)
@pytest.mark.parametrize("size", [2**31, 2**40, 2**50, 2**63, 2**64 - 1])
def test_claims_of_sizes_cost_nothing(kept, size, tmp_path):
    path, (header, _) = tmp_path / "games.safetensors", parts(kept)
    large = {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}
    content = joined(header | {"actions": large}, b"")
    path.write_bytes(content)
    assert loaded(path) is None
    if size <= 2**40:
        with path.open("r+b") as file:
            file.truncate(len(content) + size)
        assert loaded(path, seconds=2.0) is None
    path.write_bytes(size.to_bytes(8, "little") + b"{}")
    assert loaded(path) is None


@pytest.mark.parametrize("kept", GAMES[:1], indirect=True)
def test_the_largest_files_end_soon(kept, tmp_path):
    """Many games and decisions that seem to fit each other."""
    arrays, content, path = load(kept), content_of(kept), tmp_path / "games.safetensors"
    games = 1_000_000
    claimed = {
        "seeds": np.zeros(games, np.uint64),
        "lengths": np.ones(games, np.int32),
        "actions": np.zeros(games, arrays["actions"].dtype),
        "lineups": np.zeros((games, arrays["lineups"].shape[1]), np.uint8),
        "scores": np.zeros((games, arrays["lineups"].shape[1]), np.int32),
    }
    path.write_bytes(sealed(content, claimed))
    assert path.stat().st_size < LIMIT
    assert loaded(path, seconds=10.0) is None
