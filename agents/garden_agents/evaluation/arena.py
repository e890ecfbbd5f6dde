"""Round robin between named agents: win rates with 95 % intervals, and ratings.

    garden arena mars random greedy mcts:400 runs/mars-… --games 600 --output arena.json

Every pair plays in all seats equally often. With more than two players an agent sits alone at a table whose other
seats are all taken by its opponent, in each seat in turn; against an equal opponent it would win 1/n of these games.
The games are divided into jobs. A job's seeds depend only on the arena's seed, the two names and the job's number, so
the results depend neither on the number of processes nor on the other agents. With --output every finished job is
saved, and the same command continues after an interruption.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import platform
import shlex
import sys
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np
import tyro

from garden_agents.cluster import connected
from garden_agents.errors import one_line_errors
from garden_agents.evaluation.jobs import CORES, blocks, check, finished
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
KEPT_LIMIT = 500_000_000  # largest size of a file of finished jobs, bytes


# --- jobs ---


class Job(NamedTuple):
    """Some of the games of a pair: block number `block`, of `games` games."""

    agent: str
    opponent: str
    block: int
    games: int


_Number = Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]


class Played(NamedTuple):
    """The results of a job.

    Attributes:
        places: (games, num_players), see `matches.places`.
        scores: (games, num_players), see `matches.scores`.
        forfeits: of each game that was given up its number in the job, and the seat that did.
    """

    places: list[list[_Number]]
    scores: list[list[_Number]]
    forfeits: tuple[tuple[_Number, _Number], ...] = ()

    @property
    def kept(self) -> tuple[Any, ...]:
        """The results as files hold them: without `forfeits` if there are none."""
        return self if self.forfeits else self[:2]

    @property
    def forfeited(self) -> np.ndarray:
        """The seat that gave each game up, -1 for none, int64 (games,)."""
        seats = np.full(len(self.places), -1)
        for game, seat in self.forfeits:
            seats[game] = seat
        return seats


def joined(jobs: Iterable[Played]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return places, scores and `forfeited` of the games of several jobs, one after another."""
    parts = zip(*((played.places, played.scores, played.forfeited) for played in jobs), strict=True)
    placed, points, forfeited = map(np.concatenate, parts)
    return placed, points, forfeited


class Kept(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file of finished jobs; `sources` are digests of the two agents."""

    job: tuple[str, str, int, int]
    sources: tuple[str, str]
    played: Played

    def fits(self, num_players: int) -> bool:
        """Whether places and scores have the job's number of games, and each game's places are possible ones."""
        games, (placed, points, forfeits) = self.job[3], self.played
        whole = len(placed) == len(points) == games and all(
            len(row) == num_players for row in placed + points
        )
        last = num_players - 1
        return (
            whole
            and all(place == sum(p < place for p in row) for row in placed for place in row)
            and len({game for game, _ in forfeits}) == len(forfeits)
            and all(0 <= g < games and 0 <= seat <= last and placed[g][seat] == last for g, seat in forfeits)
        )


def jobs_of(names: Sequence[str], num_players: int, games: int) -> list[Job]:
    """Return the jobs of a round robin with at least `games` games of each pair, all seats taken equally often."""
    pairs = list(itertools.combinations(names, 2))
    if num_players > 2:
        pairs += [(b, a) for a, b in pairs]  # one A among Bs is another game than one B among As
    parts = blocks(games, BLOCK, num_players)
    return [Job(*pair, *part) for pair in pairs for part in parts]


def play_job(game: Game, job: Job, seed: int, allow_other_options: bool = False) -> Played:
    """Play a job with newly made agents; all seeds follow from `seed`, the names and the block's number.

    Sets torch to one thread for the rest of the process, as the number of threads can change a network's last digits.

    Raises:
        RuntimeError: if an agent raises, or answers with an illegal action; it names the agent and its opponent.
    """
    digest = hashlib.sha256(json.dumps([seed, job.agent, job.opponent, job.block]).encode()).digest()
    seeds = [int.from_bytes(digest[i : i + 4]) for i in (8, 12)]
    pair = (job.agent, job.opponent)
    agents = [
        named(f"{name} (against {other})", load_agent(name, game, agent_seed, allow_other_options))
        for name, other, agent_seed in zip(pair, reversed(pair), seeds, strict=True)
    ]
    use_one_torch_thread()
    ended = play(game, agents, alone(job.games, game.num_players), int.from_bytes(digest[:8]))
    forfeits = tuple((int(i), int(ended.forfeited[i])) for i in np.flatnonzero(ended.forfeited >= 0))
    return Played(places(game, *ended).tolist(), scores(game, ended.states).tolist(), forfeits)


def finished_jobs(
    game: Game, jobs: Sequence[Job], seed: int, processes: int, settings: dict[str, Any], address: str | None
) -> Generator[tuple[Job, Played], None, None]:
    """Yield each job with its results when it is finished. Closing the generator stops the processes.

    With `address` they are played on a Ray cluster, again where a worker died.
    """
    if address is None:
        play_one = functools.partial(play_job, game, seed=seed, **settings)
        yield from finished(play_one, jobs, processes, lambda job: f"{job.agent} against {job.opponent}")
        return
    with connected(address):
        import ray

        remote = ray.remote(num_cpus=1, max_retries=RETRIES)(play_job)
        running = {remote.remote(game, job, seed, **settings): job for job in jobs}
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


def rated(names: Sequence[str], placed: Mapping[tuple[str, str], np.ndarray], seed: int) -> list[Rating]:
    """Return ratings from each pair's places, see `joined`."""
    lineups = [
        np.array([names.index(name) for name in pair])[alone(*ranks.shape)] for pair, ranks in placed.items()
    ]
    return rate(names, np.concatenate(lineups), np.concatenate([*placed.values()]), seed)


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

    The results depend on `game`, `names`, `games` and `seed` only. With `processes` > 1 these are spawned, so a script
    that calls this function needs `if __name__ == "__main__":`.

    Args:
        game: the game with its options.
        names: names of the agents, see `garden_agents.registry.load_agent`.
        games: games of each pair, rounded up to a multiple of the number of players.
        seed: seed of the games and of the agents' choices.
        processes: number of processes that share the jobs.
        keep: file of finished jobs, which are not played again, except those of agents that can change unseen
            (`garden_agents.identity`); standard error says which. None for no file.
        allow_other_options: accept networks that were trained with other options or data.
        ray: play on a Ray cluster, in place of processes of this one: its address, or "local".
        unchanged: agents that can change unseen and have not: their finished jobs are not played again.

    Raises:
        ValueError: before any game, for arguments out of range, an unknown agent, a program that does not start, or a
            file `keep` of other games, or of games of an agent that has changed since.
        RuntimeError: if an agent fails or a process dies.
    """
    if game.cooperative or game.num_players < 2:
        raise ValueError("the arena needs a game of at least two players against each other")
    if len(names) < 2:
        raise ValueError("the arena needs at least two agents")
    check(games, processes, names, seed)
    if not set(unchanged) <= set(names):
        raise ValueError(
            f"unchanged names an agent that does not play: {' '.join(set(unchanged) - set(names))}"
        )
    settings = {"allow_other_options": True} if allow_other_options else {}
    agents = {name: identity_of(name, game, **settings) for name in names}
    sources = {name: agent.digest for name, agent in agents.items()}
    jobs = jobs_of(names, game.num_players, games)
    done = {} if keep is None else _kept(keep, game, seed, agents, unchanged)
    missing = [job for job in jobs if job not in done]
    total, left = (sum(job.games for job in some) for some in (jobs, missing))
    with (
        progress_bar(total=total, initial=total - left, unit="game") as bar,
        contextlib.nullcontext() if keep is None else keep.open("a", encoding="utf-8") as file,
        contextlib.closing(finished_jobs(game, missing, seed, processes, settings, ray)) as results_of_jobs,
    ):
        for job, played in results_of_jobs:
            done[job] = played
            if file is not None:
                line = {"job": job, "sources": [sources[name] for name in job[:2]], "played": played.kept}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                file.flush()
            bar.update(job.games)

    results, placed = [], {}
    for pair, of_pair in itertools.groupby(jobs, key=lambda job: job[:2]):
        placed[pair], points, forfeited = joined(done[job] for job in of_pair)
        results.append(result_of(pair, placed[pair], points, forfeited))
    return results, rated(names, placed, seed)


def _kept(
    path: Path, game: Game, seed: int, agents: Mapping[str, Identity], unchanged: Collection[str]
) -> dict[Job, Played]:
    """Return the finished jobs in a file that count; it is made if it is missing: a header line, then one line per job.

    Of several lines of one job the last counts, as jobs of agents that can change unseen are played again.
    """
    advice = f"choose another --output, or delete {path} to start again"
    here = {
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
        lines = text.split("\n")[:-1]  # without an incomplete last line, as a crash leaves it
        lines = lines or [json.dumps(here)]
        first, *rest = map(json.loads, lines)
        there, kept = msgspec.convert(first, dict[str, Any]), msgspec.convert(rest, list[Kept])
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; {advice}") from None
    except (ValueError, RecursionError):
        raise damaged from None
    differ = [
        f"{key} is {checks.short(there.get(key))}, not {here[key]!r}"
        for key in here
        if there.get(key) != here[key]
    ]
    if differ:
        raise ValueError(f"{path} holds other games: {', '.join(differ)}; {advice}")
    done = {}
    again = set()
    for line in kept:
        playing = [
            (name, source) for name, source in zip(line.job[:2], line.sources, strict=True) if name in agents
        ]
        for name, source in playing:
            if agents[name].digest != source:
                raise ValueError(f"{name} has changed since its games in {path} were played; {advice}")
        if not line.fits(game.num_players):
            raise damaged
        unseen = {name for name, _ in playing if agents[name].unseen and name not in unchanged}
        if len(playing) == 2 and unseen:
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
    """Draw the win rates of all pairs as a table, and next to it the ratings; one line for each agent, best first."""
    from matplotlib.colors import TwoSlopeNorm

    n, fair = len(ratings), 1 / len(results[0].by_seat)
    row = {r.agent: i for i, r in enumerate(ratings)}
    cells = {(row[r.agent], row[r.opponent]): (r.win_rate, *r.interval) for r in results}
    if fair == 1 / 2:
        cells |= {(j, i): (1 - won, 1 - high, 1 - low) for (i, j), (won, low, high) in cells.items()}
    rates = np.full((n, n), np.nan)
    for cell, (won, _, _) in cells.items():
        rates[cell] = won
    names = [short(r.agent, 26) for r in ratings]
    width = 0.8 * max(n, 3)
    shape = {"sharey": True, "width_ratios": (width, 3.5)}
    with plot(path, 2, (6 + width, 2.6 + 0.5 * n), **shape) as (left, right):
        image = left.imshow(rates, cmap="RdBu", norm=TwoSlopeNorm(fair, 0, 1), aspect="auto")
        for (i, j), (won, low, high) in cells.items():
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
class Arguments:
    """Play a round robin between agents: win rates and ratings."""

    game: tyro.conf.Positional[str]
    """name of an installed game, or module:Class"""
    agents: tyro.conf.Positional[list[str]]
    """two or more of: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, program:COMMAND"""
    games: int = 600
    """games of each pair, rounded up to a multiple of the number of players"""
    num_players: int | None = None
    """number of players; the game's default if not given"""
    options: dict[str, str] = field(default_factory=dict)
    """other options of the game, name and value in turn, for example --options peaks 2"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    processes: int = CORES
    """number of processes, which does not change the results; one for each core if not given"""
    output: Path | None = None
    """JSON file for the results; finished jobs are kept beside it, in .games.jsonl, and not played again; none if not given"""
    picture: Path | None = None
    """file for a plot of the results, .png, .svg or .pdf; beside --output if not given"""
    allow_other_options: bool = False
    """accept networks that were trained with other options or data"""
    unchanged: tuple[str, ...] = ()
    """agents such as programs, which can change unseen, whose finished jobs are kept as they have not changed"""
    ray: str | None = None
    """play on a Ray cluster, which does not change the results: its address, or "local"; in --processes if not given"""


def _make_room(output: Path | None, drawing: Path | None) -> None:
    """Make the output folders; raise for a file that cannot be written, before any game is played."""
    if drawing is not None and drawing.suffix not in PICTURES:
        raise ValueError(f"a picture ends in {', '.join(PICTURES)}, not {drawing.name!r}")
    for path in (output, drawing):
        if path is not None:
            if path.is_dir():
                raise ValueError(f"{path} is a folder, not a file")
            path.parent.mkdir(parents=True, exist_ok=True)


def main(arguments: Arguments) -> list[Result]:
    """Play the round robin, print its tables and write its files.

    Raises:
        SystemExit: for arguments that are not valid, or after Ctrl-C.
        RuntimeError: if an agent fails or a process dies.
    """
    output, keep, drawing = arguments.output, None, arguments.picture
    with one_line_errors():
        if output is not None:
            keep, drawing = output.with_suffix(".games.jsonl"), drawing or output.with_suffix(".png")
        _make_room(output, drawing)
        game = make_game(arguments.game, arguments.num_players, arguments.options)
    with one_line_errors(f"stopped; the same command continues from {keep}" if keep else "stopped"):
        results, ratings = round_robin(
            game,
            arguments.agents,
            arguments.games,
            arguments.seed,
            arguments.processes,
            keep,
            arguments.allow_other_options,
            arguments.ray,
            arguments.unchanged,
        )
    if output is not None:
        command = ["garden", "arena", arguments.game, *arguments.agents, "--games", str(arguments.games)]
        command += ["--num-players", str(game.num_players)]
        if arguments.options:
            command += ["--options", *itertools.chain(*arguments.options.items())]
        command += ["--seed", str(arguments.seed)]
        if arguments.allow_other_options:
            command.append("--allow-other-options")
        report = {
            "command": shlex.join(command),
            "game": game.name,
            "options": game.shown_options,
            "seed": arguments.seed,
            "results": [asdict(r) for r in results],
            "ratings": [asdict(r) for r in ratings],
            "versions": {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}},
        }
        with one_line_errors():
            write_json(output, report)
    try:  # results are printed even if the picture fails
        if drawing is not None:
            title = f"{game!r}, {results[0].games} games a pair, seed {arguments.seed}"
            with one_line_errors():
                picture(drawing, results, ratings, title)
    finally:
        print(f"{table(results)}\n\n{ratings_table(ratings)}", flush=True)
    return results
