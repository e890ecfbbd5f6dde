"""Replays: what is written plays again, and what was changed, or comes from elsewhere, is refused with the reason."""

import pytest
from sealed import sealed_replay

from garden_core import GreedyPolicy, RandomPolicy, Replay, ReplayError, record
from garden_core.files.disk import write_atomically
from mars_env import Mars


@pytest.fixture(scope="module")
def replay():
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
    path.write_bytes(sealed_replay(replay.content() | changes))
    return path


def test_tampering_is_found_by_the_checksum(replay, tmp_path):
    path = tmp_path / "game.json"
    replay.save(path)
    path.write_text(path.read_text("utf-8").replace('"ended": "terminated"', '"ended": "truncated"'), "utf-8")
    with pytest.raises(ReplayError, match="checksum"):
        Replay.load(path)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"format": "garden-replay-99"}, "format"),
        ({"options": {"num_players": 9}}, "num_players must be"),
        ({"options": {"num_players": 3}}, "other data or options"),
        ({"data": "0123456789abcdef"}, "other data or options"),
        ({"version": 7}, "was played with version 7 of mars, and this is version 0"),
        ({"scores": [1, 2, 3]}, "plays here to"),
        ({"ended": "truncated"}, "plays here to"),
        ({"actions": ["hex 0,0"]}, "step 0: 'hex 0,0' is illegal"),
        ({"actions": ["hex 9,9"]}, "step 0: mars has no action 'hex 9,9'"),
        ({"actions": 5}, "cannot be played"),
    ],
)
def test_foreign_and_false_replays_are_refused(replay, tmp_path, changes, reason):
    with pytest.raises(ReplayError, match=reason):
        Replay.load(rewritten(replay, tmp_path / "game.json", **changes))


def test_actions_after_the_end_are_refused(replay, tmp_path):
    actions = [*replay.actions, replay.actions[-1]]
    with pytest.raises(ReplayError, match=f"step {len(replay.actions)}: .* is illegal"):
        Replay.load(rewritten(replay, tmp_path / "game.json", actions=actions))


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
