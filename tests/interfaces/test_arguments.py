"""Wrong seats, seeds and actions get the same errors from every interface; for others see tests/fuzz/test_fuzz_interfaces.py."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from cacti_env import Cacti
from garden_core import Batch, interfaces
from garden_core.batch.learner import Learner
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv
from mars_env import Mars


@pytest.mark.parametrize("seat", [9, -1, 2, True, 0.0, "0"], ids=repr)
def test_a_seat_is_one_of_the_game(seat):
    env, batch = GardenEnv(Cacti(), render_mode="ansi"), Batch(Cacti(), 2)
    env.reset(1)
    batch.reset(1)
    for call in (
        lambda: env.render(seat=seat),
        lambda: env.game.text(env.states[0], seat),
        lambda: env.game.svg(env.states[0], seat),
        lambda: batch.observe(seat),
        lambda: Learner(Cacti(), 2, seat=seat),
        lambda: Env(Cacti(), seat=seat),
    ):
        with pytest.raises(ValueError, match=r"(seat|player) must be .*0 to 1.*, not"):
            call()


def test_every_row_has_a_seed():
    batch = Batch(Mars(), 3)
    with pytest.raises(ValueError, match="seed has 2 entries for 3 rows"):
        batch.reset(seed=[1, 2])
    with pytest.raises(ValueError, match=r"must have shape \(3,\)"):
        batch.reset(rows=np.array([True, False]))
    env = VectorEnv(Mars(), num_envs=3, autoreset_mode=AutoresetMode.DISABLED)
    env.reset(seed=[1, 2, 3])
    mask = np.array([True, False, True])
    for seed in ([1, 2], [1, 2, -1], [1, 2, 1.5], "abc", 1.5):
        with pytest.raises(ValueError, match="seed"):
            env.reset(seed=seed, options={"reset_mask": mask})
    env.reset(seed=[4, 5, 6], options={"reset_mask": mask})


@pytest.mark.parametrize("kind", ["Learner", "VectorEnv", "GardenVecEnv"])
def test_an_illegal_action_is_refused_by_default_and_changes_nothing(kind):
    if kind == "GardenVecEnv":
        pytest.importorskip("stable_baselines3")
    make = Learner if kind == "Learner" else getattr(interfaces, kind)
    env = make(Mars(), 3, seat=0)
    env.reset()
    learner = getattr(env, "learner", env)
    before = learner.batch.states.tobytes()
    with pytest.raises(ValueError, match=r"row 1: action 45 \('hex 0,0'\) is illegal; legal are 'hex"):
        env.step(np.array([0, learner.game.labels.index("hex 0,0"), 0]))
    with pytest.raises(ValueError, match="shape"):
        env.step(np.array([0, 0]))
    assert learner.batch.states.tobytes() == before
