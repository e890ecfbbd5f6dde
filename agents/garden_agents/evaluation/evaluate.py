"""Evaluate a language model in the benchmark's tasks: its ratings, and how many of its answers are legal.

    garden evaluate openai:MODEL --task cacti-2

Ratings follow the protocol of `garden score` (`garden_agents.evaluation.score`), with all games that are allowed.

A language model also writes a transcript per task into the folder of results, as does an agent `module:attribute` that takes an
argument `transcript`, and the same command continues an interrupted evaluation: answers in the transcript are not requested
again (`garden_agents.text.TextAgent`). A folder is for one agent with its settings; other tasks are added to it.
"""

from __future__ import annotations

import contextlib
import datetime
import platform
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.score import GAMES_OF_MODELS, Direct, most_games, opponents_of, scored, seed_of
from garden_agents.evaluation.tasks import conditions, field_of, task_of, tasks
from garden_agents.games import hints_of
from garden_agents.identity import identity_of
from garden_agents.matches.jobs import check, differences
from garden_agents.progress import progress_bar
from garden_agents.registry import accepts, arguments_of, load_agent, maker_of
from garden_agents.text.agent import TextAgent
from garden_agents.text.disguises import private_data
from garden_agents.text.estimate import announcement, cost_of_game
from garden_core.checks import one_line
from garden_core.files.disk import Lock, read_regular, write_atomically, write_json
from garden_core.game import Game
from garden_core.presentation import as_markdown
from garden_core.registry import make

RESULTS, PAGE, SETTINGS = "evaluation.json", "evaluation.md", "settings.json"
TRANSCRIPT = "transcript-{}.jsonl"
WRONG = "illegal", "unreadable", "truncated", "late"  # answers that are not legal
ADVICE = "choose another --output"
LIMIT = 100_000_000  # largest file of results and of settings, bytes


class Settings(msgspec.Struct):
    """All on which the results in a folder depend.

    Attributes:
        agent: its name with its arguments.
        text_agent: the settings of a language model, with its server, see `garden_agents.text.TextAgent.settings`; {} for others.
        disguise, private_cards, games, seed: arguments of the command.
        garden_envs: version of the package.
        tasks: by name the version, the properties of the game (`garden_agents.evaluation.tasks.conditions`), and digests of the game's
            compiled rules and of the agent (`garden_agents.identity`).
    """

    agent: str
    text_agent: dict[str, Any]
    disguise: int | None
    private_cards: int | None
    games: int
    seed: int
    garden_envs: str
    tasks: dict[str, dict[str, Any]]


@dataclass
class Arguments:
    """Evaluate an agent, such as a language model, in the benchmark's tasks: legal answers, wins and rating."""

    agent: tyro.conf.Positional[str]
    """openai:MODEL, a language model behind a server, module:attribute of another one (garden_agents.text.TextAgent), or any agent as in the arena"""
    task: tuple[str, ...] = ()
    """tasks, such as cacti-2; all if none is given"""
    games: int = GAMES_OF_MODELS
    """largest number of games in a task; at least one deal against each member of its field is played"""
    disguise: int | None = None
    """seed of other names for everything in the games, for a language model"""
    private_cards: int | None = None
    """seed of other cards, which no model has seen; not for Mars, which has none: name --task"""
    base_url: str | None = None
    """address of the server of openai:MODEL, such as http://localhost:8000/v1; OPENAI_BASE_URL, or OpenAI's, if not given"""
    dry_run: bool = False
    """send nothing: estimate prompts and tokens of a language model from games of random actions"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    output: Path = Path("evaluation")
    """folder for evaluation.json, evaluation.md and the transcripts; another one for each model and setting; results in
    other tasks are kept"""


@one_line_errors("stopped; the same command continues, as the answers are in the transcript")
def main(arguments: Arguments) -> dict[str, Any]:
    """Play in the tasks, write results and page, and print the page.

    Returns:
        The content of evaluation.json; with `dry_run` a `garden_agents.text.estimate.Cost` by task.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if the agent fails, as when its server does not answer.
    """
    a = arguments
    check(a.games, 1, seed=a.seed)
    games = {name: _game_in(name, a.private_cards) for name in a.task or _packaged()}
    given, takes_transcript = _agent_arguments(a)
    if a.dry_run:
        return _dry_run(a, games, given)
    a.output.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(Lock(a.output)):
        return _evaluated(a, games, given, takes_transcript)


def _packaged() -> list[str]:
    """Return the tasks whose games have the packaged cards."""
    return [name for name, task in tasks().items() if not task.card_sets]


def _game_in(name: str, private_cards: int | None) -> Game:
    """Return the game of a task, with other cards on request (`garden_agents.text.private_data`)."""
    task = task_of(name)
    if task.card_sets:
        raise ValueError(
            f"{name} has many card sets, which garden score plays; here, choose {', '.join(_packaged())} with --private-cards"
        )
    game = task.make()
    if private_cards is None:
        return game
    if hints_of(game).private_data is None:
        raise ValueError(f"{game.name} has no cards for --private-cards: name other --task")
    return make(task.game, **task.options | private_data(game, private_cards))


def _agent_arguments(arguments: Arguments) -> tuple[dict[str, Any], bool]:
    """Return the arguments to make the agent with, and whether it also takes a transcript.

    Raises:
        ValueError: if it does not take `disguise` or `base_url`, and the command has one.
    """
    a = arguments
    maker, named = maker_of(a.agent), arguments_of(a.agent)
    given = {"disguise": a.disguise, "base_url": a.base_url}
    given = {key: value for key, value in given.items() if value is not None}
    for key in given:
        if key in named or maker is None or not accepts(maker, key):
            why = "names one itself" if key in named else f"takes no argument {key}"
            raise ValueError(f"--{key.replace('_', '-')} cannot be passed to {a.agent}, which {why}")
    return given, maker is not None and accepts(maker, "transcript") and "transcript" not in named


def _dry_run(a: Arguments, games: Mapping[str, Game], given: dict[str, Any]) -> dict[str, Any]:
    """Print about how many prompts and tokens the games of each task take; return them by task."""
    maker, costs, rows = maker_of(a.agent), {}, []
    if maker is not None and accepts(maker, "base_url") and "base_url" not in arguments_of(a.agent):
        given = {"base_url": "http://127.0.0.1/v1"} | given  # needs no key
    for name, game in games.items():
        own = load_agent(a.agent, game, a.seed, arguments=given)
        if not isinstance(own, TextAgent):
            raise TypeError(f"--dry-run is for language models, not {a.agent}")
        number, cost = most_games(field_of(name), game.num_players, a.games), cost_of_game(own, a.seed)
        costs[name] = cost._replace(prompts=number * cost.prompts, tokens=number * cost.tokens)
        rows.append([name, f"{number}", *(f"{each:,.0f}" for each in costs[name])])
    head = ["task", "games", "prompts, about", "tokens of prompts, about"]
    print("\n".join(as_markdown((head, rows))), flush=True)
    return costs


def _evaluated(
    a: Arguments, games: Mapping[str, Game], given: dict[str, Any], takes_transcript: bool
) -> dict[str, Any]:
    """Play in the tasks, and add the results to those in the folder; return all of them."""
    written, results = _read(a.output)
    kept = [] if written is None else [name for name in written.tasks if name in tasks()]
    settings, unseen = _settings(a, [*dict.fromkeys([*games, *kept])], given)
    _check_same(a.output, written, settings, results)
    write_json(a.output / SETTINGS, msgspec.to_builtins(settings))
    if unseen and (others := ", ".join(name for name in results if name not in games)):
        warning = f"{a.agent} can change unseen, as {unseen}; {a.output} keeps its results in {others}"
        print(warning, file=sys.stderr)
    for name, game in games.items():
        transcript = {"transcript": a.output / TRANSCRIPT.format(name)} if takes_transcript else {}
        results[name] = _played(a, name, game, given, transcript)
        evaluation = {
            **msgspec.to_builtins(settings),
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
            "python": platform.python_version(),
            "tasks": {each: results[each] for each in tasks() if each in results},
        }
        write_json(a.output / RESULTS, evaluation)
        page = page_of(evaluation)
        write_atomically(a.output / PAGE, page.encode())
    print(page, end="", flush=True)
    return evaluation


def _played(
    a: Arguments, name: str, game: Game, given: Mapping[str, Any], transcript: Mapping[str, Any]
) -> dict[str, Any]:
    """Play in a task; return the results as plain JSON values, for which None stands for an infinite bound."""
    field, n, private = field_of(name), game.num_players, a.private_cards is not None
    seed, number = seed_of(field, a.seed), most_games(field, n, a.games)
    own = load_agent(a.agent, game, seed, private, arguments={**given, **transcript})
    if isinstance(own, TextAgent):
        print(announcement(own, name, number), file=sys.stderr)
    with progress_bar(total=number, unit="game", desc=name) as bar:
        together = isinstance(own, TextAgent)
        played = Direct(game, own, seed, private, together, bar.update)
        try:
            opponents = opponents_of(a.agent, field, game)
            score = scored(played, a.agent, field, opponents, a.games, precision=0, seed=a.seed)
        except RuntimeError as error:
            kept = (
                "; its answers so far are in the transcript: once this is mended, the same command continues"
            )
            raise ValueError(f"{error}{kept * bool(transcript)}") from error
    gave_up = dict.fromkeys(score.results, 0)
    for job, results in played.done.items():
        gave_up[job.opponent] += sum(seat == each % n for each, seat in results.forfeits)
    return score.plain | {
        "counts": asdict(own.counts) if isinstance(own, TextAgent) else {},
        "against": [asdict(each) | {"forfeits": gave_up[each.agent]} for each in score.against],
    }


def _settings(a: Arguments, names: Sequence[str], given: Mapping[str, Any]) -> tuple[Settings, str]:
    """Return all on which the results in some tasks depend, and why the agent can change unseen, or ""."""
    of_tasks, unseen, own, private = {}, "", None, a.private_cards is not None
    for name in names:
        game = _game_in(name, a.private_cards)
        identity = identity_of(a.agent, game, private, given)
        unseen, own = identity.unseen, own or load_agent(a.agent, game, 0, private, arguments=given)
        digests = {"rules": game.state_dtype.descr[-1][0], "agent": identity.digest}
        of_tasks[name] = {"version": task_of(name).version, "game": conditions(game), **digests}
    text_agent = own.settings if isinstance(own, TextAgent) else {}
    given_by_command = a.disguise, a.private_cards, a.games, a.seed
    return Settings(a.agent, text_agent, *given_by_command, version("garden-envs"), of_tasks), unseen


def _read(folder: Path) -> tuple[Settings | None, dict[str, Any]]:
    """Return the settings in a folder, None if there are none, and the results by task.

    Raises:
        ValueError: if a file is damaged.
    """
    path, results = folder / SETTINGS, {}
    try:
        written = msgspec.json.decode(read_regular(path, LIMIT), type=Settings) if path.exists() else None
        path = folder / RESULTS
        if path.exists():
            evaluation = msgspec.json.decode(read_regular(path, LIMIT))
            results = evaluation["tasks"]
            page_of(evaluation)  # which needs all of it
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}; {ADVICE}") from None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"{path} is damaged, or of another version: {one_line(error)}; {ADVICE}") from None
    return written, results


def _check_same(folder: Path, written: Settings | None, settings: Settings, results: Iterable[str]) -> None:
    """Raise ValueError if a folder has an evaluation with other settings, which it names, or results without settings."""
    old, new = msgspec.to_builtins((written, settings))
    known = old["tasks"] if old else {}
    if unknown := [one_line(name) for name in results if name not in known]:
        found = f"{folder} has results in {', '.join(unknown)}, but {SETTINGS} has no settings of them"
        raise ValueError(f"{found}; {ADVICE}")
    new["tasks"] = {name: new["tasks"].get(name) for name in known}
    if old and (differ := differences(old, new)):
        raise ValueError(f"{folder} has another evaluation, see {SETTINGS}: {'; '.join(differ)}; {ADVICE}")


# --- the page ---


def page_of(evaluation: dict[str, Any]) -> str:
    """Return the content of evaluation.json as a page of Markdown."""
    e = evaluation
    changed = "" if e["disguise"] is None else f", disguised with seed {e['disguise']}"
    if e["private_cards"] is not None:
        changed += f", other cards with seed {e['private_cards']} (the opponents' ratings are those with the packaged ones)"
    head = ["task", "rating (95 % interval)", "games", "decisions", "legal at once", *WRONG]
    head += ["without a legal answer", "tokens per decision", "seconds per decision"]
    lines = [
        f"# Evaluation of `{one_line(e['agent'])}`\n",
        f"garden-envs {e['garden_envs']}, {e['date']}, at most {e['games']} games in a task, seed {e['seed']}{changed}.\n",
        *as_markdown((head, [_summary(name, results) for name, results in e["tasks"].items()])),
        "",
        "Ratings are on the benchmark's scale: `random` has 0, and 400 points more mean finishing ahead ten times as often.",
        "Answers are legal, illegal (an action that is not allowed now, or a number that is not in the list), unreadable (no action, or several),",
        "truncated (cut off at the limit of tokens) or late; all but the legal ones are repeated (`retries`).",
        "Without a legal answer, the agent forfeits the game, or acts at random if it is set so (`fallback`).",
        "",
    ]
    rows = [_against(name, each) for name, results in e["tasks"].items() for each in results["against"]]
    head = ["task", "opponent", "its rating", "games", "wins (95 % interval)", "expected", "forfeits"]
    return "\n".join(lines + as_markdown((head, rows))) + "\n"


def _summary(name: str, results: dict[str, Any]) -> list[str]:
    """Return a task's row of the first table; a rating is infinite on a side where the agent won, or lost, all games."""
    low, high = results["interval"]
    if low is None or high is None:
        rating = f"below {round(high)}" if low is None else f"above {round(low)}"
    else:
        rating = f"{round(results['rating'])} ({round(low)} … {round(high)})"
    first, counts = [name, rating, f"{results['games']}"], results["counts"]
    made = counts.get("decisions")
    if not made:
        return [*first, *["–"] * (5 + len(WRONG))]
    tokens = counts["prompt_tokens"] + counts["completion_tokens"]
    return [
        *first,
        f"{made}",
        f"{counts['legal_at_once'] / made:.1%}",
        *(f"{counts[outcome]}" for outcome in WRONG),
        f"{counts['fallbacks'] / made:.1%}",
        f"{tokens / made:,.0f}" if tokens else "–",
        f"{counts['seconds'] / made:.2f}",
    ]


def _against(name: str, each: dict[str, Any]) -> list[str]:
    """Return an opponent's row of the second table."""
    low, high = each["interval"]
    wins = f"{each['win_rate']:.0%} ({low:.0%} … {high:.0%})", f"{each['expected']:.0%}"
    return [name, f"`{each['agent']}`", f"{each['rating']}", f"{each['games']}", *wins, f"{each['forfeits']}"]
