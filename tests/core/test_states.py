"""States of every game: copies play on alike, and one seed gives one game everywhere."""

import copy
import json
import pickle

import numpy as np
import pytest
from processes import python
from records import aec_record, aec_rest, batch_record, nth_legal, rest_of_game
from variants import TABLES, VARIANTS, each_game, each_variant

from garden_core import Batch, make
from garden_core.interfaces import GardenEnv
from garden_core.registry import game_class

pytestmark = pytest.mark.many_games


def half_of(name, options, seed):
    """About half as many decisions as the game has."""
    return len(batch_record(name, options, seed)) // 2


# --- records ---


@each_game
@pytest.mark.parametrize("record", ["state_dtype", "params_dtype"])
def test_records_have_no_padding(name, record):
    dtype = getattr(make(name), record)
    assert dtype.itemsize == sum(dtype[field].itemsize for field in dtype.names)


# --- copies in mid-game ---


def row_copy(states):
    others = np.zeros(3, states.dtype).view(type(states))
    others[1] = states[0]
    return others[1:2]


def from_bytes(states):
    return np.frombuffer(bytearray(states.tobytes()), states.dtype).view(type(states))


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@each_variant
def test_a_copied_state_plays_on_alike(name, options):
    batch = Batch(make(name, **options), 1)
    batch.reset(8)
    half = half_of(name, options, 8)
    for decision in range(half):
        batch.step([nth_legal(batch.action_mask[0], 7 * decision)])
    ways = {way.__name__: way(batch.states) for way in (row_copy, from_bytes, pickled, copy.deepcopy)}
    rest = rest_of_game(batch.game, batch.states)
    assert len(rest) > min(5, half // 2), "something is left to play"
    for way, states in ways.items():
        assert rest_of_game(batch.game, states) == rest, way


def carried_over(env):
    """By get_state to another environment, which was in the middle of another game."""
    other = GardenEnv(env.game)
    other.reset(99)
    aec_rest(other, 0, stop=5)
    other.set_state(pickled(env.get_state()))
    return other


@each_variant
def test_a_copied_environment_plays_on_alike(name, options):
    env, half = GardenEnv(name, **options), half_of(name, options, 8)
    env.reset(8)
    aec_rest(env, 0, stop=half)
    others = {way.__name__: way(env) for way in (carried_over, pickled, copy.deepcopy)}
    shown = env.last()
    rest = aec_rest(env, half)
    assert len(rest) > min(5, half // 2), "something is left to play"
    env.reset()
    for way, other in others.items():
        assert np.array_equal(other.last()[0]["observation"], shown[0]["observation"]), way
        assert other.last()[1:] == shown[1:], way
        assert aec_rest(other, half) == rest, way
        other.reset()
        assert other.snapshot() == env.snapshot(), way


# --- one seed, one game ---


@each_variant
def test_one_seed_gives_one_game_in_batches_of_every_size_and_in_the_environment(name, options):
    record = batch_record(name, options, 12)
    assert record[-1]["snapshot"]["terminated"] != record[-1]["snapshot"]["truncated"]
    assert (batch_record(name, options, 13) != record) == (game_class(name).chance != "none")
    assert batch_record(name, options, 12, num_envs=3) == record
    assert batch_record(name, options, 12, num_envs=64) == record
    assert aec_record(name, options, 12) == record


@pytest.mark.parametrize(
    ("environment", "variants"),
    [({}, VARIANTS), ({"NUMBA_DISABLE_JIT": "1"}, TABLES)],
    ids=["compiled", "plain Python"],
)
def test_one_seed_gives_one_game_in_another_process(environment, variants):
    code = f"""if True:
        import json
        from records import aec_record, batch_record
        for name, options in {variants}:
            print(json.dumps(batch_record(name, options, 12)))
        print(json.dumps(aec_record(name, options, 12)))
    """
    printed = python("-W", "error", "-c", code, **environment).stdout.splitlines()
    for (name, options), line in zip([*variants, variants[-1]], printed, strict=True):
        record, expected = json.loads(line), batch_record(name, options, 12)
        for decision, (seen, should) in enumerate(zip(record, expected, strict=True)):
            assert seen == should, f"{name} {options}, decision {decision}"
