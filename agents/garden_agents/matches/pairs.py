"""Games between agents, in jobs that run on processes and are kept in a file."""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import platform
import shlex
import sys
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import numpy as np

from garden_agents.errors import one_line_errors
from garden_agents.identity import Identity, identity_of
from garden_agents.matches.jobs import GameArguments, blocks, differences, digest_of, finished
from garden_agents.matches.meet import alone, deal_seeds, places, play, scores, use_one_torch_thread
from garden_agents.matches.mixed import groups_of, seatings
from garden_agents.networks.variants import with_card_set
from garden_agents.registry import load_agent, make_game
from garden_core.batch.policies import Policy
from garden_core.checks import as_seed
from garden_core.files.disk import Lock, read_regular, write_json
from garden_core.game import Game

BLOCK = 50  # games in a job, rounded up to a multiple of the number of players
KEPT_LIMIT = 500_000_000  # largest file of finished jobs, bytes
DEALS = "one for all seats"  # how lineups share deals, in files of games
PICTURES = (".png", ".svg", ".pdf")


class Job(NamedTuple):
    """Block number `block` of the games of some agents, with `games` games.

    Two agents: the first among copies of the second. More, one for each seat: mixed games (`garden_agents.matches.mixed`).
    """

    agents: tuple[str, ...]
    block: int
    games: int

    @property
    def opponent(self) -> str:
        """The second agent."""
        return self.agents[1]

    def lineups(self, num_players: int) -> np.ndarray:
        """Return each seat's agent in each game, int (games, num_players), as an index into `agents`."""
        if len(self.agents) == 2:
            return alone(self.games, num_players)
        ((_, size),) = blocks(BLOCK, BLOCK, num_players)
        return seatings(self.games, num_players, self.block * size // num_players)


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


DEALS_EACH = 5
"""Successive deals of a job that have the same cards."""


def on_card_sets(
    game: Game, job: Job, cards: Sequence[int], play_part: Callable[[Game, Job], JobResults]
) -> JobResults:
    """Play a job in parts of `DEALS_EACH` deals, each with other cards; return the results of all.

    Args:
        game: the game.
        job: the job.
        cards: seeds of the card sets; successive parts have successive ones.
        play_part: plays a part.

    Raises:
        ValueError: for more games than a block has, as the next block would play some of them again.
    """
    size = DEALS_EACH * game.num_players
    parts = -(-BLOCK // size)  # of a whole block
    if job.games > parts * size:
        raise ValueError(f"a job on card sets has at most {parts * size} games, not {job.games}")
    whole = JobResults([], [])
    for i, first in enumerate(range(0, job.games, size)):
        part = Job(job.agents, job.block * parts + i, min(size, job.games - first))
        played = play_part(with_card_set(game, cards[part.block % len(cards)]), part)
        gave_up = tuple((first + number, seat) for number, seat in played.forfeits)
        whole = JobResults(
            whole.places + played.places, whole.scores + played.scores, whole.forfeits + gave_up
        )
    return whole


class KeptJob(msgspec.Struct, forbid_unknown_fields=True):
    """A line of the file of finished jobs; `sources` are digests of the agents."""

    job: Job
    sources: tuple[str, ...]
    played: JobResults

    def fits(self, num_players: int) -> bool:
        """Whether the number of agents is possible, places and scores have the job's number of games, and places are possible."""
        games, (placed, points, forfeits) = self.job.games, self.played
        last = num_players - 1
        return (
            len(self.sources) == len(self.job.agents) in (2, num_players)
            and len(placed) == len(points) == games
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
    return [Job(pair, *block) for pair in pairs for block in blocks(games, BLOCK, num_players)]


def mixed_jobs(names: Sequence[str], num_players: int, games: int) -> list[Job]:
    """Return the jobs of at least `games` mixed games of each group, all seats taken equally often."""
    groups = groups_of(names, num_players)
    return [Job(group, *block) for group in groups for block in blocks(games, BLOCK, num_players)]


def play_job(
    game: Game,
    job: Job,
    seed: int,
    allow_other_options: bool = False,
    same_agents: bool = False,
    unnamed: str = "",
    cards: Sequence[int] = (),
) -> JobResults:
    """Play a job with new agents; all seeds follow from `seed`, the names except `unnamed`, and the block's number.

    With `same_agents` the agents' own seeds do not depend on the block, so that all blocks are games of the same two agents;
    those that have a method `reseed` draw other random numbers in each block.

    With `cards` the games have generated cards of these seeds, see `on_card_sets`, and the agents are new ones for each card set.

    Raises:
        RuntimeError: if an agent raises an exception or returns an illegal action; it names the agent and its opponents.
    """
    if cards:
        play_part = functools.partial(
            play_job,
            seed=seed,
            allow_other_options=allow_other_options,
            same_agents=same_agents,
            unnamed=unnamed,
        )
        return on_card_sets(game, job, cards, play_part)
    names = ["" if name == unnamed else name for name in job.agents]
    digest = digest_of(seed, *names, job.block)
    made = digest_of(seed, *names) if same_agents else digest
    agents = []
    for i, name in enumerate(job.agents, 2):
        own = made[4 * i : 4 * i + 4] or digest_of(made.hex(), i)[:4]  # a digest has room for six
        agents.append(load_agent(name, game, int.from_bytes(own), allow_other_options))
    if same_agents:
        rows = np.arange(job.games)
        for number, agent in enumerate(agents):
            start = int.from_bytes(digest[16 + 8 * number : 24 + 8 * number])
            reseed: Any = getattr(agent, "reseed", None)
            if reseed:
                reseed(rows, np.uint64(start) + rows.astype(np.uint64))
    return play_block(game, job, agents, int.from_bytes(digest[:8]))


def play_block(
    game: Game,
    job: Job,
    agents: Sequence[Policy],
    seed: int,
    on_finished: Callable[[int], object] | None = None,
) -> JobResults:
    """Play a job's games with its agents, in deals that follow from `seed`; `on_finished` as in `meet.play`.

    Sets torch to one thread, see `use_one_torch_thread`. Raises as `play_job`.
    """
    (played,) = play_blocks(game, {job: (agents[1:], seed)}, agents[0], on_finished)
    return played


def play_blocks(
    game: Game,
    jobs: Mapping[Job, tuple[Sequence[Policy], int]],
    agent: Policy,
    on_finished: Callable[[int], object] | None = None,
) -> list[JobResults]:
    """Play the games of several jobs of an agent at once, as `play_block`; `jobs` are the other agents and the seed of each."""
    use_one_torch_thread()
    n, lineups, seeds, agents, names = game.num_players, [], [], [agent], [""]
    for job, (others, seed) in jobs.items():
        lineups.append(np.array([0, *range(len(agents), len(agents) + len(others))])[job.lineups(n)])
        seeds += deal_seeds(seed, job.games // n)
        agents += others
        for i, name in enumerate(job.agents[1:], 1):
            names.append(f"{name} (against {' and '.join(job.agents[:i] + job.agents[i + 1 :])})")
    against = [name for job in jobs for name in job.agents[1:]]
    names[0] = f"{next(iter(jobs)).agents[0]} (against {' and '.join(against)})"
    finished = play(game, agents, np.concatenate(lineups), seeds, on_finished, n, names)
    results, first = [], 0
    for job in jobs:
        rows = slice(first, first := first + job.games)
        states, forfeited = finished.states[rows], finished.forfeited[rows]
        forfeits = tuple((i, seat) for i, seat in enumerate(forfeited.tolist()) if seat >= 0)
        placed = places(game, states, forfeited).tolist()
        results.append(JobResults(placed, scores(game, states).tolist(), forfeits))
    return results


def finished_jobs(
    game: Game,
    jobs: Sequence[Job],
    seed: int,
    processes: int,
    allow_other_options: bool = False,
    **how: Any,
) -> Generator[tuple[Job, JobResults], None, None]:
    """Yield each job with its results when it is finished; `how` are arguments of `play_job`. Closing the generator stops the
    processes.
    """
    play_one = functools.partial(play_job, game, seed=seed, allow_other_options=allow_other_options, **how)
    return finished(play_one, jobs, processes, lambda job: " against ".join(job.agents))


class Games:
    """Finished jobs of agents in a game, in `done`. With a file `keep` they are kept and not repeated.

    Jobs of agents that can change unseen (`garden_agents.identity`) are repeated; standard error lists them.

    Args:
        game: the game with its options.
        names: names of the agents, see `garden_agents.registry.load_agent`.
        seed: seed of the games and of the agents' choices.
        keep: file of finished jobs; None for no file.
        allow_other_options: accept networks that were trained with other options or data.
        unchanged: agents that can change unseen but have not changed: their finished jobs are not repeated.
        same_agents, unnamed, cards: see `play_job`.

    Raises:
        ValueError: for arguments out of range, an unknown agent, a program that does not start, or a file `keep` of other
            games or of an agent that has changed since.
    """

    def __init__(
        self,
        game: Game,
        names: Sequence[str],
        seed: int = 0,
        keep: Path | None = None,
        allow_other_options: bool = False,
        unchanged: Collection[str] = (),
        same_agents: bool = False,
        unnamed: str = "",
        cards: Sequence[int] = (),
    ) -> None:
        if game.cooperative or game.num_players < 2:
            raise ValueError("agents are compared in a game of at least two players against each other")
        if len(names) < 2:
            raise ValueError("at least two agents must be named")
        if len(set(names)) < len(names):
            raise ValueError(f"an agent is named twice: {' '.join(names)}")
        as_seed(seed)
        if strangers := set(unchanged) - set(names):
            raise ValueError(f"unchanged names an agent that does not play: {' '.join(strangers)}")
        self.game, self.seed, self.keep, self.allow_other_options = game, seed, keep, allow_other_options
        self.cards = cards
        self.how: dict[str, Any] = {"same_agents": same_agents, "unnamed": unnamed, "cards": cards}
        self.agents = {name: identity_of(name, game, allow_other_options) for name in names}
        if keep is not None:
            keep.touch()
            self._lock = Lock(keep)
        games = ({"agents": "the same in all blocks"} if same_agents else {}) | (
            {"card sets": [*cards]} if cards else {}
        )
        self.done = {} if keep is None else _kept(keep, game, seed, self.agents, unchanged, games)

    def play(self, jobs: Sequence[Job], processes: int = 1) -> Generator[Job, None, None]:
        """Play the jobs that are missing in `done`; yield each when it is finished and kept. See `finished_jobs`.

        Raises:
            RuntimeError: if an agent fails or a process dies.
        """
        missing = [job for job in jobs if job not in self.done]
        played_jobs = finished_jobs(
            self.game, missing, self.seed, processes, self.allow_other_options, **self.how
        )
        with (
            open(self.keep or os.devnull, "a", encoding="utf-8") as file,
            contextlib.closing(played_jobs) as results_by_job,
        ):
            for job, played in results_by_job:
                sources = [self.agents[name].digest for name in job.agents]
                line = {"job": job, "sources": sources, "played": played.kept}
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                file.flush()
                self.done[job] = played
                yield job


def _kept(
    path: Path,
    game: Game,
    seed: int,
    agents: Mapping[str, Identity],
    unchanged: Collection[str],
    how: Mapping[str, Any],
) -> dict[Job, JobResults]:
    """Return the valid finished jobs of a file: a header line, then one line per job. Write the header of an empty file.

    The last line of a job counts, as jobs of agents that can change unseen are repeated.
    """
    advice = f"choose another --output, or delete {path} to start again"
    header = {
        "game": game.name,
        **{f"option {key}": value for key, value in game.option_values.items()},
        "data": game.data_digest,
        "rules": game.state_dtype.descr[-1][0],
        "seed": seed,
        "deals": DEALS,
        **how,
        "garden-envs": version("garden-envs"),
    }
    damaged = ValueError(f"{path} is damaged, or no file of finished jobs; {advice}")
    try:
        text = read_regular(path, KEPT_LIMIT).decode()
        lines = text.split("\n")[:-1]  # without an incomplete last line after a crash
        lines = lines or [json.dumps(header)]
        first, *rest = map(json.loads, lines)
        written, kept = msgspec.convert(first, dict[str, Any]), msgspec.convert(rest, list[KeptJob])
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; {advice}") from None
    except (ValueError, RecursionError):
        raise damaged from None
    if differ := differences(written, header):
        raise ValueError(f"{path} holds other games: {', '.join(differ)}; {advice}")
    done = {}
    again = set()
    for line in kept:
        if not line.fits(game.num_players):
            raise damaged
        named = [name for name in line.job.agents if name in agents]
        for name, source in zip(line.job.agents, line.sources, strict=True):
            if name in agents and agents[name].digest != source:
                raise ValueError(f"{name} has changed since its games in {path} were played; {advice}")
        unseen = {name for name in named if agents[name].unseen and name not in unchanged}
        if len(named) == len(line.job.agents) and unseen:
            again |= unseen
        else:
            done[line.job] = line.played
    for name in sorted(again):
        print(
            f"{name} can change unseen, as {agents[name].unseen}: its games in {path} are played again; "
            f"--unchanged {shlex.quote(name)} keeps them",
            file=sys.stderr,
        )
    whole = "".join(f"{line}\n" for line in lines)
    if text.startswith(whole):  # in place, as this process holds the file
        os.truncate(path, len(whole.encode()))
    else:
        path.write_bytes(whole.encode())
    return done


# --- the commands' arguments and output ---


class _Row(msgspec.Struct):
    """An agent, or two, in a file of results."""

    agent: str
    opponent: str = ""


class _Report(msgspec.Struct):
    """A file of results, of which the arena has several and a comparison has one."""

    command: str
    results: list[_Row] = []
    result: _Row | None = None


def _names_in(path: Path, command: str) -> set[str]:
    """Return the names of the agents whose results are in a file of a command."""
    other = ValueError(f"{path} has no results of garden {command}; choose another --output")
    try:
        report = msgspec.json.decode(read_regular(path, KEPT_LIMIT), type=_Report)
    except (msgspec.MsgspecError, RecursionError):
        raise other from None
    if not report.command.startswith(f"garden {command} "):
        raise other
    rows = [*report.results, *filter(None, [report.result])]
    return {name for row in rows for name in (row.agent, row.opponent)} - {""}


@dataclass
class PairArguments(GameArguments):
    """Agents that play against each other, and files for the results."""

    _: KW_ONLY
    output: Path | None = None
    """JSON file for the results, by default none; finished jobs are kept next to it in .games.jsonl and not repeated"""
    picture: Path | None = None
    """file for a plot of the results, .png, .svg or .pdf; next to --output if not given"""
    unchanged: tuple[str, ...] = ()
    """agents that can change unseen, such as programs, but have not changed: their finished jobs are kept"""

    @property
    def keep(self) -> Path | None:
        """File of finished jobs."""
        return self.output and self.output.with_suffix(".games.jsonl")

    @property
    def drawing(self) -> Path | None:
        """File of the plot."""
        return self.picture or (self.output and self.output.with_suffix(".png"))

    @property
    def stopped(self) -> str:
        """What to print after Ctrl-C."""
        return f"stopped; the same command continues from {self.keep}" if self.keep else "stopped"

    @one_line_errors()
    def prepare(self, command: str, names: Collection[str]) -> Game:
        """Create the folders of the files, and return the game.

        Args:
            command: the command's name.
            names: names of the agents that play.

        Raises:
            SystemExit: for a file that cannot be written or has other results than those of `command`, or results of other
                agents, and for an unknown game or option.
        """
        if self.drawing is not None and self.drawing.suffix not in PICTURES:
            raise ValueError(f"a picture ends in {', '.join(PICTURES)}, not {self.drawing.name!r}")
        for path in filter(None, (self.output, self.drawing)):
            if path.is_dir():
                raise ValueError(f"{path} is a folder, not a file")
            path.parent.mkdir(parents=True, exist_ok=True)
        if self.output is not None and self.output == self.drawing:
            raise ValueError(f"{self.output} cannot be both the results' file and the picture")
        if self.output is not None and self.output.suffix != ".json":
            raise ValueError(f"--output is a file .json, not {self.output.name!r}")
        if self.output is not None and self.output.exists():
            others = _names_in(self.output, command) - set(names)
            if others and not (self.keep and self.keep.exists()):
                raise ValueError(
                    f"{self.output} has results of {', '.join(sorted(others))}, which would be lost, as {self.keep} with the games "
                    "is missing; name these agents too, or choose another --output"
                )
        return make_game(self.game, self.num_players, self.options)

    @one_line_errors()
    def write(
        self, game: Game, words: Sequence[object], found: Mapping[str, Any], packages: Sequence[str]
    ) -> None:
        """Write the JSON file, if there is one.

        Args:
            game: the game.
            words: the command's own words.
            found: the results.
            packages: packages on whose versions the results depend.

        Raises:
            SystemExit: if the file cannot be written.
        """
        if self.output is None:
            return
        options = ["--options", *itertools.chain(*self.options.items())] if self.options else []
        shared = ["--num-players", game.num_players, *options, "--seed", self.seed]
        others = ["--allow-other-options"] * self.allow_other_options
        report = {
            "command": shlex.join(map(str, ["garden", *words, *shared, *others])),
            "game": game.name,
            "options": game.shown_options,
            "seed": self.seed,
            **found,
            "versions": {"python": platform.python_version(), **{name: version(name) for name in packages}},
        }
        write_json(self.output, report)
