"""Datasets: what is expanded is what was played, and files are small, verified, and run no code."""

import json

import numpy as np
import pytest
from dataset_tools import dataset_of, played
from pig import Pig
from safetensors.numpy import save
from sealed import dataset_parts, sealed_dataset
from variants import each_game, each_variant, shortened

from cacti_env.cards import PACKAGED
from garden_core import Batch, Dataset, DatasetError, RandomPolicy, Replay, make, record
from garden_core.files import dataset
from garden_core.files.dataset import KEY, Record


@pytest.fixture(scope="module")
def games():
    """A dataset of ten short games of three players."""
    game = shortened("mars", 40, num_players=3)
    lineups = (np.arange(3) + np.arange(10)[:, None]) % 2
    return dataset_of(played(game, 10), ["random", "greedy"], lineups)


def slowly(replay):
    """What a dataset's decisions must be, by stepping a batch and adding up in plain Python."""
    game = replay.game
    batch = Batch(game, 1, autoreset=False)
    batch.reset(0)
    batch.set_states([0], [next(replay.states())])
    views, masks, players, actions, paid = [], [], [], [], []
    for _, decision in list(replay.decisions())[1:]:
        player, action = decision
        assert batch.current_player[0] == player
        views.append(batch.observation[0].copy())
        masks.append(batch.action_mask[0].copy())
        players.append(player)
        actions.append(action)
        batch.step([action])
        paid.append(batch.rewards[0].tolist())
    n = len(actions)
    own = [[k for k in range(n) if players[k] == seat] for seat in range(game.num_players)]
    rewards, to_go = [], []
    for k, player in enumerate(players):
        later = [j for j in own[player] if j > k]
        first = 0 if k == own[player][0] else k
        rewards.append(sum(paid[j][player] for j in range(first, later[0] if later else n)))
        to_go.append(sum(paid[j][player] for j in range(first, n)))
    last = [k == own[player][-1] for k, player in enumerate(players)]
    return views, masks, actions, players, rewards, to_go, last


# --- expanding ---


@each_variant
def test_decisions_are_those_of_the_games(name, options):
    replays = played(make(name, **options))
    expanded = dataset_of(replays).expand()
    for number, replay in enumerate(replays):
        rows = expanded.game == number
        views, masks, actions, players, rewards, to_go, last = slowly(replay)
        assert np.array_equal(expanded.observation[rows], views)
        assert np.array_equal(expanded.action_mask[rows], masks)
        assert expanded.action[rows].tolist() == actions
        assert expanded.player[rows].tolist() == players
        assert expanded.last[rows].tolist() == last
        np.testing.assert_allclose(expanded.reward[rows], rewards, atol=1e-5)
        np.testing.assert_allclose(expanded.return_to_go[rows], to_go, atol=1e-5)


def test_agents_and_results(games):
    expanded = games.expand()
    assert np.array_equal(expanded.agent, games.record.lineups[expanded.game, expanded.player])
    assert np.allclose(games.returns.sum(axis=1), 0)
    scores = [replay.scores for replay in map(games.replay, range(len(games)))]
    assert games.scores.tolist() == list(map(list, scores))
    assert [games.game.scores(state) for state in games.final_states()] == games.scores.tolist()


@pytest.mark.parametrize("size", [1, 50, 100, 10_000])
def test_chunks_are_the_whole_in_parts(games, size):
    whole, chunks = games.expand(), list(games.chunks(size=size))
    for name, array in whole._asdict().items():
        assert np.array_equal(np.concatenate([getattr(chunk, name) for chunk in chunks]), array), name
    for chunk in chunks:
        assert len(chunk.action) <= size or len(set(chunk.game)) == 1
    assert len(chunks) == {1: 10, 10_000: 1}.get(size, len(chunks))


@pytest.mark.parametrize(
    ("chosen", "numbers"),
    [
        (None, [*range(10)]),
        (-1, [9]),
        ([7, 2, 2], [7, 2, 2]),
        (slice(None, None, -4), [9, 5, 1]),
        (np.arange(10) == 4, [4]),
        ([], []),
    ],
)
def test_some_games(games, chosen, numbers):
    expanded = games.expand(chosen)
    alone = [games.expand(number) for number in numbers]
    for name, array in expanded._asdict().items():
        assert array.tolist() == [row for one in alone for row in getattr(one, name).tolist()]
    assert len(games.final_states(chosen)) == len(numbers)
    assert sum(len(chunk.action) for chunk in games.chunks(chosen)) == len(expanded.action)


@pytest.mark.parametrize("chosen", [10, [-11], "0", 1.0, [[0, 1]], np.ones(9, bool)])
def test_games_that_are_not_there(games, chosen):
    for call in (games.expand, games.chunks, games.final_states):
        with pytest.raises(IndexError):
            call(chosen)


def test_a_game_is_a_replay(games, tmp_path):
    replay = games.replay(4)
    assert replay == played(games.game, 10)[4]
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json") == games.replay(4 - len(games))


# --- games that cannot be ---


def changed(record, **arrays):
    return record._replace(**{name: change(getattr(record, name).copy()) for name, change in arrays.items()})


def put(at, value):
    def change(array):
        array[at] = value
        return array

    return change


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seeds": lambda a: a[:0], "lengths": lambda a: a[:0]}, "there are no games"),
        ({"seeds": lambda a: a.astype(float)}, "seeds must be whole numbers from 0"),
        ({"lengths": lambda a: a[1:]}, r"lengths must have shape \(10,\), not \(9,\)"),
        ({"lengths": put(0, 41)}, "lengths must be whole numbers from 1 to 40"),
        ({"actions": lambda a: a[:-1]}, "the games have .* decisions, and there are .* actions"),
        ({"actions": put(0, 255)}, "actions must be whole numbers from 0 to"),
        ({"lineups": put((3, 1), 2)}, "lineups must be whole numbers from 0 to 1"),
    ],
)
def test_arrays_that_do_not_fit(games, changes, message):
    with pytest.raises(DatasetError, match=message):
        Dataset(games.game, games.agents, changed(games.record, **changes))


def test_games_that_were_not_played(games):
    game, agents, record = games.game, games.agents, games.record
    mask = games.expand(2).action_mask[5]
    at = int(record.lengths[:2].sum()) + 5
    wrong = changed(record, actions=put(at, mask.argmin()))
    with pytest.raises(DatasetError, match=f"game 2: step 5: '{game.labels[mask.argmin()]}' is illegal"):
        Dataset(game, agents, wrong)
    longer = make("mars", num_players=3, max_decisions=41)
    with pytest.raises(DatasetError, match="game 0: it is not over after its 40 decisions"):
        Dataset(longer, agents, record)
    one = dataset_of(played(make("pig:Pig", goal=20), 1)).record
    one = Record(one.seeds, one.lengths + 1, np.append(one.actions, 0), one.lineups)
    with pytest.raises(DatasetError, match="game 0: it is over after"):
        Dataset(make("pig:Pig", goal=20), ["a"], one)


# --- games that were given up ---


@pytest.fixture
def given_up(games):
    """The games, of which the second is given up after 7 decisions, and the third before the first decision."""
    record = games.record
    starts = np.cumsum(record.lengths) - record.lengths
    gone = np.zeros(len(record.actions), bool)
    gone[starts[1] + 7 : starts[3]] = True
    lengths, forfeited = record.lengths.copy(), np.full(10, -1)
    lengths[[1, 2]] = 7, 0
    forfeited[[1, 2]] = games.expand(1).player[7], games.expand(2).player[0]
    return Record(record.seeds, lengths, record.actions[~gone], record.lineups, forfeited)


def test_games_that_were_given_up_are_played_again_as_far_as_they_went(games, given_up, tmp_path):
    path = tmp_path / "games.safetensors"
    Dataset(games.game, games.agents, given_up).save(path)
    found = Dataset.load(path)
    assert (found.record.forfeited == given_up.forfeited).all()
    assert found.num_decisions == given_up.lengths.sum()
    paid = found.expand(1)
    seat, whole = int(found.record.forfeited[1]), games.expand(1)
    assert (paid.observation == whole.observation[:7]).all()
    own = paid.player == seat
    assert found.returns[1, seat] == paid.return_to_go[own][0] == paid.reward[own].sum() == -1
    assert not paid.reward[~own].any()
    assert found.returns[2].tolist() == [-1.0 * (s == found.record.forfeited[2]) for s in range(3)]
    assert found.replay(1).ended == "running"
    assert found.replay(1).scores == tuple(found.scores[1])
    others = [0, *range(3, 10)]
    assert (found.scores[others] == games.scores[others]).all()
    assert sum(len(chunk.action) for chunk in found.chunks(size=1)) == found.num_decisions


@pytest.mark.parametrize(
    ("game", "seat", "message"),
    [
        (
            1,
            lambda seat: (seat + 1) % 3,
            r"game 1: after its 7 decisions it was not for seat \d to give it up",
        ),
        (0, lambda seat: 0, r"game 0: after its \d+ decisions it was not for seat 0 to give it up"),
        (1, lambda seat: 3, "forfeited must be whole numbers from -1 to 2"),
    ],
)
def test_games_that_nobody_can_have_given_up(games, given_up, game, seat, message):
    wrong = changed(given_up, forfeited=lambda a: put(game, seat(a[game]))(a))
    with pytest.raises(DatasetError, match=message):
        Dataset(games.game, games.agents, wrong)


# --- files ---


@pytest.mark.many_games
@each_game
def test_files_are_small_and_hold_everything(name, tmp_path):
    path = tmp_path / "games.safetensors"
    games = dataset_of(played(make(name), 40), ["an agent"])
    games.save(path)
    again = Dataset.load(path)
    assert (again.game, again.agents, again.seed) == (games.game, games.agents, games.seed)
    assert all(map(np.array_equal, again.record, games.record))
    assert np.array_equal(again.returns, games.returns)
    assert all(map(np.array_equal, again.expand(), games.expand()))
    header = 2000
    for_each_game = 12 + 5 * games.game.num_players
    assert path.stat().st_size < games.num_decisions + for_each_game * len(games) + header


def test_actions_are_as_narrow_as_fits():
    class Wide(Pig):
        name = "wide pig"

        @property
        def labels(self):
            return tuple(map(str, range(300)))

    for game, kind in ((Pig(), np.uint8), (Wide(), np.uint16)):
        games = dataset_of([record(game, [RandomPolicy()] * 2)])
        assert games.record.actions.dtype == kind
        assert games.expand().action_mask.shape[1] == game.num_actions


def rewritten(path, content=None, arrays=None):
    """Write a dataset's file with changed content or arrays, and a checksum that fits."""
    whole, held = dataset_parts(path.read_bytes())
    path.write_bytes(sealed_dataset(whole | (content or {}), held | (arrays or {})))
    return path


@pytest.fixture
def file(games, tmp_path):
    """The file of the games."""
    path = tmp_path / "games.safetensors"
    games.save(path)
    return path


def test_what_was_changed_is_seen(games, file):
    content, arrays = dataset_parts(file.read_bytes())
    changes = [
        (content | {"agents": ["x", "y"]}, arrays),
        (content, arrays | {"lineups": 1 - arrays["lineups"]}),
    ]
    for changed_content, changed_arrays in changes:
        file.write_bytes(save(changed_arrays, {KEY: json.dumps(changed_content)}))
        with pytest.raises(DatasetError, match="was changed or damaged: its checksum does not fit"):
            Dataset.load(file)
    file.write_bytes(sealed_dataset(content, arrays))
    assert Dataset.load(file).agents == games.agents


@pytest.mark.parametrize(
    ("content", "arrays", "message"),
    [
        ({"format": "garden-dataset-9"}, {}, "not a dataset of format 'garden-dataset-1'"),
        ({"game": "chess"}, {}, "unknown game 'chess'"),
        ({"options": {"num_players": 3}}, {}, "was played with other data or options"),
        ({"version": 3}, {}, "was played with version 3 of mars, and this is version 0"),
        ({"surprise": 1}, {}, "unknown field `surprise`"),
        ({"agents": ["x"]}, {}, "lineups must be whole numbers from 0 to 0"),
        ({}, {"scores": np.zeros((10, 3), np.int32)}, "with other scores: other rules made it"),
        ({}, {"lengths": np.ones(10, np.int64)}, "its lengths are int64, not int32"),
        ({}, {"more": np.ones(10)}, "its arrays are .*more"),
    ],
)
def test_files_that_cannot_be(file, content, arrays, message):
    with pytest.raises(DatasetError, match=message) as caught:
        Dataset.load(rewritten(file, content, arrays))
    assert str(file) in str(caught.value)


def test_own_data_travels_by_its_content(tmp_path):
    cards, path = tmp_path / "own.toml", tmp_path / "games.safetensors"
    cards.write_text(PACKAGED.read_text().replace("points = 5", "points = 9"))
    games = dataset_of(played(make("cacti", cards=cards), 1))
    games.save(path)
    assert str(tmp_path).encode() not in path.read_bytes()
    assert Dataset.load(path).game == games.game
    rewritten(path, {"data_files": {}, "options": {**games.game.option_values, "cards": str(cards)}})
    with pytest.raises(DatasetError, match=r"played with cards='.*own.toml'; pass data="):
        Dataset.load(path)
    assert Dataset.load(path, data=cards).game == games.game


def test_a_file_names_no_code(tmp_path, trap):
    path = tmp_path / "games.safetensors"
    dataset_of(played(make("pig:Pig", goal=20), 1)).save(path)
    with pytest.raises(DatasetError, match="unknown game 'pig'"):
        Dataset.load(path)
    assert len(Dataset.load(path, game="pig:Pig")) == 1
    with pytest.raises(DatasetError, match="it is a game of 'pig', not of mars"):
        Dataset.load(path, game="mars")
    with pytest.raises(DatasetError, match="it names code, 'trap:Pig'"):
        Dataset.load(rewritten(path, {"game": "trap:Pig"}))
    assert not trap.exists()


def test_games_are_played_in_blocks_that_fit_together(games, monkeypatch):
    monkeypatch.setattr(dataset, "CHUNK", 50)
    again = Dataset(games.game, games.agents, games.record)
    assert np.array_equal(again.scores, games.scores)
    assert all(map(np.array_equal, again.expand(), games.expand()))


def test_arrays_are_read_only(games):
    for array in (*games.record, games.scores, games.returns):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
