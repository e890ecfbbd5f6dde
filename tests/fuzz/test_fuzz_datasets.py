"""Datasets that strangers made or that were damaged: games that can be expanded, or a DatasetError that names the file."""

import random
from functools import partial

import fuzzing
import numpy as np
import pytest
from dataset_tools import dataset_of, played
from sealed import dataset_parts, joined, parts, sealed_dataset
from variants import GAMES, shortened

from garden_core import Dataset, DatasetError
from garden_core.recorded.dataset import LIMIT

LONG = 25
"""Decisions of a game."""


@pytest.fixture(scope="module", params=GAMES)
def kept(request, tmp_path_factory):
    """A dataset's file."""
    path = tmp_path_factory.mktemp("dataset") / "games.safetensors"
    games = dataset_of(played(shortened(request.param, LONG), 4), ["one", "two"])
    probabilities = np.linspace(0.1, 1, games.num_decisions)
    probabilities[::5] = np.nan
    Dataset(games.game, games.agents, games.record._replace(probabilities=probabilities)).save(path)
    return path.read_bytes()


def loaded(path, seconds=5.0):
    """Load a file; what comes out can be expanded, kept and loaded again."""
    games, _ = fuzzing.outcome(lambda: Dataset.load(path), DatasetError, names=path.name, seconds=seconds)
    if games is not None:
        expanded = games.expand()
        assert expanded.action_mask[np.arange(games.num_decisions), expanded.action].all()
        assert np.isfinite(games.returns).all()
        known = expanded.probability[~np.isnan(expanded.probability)]
        assert ((known > 0) & (known <= 1)).all()
        assert len(games.following(expanded).next_observation) == games.num_decisions
        again = path.with_name("again.safetensors")
        games.save(again)
        np.testing.assert_equal(tuple(Dataset.load(again).record), tuple(games.record))
        assert repr(games).isprintable()
    return games


@fuzzing.each_block
def test_damaged_bytes(kept, numbers, tmp_path):
    head = len(kept) - len(parts(kept)[1])
    fuzzing.load_damaged(loaded, tmp_path / "games.safetensors", kept, numbers, head)


@fuzzing.each_block
def test_changed_headers_and_content(kept, numbers, tmp_path):
    """Also with a checksum that fits."""
    path, (header, arrays) = tmp_path / "games.safetensors", parts(kept)
    fuzzing.load_changed(loaded, path, header, lambda changed: joined(changed, arrays), numbers)
    content, arrays = dataset_parts(kept)
    fuzzing.load_changed(loaded, path, content, lambda changed: sealed_dataset(changed, arrays), numbers)


@fuzzing.each_block
def test_changed_arrays_with_a_checksum_that_fits(kept, numbers, tmp_path):
    (content, whole), path = dataset_parts(kept), tmp_path / "games.safetensors"
    for number in numbers:
        rng, arrays = random.Random(number), {name: array.copy() for name, array in whole.items()}
        for _ in range(rng.randint(1, 3)):
            name = rng.choice([*arrays])
            array = arrays[name]
            kind = rng.randrange(6)
            if kind == 0 and array.size:
                array.view(f"u{array.itemsize}").flat[rng.randrange(array.size)] = rng.getrandbits(
                    8 * array.itemsize
                )
            elif kind == 1 and array.size:
                array.flat[rng.randrange(array.size)] += np.asarray(1, array.dtype)
            elif kind == 2:
                arrays[name] = array[: rng.randrange(len(array) + 1)]
            elif kind == 3:
                other = rng.choice([np.int8, np.uint8, np.int64, np.float64, np.bool_])
                with np.errstate(invalid="ignore"):
                    arrays[name] = array.astype(other)
            elif kind == 4:
                arrays[name] = array.reshape(rng.choice([(-1,), (1, -1), (-1, 1), (1, 1, -1)]))
            else:
                arrays[name] = np.concatenate([array, array])
        path.write_bytes(sealed_dataset(content, arrays))
        loaded(path)


def test_no_file_and_pickles(tmp_path):
    fuzzing.load_no_files(loaded, tmp_path / "games.safetensors")
    assert fuzzing.outcome(lambda: Dataset.load("a\0b"), DatasetError)[1]


CLAIMS = fuzzing.RECORD_CLAIMS | {
    "many agents": {"agents": ["x"] * 100_000},
    "an odd agent": {"agents": ["\x1b[2J\n" * 1000, "two"]},
    "half an agent": {"agents": ["\ud800", "two"]},
}
of_one_game = pytest.mark.parametrize("kept", GAMES[:1], indirect=True)


@of_one_game
@pytest.mark.parametrize("claim", CLAIMS)
def test_false_claims(kept, claim, tmp_path):
    path, (content, arrays) = tmp_path / "games.safetensors", dataset_parts(kept)
    path.write_bytes(sealed_dataset(content | CLAIMS[claim], arrays))
    assert loaded(path) is None


@of_one_game
def test_claims_of_sizes_cost_nothing(kept, tmp_path):
    fuzzing.load_huge(
        partial(loaded, seconds=2.0), tmp_path / "games.safetensors", parts(kept)[0], "actions", "U8", 1
    )


@of_one_game
def test_the_largest_files_end_soon(kept, tmp_path):
    """Many games and decisions that seem to fit each other."""
    (content, arrays), path = dataset_parts(kept), tmp_path / "games.safetensors"
    games = 1_000_000
    claimed = {name: np.zeros((games, *array.shape[1:]), array.dtype) for name, array in arrays.items()}
    claimed["lengths"] += 1
    path.write_bytes(sealed_dataset(content, claimed))
    assert path.stat().st_size < LIMIT
    assert loaded(path, seconds=10.0) is None
