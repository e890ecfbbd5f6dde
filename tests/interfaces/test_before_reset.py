"""Before the first reset every interface says so, and a state that was never dealt is harmless to all code."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from variants import made

from garden_core import Batch
from garden_core.batch.learner import Learner
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.jit import kernels

PETTINGZOO = {
    "render": lambda env: env.render(),
    "snapshot": lambda env: env.snapshot(),
    "_repr_svg_": lambda env: env._repr_svg_(),
    "last": lambda env: env.last(),
    "observe": lambda env: env.observe("player_0"),
    "step": lambda env: env.step(0),
    "agent_iter": lambda env: list(env.agent_iter()),
}
GYMNASIUM = {
    "render": lambda env: env.render(),
    "snapshot": lambda env: env.snapshot(),
    "action_masks": lambda env: env.action_masks(),
    "step": lambda env: env.step(0),
}
VECTOR = {
    "render": lambda env: env.render(),
    "action_masks": lambda env: env.action_masks(),
    "step": lambda env: env.step([0, 0]),
}
BATCH = {
    "step": lambda batch: batch.step([0, 0]),
    "observe": lambda batch: batch.observe(0),
    "refresh": lambda batch: batch.refresh(),
}


def refused(owner, calls):
    for name, call in calls.items():
        with pytest.raises(RuntimeError, match=rf"^call reset\(\) before {name}\(\)$"):
            call(owner)


@pytest.mark.parametrize("game", made(), ids=repr)
@pytest.mark.parametrize("mode", [None, "ansi", "rgb_array", "human"])
def test_nothing_can_be_seen_or_done_before_the_first_reset(game, mode):
    refused(GardenEnv(game, render_mode=mode), PETTINGZOO)
    refused(Env(game, render_mode=mode), GYMNASIUM)
    if mode != "human":
        refused(VectorEnv(game, num_envs=2, render_mode=mode), VECTOR)
    refused(Batch(game, 2), BATCH)
    refused(Learner(game, 2), {"step": lambda learner: learner.step([0, 0])})


def test_stable_baselines_before_the_first_reset():
    pytest.importorskip("stable_baselines3")
    from garden_core.interfaces.sb3 import GardenVecEnv

    env = GardenVecEnv("mars", 2, render_mode="rgb_array")
    calls = {
        "action_masks": lambda env: env.action_masks(),
        "step": lambda env: env.step([0, 0]),
        "get_images": lambda env: env.get_images(),
    }
    refused(env, calls)


@pytest.mark.parametrize("how", ["make", "make_vec"])
def test_made_by_name_too(how):
    env = getattr(gymnasium, how)("garden/Mars-v0", render_mode="ansi")
    with pytest.raises((RuntimeError, gymnasium.error.ResetNeeded), match="reset"):
        env.render()


@pytest.mark.parametrize("game", made(), ids=repr)
def test_an_undealt_state_is_harmless_to_every_kernel(game):
    states = game.new_states(3)
    for row in (0, 2):
        kernels.deal(states[row], game.params[0], 5)
    before = states.tobytes()
    room = np.full((3, max(game.num_actions, game.observation_size)), 7, np.int8)
    numbers = np.full((3, 8), 7, np.int32)
    state, params = states[1], game.params[0]
    assert kernels.legal_actions(state, params, room[1, : game.num_actions]) == 0
    assert not room[1, : game.num_actions].any()
    for seat in range(game.num_players):
        kernels.observe(state, params, seat, room[1, : game.observation_size])
        kernels.resample(state, params, seat, 3)
    for kernel in (kernels.points, kernels.public_points, kernels.standings):
        kernel(state, params, numbers[1, : len(state["paid"])])
    for action in range(game.num_actions):
        kernels.apply_action(state, params, action)
    assert states.tobytes() == before
    assert (room[[0, 2]] == 7).all()
    assert (numbers[[0, 2]] == 7).all()
    assert game.legal_labels(state) == []
    assert len(game.scores(state)) == game.num_players
