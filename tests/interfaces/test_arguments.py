"""Wrong seeds, seats, rows, actions and states get the same errors from every interface, and change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from cacti_env import Cacti
from garden_core import Batch, interfaces
from garden_core.batch.learner import Learner
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv
from mars_env import Mars

NO_SEEDS = [
    True,
    np.bool_(False),
    1.0,
    np.float64(3),
    "1",
    b"1",
    -1,
    2**64,
    10**5000,
    None,
    [1],
    {},
    object(),
]
NO_NUMBERS = [True, 1.0, "0", None, [0, 0], np.float32(0), {}]


def resets():
    """Return every call that takes a seed; those that may draw one come first."""
    gym_env, vector = Env(Mars()), VectorEnv(Mars(), num_envs=2)
    return [
        *(GardenEnv(Mars()).reset, Batch(Mars(), 2).reset, Learner(Mars(), 2).reset),
        *(lambda seed: gym_env.reset(seed=seed), lambda seed: vector.reset(seed=seed)),
        *(RandomPolicy, GreedyPolicy),
    ]


@pytest.mark.parametrize("seed", NO_SEEDS, ids=lambda seed: str(type(seed)))
def test_a_seed_is_a_whole_number_of_64_bits(seed):
    for number, call in enumerate(resets()):
        if seed is None and number < 5:
            continue  # a random seed
        with pytest.raises(ValueError, match="seed") as caught:
            call(seed)
        assert len(str(caught.value)) < 300


@pytest.mark.parametrize("seed", [0, np.int8(3), np.uint64(2**64 - 1), np.array(5)], ids=repr)
def test_whole_numbers_of_any_type_are_seeds(seed):
    env = GardenEnv(Mars())
    env.reset(seed)
    RandomPolicy(seed)


@pytest.mark.parametrize("action", [*NO_NUMBERS, -1, 10**6, 2**70], ids=str)
def test_an_action_is_a_whole_number(action):
    env, gym_env, batch = GardenEnv(Mars()), Env(Mars(), seat=0), Batch(Mars(), 1)
    env.reset(1)
    gym_env.reset(seed=1)
    batch.reset(1)
    states = env.states, gym_env.learner.batch.states, batch.states
    before = [each.tobytes() for each in states]
    for call in (env.step, gym_env.step, lambda value: batch.step([value])):
        with pytest.raises(ValueError, match="action"):
            call(action)
    assert before == [each.tobytes() for each in states]


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


@pytest.mark.parametrize(
    ("rows", "error"),
    [
        ([[0]], ValueError),
        ([0, 0], ValueError),
        ([0.0], ValueError),
        (["0"], ValueError),
        ([None], ValueError),
        ([2**70], ValueError),
        ([3], IndexError),
        ([-1], IndexError),
        ([True, False], ValueError),
        (True, ValueError),
    ],
)
def test_rows_are_whole_numbers_without_repeats(rows, error):
    batch, learner = Batch(Mars(), 3), Learner(Mars(), 3)
    for owner in (batch, learner):
        owner.reset(4)
    values = [value for owner in (batch, learner, learner.batch) for value in vars(owner).values()]
    arrays = [value for value in values if isinstance(value, np.ndarray)]
    before = [array.tobytes() for array in arrays]
    for call in (
        lambda: batch.reset(rows=rows),
        lambda: batch.reset(3, rows=rows),
        lambda: batch.step(np.zeros(np.shape(rows), int), rows=rows),
        lambda: learner.reset(3, rows=rows),
    ):
        with pytest.raises(error):
            call()
    assert before == [array.tobytes() for array in arrays]


def test_seeds_of_a_vector_of_environments():
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


def test_every_row_has_a_seed_or_none():
    batch = Batch(Mars(), 3)
    with pytest.raises(ValueError, match="seed has 2 entries for 3 rows"):
        batch.reset(seed=[1, 2])
    with pytest.raises(ValueError, match=r"must have shape \(3,\)"):
        batch.reset(rows=np.array([True, False]))
