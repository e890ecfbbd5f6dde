"""A leaderboard's files that a stranger made or that were damaged: entries, or a ValueError that names the file."""

import json
from pathlib import Path

import fuzzing
import pytest
from entries import enter, made_up
from garden_agents.evaluation.leaderboard import read_entries, table


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A leaderboard's folder of a task, with an entry."""
    monkeypatch.chdir(tmp_path)
    folder = Path("leaderboard") / "cacti-2"
    enter(folder, "mine", note="text", decisions=1, knowledge=True)
    return folder


def load(path):
    """The table if the leaderboard is taken as it is, otherwise None."""
    entries, error = fuzzing.outcome(
        lambda: read_entries(path.parents[1]), ValueError, names=path.with_suffix("")
    )
    if error is not None:
        return None
    text = table(entries["cacti-2"])
    assert "\n| [" in text
    assert text.isprintable() or text.count("\n") == 2
    return text


@pytest.mark.parametrize("kind", [".toml", ".json"])
@fuzzing.each_block
def test_damaged_bytes(folder, kind, numbers):
    path = folder / f"mine{kind}"
    fuzzing.load_damaged(load, path, path.read_bytes(), numbers)


@fuzzing.each_block
def test_changed_scores(folder, numbers):
    """What is taken has the rating that its results make."""
    path, content = folder / "mine.json", made_up("cacti-2", "mcts:5")
    assert fuzzing.load_changed(load, path, content, lambda plain: json.dumps(plain).encode(), numbers) < len(
        numbers
    )


@pytest.mark.parametrize("kind", [".toml", ".json"])
def test_no_files(folder, kind):
    path = folder / f"mine{kind}"
    whole = path.read_bytes()
    for special in fuzzing.special_paths(folder.parent.parent):
        path.unlink()
        path.symlink_to(special.absolute())
        assert load(path) is None
    path.unlink()
    for pickled in fuzzing.pickles(Path("marker")):
        path.write_bytes(pickled)
        assert load(path) is None
    assert not Path("marker").exists()
    path.write_bytes(whole)
    assert load(path)
