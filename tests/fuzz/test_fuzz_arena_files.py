"""An arena's file of finished games that a stranger made or that was damaged: games, or a ValueError."""

import json

import fuzzing
import numpy as np
import pytest
from garden_agents.identity import Identity
from garden_agents.matches import meet, pairs

from garden_core import make

GAME = make("cacti")
SOURCES = {"random": "0" * 16, "greedy": "1" * 16}
PLAYED = [[[0, 1]] * 4, [[9, 5]] * 4]
AGENTS = {name: Identity(digest, "") for name, digest in SOURCES.items()}


@pytest.fixture
def lines(tmp_path):
    """The lines of a file with two jobs."""
    (tmp_path / "new.games.jsonl").touch()
    pairs._kept(tmp_path / "new.games.jsonl", GAME, 0, AGENTS, (), {})
    (head,) = (tmp_path / "new.games.jsonl").read_text("utf-8").splitlines()
    job = {
        "job": [["random", "greedy"], 0, 4],
        "sources": list(SOURCES.values()),
        "played": PLAYED,
    }
    given_up = {"job": [["random", "greedy"], 1, 4], "played": [*PLAYED, [[0, 1], [3, 1]]]}
    return [json.loads(head), job, job | given_up]


def kept(path):
    """Read a file; what is taken of it makes results, what is not leaves it as it was."""
    before = path.read_bytes() if path.is_file() and path.stat().st_size < 1e6 else None
    jobs, error = fuzzing.outcome(
        lambda: pairs._kept(path, GAME, 0, AGENTS, (), {}), ValueError, names=path.name
    )
    if error is not None:
        assert before is None or path.read_bytes() == before
        return None
    for job, played in jobs.items():
        if job.games > 0:
            meet.result_of(job.agents, *map(np.array, played[:2]), played.forfeited)
    return jobs


def written(lines):
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@fuzzing.each_block
def test_changed_lines(lines, numbers, tmp_path):
    path = tmp_path / "arena.games.jsonl"
    assert fuzzing.load_changed(kept, path, lines[1:], lambda jobs: written([lines[0], *jobs]), numbers)
    fuzzing.load_changed(kept, path, lines, written, numbers)


@pytest.mark.parametrize(
    "claim",
    [
        {"played": [*PLAYED, [[4, 1]]]},
        {"played": [*PLAYED, [[0, 2]]]},
        {"played": [*PLAYED, [[0, 0]]]},
        {"played": [*PLAYED, [[0, 1], [0, 1]]]},
        {"job": [["random"], 0, 4], "sources": ["0" * 16]},
        {"job": [["random", "greedy", "x"], 0, 4], "sources": [*SOURCES.values(), "x"]},
    ],
)
def test_impossible_forfeits_and_numbers_of_agents(lines, claim, tmp_path):
    (tmp_path / "arena.games.jsonl").write_bytes(written([lines[0], lines[1] | claim]))
    assert kept(tmp_path / "arena.games.jsonl") is None


@fuzzing.each_block
def test_damaged_bytes(lines, numbers, tmp_path):
    fuzzing.load_damaged(kept, tmp_path / "arena.games.jsonl", written(lines), numbers)


def test_no_file_and_pickles(tmp_path):
    made = ("missing", "nowhere", "loop", "y")  # which are no faults: the file is made
    for path in fuzzing.special_paths(tmp_path):
        if path.name not in made:
            with pytest.raises((ValueError, OSError)) as raised, fuzzing.within(5):
                pairs._kept(path, GAME, 0, AGENTS, (), {})
            fuzzing.check_message(raised.value)
    for content in fuzzing.pickles(tmp_path / "marker"):
        (tmp_path / "arena.games.jsonl").write_bytes(content)
        kept(tmp_path / "arena.games.jsonl")
    assert not (tmp_path / "marker").exists()
