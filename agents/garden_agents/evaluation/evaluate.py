"""Evaluate an agent, such as a language model, on a fixed suite of games and opponents.

    garden evaluate my_model:make --games 20

The suite is the tables of `anchors.json`: games with a number of players, and opponents with their ratings on the
leaderboard. The agent plays alone among copies of each opponent, in every seat of each deal. Its rating is the one that
fits these results best.

For an agent `module:attribute` that takes an argument `transcript`, the folder of results also gets a transcript, and the same
command continues an interrupted evaluation: answers in the transcript are not requested again
(`garden_agents.text.TextAgent`). A folder is for one agent with its settings; other tables and opponents are added to it.
"""

from __future__ import annotations

import contextlib
import datetime
import math
import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.jobs import check, differences, digest_of
from garden_agents.evaluation.matches import (
    Named,
    Result,
    alone,
    alone_shares,
    independent_games,
    places,
    play,
    result_of,
    scores,
    use_one_torch_thread,
)
from garden_agents.evaluation.ratings import rate_against
from garden_agents.identity import identity_of, import_recorded
from garden_agents.progress import progress_bar
from garden_agents.registry import accepts, arguments_of, code_of, load_agent, make_game
from garden_agents.text.agent import TextAgent
from garden_core.checks import one_line
from garden_core.files.disk import Lock, read_regular, write_atomically, write_json
from garden_core.files.game_files import content_of
from garden_core.game import Game
from garden_core.plugins import imported

ANCHORS = Path(__file__).with_name("anchors.json")
RESULTS, PAGE, SETTINGS, TRANSCRIPT = (
    "evaluation.json",
    "evaluation.md",
    "settings.json",
    "transcript-{}.jsonl",
)
ADVICE = "choose another --output"
LIMIT = 100_000_000  # largest file of results and of settings, bytes


class Anchors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the suite: a game with a number of players, and its opponents.

    Attributes:
        game: the game's name.
        num_players: number of players.
        ratings: the opponents' ratings on the leaderboard, by name.
    """

    game: str
    num_players: int
    ratings: dict[str, float]


def suite() -> dict[str, Anchors]:
    """Return the tables of the suite by name, such as "cacti-2"."""
    return msgspec.json.decode(ANCHORS.read_bytes(), type=dict[str, Anchors])


class Conditions(msgspec.Struct):
    """All on which the results in a table depend, besides `Settings`.

    Attributes:
        game, version, options, data: the game, see `garden_core.files.game_files`.
        rules: digest of its compiled code.
        agent, opponents: digests of the agent and of each opponent, see `garden_agents.identity`.
        ratings: the opponents' ratings.
    """

    game: str
    version: int
    options: dict[str, Any]
    data: str
    rules: str
    agent: str
    opponents: dict[str, str]
    ratings: dict[str, float]


class Settings(msgspec.Struct):
    """All on which the results in a folder depend.

    Attributes:
        agent: its name with its arguments.
        text_agent: the settings of a language model, with its server, see `garden_agents.text.TextAgent.settings`; {} for others.
        disguise, games, seed: arguments of the command.
        garden_envs: version of the package.
        tables: by name.
    """

    agent: str
    text_agent: dict[str, Any]
    disguise: int | None
    games: int
    seed: int
    garden_envs: str
    tables: dict[str, Conditions]


@dataclass
class Meeting:
    """The agent's games against one opponent.

    Attributes:
        result: wins and scores.
        shares: the agent's share of the win in each seat of each deal.
        counts: what a language model answered (`garden_agents.text.Counts`); empty for other agents.
    """

    result: Result
    shares: list[list[float]]
    counts: dict[str, float]


def meet_opponent(
    agent: str,
    anchors: Anchors,
    opponent: str,
    games: int,
    seed: int,
    on_finished: Any,
    arguments: Mapping[str, Any] = MappingProxyType({}),
) -> Meeting:
    """Play the agent, made with `arguments` (`load_agent`), against copies of an opponent."""
    n = anchors.num_players
    game = game_of(anchors)
    digest = digest_of("evaluate", seed, game.name, n, opponent)
    seeds = [int.from_bytes(digest[at : at + 4]) for at in (0, 4, 8)]
    own = load_agent(agent, game, seeds[0], arguments=arguments)
    agents = Named(agent, own), Named(opponent, load_agent(opponent, game, seeds[1]))
    lineups = alone(-(-games // n) * n, n)
    states, forfeited, _ = play(game, agents, lineups, seeds[2], on_finished, rotations=n)
    placed = places(game, states, forfeited)
    result = result_of((agent, opponent), placed, scores(game, states), forfeited)
    counts = asdict(own.counts) if isinstance(own, TextAgent) else {}
    return Meeting(result, alone_shares(placed).tolist(), counts)


def game_of(anchors: Anchors) -> Game:
    """Return the game of a table of the suite."""
    return make_game(anchors.game, anchors.num_players, {})


@dataclass
class Arguments:
    """Evaluate an agent, such as a language model, on a fixed suite: legal answers, wins and rating."""

    agent: tyro.conf.Positional[str]
    """module:attribute of a language model (garden_agents.text.TextAgent), or any agent as in the arena"""
    games: int = 20
    """games against each opponent of each table, rounded up to a multiple of the number of players"""
    tables: tuple[str, ...] = ()
    """tables of the suite, such as cacti-2; all if not given"""
    opponents: tuple[str, ...] = ()
    """opponents, such as random greedy; all of a table if not given"""
    disguise: int | None = None
    """seed of other names for everything in the games, for a language model"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    output: Path = Path("evaluation")
    """folder for evaluation.json, evaluation.md and the transcripts; another one for each model and setting; results of
    other tables and opponents in it are kept"""


@one_line_errors("stopped; the same command continues, as the answers are in the transcript")
def main(arguments: Arguments) -> dict[str, Any]:
    """Play the suite, write results and page, and print the page.

    Raises:
        SystemExit: for arguments that are not valid, or after Ctrl-C.
        RuntimeError: if the agent fails; the message contains its exception.
    """
    a = arguments
    check(a.games, 1, a.opponents, a.seed)
    tables = suite()
    _check_known(a.tables, [*tables])
    chosen = {name: tables[name] for name in a.tables or tables}
    _check_known(
        a.opponents, [*dict.fromkeys(name for anchors in chosen.values() for name in anchors.ratings)]
    )
    pairs = [
        (name, opponent)
        for name, anchors in chosen.items()
        for opponent in anchors.ratings
        if opponent in (a.opponents or anchors.ratings)
    ]
    agent_arguments, takes_transcript = _agent_arguments(a)
    a.output.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Lock(a.output)):
        return _evaluated(a, tables, pairs, agent_arguments, takes_transcript)


def _evaluated(
    a: Arguments,
    tables: dict[str, Anchors],
    pairs: list[tuple[str, str]],
    agent_arguments: dict[str, Any],
    takes_transcript: bool,
) -> dict[str, Any]:
    """Play the pairs of tables and opponents, and add them to the results in the folder; return these."""
    written, met = _read(a.output)
    kept = (
        []
        if written is None
        else [(name, o) for name in written.tables for o in written.tables[name].opponents]
    )
    for name, opponent in kept:
        if name not in tables or opponent not in tables[name].ratings:
            raise ValueError(
                f"{a.output} has results in {name} against {opponent}, which is not in the suite; {ADVICE}"
            )
    settings, unseen = _settings(a, [*dict.fromkeys([*pairs, *kept])], agent_arguments)
    _check_same(a.output, written, settings, met)
    write_atomically(
        a.output / SETTINGS, msgspec.json.format(msgspec.json.encode(settings), indent=1) + b"\n"
    )
    others = [
        (name, m.result.opponent) for name in met for m in met[name] if (name, m.result.opponent) not in pairs
    ]
    if unseen and others:
        print(
            f"{a.agent} can change unseen, as {unseen}; {a.output} keeps its results in "
            f"{', '.join(f'{name} against {opponent}' for name, opponent in others)}",
            file=sys.stderr,
        )
    use_one_torch_thread()
    total = sum(-(-a.games // tables[name].num_players) * tables[name].num_players for name, _ in pairs)
    with progress_bar(total=total, unit="game") as bar:
        for name, opponent in pairs:
            bar.set_description(f"{name} against {opponent}")
            given = {"transcript": a.output / TRANSCRIPT.format(name)} if takes_transcript else {}
            meeting = meet_opponent(
                a.agent, tables[name], opponent, a.games, a.seed, bar.update, given | agent_arguments
            )
            met[name] = [*(m for m in met.get(name, []) if m.result.opponent != opponent), meeting]
    in_order = {
        name: [m for opponent in anchors.ratings for m in met[name] if m.result.opponent == opponent]
        for name, anchors in tables.items()
        if name in met
    }
    evaluation = {
        **{key: value for key, value in msgspec.to_builtins(settings).items() if key != "tables"},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "garden-envs": version("garden-envs")},
        "tables": {name: _table(tables[name], meetings) for name, meetings in in_order.items() if meetings},
    }
    write_json(a.output / RESULTS, evaluation)
    page = page_of(evaluation)
    write_atomically(a.output / PAGE, page.encode())
    print(page, end="", flush=True)
    return evaluation


def _agent_arguments(arguments: Arguments) -> tuple[dict[str, Any], bool]:
    """Return the arguments to make the agent with, and whether it also takes a transcript.

    Raises:
        ValueError: if it takes no argument `disguise`, and the command has one.
    """
    a, code = arguments, code_of(arguments.agent)
    if not code:
        if a.disguise is not None:
            raise ValueError(f"--disguise is for agents module:attribute, not {a.agent}")
        return {}, False
    import_recorded(code)
    make, named = imported(code, "agent"), arguments_of(a.agent)
    if a.disguise is not None and ("disguise" in named or not accepts(make, "disguise")):
        why = "names one itself" if "disguise" in named else "takes no argument disguise"
        raise ValueError(f"--disguise cannot be passed to {a.agent}, which {why}")
    takes_transcript = accepts(make, "transcript") and "transcript" not in named
    return {} if a.disguise is None else {"disguise": a.disguise}, takes_transcript


def _settings(
    arguments: Arguments, pairs: Sequence[tuple[str, str]], agent_arguments: Mapping[str, Any]
) -> tuple[Settings, str]:
    """Return all on which the results in `pairs`, tables and opponents, depend, and why the agent can change unseen, or ""."""
    a, suite_tables, tables, unseen, own = arguments, suite(), {}, "", None
    for name in dict.fromkeys(name for name, _ in pairs):
        anchors = suite_tables[name]
        game, opponents = game_of(anchors), [opponent for table, opponent in pairs if table == name]
        identity = identity_of(a.agent, game)
        unseen = unseen or identity.unseen
        if own is None:
            own = load_agent(a.agent, game, arguments=agent_arguments)
        tables[name] = Conditions(
            **{key: value for key, value in content_of(game).items() if key != "data_files"},
            rules=game.state_dtype.descr[-1][0],
            agent=identity.digest,
            opponents={each: identity_of(each, game).digest for each in opponents},
            ratings=anchors.ratings,
        )
    text_agent = own.settings if isinstance(own, TextAgent) else {}
    return Settings(a.agent, text_agent, a.disguise, a.games, a.seed, version("garden-envs"), tables), unseen


def _read(folder: Path) -> tuple[Settings | None, dict[str, list[Meeting]]]:
    """Return the settings in a folder, None if there are none, and the meetings by table.

    Raises:
        ValueError: if a file is damaged.
    """
    path = folder / SETTINGS
    try:
        written = msgspec.json.decode(read_regular(path, LIMIT), type=Settings) if path.exists() else None
        path = folder / RESULTS
        met = _meetings(msgspec.json.decode(read_regular(path, LIMIT))) if path.exists() else {}
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; {ADVICE}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged, or of another version: {one_line(error)}; {ADVICE}") from None
    return written, met


def _check_same(
    folder: Path, written: Settings | None, settings: Settings, met: Mapping[str, Sequence[Meeting]]
) -> None:
    """Raise ValueError if a folder has an evaluation with other settings, which it names, or results without settings."""
    tables = {} if written is None else written.tables
    for name, opponent in [(each, m.result.opponent) for each in met for m in met[each]]:
        if name not in tables or opponent not in tables[name].opponents:
            raise ValueError(
                f"{folder} has results in {name} against {opponent}, but {SETTINGS} has no settings of them; {ADVICE}"
            )
    if written is None:
        return
    old, new = msgspec.to_builtins(written), msgspec.to_builtins(settings)
    new["tables"] = {name: new["tables"][name] for name in tables}
    for name in tables:
        digests = new["tables"][name]["opponents"]
        new["tables"][name]["opponents"] = {each: digests[each] for each in tables[name].opponents}
    if differ := differences(old, new):
        raise ValueError(f"{folder} has another evaluation, see {SETTINGS}: {'; '.join(differ)}; {ADVICE}")


def _meetings(evaluation: Any) -> dict[str, list[Meeting]]:
    """Return the meetings in a file of results by table."""
    return {
        name: [
            Meeting(
                msgspec.convert(row, Result),
                msgspec.convert(row["shares"], list[list[float]]),
                msgspec.convert(row["counts"], dict[str, float]),
            )
            for row in table["results"]
        ]
        for name, table in evaluation["tables"].items()
    }


def _check_known(names: tuple[str, ...], known: list[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{one_line(name, 80)} is not in the suite, which has {', '.join(known)}")


def _table(anchors: Anchors, meetings: list[Meeting]) -> dict[str, Any]:
    """Return the results of a table as plain JSON values."""
    ratings = [anchors.ratings[meeting.result.opponent] for meeting in meetings]
    rating, low, high = rate_against(
        [
            (r, m.result.win_rate, independent_games(np.array(m.shares)))
            for r, m in zip(ratings, meetings, strict=True)
        ],
        anchors.num_players,
    )
    counts = {key: sum(m.counts[key] for m in meetings) for key in meetings[0].counts}
    return {
        "rating": rating if math.isfinite(high - low) else None,
        "interval": [value if math.isfinite(value) else None for value in (low, high)],
        "anchors": anchors.ratings,
        "counts": counts,
        "results": [asdict(m.result) | {"counts": m.counts, "shares": m.shares} for m in meetings],
    }


# --- the page ---


def page_of(evaluation: dict[str, Any]) -> str:
    """Return the results as a page of Markdown."""
    disguised = "" if evaluation["disguise"] is None else f", disguised with seed {evaluation['disguise']}"
    lines = [
        f"# Evaluation of `{one_line(evaluation['agent'])}`",
        "",
        f"garden-envs {evaluation['versions']['garden-envs']}, {evaluation['date']}, seed {evaluation['seed']}{disguised}.",
        "",
    ]
    head = [
        "table",
        "rating (95 % interval)",
        "decisions",
        "legal at once",
        "without a legal answer",
        "answers per decision",
        "tokens per decision",
        "seconds per decision",
    ]
    lines += _markdown(head, [_summary(name, table) for name, table in evaluation["tables"].items()])
    lines += [
        "",
        "Ratings are on the leaderboard's scale: `random` has 0, and 400 points more mean finishing ahead ten times as often.",
        "Without a legal answer, the agent forfeits the game, or acts at random if it is set so (`fallback`).",
        "Intervals do not include the uncertainty of the opponents' ratings.",
        "",
    ]
    rows = [
        [
            name,
            r["opponent"],
            f"{table['anchors'][r['opponent']]:.0f}",
            f"{r['games']}",
            _share(r),
            f"{r['forfeits']}",
        ]
        for name, table in evaluation["tables"].items()
        for r in table["results"]
    ]
    lines += _markdown(["table", "opponent", "its rating", "games", "wins (95 % interval)", "forfeits"], rows)
    return "\n".join(lines) + "\n"


def _summary(name: str, table: dict[str, Any]) -> list[str]:
    low, high = table["interval"]
    if low is None or high is None:
        rating = "–" if low is high else f"below {high:.0f}" if low is None else f"above {low:.0f}"
    else:
        rating = f"{table['rating']:.0f} ({low:.0f} … {high:.0f})"
    counts = table["counts"]
    made = counts.get("decisions")
    if not made:
        return [name, rating, *["–"] * 6]
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    return [
        name,
        rating,
        f"{made}",
        f"{counts['legal_at_once'] / made:.1%}",
        f"{counts['fallbacks'] / made:.1%}",
        f"{counts['answers'] / made:.2f}",
        f"{tokens / made:,.0f}" if tokens else "–",
        f"{counts['seconds'] / made:.2f}",
    ]


def _share(result: dict[str, Any]) -> str:
    low, high = result["interval"]
    return f"{result['win_rate']:.0%} ({low:.0%} … {high:.0%})"


def _markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
