"""Replays: what is written plays again, and what was changed, or comes from elsewhere, is refused with the reason."""

from __future__ import annotations

import hashlib
import json

import pytest

from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.errors import ReplayError
from garden_core.files.disk import write_atomically
from garden_core.files.replay import Replay, record
from mars_env import Mars


@pytest.fixture(scope="module")
def replay() -> Replay:
    return record(Mars(num_players=3, peaks=1), [GreedyPolicy(), RandomPolicy(), GreedyPolicy(1)], seed=4)


def test_round_trip(replay, tmp_path):
    replay.save(tmp_path / "game.json")
    loaded = Replay.load(tmp_path / "game.json")
    assert loaded == replay
    assert loaded.ended == "terminated"
    states = list(loaded.states())
    assert len(states) == len(loaded.actions) + 1
    assert tuple(loaded.game.scores(states[-1])) == loaded.scores
    assert [int(state["decisions"]) for state in states] == list(range(len(states)))


def rewritten(replay, path, **changes):
    """Write the replay with changes and a checksum that fits them."""
    replay.save(path)
    content = json.loads(path.read_text()) | changes
    content.pop("checksum")
    content["checksum"] = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content))
    return path


def test_tampering_is_found_by_the_checksum(replay, tmp_path):
    path = tmp_path / "game.json"
    replay.save(path)
    path.write_text(path.read_text().replace('"ended": "terminated"', '"ended": "truncated"'))
    with pytest.raises(ReplayError, match="checksum"):
        Replay.load(path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "garden-replay-99"}, "format"),
        ({"game": "chess"}, "unknown game 'chess'"),
        ({"options": {"num_players": 9}}, "num_players must be"),
        ({"options": {"colour": 9}}, "unexpected keyword argument 'colour'"),
        ({"options": {"num_players": 3}}, "other data or options"),
        ({"data": "0123456789abcdef"}, "other data or options"),
        ({"version": 7}, "was played with version 7 of mars, and this is version 0"),
        ({"version": "0"}, "cannot be played"),
        ({"scores": [1, 2, 3]}, "plays here to"),
        ({"ended": "truncated"}, "plays here to"),
        ({"actions": ["hex 0,0"]}, "step 0: 'hex 0,0' is illegal"),
        ({"actions": ["hex 9,9"]}, "step 0: mars has no action 'hex 9,9'"),
        ({"seed": "many"}, "cannot be played"),
        ({"actions": 5}, "cannot be played"),
    ],
)
def test_foreign_and_false_replays_are_refused(replay, tmp_path, changes, reason):
    with pytest.raises(ReplayError, match=reason):
        Replay.load(rewritten(replay, tmp_path / "game.json", **changes))


def test_a_replay_says_which_version_of_the_game_it_is_of(replay, tmp_path, monkeypatch):
    assert replay.content()["version"] == 0
    path = tmp_path / "game.json"
    replay.save(path)
    monkeypatch.setattr(type(replay.game), "version", 1)
    with pytest.raises(ReplayError, match="was played with version 0 of mars, and this is version 1"):
        Replay.load(path)


def test_actions_after_the_end_are_refused(replay, tmp_path):
    actions = [*replay.actions, replay.actions[-1]]
    with pytest.raises(ReplayError, match=f"step {len(replay.actions)}: .* is illegal"):
        Replay.load(rewritten(replay, tmp_path / "game.json", actions=actions))


@pytest.mark.parametrize("content", ["", "no json", "[1, 2]", "{}"])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "game.json"
    path.write_text(content)
    with pytest.raises(ReplayError, match="not a replay"):
        Replay.load(path)


def test_an_old_file_stays_whole_when_writing_fails(tmp_path, monkeypatch):
    path = tmp_path / "model.zip"
    write_atomically(path, b"old")
    real = type(path).write_bytes

    def full_disk(self, content):
        real(self, content[: len(content) // 2])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(path), "write_bytes", full_disk)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new content")
    monkeypatch.undo()
    assert path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir()] == ["model.zip"]
