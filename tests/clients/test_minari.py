"""Datasets as Minari datasets: episodes are what Gymnasium's environment has shown."""

import numpy as np
import pytest
from dataset_tools import dataset_of, played

minari = pytest.importorskip("minari")

from variants import each_game

from garden_core import Dataset, RandomPolicy, Replay, make
from garden_core.interfaces import Env, to_minari

pytestmark = pytest.mark.filterwarnings("ignore:.*is set to None:UserWarning", "ignore:env_spec is None")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path / "minari"))


@pytest.fixture(scope="module")
def games():
    """Eight games of three players, by two agents."""
    lineups = (np.arange(3) + np.arange(8)[:, None]) % 2
    game = make("mars", num_players=3, max_decisions=40)
    return dataset_of(played(game, 8), ["random", "greedy"], lineups)


@each_game
@pytest.mark.parametrize("reward", ["outcome", "margin"])
def test_episodes_are_what_the_environment_showed(name, reward, tmp_path):
    env = Env(make(name, reward=reward), "greedy", seat=1, record=tmp_path / "games")
    policy, shown = RandomPolicy(3), []
    for number in range(3):
        steps, actions, over = [env.reset(seed=number)], [], False
        while not over:
            actions.append(policy(env.learner.batch, np.zeros(1, np.int64))[0])
            steps.append(env.step(actions[-1]))
            over = steps[-1][2]
        shown.append((steps, actions))
    replays = [Replay.load(path) for path in sorted((tmp_path / "games").iterdir())]
    made = to_minari(dataset_of(replays), "garden/test-v0", seat=1, author="nobody")
    assert made.total_episodes == 3
    for number, (episode, (steps, actions)) in enumerate(zip(made, shown, strict=True)):
        infos = [step[-1] for step in steps]
        assert np.array_equal(episode.observations, [step[0] for step in steps])
        assert episode.observations.dtype == np.int8
        assert episode.actions.tolist() == actions
        np.testing.assert_allclose(episode.rewards, [step[1] for step in steps[1:]], atol=1e-5)
        assert episode.terminations.tolist() == [False] * (len(actions) - 1) + [True]
        assert not episode.truncations.any()
        for key in ("action_mask", "seat", "capped"):
            assert np.array_equal(episode.infos[key], [info[key] for info in infos]), key
        assert set(episode.infos["game"]) == {number}
    again = made.recover_environment().unwrapped
    assert again.game == env.game
    assert again.observation_space == made.observation_space == env.observation_space
    assert again.action_space == made.action_space == env.action_space


@pytest.mark.parametrize(("options", "episodes"), [({}, 24), ({"seat": 0, "agent": "random"}, 4)])
def test_which_seats(games, options, episodes):
    made = to_minari(games, "seats-v0", **options)
    assert made.total_episodes == episodes == len(list(made))
    decisions = games.expand()
    chosen = np.ones(games.num_decisions, bool)
    if "seat" in options:
        chosen &= decisions.player == options["seat"]
    if "agent" in options:
        chosen &= decisions.agent == games.agents.index(options["agent"])
    assert made.total_steps == chosen.sum()
    assert sum(episode.rewards.sum() for episode in made) == pytest.approx(decisions.reward[chosen].sum())
    assert all(np.flatnonzero(episode.infos["capped"]) == len(episode.actions) for episode in made)


def test_steps_have_the_next_view_and_mask_and_the_probability(games):
    drawn = np.linspace(0.1, 1, games.num_decisions, dtype=np.float32)
    drawn[::3] = np.nan
    games = Dataset(games.game, games.agents, games.record._replace(probabilities=drawn))
    decisions = games.expand()
    following = games.following(decisions)
    for episode in to_minari(games, "steps-v0"):
        rows = (decisions.game == episode.infos["game"][0]) & (decisions.player == episode.infos["seat"][0])
        assert np.array_equal(episode.observations[:-1], decisions.observation[rows])
        assert np.array_equal(episode.observations[1:], following.next_observation[rows])
        assert np.array_equal(episode.infos["action_mask"][:-1], decisions.action_mask[rows])
        assert np.array_equal(episode.infos["action_mask"][1:], following.next_action_mask[rows])
        np.testing.assert_equal(episode.infos["probability"], np.append(drawn[rows], np.float32(np.nan)))
    assert "probability" not in to_minari(dataset_of([games.replay(0)]), "without-v0")[0].infos


def test_games_that_gymnasium_cannot_make_again():
    games = dataset_of(played(make("pig:Pig", goal=20)))
    made = to_minari(games, "pigs-v0")
    assert made.spec.env_spec is None
    assert made.total_episodes == games.expand().last.sum()


def test_wrong_names_seats_and_agents_are_refused(games):
    to_minari(games, "x-v0", seat=0)
    for name, options, message in (
        ("no version", {}, "Malformed dataset ID"),
        ("y-v0", {"seat": 3}, "seat must be 0 to 2, not 3"),
        ("y-v0", {"agent": "mcts:9"}, "agent must be one of 'random', 'greedy', not 'mcts:9'"),
        ("x-v0", {"seat": 1}, "there is a Minari dataset 'x-v0' already"),
    ):
        with pytest.raises(ValueError, match=message):
            to_minari(games, name, **options)
    assert list(minari.list_local_datasets()) == ["x-v0"]
    assert minari.load_dataset("x-v0").total_episodes == 8


def test_half_a_dataset_does_not_stay(games, monkeypatch):
    monkeypatch.setattr("garden_core.interfaces.minari._episode", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        to_minari(games, "half-v0")
    assert not minari.list_local_datasets()
