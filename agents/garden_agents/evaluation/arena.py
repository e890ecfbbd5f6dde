"""Round robin between named agents: win rates with 95 % intervals, and ratings.

    garden arena mars random greedy mcts:400 runs/mars-… --games 600 --output arena.json

Every pair plays in all seats equally often. With more than two players, one seat has an agent and all other seats have
its opponent, in each seat in turn; against an equal opponent it would win 1/n of these games. The games are divided into
jobs. A job's seeds depend only on the arena's seed, the two names and the job's number, so the results depend neither on
the number of processes nor on the other agents. With --output every finished job is saved, and the same command continues
after an interruption.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import platform
import shlex
import sys
from collections.abc import Collection, Generator, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import tyro

from garden_agents.cluster import connected
from garden_agents.errors import one_line_errors
from garden_agents.evaluation.jobs import GameArguments, blocks, check, digest_of, finished
from garden_agents.evaluation.matches import (
    Result,
    alone,
    named,
    places,
    play,
    result_of,
    scores,
    short,
    table,
    use_one_torch_thread,
)
from garden_agents.evaluation.plots import plot
from garden_agents.evaluation.ratings import Rating, rate, ratings_table, zero
from garden_agents.identity import Identity, identity_of
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent, make_game
from garden_core import checks
from garden_core.files.disk import read_regular, write_atomically, write_json
from garden_core.game import Game

BLOCK = 50  # games in a job, rounded up to a multiple of the number of players
PICTURES = (".png", ".svg", ".pdf")
PACKAGES = ("garden-envs", "numpy", "numba", "openskill")
RETRIES = 5  # of a job on a Ray cluster whose worker died
KEPT_LIMIT = 500_000_000  # largest file of finished jobs, bytes


# --- jobs ---


class Job(NamedTuple):
    """Block number `block` of a pair's games, with `games` games."""

    agent: str
    opponent: str
    block: int
    games: int


_Number = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class JobResults(NamedTuple):
    """The results of a job.

    Attributes:
        places: (games, num_players), see `matches.places`.
        scores: (games, num_players), see `matches.scores`.
        forfeits: (game, seat) of each game that a seat gave up; the game by its number in the job.
    """

    places: list[list[_Number]]
    scores: list[list[_Number]]
    forfeits: tuple[tuple[_Number, _Number], ...] = ()

    @property
    def kept(self) -> tuple[Any, ...]:
        """The results as in files: without `forfeits` if there are none."""
        return self if self.forfeits else self[:2]

    @property
    def forfeited(self) -> np.ndarray:
        """The seat that gave each game up, -1 for none, int64 (games,)."""
        seats = dict(self.forfeits)
        return np.array([seats.get(game, -1) for game in range(len(self.places))])


class KeptJob(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file of finished jobs; `sources` are digests of the two agents."""

    job: tuple[str, str, int, int]
    sources: tuple[str, str]
    played: JobResults

    def fits(self, num_players: int) -> bool:
        """Whether places and scores have the job's number of games, and the places are possible."""
        games, (placed, points, forfeits) = self.job[3], self.played
        last = num_players - 1
        return (
            len(placed) == len(points) == games
            and all(len(row) == num_players for row in placed + points)
            and all(place == sum(p < place for p in row) for row in placed for place in row)
            and len({game for game, _ in forfeits}) == len(forfeits)
            and all(0 <= g < games and 0 <= seat <= last and placed[g][seat] == last for g, seat in forfeits)
        )


def jobs_of(names: Sequence[str], num_players: int, games: int) -> list[Job]:
    """Return the jobs of a round robin with at least `games` games of each pair, all seats taken equally often."""
    pairs = list(itertools.combinations(names, 2))
    if num_players > 2:
        pairs += [(b, a) for a, b in pairs]  # one A among Bs differs from one B among As
    return [Job(*pair, *block) for pair in pairs for block in blocks(games, BLOCK, num_players)]


def play_job(game: Game, job: Job, seed: int, allow_other_options: bool = False) -> JobResults:
    """Play a job with new agents; all seeds follow from `seed`, the names and the block's number.

    Sets torch to one thread, see `use_one_torch_thread`.

    Raises:
        RuntimeError: if an agent raises an exception or returns an illegal action; it names the agent and its opponent.
    """
    digest = digest_of(seed, *job[:3])
    seeds = [int.from_bytes(digest[i : i + 4]) for i in (8, 12)]
    pair = (job.agent, job.opponent)
    agents = [
        named(f"{name} (against {other})", load_agent(name, game, agent_seed, allow_other_options))
        for name, other, agent_seed in zip(pair, reversed(pair), seeds, strict=True)
    ]
    use_one_torch_thread()
    lineups = alone(job.games, game.num_players)
    states, forfeited, _ = play(game, agents, lineups, int.from_bytes(digest[:8]))
    forfeits = tuple((i, seat) for i, seat in enumerate(forfeited.tolist()) if seat >= 0)
    return JobResults(places(game, states, forfeited).tolist(), scores(game, states).tolist(), forfeits)


def finished_jobs(
    game: Game,
    jobs: Sequence[Job],
    seed: int,
    processes: int,
    allow_other_options: bool = False,
    address: str | None = None,
) -> Generator[tuple[Job, JobResults], None, None]:
    """Yield each job with its results when it is finished. Closing the generator stops the processes.

    With `address` the jobs run on a Ray cluster; a job whose worker died is repeated.
    """
    if address is None:
        play_one = functools.partial(play_job, game, seed=seed, allow_other_options=allow_other_options)
        yield from finished(play_one, jobs, processes, lambda job: f"{job.agent} against {job.opponent}")
        return
    with connected(address):
        import ray

        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(play_job)
        running = {remote.remote(game, job, seed, allow_other_options): job for job in jobs}
        try:
            while running:
                (done, *_), _ = ray.wait(list(running), num_returns=1)
                played = ray.get(done)
                yield running.pop(done), played
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None
        finally:
            for reference in running:
                ray.cancel(reference, force=True)


def evaluated(
    names: Sequence[str], jobs: Mapping[Any, JobResults], seed: int
) -> tuple[list[Result], list[Rating]]:
    """Return the results of each pair, and the ratings of `names`.

    Args:
        names: names of the agents.
        jobs: finished jobs by agent, opponent and block, the jobs of a pair one after another.
        seed: seed of the ratings.
    """
    results, lineups, placed = [], [], []
    for pair, of_pair in itertools.groupby(jobs, key=lambda job: job[:2]):
        parts = [
            (played.places, played.scores, played.forfeited) for played in map(jobs.__getitem__, of_pair)
        ]
        ranks, points, forfeited = map(np.concatenate, zip(*parts, strict=True))
        results.append(result_of(pair, ranks, points, forfeited))
        lineups.append(np.array([*map(names.index, pair)])[alone(*ranks.shape)])
        placed.append(ranks)
    return results, rate(names, np.concatenate(lineups), np.concatenate(placed), seed)


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
    if game.cooperative or game.num_players < 2:
        raise ValueError("the arena needs a game of at least two players against each other")
    if len(names) < 2:
        raise ValueError("the arena needs at least two agents")
    check(games, processes, names, seed)
    if strangers := set(unchanged) - set(names):
        raise ValueError(f"unchanged names an agent that does not play: {' '.join(strangers)}")
    agents = {name: identity_of(name, game, allow_other_options) for name in names}
    jobs = jobs_of(names, game.num_players, games)
    done = {} if keep is None else _kept(keep, game, seed, agents, unchanged)
    missing = [job for job in jobs if job not in done]
    total, left = (sum(job.games for job in some) for some in (jobs, missing))
    with (
        progress_bar(total=total, initial=total - left, unit="game") as bar,
        open(keep or os.devnull, "a", encoding="utf-8") as file,
        contextlib.closing(
            finished_jobs(game, missing, seed, processes, allow_other_options, ray)
        ) as results_by_job,
    ):
        for job, played in results_by_job:
            done[job] = played
            sources = [agents[name].digest for name in job[:2]]
            line = {"job": job, "sources": sources, "played": played.kept}
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            file.flush()
            bar.update(job.games)

    return evaluated(names, {job: done[job] for job in jobs}, seed)


def _kept(
    path: Path, game: Game, seed: int, agents: Mapping[str, Identity], unchanged: Collection[str]
) -> dict[Job, JobResults]:
    """Return the valid finished jobs of a file: a header line, then one line per job. Create the file if it is missing.

    The last line of a job counts, as jobs of agents that can change unseen are repeated.
    """
    advice = f"choose another --output, or delete {path} to start again"
    header = {
        "game": game.name,
        **{f"option {key}": value for key, value in game.option_values.items()},
        "data": game.data_digest,
        "rules": game.state_dtype.descr[-1][0],
        "seed": seed,
        "garden-envs": version("garden-envs"),
    }
    damaged = ValueError(f"{path} is damaged, or no file of finished jobs; {advice}")
    try:
        text = read_regular(path, KEPT_LIMIT).decode() if path.exists() else ""
        lines = text.split("\n")[:-1]  # without an incomplete last line after a crash
        lines = lines or [json.dumps(header)]
        first, *rest = map(json.loads, lines)
        written, kept = msgspec.convert(first, dict[str, Any]), msgspec.convert(rest, list[KeptJob])
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; {advice}") from None
    except (ValueError, RecursionError):
        raise damaged from None
    differ = [
        f"{key} is {checks.short(written.get(key))}, not {value!r}"
        for key, value in header.items()
        if written.get(key) != value
    ]
    if differ:
        raise ValueError(f"{path} holds other games: {', '.join(differ)}; {advice}")
    done = {}
    again = set()
    for line in kept:
        pair = [name for name in line.job[:2] if name in agents]
        for name, source in zip(line.job[:2], line.sources, strict=True):
            if name in agents and agents[name].digest != source:
                raise ValueError(f"{name} has changed since its games in {path} were played; {advice}")
        if not line.fits(game.num_players):
            raise damaged
        unseen = {name for name in pair if agents[name].unseen and name not in unchanged}
        if len(pair) == 2 and unseen:
            again |= unseen
        else:
            done[Job(*line.job)] = line.played
    for name in sorted(again):
        print(
            f"{name} can change unseen, as {agents[name].unseen}: its games in {path} are played again; "
            f"--unchanged {shlex.quote(name)} keeps them",
            file=sys.stderr,
        )
    write_atomically(path, "".join(f"{line}\n" for line in lines).encode())
    return done


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
    names = [short(r.agent, 26) for r in ratings]
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
        right.set_xlabel(f"rating ± 2 sigma on Elo's scale, {zero(ratings)} = 0")
        right.tick_params(left=False, labelleft=False)
        right.margins(x=0.12)
        for axes in (left, right):
            axes.spines[:].set_visible(False)
        title += f"\nwin rates with 95 % intervals; equals win {fair:.0%}"
        left.figure.suptitle(title, x=0.01, ha="left", size=11)


@dataclass
class Arguments(GameArguments):
    """Play a round robin between agents: win rates and ratings."""

    agents: tyro.conf.Positional[list[str]]
    """two or more of: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, program:COMMAND"""
    games: int = 600
    """games of each pair, rounded up to a multiple of the number of players"""
    output: Path | None = None
    """JSON file for the results, by default none; finished jobs are kept next to it in .games.jsonl and not repeated"""
    picture: Path | None = None
    """file for a plot of the results, .png, .svg or .pdf; next to --output if not given"""
    unchanged: tuple[str, ...] = ()
    """agents that can change unseen, such as programs, but have not changed: their finished jobs are kept"""
    ray: str | None = None
    """address of a Ray cluster, or "local"; by default --processes is used; the results are the same"""


def _make_folders(output: Path | None, drawing: Path | None) -> None:
    """Create the folders of the output files.

    Raises:
        ValueError: for a file that cannot be written.
    """
    if drawing is not None and drawing.suffix not in PICTURES:
        raise ValueError(f"a picture ends in {', '.join(PICTURES)}, not {drawing.name!r}")
    for path in filter(None, (output, drawing)):
        if path.is_dir():
            raise ValueError(f"{path} is a folder, not a file")
        path.parent.mkdir(parents=True, exist_ok=True)


def main(arguments: Arguments) -> list[Result]:
    """Play the round robin, print its tables and write its files.

    Raises:
        SystemExit: for arguments that are not valid, or after Ctrl-C.
        RuntimeError: if an agent fails or a process dies.
    """
    a, output = arguments, arguments.output
    with one_line_errors():
        keep = output and output.with_suffix(".games.jsonl")
        drawing = a.picture or (output and output.with_suffix(".png"))
        _make_folders(output, drawing)
        game = make_game(a.game, a.num_players, a.options)
    with one_line_errors(f"stopped; the same command continues from {keep}" if keep else "stopped"):
        results, ratings = round_robin(
            game, a.agents, a.games, a.seed, a.processes, keep, a.allow_other_options, a.ray, a.unchanged
        )
    if output is not None:
        options = ["--options", *itertools.chain(*a.options.items())] if a.options else []
        command = [
            "garden",
            "arena",
            a.game,
            *a.agents,
            "--games",
            a.games,
            "--num-players",
            game.num_players,
        ]
        command += [*options, "--seed", a.seed, *["--allow-other-options"] * a.allow_other_options]
        report = {
            "command": shlex.join(map(str, command)),
            "game": game.name,
            "options": game.shown_options,
            "seed": a.seed,
            "results": [asdict(r) for r in results],
            "ratings": [asdict(r) for r in ratings],
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        }
        with one_line_errors():
            write_json(output, report)
    try:  # results are printed even if the picture fails
        if drawing is not None:
            with one_line_errors():
                picture(
                    drawing, results, ratings, f"{game!r}, {results[0].games} games a pair, seed {a.seed}"
                )
    finally:
        print(f"{table(results)}\n\n{ratings_table(ratings)}", flush=True)
    return results
