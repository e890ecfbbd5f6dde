"""Seconds from a fresh process to the first step: `python -m benchmarks.startup [GAMES...]`.

Every run is a new process, which imports the game's package, makes a game (with `env()`, or as a `Batch` of 64), resets it and
takes one step. An "empty" run starts with an empty cache folder, so that nearly all of its time is compilation; a "warm" run
loads an earlier process's compiled code. "process" is the whole process, including the interpreter.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Annotated, Any

import tyro
from garden_agents.plots import COLOURS, plot

from benchmarks.common import RESULTS, OtherCores, save, spread
from garden_core.plugins import GAMES

INTERFACES = {"env()": "pettingzoo_env.env(game)", "Batch": "garden_core.Batch(game, 64)"}
PARTS = ("import", "make", "reset", "step")
CACHES = ("empty", "warm")
OFF = ("", "all")
"""Private interfaces of Numba to switch off."""

FIRST_STEP = """
import json, time
marks = [time.perf_counter()]
import {package}
marks.append(time.perf_counter())
import garden_core
from garden_core.interfaces import pettingzoo_env
game = garden_core.make("{name}")
made = {make}
marks.append(time.perf_counter())
made.reset(seed=1)
marks.append(time.perf_counter())
if hasattr(made, "agents"):
    made.step(int(made.last()[0]["action_mask"].argmax()))
else:
    made.step(made.action_mask.argmax(1))
marks.append(time.perf_counter())
print(json.dumps([after - before for before, after in zip(marks, marks[1:])]))
"""


@dataclass(frozen=True)
class Options:
    """Measure the seconds from a fresh process to the first step, with an empty and with a warm cache."""

    games: Annotated[tuple[str, ...], tyro.conf.Positional] = ()
    """names of games; all installed ones if none is given"""
    plain_numba: bool = False
    """measure the time saved by private interfaces of Numba instead: `env()` from an empty cache, with and without them"""
    quick: bool = False
    """one run of each kind, as a test of the benchmark; its figures mean nothing"""
    output: Path = RESULTS
    """folder for startup.json and startup.png, or plain-numba.json"""


def main(options: Options) -> None:
    """Measure, print, and write the results."""
    announced = {point.name: point for point in entry_points(group=GAMES)}
    names = options.games or tuple(sorted(announced))
    if options.plain_numba:
        without_parts(announced, names, options)
        return
    runs = dict(zip(CACHES, (1, 1) if options.quick else (2, 5), strict=True))
    measurements: list[dict[str, Any]] = []
    print(f"{'game':10} {'interface':9} {'cache':6}" + "".join(f"{part:>10}" for part in (*PARTS, "process")))
    for name in names:
        for interface in INTERFACES:
            for cache, measured in _measure(announced[name], interface, runs).items():
                measurements.append({"game": name, "interface": interface, "cache": cache, **measured})
                medians = (measured["seconds"][part]["median"] for part in (*PARTS, "process"))
                print(f"{name:10} {interface:9} {cache:6}" + "".join(f"{median:10.3f}" for median in medians))
    save(options.output, "startup", {"runs": runs}, measurements)
    draw(measurements, options.output / "startup.png")


def without_parts(announced: dict[str, EntryPoint], names: tuple[str, ...], options: Options) -> None:
    """Measure the first step without `garden_core.jit.numba_private`, alternating; print and write the results."""
    runs = 1 if options.quick else 5
    measurements: list[dict[str, Any]] = []
    for name in names:
        program, busy = _program(announced[name], "env()"), OtherCores()
        taken: dict[str, list[dict[str, float]]] = {off: [] for off in OFF}
        for _ in range(runs):
            for off in OFF:
                with tempfile.TemporaryDirectory() as folder:
                    taken[off].append(_run(program, folder, off))
        for off in OFF:
            seconds = {part: spread(run[part] for run in taken[off]) for part in taken[off][0]}
            measurements.append({"game": name, "without": off, "seconds": seconds, "other_cores": busy()})
            print(f"{name:10} without {off or 'nothing':8} {seconds['process']['median']:8.1f} s")
    save(options.output, "plain-numba", {"runs": runs}, measurements)


def _program(point: EntryPoint, interface: str) -> str:
    return FIRST_STEP.format(
        package=point.module.partition(".")[0], name=point.name, make=INTERFACES[interface]
    )


def _measure(point: EntryPoint, interface: str, runs: dict[str, int]) -> dict[str, dict[str, Any]]:
    """Return, for the empty and the warm cache, the seconds of every part."""
    program, results = _program(point, interface), {}
    with tempfile.TemporaryDirectory() as folder:
        for cache in CACHES:
            busy = OtherCores()
            folders = [f"{folder}/{run if cache == 'empty' else 0}" for run in range(runs[cache])]
            taken = [_run(program, cache_folder) for cache_folder in folders]
            seconds = {part: spread(run[part] for run in taken) for part in taken[0]}
            results[cache] = {"seconds": seconds, "other_cores": busy()}
    return results


def _run(program: str, cache_folder: str, without: str = "") -> dict[str, float]:
    environment = os.environ | {"NUMBA_CACHE_DIR": cache_folder, "GARDEN_PLAIN_NUMBA": without}
    start = time.perf_counter()
    run = subprocess.run([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, check=True)
    whole = time.perf_counter() - start
    return dict(zip(PARTS, json.loads(run.stdout), strict=True)) | {"process": whole}


def draw(measurements: list[dict[str, Any]], path: Path) -> None:
    """Plot the medians of the parts as stacked bars, one panel for the empty cache and one for the warm cache."""
    height = 1.3 + 0.18 * len(measurements)
    with plot(path, len(CACHES), (8.4, height), sharey=True) as axes:
        for ax, cache in zip(axes, CACHES, strict=True):
            rows = [entry for entry in measurements if entry["cache"] == cache]
            labels = [f"{entry['game']}, {entry['interface']}" for entry in rows]
            left = [0.0] * len(rows)
            for part, colour in zip(PARTS, COLOURS, strict=False):
                widths = [entry["seconds"][part]["median"] for entry in rows]
                ax.barh(labels, widths, left=left, color=colour, height=0.6, label=part)
                left = [before + width for before, width in zip(left, widths, strict=True)]
            ax.grid(axis="y", visible=False)
            ax.tick_params(axis="y", length=0)
            ax.set(title=f"{cache} cache", xlabel="seconds")
        axes[0].invert_yaxis()
        axes[-1].legend(loc="upper left", bbox_to_anchor=(1, 1))


if __name__ == "__main__":
    main(tyro.cli(Options))
