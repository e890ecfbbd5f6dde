"""Copies of an environment in play, and games from one seed in other processes.

`check_game` compares records, copies of states, batches and environments for every game.
"""

import copy
import pickle

import numpy as np
import pytest
from playing import positions
from processes import python
from regenerate_golden import GAMES, random_game
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


def played_on(env, decisions=10**9):
    """Play on; return what was seen at each decision, and by each agent at the end."""
    seen = []
    while env.agents and len(seen) < decisions:
        observation, reward, *ends, _ = env.last()
        view, legal = observation["observation"], np.flatnonzero(observation["action_mask"])
        seen.append((env.snapshot(), view.tolist(), legal.tolist(), reward, *ends))
        env.step(None if any(ends) else int(legal[view.sum(dtype=int) % len(legal)]))
    return seen


@each_variant
def test_a_copied_environment_plays_on_alike(name, options):
    env = GardenEnv(name, **options)
    env.reset(8)
    half = len(played_on(env)) // 2
    env.reset(8)
    played_on(env, half)
    others = {way.__name__: way(env) for way in (pickled, copy.deepcopy)}
    rest = played_on(env)
    assert len(rest) >= half
    env.reset()
    for way, other in others.items():
        assert played_on(other) == rest, way
        other.reset()
        assert other.snapshot() == env.snapshot(), way


@pytest.mark.parametrize(
    ("environment", "variants"),
    [({}, VARIANTS), ({"NUMBA_DISABLE_JIT": "1"}, TABLES)],
    ids=["compiled", "plain Python"],
)
def test_one_seed_gives_one_game_in_another_process(environment, variants):
    code = f"""if True:
        from regenerate_golden import GAMES, random_game
        for name, options in {variants}:
            print(*random_game(name, options, 12), sep="\\n")
    """
    printed = python("-W", "error", "-c", code, cwd=GAMES, **environment).stdout.splitlines()
    expected = [line for name, options in variants for line in random_game(name, options, 12)]
    for number, (line, should) in enumerate(zip(printed, expected, strict=True)):
        assert line == should, f"line {number}"
