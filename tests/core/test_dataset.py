"""Datasets: what is expanded is what was played, and files are small, verified, and run no code."""

import json

import numpy as np
import pytest
from dataset_tools import dataset_of, played
from pig import Pig
from playing import dealt
from safetensors.numpy import save
from sealed import dataset_parts, sealed_dataset
from variants import each_game, each_variant, shortened

from garden_core import Dataset, DatasetError, RandomPolicy, Replay, make, record
from garden_core.recorded import dataset
from garden_core.recorded.dataset import KEY, Record
from garden_core.recorded.decisions import Decisions


@pytest.fixture(scope="module")
def games():
    """A dataset of ten short games of three players."""
    game = shortened("mars", 40, num_players=3)
    lineups = (np.arange(3) + np.arange(10)[:, None]) % 2
    return dataset_of(played(game, 10), ["random", "greedy"], lineups)


def slowly(replay):
    """Return the columns that a dataset's decisions must have, by stepping a batch and adding up."""
    batch = dealt(replay.game, autoreset=False)
    batch.set_states([0], [next(replay.states())])
    views, masks, received = [], [], []
    players, actions = zip(*(decision for _, decision in replay.decisions() if decision), strict=True)
    for player, action in zip(players, actions, strict=True):
        assert batch.current_player[0] == player
        views.append(batch.observation[0].copy())
        masks.append(batch.action_mask[0].copy())
        batch.step([action])
        received.append(batch.rewards[0].copy())
    rewards, to_go, last = [], [], []
    for k, player in enumerate(players):
        own = np.array(received)[:, player]
        first = k if player in players[:k] else 0
        following = [j for j in range(k + 1, len(players)) if players[j] == player]
        rewards.append(own[first : following[0] if following else None].sum())
        to_go.append(own[first:].sum())
        last.append(not following)
    columns = {"observation": views, "action_mask": masks, "action": actions, "player": players}
    return columns | {"reward": rewards, "return_to_go": to_go, "last": last}


# --- expanding ---


@each_variant
def test_expanded_decisions_agree_with_stepping(name, options):
    replays = played(make(name, **options))
    expanded = dataset_of(replays).expand()
    for number, replay in enumerate(replays):
        rows = expanded.game == number
        for what, column in slowly(replay).items():
            np.testing.assert_allclose(getattr(expanded, what)[rows], column, atol=1e-5, err_msg=what)


def test_agents_and_results(games):
    expanded = games.expand()
    assert np.array_equal(expanded.agent, games.record.lineups[expanded.game, expanded.player])
    assert np.allclose(games.returns.sum(axis=1), 0)
    assert np.array_equal(games.scores, [games.replay(number).scores for number in range(len(games))])
    assert [games.game.scores(state) for state in games.final_states()] == games.scores.tolist()


@each_variant
def test_what_follows_agrees_with_stepping(name, options):
    """Each seat's next view and mask; at the end its view of the final position, and all ones."""
    games = dataset_of(played(make(name, **options)))
    decisions, batch = games.expand(), dealt(games.game, autoreset=False)
    following = games.following(decisions)
    for number in range(len(games)):
        batch.set_states([0], [next(games.replay(number).states())])
        latest = {}
        for row in np.flatnonzero(decisions.game == number):
            player = int(batch.current_player[0])
            if player in latest:
                assert np.array_equal(following.next_observation[latest[player]], batch.observation[0])
                assert np.array_equal(following.next_action_mask[latest[player]], batch.action_mask[0])
            latest[player] = row
            batch.step([decisions.action[row]])
        for player, row in latest.items():
            assert np.array_equal(following.next_observation[row], batch.observe(player)[0])
            assert following.next_action_mask[row].all()


def test_what_follows_in_some_games(games):
    whole = games.expand()
    every = games.following(whole)
    for chosen in ([7, 2, 2], [3], []):
        rows = np.concatenate([np.flatnonzero(whole.game == number) for number in chosen] or [[]]).astype(int)
        for found, array in zip(games.following(games.expand(chosen)), every, strict=True):
            assert np.array_equal(found, array[rows])
    own = whole.player == 1
    for found, array in zip(games.following(Decisions(*(a[own] for a in whole))), every, strict=True):
        assert np.array_equal(found, array[own])


def test_parts_of_games_have_no_following_ones(games):
    whole = games.expand()
    shuffled = np.random.default_rng(1).permutation(games.num_decisions)
    for rows in (slice(30), ~whole.last, shuffled):
        with pytest.raises(ValueError, match="must be those of whole games, in the order of play"):
            games.following(Decisions(*(array[rows] for array in whole)))


@pytest.mark.parametrize("size", [1, 50, 100, 10_000])
def test_chunks_are_the_whole_in_parts(games, size):
    chunks = list(games.chunks(size=size))
    np.testing.assert_equal(tuple(map(np.concatenate, zip(*chunks, strict=True))), tuple(games.expand()))
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
    for array, *each in zip(expanded, *alone, strict=True):
        np.testing.assert_equal(array.tolist(), [row for one in each for row in one.tolist()])
    assert len(games.final_states(chosen)) == len(numbers)
    assert sum(len(chunk.action) for chunk in games.chunks(chosen)) == len(expanded.action)


@pytest.mark.parametrize("chosen", [10, [-11], "0", 1.0, [[0, 1]], np.ones(9, bool)])
def test_missing_games_raise_index_errors(games, chosen):
    for call in (games.expand, games.chunks, games.final_states):
        with pytest.raises(IndexError):
            call(chosen)


def test_a_game_is_a_replay(games, tmp_path):
    replay = games.replay(4)
    assert replay == played(games.game, 10)[4]
    replay.save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json") == games.replay(4 - len(games))


# --- probabilities ---


@pytest.fixture(scope="module")
def known(games):
    """The games, with the probabilities of most decisions."""
    drawn = np.random.default_rng(3).uniform(0.01, 1, games.num_decisions).astype(np.float32)
    drawn[::3] = np.nan
    return Dataset(games.game, games.agents, games.record._replace(probabilities=drawn), games.seed)


def test_probabilities_are_those_of_the_record(games, known):
    drawn = known.record.probabilities
    np.testing.assert_equal(known.expand().probability, drawn)
    starts = np.append(0, np.cumsum(games.record.lengths))
    mixed = np.concatenate([drawn[starts[number] : starts[number + 1]] for number in (7, 2, 2)])
    np.testing.assert_equal(known.expand([7, 2, 2]).probability, mixed)
    assert np.isnan(games.expand().probability).all()
    assert games.expand(0).probability.dtype == known.expand(0).probability.dtype == np.float32


def test_files_keep_probabilities_only_where_there_are_some(games, known, tmp_path):
    path = tmp_path / "games.safetensors"
    known.save(path)
    size = path.stat().st_size
    np.testing.assert_equal(Dataset.load(path).record.probabilities, known.record.probabilities)
    unknown = np.full(games.num_decisions, np.nan)
    Dataset(games.game, games.agents, games.record._replace(probabilities=unknown), games.seed).save(path)
    assert Dataset.load(path).record.probabilities is None
    assert "probabilities" not in dataset_parts(path.read_bytes())[1]
    assert 0 <= size - path.stat().st_size - 4 * games.num_decisions < 100


@pytest.mark.parametrize("wrong", [0, -0.5, 1.01, np.inf, -np.inf, 1e-60])
def test_impossible_probabilities_are_refused(games, known, wrong):
    for kind in (np.float32, np.float64):
        given = known.record.probabilities.astype(kind)
        given[5] = wrong
        with pytest.raises(DatasetError, match="probabilities must be above 0 and at most 1, or NaN"):
            Dataset(games.game, games.agents, games.record._replace(probabilities=given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.ones(3), "probabilities must have shape"),
        ("many", "probabilities must have shape"),
        (1, "probabilities must be above 0 and at most 1, or NaN"),
    ],
)
def test_other_things_than_probabilities_are_refused(games, given, message):
    given = np.full(games.num_decisions, given) if isinstance(given, int) else given
    with pytest.raises(DatasetError, match=message):
        Dataset(games.game, games.agents, games.record._replace(probabilities=given))


# --- impossible games ---


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
def test_arrays_that_do_not_fit_are_refused(games, changes, message):
    with pytest.raises(DatasetError, match=message):
        Dataset(games.game, games.agents, changed(games.record, **changes))


def test_impossible_games_are_refused(games):
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
    lengths, forfeited = record.lengths.copy(), np.full(10, -1)
    lengths[[1, 2]] = 7, 0
    forfeited[[1, 2]] = games.expand(1).player[7], games.expand(2).player[0]
    each = np.split(record.actions, np.cumsum(record.lengths)[:-1])
    actions = np.concatenate([taken[:length] for taken, length in zip(each, lengths, strict=True)])
    return record._replace(lengths=lengths, actions=actions, forfeited=forfeited)


def test_forfeited_games_are_played_again_up_to_the_forfeit(games, given_up, tmp_path):
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


def test_impossible_forfeits_are_refused(games, given_up):
    other = (given_up.forfeited[1] + 1) % 3
    for game, seat, message in (
        (1, other, rf"game 1: after its 7 decisions it was not for seat {other} to give it up"),
        (0, 0, r"game 0: after its \d+ decisions it was not for seat 0 to give it up"),
        (1, 3, "forfeited must be whole numbers from -1 to 2"),
    ):
        with pytest.raises(DatasetError, match=message):
            Dataset(games.game, games.agents, changed(given_up, forfeited=put(game, seat)))


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
    np.testing.assert_equal(tuple(again.expand()), tuple(games.expand()))
    header, per_game = 2000, 12 + 5 * games.game.num_players
    assert path.stat().st_size < games.num_decisions + per_game * len(games) + header


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


def test_changed_files_are_refused(file):
    content, arrays = dataset_parts(file.read_bytes())
    for agents, lineups in ((["x", "y"], 0), (content["agents"], 1)):
        changed_arrays = arrays | {"lineups": lineups ^ arrays["lineups"]}
        file.write_bytes(save(changed_arrays, {KEY: json.dumps(content | {"agents": agents})}))
        with pytest.raises(DatasetError, match="was changed or damaged: its checksum does not fit"):
            Dataset.load(file)


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
        ({}, {"probabilities": np.ones(10)}, "its probabilities are float64, not float32"),
        ({}, {"probabilities": np.ones(10, np.float32)}, "probabilities must have shape"),
    ],
)
def test_wrong_content_is_refused_in_spite_of_its_checksum(file, content, arrays, message):
    with pytest.raises(DatasetError, match=message) as caught:
        Dataset.load(rewritten(file, content, arrays))
    assert str(file) in str(caught.value)


def test_games_are_played_in_blocks(games, monkeypatch):
    monkeypatch.setattr(dataset, "CHUNK", 50)
    again = Dataset(games.game, games.agents, games.record)
    assert np.array_equal(again.scores, games.scores)
    np.testing.assert_equal(tuple(again.expand()), tuple(games.expand()))


def test_arrays_are_read_only(known):
    for array in (*known.record, known.scores, known.returns):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0
