"""The learner's seat: a loss is delivered on the right step, through every interface."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest

import garden_core
from garden_core.batch.batch import Batch
from garden_core.batch.learner import Learner
from garden_core.interfaces import gymnasium_env
from mars_env import Mars, mars_v0

SEAT = 0


def scripted(decisions: int, mask: np.ndarray) -> int:
    """Choose by the number of decisions so far, so that the seed determines the whole game."""
    legal = np.flatnonzero(mask)
    return int(legal[(int(decisions) * 7919) % len(legal)])


def opponent(batch: Batch, rows: np.ndarray) -> np.ndarray:
    return np.array([scripted(batch.states["decisions"][row], batch.action_mask[row]) for row in rows])


def game_of(seed: int, game: Mars) -> tuple[int, float, bool]:
    """Return the learner's decisions in the game of this seed, its reward, and whether it had the last move."""
    batch = Batch(game, 1, autoreset=False)
    batch.reset(seed)
    movers = []
    while not (batch.terminated[0] or batch.truncated[0]):
        movers.append(int(batch.current_player[0]))
        batch.step(opponent(batch, np.array([0])))
    return movers.count(SEAT), float(batch.rewards[0, SEAT]), movers[-1] == SEAT


@pytest.fixture(scope="module")
def losses() -> dict[int, int]:
    """Seeds of games that the opponent's last move makes the learner lose, with the learner's decisions."""
    lost = {}
    for seed in range(60):
        decisions, reward, own = game_of(seed, Mars())
        if reward == -1 and not own:
            lost[seed] = decisions
        if len(lost) == 4:
            return lost
    raise AssertionError("no such games")


def test_loss_through_aec(losses):
    for seed in losses:
        env = mars_v0.env()
        env.reset(seed=seed)
        received = []
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if agent == f"player_{SEAT}":
                received.append((reward, terminated))
            if terminated or truncated:
                env.step(None)
            else:
                env.step(scripted(env.snapshot()["decisions"], observation["action_mask"]))
        assert received[-1] == (-1.0, True)
        assert all(before == (0.0, False) for before in received[:-1])
        assert len(received) == losses[seed] + 1  # the last one is the dead step


def test_loss_through_gymnasium(losses):
    env = gymnasium.make("garden/Mars-v0", opponents=opponent, seat=SEAT)
    for seed, decisions in losses.items():
        _, info = env.reset(seed=seed)
        for step in range(1, decisions + 1):
            action = scripted(env.unwrapped.snapshot()["decisions"], info["action_mask"])
            _, reward, terminated, truncated, info = env.step(action)
            assert (reward, terminated, truncated) == (
                (-1.0, True, False) if step == decisions else (0.0, False, False)
            )


def test_loss_through_stable_baselines(losses):
    pytest.importorskip("stable_baselines3")
    from garden_core.interfaces.sb3 import GardenVecEnv

    for seed, decisions in losses.items():
        env = GardenVecEnv(Mars(), 1, opponent, seat=SEAT, seed=seed)
        env.reset()
        for step in range(1, decisions + 1):
            state = env.learner.batch.states[0]
            action = scripted(state["decisions"], env.action_masks()[0])
            observation, rewards, dones, infos = env.step(np.array([action]))
            assert (rewards[0], dones[0]) == ((-1, True) if step == decisions else (0, False))
        assert infos[0]["episode"]["r"] == -1
        assert infos[0]["episode"]["l"] == decisions
        assert infos[0]["TimeLimit.truncated"] is False
        assert not np.array_equal(infos[0]["terminal_observation"], observation[0])


def test_margin_rewards_add_up_to_the_margin_of_the_game():
    """Rewards before the learner's first decision count too, here for the last of three seats."""
    game = Mars(num_players=3, reward="margin")
    learner = Learner(game, 8, "random", seat=2)
    learner.reset(5)
    total = np.zeros(8)
    running = np.ones(8, bool)
    rng = np.random.default_rng(0)
    while running.any():
        learner.step((rng.random(learner.action_mask.shape) * learner.action_mask).argmax(1))
        total[running] += learner.rewards[running]
        for row in np.flatnonzero(running & learner.terminated):
            scores = game.scores(learner.batch.last_states[row])
            assert total[row] == pytest.approx((scores[2] - (scores[0] + scores[1]) / 2) / 10, abs=1e-4)
            running[row] = False


def test_a_game_cut_at_the_cap_is_an_end():
    env = gymnasium_env.Env(Mars(max_decisions=9), seat=0)
    _, info = env.reset(seed=0)
    terminated = False
    while not terminated:
        _, _, terminated, truncated, info = env.step(int(info["action_mask"].argmax()))
        assert not truncated
    assert info["capped"]
    assert env.snapshot()["truncated"]


def test_games_that_end_before_the_learners_first_decision_are_skipped():
    learner = Learner(Mars(max_decisions=4), 1, seat=1)
    learner.reset(0)
    assert learner.batch.current_player[0] == 1
    with pytest.raises(RuntimeError, match="no turn in"):
        Learner(Mars(max_decisions=1), 1, seat=1).reset(0)


@pytest.mark.parametrize("seat", ["random", 0, 1])
def test_rows_do_not_depend_on_how_many_there_are(seat):
    few, many = (Learner(Mars(), rows, ["random", "greedy"], seat=seat) for rows in (2, 7))
    few.reset(3)
    many.reset(3)
    for _ in range(150):
        actions = many.action_mask.argmax(1)
        many.step(actions)
        few.step(actions[:2])
        for name in ("observation", "rewards", "seats", "drawn"):
            np.testing.assert_array_equal(getattr(few, name), getattr(many, name)[:2])


def test_pool_is_drawn_by_its_weights():
    learner = Learner(Mars(max_decisions=6), 400, ["random", "greedy", opponent], weights=[1, 0, 3])
    learner.reset(0)
    other = learner.drawn[np.arange(400), 1 - learner.seats]
    assert set(other) == {0, 2}
    assert 0.65 < (other == 2).mean() < 0.85
    assert 0.4 < learner.seats.mean() < 0.6


def test_environments_are_registered_with_both_libraries():
    env = gymnasium.make("mars_env:garden/Mars-v0", num_players=3, peaks=1)
    assert env.unwrapped.game == garden_core.make("mars", num_players=3, peaks=1)
    pettingzoo = pytest.importorskip("pettingzoo")
    if hasattr(pettingzoo, "make"):
        assert pettingzoo.make("aec", "garden/mars-v0", num_players=4).game.num_players == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"opponents": 5}, "an opponent is 'random', 'greedy', another agent's name or a callable"),
        ({"opponents": []}, "at least one opponent"),
        ({"seat": 2}, "seat must be 'random' or 0 to 1"),
        ({"opponents": ["random", "greedy"], "weights": [1, -1]}, "non-negative"),
        ({"opponents": "random", "weights": [0]}, "not all 0"),
    ],
)
def test_bad_arguments_are_explained(arguments, message):
    with pytest.raises(ValueError, match=message):
        Learner(Mars(), 2, **arguments)


@pytest.mark.parametrize("action", [-2, -1, 99])
def test_the_action_of_a_row_that_waits_for_its_next_game_is_ignored(action):
    learners = [Learner("cacti", 4, autoreset="next_step") for _ in range(2)]
    for learner, ignored in zip(learners, (0, action), strict=True):
        learner.reset(seed=3)
        for _ in range(60):
            actions = learner.action_mask.argmax(axis=1)
            learner.step(np.where(learner.terminated, ignored, actions))
    assert (learners[0].batch.states == learners[1].batch.states).all()
