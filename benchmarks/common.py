"""Common parts of benchmarks: description of the machine, timed windows, trainings, result files."""

from __future__ import annotations

import contextlib
import datetime
import importlib.metadata
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from garden_agents.matches.jobs import differences
from garden_agents.registry import load_agent
from garden_agents.report.run_files import CONFIG

from garden_core import Batch, Game
from garden_core.batch.policies import ask
from garden_core.files.disk import write_atomically, write_json

RESULTS = Path(__file__).parent / "results"
WINDOWS = "GARDEN_WINDOWS" in os.environ
"""Whether result files also contain each window that was measured."""

Work = Callable[[int], tuple[float, float]]
"""Do an amount of work; return the number of units and their seconds."""


# --- facts ---


def facts() -> dict[str, Any]:
    """Return the date, the commit, the versions and the machine of a measurement."""
    packages = ("garden-envs", "numpy", "numba", "gymnasium", "pettingzoo")
    return {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "commit": _commit(),
        "python": platform.python_version(),
        **{package: importlib.metadata.version(package) for package in packages},
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": _system(),
    }


def _commit() -> str | None:
    """Return the checkout's commit, with "-dirty" if files have changed since; None outside of a repository."""
    describe = ["git", "describe", "--always", "--dirty", "--exclude=*"]
    with contextlib.suppress(OSError, subprocess.CalledProcessError):
        root = Path(__file__).parents[1]
        return subprocess.run(
            describe, cwd=root, check=True, capture_output=True, encoding="utf-8"
        ).stdout.strip()
    return None


def _processor() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _system() -> str:
    with contextlib.suppress(OSError):
        return f"{platform.freedesktop_os_release()['PRETTY_NAME']}, {platform.machine()}"
    return f"{platform.system()} {platform.release()}, {platform.machine()}"


class OtherCores:
    """Mean number of cores used by other processes since this object was made; None on systems without /proc."""

    def __init__(self) -> None:
        self._start = self._now()

    def __call__(self) -> float | None:
        """Return the mean so far. A child process counts as another process until its exit is collected."""
        before, now = self._start, self._now()
        if before is None or now is None:
            return None
        seconds, everyone, own = (new - old for new, old in zip(now, before, strict=True))
        return round(max(0.0, (everyone - own) / seconds), 2)

    @staticmethod
    def _now() -> tuple[float, float, float] | None:
        try:
            user, nice, system, _, _, interrupt, soft = map(
                int, Path("/proc/stat").read_text("utf-8").split()[1:8]
            )
        except OSError:
            return None
        everyone = (user + nice + system + interrupt + soft) / os.sysconf("SC_CLK_TCK")
        return time.perf_counter(), everyone, sum(os.times()[:4])


# --- agents ---


def seconds_a_move(game: Game, names: tuple[str, ...], moves: int) -> dict[str, float]:
    """Return each agent's median time per move in a single game, over decisions with more than one legal action.

    The network plays the games; all agents decide in the same positions.
    """
    agents = {name: load_agent(name, game, 0, threads=1) for name in names}
    batch, player = Batch(game, 1), load_agent("network", game, 0)
    batch.reset(0)
    times_of: dict[str, list[float]] = {name: [] for name in names}
    for agent in agents.values():
        ask(agent, batch, batch.all_rows)  # compile
    while len(times_of[names[0]]) < moves:
        if batch.action_mask.sum() > 1:
            for name, agent in agents.items():
                start = time.perf_counter()
                ask(agent, batch, batch.all_rows)
                times_of[name].append(time.perf_counter() - start)
        batch.step(ask(player, batch, batch.all_rows))
    return {name: float(np.median(times)) for name, times in times_of.items()}


# --- timed windows ---


def measure(*works: Work, windows: int = 5, seconds: float = 0.7) -> list[list[float]]:
    """Time each work in `windows` windows of about `seconds`; the works take turns, so that all have the same load.

    Returns:
        For each work, its units per second in each window.
    """
    amounts = [_warm_up(work, seconds) for work in works]
    rounds = [[_rate(*work(n)) for work, n in zip(works, amounts, strict=True)] for _ in range(windows)]
    return [list(rates) for rates in zip(*rounds, strict=True)]


def _warm_up(work: Work, seconds: float) -> int:
    """Return the amount of work that takes about `seconds`, after an untimed call that compiles."""
    work(1)
    amount = 1
    while (spent := work(amount)[1]) < seconds / 4:
        amount *= 4 if spent > seconds / 64 else 16
    return max(1, round(amount * seconds / spent))


def _rate(done: float, spent: float) -> float:
    return done / spent


def spread(values: Iterable[float]) -> dict[str, Any]:
    """Return median, min and max of `values`, to four digits; with WINDOWS also all of them, in their order."""
    values = [float(f"{value:.4g}") for value in values]
    found = {"median": statistics.median(values), "min": min(values), "max": max(values)}
    return found | {"all": values} if WINDOWS else found


# --- trainings ---


def check_same(path: Path, about: dict[str, Any]) -> None:
    """Note in PATH.json with which settings a file or folder is made, so that no measurement uses one with other settings.

    Raises:
        ValueError: if it is there already, and has no note or was made with other settings.
    """
    note = path.with_name(f"{path.name}.json")
    if path.exists():
        written = json.loads(note.read_text("utf-8")) if note.exists() else {}
        if differ := differences(written, json.loads(json.dumps(about))):
            raise ValueError(f"{path} was made with other settings: {'; '.join(differ)}; move it away")
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(note, about)


def train(folder: Path, result: str, command: Sequence[str], resume: Sequence[str]) -> None:
    """Run `garden COMMAND --run FOLDER`, or resume an unfinished run of the same command in `folder`.

    Args:
        folder: folder of the run.
        result: name of a file that only a finished run has.
        command: words of the command.
        resume: words before `--resume FOLDER` instead of these.

    Raises:
        ValueError: if the folder has a run of another command or another version; see `check_same`.
        RuntimeError: if the command fails; the message ends with its last output.
    """
    check_same(folder, {"command": [*command], "garden-envs": importlib.metadata.version("garden-envs")})
    if (folder / result).exists():
        return
    words = [*command, "--run", str(folder)]
    if (folder / CONFIG).exists():
        words = [*resume, "--resume", str(folder)]
    words = [sys.executable, "-m", "garden_agents", *words]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} failed:\n{done.stderr[-2000:]}")


# --- result files ---


def shown(results: Any) -> str:
    """Return results as JSON, one line for each entry and for each list of numbers or texts."""
    text = json.dumps(results, indent=1)

    def joined(listed: re.Match[str]) -> str:
        return re.sub(r"\n\s*", "", re.sub(r",\n\s*", ", ", listed[0]))

    return re.sub(r"\[\n[^\[\]{}]*\]", joined, text) + "\n"


def save(folder: Path, name: str, settings: dict[str, Any], measurements: list[dict[str, Any]]) -> None:
    """Write NAME.json into `folder`, atomically."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.json"
    results = {"benchmark": name, "facts": facts(), "settings": settings, "measurements": measurements}
    write_atomically(path, shown(results).encode())
    print(f"\nwritten: {path}")
