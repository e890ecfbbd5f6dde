"""The leaderboard: ratings of submitted agents, computed from kept games.

    garden leaderboard                  # recompute the ratings
    garden leaderboard --play mars      # first play the missing games

A folder GAME-PLAYERS has a file NAME.toml for each agent (`Entry`), and games.jsonl with the results of their games: a
header line about the game, then one line per arena job, sorted. A line's job and seed are enough to repeat its games. The
ratings depend only on these files, and are written into the page README.md. Computing them runs no code that a file names;
playing imports an entry's module only if the command line names it too.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
import itertools
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.arena import evaluated
from garden_agents.identity import UNSEEN, identity_of, weights_digest
from garden_agents.matches.jobs import CORES, check, digest_of
from garden_agents.matches.meet import Result
from garden_agents.matches.pairs import (
    BLOCK,
    DEALS,
    KEPT_LIMIT,
    Job,
    JobResults,
    KeptJob,
    finished_jobs,
    jobs_of,
)
from garden_agents.networks import SUFFIX
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent, make_game
from garden_agents.untrusted import is_built_in
from garden_core.checks import one_line, short
from garden_core.files import data
from garden_core.files.disk import Lock, read_regular, write_atomically
from garden_core.game import Game
from garden_core.registry import list_games

SEED = 0  # of all games and of the ratings
GAMES = "games.jsonl"
PAGE = "README.md"
PAGE_LIMIT = 1_000_000  # bytes
COLUMNS = ("entry", "rating", "games", "wins against the next", "agent", "author", "date")
_PART = re.compile(r"(?<=<!-- begin ratings -->\n).*?(?=<!-- end ratings -->)", re.DOTALL)
_FOLDER = re.compile(r"(\w+)-([1-9]\d?)")
_FILE = re.compile(r"[\w.-]+")
_CODE = re.compile(r"(?!program:)[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")
_TIMED = re.compile(r".*mcts:[\d.]+s")
_Name = Annotated[str, msgspec.Meta(pattern=r"^[^\s|<>`\[\]]+( [^\s|<>`\[\]]+)*$", max_length=100)]


# --- entries and their games ---


class Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent of the leaderboard."""

    agent: _Name
    """as for `garden arena`: a built-in agent, a network's file next to the entry, or module:attribute"""
    author: _Name
    date: datetime.date
    command: Annotated[str, msgspec.Meta(min_length=1)]
    """command that trained the agent; for an agent that was not trained, the command that plays it"""
    note: str = ""
    games: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100_000
    """largest number of games of a pair, for slow agents"""

    @property
    def is_code(self) -> bool:
        """Whether playing it imports a module that the entry names."""
        return _CODE.fullmatch(self.agent) is not None


class Line(KeptJob):
    """A line of the file of kept games.

    `sources` are digests of the agents' network weights, "" without a network; for agents that are code, digests of
    `garden_agents.identity`, "" in older lines.
    """

    digest: str
    """of the rest of the line and the file's first line"""


@dataclass
class Table:
    """A game with a number of players, its entries by agent, and the finished jobs."""

    folder: Path
    game: Game
    entries: dict[str, Entry]
    files: dict[str, Path]
    """Each agent's entry."""
    done: dict[tuple[str, str, int], Line]
    """By pair and number of the block; a line may have only a part of its block's games."""

    @property
    def head(self) -> dict[str, Any]:
        """The first line of the file of kept games."""
        game = self.game
        return {
            "game": game.name,
            "version": game.version,
            "num_players": game.num_players,
            "seed": SEED,
            "deals": DEALS,
        }

    @functools.cached_property
    def sources(self) -> dict[str, str]:
        """Each agent's digest for its lines; agents that are code are added when they play."""
        digests = {}
        for agent, entry in self.entries.items():
            try:
                if not entry.is_code:
                    digests[agent] = weights_digest(load_agent(agent, self.game))
            except ValueError as error:
                raise ValueError(f"{self.files[agent]}: {one_line(error)}") from None
        return digests

    def line(self, job: Job, played: JobResults) -> Line:
        """Return the line of a finished job."""
        sources = self.sources[job.agent], self.sources[job.opponent]
        return Line(job, sources, played, self.digest(job, sources, played))

    def digest(self, job: Sequence[Any], sources: Sequence[str], played: JobResults) -> str:
        """Return the digest of a line."""
        return digest_of(self.head, job, sources, played.kept).hex()[:16]

    def write(self) -> None:
        """Write the file of kept games."""
        lines = [line for _, line in sorted(self.done.items())]
        rows = [msgspec.structs.asdict(line) | {"played": line.played.kept} for line in lines]
        write_atomically(self.folder / GAMES, msgspec.json.Encoder().encode_lines([self.head, *rows]))


def read_tables(folder: Path) -> list[Table]:
    """Return the tables of a leaderboard.

    Raises:
        ValueError: if a file is damaged, or an entry or a game is not valid; it names file and line.
    """
    tables = []
    for path in sorted(folder.glob("*/")):
        name = _FOLDER.fullmatch(path.name)
        if name is None or name[1] not in list_games():
            raise ValueError(
                f"{path}: a folder is called GAME-PLAYERS, and games are {', '.join(list_games())}"
            )
        try:
            game = make_game(name[1], int(name[2]), {})
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
        if game.num_players < 2:
            raise ValueError(f"{path}: a leaderboard needs at least two players")
        table = Table(path, game, {}, {}, {})
        for file in sorted(path.glob("*.toml")):
            _add_entry(table, file)
        _read_games(table)
        tables.append(table)
    if not tables:
        raise ValueError(
            f"{folder} has no leaderboard; run this in a checkout, or name its folder with --folder"
        )
    return tables


def _add_entry(table: Table, file: Path) -> None:
    if not _FILE.fullmatch(file.name):
        raise ValueError(f"{file}: an entry's name has letters, digits, '.', '_' and '-' only")
    entry = data.load(file, Entry)
    if not (entry.author + entry.command).isprintable():
        raise ValueError(f"{file}: author and command are one line without control characters")
    beside = re.escape(f"{table.folder.as_posix()}/") + _FILE.pattern + rf"{re.escape(SUFFIX)}(-mcts:\d+)?"
    if not (entry.is_code or is_built_in(entry.agent) or re.fullmatch(beside, entry.agent)):
        raise ValueError(
            f"{file}: an agent is a built-in one, module:attribute, or {table.folder.as_posix()}/NAME{SUFFIX}, not {short(entry.agent)}"
        )
    if _TIMED.fullmatch(entry.agent):
        raise ValueError(
            f"{file}: give {entry.agent} simulations, as what it does in a time depends on the machine"
        )
    if entry.agent in table.files:
        raise ValueError(f"{file}: {entry.agent} is the agent of {table.files[entry.agent]} too")
    table.entries[entry.agent], table.files[entry.agent] = entry, file


def _read_games(table: Table) -> None:
    path = table.folder / GAMES
    try:
        content = read_regular(path, KEPT_LIMIT) if path.exists() else msgspec.json.encode(table.head)
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    head, *rest = content.removesuffix(b"\n").split(b"\n")
    if head != msgspec.json.encode(table.head):
        raise ValueError(f"{path}, line 1: it must be {msgspec.json.encode(table.head).decode()}")
    for number, text in enumerate(rest, 2):
        try:
            line = msgspec.json.decode(text, type=Line)
            _check(table, line)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{path}, line {number}: {one_line(error)}") from None
        table.done[line.job[:3]] = line


def _check(table: Table, line: Line) -> None:
    """Raise ValueError unless a line is a new job of two entries, as the arena plays it."""
    *pair, number, games = line.job
    players = table.game.num_players
    unknown = [agent for agent in pair if agent not in table.entries]
    if unknown:
        raise ValueError(f"no entry has the agent {short(unknown[0])}")
    if pair[0] == pair[1] or (players == 2 and pair != sorted(pair)):
        raise ValueError(f"{pair[0]} against {pair[1]} is no pair of this table")
    if number < 0 or not 0 < games < BLOCK + players or games % players or not line.fits(players):
        raise ValueError("the results are not those of a job")
    if line.digest != table.digest(line.job, line.sources, line.played):
        raise ValueError("the digest is not that of these games: the line was changed")
    if line.job[:3] in table.done:
        raise ValueError(f"block {number} of {pair[0]} against {pair[1]} is there twice")


def _outdated(table: Table) -> dict[tuple[str, str, int], str]:
    """Return, by block, an agent that is known to have changed since."""
    return {
        block: agent
        for block, line in table.done.items()
        for agent, source in zip(block[:2], line.sources, strict=True)
        if source != table.sources.get(agent, source)
    }


# --- playing ---


def _play(table: Table, games: int, code: Sequence[str], processes: int) -> None:
    """Play missing games and save each finished job."""
    name, playing = table.folder.name, []
    for agent, entry in sorted(table.entries.items()):
        try:
            if entry.is_code:
                if agent not in code:
                    raise ValueError(f"it is code, which --code {agent} allows to run")
                table.sources[agent] = identity_of(agent, table.game).digest
            playing.append(agent)
        except (ImportError, ValueError) as error:
            print(f"{name}: {agent} is left out: {one_line(error)}", flush=True)
    unseen = {agent for agent, source in table.sources.items() if source.startswith(UNSEEN)}
    outdated = _outdated(table) | {block: each for block in table.done for each in unseen & {*block[:2]}}
    for block in outdated:
        del table.done[block]
    for agent in sorted({*outdated.values()}):
        why = "it can change unseen" if agent in unseen else "they are of another or an unknown version"
        print(f"{name}: the games of {agent} are played again, as {why}", flush=True)
    table.write()
    jobs = []
    for pair in itertools.combinations(playing, 2):
        wanted = min(games, *(table.entries[agent].games for agent in pair))
        jobs += jobs_of(pair, table.game.num_players, wanted)
    played = {block: line.job[3] for block, line in table.done.items()}
    missing = [job for job in jobs if played.get(job[:3], 0) < job.games]
    with (
        progress_bar(total=sum(job.games for job in missing), unit="game", desc=name) as bar,
        contextlib.closing(finished_jobs(table.game, missing, SEED, processes)) as finished,
    ):
        for job, results in finished:
            table.done[job[:3]] = table.line(job, results)
            table.write()
            bar.update(job.games)


# --- the page ---


def rating_table(table: Table) -> str:
    """Return the table of ratings, numbers of games, and win rates against the next agent."""
    if not table.done:
        return "No games yet.\n"
    names = sorted({agent for block in table.done for agent in block[:2]})
    jobs = {block: line.played for block, line in sorted(table.done.items())}
    results, rated = evaluated(names, jobs)
    # Rounded first: the last digits of floating-point numbers differ between machines.
    ratings = sorted((-round(r.rating), r.agent, round(r.uncertainty)) for r in rated)
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    for place, (rating, agent, uncertainty) in enumerate(ratings, 1):
        entry, file = table.entries[agent], table.files[agent]
        cells = [
            f"[{file.stem}](../{table.folder.parent.name}/{table.folder.name}/{file.name})",
            f"{-rating} ± {uncertainty}",
            sum(r.games for r in results if agent in (r.agent, r.opponent)),
            _against(results, agent, ratings[place][1]) if place < len(ratings) else "",
            f"`{agent}`",
            entry.author,
            entry.date,
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    gave_up: Counter[str] = Counter()
    for r in results:
        gave_up.update({r.agent: r.forfeits, r.opponent: r.opponents_forfeits})
    lines += [f"\n`{agent}` gave up {n} of these games, which it lost." for agent, n in gave_up.items() if n]
    return "".join(f"{line}\n" for line in lines)


def _against(results: Sequence[Result], agent: str, opponent: str) -> str:
    """Return an agent's win rate, its interval and the number of games, for one agent among copies of the opponent."""
    for r in results:
        won, (low, high) = r.win_rate, r.interval
        if (r.agent, r.opponent) == (agent, opponent):
            return f"{won:.1%} ({low:.1%} … {high:.1%}) of {r.games}"
        if (r.opponent, r.agent) == (agent, opponent) and len(r.by_seat) == 2:
            return f"{1 - won:.1%} ({1 - high:.1%} … {1 - low:.1%}) of {r.games}"
    return "not played"


# --- the command ---


@dataclass
class Arguments:
    """Compute the leaderboard's ratings from its kept games; with --play, play missing games first."""

    play: str | None = None
    """name of a game: its missing matches are played first, for every number of players that has a table; by default nothing is played"""
    num_players: int | None = None
    """play with this number of players only"""
    games: int = 200
    """games of each pair, fewer if an entry limits them"""
    code: tuple[str, ...] = ()
    """entries module:attribute that may play; their code is run"""
    processes: int = CORES
    """number of processes, which does not change the results; one for each core if not given"""
    check: bool = False
    """write nothing; fail if the tables do not match the kept games"""
    folder: Path = Path("leaderboard")
    """the leaderboard's folder"""


@one_line_errors("stopped; the same command continues, as finished jobs are kept")
def main(arguments: Arguments) -> None:
    """Compute the leaderboard, after playing missing games if requested.

    Raises:
        SystemExit: for arguments or files that are not valid, tables that are not current, or after Ctrl-C.
        RuntimeError: if an agent fails or a process dies.
    """
    a = arguments
    if a.play is not None and a.check:
        raise ValueError("--check writes nothing, so it does not go with --play")
    if a.play is None and (a.num_players is not None or a.code):
        raise ValueError("--num-players and --code say what to --play")
    check(a.games, a.processes)
    # another process that plays would lose the games of this one, or this one its games
    with contextlib.nullcontext() if a.play is None else contextlib.closing(Lock(a.folder)):
        _compute(a)


def _compute(arguments: Arguments) -> None:
    """See `main`."""
    a = arguments
    tables = read_tables(a.folder)
    if a.play is not None:
        chosen = [t for t in tables if t.game.name == a.play and a.num_players in (None, t.game.num_players)]
        if not chosen:
            raise ValueError(f"{a.folder} has {', '.join(t.folder.name for t in tables)}")
        unknown = set(a.code) - {agent for t in chosen for agent, entry in t.entries.items() if entry.is_code}
        if unknown:
            raise ValueError(f"no entry has the agent {', '.join(map(short, sorted(unknown)))}")
        for table in chosen:
            _play(table, a.games, a.code, a.processes)
    for table in tables:
        for agent in _outdated(table).values():
            raise ValueError(
                f"{table.folder / GAMES}: {agent} has another network now than in these games; garden leaderboard "
                f"--play {table.game.name} plays them again"
            )
    page = a.folder / PAGE
    before = read_regular(page, PAGE_LIMIT).decode()
    if len(_PART.findall(before)) != 1:
        raise ValueError(f"{page} must have the lines <!-- begin ratings --> and <!-- end ratings --> once")
    parts = [
        f"\n## {table.game.title}, {table.game.num_players} players\n\n{rating_table(table)}"
        for table in tables
    ]
    after = _PART.sub(lambda _: "".join(parts) + "\n", before)
    if not a.check:
        write_atomically(page, after.encode())
    elif after != before:
        raise ValueError(f"{page} is not current: run garden leaderboard")
