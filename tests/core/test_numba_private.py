"""Numba's private interfaces: without them, or without some, the rules stay the same."""

import pytest
from test_cache import Place

from garden_core.jit.numba_private import missing

BOTH = "import pig; value = [points(pig.Pig()), first_game(pig.Pig(goal=20))]"
RENAMED = "import numba.core.environment as renamed\ndel renamed.lookup_environment\n"
COUNTED = """
import itertools
from numba.core.bytecode import FunctionIdentity
numbers, made = itertools.count(9), FunctionIdentity.from_function
def from_function(function):
    identity = made(function)
    identity.unique_id = next(numbers)
    return identity
FunctionIdentity.from_function = from_function
"""


@pytest.fixture(autouse=True, scope="module")
def _with_private_interfaces():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GARDEN_PLAIN_NUMBA", raising=False)
        yield


def test_nothing_is_missing_here():
    assert missing() == []


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("usual")).run(BOTH)["value"]


def test_by_plain_numba_games_are_the_same_and_found_again(tmp_path, usual):
    place = Place(tmp_path)
    assert place.run(BOTH, GARDEN_PLAIN_NUMBA="all")["value"] == usual
    again = place.run(BOTH, GARDEN_PLAIN_NUMBA="all")
    assert (again["value"], again["compiled"]) == (usual, 0)


@pytest.mark.parametrize(
    ("change", "plain", "message", "cached"),
    [
        (RENAMED, "", "numba.core.environment:lookup_environment. Results are the same; first steps", True),
        (COUNTED, "", "unique numbers of functions. Results are the same; every process compiles", False),
        (COUNTED, "all", "unique numbers of functions. Results are the same; every process", False),
    ],
)
def test_another_numba_is_reported_once_and_works(tmp_path, usual, change, plain, message, cached):
    place = Place(tmp_path)
    place.write("sitecustomize.py", change)
    result = place.run(BOTH, warning="always", GARDEN_PLAIN_NUMBA=plain)
    assert result["value"] == usual
    assert result["errors"].count("UserWarning") == 1
    assert message in result["errors"]
    assert bool(place.files()) == cached
