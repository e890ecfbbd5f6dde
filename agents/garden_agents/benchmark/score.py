"""`garden score AGENT`: place an agent on the scale of a task.

The agent plays a few deals against every member of the task's field, in each seat, and then against the four members whose ratings
are nearest to what this says, until its rating is known well enough. The rating is the one that makes its results against these four
most likely (`garden_agents.evaluation.ratings`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tyro

from garden_agents.benchmark.tasks import Field, Member, field_of, task_of, tasks
from garden_agents.errors import one_line_errors
from garden_agents.evaluation.jobs import CORES, check, digest_of
from garden_agents.evaluation.matches import alone_shares, independent_games, interval_of
from garden_agents.evaluation.pairs import BLOCK, Games, Job, JobResults, play_block
from garden_agents.evaluation.plots import COLOURS, plot
from garden_agents.evaluation.ratings import Met, chances, rate_against
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_core.batch.policies import Policy
from garden_core.checks import one_line
from garden_core.files.disk import write_json
from garden_core.game import Game

GAMES, PRECISION = 4000, 25.0
"""Defaults: the largest number of games, and half the width of the interval, by chance alone, at which games end."""
NEAREST = 4
PILOT = 40  # largest number of deals of the pilot against each member
SURPRISE = 3.0  # standard errors


class Against(NamedTuple):
    """The agent's games against a member of the field.

    Attributes:
        agent, rating: the member.
        games: number of games.
        win_rate: the agent's mean share of the win.
        interval: its 95 % interval, see `garden_agents.evaluation.matches.interval_of`.
        expected: the win rate that the two ratings predict.
        surprise: how many standard errors, the field's misfit included, lie between the two.
    """

    agent: str
    rating: int
    games: int
    win_rate: float
    interval: tuple[float, float]
    expected: float
    surprise: float


@dataclass(frozen=True)
class Score:
    """An agent's place on the scale of a task.

    Attributes:
        task, version: the task.
        agent: the agent's name.
        rating: its rating; that of "random" is 0.
        interval: its 95 % interval, in which the field's misfit is included; infinite where the agent won, or lost, all games.
        games: number of games.
        seed: seed of the games.
        against: the games against each member.

    Example:
        >>> from garden_agents import score
        >>> found = score("greedy~0.5", "cacti-2", games=100)
        >>> low, high = found.interval
        >>> low < found.rating < high, found.against[0].agent, found.surprises
        (True, 'random', [])
    """

    task: str
    version: int
    agent: str
    rating: float
    interval: tuple[float, float]
    games: int
    seed: int
    against: tuple[Against, ...]

    @property
    def surprises(self) -> list[Against]:
        """The members against which the agent does so much better or worse than its rating says that it is not by chance."""
        return [each for each in self.against if abs(each.surprise) > SURPRISE]


class _Direct:
    """Games of a policy that has no name, in this process; like `pairs.Games`."""

    def __init__(self, game: Game, name: str, policy: Policy, seed: int) -> None:
        self.game, self.name, self.policy, self.seed = game, name, policy, seed
        self.done: dict[Job, JobResults] = {}

    def play(self, jobs: Sequence[Job], processes: int) -> Any:
        for job in jobs:
            digest = digest_of(self.seed, "", job.opponent, job.block)
            other = load_agent(job.opponent, self.game, int.from_bytes(digest[12:16]))
            self.done[job] = play_block(self.game, job, (self.policy, other), int.from_bytes(digest[:8]))
            yield job


def score(
    agent: str | Policy,
    task: str,
    games: int = GAMES,
    precision: float = PRECISION,
    seed: int = 0,
    processes: int = 1,
    keep: Path | None = None,
    on_finished: Callable[[int], object] | None = None,
    field: Field | None = None,
) -> Score:
    """Place an agent on the scale of a task.

    The result depends on the agent, the task, `games`, `precision` and `seed` only, if the agent draws all random numbers from its
    seed. An agent that is a member of the field does not play against itself.

    Args:
        agent: name of an agent (`garden_agents.registry.load_agent`), or a policy.
        task: name of the task, such as "cacti-2".
        games: largest number of games; the pilot is played in any case, one deal against each member at least.
        precision: half the width of the interval by chance alone, in points, at which no more games are played; 0 to play all.
        seed: seed of the games, apart from those of other commands.
        processes: number of processes, for an agent with a name; they are spawned if more than 1.
        keep: file of finished games, which are not repeated, for an agent with a name; None for no file.
        on_finished: called with the number of games of each finished job.
        field: another field than the frozen one.

    Raises:
        ValueError: for arguments out of range, an unknown agent or task, or a file `keep` of other games.
        RuntimeError: if an agent fails or a process dies.

    Example:
        >>> from garden_agents import score
        >>> found = score("greedy", "cacti-2", games=400)
        >>> found.task, found.version, found.games <= 450
        ('cacti-2', 1, True)
    """
    check(games, processes)
    game, field = task_of(task).make(), field or field_of(task)
    name = agent if isinstance(agent, str) else "policy"
    members = [member for member in field.members if member.agent != name]
    own_seed = int.from_bytes(digest_of("score", field.task, field.version, seed)[:4])
    played: Any = (
        Games(game, [name, *(m.agent for m in members)], own_seed, keep, unnamed=name)
        if isinstance(agent, str)
        else _Direct(game, name, agent, own_seed)
    )
    n = game.num_players
    counted: dict[str, list[np.ndarray]] = {member.agent: [] for member in members}

    def play(meetings: Sequence[Member], block: int, number: int) -> None:
        jobs = [Job(name, member.agent, block, number) for member in meetings]
        for job in jobs:
            if job in played.done and on_finished:
                on_finished(job.games)
        for job in played.play(jobs, processes):
            if on_finished:
                on_finished(job.games)
        for job in jobs:
            counted[job.opponent].append(alone_shares(np.array(played.done[job].places)))

    def rating_by(some: Sequence[Member]) -> tuple[float, float, float]:
        return rate_against([_met(member, counted[member.agent]) for member in some], n)

    play(members, 0, n * max(1, min(PILOT, games // (4 * n * len(members)))))
    first, *_ = rating_by(members)
    nearest = sorted(members, key=lambda member: abs(member.rating - first))[:NEAREST]
    for block in range(1, games):
        total = sum(shares.size for parts in counted.values() for shares in parts)
        rating, low, high = rating_by(nearest)
        left = (games - total) // (NEAREST * n) * n
        if left <= 0 or high - low <= 2 * precision:
            break
        play(nearest, block, min(-(-BLOCK // n) * n, left))
    low, high = (
        rating + math.copysign(math.hypot(end - rating, 1.96 * field.misfit), end - rating)
        for end in (low, high)
    )
    against = tuple(_against(member, counted[member.agent], rating, field.misfit, n) for member in members)
    return Score(field.task, field.version, name, rating, (low, high), total, seed, against)


def _met(member: Member, parts: Sequence[np.ndarray]) -> Met:
    shares = np.concatenate(parts)
    return Met(member.rating, float(shares.mean()), independent_games(shares))


def _against(member: Member, parts: Sequence[np.ndarray], rating: float, misfit: float, n: int) -> Against:
    shares, met = np.concatenate(parts), _met(member, parts)
    (expected,), (slope,) = chances(np.array([rating - member.rating]), n)
    error = math.sqrt(expected * (1 - expected) / met.games + (slope * misfit) ** 2)
    surprise = float((met.won - expected) / error)
    return Against(
        member.agent, member.rating, shares.size, met.won, interval_of(shares), float(expected), surprise
    )


# --- the command ---


def table(found: Score) -> str:
    """Return a score as text: the rating, and the games against each member."""
    low, high = found.interval
    lines = [
        f"{found.agent} in {found.task}, version {found.version}: rating {found.rating:.0f} ({low:.0f} to {high:.0f}), {found.games} games",
        f"{'against':<28} rating  games  win rate   95 % interval   expected",
    ]
    for each in reversed(found.against):
        rates = f"{each.win_rate:>8.1%}  {each.interval[0]:>6.1%} … {each.interval[1]:>6.1%}  {each.expected:>8.1%}"
        lines.append(
            f"{each.agent:<28} {each.rating:>6} {each.games:>6}  {rates}{' !' if each in found.surprises else ''}"
        )
    lines += [
        f"! One number does not describe this agent: against {each.agent} it does {'better' if each.surprise > 0 else 'worse'} than its rating says"
        for each in found.surprises
    ]
    return "\n".join(lines)


def picture(path: Path, found: Score) -> None:
    """Draw an agent's win rates against the members of the field, by their ratings."""
    n = task_of(found.task).make().num_players
    ratings = np.array([each.rating for each in found.against])
    rates = np.array([(each.win_rate, *each.interval) for each in found.against])
    with plot(path, 1, (9, 5)) as (axes,):
        span = np.linspace(ratings.min() - 100, max(ratings.max(), found.rating) + 100, 300)
        axes.plot(span, chances(found.rating - span, n)[0], color=COLOURS[1], label="as the rating says")
        errors = np.abs(rates[:, 1:] - rates[:, :1]).T
        axes.errorbar(
            ratings, rates[:, 0], errors, fmt="o", color=COLOURS[0], capsize=3, label="played, 95 % intervals"
        )
        for each in found.against:
            name = one_line(each.agent.removeprefix(f"{found.task}:"), 40)
            look = {"textcoords": "offset points", "size": 7, "rotation": 50, "ha": "right", "va": "top"}
            axes.annotate(name, (each.rating, each.interval[0]), (3, -3), **look)
        low, high = found.interval
        axes.axvspan(max(low, span[0]), min(high, span[-1]), color=COLOURS[1], alpha=0.15)
        axes.set(xlabel="rating of the opponent", ylabel="win rate", ylim=(-0.02, 1.02))
        axes.set_title(
            f"{one_line(found.agent, 60)} in {found.task}, version {found.version}: {found.rating:.0f} ({low:.0f} to {high:.0f})"
        )
        axes.legend()


@dataclass
class Arguments:
    """Place an agent on the scale of the benchmark's tasks."""

    agent: tyro.conf.Positional[str]
    """the agent: a run's folder, a network's file, module:attribute, program:COMMAND, openai:MODEL, greedy, mcts:400, …"""
    task: tuple[str, ...] = ()
    """tasks, such as cacti-2; all that the agent can play if none is given"""
    games: int = GAMES
    """largest number of games in a task"""
    precision: float = PRECISION
    """no more games are played once the interval, by chance alone, is this number of points up and down; the field's misfit comes on top"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    processes: int = CORES
    """number of processes, which does not change the results; one per core if not given"""
    output: Path = Path("scores")
    """folder for the results: a file .json and a picture .png for each task, and the finished games, which are not repeated"""


@one_line_errors("stopped; the same command continues", RuntimeError)
def main(arguments: Arguments) -> list[Score]:
    """Score the agent; print and write the results.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if an agent fails.
    """
    a, found = arguments, []
    a.output.mkdir(parents=True, exist_ok=True)
    for name in a.task or _playable(a.agent):
        stem = a.output / f"{name}-{re.sub(r'[^A-Za-z0-9.~]+', '-', a.agent).strip('-')[-60:]}"
        with progress_bar(total=a.games, unit="game", desc=name) as bar:
            one = score(
                a.agent,
                name,
                a.games,
                a.precision,
                a.seed,
                a.processes,
                stem.with_name(f"{stem.name}.games.jsonl"),
                bar.update,
            )
        write_json(stem.with_name(f"{stem.name}.json"), asdict(one) | {"garden-envs": version("garden-envs")})
        picture(stem.with_name(f"{stem.name}.png"), one)
        print(table(one), flush=True)
        found.append(one)
    return found


def _playable(agent: str) -> list[str]:
    """Return the tasks that an agent can play.

    Raises:
        ValueError: if there are none; it says why for the last one.
    """
    found, reason = [], ""
    for name, task in tasks().items():
        try:
            load_agent(agent, task.make(), check=True)
            found.append(name)
        except ValueError as error:
            reason = f"{name}: {one_line(error)}"
    if not found:
        raise ValueError(f"{agent} can play no task; {reason}")
    return found
