"""Gymnasium environments: Gymnasium's and SB3's checks, illegal actions that end a game, time limits."""

import subprocess
import sys
import warnings
from importlib.util import find_spec

import gymnasium
import numpy as np
import pytest
from coin import TURNS, Coin
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers import TimeLimit
from pig import Pig

import garden_core
from cacti_env import Cacti
from garden_core.batch.learner import Learner
from garden_core.batch.seats import FORFEITED
from garden_core.interfaces import gymnasium_env
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv
from mars_env import Mars

MODES = list(AutoresetMode)


@pytest.mark.parametrize("name", garden_core.list_games())
@pytest.mark.thorough
def test_checks_of_gymnasium_and_stable_baselines(name, monkeypatch):
    monkeypatch.setitem(gymnasium_env._METADATA, "render_fps", 1000)
    env = gymnasium.make(
        f"{name}_env:garden/{name.capitalize()}-v0", illegal="terminate", render_mode="rgb_array"
    )
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*not a lossless|.*the `render_modes`|.*int8|.*-D observ")
        check_env(env.unwrapped, skip_render_check=find_spec("pygame") is None)  # of all render modes
        check_env(Env(name, "mcts:10", illegal="terminate"), skip_render_check=True)
        sb3 = pytest.importorskip("stable_baselines3.common.env_checker")
        warnings.filterwarnings("ignore", message="Your observation|The action space")
        sb3.check_env(Env(name, illegal="terminate"))


def test_make_keeps_action_masks():
    env = gymnasium.make("garden/Cacti-v0")
    env.reset(seed=1)
    assert env.action_masks().sum() > 0
    assert gymnasium.make("garden/Cacti-v0", max_episode_steps=3).get_wrapper_attr("action_masks")


def test_ids_in_a_fresh_process():
    code = (
        "import gymnasium; env = gymnasium.make('cacti_env:garden/Cacti-v0'); env.reset(seed=1); "
        "print(gymnasium.make_vec('cacti_env:garden/Cacti-v0', num_envs=2).num_envs)"
    )
    assert subprocess.check_output([sys.executable, "-c", code], encoding="utf-8") == "2\n"


def test_a_seed_seeds_the_environments_own_generator():
    env, vector = Env(Cacti()), VectorEnv(Cacti(), 2)
    for each in (env, vector):
        each.reset(seed=5)
        assert each.np_random_seed == 5
        drawn = each.np_random.random()
        each.reset(seed=5)
        assert each.np_random.random() == drawn


@pytest.mark.parametrize("make", [GardenEnv, Env, lambda game: VectorEnv(game, num_envs=2)])
def test_rendering_without_a_mode_warns_as_gymnasium_does(make):
    env = make(Mars())
    env.reset(seed=1)
    with pytest.warns(UserWarning, match="without a render mode"):
        assert env.render() is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.close()


# --- illegal actions ---


def test_an_illegal_action_can_end_the_game():
    ending = Env(Cacti(), seat=0, illegal="terminate")
    observation, info = ending.reset(seed=3)
    for action in (int(info["action_mask"].argmin()), -1, 10**6):
        ending.reset(seed=3)
        seen, reward, terminated, truncated, info = ending.step(action)
        assert (reward, terminated, truncated, info["capped"]) == (FORFEITED, True, False, False)
        np.testing.assert_array_equal(seen, observation)
        assert info["action_mask"].all()
        with pytest.raises(ValueError, match="the game is over"):
            ending.step(0)


def test_an_illegal_action_forfeits_pending_rewards():
    learner = Learner(Pig(reward="margin"), 64, seat=1, illegal="terminate")  # seat 0 has scored
    learner.reset(0)
    for _ in range(5):
        learner.step(np.full(64, 10**6))
        assert (learner.rewards == FORFEITED).all()
        assert learner.terminated.all()


# --- time limits ---


def same(mine, expected):
    """Check that infos of one environment equal all infos of another."""
    assert mine.keys() >= expected.keys()
    for key, wanted in expected.items():
        if isinstance(wanted, dict):
            same(mine[key], wanted)
            continue
        there = expected.get(f"_{key}", np.ones(len(wanted), np.bool_)) if key[0] != "_" else wanted
        for own, its in zip(mine[key][there], wanted[there], strict=True):
            np.testing.assert_array_equal(own, its, err_msg=key)
            assert np.asarray(own).dtype == np.asarray(its).dtype, key


LIMITED = {
    "no limit": (Cacti(), None),
    "every step is the last": (Cacti(), 1),
    "a limit": (Cacti(reward="margin"), 3),
    "the game's own cap": (Cacti(max_decisions=7), None),
    "the game ends at the limit": (Coin(), TURNS),
    "three players": (Mars(num_players=3), 6),
    "illegal actions": (Cacti(), None),
}


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)
@pytest.mark.parametrize("opponents", ["random", ["greedy", "random"], "mcts:3", "outside"], ids=str)
@pytest.mark.parametrize("case", LIMITED)
def test_many_games_equal_gymnasiums_vector_of_single_ones(case, opponents, mode):
    (game, limit), rng = LIMITED[case], np.random.default_rng(1)
    if opponents == "outside":
        opponents = lambda batch, rows: batch.action_mask[rows].argmax(1)

    illegal = "terminate" if case == "illegal actions" else "raise"

    def one():
        env = Env(game, opponents, illegal=illegal)
        return env if limit is None else TimeLimit(env, limit)

    its = SyncVectorEnv([one] * 3, autoreset_mode=mode)
    mine = VectorEnv(game, 3, opponents, illegal=illegal, autoreset_mode=mode, max_episode_steps=limit)
    ended = cut = both = 0  # games
    for seed in ([3, 1, 4], [1, 5, 9]):
        (seen, infos), (expected, wanted) = (env.reset(seed=seed) for env in (mine, its))
        for _ in range(40):
            np.testing.assert_array_equal(seen, expected)
            same(infos, wanted)
            actions = np.array([rng.choice(np.flatnonzero(mask)) for mask in infos["action_mask"]])
            if illegal == "terminate" and rng.random() < 0.2:
                row = rng.integers(3)
                actions[row] = infos["action_mask"][row].argmin()
            (seen, *results, infos), (expected, *wanted_results, wanted) = (
                env.step(actions) for env in (mine, its)
            )
            np.testing.assert_array_equal(results, wanted_results)
            _, terminated, truncated = results
            over = terminated | truncated
            ended += terminated.sum()
            cut += truncated.sum()
            both += (terminated & truncated).sum()
            if mode is AutoresetMode.DISABLED and over.any():
                np.testing.assert_array_equal(seen, expected)
                same(infos, wanted)
                fresh = {"reset_mask": over}
                (seen, infos), (expected, wanted) = (env.reset(options=fresh) for env in (mine, its))
    assert ended + cut > 0
    assert (cut > 0) == (limit is not None)
    assert (both > 0) == (case == "the game ends at the limit")


# --- Stable-Baselines3 ---


def test_stable_baselines_evaluates_true_rewards_and_lengths():
    pytest.importorskip("stable_baselines3")
    from stable_baselines3.common.evaluation import evaluate_policy
    from stable_baselines3.common.vec_env import VecNormalize

    from garden_core.interfaces.sb3 import GardenVecEnv

    class First:
        def predict(self, observation, state=None, episode_start=None, deterministic=True):
            return env.action_masks().argmax(1), state

    env = GardenVecEnv("cacti", 3, seed=4, reward="margin")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = evaluate_policy(First(), env, 6, return_episode_rewards=True)
    env.seed(4)
    scaled = evaluate_policy(First(), VecNormalize(env, norm_obs=False), 6, return_episode_rewards=True)
    assert plain == scaled
    assert set(plain[0]) != {0.0}


def test_stable_baselines_time_limit():
    pytest.importorskip("stable_baselines3")
    from garden_core.interfaces.sb3 import GardenVecEnv

    env = GardenVecEnv("cacti", 3, seed=4, max_steps=2)
    env.reset()
    for last in (False, True):
        _, _, dones, infos = env.step(env.action_masks().argmax(1))
        assert dones.all() == last
    assert all(info["TimeLimit.truncated"] and info["episode"]["l"] == 2 for info in infos)
    assert all(0 < info["terminal_action_mask"].sum() < 20 for info in infos)


def test_opponents_are_drawn_by_their_weights():
    settings = {"opponents": ["random", "greedy"], "weights": [0, 1], "seat": 0}
    for env in (Env("cacti", **settings), VectorEnv("cacti", 8, **settings)):
        env.reset(seed=0)
        assert (env.learner.drawn == 1).all()
