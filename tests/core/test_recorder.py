"""The folder that games are recorded into: numbers, what is never overwritten, what is left out."""

import copy
import warnings

import pytest
from pig import HOLD, ROLL, Pig
from processes import full_disk

from garden_core import Batch, Replay
from garden_core.jit import game_seed
from garden_core.recorded.recorder import Recorder

SEED = 1


def played(*actions):
    """Return the seed of a game, the actions, and the state that they lead to."""
    batch = Batch(Pig(), 1)
    batch.reset(SEED)
    for action in actions:
        batch.step([action])
    return int(game_seed(batch.seeds[0], batch.seed_rows[0], batch.episodes[0])), actions, batch.states[0]


GAME = played(ROLL, HOLD)


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_are_counted_on(tmp_path):
    folder = tmp_path / "deep" / "games"
    recorder = Recorder(Pig(), folder)
    assert names(folder) == []
    recorder.save(*GAME)
    recorder.save(*GAME)
    assert names(folder) == ["game-000001.json", "game-000002.json"]
    (folder / "game-000007.json").write_text("somebody else's", "utf-8")
    (folder / "game-8.txt").touch()
    (folder / "game-1234567x.json").touch()
    Recorder(Pig(), str(folder)).save(*GAME)
    assert Replay.load(folder / "game-000008.json", Pig).actions == ("roll", "hold")
    assert (folder / "game-000007.json").read_text("utf-8") == "somebody else's"


def test_several_record_into_one_folder(tmp_path):
    one = Recorder(Pig(), tmp_path)
    recorders = [one, Recorder(Pig(), tmp_path), copy.deepcopy(one)]
    for _ in range(2):
        for recorder in recorders:
            recorder.save(*GAME)
    assert names(tmp_path) == [f"game-{number:06d}.json" for number in range(1, 7)]
    for path in tmp_path.iterdir():
        assert Replay.load(path, Pig).ended == "running"


def test_a_game_without_decisions_is_not_written(tmp_path):
    Recorder(Pig(), tmp_path).save(*played())
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("seed", "actions"), [(GAME[0], [HOLD]), (GAME[0], [ROLL]), (GAME[0] + 1, [ROLL, HOLD])]
)
def test_decisions_that_do_not_lead_to_the_state_are_left_out_with_one_warning(tmp_path, seed, actions):
    recorder = Recorder(Pig(), tmp_path)
    with pytest.warns(
        UserWarning, match="a game of pig is not recorded: it was not played here from its deal"
    ):
        recorder.save(seed, actions, GAME[2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        recorder.save(seed, actions, GAME[2])
        recorder.save(*GAME)
    assert names(tmp_path) == ["game-000001.json"]


def test_other_paths_than_folders_are_refused(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match=r"record must be a folder, and a file is in the way: .*file"):
        Recorder(Pig(), file / "games")
    with pytest.raises(TypeError, match="record must be the path of a folder, or None, not"):
        Recorder(Pig(), True)


def test_a_write_that_fails_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(Replay, "save", full_disk)
    with pytest.raises(OSError, match="No space left"):
        Recorder(Pig(), tmp_path).save(*GAME)
    assert names(tmp_path) == []
