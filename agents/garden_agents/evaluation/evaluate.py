"""Evaluate an agent, such as a language model, on a fixed suite of games and opponents.

    garden evaluate openai:MODEL --games 20

The suite is the tables of `anchors.json`: games with a number of players, and opponents with their ratings on the
leaderboard. The agent plays alone among copies of each opponent, in every seat of each deal. Its rating is the one that
fits these results best.

A language model also writes a transcript into the folder of results, as does an agent `module:attribute` that takes an
argument `transcript`, and the same command continues an interrupted evaluation: answers in the transcript are not requested
again (`garden_agents.text.TextAgent`). A folder is for one agent with its settings; other tables and opponents are added to it.
"""

from __future__ import annotations

import contextlib
import datetime
import functools
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
from garden_agents.evaluation.ratings import Met, rate_against
from garden_agents.games import hints_of
from garden_agents.identity import identity_of
from garden_agents.matches.jobs import check, differences, digest_of
from garden_agents.matches.meet import (
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
from garden_agents.progress import progress_bar
from garden_agents.registry import accepts, arguments_of, load_agent, make_game, maker_of
from garden_agents.text.agent import TextAgent
from garden_agents.text.conversations import tokens_of
from garden_agents.text.disguises import private_data
from garden_agents.text.prompts import Message
from garden_core.checks import one_line
from garden_core.files.disk import Lock, read_regular, write_atomically, write_json
from garden_core.game import Game
from garden_core.recorded.game_files import content_of

ANCHORS = Path(__file__).with_name("anchors.json")
RESULTS, PAGE, SETTINGS, TRANSCRIPT = (
    "evaluation.json",
    "evaluation.md",
    "settings.json",
    "transcript-{}.jsonl",
)
WRONG = "illegal", "unreadable", "truncated", "late"  # answers that are not legal
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
        game, version, options, data: the game, see `garden_core.recorded.game_files`.
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
        disguise, private_cards, games, seed: arguments of the command.
        garden_envs: version of the package.
        tables: by name.
    """

    agent: str
    text_agent: dict[str, Any]
    disguise: int | None
    private_cards: int | None
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
    private_cards: int | None = None,
) -> Meeting:
    """Play the agent, made with `arguments` (`load_agent`), against copies of an opponent."""
    n = anchors.num_players
    game = game_of(anchors, private_cards)
    digest = digest_of("evaluate", seed, game.name, n, opponent)
    seeds = [int.from_bytes(digest[at : at + 4]) for at in (0, 4, 8)]
    own = load_agent(agent, game, seeds[0], private_cards is not None, arguments=arguments)
    other = load_agent(opponent, game, seeds[1], private_cards is not None)
    lineups = alone(-(-games // n) * n, n)
    names = agent, opponent
    states, forfeited, _ = play(game, (own, other), lineups, seeds[2], on_finished, n, names)
    placed = places(game, states, forfeited)
    result = result_of(names, placed, scores(game, states), forfeited)
    counts = asdict(own.counts) if isinstance(own, TextAgent) else {}
    return Meeting(result, alone_shares(placed).tolist(), counts)


def game_of(anchors: Anchors, private_cards: int | None = None) -> Game:
    """Return the game of a table of the suite, with other cards on request (`garden_agents.text.private_data`)."""
    game = make_game(anchors.game, anchors.num_players, {})
    if private_cards is None:
        return game
    if hints_of(game).private_data is None:
        raise ValueError(f"{game.name} has no cards for --private-cards: name other --tables")
    return type(game)(num_players=anchors.num_players, **private_data(game, private_cards))


@dataclass
class Arguments:
    """Evaluate an agent, such as a language model, on a fixed suite: legal answers, wins and rating."""

    agent: tyro.conf.Positional[str]
    """openai:MODEL, a language model behind a server, module:attribute of another one (garden_agents.text.TextAgent), or any agent as in the arena"""
    games: int = 20
    """games against each opponent of each table, rounded up to a multiple of the number of players"""
    tables: tuple[str, ...] = ()
    """tables of the suite, such as cacti-2; all if not given"""
    opponents: tuple[str, ...] = ()
    """opponents, such as random greedy; all of a table if not given"""
    disguise: int | None = None
    """seed of other names for everything in the games, for a language model"""
    private_cards: int | None = None
    """seed of other cards, which no model has seen; not for Mars, which has none: name --tables"""
    base_url: str | None = None
    """address of the server of openai:MODEL, such as http://localhost:8000/v1; OPENAI_BASE_URL, or OpenAI's, if not given"""
    dry_run: bool = False
    """send nothing: count the prompts and their tokens of a language model in games of random actions"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    output: Path = Path("evaluation")
    """folder for evaluation.json, evaluation.md and the transcripts; another one for each model and setting; results of
    other tables and opponents in it are kept"""


@one_line_errors("stopped; the same command continues, as the answers are in the transcript")
def main(arguments: Arguments) -> dict[str, Any]:
    """Play the suite, write results and page, and print the page.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if the agent fails, as when its server does not answer.
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
    if a.dry_run:
        return _dry_run(a, {pair: tables[pair[0]] for pair in pairs}, agent_arguments)
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
    if isinstance(model := settings.text_agent.get("model"), dict):
        print(
            f"asking {model.get('name')} at {model.get('server')}; --dry-run counts its prompts",
            file=sys.stderr,
        )
    use_one_torch_thread()
    total = sum(-(-a.games // tables[name].num_players) * tables[name].num_players for name, _ in pairs)
    with progress_bar(total=total, unit="game") as bar:
        for name, opponent in pairs:
            bar.set_description(f"{name} against {opponent}")
            given = {"transcript": a.output / TRANSCRIPT.format(name)} if takes_transcript else {}
            given |= agent_arguments
            try:
                meeting = meet_opponent(
                    a.agent, tables[name], opponent, a.games, a.seed, bar.update, given, a.private_cards
                )
            except RuntimeError as error:
                kept_answers = "; its answers so far are in the transcript: once this is mended, the same command continues"
                raise ValueError(f"{error}{kept_answers * takes_transcript}") from error
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
    a = arguments
    make, named = maker_of(a.agent), arguments_of(a.agent)
    given = {"disguise": a.disguise, "base_url": a.base_url}
    given = {key: value for key, value in given.items() if value is not None}
    for key in given:
        if key in named or make is None or not accepts(make, key):
            why = "names one itself" if key in named else f"takes no argument {key}"
            raise ValueError(f"--{key.replace('_', '-')} cannot be passed to {a.agent}, which {why}")
    takes_transcript = make is not None and accepts(make, "transcript") and "transcript" not in named
    return given, takes_transcript


def _dry_run(
    arguments: Arguments, pairs: dict[tuple[str, str], Anchors], agent_arguments: dict[str, Any]
) -> dict[str, Any]:
    """Count and print prompts and tokens by table, without asking a language model; return them by table."""
    a, counts = arguments, {name: [0.0, 0.0] for name, _ in pairs}
    make = maker_of(a.agent)
    if make is not None and accepts(make, "base_url") and "base_url" not in arguments_of(a.agent):
        agent_arguments = {"base_url": "http://127.0.0.1/v1"} | agent_arguments  # needs no key
    for (name, opponent), anchors in pairs.items():
        n, game = anchors.num_players, game_of(anchors, a.private_cards)
        own = load_agent(a.agent, game, a.seed, arguments=agent_arguments)
        if not isinstance(own, TextAgent):
            raise TypeError(f"--dry-run is for language models, not {a.agent}")
        tokens: list[int] = []
        own.complete, own.structured = functools.partial(_any_action, tokens), True
        other = load_agent(opponent, game, a.seed, a.private_cards is not None)
        play(game, (own, other), alone(n, n), a.seed, rotations=n)
        games = -(-a.games // n) * n
        for at, count in enumerate((len(tokens), sum(tokens))):
            counts[name][at] += count * games / n
    rows = [[name, f"{prompts:,.0f}", f"{tokens:,.0f}"] for name, (prompts, tokens) in counts.items()]
    print("\n".join(_markdown(["table", "prompts", "tokens of prompts, about"], rows)), flush=True)
    return counts


def _any_action(tokens: list[int], messages: list[Message], schema: dict[str, Any]) -> str:
    """Answer with the first legal action, a random one; append the prompt's number of tokens to `tokens`."""
    tokens.append(tokens_of(messages))
    return f"ACTION: {schema['properties']['action']['enum'][0]}"


def _settings(
    arguments: Arguments, pairs: Sequence[tuple[str, str]], agent_arguments: Mapping[str, Any]
) -> tuple[Settings, str]:
    """Return all on which the results in `pairs`, tables and opponents, depend, and why the agent can change unseen, or ""."""
    a, suite_tables, tables, unseen, own = arguments, suite(), {}, "", None
    for name in dict.fromkeys(name for name, _ in pairs):
        anchors = suite_tables[name]
        game, private = game_of(anchors, a.private_cards), a.private_cards is not None
        opponents = [opponent for table, opponent in pairs if table == name]
        identity = identity_of(a.agent, game, private, agent_arguments)
        unseen = unseen or identity.unseen
        if own is None:
            own = load_agent(a.agent, game, 0, private, arguments=agent_arguments)
        tables[name] = Conditions(
            **{key: value for key, value in content_of(game).items() if key != "data_files"},
            rules=game.state_dtype.descr[-1][0],
            agent=identity.digest,
            opponents={each: identity_of(each, game, private).digest for each in opponents},
            ratings=anchors.ratings,
        )
    text_agent = own.settings if isinstance(own, TextAgent) else {}
    varied = a.disguise, a.private_cards
    return Settings(a.agent, text_agent, *varied, a.games, a.seed, version("garden-envs"), tables), unseen


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
                msgspec.convert(row["counts"], dict[str, int | float]),
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
            Met(r, m.result.win_rate, independent_games(np.array(m.shares)))
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
    if evaluation["private_cards"] is not None:
        disguised += f", other cards with seed {evaluation['private_cards']} (the opponents' ratings are those with the packaged ones)"
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
        *WRONG,
        "without a legal answer",
        "tokens per decision",
        "seconds per decision",
    ]
    lines += _markdown(head, [_summary(name, table) for name, table in evaluation["tables"].items()])
    lines += [
        "",
        "Ratings are on the leaderboard's scale: `random` has 0, and 400 points more mean finishing ahead ten times as often.",
        "Answers are legal, illegal (an action that is not allowed now, or a number that is not in the list), unreadable (no action, or several),",
        "truncated (cut off at the limit of tokens) or late; all but the legal ones are repeated (`retries`).",
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
        return [name, rating, *["–"] * (5 + len(WRONG))]
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    return [
        name,
        rating,
        f"{made}",
        f"{counts['legal_at_once'] / made:.1%}",
        *(f"{counts[outcome]}" for outcome in WRONG),
        f"{counts['fallbacks'] / made:.1%}",
        f"{tokens / made:,.0f}" if tokens else "–",
        f"{counts['seconds'] / made:.2f}",
    ]


def _share(result: dict[str, Any]) -> str:
    low, high = result["interval"]
    return f"{result['win_rate']:.0%} ({low:.0%} … {high:.0%})"


def _markdown(head: list[str], rows: list[list[str]]) -> list[str]:
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *rows)]
