"""`record=`: a replay of every game of an environment, which changes no game."""

import copy
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest
from gymnasium.wrappers import TimeLimit
from processes import full_disk
from variants import each_table, shortened

from cacti_env import Cacti
from garden_core.batch.learner import Learner
from garden_core.batch.seats import AUTORESETS
from garden_core.interfaces.gymnasium_env import Env
from garden_core.interfaces.pettingzoo_env import GardenEnv
from garden_core.recorded.recorder import Recorder
from garden_core.recorded.replay import Replay
from mars_env import Mars


def replays(folder):
    """Return the replays of a folder in the order of their numbers, which have no gap."""
    paths = sorted(folder.iterdir())
    assert [path.name for path in paths] == [f"game-{n:06d}.json" for n in range(1, len(paths) + 1)]
    return [Replay.load(path) for path in paths]


def end(replay):
    *_, last = replay.states()
    return last.tobytes()


def choice(mask, number):
    legal = np.flatnonzero(mask)
    return int(legal[number * 7919 % len(legal)])


COPIES = {"copy": copy.deepcopy, "pickle": lambda env: pickle.loads(pickle.dumps(env))}

# --- PettingZoo ---


def play(env, decisions=10_000):
    """Play on; return the labels of the actions."""
    labels = []
    while len(labels) < decisions and not any((*env.terminations.values(), *env.truncations.values())):
        action = choice(env.observe(env.agent_selection)["action_mask"], len(labels))
        labels.append(env.game.labels[action])
        env.step(action)
    return tuple(labels)


@each_table
def test_every_game_is_recorded(name, options, tmp_path):
    env = GardenEnv(name, record=tmp_path, **options)
    env.reset(seed=3)
    games = []
    for decisions in (10_000, 5, 10_000, 0, 4):
        games.append((play(env, decisions), env.states[0].tobytes(), any(env.terminations.values())))
        while decisions == 10_000 and env.agents:
            env.step(None)
        if decisions != 4:
            env.reset()
    env.close()
    env.close()
    recorded_games = [(each.actions, end(each), each.ended == "terminated") for each in replays(tmp_path)]
    assert recorded_games == [game for game in games if game[0]]
    assert len(recorded_games) == 4
    env.reset(seed=3)
    env.close()
    assert len(replays(tmp_path)) == 4


def test_a_game_lost_by_an_illegal_action_is_recorded_as_far_as_it_went(tmp_path):
    env = GardenEnv(Mars, record=tmp_path, illegal="terminate")
    env.reset(seed=1)
    actions = play(env, 9)
    env.step(10**6)
    assert [(each.actions, each.ended) for each in replays(tmp_path)] == [(actions, "running")]
    env.reset()
    env.step(10**6)
    env.reset()
    assert len(replays(tmp_path)) == 1, "nothing was decided in the other game"


def test_a_refused_call_records_nothing(tmp_path):
    env = GardenEnv(Mars, record=tmp_path)
    env.reset(seed=1)
    actions = play(env, 3)
    with pytest.raises(ValueError, match="illegal"):
        env.step(int(env.last()[0]["action_mask"].argmin()))
    with pytest.raises(ValueError, match="seed"):
        env.reset(seed=-1)
    assert not replays(tmp_path)
    actions += play(env, 2)
    env.reset(seed=2)
    assert [each.actions for each in replays(tmp_path)] == [actions]


@pytest.mark.parametrize("way", COPIES)
def test_a_game_that_goes_on_elsewhere_is_recorded_whole(way, tmp_path):
    env = GardenEnv(Mars, record=tmp_path)
    env.reset(seed=1)
    actions = play(env, 9)
    other = COPIES[way](env)
    actions += play(other)
    recorded_games = replays(tmp_path)
    assert [(each.actions, end(each)) for each in recorded_games] == [(actions, other.states[0].tobytes())]


@pytest.mark.parametrize("way", COPIES)
def test_a_learners_copy_records_too(way, tmp_path):
    env = Env(Mars, "greedy", seat=0, record=tmp_path)
    env.reset(seed=1)
    other = COPIES[way](env)
    for each in (env, other):
        each.step(int(each.action_masks().argmax()))
        each.close()
    one, two = replays(tmp_path)
    assert one == two
    assert end(one) == env.learner.batch.states[0].tobytes()


def test_a_full_disk_raises_after_the_step(tmp_path, monkeypatch):
    monkeypatch.setattr(Replay, "save", full_disk)
    for env in (
        GardenEnv(Cacti, record=tmp_path, max_decisions=1),
        Env(Cacti, seat=0, record=tmp_path, max_decisions=1),
    ):
        env.reset(seed=1)
        with pytest.raises(OSError, match="No space left"):
            env.step(env.game.labels.index("grow saguaro"))
        env.reset()


# --- one learner's seat ---


def first_legal(batch, rows):
    return batch.action_mask[rows].argmax(1)


POOL = ["random", "greedy", first_legal]


def drawing():
    """Return a policy whose answers depend on the order of its calls."""
    generator = np.random.default_rng(1)

    def draw(batch, rows):
        return np.array([choice(batch.action_mask[row], generator.integers(1000)) for row in rows])

    return draw


class Watch:
    """The arrays of a learner after each step, and the last states of its games."""

    def __init__(self, learner):
        self.learner, self.shown, self.ends = learner, [], []

    def reset(self, seed=None, rows=None):
        self.learner.reset(seed, rows)
        self.note()

    def note(self):
        learner, batch = self.learner, self.learner.batch
        names = "observation action_mask rewards terminated truncated capped final_observation seats drawn"
        seen = {name: getattr(learner, name).tobytes() for name in names.split()}
        self.shown.append(seen | {"states": batch.states.tobytes(), "last": batch.last_states.tobytes()})

    def step(self, number):
        learner = self.learner
        rows = np.flatnonzero(~(learner.terminated | learner.truncated))
        if learner.autoreset != "disabled":
            rows = learner.batch.all_rows
        learner.step(np.array([choice(learner.action_mask[row], number + row) for row in rows]), rows)
        over = rows[(learner.terminated | learner.truncated)[rows]]
        self.ends += [state.tobytes() for state in learner.batch.last_states[over]]
        self.note()


@pytest.mark.parametrize("autoreset", AUTORESETS)
@pytest.mark.parametrize("max_steps", [None, 4])
@each_table
def test_the_games_are_the_same_with_and_without(name, options, autoreset, max_steps, tmp_path):
    game = shortened(name, 40, **options)
    learners = [
        Learner(game, 3, [*POOL, drawing()], autoreset=autoreset, max_steps=max_steps, on_game_end=record)
        for record in (None, Recorder(game, tmp_path).save)
    ]
    plain, recorded = watches = [Watch(learner) for learner in learners]
    for watch in watches:
        watch.reset(7)
        for number in range(60):
            watch.step(number)
            over = watch.learner.terminated | watch.learner.truncated
            if autoreset == "disabled" and over.any():
                watch.reset(rows=np.flatnonzero(over).tolist())
    assert plain.shown == recorded.shown
    assert plain.ends == recorded.ends
    whole = replays(tmp_path)
    assert [end(replay) for replay in whole] == plain.ends  # which holds all decisions
    assert {replay.ended for replay in whole} <= {"terminated", "truncated", *["running"] * bool(max_steps)}
    assert len(whole) >= 3
    before = {state.tobytes() for state in recorded.learner.batch.states}
    recorded.learner.close()
    recorded.learner.close()
    assert {end(replay) for replay in replays(tmp_path)[len(whole) :]} <= before


def test_an_illegal_action_of_the_learner_is_not_in_the_replay(tmp_path):
    env = Env(Mars, seat=0, illegal="terminate", record=tmp_path)
    _, info = env.reset(seed=5)
    for _ in range(3):
        _, _, _, _, info = env.step(int(info["action_mask"].argmax()))
    state = env.learner.batch.states[0].tobytes()
    env.step(10**6)
    env.reset()
    assert [(end(each), each.ended) for each in replays(tmp_path)] == [(state, "running")]


def test_many_games_are_recorded(tmp_path):
    envs = gymnasium.make_vec("garden/Cacti-v0", 3, opponents=POOL, record=tmp_path)
    _, infos = envs.reset(seed=1)
    ended = 0
    while ended < 4:
        _, _, terminated, _, infos = envs.step(infos["action_mask"].argmax(1))
        ended += terminated.sum()
        assert [each.ended for each in replays(tmp_path)] == ["terminated"] * ended
    envs.close()
    assert {each.ended for each in replays(tmp_path)[ended:]} == {"running"}


def test_a_deleted_environment_records_nothing(tmp_path):
    code = (
        "import gymnasium, mars_env; "
        f"envs = gymnasium.make_vec('garden/Mars-v0', 2, record={str(tmp_path)!r}); "
        "_, infos = envs.reset(seed=1); envs.step(infos['action_mask'].argmax(1))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stderr == ""
    assert not replays(tmp_path)


def test_games_without_a_decision_of_the_learner_are_left_out(tmp_path):
    """The learner never sees them."""
    game = Cacti(max_decisions=1)
    learner = Learner(game, 1, seat="random", on_game_end=Recorder(game, tmp_path).save)
    learner.reset(2)
    for count in range(1, 30):
        learner.step(learner.action_mask.argmax(1))
        recorded_games = replays(tmp_path)
        assert len(recorded_games) == count
        assert end(recorded_games[-1]) == learner.batch.last_states[0].tobytes()
    assert learner.batch.episodes[0] > 35


def test_decisions_undone_by_an_opponents_error_are_not_recorded(tmp_path):
    failing = []

    def opponent(batch, rows):
        if failing:
            raise ArithmeticError
        return first_legal(batch, rows)

    save = Recorder(Mars(), tmp_path).save
    learner = Learner(
        Mars(), 2, ["random", opponent], weights=[1, 3], seat=1, on_game_end=save, autoreset="disabled"
    )
    learner.reset(1)
    number = 0
    while not learner.terminated.any():
        failing[:] = [True] if number % 2 else []
        actions = np.array([choice(mask, number) for mask in learner.action_mask])
        number += 1
        try:
            learner.step(actions)
        except ArithmeticError:
            failing.clear()
            learner.step(actions)
    failing[:] = [True]
    with pytest.raises(ArithmeticError):
        learner.reset(4)
    failing.clear()
    states = [state.tobytes() for state in learner.batch.states]
    over = learner.terminated.copy()
    learner.close()
    first, *rest = replays(tmp_path)
    assert end(first) == states[int(over.argmax())]
    assert [end(each) for each in rest] == [
        state for state, done in zip(states, over, strict=True) if not done
    ]


def test_an_episode_that_is_cut_short_is_recorded_as_far_as_it_went(tmp_path):
    limited = TimeLimit(Env(Mars, seat=0, record=tmp_path), 3)
    for _ in range(2):
        _, info = limited.reset(seed=5)
        truncated = False
        while not truncated:
            _, _, _, truncated, info = limited.step(int(info["action_mask"].argmax()))
    limited.close()
    first, second = replays(tmp_path)
    assert first == second
    assert first.ended == "running"
    own = [last for _, last in first.decisions() if last and last[0] == 0]
    assert len(own) == 3
