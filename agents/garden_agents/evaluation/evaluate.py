"""Evaluate an agent, such as a language model, on a fixed suite of games and opponents.

    garden evaluate my_model:make --games 20

The suite is the tables of `anchors.json`: games with a number of players, and opponents with their ratings on the
leaderboard. The agent plays alone among copies of each opponent, in every seat of each deal. Its rating is the one that
fits these results best.

For an agent `module:attribute`, the folder of results also gets a transcript, and the same command continues an
interrupted evaluation: answers in the transcript are not requested again (`garden_agents.text.TextAgent`).
"""

from __future__ import annotations

import contextlib
import datetime
import math
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.jobs import check, digest_of
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
from garden_agents.progress import progress_bar
from garden_agents.registry import code_of, load_agent, make_game
from garden_core.checks import one_line
from garden_core.files.disk import read_regular, write_atomically, write_json

ANCHORS = Path(__file__).with_name("anchors.json")
RESULTS, PAGE, SETTINGS, TRANSCRIPT = (
    "evaluation.json",
    "evaluation.md",
    "settings.json",
    "transcript-{}.jsonl",
)


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


def with_arguments(agent: str, **arguments: object) -> str:
    """Return an agent's name with further arguments, if it is a module:attribute."""
    if not code_of(agent):
        return agent
    given = [f"{key}={value}" for key, value in arguments.items() if value is not None]
    return "&".join([agent if "?" in agent else f"{agent}?", *given]).replace("?&", "?")


def meet_opponent(
    agent: str, anchors: Anchors, opponent: str, games: int, seed: int, on_finished: Any
) -> Meeting:
    """Play the agent against copies of an opponent."""
    n = anchors.num_players
    game = make_game(anchors.game, n, {})
    digest = digest_of("evaluate", seed, game.name, n, opponent)
    seeds = [int.from_bytes(digest[at : at + 4]) for at in (0, 4, 8)]
    own = load_agent(agent, game, seeds[0])
    agents = Named(agent, own), Named(opponent, load_agent(opponent, game, seeds[1]))
    lineups = alone(-(-games // n) * n, n)
    states, forfeited, _ = play(game, agents, lineups, seeds[2], on_finished, rotations=n)
    placed = places(game, states, forfeited)
    result = result_of((agent, opponent), placed, scores(game, states), forfeited)
    counts = getattr(own, "counts", None)
    return Meeting(result, alone_shares(placed).tolist(), {} if counts is None else asdict(counts))


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
    """folder for evaluation.json, evaluation.md and the transcripts; another one for each model and setting"""


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
    if a.disguise is not None and not code_of(a.agent):
        raise ValueError(f"--disguise is for agents module:attribute, not {a.agent}")
    settings = {"agent": a.agent, "disguise": a.disguise, "games": a.games, "seed": a.seed}
    a.output.mkdir(parents=True, exist_ok=True)
    _check_folder(a.output, settings)
    use_one_torch_thread()
    met: dict[str, list[Meeting]] = {name: [] for name in chosen}
    total = sum(-(-a.games // chosen[name].num_players) * chosen[name].num_players for name, _ in pairs)
    with progress_bar(total=total, unit="game") as bar:
        for name, opponent in pairs:
            bar.set_description(f"{name} against {opponent}")
            transcript = a.output / TRANSCRIPT.format(name)
            agent = with_arguments(a.agent, transcript=transcript, disguise=a.disguise)
            met[name].append(meet_opponent(agent, chosen[name], opponent, a.games, a.seed, bar.update))
    evaluation = {
        **settings,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": {"python": platform.python_version(), "garden-envs": version("garden-envs")},
        "tables": {name: _table(chosen[name], meetings) for name, meetings in met.items() if meetings},
    }
    write_json(a.output / RESULTS, evaluation)
    page = page_of(evaluation)
    write_atomically(a.output / PAGE, page.encode())
    print(page, end="", flush=True)
    return evaluation


def _check_folder(folder: Path, settings: dict[str, Any]) -> None:
    """Write the settings into a new folder; raise ValueError if it has another evaluation."""
    path = folder / SETTINGS
    content = msgspec.json.encode(settings)
    with contextlib.suppress(FileExistsError):
        path.touch(exist_ok=False)  # one of two processes that start at once
        write_atomically(path, content)
    if read_regular(path, 10_000) != content:
        raise ValueError(f"{folder} has another evaluation, see {path}; choose another --output")


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
