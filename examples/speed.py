"""Measure a game's speed on one core: `python examples/speed.py cacti`.

A decision is one action of one player, with the mask and the observation after it. `Batch.step` plays one in each of 1,024
games; it alone is timed, in seven windows of 0.2 seconds. The random actions are drawn outside of the timed part.
"""

import platform
import statistics
import sys
import time
from collections.abc import Iterator

from garden_core import Batch, RandomPolicy


def speeds(name: str, games: int = 1024, windows: int = 7, seconds: float = 0.2) -> Iterator[float]:
    """Yield the decisions per second of each window."""
    batch, choose = Batch(name, games), RandomPolicy(0)
    batch.reset(seed=0)
    batch.step(choose(batch, batch.all_rows))  # compiles, if this is the first use
    for _ in range(windows):
        decisions, spent = 0, 0.0
        while spent < seconds:
            actions = choose(batch, batch.all_rows)
            start = time.perf_counter()
            batch.step(actions)
            spent += time.perf_counter() - start
            decisions += games
        yield decisions / spent


if __name__ == "__main__":
    game = sys.argv[1] if len(sys.argv) > 1 else "cacti"
    found = [rate / 1e6 for rate in speeds(game)]
    print(
        f"{game}: {statistics.median(found):.1f} million decisions/s ({min(found):.1f} to {max(found):.1f})"
    )
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}, one thread")
