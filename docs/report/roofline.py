"""Measure how far training is from a core's arithmetic: `python -m docs.report.roofline [GAMES...]`.

For each game with its default settings on one thread: the operations of the network's dense layers per decision, in play and in the
epochs, including those that an implementation saves; the operations per second that `garden train` reaches, beside NumPy's matrix
products of the same shapes, in windows that take turns; and the shares of the time by part. Times are the processor's. Start it with
OPENBLAS_NUM_THREADS=1, so that these products use one core, too.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import tyro
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.network import Network
from garden_agents.training import ppo, ppo_update, torch_network
from garden_agents.training.self_play import SelfPlay

from benchmarks import common
from garden_core import list_games, make

INPUTS = ("first", "value_first"), ("colour", "from_scalars", "colour_hidden")
"""Layers that read only inputs, so that no derivative by what they read is needed: of flat networks, of board networks."""


@dataclass
class Arguments:
    """Compare the arithmetic of training with matrix products."""

    games: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of games; all installed ones if none is given"""
    windows: int = 5
    """number of measured windows"""
    seconds: float = 3.0
    """length of a window"""
    output: Path = Path(__file__).parent
    """folder for roofline.json"""


class Clock:
    """Time by part: methods that are timed, without what other timed methods within them take."""

    def __init__(self) -> None:
        self.spent: defaultdict[str, float] = defaultdict(float)
        self._within = ["rest"]
        self._since = time.process_time()

    def _switch(self) -> None:
        now = time.process_time()
        self.spent[self._within[-1]] += now - self._since
        self._since = now

    def timed(self, function: Callable[..., Any], part: str) -> Callable[..., Any]:
        """Return a function whose time counts as `part`; products and passes within inference are part of inference."""

        def run(*arguments: Any, **named: Any) -> Any:
            self._switch()
            inside = self._within[-1] == "inference" and part != "features"
            self._within.append("inference" if inside else part)
            try:
                return function(*arguments, **named)
            finally:
                self._switch()
                self._within.pop()

        return run


class Trained:
    """A training without imitation, which only the first part of a training has."""

    def __init__(self, name: str, folder: Path) -> None:
        arguments = ppo.Arguments.for_game(name, imitation=0.0, run=folder)
        game = make(name, reward="margin")
        self.training = ppo.Training(folder, arguments, game)
        self.games = SelfPlay([game], self.training.torch_network, self.training.pool, arguments, 0)
        for _ in range(3):  # compiles, and spreads the games over all phases
            self.rollout = self.games.rollout(with_greedy=False)
            self.training.learn(self.rollout)
        self.network = self.training.network
        rows = rows_per_decision(self.network, self.rollout.inputs)
        passes = 1 + arguments.epochs, arguments.epochs
        self.products = [
            (rows[layer], *passes, layer not in sum(INPUTS, ())) for layer in self.network.layers
        ]
        self.operations = sum(
            2 * width * inputs * n * (forward + backward * (1 + derived))
            for (width, inputs), (n, forward, backward, derived) in zip(
                self.network.layers.values(), self.products, strict=True
            )
        )

    def train(self, rollouts: int) -> tuple[float, float]:
        """Play and learn; return the number of operations in billions, and the seconds."""
        before, start = self.training.decisions, time.process_time()
        for _ in range(rollouts):
            self.training.learn(self.games.rollout(with_greedy=False))
        spent = time.process_time() - start
        return (self.training.decisions - before) * self.operations / 1e9, spent

    def multiply(self, chunks: int) -> tuple[float, float]:
        """Compute the matrix products of all layers by NumPy; return the number of operations in billions, and the seconds."""
        rng, size = np.random.default_rng(0), self.network.chunk
        works: list[tuple[Any, ...]] = []
        for (width, inputs), (n, *passes) in zip(self.network.layers.values(), self.products, strict=True):
            shapes = (round(n * size), inputs), (width, inputs), (round(n * size), width)
            given = [rng.standard_normal(shape, np.float32) for shape in shapes]
            works.append((*given, *map(np.empty_like, given), *passes))
        start = time.process_time()
        for _ in range(chunks):
            for x, weight, d, d_x, d_weight, out, forward, backward, derived in works:
                for _ in range(forward):
                    np.matmul(x, weight.T, out)
                for _ in range(backward):
                    np.matmul(d.T, x, d_weight)
                    if derived:
                        np.matmul(d, weight, d_x)
        return chunks * size * self.operations / 1e9, time.process_time() - start

    def profile(self, seconds: float) -> dict[str, float]:
        """Return the shares of the time by part."""
        clock, training, network = Clock(), self.training, self.training.torch_network
        new_loss = ppo_update.compiled_loss
        with contextlib.ExitStack() as patches:
            for where, name, part in (
                (self.network, "inputs", "features"),
                (network, "evaluate", "inference"),
                (self.games.batch, "step", "environment"),
                (self.games, "rollout", "rest of play"),
                (torch_network._Worker, "learn", "gather"),
                (self.network, "forward", "forward"),
                (self.network, "backward", "backward"),
                (ppo_update, "clip", "Adam"),
                (training.optimizer, "step", "Adam"),
                (training, "learn", "rest of update"),
            ):
                timed = clock.timed(getattr(where, name), part)
                patches.enter_context(mock.patch.object(where, name, timed))
            loss = mock.patch.object(
                ppo_update, "compiled_loss", lambda *given: clock.timed(new_loss(*given), "loss")
            )
            patches.enter_context(loss)
            end = time.process_time() + seconds
            while time.process_time() < end:
                self.train(1)
        del clock.spent["rest"]
        return {part: round(spent / sum(clock.spent.values()), 4) for part, spent in clock.spent.items()}


def rows_per_decision(network: Network, inputs: tuple[np.ndarray, ...]) -> dict[str, float]:
    """Return how often each layer is applied per decision: in a board network to each cell, colour or possible action."""
    if not isinstance(network, BoardNetwork):
        return dict.fromkeys(network.layers, 1.0)
    board, colours = network.board, network.board.colours
    targets = float(network.cells)
    if board.targets is not None:
        targets = float((inputs[0][:, :, board.targets] != 0).sum(1).mean())
    rows: dict[str, float] = {"colour": network.cells * colours, "first": network.cells}
    rows |= {"cell_hidden": targets, "cell_logits": targets}
    if board.colour_actions:
        rows |= {"colour_hidden": colours, "colour_logits": colours}
    else:
        rows |= dict.fromkeys(("colour_hidden", "colour_shift", "colour_logits"), 0)
    return {layer: rows.get(layer, 1) for layer in network.layers}


def main(arguments: Arguments) -> None:
    """Measure all games, print a table and write the result file."""
    measurements = []
    for name in arguments.games or list_games():
        with tempfile.TemporaryDirectory() as folder:
            trained, others = Trained(name, Path(folder)), common.OtherCores()
            rates = common.measure(
                trained.train, trained.multiply, windows=arguments.windows, seconds=arguments.seconds
            )
            measured: dict[str, Any] = {
                "game": name,
                "operations_per_decision": round(trained.operations),
                "gflops": common.spread(rates[0]),
                "gflops_of_products": common.spread(rates[1]),
                "share": common.spread(one / other for one, other in zip(*rates, strict=True)),
                "decisions_per_second": common.spread(rate * 1e9 / trained.operations for rate in rates[0]),
                "other_cores": others(),
                "shares_of_time": trained.profile(2 * arguments.seconds),
            }
        measurements.append(measured)
        medians = [measured[key]["median"] for key in ("gflops", "gflops_of_products", "share")]
        print(f"{name:<12} {trained.operations / 1e3:.0f} thousand operations per decision, ", end="")
        print(f"{medians[0]:.1f} of {medians[1]:.1f} GFLOP/s ({medians[2]:.0%}); time: ", end="")
        print(
            ", ".join(f"{part} {share:.0%}" for part, share in measured["shares_of_time"].items()), flush=True
        )
    common.save(
        arguments.output,
        "roofline",
        {"windows": arguments.windows, "seconds": arguments.seconds},
        measurements,
    )


if __name__ == "__main__":
    main(tyro.cli(Arguments))
