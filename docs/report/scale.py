"""Check the benchmark's intervals: `python -m docs.report.scale [TASKS...]`.

Coverage: agents outside the fields are scored many times, each with few games and another seed; their intervals must hold the rating of a
long match. Recovery: each member is scored as if it were unknown; its interval must hold its rating in the field.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import tyro
from garden_agents.evaluation.score import score
from garden_agents.evaluation.tasks import field_of, tasks
from garden_agents.matches.jobs import CORES, finished
from garden_agents.progress import progress_bar

from benchmarks import common

AGENTS = "{}:main~0.2", "{}:other", "greedy~0.15"
"""Agents that are not in the fields, for any task."""
LONG_SEED = 1_000_000


@dataclass
class Arguments:
    """Compare short scores with ratings that are known."""

    tasks: tyro.conf.Positional[tuple[str, ...]] = ()
    """names of tasks; all if none is given"""
    scores: int = 100
    """short scores of each agent"""
    games: int = 400
    """games of a short score"""
    long: int = 10_000
    """games of a long match"""
    recovery: int = 2000
    """games of a member's score"""
    processes: int = CORES
    """number of scores at the same time"""
    output: Path = Path(__file__).parent
    """folder for scale-TASK.json"""


class Case(NamedTuple):
    """A score to compute: `what` is "long", "short" or "member"."""

    task: str
    what: str
    agent: str
    games: int
    seed: int


def play(case: Case) -> tuple[float, float, float, int]:
    """Return rating, interval and number of games of a score."""
    found = score(case.agent, case.task, case.games, precision=0, seed=case.seed)
    return found.rating, *found.interval, found.games


def main(arguments: Arguments) -> None:
    """Score, print and write the results."""
    a = arguments
    for task in a.tasks or tasks():
        measurements = []
        members = {member.agent: member.rating for member in field_of(task).members}
        agents = [name for each in AGENTS if (name := each.format(task)) not in members]
        cases = [Case(task, "long", agent, a.long, LONG_SEED) for agent in agents]
        cases += [Case(task, "short", agent, a.games, seed) for agent in agents for seed in range(a.scores)]
        cases += [Case(task, "member", agent, a.recovery, 0) for agent in members]
        found: dict[Case, tuple[float, float, float, int]] = {}
        with progress_bar(total=len(cases), unit="score", desc=task) as bar:
            for case, result in finished(play, cases, a.processes, lambda case: case.agent):
                found[case] = result
                bar.update()
        for agent in agents:
            long = found[Case(task, "long", agent, a.long, LONG_SEED)]
            short = [result for case, result in found.items() if case[1:3] == ("short", agent)]
            held = sum(low <= long[0] <= high for _, low, high, _ in short) / max(1, len(short))
            row: dict[str, Any] = {
                "task": task,
                "agent": agent,
                "rating": long[0],
                "held": held,
                "scores": len(short),
            }
            measurements.append(
                row | {"half_width": sum(high - low for _, low, high, _ in short) / 2 / max(1, len(short))}
            )
        for case, (rating, low, high, games) in found.items():
            if case.what == "member":
                known = members[case.agent]
                row = {
                    "task": task,
                    "member": case.agent,
                    "field": known,
                    "rating": rating,
                    "interval": (low, high),
                }
                measurements.append(row | {"games": games, "held": low <= known <= high})
        for row in measurements:
            print(row, flush=True)
        settings = {"scores": a.scores, "games": a.games, "long": a.long, "recovery": a.recovery}
        common.save(a.output, f"scale-{task}", settings, measurements)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
