"""Numba's cache can run one function in place of another: `python docs/report/numba_names.py [--pairs 8] [--cured]`.

Numba names machine code after the function, the numbers of its arguments' types, and a number of the function. Both numbers
are counted from zero in each process. So the files that two processes write to a cache can define one name for different
code, and the definition that a third process loads first is used for both (Numba 0.68; its issue 10486).

For each pair, this script writes two random modules that differ in one number and in one function. A process of its own runs
each of them and caches it; two more processes load both, in either order, and should find the same results. It uses nothing
but Numba and its public `cache=True`. With `--cured`, functions get random numbers instead, as in
`garden_core.jit.numba_private`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

CLOSURE = """
import numba

def rule_of(worth):
    @numba.njit(cache=True)
    def rule(x):
        total = x
{loops}
        return worth(total)
    return rule
"""
WITH_CLOSURE = """
import numba
from shared import rule_of

@numba.njit(cache=True)
def worth(x):
    return x + {number}

rule = rule_of(worth)

@numba.njit(cache=True)
def result(x):
    return rule(x)
"""
RECORD = """
import numba
from numba.extending import overload

WORTH = {{}}

def rule(state): ...

@overload(rule)
def _(state):
    worth = WORTH[state]
    def rule_of_type(state):
        total = state.score
{loops}
        return worth(total)
    return rule_of_type

@numba.njit(cache=True)
def play(states):
    return rule(states[0])
"""
WITH_RECORD = """
import numba
import numpy as np
import shared

STATE = np.dtype([("score", "i8"), ("{name}", "i4")])

@numba.njit(cache=True)
def worth(x):
    return x + {number}

shared.WORTH[numba.from_dtype(STATE)] = worth

def result(x):
    states = np.zeros(1, STATE)
    states["score"] = x
    return shared.play(states)
"""
RUN = """
import importlib, json, secrets, sys
from numba.core.bytecode import FunctionIdentity
sys.path.insert(0, "")
if json.loads(sys.argv[1]):
    FunctionIdentity._unique_ids = iter(lambda: secrets.randbits(63), None)
print(json.dumps({name: int(importlib.import_module(name).result(7)) for name in sys.argv[2:]}))
"""


def loops(choose: random.Random) -> str:
    """Return code of a function that is too long to be inlined."""
    lines = []
    for _ in range(4):
        lines += [
            f"        for i in range({choose.randint(3, 40)}):",
            f"            total += (total * {choose.randint(3, 99)} + i) % {choose.randint(5, 97)}",
            f"            if total > {choose.randint(50, 900)}:",
            "                continue",
        ]
    return "\n".join(lines)


def is_right(number: int, is_cured: bool) -> bool:
    """Return whether a random pair of modules has the same results together as alone."""
    choose = random.Random(number)
    shared, own = (CLOSURE, WITH_CLOSURE) if number % 2 else (RECORD, WITH_RECORD)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "shared.py").write_text(shared.format(loops=loops(choose)), "utf-8")
        for name in ("one", "two"):
            Path(folder, f"{name}.py").write_text(
                own.format(name=name, number=choose.randint(1, 10**6)), "utf-8"
            )

        def run(*names: str) -> dict[str, int]:
            command = [sys.executable, "-c", RUN, json.dumps(is_cured), *names]
            environment = os.environ | {
                "NUMBA_CACHE_DIR": str(Path(folder, "cache")),
                "NUMBA_DISABLE_JIT": "0",
            }
            done = subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.PIPE)
            return json.loads(done.stdout)

        expected = run("one") | run("two")
        return run("one", "two") == run("two", "one") == expected


def main() -> None:
    """Print how many pairs are right."""
    parser = argparse.ArgumentParser(description="Count pairs of cached functions that Numba tells apart.")
    parser.add_argument("--pairs", type=int, default=8, help="number of random pairs")
    parser.add_argument("--cured", action="store_true", help="give functions random numbers")
    arguments = parser.parse_args()
    right = sum(is_right(number, arguments.cured) for number in range(arguments.pairs))
    print(f"{right} of {arguments.pairs} pairs are right")


if __name__ == "__main__":
    main()
