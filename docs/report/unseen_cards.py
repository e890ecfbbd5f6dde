"""Measure the gap between cards that a network learned and cards that it never saw: `python -m docs.report.unseen_cards [GAMES...]`.

Trains networks on 1, 10, 100 and 1,000 generated card sets, and rates each on the cards that it learned and on those of the task with
unseen cards. Interrupted trainings are resumed, finished ones are not repeated; each writes a line of unseen-cards.jsonl.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro
from garden_agents.evaluation.score import opponents_of, scored, seed_of
from garden_agents.evaluation.tasks import field_of, task_of
from garden_agents.games import TRAINING_SEEDS
from garden_agents.matches.pairs import Games
from garden_agents.plots import COLOURS, plot
from garden_agents.report.run_files import RESULTS

from benchmarks import common

SETS = (1, 10, 100, 1000)
"""Numbers of card sets to learn from."""


@dataclass
class Arguments:
    """Measure the gap between cards that a network learned and cards that it never saw."""

    games: tyro.conf.Positional[tuple[str, ...]] = ("cacti", "botanicus")
    """names of games"""
    steps: int = 5_000_000
    """decisions to learn from"""
    seeds: int = 3
    """number of seeds: 0, 1, ..."""
    sets: tuple[int, ...] = SETS
    """numbers of card sets to learn from"""
    matches: int = 1000
    """games of a rating"""
    runs: Path = Path("runs/unseen")
    """folder for the runs' folders"""
    output: Path = Path(__file__).parent / "unseen-cards.jsonl"
    """file of the results; the picture is written next to it"""


class Run(NamedTuple):
    """A training."""

    game: str
    sets: int
    steps: int
    seed: int


def rated(folder: Path, game: str, cards: range, games: int) -> dict[str, Any]:
    """Return a network's rating on card sets in the task with unseen cards, and its win rates against members."""
    name = f"{game}-unseen"
    field, made, agent = field_of(name), task_of(name).make(), str(folder)
    opponents = opponents_of(agent, field, made)
    played = Games(made, [agent, *opponents], seed_of(field, 1), unnamed=agent, cards=cards)
    found = scored(played, agent, field, opponents, games, precision=0, seed=1)
    won = {each.agent: round(each.win_rate, 3) for each in found.against}
    return {"rating": round(found.rating), "interval": [round(end) for end in found.interval], "won": won}


def one(run: Run, arguments: Arguments) -> dict[str, Any]:
    """Train and rate a network."""
    folder = arguments.runs / "-".join(map(str, run))
    limits = f"--steps {run.steps} --seed {run.seed} --threads 1 --evaluations 1 --evaluation-games 20 --final-games 0"
    sets = f"--options cards_shown values --card-sets {run.sets}"
    common.train(folder, RESULTS, ["train", run.game, *sets.split(), *limits.split()], ["train"])
    learned, unseen = TRAINING_SEEDS[: min(run.sets, 100)], task_of(f"{run.game}-unseen").cards
    of = {"learned": learned, "unseen": unseen}
    return run._asdict() | {
        name: rated(folder, run.game, cards, arguments.matches) for name, cards in of.items()
    }


def draw(path: Path, rows: list[dict[str, Any]]) -> None:
    """Draw ratings after each game's longest trainings over the number of card sets: the mean and the range over seeds."""
    games = [game for game in Arguments.games if any(row["game"] == game for row in rows)]
    with plot(path, len(games), (4.5 * len(games), 3.6)) as axes:
        for game, axis in zip(games, axes, strict=True):
            steps = max(row["steps"] for row in rows if row["game"] == game)
            runs = [row for row in rows if (row["game"], row["steps"]) == (game, steps)]
            sets = sorted({run["sets"] for run in runs})
            for colour, cards in zip(COLOURS, ("learned", "unseen"), strict=False):
                ratings = [[run[cards]["rating"] for run in runs if run["sets"] == n] for n in sets]
                axis.plot(sets, list(map(np.mean, ratings)), "o-", color=colour, label=f"{cards} cards")
                axis.fill_between(
                    sets,
                    list(map(min, ratings)),
                    list(map(max, ratings)),
                    color=colour,
                    alpha=0.2,
                    linewidth=0,
                )
            axis.set(xscale="log", xlabel="card sets in training", ylabel="rating", title=game.title())
            axis.set_xticks(sets, [f"{n:,}" for n in sets])
            axis.minorticks_off()
            axis.legend()
        middles = [np.mean(axis.get_ylim()) for axis in axes]
        half = max(np.ptp(axis.get_ylim()) for axis in axes) / 2
        for axis, middle in zip(axes, middles, strict=True):  # equal units
            axis.set_ylim(middle - half, middle + half)


def main(arguments: Arguments) -> None:
    """Train and rate what is missing; write the results and the picture."""
    a = arguments
    text = a.output.read_text("utf-8") if a.output.exists() else ""
    rows = [json.loads(line) for line in text.splitlines()]
    plan = [Run(game, sets, a.steps, seed) for game in a.games for seed in range(a.seeds) for sets in a.sets]
    for run in plan:
        if any(row | run._asdict() == row for row in rows):
            continue
        rows.append(one(run, a))
        with a.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(rows[-1]) + os.linesep)
        print(rows[-1], flush=True)
    draw(a.output.with_suffix(".png"), rows)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
