"""TorchRL: its own checks, and the same games as a Batch and a Learner."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torchrl")

from processes import python
from tensordict import TensorDict
from torchrl.envs import GymEnv, PettingZooWrapper, check_env_specs

from cacti_env import Cacti, cacti_v0
from garden_core import Batch, Learner, list_games, make
from garden_core.batch.seats import FORFEITED
from garden_core.interfaces import BatchEnv, LearnerEnv
from mars_env import Mars

GAMES = [*map(make, list_games()), Mars(num_players=4, view="planes"), Cacti(reward="margin")]


@pytest.mark.parametrize("game", GAMES, ids=str)
@pytest.mark.parametrize("kind", [BatchEnv, LearnerEnv])
def test_checks_of_torchrl(game, kind):
    env = kind(game, 3)
    check_env_specs(env, seed=1)
    rollout = env.rollout(200, break_when_any_done=False)
    taken = rollout["action_mask"].gather(-1, rollout["action"][..., None])
    assert taken.all()
    assert rollout["next", "done"].any()
    assert env.observation_spec["action_mask"].rand().dtype == torch.bool


FORKS = """
from forking import in_children
from garden_core.interfaces import {kind}

env = {kind}("cacti", 3)
env.set_seed(1)
env.reset()
one, other = in_children(lambda: env.reset()["observation"].tolist())
assert len({{str(game) for game in (*one, *other, *env.reset()["observation"].tolist())}}) == 9
"""


@pytest.mark.parametrize("kind", ["BatchEnv", "LearnerEnv"])
def test_children_of_a_process_play_different_games(kind):
    """In a process without JAX, whose threads a fork would stop."""
    python("-c", FORKS.format(kind=kind))


@pytest.mark.filterwarnings("ignore:PettingZoo in TorchRL is tested:UserWarning")
def test_wrapped_environments():
    check_env_specs(GymEnv("garden/Cacti-v0", illegal="terminate"))
    env = PettingZooWrapper(cacti_v0.env(), use_mask=True, categorical_actions=True, seed=1)
    check_env_specs(env)
    assert env.rollout(100)["next", "done"].any()
    env = PettingZooWrapper(
        cacti_v0.env(), use_mask=True, categorical_actions=True, seed=1, return_state=True
    )
    check_env_specs(env)
    assert env.rollout(20)["state"].shape[1:] == (189,)


def test_a_batch_plays_the_games_of_a_batch():
    game = Mars(num_players=3, max_decisions=40)
    env, batch = BatchEnv(game, 5), Batch(game, 5, autoreset=False)
    env.set_seed(7)
    seen = env.reset()
    batch.reset(seed=7)
    for _ in range(60):
        for name in ("observation", "action_mask", "current_player"):
            np.testing.assert_array_equal(seen[name], getattr(batch, name))
        over = batch.terminated | batch.truncated
        np.testing.assert_array_equal(seen["done"][:, 0], over)
        if over.any():
            batch.reset(rows=over)
            seen = env.reset(TensorDict({"_reset": torch.from_numpy(over)[:, None]}, [5]))
            continue
        seen = env.rand_action(seen)
        batch.step(seen["action"].numpy())
        seen = env.step(seen)["next"]
        np.testing.assert_array_equal(seen["reward"], batch.rewards)
        np.testing.assert_array_equal(seen["truncated"][:, 0], batch.truncated)


def test_a_learner_meets_the_games_of_a_learner():
    env, learner = LearnerEnv("cacti", 4, "greedy"), Learner(Cacti(), 4, "greedy")
    env.set_seed(7)
    seen = env.reset()
    learner.reset(seed=7)
    for _ in range(25):
        np.testing.assert_array_equal(seen["observation"], learner.observation)
        np.testing.assert_array_equal(seen["seat"], learner.seats)
        seen["action"] = torch.from_numpy(learner.action_mask.argmax(1))
        learner.step(seen["action"].numpy())
        after, seen = env.step_and_maybe_reset(seen)
        np.testing.assert_array_equal(after["next", "reward"][:, 0], learner.rewards)
        np.testing.assert_array_equal(after["next", "done"][:, 0], learner.terminated)


def test_finished_and_unnamed_rows_wait():
    env = BatchEnv(Mars(max_decisions=2), 3)
    first = env.reset()
    one = env.rand_action(first.clone())
    one["_step"] = torch.tensor([True, False, True])
    second = env.step(one)["next"]
    assert env.games.states["decisions"].tolist() == [1, 0, 1]
    third = env.step(env.rand_action(second.clone()))["next"]
    assert third["truncated"][:, 0].tolist() == [True, False, True]
    states = env.games.states.copy()
    fourth = env.step(env.rand_action(third.clone()))["next"]
    assert fourth["done"].all()
    assert (env.games.states[[0, 2]] == states[[0, 2]]).all()
    assert not fourth["reward"][[0, 2]].any()


def test_illegal_actions():
    ending, raising = LearnerEnv("cacti", 2, illegal="terminate", seat=0), BatchEnv("cacti", 2)
    ways = [(env, env.reset()) for env in (ending, raising)]
    for _, seen in ways:
        seen["action"] = (~seen["action_mask"]).to(torch.uint8).argmax(-1)
    after = ending.step(ways[0][1])["next"]
    assert (after["reward"] == FORFEITED).all()
    assert after["terminated"].all()
    with pytest.raises(ValueError, match="row 0: action"):
        raising.step(ways[1][1])
