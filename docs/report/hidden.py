"""Measure what hidden information brings in training: `python -m docs.report.hidden`.

Trains `examples/privileged.py` in each of WAYS with several seeds. Each network plays against `greedy`, and `garden compare`
compares it with the plain network of the same seed. Networks that exist already in the folder of the runs are not trained again.
"""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro
from garden_agents import load_agent, meet
from garden_agents.evaluation import compare

from benchmarks import common
from garden_core import Batch, Policy, make
from garden_core.recorded.game_files import content_of

PLAIN = "--critic own --no-predict"
WAYS = (
    PLAIN,
    "--critic hand --no-predict",
    "--critic full --no-predict",
    "--critic own --predict",
    "--critic hand --predict",
)

GUESS = "uniform over redraws"
MEASURED = ("value_error", "bonus_loss", "basic_loss")
"""At the end of a training: the mean squared error of the values, and the cross-entropy of the predictions, in nats."""


@dataclass
class Arguments:
    """Train with and without hidden information, and compare."""

    seeds: int = 3
    """number of trainings in each way, with seeds 0, 1, ..."""
    decisions: int = 2_000_000
    """decisions of each training"""
    games: int = 10_000
    """games against greedy, and largest number of games of a comparison"""
    processes: int = 1
    """processes of a comparison"""
    runs: Path = Path("runs/hidden")
    """folder for the networks"""
    output: Path = Path(__file__).parent
    """folder for hidden.json"""


def trained(way: str, seed: int, arguments: Arguments) -> Path:
    """Train, unless the network exists, with the same number of decisions; return the file of its weights."""
    path = arguments.runs / f"{'-'.join(way.replace('--', '').split())}-{seed}.pt"
    common.check_same(
        path, {"way": way, "seed": seed, "decisions": arguments.decisions, **content_of(make("cacti"))}
    )
    if not path.exists():
        limits = ["--decisions", str(arguments.decisions), "--seed", str(seed), "--output", str(path)]
        printed = subprocess.run(
            [sys.executable, "examples/privileged.py", *way.split(), *limits],
            check=True,
            stdout=subprocess.PIPE,
            encoding="utf-8",
        ).stdout
        path.with_suffix(".log").write_text(printed, "utf-8")
    return path


def guess(policy: Policy, games: int = 64, steps: int = 30, redraws: int = 1000) -> dict[str, float]:
    """Return the losses of a guess that is uniform over the redraws, in positions of the policy's own games."""
    batch = Batch("cacti", games)
    batch.reset(seed=5)
    game, losses = batch.game, np.zeros((2, 2))  # sums and counts, by part
    for step in range(steps):
        states, player = batch.redraws(redraws, seed=step), batch.current_player
        drawn = np.mean([batch.observe_hidden(player, states[:, k]) for k in range(redraws)], 0)
        hidden = batch.observe_hidden(player)
        for i, name in enumerate(("opponent's bonus", "opponent's basic")):
            label, chances = (array[:, game.hidden_slices[name]] for array in (hidden, drawn))
            held = label.any(1)
            likely = chances[held][label[held] == 1]
            losses[:, i] += -np.log(np.maximum(likely, 1 / redraws)).sum(), held.sum()
        batch.step(policy(batch, batch.all_rows))
    return dict(zip(MEASURED[1:], losses[0] / losses[1], strict=True))


def _name(path: Path) -> str:
    return f"examples.privileged:make?weights={path}"


def main(arguments: Arguments) -> None:
    """Train, compare, and write the result file."""
    a = arguments
    a.runs.mkdir(parents=True, exist_ok=True)
    game = make("cacti")
    measurements: list[dict[str, Any]] = []
    for seed, way in itertools.product(range(a.seeds), WAYS):
        path = trained(way, seed, a)
        last = path.with_suffix(".log").read_text("utf-8").splitlines()[-1].partition(": ")[2]
        numbers = zip(MEASURED, map(float, re.findall(r"\d+\.\d+", last)), strict=True)
        measured: dict[str, Any] = {"way": way, "seed": seed, **dict(numbers)}
        agents = load_agent(_name(path), game), load_agent("greedy", game, seed)
        measured["against_greedy"] = meet(game, ("trained", "greedy"), agents, a.games).win_rate
        if way != PLAIN:
            test = compare.main(
                compare.Arguments(
                    game="cacti",
                    agent=_name(path),
                    opponent=_name(trained(PLAIN, seed, a)),
                    games=a.games,
                    seed=seed,
                    processes=a.processes,
                )
            )
            measured |= {"decision": test.decision, **test.looks[-1]._asdict()}
        measurements.append(measured)
    plain = load_agent(_name(trained(PLAIN, 0, a)), game)
    measurements.append({"way": GUESS, "seed": 0, **guess(plain)})
    about = {name: value for name, value in asdict(a).items() if name in ("seeds", "decisions", "games")}
    common.save(a.output, "hidden", about, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
