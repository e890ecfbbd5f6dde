"""Compiled code on disk is loaded again and never stale: shown by editing copies of the toy game and the core.

Each test has a folder with copies and a cache of its own, and runs processes there. Warnings are errors in them.
"""

import copy
import json
import os
import shutil
import subprocess
import sys

import pytest
from processes import ROOT, python

from garden_core import list_games

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}

# What the processes run, after one of the lines below has made `value`.
START = """
import json
import numpy as np
from numba.core import event
import garden_core
from garden_core import Batch
from garden_core.jit import kernels
from garden_core.jit import loops

compilations = event.RecordingListener()
event.register("numba:compile", compilations)

def points(game):
    '''What a score of 3 is worth: by the kernel itself, and by a generic loop.'''
    states = game.new_states(1)
    states["score"] = 3
    direct, looped = np.zeros(4, np.int32), np.zeros((1, 4), np.int32)
    game.rules.points(states[0], game.params[0], direct)
    loops.points_rows(states, game.params, looped)
    return [int(direct[0]), int(looped[0, 0])]

def first_game(game):
    '''How the first game of seed 1 ends, always with the last legal action; and what `deal` alone draws.'''
    states = game.new_states(2)
    views, masks = np.zeros((2, game.observation_size), np.int8), np.zeros((2, game.num_actions), np.int8)
    game.rules.deal(states[1], game.params[0], np.uint64(5))
    seed, episode = np.uint64(1), np.uint64(0)
    loops.play_one(states, game.params, loops.DEAL, seed, episode, views, masks)
    while loops.play_one(states, game.params, int(np.flatnonzero(masks[0])[-1]), seed, episode, views, masks) >= 0:
        pass
    return {name: states[name].tolist() for name in ("rng", "score", "rewards", "decisions")}

def batch_of(game, steps):
    '''All that a batch shows in some steps.'''
    batch, shown = Batch(game, 3), []
    batch.reset(seed=1)
    for _ in range(steps):
        batch.step([int(np.flatnonzero(mask)[step % 7 % mask.sum()]) for step, mask in enumerate(batch.action_mask)])
        arrays = batch.states, batch.observation, batch.action_mask, batch.rewards, batch.terminated
        shown.append([array.tobytes().hex() for array in arrays])
    return shown
"""
END = """
print(json.dumps({"value": value, "compiled": len(compilations.buffer) // 2, "core": garden_core.__file__}))
"""
POINTS = "import pig; value = points(pig.Pig())"
FIRST_GAME = "import pig; value = first_game(pig.Pig(goal=20))"


class Place:
    """A folder with copies of the core and the toy game, and the processes that run there."""

    def __init__(self, folder):
        self.folder = folder
        self.cache = folder / "cache"
        shutil.copy(ROOT / "examples" / "pig.py", folder / "pig.py")
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "garden_core", folder / "garden_core", ignore=ignored)

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")

    def edit(self, name, old, new):
        text = (self.folder / name).read_text("utf-8")
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {name}"
        self.write(name, text.replace(old, new))

    def start(self, code, warning="error", **environment):
        own = {
            "NUMBA_CACHE_DIR": str(self.cache),
            "NUMBA_DISABLE_JIT": None,  # these processes compile, whether the tests themselves do or not
            "PYTHONPATH": f"{self.folder}{os.pathsep}{ROOT}",
        }
        whole = os.environ | own | environment
        whole = {name: value for name, value in whole.items() if value is not None}
        command = [sys.executable, "-W", warning, "-c", START + code + END]
        return subprocess.Popen(command, env=whole, cwd=self.folder, **PIPES)

    def run(self, code, **environment):
        return finish(self.start(code, **environment))

    def files(self, pattern="*"):
        """Cached files by path, with the time when they were written."""
        return {path: path.stat().st_mtime_ns for path in self.cache.rglob(pattern) if path.is_file()}


def finish(process):
    out, errors = process.communicate()
    assert process.returncode == 0, errors
    return {**json.loads(out.splitlines()[-1]), "errors": errors}


@pytest.fixture
def place(tmp_path):
    return Place(tmp_path)


@pytest.mark.long
def test_the_next_process_finds_everything(place):
    code = "import pig; value = [points(pig.Pig()), first_game(pig.Pig(goal=20)), batch_of(pig.Pig(), 3)]"
    first = place.run(code)
    assert first["compiled"] > 20
    files = place.files()
    again = place.run(code)
    assert again["value"] == first["value"]
    assert again["compiled"] == 0
    assert place.files() == files, "nothing was written"


def third_party(place):
    """Have the toy game's rules call helpers and read constants of other files; a score of 3 counts 1106."""
    place.write("toolbox/__init__.py", "")
    place.write("toolbox/tables.py", "FIRST = 1000\n")
    place.write(
        "helpers.py",
        "from garden_core import compiled\nBONUS = 100\n\n@compiled\ndef worth(x, by=2):\n    return x * by\n",
    )
    imports = "import toolbox.tables\nfrom helpers import BONUS, worth\n"
    place.edit("pig.py", "import numpy as np\n", "import numpy as np\n" + imports)
    place.edit(
        "pig.py", "out[p] = state.score[p]", "out[p] = worth(state.score[p]) + BONUS + toolbox.tables.FIRST"
    )
    place.write(
        "mine.py",
        "import toolbox.tables\nfrom helpers import BONUS, worth\nfrom numba import njit\n"
        "from garden_core import compiled, kernels\n\n"
        "@njit(cache=True)\ndef search(states, params, out):\n    kernels.points(states[0], params[0], out)\n\n"
        "@compiled\ndef total(x):\n    return worth(x) + BONUS + toolbox.tables.FIRST\n",
    )


THIRD_PARTY = """
import mine, pig
game = pig.Pig()
states, out = game.new_states(1), np.zeros(4, np.int32)
states["score"] = 3
mine.search(states, game.params, out)
value = [*points(game), int(out[0]), mine.total(3)]
"""


@pytest.fixture(params=["", "all"], ids=["", "plain Numba"])
def any_numba(request, monkeypatch):
    """Numba's private interfaces, all used or all switched off."""
    monkeypatch.setenv("GARDEN_PLAIN_NUMBA", request.param)


@pytest.mark.usefixtures("any_numba")
def test_an_edit_in_another_file_is_met_by_fresh_code(place):
    """By the rule itself, the core's loops, a user's search under Numba's own cache, and code without states."""
    third_party(place)
    assert place.run(THIRD_PARTY)["value"] == [1106] * 4
    for name, old, new, expected in [
        ("helpers.py", "x * by", "x * by + 1", [1107] * 4),  # a function
        ("helpers.py", "by=2", "by=5", [1116] * 4),  # a default
        ("helpers.py", "BONUS = 100", "BONUS = 200", [1216] * 4),  # a constant, imported by name
        ("toolbox/tables.py", "1000", "2000", [2216] * 4),  # a constant, read from a module in a package
        ("pig.py", "+ BONUS", "- BONUS", [1816] * 3 + [2216]),  # the rule itself
    ]:
        place.edit(name, old, new)
        assert place.run(THIRD_PARTY)["value"] == expected, f"{old} -> {new}"
    assert place.run(THIRD_PARTY)["compiled"] == 0


@pytest.mark.usefixtures("any_numba")
def test_an_edit_of_the_core_is_met_by_fresh_code(place):
    place.write(
        "mine.py",
        "from numba import njit\nfrom garden_core import kernels\n\n"
        "@njit(cache=True)\ndef search(states, params):\n    kernels.apply_action(states[0], params[0], 0)\n",
    )
    code = FIRST_GAME + "; import mine; game = pig.Pig(max_decisions=1); states = game.new_states(1)"
    code += (
        "; states['rng'] = 1; mine.search(states, game.params); value['search'] = states['rewards'].tolist()"
    )
    result = place.run(code)
    assert result["core"] == str(place.folder / "garden_core" / "__init__.py")
    for name, old, new, changes in [
        ("jit/rng.py", "0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17", {"rng"}),
        ("jit/rewards.py", "1.0 - twice_mean_rank", "1.0 - 1.5 * twice_mean_rank", {"rewards", "search"}),
    ]:
        place.edit(f"garden_core/{name}", old, new)
        edited = place.run(code)
        assert changes <= {key for key in result["value"] if edited["value"][key] != result["value"][key]}
        assert edited["value"] == place.run(code, NUMBA_DISABLE_JIT="1")["value"]
        result = edited


def test_games_with_equal_fields_keep_their_own_rules(place):
    shutil.copy(place.folder / "pig.py", place.folder / "boar.py")
    place.edit("boar.py", "out[p] = state.score[p]", "out[p] = 10 * state.score[p]")
    place.edit("boar.py", 'name = "pig"', 'name = "boar"')
    shutil.copy(place.folder / "boar.py", place.folder / "sow.py")  # the same name, other rules
    place.edit("sow.py", "10 * state.score[p]", "20 * state.score[p]")
    boar, sow = POINTS.replace("pig", "boar"), POINTS.replace("pig", "sow")
    for _ in range(2):  # across processes, by turns
        assert place.run(POINTS)["value"] == [3, 3]
        assert place.run(boar)["value"] == [30, 30]
        assert place.run(sow)["value"] == [60, 60]
    together = "import pig, boar, sow; games = pig.Pig(), boar.Pig(), sow.Pig(), pig.Pig()"
    fields = "; assert len({tuple(game.state_dtype.names[:-1]) for game in games}) == 1"
    result = place.run(together + fields + "; value = [points(game) for game in games]")
    assert result["value"] == [[3, 3], [30, 30], [60, 60], [3, 3]]


@pytest.fixture(scope="module")
def filled(tmp_path_factory):
    """A place with the rule `points` in its cache, which tests must copy."""
    place = Place(tmp_path_factory.mktemp("filled"))
    assert place.run(POINTS)["value"] == [3, 3]
    return place


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".nbi", lambda content: b""),
        *((suffix, lambda content: content[: len(content) // 2]) for suffix in (".nbi", ".nbc")),
        (".nbc", lambda content: b"\xff" * len(content)),
    ],
)
def test_damaged_files_are_replaced_silently(filled, tmp_path, suffix, damage):
    place = copy.copy(filled)
    place.cache = shutil.copytree(filled.cache, tmp_path / "cache")
    damaged = place.files(f"*{suffix}")
    assert len(damaged) >= 2
    for path in damaged:
        path.write_bytes(damage(path.read_bytes()))
    repaired = place.run(POINTS)
    assert repaired["value"] == [3, 3]
    assert repaired["compiled"] > 0
    assert repaired["errors"] == ""
    assert place.run(POINTS)["compiled"] == 0


@pytest.mark.parametrize("variable", ["NUMBA_CACHE_DIR", "XDG_CACHE_HOME"])
def test_a_folder_that_cannot_be_written_gives_one_warning(place, variable):
    place.write("file", "no folder")
    folder = str(place.folder / "file" / "cache")
    environment = {"NUMBA_CACHE_DIR": None, variable: folder}
    result = place.run(POINTS, warning="always", **environment)
    assert result["value"] == [3, 3]
    assert result["errors"].count("UserWarning") == 1
    assert f"compiled code cannot be kept in {folder}" in result["errors"]
    assert not place.files()


def test_other_packages_keep_their_folder(place):
    other = "from numba import njit\n\n@njit(cache=True)\ndef one_more(x):\n    return x + 1\n"
    place.write("before.py", other)
    place.write("after.py", other)
    code = "import before, pig, after, numba; value = [before.one_more(1), after.one_more(1), *points(pig.Pig())]"
    code += "; value.append(numba.config.CACHE_DIR)"
    home = place.folder / "home"
    result = place.run(code, NUMBA_CACHE_DIR=None, XDG_CACHE_HOME=str(home))
    assert result["value"] == [2, 2, 3, 3, ""]
    theirs = {path.name.partition(".")[0] for path in (place.folder / "__pycache__").glob("*.nbi")}
    assert theirs == {"before", "after"}
    ours = {path.name.partition(".")[0] for path in (home / "garden-envs" / "numba").rglob("*.nbi")}
    assert ours == {"loops", "pig"}


def scores(*bonuses):
    """The line of the rule `points` with a bonus, for each."""
    return [f"out[p] = state.score[p]{f' + {bonus}' if bonus else ''}\n" for bonus in bonuses]


@pytest.mark.long
def test_old_builds_are_pruned(place):
    for number in range(5):
        assert place.run(POINTS)["value"] == [3 + number] * 2
        place.edit("pig.py", *scores(number, number + 1))
        for function in ("loops.points_rows", "pig.points"):
            count = len(place.files(f"{function}.*.nbc"))
            assert 1 <= count <= 2, f"{count} files of {function} after {number} edits"
    assert len(place.files("loops.points_rows.*.nbc")) == 2
    place.edit("pig.py", *scores(5, 4))
    result = place.run(POINTS)
    assert result["value"] == [7, 7]
    assert result["compiled"] == 0, "the build before is still there"


@pytest.mark.long
def test_bounds_check_finds_an_overrun_though_unchecked_code_is_in_the_cache(place):
    start = "import pig; game, value = pig.Pig(), 0; states, out = game.new_states(1), np.zeros((2, 10), np.int8); "
    direct = start + "kernels.observe(states[0], game.params[0], 0, out[0])"
    looped = start + "loops.observe_rows(states, game.params, np.zeros(1, np.int64), out[:1])"
    for code in (direct, looped):
        assert place.run(code, NUMBA_BOUNDSCHECK="1")["compiled"] > 0
    place.edit("pig.py", "out[2 * MAX_PLAYERS + 1] = params.goal", "out[2 * MAX_PLAYERS + 2] = params.goal")
    for code in (direct, looped):
        place.run(code)
        process = place.start(code, NUMBA_BOUNDSCHECK="1")
        assert "IndexError: index is out of bounds" in process.communicate()[1]
        assert process.returncode == 1


def test_two_that_save_at_once_do_not_take_the_same_file(place):
    """Both read the index before either writes it, and the first to write it is the last to write its code."""
    place.write(
        "other.py",
        "from garden_core.jit import compiled\n\ndef f(x):\n    return x.itemsize\n\n"
        "one, other = compiled(f), compiled(f)\n",
    )
    code = """
from other import one, other
mine, others = one._cache._cache_file, other._cache._cache_file
assert mine._index_path == others._index_path
save_mine, save_others = mine._save_index, others._save_index

def save_while_the_other_does(index):
    others._save_index = lambda others_index: (save_mine(index), save_others(others_index))
    other(np.zeros(1, "i2"))

mine._save_index = save_while_the_other_does
value = [int(one(np.zeros(1, "i8"))), int(other(np.zeros(1, "i2")))]
"""
    assert place.run(code)["value"] == [8, 2]
    read = "from other import one; value = [int(one(np.zeros(1, 'i2'))), int(one(np.zeros(1, 'i8')))]"
    assert place.run(read)["value"] == [2, 8]


def test_a_private_function_cannot_be_called_from_python(place):
    place.write(
        "other.py",
        "from garden_core import compiled\n\n@compiled\ndef _half(x):\n    return x // 2\n\n"
        "@compiled\ndef quarter(x):\n    return _half(_half(x))\n",
    )
    code = """
import other
value = [int(other.quarter(12))]
for _ in range(2):
    try:
        other._half(12)
    except TypeError as error:
        value.append(str(error))
"""
    refusal = "_half is for compiled code alone, as its name begins with _"
    for _ in range(2):  # compiled here, then loaded from the cache
        assert place.run(code)["value"] == [3, refusal, refusal]


def test_code_typed_at_a_prompt_works_without_a_cache(place):
    code = "twice = garden_core.compiled(lambda x: 2 * x); value = int(twice(4))"
    assert place.run(code)["value"] == 8


PLAY = """
import hashlib, sys
import numpy as np
from garden_core import Batch, make
from garden_core.batch.policies import RandomPolicy

digest = hashlib.sha256()
for name in sys.argv[1:]:
    batch, policy = Batch(make(name), 20), RandomPolicy(3)
    batch.reset(seed=5)
    while batch.episodes.sum() < 100:
        batch.step(policy(batch, batch.all_rows))
        for array in (batch.observation, batch.action_mask, batch.rewards):
            digest.update(array.tobytes())
print(digest.hexdigest())
"""


@pytest.mark.long
def test_processes_that_start_at_once_on_an_empty_cache_folder_agree(tmp_path):
    """Eight processes compile, and each plays 100 games of every kind; one that finds the cache filled agrees too."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, "-c", PLAY, *list_games()]
    processes = [subprocess.Popen(command, env=environment, **PIPES) for _ in range(8)]
    ended = [(*process.communicate(), process.returncode) for process in processes]
    assert all((errors, code) == ("", 0) for _, errors, code in ended), ended
    assert len({digest for digest, _, _ in ended}) == 1
    again = subprocess.run(command, check=True, env=environment, **PIPES)
    assert again.stdout == ended[0][0]


def test_without_docstrings_the_rules_are_the_same():
    """A type of states names the build of the rules: files and pickles go from `python` to `python -OO`."""
    code = "from garden_core import make; print([make(name).state_dtype.names for name in ('mars', 'cacti', 'pig:Pig')])"
    assert python("-c", code).stdout == python("-OO", "-c", code).stdout
