"""The private parts of Numba in use: each can be missing, and the rules stay the same."""

import importlib

import pytest
from test_cache import FIRST_GAME, Place

from garden_core.jit.numba_private import NEEDED, USED, missing

BOTH = "import pig; value = [points(pig.Pig()), first_game(pig.Pig(goal=20))]"
PLACES = [(part, place) for part, places in NEEDED.items() for place in places]


@pytest.fixture(autouse=True, scope="module")
def _with_all_parts():
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("GARDEN_PLAIN_NUMBA", raising=False)
        yield


def test_nothing_is_missing_here():
    assert {part: missing(part) for part in NEEDED} == {part: [] for part in NEEDED}
    assert set(NEEDED) >= USED


@pytest.mark.parametrize(("part", "place"), PLACES)
def test_a_missing_name_is_noticed(part, place, monkeypatch):
    module, _, name = place.partition(":")
    holder = importlib.import_module(module)
    members = NEEDED[part][place].split()
    monkeypatch.setattr(holder, name, type(name, (), {}))
    assert missing(part) == sorted(f"{place}.{member}" for member in members)
    monkeypatch.delattr(holder, name)
    assert missing(part) == [place, *sorted(f"{place}.{member}" for member in members)]


@pytest.fixture(scope="module")
def usual(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("usual")).run(BOTH)["value"]


@pytest.mark.parametrize("off", ["flags", "linking", "cache", "all"])
def test_without_a_part_games_are_the_same_and_found_again(tmp_path, usual, off):
    place = Place(tmp_path)
    assert place.run(BOTH, GARDEN_PLAIN_NUMBA=off)["value"] == usual
    again = place.run(BOTH, GARDEN_PLAIN_NUMBA=off)
    assert (again["value"], again["compiled"]) == (usual, 0)


@pytest.mark.parametrize(
    ("name", "part", "place"),
    [
        ("_unique_ids", "names", "numba.core.bytecode:FunctionIdentity"),
        ("no_rewrites", "flags", "numba.core.cpu:CPUTargetOptions"),
        ("_ensure_finalized", "linking", "numba.core.codegen:JITCodeLibrary"),
        ("_save_index", "cache", "numba.core.caching:IndexDataCacheFile"),
    ],
)
def test_missing_parts_are_reported_once(tmp_path, usual, name, part, place):
    """As in a Numba where a name is another one."""
    folder = Place(tmp_path)
    path = "garden_core/jit/numba_private.py"
    head, table = (tmp_path / path).read_text("utf-8").split("NEEDED = {")
    assert name in table
    folder.write(path, f"{head}NEEDED = {{{table.replace(f'{name} ', f'{name}_2 ', 1)}")
    result = folder.run(BOTH, warning="always")
    assert result["value"] == usual
    assert result["errors"].count("UserWarning") == 1
    assert f"that are missing: {part} ({place}.{name}_2)" in result["errors"]
    assert bool(folder.files()) == (part != "names"), "without random names nothing is cached"


def test_without_numbers_in_names_nothing_is_cached(tmp_path, usual):
    """As in a Numba that counts functions elsewhere."""
    folder = Place(tmp_path)
    folder.edit(
        "garden_core/jit/numba_private.py",
        "iter(lambda: secrets.randbits(63), None)",
        "iter(range(9, 10**9))",
    )
    for off in ("", "all"):
        result = folder.run(BOTH, warning="always", GARDEN_PLAIN_NUMBA=off)
        assert result["value"] == usual
        assert result["errors"].count("UserWarning") == 1
        assert "names (unique numbers of functions)" in result["errors"]
        assert "every process compiles all code again" in result["errors"]
        assert not folder.files()


def test_an_unknown_part_is_refused(tmp_path):
    process = Place(tmp_path).start(FIRST_GAME, GARDEN_PLAIN_NUMBA="flags,speed")
    assert "GARDEN_PLAIN_NUMBA must name flags, cache, linking or all, not speed" in process.communicate()[1]
