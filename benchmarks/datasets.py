"""Datasets: size of a file, and speed of loading and expanding it: `python -m benchmarks.datasets [GAMES...]`.

Random games with the default options. "Loading" reads the file and plays its games again; "expanding" goes through
`Dataset.chunks`; "DataLoader" takes shuffled batches of 256 decisions as tensors, without worker processes.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro
from garden_agents.matches.record import Block, play_block
from torch.utils.data import DataLoader

from benchmarks import common
from garden_core import list_games, make
from garden_core.interfaces.torch_dataset import TorchDataset
from garden_core.recorded.dataset import Dataset


@dataclass
class Arguments:
    """Measure the size of datasets, and the speed of loading and expanding them."""

    names: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    games: int = 1000
    """games in a dataset"""
    windows: int = 5
    """number of windows"""
    seconds: float = 0.7
    """length of a window"""
    output: Path = common.RESULTS
    """folder for datasets.json"""


def main(arguments: Arguments) -> None:
    """Measure, print, and write the result file."""
    a = arguments
    measurements: list[dict[str, Any]] = []
    for game in map(make, a.names or list_games()):
        busy = common.OtherCores()
        dataset = Dataset(game, ["random"], play_block(game, ["random"], Block(0, a.games), seed=0))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "games.safetensors"
            dataset.save(path)
            size = path.stat().st_size
            ways = {
                "loading": lambda path=path: Dataset.load(path),
                "expanding": lambda dataset=dataset: [None for _ in dataset.chunks()],
                "DataLoader": lambda dataset=dataset: [None for _ in DataLoader(TorchDataset(dataset), None)],
            }
            works = [_passes(way, dataset.num_decisions) for way in ways.values()]
            rates = common.measure(*works, windows=a.windows, seconds=a.seconds)
        row: dict[str, Any] = {
            "game": game.name,
            "decisions": dataset.num_decisions,
            "bytes": size,
            "other_cores": busy(),
            **{way: common.spread(values) for way, values in zip(ways, rates, strict=True)},
        }
        measurements.append(row)
        speeds = ", ".join(f"{way} {row[way]['median']:,.0f}" for way in ways)
        print(f"{game.name:10} {size / dataset.num_decisions:.2f} bytes a decision; decisions/s: {speeds}")
    settings = {"games": a.games, "windows": a.windows, "seconds": a.seconds}
    common.save(a.output, "datasets", settings, measurements)


def _passes(way: Callable[[], object], decisions: int) -> common.Work:
    """Return a work that repeats `way`, which processes all decisions."""

    def work(times: int) -> tuple[float, float]:
        start = time.perf_counter()
        for _ in range(times):
            way()
        return times * decisions, time.perf_counter() - start

    return work


if __name__ == "__main__":
    main(tyro.cli(Arguments))
