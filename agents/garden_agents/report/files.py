"""Sections of a report from the files of a training run: settings, final evaluation, evaluations during the training."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from os.path import isfile
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from garden_agents.evaluation.tasks import field_of, tasks
from garden_agents.matches.meet import Result, wilson
from garden_agents.plots import svg_plot
from garden_agents.report.curves import learning_curves
from garden_agents.report.parts import duration, facts, quiet, table, words
from garden_agents.report.run_files import (
    EVALUATIONS,
    EXPLOIT,
    KEPT,
    METRICS,
    RATING,
    RESULTS,
    TEAM,
    Config,
    read_rows,
)
from garden_core.files.disk import read_regular

RESULTS_LIMIT = 1_000_000  # largest file of results, bytes
MOST_ROWS, MOST_EVALUATIONS = 4000, 200  # of the tables
MOST_AGENTS, MOST_RESULTS = 12, 100
LARGEST, LEAST = 1e15, 1e-30  # larger numbers are not drawn, smaller ones are 0

T = TypeVar("T")


class _Against(msgspec.Struct):
    """Games against a member of a field, see `evaluation.score.Against`."""

    agent: str
    rating: float
    games: int
    win_rate: float
    interval: tuple[float, float]


class _Score(msgspec.Struct):
    """A rating, see `evaluation.score.Score`."""

    task: str
    version: int
    rating: float
    interval: tuple[float | None, float | None]
    games: int
    against: list[_Against]


class _Results(msgspec.Struct):
    """A file of results."""

    results: list[Result] = []
    score: _Score | None = None
    decisions: int = 0


class RunFiles:
    """The content of a run's files; empty for missing or damaged files.

    Attributes:
        config: its config.
        metrics, evaluations: the columns of its tables, float64 of the same length, NaN for values that cannot be drawn.
        results: of the final evaluation, and of a best response.
        errors: error message by name of the damaged file.
    """

    def __init__(self, folder: Path, config: Config) -> None:
        self.config = config
        self.errors: dict[str, str] = {}
        self.metrics = self._read(_columns, folder / METRICS, MOST_ROWS) or {}
        self.evaluations = self._read(_columns, folder / EVALUATIONS, MOST_EVALUATIONS) or {}
        results = [self._read(_results, folder / name, RESULTS_LIMIT) for name in (RESULTS, EXPLOIT)]
        self.results = [each for each in results if each is not None]

    def _read(self, read: Callable[[Path, int], T], path: Path, limit: int) -> T | None:
        try:
            return read(path, limit)
        except OSError as error:
            self.errors[path.name] = f"{path.name} cannot be read: {error.strerror}"
        except ValueError as error:
            self.errors[path.name] = str(error)
        return None

    @property
    def decisions(self) -> float:
        """Decisions learned from so far."""
        tables = filter(None, (self.metrics, self.evaluations))
        return max((float(table["decisions"][-1]) for table in tables), default=0.0)

    @property
    def measured(self) -> list[str]:
        """What evaluations measured: `RATING`, opponents, or `TEAM`."""
        return [name for name in self.evaluations if name not in ("decisions", "seconds", KEPT)][:MOST_AGENTS]

    @property
    def members(self) -> dict[str, float]:
        """Ratings of the members of the task's field, by name; {} if the run's task is not known here."""
        for name in self.config.measure:
            if name in tasks():
                return {member.agent: member.rating for member in field_of(name).members}
        return {}

    @property
    def best(self) -> float | None:
        """Decisions of the network that was kept in the last evaluation; None if there was none."""
        kept = self.evaluations.get(KEPT)
        return float(kept[-1]) if kept is not None and np.isfinite(kept[-1]) else None

    @property
    def num_players(self) -> int | None:
        """Number of players, None if the config has none."""
        options = self.config.game.get("options")
        return _whole(options.get("num_players") if isinstance(options, dict) else None, 1, 1000)

    @property
    def games(self) -> int | None:
        """Games against each opponent in an evaluation, None if the config has none."""
        games, n = _whole(self.config.arguments.get("evaluation_games"), 1, 10**9), self.num_players
        return games and n and -(-games // (n * max(1, len(self.measured)))) * n


def _columns(path: Path, most: int) -> dict[str, np.ndarray]:
    """Return the columns of a table, with `most` rows at most, without rows that have no place on the x axis."""
    rows = read_rows(path, ("decisions", "seconds"), most)
    if not rows:
        return {}
    numbers = np.array([[float(value) for value in row.values()] for row in rows])
    numbers[~(np.abs(numbers) <= LARGEST)] = np.nan
    numbers[np.abs(numbers) < LEAST] = 0
    columns = dict(zip(rows[0], numbers.T, strict=True))
    placed = (columns["decisions"] >= 0) & (columns["seconds"] >= 0)
    return {name: x[placed] for name, x in columns.items()} if placed.any() else {}


def _results(path: Path, limit: int) -> _Results | None:
    if not isfile(path):
        return None
    try:
        return msgspec.json.decode(read_regular(path, limit), type=_Results)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None


def _whole(value: object, low: int, high: int) -> int | None:
    return value if type(value) is int and low <= value <= high else None


def state(run: RunFiles) -> str:
    """Return a sentence about the progress of the training."""
    if run.results and run.results[0].decisions >= run.decisions:
        return "This training is finished."
    return "This training is running, or was interrupted."


def settings(run: RunFiles) -> str:
    """Return the game, the settings and the duration of the training."""
    config, arguments = run.config, run.config.arguments
    limit = arguments.get("minutes")
    of = f" of {duration(60 * limit)}" if isinstance(limit, int | float) and 0 < limit <= 1e7 else ""
    named = {
        "game": words(arguments.get("game", "")),
        "options": _listed(config.game.get("options", {})),
        "trainer": words(config.trainer),
        "seed": words(arguments.get("seed", "")),
        "training time": f"{duration(run.metrics['seconds'][-1])}{of}" if run.metrics else "",
        METRICS: words(run.errors.get(METRICS, ""), 600),
        "decisions": f"{run.decisions:,.0f}" if run.decisions else "",
        "best network": "" if run.best is None else f"kept after {run.best:,.0f} decisions",
        "versions": _listed(config.versions),
        "command": f"<code>{words(config.command, 2000)}</code>" if config.command else "",
    }
    rows = [(words(key, 60), words(value)) for key, value in itertools.islice(arguments.items(), 200)]
    return f"{facts(named)}\n<details><summary>all arguments</summary>{table(('argument', 'value'), rows)}</details>"


def _listed(values: Any) -> str:
    """Return names and non-empty values of a config."""
    pairs = itertools.islice(values.items(), 60) if isinstance(values, dict) else ()
    return ", ".join(f"{words(key, 60)} {words(value, 100)}" for key, value in pairs if value != "")


def final(run: RunFiles) -> str:
    """Return the final evaluation: the rating, and win rates."""
    head = ["agent", "against", "games", "win rate", "95 % interval"]
    about = ""
    rows: list[tuple[str, ...]] = []
    for file in run.results:
        if found := file.score:
            low, high = (
                f"{end:.0f}" if end is not None and abs(end) < LARGEST else "…" for end in found.interval
            )
            task = f"{words(found.task, 60)}, version {found.version}"
            about = (
                f"<p>Rating in {task}: {found.rating:.0f} ({low} to {high}), by {found.games:,} games.</p>"
            )
            rows += [
                ("network", f"{words(each.agent, 60)} ({each.rating:.0f})", *_won(each))
                for each in reversed(found.against[:MOST_RESULTS])
            ]
        rows += [
            (
                words(r.agent, 60),
                words(", ".join(filter(None, (r.opponent, r.variant))), 100),
                *_won(r),
                f"{r.mean_score:.1f} : {r.opponents_mean_score:.1f}",
                ", ".join(f"{won:.0%}" for won in r.by_seat[:20]),
            )
            for r in file.results[:MOST_RESULTS]
        ]
    wrong = "; ".join(run.errors[name] for name in (RESULTS, EXPLOIT) if name in run.errors)
    if not rows:
        return quiet(wrong or "There is none; it is played at the end of a training, unless turned off.")
    if not about:
        head += ["mean scores", "win rate by seat"]
    return about + table(head, rows) + (quiet(wrong) if wrong else "")


def _won(result: Result | _Against) -> tuple[str, str, str]:
    """Return number of games, win rate and interval."""
    low, high = result.interval
    return f"{result.games:,}", f"{result.win_rate:.1%}", f"{low:.1%} … {high:.1%}"


def evaluations(run: RunFiles) -> str:
    """Return the curves of the evaluations, over decisions and over time."""
    measured, players = run.measured, run.num_players
    if not measured:
        return quiet(run.errors.get(EVALUATIONS, "There was no evaluation yet."))
    rated, team = measured == [*RATING], measured == [TEAM]
    games = None if rated or team else run.games
    columns = {name: run.evaluations[name] for name in ("decisions", "seconds", *measured)}
    if not (rated or team):
        columns |= {
            name: np.where((columns[name] >= 0) & (columns[name] <= 1), columns[name], np.nan)
            for name in measured
        }
    curves = functools.partial(
        learning_curves,
        columns=columns,
        games=games,
        chance=1 / players if players and players > 1 else None,
        members=run.members,
    )
    names = measured if rated or team else [f"against {words(name, 60)}" for name in measured]
    about = f"Each evaluation plays {f'{games:,} games of ' if games else ''}the same deals."
    if rated:
        about = f"Ratings in a task of the benchmark, with 95 % intervals; grey lines are the agents of its field. {about}"
    elif games:
        about = f"The bands are 95 % intervals (Wilson). {about}"
    cells = [[f"{number:,.0f}" for number in columns["decisions"]], [*map(duration, columns["seconds"])]]
    cells += [[_in_words(value, games, rated or team) for value in columns[name]] for name in measured]
    return (
        f'<p class="quiet">{about}</p>{svg_plot(curves, sharey=True)}'
        f"<details><summary>the numbers</summary>{table(('decisions', 'time', *names), zip(*cells, strict=True))}</details>"
    )


def _in_words(rate: float, games: int | None, points: bool) -> str:
    """Return a win rate with its interval, or points, in words."""
    if not np.isfinite(rate):
        return "–"
    if points:
        return f"{rate:.4g}"
    if games is None:
        return f"{rate:.1%}"
    low, high = wilson(rate * games, games)
    return f"{rate:.1%} ({low:.0%} … {high:.0%})"
