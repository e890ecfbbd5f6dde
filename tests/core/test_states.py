"""States of every game: copies play on alike, and one seed gives one game everywhere."""

import copy
import json
import pickle
import re

import numpy as np
import pytest
from processes import python
from records import aec_record, aec_rest, batch_record, nth_legal, rest_of_game

from garden_core import Batch, list_games, make
from garden_core.interfaces.pettingzoo_env import GardenEnv
from mars_env import Mars

VARIANTS = [
    ("mars", {}),
    ("mars", {"num_players": 5, "reward": "margin"}),
    ("mars", {"gardeners": 2, "special_actions": True}),
    ("mars", {"num_players": 3, "peaks": 2, "view": "planes"}),
    ("mars", {"num_players": 1, "cooperative": True}),
    ("mars", {"num_players": 4, "cooperative": True, "reward": "margin", "max_decisions": 90}),
    ("botanicus", {}),
    ("botanicus", {"num_players": 4, "reward": "margin"}),
    ("cacti", {}),
    ("cacti", {"reward": "margin", "max_decisions": 20}),
]
variants = pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
games = pytest.mark.parametrize("name", list_games())


def test_every_game_is_tested():
    assert {name for name, _ in VARIANTS} == set(list_games())


def half_of(name, options, seed):
    """About half as many decisions as the game has."""
    return len(batch_record(name, options, seed)) // 2


# --- records ---


@games
@pytest.mark.parametrize("record", ["state_dtype", "params_dtype"])
def test_records_have_no_padding(name, record):
    dtype, at = getattr(make(name), record), 0
    for field_name in dtype.names:
        field, offset = dtype.fields[field_name]
        assert offset == at, f"padding before {field_name}"
        at += field.itemsize
    assert at == dtype.itemsize


@games
def test_the_last_field_of_a_state_names_the_build(name):
    assert re.fullmatch("build_[0-9a-f]{16}", make(name).state_dtype.names[-1])


# --- copies in mid-game ---


def row_copy(states):
    others = np.zeros(3, states.dtype).view(type(states))
    others[1] = states[0]
    return others[1:2]


def from_bytes(states):
    return np.frombuffer(bytearray(states.tobytes()), states.dtype).view(type(states))


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@variants
@pytest.mark.parametrize("copied", [row_copy, from_bytes, pickled, copy.deepcopy])
def test_a_copied_state_plays_on_alike(name, options, copied):
    batch = Batch(make(name, **options), 1)
    batch.reset(8)
    for decision in range(half_of(name, options, 8)):
        batch.step([nth_legal(batch.action_mask[0], 7 * decision)])
    first, second = copied(batch.states), copied(batch.states)
    rest = rest_of_game(batch.game, first)
    assert len(rest) > 5
    assert rest_of_game(batch.game, second) == rest
    assert rest_of_game(batch.game, batch.states) == rest


ARRAYS = (
    "states",
    "last_states",
    "observation",
    "action_mask",
    "current_player",
    "rewards",
    "terminated",
    "truncated",
)


def play_on(batch):
    """Step a batch for a while, beyond the ends of its games; return the bytes of everything at each step."""
    seen = []
    for decision in range(400):
        seen.append([getattr(batch, name).tobytes() for name in ARRAYS])
        batch.step([nth_legal(mask, 7 * decision) for mask in batch.action_mask])
    return seen


@pytest.mark.parametrize("copied", [Batch.clone, copy.deepcopy, pickled])
@games
def test_a_copied_batch_plays_on_alike(name, copied):
    batch = Batch(make(name, reward="margin"), 3)
    batch.reset(8)
    play_on(batch)
    other = copied(batch)
    assert other.game == batch.game
    assert play_on(other) == play_on(batch)


def carried_over(env):
    """By get_state to another environment, which was in the middle of another game."""
    other = GardenEnv(env.game)
    other.reset(99)
    aec_rest(other, 0, stop=5)
    other.set_state(pickled(env.get_state()))
    return other


@variants
@pytest.mark.parametrize("copied", [carried_over, pickled, copy.deepcopy])
def test_a_copied_environment_plays_on_alike(name, options, copied):
    env, half = GardenEnv(name, **options), half_of(name, options, 8)
    env.reset(8)
    aec_rest(env, 0, stop=half)
    other = copied(env)
    assert np.array_equal(other.last()[0]["observation"], env.last()[0]["observation"])
    assert other.last()[1:] == env.last()[1:]
    rest = aec_rest(other, half)
    assert len(rest) > 5
    assert aec_rest(env, half) == rest
    for ended in (env, other):
        ended.reset()
    assert other.snapshot() == env.snapshot()


def test_set_state_takes_an_environment_back():
    env = GardenEnv(Mars(reward="margin"))
    env.reset(8)
    aec_rest(env, 0, stop=45)
    before = env.get_state()
    rest = aec_rest(env, 45)
    env.set_state(before)
    assert aec_rest(env, 45) == rest


# --- one seed, one game ---


@variants
def test_one_seed_gives_one_game_in_batches_of_every_size_and_in_the_environment(name, options):
    record = batch_record(name, options, 12)
    assert record[-1]["snapshot"]["terminated"] != record[-1]["snapshot"]["truncated"]
    assert batch_record(name, options, 13) != record
    assert batch_record(name, options, 12, num_envs=3) == record
    assert batch_record(name, options, 12, num_envs=64) == record
    assert aec_record(name, options, 12) == record


@games
def test_a_row_has_the_same_game_whatever_the_size_of_the_batch(name):
    few, many = Batch(make(name), 3), Batch(make(name), 64)
    few.reset(12)
    many.reset(12)
    assert few.states.tobytes() == many.states[:3].tobytes()
    assert len({state.tobytes() for state in many.states}) == 64


@pytest.mark.parametrize("environment", [{}, {"NUMBA_DISABLE_JIT": "1"}], ids=["compiled", "plain Python"])
def test_one_seed_gives_one_game_in_another_process(environment):
    code = f"""if True:
        import json
        from records import aec_record, batch_record
        for name, options in {VARIANTS}:
            print(json.dumps(batch_record(name, options, 12)))
        print(json.dumps(aec_record(name, options, 12)))
    """
    printed = python("-W", "error", "-c", code, **environment).stdout.splitlines()
    for (name, options), line in zip([*VARIANTS, VARIANTS[-1]], printed, strict=True):
        record, expected = json.loads(line), batch_record(name, options, 12)
        for decision, (seen, should) in enumerate(zip(record, expected, strict=True)):
            assert seen == should, f"{name} {options}, decision {decision}"
