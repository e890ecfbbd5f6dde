"""A leaderboard's files that a stranger made or that were damaged: tables, or a ValueError that names the file."""

import shutil
from pathlib import Path

import fuzzing
import pytest
from garden_agents.evaluation.leaderboard import GAMES, rating_table, read_tables
from processes import ROOT


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A leaderboard with one table and a few games."""
    monkeypatch.chdir(tmp_path)
    folder = Path("leaderboard") / "cacti-2"
    shutil.copytree(ROOT / folder, folder)
    lines = (folder / GAMES).read_bytes().splitlines(keepends=True)
    (folder / GAMES).write_bytes(b"".join(lines[:4]))
    return folder


def read(folder, name):
    """Whether the leaderboard is taken as it is."""
    tables, error = fuzzing.outcome(lambda: read_tables(folder.parent), ValueError, names=name)
    if error is None:
        (table,) = tables
        assert "\n| [" in rating_table(table)
    return error is None


@pytest.mark.parametrize("name", ["greedy.toml", GAMES])
@fuzzing.each_block
def test_damaged_bytes_and_pickles(folder, name, numbers):
    path, whole = folder / name, (folder / name).read_bytes()

    def load(path):
        return read(folder, name) or None

    fuzzing.load_damaged(load, path, whole, numbers)
    for pickled in fuzzing.pickles(folder / "marker"):
        path.write_bytes(pickled)
        assert not read(folder, name)
    assert not (folder / "marker").exists()
    path.write_bytes(whole)
    assert read(folder, name)
