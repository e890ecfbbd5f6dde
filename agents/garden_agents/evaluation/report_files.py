"""Sections of a report from the files of a training run: its settings, the final evaluation, those during the training."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from garden_agents.evaluation.matches import Result, wilson
from garden_agents.evaluation.page_parts import duration, facts, quiet, table, words
from garden_agents.evaluation.plots import learning_curves, svg_plot
from garden_agents.evaluation.run_files import EVALUATIONS, METRICS, RESULTS, TEAM, Config, read_rows
from garden_core.files.disk import is_file, read_regular

EXPLOIT = "exploit.json"
RESULTS_LIMIT = 1_000_000  # largest size of a file of results, bytes
MOST_ROWS, MOST_EVALUATIONS = 4000, 200  # of the tables that are looked at
MOST_AGENTS, MOST_RESULTS = 12, 100
LARGEST, LEAST = 1e15, 1e-30  # numbers beyond are not drawn, smaller ones are 0


T = TypeVar("T")


class _Results(msgspec.Struct):
    """A file of results."""

    results: list[Result]
    decisions: int = 0


class Recorded:
    """Everything that a run has written so far; files that are missing or damaged leave their part empty.

    Attributes:
        config: its config.
        metrics, evaluations: the columns of its tables, float64 of the same length, NaN for what cannot be drawn.
        results: of the final evaluation, and of a best response.
        errors: what is wrong with a file, by its name.
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
        return max(
            (float(part["decisions"][-1]) for part in (self.metrics, self.evaluations) if part), default=0.0
        )

    @property
    def panel(self) -> list[str]:
        """Names of the agents that evaluations were played against."""
        return [name for name in self.evaluations if name not in ("decisions", "seconds")][:MOST_AGENTS]

    @property
    def best(self) -> float | None:
        """Decisions after which the network was kept: with the highest mean rate, the latest of equal ones."""
        if not self.panel:
            return None
        means = np.mean([self.evaluations[name] for name in self.panel], axis=0)
        highest = np.flatnonzero(means == np.max(means[np.isfinite(means)], initial=-np.inf))
        return float(self.evaluations["decisions"][highest[-1]]) if len(highest) else None

    @property
    def num_players(self) -> int | None:
        """Number of players, if the config says so."""
        options = self.config.game.get("options")
        return _whole(options.get("num_players") if isinstance(options, dict) else None, 1, 1000)

    @property
    def panel_games(self) -> int | None:
        """Games against each agent in an evaluation, if the config says so."""
        games = _whole(self.config.arguments.get("panel_games"), 1, 10**9)
        if games is None or self.num_players is None or self.panel == [TEAM]:
            return games
        return -(-games // self.num_players) * self.num_players


def _columns(path: Path, most: int) -> dict[str, np.ndarray]:
    """Return the columns of a table, of `most` rows at most, without rows whose place on the x axis is unknown."""
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
    if not is_file(path):
        return None
    try:
        return msgspec.json.decode(read_regular(path, limit), type=_Results)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path.name} is damaged: {error}") from None


def _whole(value: object, low: int, high: int) -> int | None:
    return value if type(value) is int and low <= value <= high else None


def state(found: Recorded) -> str:
    """Return a sentence on how far the training is."""
    if found.results and found.results[0].decisions >= found.decisions:
        return "This training is finished."
    return "This training is running, or was interrupted."


def settings(found: Recorded) -> str:
    """Return the game and the settings of the training, and how long it took."""
    config, arguments = found.config, found.config.arguments
    named = {
        "game": words(arguments.get("game", "")),
        "options": _listed(config.game.get("options", {})),
        "trainer": words(config.trainer),
        "seed": words(arguments.get("seed", "")),
    }
    if found.metrics:
        limit = arguments.get("minutes")
        of = f" of {duration(60 * limit)}" if isinstance(limit, int | float) and 0 < limit <= 1e7 else ""
        named["training time"] = f"{duration(found.metrics['seconds'][-1])}{of}"
    elif METRICS in found.errors:
        named[METRICS] = words(found.errors[METRICS], 600)
    if found.decisions:
        named["decisions"] = f"{found.decisions:,.0f}"
    if found.best is not None:
        named["best network"] = f"kept after {found.best:,.0f} decisions"
    named["versions"] = _listed(config.versions)
    named["command"] = f"<code>{words(config.command, 2000)}</code>" if config.command else ""
    rows = [(words(key, 60), words(value)) for key, value in itertools.islice(arguments.items(), 200)]
    return f"{facts(named)}\n<details><summary>all arguments</summary>{table(('argument', 'value'), rows)}</details>"


def _listed(values: Any) -> str:
    """Return names and values of a config, without those that are empty."""
    pairs = itertools.islice(values.items(), 60) if isinstance(values, dict) else ()
    return ", ".join(f"{words(key, 60)} {words(value, 100)}" for key, value in pairs if value != "")


def final(found: Recorded) -> str:
    """Return the table of the final evaluation."""
    rows = [
        (
            words(r.agent, 60),
            words(r.opponent, 60),
            f"{r.games:,}",
            f"{r.win_rate:.1%}",
            f"{r.interval[0]:.1%} … {r.interval[1]:.1%}",
            f"{r.mean_score:.1f} : {r.opponents_mean_score:.1f}",
            ", ".join(f"{won:.0%}" for won in r.by_seat[:20]),
        )
        for file in found.results
        for r in file.results[:MOST_RESULTS]
    ]
    wrong = "; ".join(found.errors[name] for name in (RESULTS, EXPLOIT) if name in found.errors)
    if not rows:
        return quiet(wrong or "There is none; it is played at the end of a training, if at all.")
    head = ("agent", "against", "games", "win rate", "95 % interval", "mean scores", "win rate by seat")
    return table(head, rows) + (quiet(wrong) if wrong else "")


def evaluations(found: Recorded) -> str:
    """Return the curves of the evaluations, over decisions and over time."""
    if not found.panel:
        return quiet(found.errors.get(EVALUATIONS, "There was no evaluation yet."))
    team, players, games = found.panel == [TEAM], found.num_players, found.panel_games
    decisions, seconds = found.evaluations["decisions"], found.evaluations["seconds"]
    rows = [[f"{d:,.0f}", duration(s)] for d, s in zip(decisions, seconds, strict=True)]
    columns = {"decisions": decisions, "seconds": seconds}
    for name in found.panel:
        rates = found.evaluations[name]
        columns[name] = rates if team else np.where((rates >= 0) & (rates <= 1), rates, np.nan)
        for row, text in zip(rows, _in_words(columns[name], games, team), strict=True):
            row.append(text)
    chance = 1 / players if players and players > 1 and not team else None

    def draw(left: Any, right: Any) -> None:
        learning_curves(left, right, columns, None if team else games, chance)

    names = ["mean outcome of the team"] if team else [f"against {words(name, 60)}" for name in found.panel]
    about = f"ach evaluation plays the same {f'{games:,} ' if games else ''}deals"
    about = f"The bands are 95 % intervals (Wilson); e{about}" if games and not team else f"E{about}"
    return (
        f'<p class="quiet">{about}.</p>{svg_plot(draw, sharey=True)}'
        f"<details><summary>the numbers</summary>{table(('decisions', 'time', *names), rows)}</details>"
    )


def _in_words(rates: np.ndarray, games: int | None, team: bool) -> list[str]:
    """Return win rates with their intervals, or a team's scores, in words."""
    texts = [(f"{rate:.3g}" if team else f"{rate:.1%}") if np.isfinite(rate) else "–" for rate in rates]
    if games is None or team:
        return texts
    intervals = (wilson(rate * games, games) for rate in rates)
    return [
        f"{text} ({low:.0%} … {high:.0%})" if np.isfinite(rate) else text
        for text, rate, (low, high) in zip(texts, rates, intervals, strict=True)
    ]
