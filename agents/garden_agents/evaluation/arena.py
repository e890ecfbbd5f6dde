"""Round robin between named agents: win rates with 95 % intervals, and ratings.

    garden arena mars random greedy mcts:400 runs/mars-… --games 600 --output arena.json

Every pair plays in all seats equally often. With more than two players, one seat has an agent and all other seats have
its opponent, in each seat in turn; against an equal opponent it would win 1/n of these games. The games are divided into
jobs. A job's seeds depend only on the arena's seed, the two names and the job's number, so the results depend neither on
the number of processes nor on the other agents. With --output every finished job is saved, and the same command continues
after an interruption.
"""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Collection, Mapping, Sequence
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
from garden_agents.matches.pairs import Games, JobResults, PairArguments, jobs_of
from garden_agents.plots import plot
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_core.game import Game

CHOSEN = (
    "The intervals hold if the number of games was chosen in advance. To stop early, use `garden compare`."
)
PACKAGES = ("garden-envs", "numpy", "numba")


def evaluated(names: Sequence[str], jobs: Mapping[Any, JobResults]) -> tuple[list[Result], list[Rating]]:
    """Return the results of each pair, and the ratings of `names`.

    Args:
        names: names of the agents.
        jobs: finished jobs by agent, opponent and block, the jobs of a pair one after another.
    """
    results, pairs, num_players = [], {}, 2
    for pair, of_pair in itertools.groupby(jobs, key=lambda job: job[:2]):
        parts = [
            (played.places, played.scores, played.forfeited) for played in map(jobs.__getitem__, of_pair)
        ]
        ranks, points, forfeited = map(np.concatenate, zip(*parts, strict=True))
        results.append(result_of(pair, ranks, points, forfeited))
        shares, num_players = alone_shares(ranks), ranks.shape[1]
        pairs[pair] = float(shares.mean()), independent_games(shares)
    return results, rate_set(names, pairs, num_players)


def round_robin(
    game: Game,
    names: Sequence[str],
    games: int = 600,
    seed: int = 0,
    processes: int = 1,
    keep: Path | None = None,
    allow_other_options: bool = False,
    ray: str | None = None,
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
        ray: address of a Ray cluster, or "local"; processes of this machine if None.
        unchanged: agents that can change unseen but have not changed: their finished jobs are not repeated.

    Raises:
        ValueError: before any game, for arguments out of range, an unknown agent, a program that does not start, or a
            file `keep` of other games or of an agent that has changed since.
        RuntimeError: if an agent fails or a process dies.
    """
    check(games, processes)
    played = Games(game, names, seed, keep, allow_other_options, unchanged)
    jobs = jobs_of(names, game.num_players, games)
    total = sum(job.games for job in jobs)
    kept = sum(job.games for job in jobs if job in played.done)
    with progress_bar(total=total, initial=kept, unit="game") as bar:
        for job in played.play(jobs, processes, ray):
            bar.update(job.games)
    return evaluated(names, {job: played.done[job] for job in jobs})


# --- output ---


def picture(path: Path, results: Sequence[Result], ratings: Sequence[Rating], title: str) -> None:
    """Draw the win rates of all pairs as a table next to the ratings; one row per agent, best first."""
    from matplotlib.colors import TwoSlopeNorm

    n, fair = len(ratings), 1 / len(results[0].by_seat)
    rank = {r.agent: i for i, r in enumerate(ratings)}
    rates = np.full((n, n, 3), np.nan)  # win rate and interval
    for result in results:
        i, j = rank[result.agent], rank[result.opponent]
        rates[i, j] = result.win_rate, *result.interval
        if fair == 1 / 2:
            rates[j, i] = 1 - rates[i, j, [0, 2, 1]]
    names = [fitted(r.agent, 26) for r in ratings]
    width = 0.8 * max(n, 3)
    size = 6 + width, 2.6 + 0.5 * n
    with plot(path, 2, size, sharey=True, width_ratios=(width, 3.5)) as (left, right):
        image = left.imshow(rates[..., 0], cmap="RdBu", norm=TwoSlopeNorm(fair, 0, 1), aspect="auto")
        for i, j in np.argwhere(np.isfinite(rates[..., 0])):
            won, low, high = rates[i, j]
            style = {"ha": "center", "va": "center"}
            style["color"] = "white" if abs(image.norm(won) - 0.5) > 0.3 else "black"
            left.text(j, i - 0.13, f"{won:.0%}", **style)
            left.text(j, i + 0.22, f"{100 * low:.0f} … {100 * high:.0f}", size=7, **style)
        left.set_yticks(range(n), names)
        left.set_xticks(range(n), names, rotation=30, ha="left", rotation_mode="anchor")
        left.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        left.grid(False)
        left.set_xlabel("win rate of row against column", loc="left")
        for i, r in enumerate(ratings):
            right.errorbar(r.rating, i, xerr=r.uncertainty, fmt="oC0", capsize=3)
            right.annotate(f"{r.rating:.0f}", (r.rating, i), (0, 7), textcoords="offset points", ha="center")
        right.set_xlabel(f"rating, 95 %, on Elo's scale, {zero(ratings)} = 0")
        right.tick_params(left=False, labelleft=False)
        right.margins(x=0.12)
        for axes in (left, right):
            axes.spines[:].set_visible(False)
        title += f"\nwin rates with 95 % intervals; equals win {fair:.0%}"
        left.figure.suptitle(title, x=0.01, ha="left", size=11)


@dataclass
class Arguments(PairArguments):
    """Play a round robin between agents: win rates and ratings."""

    agents: tyro.conf.Positional[list[str]]
    """two or more of: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, openai:MODEL, program:COMMAND"""
    games: int = 600
    """games of each pair, rounded up to a multiple of the number of players"""


def main(arguments: Arguments) -> list[Result]:
    """Play the round robin, print its tables and write its files.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if an agent fails or a process dies.
    """
    a = arguments
    game = a.prepare("arena", a.agents)
    with one_line_errors(a.stopped, RuntimeError):
        results, ratings = round_robin(
            game, a.agents, a.games, a.seed, a.processes, a.keep, a.allow_other_options, a.ray, a.unchanged
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
    a.write(game, ["arena", a.game, *a.agents, "--games", a.games], found, PACKAGES)
    title = f"{game!r}, {results[0].games} games a pair, seed {a.seed}"
    try:  # results are printed even if the picture fails
        if a.drawing is not None:
            with one_line_errors():
                picture(a.drawing, results, ratings, title)
    finally:
        print(f"{table(results)}\n{CHOSEN}\n\n{ratings_table(ratings)}", flush=True)
    return results
