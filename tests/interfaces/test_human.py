"""Pictures of environments: `render_mode="human"`, and the last decision marked in every picture."""

import copy
import pickle

import gymnasium
import numpy as np
import pytest
from pig import Pig

from cacti_env import Cacti
from garden_core.interfaces import gymnasium_env
from garden_core.interfaces.gymnasium_env import Env, VectorEnv
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.recorded.replay import Replay
from garden_core.render import svg
from garden_core.render.display import Display
from mars_env import Mars


@pytest.fixture
def shown(monkeypatch):
    """Pictures that displays have shown, with their frames per second."""
    pictures = []
    monkeypatch.setattr(Display, "show", lambda self, picture, fps: pictures.append((picture, fps)))
    return pictures


def legal(mask):
    return int(np.flatnonzero(mask)[-1])


def move(env):
    """Take a legal action; return its player and the action."""
    agent = env.agent_selection
    action = legal(env.observe(agent)["action_mask"])
    env.step(action)
    return env.possible_agents.index(agent), action


# --- PettingZoo ---


def test_resets_and_steps_show_what_an_onlooker_sees(shown):
    env = GardenEnv(Cacti, render_mode="human")
    env.reset(seed=1)
    expected, last = [env.game.svg(env.states[0])], None
    for _ in range(4):
        last = move(env)
        expected.append(env.game.svg(env.states[0], last=last))
    env.metadata["render_fps"] = 7
    assert env.render() is None
    assert shown == [*((picture, 2) for picture in expected), (expected[-1], 7)]
    assert len(set(expected)) == 5


def test_render_with_a_seat_keeps_its_view(shown):
    env = GardenEnv(Cacti, render_mode="human")
    env.reset(seed=1)
    env.render(seat=1)
    last = move(env)
    assert shown[-1][0] == env.game.svg(env.states[0], 1, last=last) != env.game.svg(env.states[0], last=last)
    with pytest.raises(ValueError, match="seat must be 0 to 1"):
        env.render(seat=2)
    env.reset()
    assert shown[-1][0] == env.game.svg(env.states[0], 1)
    env.render()
    env.reset()
    assert shown[-1][0] == env.game.svg(env.states[0])


def test_a_call_without_an_effect_shows_nothing(shown):
    env = GardenEnv(Mars, render_mode="human", illegal="terminate")
    env.reset(seed=1)
    count = len(shown)
    env.step(10**6)
    while env.agents:
        env.step(None)
    assert len(shown) == count


@pytest.mark.parametrize("draw", [GardenEnv.render, GardenEnv._repr_svg_], ids=["rgb_array", "notebook"])
def test_the_last_decision_is_marked(draw):
    env = GardenEnv(Mars, render_mode="rgb_array")
    painted = svg.to_pixels if draw is GardenEnv.render else str
    env.reset(seed=1)
    np.testing.assert_array_equal(draw(env), painted(env.game.svg(env.states[0])))
    for _ in range(3):
        last = move(env)
        marked = painted(env.game.svg(env.states[0], last=last))
        np.testing.assert_array_equal(draw(env), marked)
        assert not np.array_equal(marked, painted(env.game.svg(env.states[0])))
    for each in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        np.testing.assert_array_equal(draw(each), marked)
    env.reset()
    np.testing.assert_array_equal(draw(env), painted(env.game.svg(env.states[0])))


# --- Gymnasium ---


def first_legal(batch, rows):
    return batch.action_mask[rows].argmax(1)


def test_the_learners_seat_is_shown(shown):
    env = gymnasium.make("garden/Cacti-v0", seat=1, render_mode="human").unwrapped
    _, info = env.reset(seed=1)
    for _ in range(4):
        state, last = env.learner.batch.states[0], env.learner.last_decision(0)
        assert shown[-1] == (env.game.svg(state, 1, last=last), 2)
        _, _, _, _, info = env.step(legal(info["action_mask"]))
    assert env.render() is None
    assert len(shown) == 6


@pytest.mark.parametrize(("opponents", "seat"), [("random", 0), ("greedy", 1), (first_legal, 1)])
def test_the_last_decision_equals_the_replays(opponents, seat, tmp_path):
    plain, recorded = Env(Cacti, opponents, seat=seat), Env(Cacti, opponents, seat=seat, record=tmp_path)
    movers = set()
    for number in range(1, 4):
        decided = []
        for env in (plain, recorded):
            _, info = env.reset(seed=number)
            over, learner = False, env.learner
            decided.append([(int(learner.batch.states["decisions"][0]), learner.last_decision(0))])
            while not over:
                _, _, over, _, info = env.step(legal(info["action_mask"]))
                decided[-1].append((int(learner.batch.states["decisions"][0]), learner.last_decision(0)))
        game = list(Replay.load(tmp_path / f"game-{number:06d}.json").decisions())
        assert decided[0] == decided[1] == [(count, game[count][1]) for count, _ in decided[0]]
        assert game[decided[0][-1][0]] is game[-1]
        movers |= {last[0] for _, last in decided[0][1:]}
    assert movers == {0, 1}


def test_pictures_of_many_games_are_marked():
    envs = VectorEnv(Mars, 2, render_mode="rgb_array")
    _, infos = envs.reset(seed=1)
    envs.step(infos["action_mask"].argmax(1))
    learner = envs.learner
    for row, picture in enumerate(envs.render()):
        state, seat, last = learner.batch.states[row], learner.seats[row], learner.last_decision(row)
        np.testing.assert_array_equal(picture, svg.to_pixels(envs.game.svg(state, seat, last=last)))
        assert not np.array_equal(picture, svg.to_pixels(envs.game.svg(state, seat)))


# --- windows ---


@pytest.fixture
def windows(monkeypatch):
    """Windows that nothing waits for."""
    pytest.importorskip("pygame")
    monkeypatch.setitem(gymnasium_env._METADATA, "render_fps", 1000)


def pettingzoo_env(game):
    env = GardenEnv(game, render_mode="human")
    env.metadata["render_fps"] = 1000
    return env


def act(env):
    """Take a legal action in either kind of environment."""
    move(env) if isinstance(env, GardenEnv) else env.step(legal(env.action_masks()))


each_kind = pytest.mark.parametrize("kind", [pettingzoo_env, lambda game: Env(game, render_mode="human")])


@each_kind
def test_an_environment_with_a_window_is_copied_without(kind, windows):
    env = kind(Mars)
    env.reset(seed=1)
    act(env)
    window = env._display._screen
    others = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for other in others:
        assert other._display._screen is None
        act(other)
        assert other._display._screen is not None
        other.close()
        assert env._display._screen is window
    act(env)
    env.close()
    assert env._display._screen is None
    env.close()


@each_kind
def test_a_game_without_a_picture_raises(kind, windows):
    with pytest.raises(ValueError, match="pig has no picture; use render_mode='ansi'"):
        kind(Pig).reset(seed=1)


def test_many_games_have_no_window():
    assert "human" not in VectorEnv.metadata["render_modes"]
    with pytest.raises(ValueError, match=r"use 'rgb_array' here, and gymnasium\.wrappers\.vector\.Human"):
        VectorEnv(Mars, 2, render_mode="human")
