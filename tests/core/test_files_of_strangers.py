"""Data files, replays and datasets name no code and open no other files; only the caller names code."""

import pickle

import pytest
from dataset_tools import dataset_of, played
from pig import Pig
from sealed import dataset_parts, sealed_dataset, sealed_replay

from cacti_env import Cacti
from cacti_env.cards import PACKAGED
from garden_core import Dataset, DatasetError, Replay, ReplayError, make
from garden_core.files.data import LIMIT, DataFile
from garden_core.recorded.replay import LIMIT as REPLAY_LIMIT

CARDS = PACKAGED.read_text("utf-8").replace("points = 5", "points = 9")


@pytest.fixture
def own_cards(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(CARDS, "utf-8")
    return path


# --- data files ---


def test_large_files_are_not_read(tmp_path):
    large = tmp_path / "large"
    large.write_bytes(b"#" * (LIMIT + 1))
    with pytest.raises(ValueError, match="it has 1,000,001 bytes; 1,000,000 are allowed"):
        Cacti(cards=large)
    large.write_bytes(b"[" * (REPLAY_LIMIT + 1))
    with pytest.raises(ReplayError, match="it has 10,000,001 bytes; 10,000,000 are allowed"):
        Replay.load(large)


def test_data_is_read_once(own_cards):
    game = Cacti(cards=own_cards)
    own_cards.unlink()
    again = pickle.loads(pickle.dumps(game))
    assert again == game
    assert again.cards.starting.points == 9
    assert Cacti(cards=DataFile("elsewhere.toml", CARDS)) == game
    assert Cacti() != game


# --- replays and datasets ---


class OfReplay:
    """A replay's file."""

    error = ReplayError

    def __init__(self, path, game):
        self.path, self.saved = path, played(game, 1)[0]
        self.saved.save(path)

    def loads(self, **named):
        return Replay.load(self.path, **named) == self.saved

    def content(self):
        return self.saved.content()

    def rewrite(self, **changes):
        self.path.write_bytes(sealed_replay(self.content() | changes))


class OfDataset:
    """A dataset's file."""

    error = DatasetError

    def __init__(self, path, game):
        self.path, self.saved = path, dataset_of(played(game, 1))
        self.saved.save(path)
        self.parts = dataset_parts(path.read_bytes())

    def loads(self, **named):
        return Dataset.load(self.path, **named).game == self.saved.game

    def content(self):
        return self.parts[0]

    def rewrite(self, **changes):
        content, arrays = self.parts
        self.path.write_bytes(sealed_dataset(content | changes, arrays))


each_kind = pytest.mark.parametrize("kind", [OfReplay, OfDataset])


@each_kind
def test_a_file_holds_its_data_and_opens_no_path(kind, own_cards, tmp_path):
    game = Cacti(cards=own_cards)
    assert game.shown_options == Cacti().option_values | {"cards": "own.toml"}
    file = kind(tmp_path / "file", game)
    assert file.content()["options"]["cards"] == "own.toml"
    assert str(tmp_path).encode() not in file.path.read_bytes()
    moved = own_cards.rename(tmp_path / "moved.toml")
    assert file.loads()
    for path in (str(moved), "/dev/zero"):
        file.rewrite(data_files={}, options=file.content()["options"] | {"cards": path})
        with pytest.raises(file.error, match=r"cards=.* only the caller may name, as game= or data="):
            file.loads()
        assert file.loads(data=moved)


@each_kind
def test_a_file_names_no_code(kind, tmp_path, trap):
    file = kind(tmp_path / "file", make("pig:Pig", goal=20))
    assert file.content()["game"] == "pig"
    with pytest.raises(file.error, match="unknown game 'pig'"):
        file.loads()
    for game in ("pig:Pig", Pig):
        assert file.loads(game=game)
    with pytest.raises(file.error, match="it is a game of 'pig', not of mars"):
        file.loads(game="mars")
    file.rewrite(game="trap:Pig")
    with pytest.raises(file.error, match="'trap:Pig' is code, which only the caller may name, as game="):
        file.loads()
    assert not trap.exists()
