"""Copies of an environment in play, and games from one seed in other processes.

`check_game` compares records, copies of states, batches and environments for every game.
"""

import copy
import json
import pickle

import numpy as np
import pytest
from playing import positions
from processes import python
from records import aec_rest, batch_record
from variants import TABLES, VARIANTS, each_variant

from garden_core import list_games, make
from garden_core.interfaces import GardenEnv

pytestmark = pytest.mark.many_games


def pickled(value):
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("record", ["state_dtype", "params_dtype"])
@pytest.mark.parametrize("name", list_games())
def test_records_have_no_padding(name, record):
    dtype = getattr(make(name), record)
    assert dtype.itemsize == sum(dtype[field].itemsize for field in dtype.names)


@pytest.mark.parametrize("name", list_games())
def test_random_games_end_by_the_rules_before_the_default_cap(name):
    for seed in range(20):
        *_, last = positions(make(name), seed)
        assert last["terminated"]
        assert not last["truncated"]


@each_variant
def test_a_copied_environment_plays_on_alike(name, options):
    env, half = GardenEnv(name, **options), len(batch_record(name, options, 8)) // 2
    env.reset(8)
    aec_rest(env, 0, stop=half)
    others = {way.__name__: way(env) for way in (pickled, copy.deepcopy)}
    shown = env.last()
    rest = aec_rest(env, half)
    assert len(rest) > min(5, half // 2), "the game is far from its end"
    env.reset()
    for way, other in others.items():
        assert np.array_equal(other.last()[0]["observation"], shown[0]["observation"]), way
        assert other.last()[1:] == shown[1:], way
        assert aec_rest(other, half) == rest, way
        other.reset()
        assert other.snapshot() == env.snapshot(), way


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
