"""The learner's seat: a loss is delivered on the right step, through every interface."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import garden_core
from garden_core.batch.batch import Batch
from garden_core.batch.learner import Learner
from garden_core.interfaces import gymnasium_env
from mars_env import Mars, mars_v0

SEAT = 0


def scripted(decisions: int, mask: np.ndarray) -> int:
    """Choose by the number of decisions so far, so that the seed settles the whole game."""
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
    found = {}
    for seed in range(60):
        decisions, reward, own = game_of(seed, Mars())
        if reward == -1 and not own:
            found[seed] = decisions
        if len(found) == 4:
            return found
    raise AssertionError("no such games")


def test_loss_through_aec(losses):
    for seed in losses:
        env = mars_v0.env()
        env.reset(seed=seed)
        paid = []
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            if agent == f"player_{SEAT}":
                paid.append((reward, terminated))
            if terminated or truncated:
                env.step(None)
            else:
                env.step(scripted(env.snapshot()["decisions"], observation["action_mask"]))
        assert paid[-1] == (-1.0, True)
        assert all(before == (0.0, False) for before in paid[:-1])
        assert len(paid) == losses[seed] + 1  # the last one is the dead step


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


@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_loss_through_vector_env(losses, mode):
    seeds = list(losses)
    env = gymnasium.make_vec(
        "garden/Mars-v0", num_envs=len(seeds), opponents=opponent, seat=SEAT, autoreset_mode=mode
    )
    _, infos = env.reset(seed=seeds)
    paid: list[list[float]] = [[] for _ in seeds]
    ended = np.zeros(len(seeds), int)
    for step in range(1, max(losses.values()) + 1):
        states = env.unwrapped.learner.batch.states
        actions = [scripted(s["decisions"], m) for s, m in zip(states, infos["action_mask"], strict=True)]
        observations, rewards, terminated, truncated, infos = env.step(np.array(actions))
        assert not truncated.any()
        for row in range(len(seeds)):
            if not ended[row]:
                paid[row].append(rewards[row])
        new = terminated & (ended == 0)
        ended[new] = step
        if mode is AutoresetMode.SAME_STEP:
            for row in np.flatnonzero(terminated):
                assert infos["_final_obs"][row]
                assert not np.array_equal(infos["final_obs"][row], observations[row])
        elif mode is AutoresetMode.DISABLED and terminated.any():
            with pytest.raises(ValueError, match="is over"):
                env.step(np.array(actions))
            _, infos = env.reset(options={"reset_mask": terminated})
    assert ended.tolist() == list(losses.values())
    assert all(row[-1] == -1 and not any(row[:-1]) for row in paid)


def test_next_step_mode_ignores_one_action(losses):
    seed, decisions = next(iter(losses.items()))
    env = gymnasium_env.VectorEnv(Mars(), opponents=opponent, seat=SEAT, autoreset_mode="NextStep")
    _, infos = env.reset(seed=[seed])
    for _ in range(decisions):
        state = env.learner.batch.states[0]
        _, _, terminated, _, infos = env.step([scripted(state["decisions"], infos["action_mask"][0])])
    assert terminated[0]
    assert infos["action_mask"].all()
    first, reward, terminated, _, infos = env.step([0])
    assert reward[0] == 0
    assert not terminated[0]
    fresh = gymnasium_env.VectorEnv(Mars(), opponents=opponent, seat=SEAT)
    fresh.reset(seed=[seed])
    second, _ = fresh.reset()
    np.testing.assert_array_equal(first, second)


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
    """Also what is paid before the learner's first decision, here for the last of three seats."""
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


def test_games_that_end_before_the_learner_is_asked_are_passed_over():
    learner = Learner(Mars(max_decisions=4), 1, seat=1)
    learner.reset(0)
    assert learner.batch.current_player[0] == 1
    with pytest.raises(RuntimeError, match="not asked once"):
        Learner(Mars(max_decisions=1), 1, seat=1).reset(0)


@pytest.mark.parametrize("seat", ["random", 0, 1])
def test_rows_do_not_depend_on_how_many_there_are(seat):
    game = Mars()
    few = Learner(game, 2, ["random", "greedy"], seat=seat)
    many = Learner(game, 7, ["random", "greedy"], seat=seat)
    few.reset(3)
    many.reset(3)
    for _ in range(150):
        np.testing.assert_array_equal(few.observation, many.observation[:2])
        actions = many.action_mask.argmax(1)
        many.step(actions)
        few.step(actions[:2])
        np.testing.assert_array_equal(few.rewards, many.rewards[:2])
        np.testing.assert_array_equal(few.seats, many.seats[:2])
        np.testing.assert_array_equal(few.drawn, many.drawn[:2])


def test_pool_is_drawn_by_its_weights():
    learner = Learner(Mars(max_decisions=6), 400, ["random", "greedy", opponent], weights=[1, 0, 3])
    learner.reset(0)
    other = learner.drawn[np.arange(400), 1 - learner.seats]
    assert set(other) == {0, 2}
    assert 0.65 < (other == 2).mean() < 0.85
    assert 0.4 < learner.seats.mean() < 0.6


def test_seeds_and_next_games():
    env = gymnasium.make("garden/Mars-v0", seat=0, peaks=3)
    first, _ = env.reset(seed=11)
    second, _ = env.reset()
    again, _ = env.reset(seed=11)
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, second)


def test_environments_are_registered_with_both_libraries():
    env = gymnasium.make("mars_env:garden/Mars-v0", num_players=3, peaks=1)
    assert env.unwrapped.game == garden_core.make("mars", num_players=3, peaks=1)
    pettingzoo = pytest.importorskip("pettingzoo")
    if hasattr(pettingzoo, "make"):
        assert pettingzoo.make("aec", "garden/mars-v0", num_players=4).game.num_players == 4


def test_gymnasium_rendering():
    env = gymnasium.make("garden/Mars-v0", render_mode="ansi")
    env.reset(seed=0)
    assert "player_0" in env.render()
    env = gymnasium.make("garden/Mars-v0", render_mode="rgb_array")
    env.reset(seed=0)
    assert env.render().dtype == np.uint8


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"opponents": "grandmaster"},
            "no agent 'grandmaster': unknown agent 'grandmaster'; known are random",
        ),
        ({"opponents": 5}, "an opponent is 'random', 'greedy', another agent's name or a callable"),
        ({"opponents": []}, "at least one opponent"),
        ({"seat": 2}, "seat must be 'random' or 0 to 1"),
        ({"autoreset": "sometimes"}, "same_step"),
        ({"opponents": ["random", "greedy"], "weights": [1, -1]}, "non-negative"),
        ({"opponents": "random", "weights": [0]}, "not all 0"),
    ],
)
def test_bad_arguments_are_explained(arguments, message):
    with pytest.raises(ValueError, match=message):
        Learner(Mars(), 2, **arguments)


def test_bad_actions_are_explained_and_change_nothing():
    learner = Learner(Mars(), 3, "random", seat=0)
    with pytest.raises(RuntimeError, match="reset"):
        learner.step([0, 0, 0])
    learner.reset(0)
    before = learner.batch.states.tobytes()
    centre = learner.game.labels.index("hex 0,0")
    with pytest.raises(ValueError, match=r"row 1: action 45 \('hex 0,0'\) is illegal; legal are 'hex"):
        learner.step([0, centre, 0])
    with pytest.raises(ValueError, match="shape"):
        learner.step([0, 0])
    with pytest.raises(ValueError, match="integers"):
        learner.step([0.0, 1.0, 2.0])
    assert learner.batch.states.tobytes() == before


def test_an_illegal_opponent_is_named():
    learner = Learner(Mars(), 1, lambda batch, rows: np.full(len(rows), 45), seat=1)
    with pytest.raises(ValueError, match=r"opponent 0 \(test_an_illegal.*lambda>\): row 0: action 45"):
        learner.reset(0)
