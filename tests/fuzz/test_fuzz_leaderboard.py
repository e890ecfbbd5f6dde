"""A leaderboard's files that a stranger made or that were damaged: tables, or a ValueError that names the file."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import fuzzing
import pytest
from processes import ROOT

pytest.importorskip("openskill")
pytest.importorskip("tyro")

from garden_agents.evaluation.leaderboard import GAMES, rating_table, read_tables


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """A leaderboard with one table and a few games."""
    monkeypatch.chdir(tmp_path)
    folder = Path("leaderboard") / "cacti-2"
    shutil.copytree(ROOT / folder, folder)
    lines = (folder / GAMES).read_bytes().splitlines(keepends=True)
    (folder / GAMES).write_bytes(b"".join(lines[:4]))
    return folder


def read(folder: Path, name: str) -> bool:
    """Whether the leaderboard is taken as it is."""
    found, error = fuzzing.outcome(lambda: read_tables(folder.parent), ValueError, names=name)
    if error is None:
        (table,) = found
        assert "\n| [" in rating_table(table)
    return error is None


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
@pytest.mark.parametrize("name", ["greedy.toml", GAMES])
def test_damaged_bytes(folder, name, numbers):
    whole = (folder / name).read_bytes()
    for number in numbers:
        (folder / name).write_bytes(fuzzing.damaged(whole, random.Random(number)))
        read(folder, name)
    (folder / name).write_bytes(whole)
    assert read(folder, name)


def test_no_file_and_pickles(folder, tmp_path):
    whole = {name: (folder / name).read_bytes() for name in ("greedy.toml", GAMES)}
    for name, content in whole.items():
        for pickle in fuzzing.pickles(tmp_path / "marker"):
            (folder / name).write_bytes(pickle)
            assert not read(folder, name)
        (folder / name).write_bytes(content)
    assert not (tmp_path / "marker").exists()
