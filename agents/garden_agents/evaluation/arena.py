"""Round robin between named agents: win rates with 95 % intervals, and ratings.

    garden arena mars random greedy mcts:400 runs/mars-… --games 600 --output arena.json

Every pair plays in all seats equally often. With more than two players, one seat has an agent and all other seats have
its opponent, in each seat in turn; against an equal opponent it would win 1/n of these games. With --mixed all seats have
different agents (`garden_agents.matches.mixed`). The games are divided into jobs. A job's seeds depend only on the arena's
seed, the names of its agents and the job's number, so the results depend neither on the number of processes nor on the
other agents. With --output every finished job is saved, and the same command continues after an interruption.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.ratings import Rating, rate_set, ratings_table, zero
from garden_agents.identity import weights_digest
from garden_agents.matches.jobs import check
from garden_agents.matches.meet import (
    Result,
    alone_shares,
    fitted,
    independent_games,
    result_of,
    table,
)
from garden_agents.matches.mixed import (
    MixedResult,
    check_mixed,
    group_of,
    mixed_results,
    mixed_table,
)
from garden_agents.matches.pairs import Games, Job, JobResults, PairArguments, jobs_of, mixed_jobs
from garden_agents.plots import plot
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_core.game import Game

CHOSEN = (
    "The intervals hold if the number of games was chosen in advance. To stop early, use `garden compare`."
)
PACKAGES = ("garden-envs", "numpy", "numba")


def evaluated(names: Sequence[str], jobs: Mapping[Job, JobResults]) -> tuple[list[Result], list[Rating]]:
    """Return the results of each pair, and the ratings of `names`; `jobs` has the finished jobs of a pair one after another."""
    pairs: dict[tuple[str, ...], tuple[Sequence[float], float]] = {}
    results, num_players = [], 2
    for (agent, opponent), _, ranks, points, forfeited in _by_group(jobs):
        results.append(result_of((agent, opponent), ranks, points, forfeited))
        shares, num_players = alone_shares(ranks), ranks.shape[1]
        won = float(shares.mean())
        pairs[agent, opponent] = (won, 1 - won), independent_games(shares)
    return results, rate_set(names, pairs, num_players)


def evaluated_mixed(
    names: Sequence[str], jobs: Mapping[Job, JobResults]
) -> tuple[list[MixedResult], list[Rating]]:
    """Return the results of each agent in mixed games, the most wins first, and the ratings; `jobs` as for `evaluated`."""
    groups = [group_of(*each) for each in _by_group(jobs)]
    results = sorted(mixed_results(names, groups), key=lambda result: -result.win_rate)
    won = {each.names: (each.shares.mean(axis=(0, 1)), independent_games(each.shares)) for each in groups}
    return results, rate_set(names, won, len(groups[0].names))


def _by_group(jobs: Mapping[Job, JobResults]) -> Iterator[tuple[Any, ...]]:
    """Yield, for each group, its agents, each seat's agent, and the places, scores and forfeits of all its games."""
    for agents, some in itertools.groupby(jobs, key=lambda job: job.agents):
        parts = []
        for job in some:
            places, scores, _ = played = jobs[job]
            parts.append((job.lineups(len(places[0])), places, scores, played.forfeited))
        yield agents, *map(np.concatenate, zip(*parts, strict=True))


def round_robin(
    game: Game,
    names: Sequence[str],
    games: int = 600,
    seed: int = 0,
    processes: int = 1,
    keep: Path | None = None,
    allow_other_options: bool = False,
    unchanged: Collection[str] = (),
) -> tuple[list[Result], list[Rating]]:
    """Play a round robin; return the results of each pair, and the ratings.

    The results depend on `game`, `names`, `games` and `seed` only. Processes are spawned if `processes` > 1, so a script
    that calls this function needs `if __name__ == "__main__":`.

    Args:
        game: the game with its options.
        names: names of the agents, see `garden_agents.registry.load_agent`.
        games: games of each pair, rounded up to a multiple of the number of players.
        seed: seed of the games and of the agents' choices.
        processes: number of processes.
        keep: file of finished jobs, which are not repeated, except jobs of agents that can change unseen
            (`garden_agents.identity`); standard error lists them. None for no file.
        allow_other_options: accept networks that were trained with other options or data.
        unchanged: agents that can change unseen but have not changed: their finished jobs are not repeated.

    Raises:
        ValueError: before any game, for arguments out of range, an unknown agent, a program that does not start, or a
            file `keep` of other games or of an agent that has changed since.
        RuntimeError: if an agent fails or a process dies.
    """
    check(games, processes)
    jobs = jobs_of(names, game.num_players, games)
    played = Games(game, names, seed, keep, allow_other_options, unchanged)
    return evaluated(names, _played(played, jobs, processes))


def mixed_round(
    game: Game,
    names: Sequence[str],
    games: int = 600,
    processes: int = 1,
    **settings: Any,
) -> tuple[list[MixedResult], list[Rating]]:
    """Play mixed games of all groups (`garden_agents.matches.mixed.groups_of`); return each agent's results, and the ratings.

    Args:
        game: the game with its options.
        names: names of the agents, at least as many as players.
        games: games of each group, rounded up to a multiple of the number of players.
        processes: see `round_robin`.
        settings: `seed`, `keep`, `allow_other_options` and `unchanged`, see `round_robin`.

    Raises:
        ValueError, RuntimeError: as `round_robin`; also for a game of two players, and for too few agents.
    """
    check(games, processes)
    check_mixed(game, len(names))
    played = Games(game, names, **settings)
    jobs = mixed_jobs(names, game.num_players, games)
    return evaluated_mixed(names, _played(played, jobs, processes))


def _played(played: Games, jobs: Sequence[Job], processes: int) -> dict[Job, JobResults]:
    """Play the jobs that are missing, with a progress bar; return all."""
    total = sum(job.games for job in jobs)
    kept = sum(job.games for job in jobs if job in played.done)
    with progress_bar(total=total, initial=kept, unit="game") as bar:
        for job in played.play(jobs, processes):
            bar.update(job.games)
    return {job: played.done[job] for job in jobs}


# --- output ---


def picture(path: Path, results: Sequence[Result], ratings: Sequence[Rating], title: str) -> None:
    """Draw the win rates of all pairs as a table next to the ratings; one row per agent, best first."""
    n, fair = len(ratings), 1 / len(results[0].by_seat)
    rank = {r.agent: i for i, r in enumerate(ratings)}
    rates = np.full((n, n, 3), np.nan)  # win rate and interval
    for result in results:
        i, j = rank[result.agent], rank[result.opponent]
        rates[i, j] = result.win_rate, *result.interval
        if fair == 1 / 2:
            rates[j, i] = 1 - rates[i, j, [0, 2, 1]]
    title += f"\nwin rates with 95 % intervals; equals win {fair:.0%}"
    columns = [fitted(r.agent, 26) for r in ratings]
    _table_and_ratings(path, rates, columns, "win rate of row against column", fair, ratings, title)


def mixed_picture(path: Path, results: Sequence[MixedResult], ratings: Sequence[Rating], title: str) -> None:
    """Draw each agent's shares of the places as a table next to the ratings; one row per agent, best first."""
    of_agent = {r.agent: r for r in results}
    n = len(results[0].by_place)
    rates = np.full((len(ratings), n, 3), np.nan)
    rates[:, :, 0] = [of_agent[r.agent].by_place for r in ratings]
    rates[:, 0, 1:] = [of_agent[r.agent].interval for r in ratings]
    title += (
        f"\na different agent in each seat; wins with 95 % intervals; equals have each place in {1 / n:.0%}"
    )
    columns = [f"place {place}" for place in range(1, n + 1)]
    _table_and_ratings(path, rates, columns, "share of the games in each place", 1 / n, ratings, title)


def _table_and_ratings(
    path: Path,
    rates: np.ndarray,
    columns: Sequence[str],
    label: str,
    fair: float,
    ratings: Sequence[Rating],
    title: str,
) -> None:
    """Draw `rates`, float (agents, columns, 3), shares and their intervals, NaN for none, as a table next to the ratings."""
    from matplotlib.colors import TwoSlopeNorm

    n, names = len(ratings), [fitted(r.agent, 26) for r in ratings]
    width = 0.8 * max(len(columns), 3)
    size = 6 + width, 2.6 + 0.5 * n
    with plot(path, 2, size, sharey=True, width_ratios=(width, 3.5)) as (left, right):
        image = left.imshow(rates[..., 0], cmap="RdBu", norm=TwoSlopeNorm(fair, 0, 1), aspect="auto")
        for i, j in np.argwhere(np.isfinite(rates[..., 0])):
            won, low, high = rates[i, j]
            style = {"ha": "center", "va": "center"}
            style["color"] = "white" if abs(image.norm(won) - 0.5) > 0.3 else "black"
            left.text(j, i - 0.13, f"{won:.0%}", **style)
            if np.isfinite(low):
                left.text(j, i + 0.22, f"{100 * low:.0f} … {100 * high:.0f}", size=7, **style)
        left.set_yticks(range(n), names)
        left.set_xticks(range(len(columns)), columns, rotation=30, ha="left", rotation_mode="anchor")
        left.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        left.grid(False)
        left.set_xlabel(label, loc="left")
        for i, r in enumerate(ratings):
            right.errorbar(r.rating, i, xerr=r.uncertainty, fmt="oC0", capsize=3)
            right.annotate(f"{r.rating:.0f}", (r.rating, i), (0, 7), textcoords="offset points", ha="center")
        right.set_xlabel(f"rating, 95 %, on Elo's scale, {zero(ratings)} = 0")
        right.tick_params(left=False, labelleft=False)
        right.margins(x=0.12)
        for axes in (left, right):
            axes.spines[:].set_visible(False)
        left.figure.suptitle(title, x=0.01, ha="left", size=11)


@dataclass
class Arguments(PairArguments):
    """Play a round robin between agents: win rates and ratings."""

    agents: tyro.conf.Positional[list[str]]
    """two or more of: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, openai:MODEL, program:COMMAND"""
    games: int = 600
    """games of each pair, or with --mixed of each group, rounded up to a multiple of the number of players"""
    mixed: bool = False
    """seat a different agent in each seat, in all seatings in turn (more than two players)"""


def main(arguments: Arguments) -> list[Result] | list[MixedResult]:
    """Play the round robin, print its tables and write its files.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if an agent fails or a process dies.
    """
    a = arguments
    game = a.prepare("arena", a.agents)
    with one_line_errors(a.stopped, RuntimeError):
        settings = {"seed": a.seed, "keep": a.keep, "allow_other_options": a.allow_other_options}
        play: Any = mixed_round if a.mixed else round_robin
        results, ratings = play(
            game, a.agents, a.games, processes=a.processes, unchanged=a.unchanged, **settings
        )
    pretrained = {
        name: load_agent(name, game, allow_other_options=a.allow_other_options)
        for name in a.agents
        if name.startswith("network")
    }
    found = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "weights": {name: weights_digest(agent) for name, agent in pretrained.items()},
        "results": [asdict(r) for r in results],
        "ratings": [asdict(r) for r in ratings],
    }
    words = ["arena", a.game, *a.agents, "--games", a.games, *["--mixed"] * a.mixed]
    a.write(game, words, found, PACKAGES)
    per = "games per agent" if a.mixed else "games a pair"
    title = f"{game!r}, {results[0].games} {per}, seed {a.seed}"
    try:  # results are printed even if the picture fails
        if a.drawing is not None:
            with one_line_errors():
                (mixed_picture if a.mixed else picture)(a.drawing, results, ratings, title)
    finally:
        shown = (mixed_table if a.mixed else table)(results)
        print(f"{shown}\n{CHOSEN}\n\n{ratings_table(ratings)}", flush=True)
    return results
