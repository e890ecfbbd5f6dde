"""Environments made and reset before a fork: without a seed, no two children play the same games; copies stay copies."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from forking import in_children

from cacti_env import cacti_v0
from garden_core import Batch, Learner, RandomPolicy, Replay, make
from garden_core.interfaces import Env, VectorEnv
from garden_core.recorded.recorder import Recorder

SETTINGS = {"opponents": "greedy", "seat": 0}


class Aec:
    """PettingZoo's environment with the reset and the observation of the others."""

    def __init__(self):
        self.env = cacti_v0.env()

    def reset(self, seed=None):
        self.env.reset(seed=seed)
        return self.env.observe("player_0")["observation"]


class Games:
    """A batch or a learner, likewise."""

    def __init__(self, games):
        self.games = games

    def reset(self, seed=None):
        self.games.reset(seed)
        return self.games.observation


class Sb3:
    def __init__(self):
        pytest.importorskip("stable_baselines3")
        from garden_core.interfaces import GardenVecEnv

        self.env = GardenVecEnv("cacti", num_envs=3, **SETTINGS)

    def reset(self, seed=None):
        if seed is not None:
            self.env.seed(seed)
        return self.env.reset()


MAKERS = {
    "batch": lambda: Games(Batch("cacti", 3)),
    "learner": lambda: Games(Learner("cacti", 3, **SETTINGS)),
    "pettingzoo": Aec,
    "gymnasium": lambda: Env("cacti", **SETTINGS),
    "gymnasium vector": lambda: VectorEnv("cacti", num_envs=3, **SETTINGS),
    "sb3": Sb3,
}
each = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def dealt(env, seed=None, number=3):
    """The observations after a reset, and after further ones without a seed."""
    observations = []
    for i in range(number):
        shown = env.reset(seed=seed if i == 0 else None)
        observations.append(np.array(shown[0] if isinstance(shown, tuple) else shown).tobytes())
    return observations


def all_differ(sequences):
    sequences = list(sequences)
    return len({game for sequence in sequences for game in sequence}) == sum(map(len, sequences))


@each
@pytest.mark.parametrize("seed", [None, 1])
def test_resets_without_a_seed_differ_in_each_child(make, seed):
    env, same = make(), make()
    dealt(env, seed, 1)
    dealt(same, seed, 1)
    children = in_children(lambda: dealt(env), 3)
    own = dealt(env)
    assert all_differ([*children, own])
    if seed is not None:  # the parent goes on as if nothing had been
        assert own == dealt(same)


@each
def test_a_seed_in_a_child_is_as_elsewhere(make):
    env = make()
    dealt(env)
    expected = dealt(make(), seed=5)
    assert in_children(lambda: dealt(env, seed=5)) == [expected] * 2
    assert in_children(lambda: (dealt(env), dealt(env, seed=5))[1]) == [expected] * 2
    fresh = make()  # not reset before the fork
    assert in_children(lambda: dealt(fresh, seed=5)) == [expected] * 2


def grandchildren(env):
    return in_children(lambda: dealt(env))


@each
def test_forks_of_forks_differ(make):
    env = make()
    dealt(env)
    for before in (lambda: None, lambda: dealt(env)):  # each child forks before and after its own first reset
        children = in_children(lambda before=before: (before(), grandchildren(env))[1])
        assert all_differ(itertools.chain(*children))


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
@each
def test_copies_go_on_as_their_original(make, again):
    """Also a pickle that is read in another process; but a copy made in a child that has not noticed the fork notices it."""
    env = make()
    dealt(env, seed=1)
    other, kept = again(env), pickle.dumps(env)
    assert all_differ(in_children(lambda: dealt(again(env))))
    from_elsewhere = in_children(lambda: dealt(pickle.loads(kept)), 1)[0]
    assert dealt(other) == from_elsewhere == dealt(env)


def test_games_dealt_by_steps_differ_and_the_current_ones_go_on():
    batch = Batch("cacti", 3)
    batch.reset(seed=1)
    policy = RandomPolicy()
    first = [batch.game_seed(row) for row in range(3)]

    def seeds():
        """The seeds of the rows' first games, each time the batch is stepped, and of the games that followed."""
        followed = {}
        while len(followed) < 3:
            for row in range(3):
                if (seed := batch.game_seed(row)) != first[row]:
                    followed.setdefault(row, seed)
            batch.step(policy(batch, batch.all_rows))
        return list(followed.values())

    batch.step(policy(batch, batch.all_rows))
    one, other = in_children(seeds)
    assert all_differ([one, other, seeds()])


@pytest.mark.parametrize("opponents", ["random", RandomPolicy()])
def test_games_across_a_fork_are_recorded_whole(opponents, tmp_path):
    learner = Learner("cacti", 3, opponents, on_game_end=Recorder(make("cacti"), tmp_path).save)
    learner.reset(seed=1)

    def play(steps):
        for _ in range(steps):
            learner.step(learner.action_mask.argmax(1))

    play(3)
    in_children(lambda: play(60))
    replays = [Replay.load(path) for path in tmp_path.iterdir()]
    assert (
        len({replay.seed for replay in replays}) == len(replays) - 3
    )  # the three first games of both children
    for replay in replays:
        assert replay.ended == "terminated"


def test_opponents_have_random_numbers_of_their_own_in_each_child():
    """Those that can be reseeded; in the parent only a seed reseeds them."""

    class Noting(RandomPolicy):
        def __init__(self):
            super().__init__()
            self.seeds = []

        def reseed(self, rows, seeds):
            self.seeds += seeds.tolist()
            super().reseed(rows, seeds)

    opponent = Noting()
    learner = Learner("cacti", 2, opponent)
    learner.reset()
    children = in_children(lambda: (learner.reset(), opponent.seeds)[1])
    assert all_differ(children)
    assert [*map(len, children)] == [2, 2]
    learner.reset()
    assert not opponent.seeds
