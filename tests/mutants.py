"""Mutation tests: small mistakes in the rules must make a test fail: `python -m tests.mutants`.

cosmic-ray makes the mutants: an operator replaced, a number changed by one, a condition negated. A seeded sample
of each file is tried, one mutant at a time, in a copy of the repository, by the tests that belong to the file, up to the
first failure: in plain Python by the tests that do not play many games; survivors then run all tests, compiled.
Finished mutants are kept in the output's `.jsonl`, and the same command goes on.
"""

from __future__ import annotations

import difflib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import tyro
from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names
from tqdm import tqdm

from benchmarks import common
from garden_core import list_games

ROOT = Path(__file__).parents[1]
TESTS = {
    **{
        f"{name}_env/rules.py": ["tests/games/test_golden.py", f"tests/games/{name}"] for name in list_games()
    },
    "garden_core/jit/rewards.py": ["tests/core/test_rewards.py", "tests/core/test_conformance.py"],
    "garden_core/jit/rng.py": ["tests/core/test_rng.py"],
    "garden_core/jit/kernels.py": ["tests/core/test_kernels.py", "tests/core/test_conformance.py"],
}
COMPILED_PATIENCE = 400  # seconds for all compiled tests of a file; a loop without end can only be killed
LATE = (
    "agreement",
    "hidden",
    "drawing",
    "descriptions",
)  # take long
QUICK, ALL = "not long and not many_games", "not long"  # tests in plain Python, and compiled
EXCLUDED = {"core/RemoveDecorator"}  # without Numba the decorator does next to nothing


@dataclass
class Arguments:
    """Try mutants of the rules and of the core, and report the survivors."""

    files: tyro.conf.Positional[tuple[str, ...]] = tuple(TESTS)
    """files to mutate, all that have tests of their own by default"""
    sample: int = 150
    """mutants of each file"""
    seed: int = 0
    """seed of the sample"""
    processes: int = 2
    """mutants tried at the same time"""
    patience: float = 30
    """seconds that a test may take in plain Python; a mutant for which one takes longer counts as noticed"""
    output: Path = common.RESULTS
    """folder for mutants.json and mutants.jsonl"""


def mutants(source: str) -> Iterator[tuple[str, int]]:
    """Yield every mutant of a source text, as operator and occurrence."""
    nodes = list(ast_nodes(get_ast(source)))
    for name in operator_names():
        operator = get_operator(name)
        if name not in EXCLUDED and not operator.arguments():
            count = sum(1 for node in nodes for _ in operator().mutation_positions(node))
            yield from ((name, occurrence) for occurrence in range(count))


def tests_of(file: str) -> list[str]:
    """Return the test files of a file: golden games first, slow tests last."""
    paths = [
        path for name in TESTS[file] for path in (sorted((ROOT / name).glob("test_*.py")) or [ROOT / name])
    ]
    paths.sort(key=lambda path: any(word in path.name for word in LATE))
    return [str(path.relative_to(ROOT)) for path in paths]


def notice(copy: Path, file: str, tests: str, *options: str, **environment: str) -> bool:
    """Whether one of a file's tests that `tests` selects fails in a copy of the repository, or all take too long."""
    options = ("-x", "-q", "-p", "no:cacheprovider", "-m", tests, *options)
    if file.endswith("rules.py"):
        options += ("-k", file.partition("_env")[0])  # the golden games of this game
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *options, *tests_of(file)],
            cwd=copy,
            env=os.environ | {"PYTHONDONTWRITEBYTECODE": "1"} | environment,
            capture_output=True,
            check=False,
            timeout=COMPILED_PATIENCE,
        )
    except subprocess.TimeoutExpired:
        return True
    return done.returncode != 0


def fails(copy: Path, file: str, patience: float, **environment: str) -> bool:
    """Whether any test of a file fails in a copy of the repository."""
    limit = f"--timeout={patience}", "--timeout-method=thread"
    if notice(copy, file, QUICK, *limit, NUMBA_DISABLE_JIT="1", **environment):
        return True
    return notice(copy, file, ALL, NUMBA_CACHE_DIR=str(copy / "compiled"), **environment)


def copied(folder: Path) -> Path:
    """Copy the files of the repository."""
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for name in subprocess.run(
        listed, cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout.splitlines():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def main(arguments: Arguments) -> None:
    """Try the mutants, print those that survive, write the result file.

    Raises:
        SystemExit: if the tests fail without any mutant.
    """
    arguments.output.mkdir(parents=True, exist_ok=True)
    kept = arguments.output / "mutants.jsonl"
    done = (
        {tuple(line["mutant"]): line for line in map(json.loads, kept.read_text("utf-8").splitlines())}
        if kept.exists()
        else {}
    )
    jobs = []
    for file in arguments.files:
        every = sorted(mutants((ROOT / file).read_text("utf-8")))
        sample = random.Random(arguments.seed).sample(every, min(arguments.sample, len(every)))
        jobs += [(file, *mutant) for mutant in sample]
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(arguments.processes) as executor:
        first, copies = copied(Path(folder) / "0"), SimpleQueue[Path]()

        def attempt(job: tuple[str, str, int]) -> dict[str, Any]:
            file, operator, occurrence = job
            source = (ROOT / file).read_text("utf-8")
            mutated = mutate_code(source, get_operator(operator)(), occurrence) or source
            if mutated == source:  # the number of a keyword's name, for example
                return {"mutant": job, "noticed": None, "change": []}
            copy = copies.get()
            try:
                (copy / file).write_text(mutated, "utf-8")
                noticed = fails(copy, file, arguments.patience)
            finally:
                (copy / file).write_text(source, "utf-8")
                copies.put(copy)
            lines = difflib.unified_diff(source.splitlines(), mutated.splitlines(), lineterm="", n=0)
            change = [line for line in lines if line[:1] in "+-" and line[:3] not in ("+++", "---")]
            return {"mutant": job, "noticed": noticed, "change": change}

        missing = [job for job in jobs if job not in done]
        for file in {job[0] for job in missing}:
            write = {"PYTHONDONTWRITEBYTECODE": ""}  # bytecode, which the mutants' runs find
            if fails(first, file, arguments.patience, **write):
                raise SystemExit(f"the tests of {file} fail, or take too long, without any mutant")
        for number in range(arguments.processes):
            copies.put(shutil.copytree(first, Path(folder) / str(number + 1)))
        with kept.open("a") as lines, tqdm(total=len(missing), unit="mutant") as bar:
            for result in executor.map(attempt, missing):
                done[tuple(result["mutant"])] = result
                lines.write(json.dumps(result) + "\n")
                lines.flush()
                bar.update()
    measurements = []
    for file in arguments.files:
        tried = [done[job] for job in jobs if job[0] == file and done[job]["change"]]
        survivors = [result for result in tried if not result["noticed"]]
        measurements.append({"file": file, "mutants": len(tried), "survivors": survivors})
        print(f"{file}: {len(tried) - len(survivors)} of {len(tried)} noticed")
        for result in survivors:
            print("  " + "\n  ".join((" ".join(map(str, result["mutant"][1:])), *result["change"])))
    common.save(
        arguments.output, "mutants", {"sample": arguments.sample, "seed": arguments.seed}, measurements
    )


if __name__ == "__main__":
    main(tyro.cli(Arguments))
