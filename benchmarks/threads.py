"""Speed of threads: `python -m benchmarks.threads [GAMES...]`.

`Batch.step` with one and with more threads, as in `benchmarks.throughput`: windows of about 0.7 s take turns, and the ratio
is the median of the ratios of neighbouring windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from benchmarks import common
from benchmarks.throughput import game_length, step
from garden_core import list_games, make


@dataclass
class Arguments:
    """Measure `Batch.step` with one and with more threads."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    sizes: tuple[int, ...] = (256, 1024, 8192, 32768)
    """numbers of games in a batch"""
    threads: tuple[int, ...] = (2,)
    """numbers of threads to compare with one"""
    windows: int = 9
    """number of windows"""
    seconds: float = 0.7
    """length of a window"""
    output: Path = common.RESULTS
    """folder for threads.json"""


def main(arguments: Arguments) -> None:
    """Measure, print, and write the result file."""
    a = arguments
    measurements: list[dict[str, Any]] = []
    for game in map(make, a.games or list_games()):
        length = game_length(game)
        for size in a.sizes:
            busy = common.OtherCores()
            works = [step(game, size, length, threads) for threads in (1, *a.threads)]
            serial, *others = common.measure(*works, windows=a.windows, seconds=a.seconds)
            for threads, rates in zip(a.threads, others, strict=True):
                row: dict[str, Any] = {
                    "game": game.name,
                    "num_envs": size,
                    "threads": threads,
                    "other_cores": busy(),
                }
                row["decisions_per_second"] = common.spread(rates)
                row["one_thread"] = common.spread(serial)
                row["ratio"] = common.spread(a / b for a, b in zip(rates, serial, strict=True))
                measurements.append(row)
                rate, ratio = (row[key]["median"] for key in ("decisions_per_second", "ratio"))
                print(f"{game.name:10} N = {size:5}, {threads} threads: {rate:>12,.0f}, ratio {ratio:.2f}")
    common.save(a.output, "threads", {"windows": a.windows, "seconds": a.seconds}, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
