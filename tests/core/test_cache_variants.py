"""Variants that share a cache play by their own rules: each equals what it does as plain Python, and alone in an empty cache.

Numba's names of machine code are counted in each process, so they can be equal in files of two processes
(`garden_core.jit.numba_private`). Each variant is cached by a process of its own, after another game, and then loaded together.
"""

import itertools
import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from pig_variants import PARTS, house_rules, source
from processes import ROOT, environment, python

SCRIPT = ROOT / "tests" / "tools" / "pig_variants.py"
ALL = ",".join(part for part in PARTS if part != "export")
NETWORKS = ("network", "guided")
EXACT = ",".join(part for part in ALL.split(",") if part not in NETWORKS)
FEW = "rules,batch"
PLAIN = {"NUMBA_DISABLE_JIT": "1"}
GAMES = ["mars_env:Mars", "cacti_env:Cacti", "botanicus_env:Botanicus"]


class Folder:
    """A folder with modules of variants and a cache."""

    def __init__(self, folder, **changes):
        self.folder = folder
        self.changes = {"NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": None, **changes}

    def write(self, name, text):
        (self.folder / f"{name}.py").write_text(text, "utf-8")

    def variants(self, number, alike, seed=0):
        """Write modules with random variants, and a further one; cache the further one and return the others' names."""
        names = [f"variant{i}" for i in range(number)]
        for i, name in enumerate([*names, "further"]):
            self.write(name, source(np.random.default_rng([seed, i]), name, alike))
        self.run("rules", "further")
        return names

    def run(self, parts, *names, **changes):
        """Return all that the variants do in one process, by name."""
        done = python(SCRIPT, parts, *names, cwd=self.folder, **self.changes | changes, timeout=600)
        return json.loads(done.stdout)

    def alone(self, parts, name):
        """Return what a variant does alone in an empty cache."""
        return self.run(parts, name, NUMBA_CACHE_DIR=str(self.folder / f"cache of {name} alone"))[name]

    def check(self, parts, names, orders=None, alone=False):
        """Check variants, cached each by its own process, in one process in several orders; `alone` as well in empty caches.

        Networks in plain Python differ in the last digits, so what they do is expected to be as it is alone.
        """
        exact = ",".join(part for part in parts.split(",") if part not in NETWORKS)
        expected = {name: self.run(exact, name, **PLAIN)[name] for name in names}
        assert len({json.dumps(found) for found in expected.values()}) == len(names), "the variants differ"
        for name in names:
            if alone:
                found = self.alone(parts, name)
                assert found | expected[name] == found
                expected[name] = found
            assert self.run(parts, name)[name] == expected[name]
        for order in orders or [names, names[::-1]]:
            assert self.run(parts, *order) == expected


def test_two_variants(tmp_path):
    folder = Folder(tmp_path)
    folder.check(EXACT, folder.variants(2, alike=False))


@pytest.mark.long
@pytest.mark.parametrize("alike", [False, True], ids=["own names", "equal names"])
def test_eight_variants(tmp_path, alike):
    folder = Folder(tmp_path)
    names = folder.variants(8, alike, seed=1)
    orders = [np.random.default_rng(seed).permutation(names).tolist() for seed in range(4)]
    folder.check(ALL, names, [names, names[::-1], *orders], alone=True)


@pytest.mark.long
def test_two_variants_by_plain_numba(tmp_path):
    folder = Folder(tmp_path, GARDEN_PLAIN_NUMBA="all")
    folder.check(ALL, folder.variants(2, alike=False, seed=2), alone=True)


@pytest.mark.long
def test_exported_modules_are_the_same_alone_and_together(tmp_path):
    folder = Folder(tmp_path)
    names = folder.variants(2, alike=False)
    expected = {name: folder.alone("export", name) for name in names}
    for order in itertools.permutations(names):
        assert folder.run("export", *order, NUMBA_CACHE_DIR=str(tmp_path / "-".join(order))) == expected


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
def test_variants_of_a_packaged_game(tmp_path, game):
    folder = Folder(tmp_path)
    folder.variants(0, alike=False)
    for name in ("one", "two"):
        folder.write(name, house_rules(np.random.default_rng(ord(name[0])), name, game))
    folder.check("rules,batch,random,greedy,learner,search", ["one", "two"], alone=True)


@pytest.mark.long
@pytest.mark.parametrize("cured", [True, False])
def test_the_report_for_numba_is_true(cured):
    """Without the cure some pair is wrong; otherwise Numba has mended its names, and `names` in numba_private can go."""
    done = python("docs/report/numba_names.py", *["--cured"] * cured, NUMBA_DISABLE_JIT=None, timeout=1200)
    assert ("8 of 8 pairs are right" in done.stdout) == cured


COUNTED = """
import itertools
from numba.core.bytecode import FunctionIdentity
from garden_core.jit import numba_private
FunctionIdentity._unique_ids = itertools.count(1)
numba_private.CACHE_KEY = ""
import runpy, sys
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def test_a_cache_with_counted_names_is_not_loaded(tmp_path):
    """As earlier versions wrote it: two variants in it have one name, and the second would run the first one's rules."""
    folder = Folder(tmp_path)
    names = folder.variants(2, alike=False)
    expected = {name: folder.run("rules", name, **PLAIN)[name] for name in names}
    for written in ("further", *names):
        python("-c", COUNTED, SCRIPT, "rules", written, cwd=tmp_path, **folder.changes)
    mixed = python("-c", COUNTED, SCRIPT, "rules", *names, cwd=tmp_path, **folder.changes)
    if numba.version_info[:2] >= (0, 68):  # in older ones these two variants happen to have different names
        assert json.loads(mixed.stdout) != expected, (
            "Numba has mended its names: delete `names` in numba_private"
        )
    assert folder.run("rules", *names) == expected


FORK = """
import json, os, sys
sys.path[:0] = [os.getcwd(), sys.argv[1]]
import pig_variants as variants
import further
variants.rules_alone(variants.game_of(further))
for name in sys.argv[2:]:
    if os.fork() == 0:
        variants.rules_alone(variants.game_of(__import__(name)))
        os._exit(0)
    assert os.wait()[1] == 0
"""


def test_variants_compiled_by_forks_of_one_process(tmp_path):
    folder = Folder(tmp_path)
    names = folder.variants(2, alike=False)
    expected = {name: folder.run("rules", name, **PLAIN)[name] for name in names}
    python("-c", FORK, SCRIPT.parent, *names, cwd=tmp_path, **folder.changes)
    assert folder.run("rules", *names) == folder.run("rules", *names[::-1]) == expected


WAITING = """
import os, sys
sys.path[:0] = [os.getcwd(), sys.argv[1]]
import pig_variants as variants, edited
game = variants.game_of(edited)
for part in ("rules", "batch"):
    print(variants.PARTS[part](game), flush=True)
    sys.stdin.readline()
"""


def test_a_module_that_is_edited_and_restored_while_a_process_runs(tmp_path):
    folder = Folder(tmp_path)
    first, second = (source(np.random.default_rng([3, i]), "edited", alike=False) for i in range(2))

    def run(text):
        folder.write("edited", text)
        return folder.run(FEW, "edited")["edited"]

    folder.write("edited", first)
    command = [sys.executable, "-c", WAITING, SCRIPT.parent]
    own, pipe = environment(**folder.changes), subprocess.PIPE
    with subprocess.Popen(
        command, env=own, cwd=tmp_path, stdin=pipe, stdout=pipe, encoding="utf-8"
    ) as process:
        rules = process.stdout.readline().strip()
        edited = run(second)
        batch, _ = process.communicate(os.linesep * 2)
    assert process.returncode == 0
    assert edited != {"rules": rules, "batch": batch.strip()}
    for text, expected in [(first, {"rules": rules, "batch": batch.strip()}), (second, edited)] * 2:
        assert run(text) == expected
