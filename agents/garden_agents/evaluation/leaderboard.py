"""The leaderboard: scores of submitted agents on the benchmark's scale.

    garden leaderboard                            # write the tables
    garden leaderboard --replay cacti-2/greedy    # play some games of an entry again

The folder of a task has two files for each entry: NAME.json, which `garden score` wrote, and NAME.toml (`Description`). An agent is
scored once, against the frozen field of the task, so entries do not change each other. Scores are computed again from the results
of their games. This runs no code that a file names; a replay runs an agent that is code only if the command line names it too.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import math
import random
import re
import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec

from garden_agents.errors import one_line_errors
from garden_agents.evaluation import score
from garden_agents.evaluation.score import Score
from garden_agents.evaluation.score_command import table as table_of_score
from garden_agents.evaluation.tasks import field_of, task_of, tasks
from garden_agents.identity import weights_digest
from garden_agents.matches.jobs import CORES, check
from garden_agents.networks import SUFFIX
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_agents.untrusted import is_built_in
from garden_core.checks import one_line, short
from garden_core.files import data
from garden_core.files.disk import read_regular, write_atomically

PAGE = "README.md"
LIMIT = 1_000_000  # bytes of the page, and of a score
REPLAYED = 0.05  # share of an entry's blocks
COLUMNS = ("entry", "rating", "95 % interval", "games", "wins against `greedy`", "agent", "author", "date")
_PART = re.compile(r"(?<=<!-- begin ratings -->\n).*?(?=<!-- end ratings -->)", re.DOTALL)
_FILE = re.compile(r"\w[\w.-]*")
_TEXT = r"[^\s|<>`\[\]]+( [^\s|<>`\[\]]+)*"
_CODE = re.compile(r"(program(\*\d+)?(@[\d.]+s)?|openai):.+|[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\?.+)?")


class Description(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file NAME.toml, which describes an entry."""

    author: Annotated[str, msgspec.Meta(pattern=f"^{_TEXT}$", max_length=100)]
    date: datetime.date
    command: Annotated[str, msgspec.Meta(min_length=1)]
    """command that trained the agent; for an agent that was not trained, the command that plays it"""
    note: str = ""
    tuned_on_field: bool = False
    """whether games against the field were used to choose settings or checkpoints"""
    decisions: Annotated[int, msgspec.Meta(ge=0)] | None = None
    """number of decisions that it learned from"""
    knowledge: bool | None = None
    """whether it uses knowledge of the game (features, look-ahead, imitation of `greedy`), not the plain observation alone"""


class Entry(NamedTuple):
    """An entry: its file NAME.toml, the content of this file, and the score that its results make."""

    file: Path
    description: Description
    score: Score

    @property
    def name(self) -> str:
        """Its name, such as "cacti-2/greedy"."""
        return f"{self.score.task}/{self.file.stem}"


# --- files ---


def read_entries(folder: Path) -> dict[str, list[Entry]]:
    """Return the entries of a leaderboard by task, best first.

    Raises:
        ValueError: if a file is damaged or not valid; it names the file.
    """
    entries = {}
    for path in sorted(folder.glob("*/")):
        if path.name not in tasks():
            raise ValueError(f"{path}: folders have the names of tasks, which are {', '.join(tasks())}")
        names = {file.stem for file in path.iterdir() if file.suffix in (".toml", ".json")}
        found = [_read_entry(path, name) for name in sorted(names)]
        entries[path.name] = sorted(found, key=lambda entry: -entry.score.rating)
    if not any(entries.values()):
        raise ValueError(f"{folder} has no entries; run this in a checkout, or name its folder with --folder")
    return entries


def _read_entry(folder: Path, name: str) -> Entry:
    if not _FILE.fullmatch(name):
        raise ValueError(f"{folder}: a file's name has letters, digits, '.', '_' and '-', not {short(name)}")
    file, scored = folder / f"{name}.toml", folder / f"{name}.json"
    description = data.load(file, Description)
    if not (description.author + description.command).isprintable():
        raise ValueError(f"{file}: author and command are one line without control characters")
    try:
        return Entry(file, description, _score(json.loads(read_regular(scored, LIMIT)), folder))
    except OSError as error:
        raise ValueError(f"{scored} cannot be read: {error.strerror}") from None
    except (KeyError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{scored}: {one_line(error)}") from None


def _score(content: Any, folder: Path) -> Score:
    """Return the score that the results in a file make.

    Raises:
        ValueError: if they are not possible, or the file says something else.
    """
    low, high = msgspec.convert(content["interval"], tuple[float | None, float | None])
    ends = -math.inf if low is None else low, math.inf if high is None else high
    written = msgspec.convert(content | {"interval": ends}, Score)
    if content.keys() - {"text_agent", "counts"} != {
        "weights",
        "garden-envs",
        *(field.name for field in fields(Score)),
    }:
        raise ValueError("it is not as garden score wrote it")
    field, game = field_of(folder.name), task_of(folder.name).make()
    if (written.task, written.version) != (field.task, field.version):
        raise ValueError(
            f"it is of {short(written.task)}, version {written.version}, not {field.task}, version {field.version}: score the agent again"
        )
    _check_agent(written.agent, folder)
    code = _CODE.fullmatch(written.agent)
    if not code and weights_digest(load_agent(written.agent, game)) != content["weights"]:
        raise ValueError(f"{written.agent} has another network now: score it again")
    if written.seed:
        raise ValueError(f"its seed must be 0, the default, not {short(written.seed)}")
    opponents = (
        {m.agent for m in field.members} if code else {*score.opponents_of(written.agent, field, game)}
    )
    if written.results.keys() != opponents:
        raise ValueError(f"its opponents are not the field of {field.task}: score the agent again")
    if not score.possible(field, written.results, game.num_players):
        raise ValueError("the results are not those of a score")
    found = score.placed(written.agent, field, written.results, game.num_players, written.seed)
    if table_of_score(written) != table_of_score(found):  # which are rounded: last digits can differ
        raise ValueError(f"by its results, it must say {table_of_score(found).splitlines()[0]}")
    return found


def _check_agent(agent: str, folder: Path) -> None:
    """Raise ValueError unless an agent can be entered; its network must be in the folder."""
    own = rf"({re.escape(folder.as_posix())}/{_FILE.pattern}{re.escape(SUFFIX)})(-mcts:\d{{1,4}})?"
    network = re.fullmatch(own, agent)
    code = _CODE.fullmatch(agent) and re.fullmatch(_TEXT, agent) and agent.isprintable() and len(agent) <= 200
    if not (network or is_built_in(agent) or code):
        raise ValueError(
            f"an agent is a built-in one, {folder.as_posix()}/NAME{SUFFIX}, module:attribute, program:COMMAND or openai:MODEL, "
            f"not {short(agent)}"
        )
    if network and not Path(network[1]).is_file():
        raise ValueError(f"there is no file {network[1]}")
    if is_built_in(agent) and agent.endswith("s"):
        raise ValueError(f"give {agent} simulations: how much it searches in a time depends on the machine")


# --- the page ---


def table(entries: Sequence[Entry]) -> str:
    """Return the table of a task's entries."""
    lines = [f"| {' | '.join(COLUMNS)} |", "|" + "---|" * len(COLUMNS)]
    for entry in entries:
        (low, high), found, about = entry.score.interval, entry.score, entry.description
        bound = "above " if math.isinf(high) else "below " if math.isinf(low) else ""
        rates = [f"{each.win_rate:.0%} of {each.games}" for each in found.against if each.agent == "greedy"]
        cells = (
            f"[{entry.file.stem}](../{entry.file.parents[1].name}/{entry.name}.toml){' *' * about.tuned_on_field}",
            f"{bound}{found.rating:z.0f}{' !' * bool(found.surprises)}",
            "" if bound else f"{low:z.0f} … {high:z.0f}",
            found.games,
            *(rates or [""]),
            f"`{found.agent}`",
            about.author,
            about.date,
        )
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _write_page(page: Path, entries: dict[str, list[Entry]], only_check: bool) -> None:
    before = read_regular(page, LIMIT).decode()
    if len(_PART.findall(before)) != 1:
        raise ValueError(f"{page} must have the lines <!-- begin ratings --> and <!-- end ratings --> once")
    text = ""
    for name, found in entries.items():
        game, version = task_of(name).make(), task_of(name).version
        title = f"{game.title}, {game.num_players} players (`{name}`, version {version})"
        text += f"\n## {title}\n\n{table(found)}\n"
    after = _PART.sub(lambda _: f"{text}\n", before)
    if not only_check:
        write_atomically(page, after.encode())
    elif after != before:
        raise ValueError(f"{page} is not current: run garden leaderboard")


# --- games that are played again ---


def replay(entry: Entry, seed: int, processes: int = 1) -> str:
    """Play a share of an entry's blocks again, chosen by `seed`, and return a sentence about it. This runs the agent's code.

    Raises:
        ValueError: if results differ; it lists the blocks.
        RuntimeError: if the agent fails or a process dies.
    """
    blocks, differ = score.blocks_of(entry.score), []
    chosen = random.Random(seed).sample(sorted(blocks), math.ceil(REPLAYED * len(blocks)))
    games = sum(job.games for job in chosen)
    with (
        progress_bar(total=games, unit="game", desc=entry.name) as bar,
        contextlib.closing(score.play_again(entry.score, chosen, processes)) as played,
    ):
        for job, digits in played:
            if wrong := sum(one != other for one, other in zip(digits, blocks[job], strict=True)):
                differ.append(f"{wrong} of {job.games} in block {job.block} against {job.opponent}")
            bar.update(job.games)
    if differ:
        raise ValueError(
            f"{entry.name}, --seed {seed}: the results of games differ: {', '.join(sorted(differ))}; on another processor, the "
            "last digits of a network's outputs can differ, and so can a few games"
        )
    return f"{entry.name}, --seed {seed}: the same results in all {games} games of {len(chosen)} of {len(blocks)} blocks"


# --- the command ---


@dataclass
class Arguments:
    """Write the leaderboard's tables from its scores, or play some games of an entry again."""

    replay: str | None = None
    """entry, such as cacti-2/greedy: 5 % of its blocks of games, chosen at random, are played again and compared; nothing is written"""
    seed: int | None = None
    """seed of the choice of blocks; another one each time if not given"""
    code: str | None = None
    """the entry's agent if it is module:attribute, program:COMMAND or openai:MODEL, which runs only if it is named here"""
    processes: int = CORES
    """number of processes, which does not change the results; one for each core if not given"""
    check: bool = False
    """write nothing; fail if the tables do not match the scores"""
    folder: Path = Path("leaderboard")
    """the leaderboard's folder"""


@one_line_errors("stopped", RuntimeError)
def main(arguments: Arguments) -> None:
    """Write or check the tables, or play some games of an entry again.

    Raises:
        SystemExit: for arguments or files that are not valid, tables that are not current, results that differ, or after Ctrl-C.
    """
    a, entries = arguments, read_entries(arguments.folder)
    if a.replay is None:
        _write_page(a.folder / PAGE, entries, a.check)
        return
    check(1, a.processes)
    named = {entry.name: entry for found in entries.values() for entry in found}
    if a.replay not in named:
        raise ValueError(f"there is no entry {short(a.replay)}; one is {next(iter(named))}")
    agent = named[a.replay].score.agent
    if _CODE.fullmatch(agent) and agent != a.code:
        raise ValueError(f"{agent} is code, which --code {shlex.quote(agent)} allows to run")
    print(replay(named[a.replay], secrets.randbits(32) if a.seed is None else a.seed, a.processes))
