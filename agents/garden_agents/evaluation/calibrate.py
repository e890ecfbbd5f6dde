"""Rate the field of a task by a round robin: `python -m garden_agents.evaluation.calibrate cacti-2`.

A task that is rated already is rated again only with `--again`, as its ratings are frozen: other ratings make a new version.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec
import numpy as np
import tyro

from garden_agents.evaluation.positions import actions_of
from garden_agents.evaluation.ratings import chances, rate
from garden_agents.evaluation.score import NEAREST
from garden_agents.evaluation.tasks import Field, Member, Task, conditions, task_of
from garden_agents.matches.jobs import CORES
from garden_agents.matches.meet import alone_shares, independent_games
from garden_agents.matches.pairs import Games, Job, JobResults, jobs_of
from garden_agents.progress import progress_bar
from garden_agents.registry import FIELDS
from garden_core.files.disk import write_atomically

SEED = 20_261_201
"""Of the games of all fields."""


@dataclass(frozen=True)
class Options:
    """Rate the field of a task by a round robin."""

    task: tyro.conf.Positional[str]
    """the task's name"""
    games: int = 2000
    """games of each pair"""
    slow_games: int = 500
    """games of each pair with a search"""
    processes: int = CORES
    """number of processes"""
    folder: Path = Path("build/fields")
    """folder for the finished games"""
    again: bool = False
    """rate again a field that is rated"""


def shares_by_pair(jobs: Mapping[Job, JobResults]) -> dict[tuple[str, str], np.ndarray]:
    """Return, for each pair, the first agent's share of the win in each seat of each deal, float (deals, seats)."""
    return {
        (agent, opponent): np.concatenate([alone_shares(np.array(jobs[job].places)) for job in of_pair])
        for (agent, opponent), of_pair in itertools.groupby(sorted(jobs), key=lambda job: job.agents)
    }


def rated(name: str, task: Task, shares: Mapping[tuple[str, str], np.ndarray]) -> Field:
    """Return the field of a task, from the results of its pairs."""
    game, names, pairs = task.make(), list(task.members), list(shares)
    n = game.num_players
    indexes = np.array([[names.index(agent) for agent in pair] for pair in pairs])
    won = np.array([of_pair.mean() for of_pair in shares.values()])
    games = np.array([independent_games(of_pair) for of_pair in shares.values()])
    exact, errors = rate(indexes, np.stack([won, 1 - won], 1), games, n)
    ratings = exact.round()
    expected, slopes = chances(ratings[indexes[:, 0]] - ratings[indexes[:, 1]], n)
    chance = expected * (1 - expected) / games
    residuals = (won - expected) / np.sqrt(chance)
    beyond_chance = max(0.0, (residuals**2 - 1).sum() / (slopes**2 / chance).sum())  # variance of pairs
    did = {agent: tuple(actions_of(agent, name)) for agent in names}
    members = sorted(
        (
            Member(agent, int(rating), round(float(error), 1), did[agent])
            for agent, rating, error in zip(names, ratings, errors, strict=True)
        ),
        key=lambda member: member.rating,
    )
    kept = [
        (*pair, of_pair.size, round(float(rate), 4), round(float(likely), 4), round(float(residual), 2))
        for (pair, of_pair), rate, likely, residual in zip(
            shares.items(), won, expected, residuals, strict=True
        )
    ]
    misfit = round(float(np.sqrt(beyond_chance / NEAREST)), 1)
    return Field(name, task.version, conditions(game, task.card_sets), tuple(members), misfit, tuple(kept))


def main(options: Options) -> None:
    """Play what is missing, and write the field's file."""
    o, task = options, task_of(options.task)
    path = FIELDS / f"{o.task}.json"
    if path.exists() and not o.again:
        raise SystemExit(f"error: {path} is frozen")
    o.folder.mkdir(parents=True, exist_ok=True)
    game, names = task.make(), list(task.members)
    played = Games(game, names, SEED, o.folder / f"{o.task}.games.jsonl", cards=task.cards)
    jobs = [
        job
        for limit, slow in ((o.games, False), (o.slow_games, True))
        for job in jobs_of(names, game.num_players, limit)
        if ("mcts" in "".join(job.agents)) == slow
    ]
    total, kept = (
        sum(job.games for job in some) for some in (jobs, [job for job in jobs if job in played.done])
    )
    with progress_bar(total=total, initial=kept, unit="game", desc=o.task) as bar:
        for job in played.play(jobs, o.processes):
            bar.update(job.games)
    field = rated(o.task, task, shares_by_pair({job: played.done[job] for job in jobs}))
    write(path, field)
    print(table(field))


def write(path: Path, field: Field) -> None:
    """Write a field's file, with a line for each member and pair."""
    text = msgspec.json.encode(field).decode().replace("},{", "},\n{").replace("],[", "],\n[")
    write_atomically(path, f"{text}\n".encode())


def table(field: Field) -> str:
    """Return the members with their ratings and win rates against the next weaker one, as text."""
    rates = {pair[:2]: pair[3] for pair in field.pairs} | {
        (b, a): 1 - rate for a, b, _, rate, *_ in field.pairs
    }
    rates |= {pair[:2]: pair[3] for pair in field.pairs}
    lines = [f"{'member':<28} rating  error  against the one above"]
    for before, member in zip((None, *field.members), field.members, strict=False):
        against = f"{rates[member.agent, before.agent]:.1%}" if before else ""
        lines.append(f"{member.agent:<28} {member.rating:>6} {member.error:>6} {against:>7}")
    residuals = np.array([pair[-1] for pair in field.pairs])
    lines.append(
        f"misfit ± {field.misfit}; residuals: root mean square {np.sqrt((residuals**2).mean()):.1f}, largest {np.abs(residuals).max():.1f}"
    )
    return "\n".join(lines)


if __name__ == "__main__":
    main(tyro.cli(Options))
