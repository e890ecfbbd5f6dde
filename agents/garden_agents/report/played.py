"""Sections of a report about games of a run's network: actions, scores, values, sample games."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from os.path import isfile
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from garden_agents.matches.meet import places, shares_of, wilson
from garden_agents.matches.values import PlayedGame, by_fifths, chances, parts_of, self_play
from garden_agents.networks import NETWORK
from garden_agents.networks.network_agent import NetworkAgent
from garden_agents.plots import COLOURS, GREY, svg_plot
from garden_agents.registry import make_game
from garden_agents.report.parts import facts, quiet, section, share, table, words
from garden_agents.report.run_files import CONFIG, Config
from garden_core.batch.policies import GreedyPolicy, Policy
from garden_core.checks import one_line
from garden_core.files.data import DataFile
from garden_core.game import Game
from garden_core.recorded import film
from garden_core.recorded.replay import record

SEED = 4_000_000  # of the games; neither training nor evaluations use it
BINS = 10  # of values
PARTS = ("1st fifth", "2nd", "3rd", "4th", "5th")
HEADING = "How the network plays"


class _GameArguments(msgspec.Struct):
    """The arguments of a training that choose its game."""

    game: str
    options: dict[str, str] = {}
    num_players: int | None = None


def sections(
    folder: Path,
    config: Config,
    games: int,
    code: str | None,
    on_finished: Callable[[int], object] | None,
) -> list[str]:
    """Play games of the run's best network against itself, and return the sections about them.

    If the games cannot be played, there is one section with the reason. The arguments are described in `report.page`.
    """
    try:
        game = _game(config, code, folder / CONFIG)
        if not isfile(folder / NETWORK):
            raise ValueError(f"there is no {NETWORK} yet; it is written at the first evaluation")
        agent = NetworkAgent.load(folder, game, SEED, sampled=True)
        played = self_play(game, agent, games, SEED, on_finished)
    except (ValueError, TypeError) as error:
        return [section(HEADING, quiet(f"No games were played: {error}."))]
    return [
        section(HEADING, _play(game, played)),
        section("Values and outcomes", _calibration(game, agent, played)),
        section("Sample games", _samples(game, agent)),
    ]


def _game(config: Config, code: str | None, path: Path) -> Game:
    """Return the game of a run, its cap on decisions no higher than the game's default.

    Raises:
        ValueError, TypeError: for a game that is not installed, code that `code` does not name, or options of another game.
    """
    try:
        a = msgspec.convert(config.arguments, _GameArguments)
    except msgspec.ValidationError:
        raise ValueError(f"{CONFIG} names no game") from None
    if ":" in a.game and a.game != code:
        raise ValueError(f"the game is code, {one_line(a.game, 100)}; to run it, name it with --game")
    files = {key: DataFile(f"{one_line(key, 60)} in {path}", text) for key, text in config.data_files.items()}
    game = make_game(a.game, a.num_players, a.options, files)
    cap = game.defaults["max_decisions"]
    if game.option_values["max_decisions"] > cap:  # a stranger's game might go on for hours
        game = game.with_options(max_decisions=cap)
    return game


# --- how it plays ---


def _play(game: Game, played: Sequence[PlayedGame]) -> str:
    ends = np.concatenate([each.end for each in played])
    lengths, cut = ends["decisions"], float((ends["truncated"] != 0).mean())
    choices = np.mean([len(each.actions) for each in played])
    about = {
        "games": f"{len(played):,} of the best network against itself, actions drawn by their probabilities",
        "decisions in a game": f"{lengths.mean():.1f} on average, {lengths.min()} to {lengths.max()}; "
        f"{choices:.1f} of them with more than one legal action",
        "cut at the cap": f"{cut:.1%} of the games" if cut else "",
    }
    return f"{facts(about)}{_seats(game, ends)}{_actions(game, played)}{_scores(game, ends)}"


def _seats(game: Game, ends: np.ndarray) -> str:
    """Return the win rates by seat; "" for games without opponents."""
    if game.cooperative or game.num_players < 2:
        return ""
    rows = []
    for seat, wins in enumerate(shares_of(places(game, ends)).sum(0)):
        low, high = wilson(float(wins), len(ends))
        name = f"player_{seat}{', who begins' if seat == 0 else ''}"
        rows.append((name, f"{wins / len(ends):.1%}", f"{low:.1%} … {high:.1%}"))
    return f"<h3>Win rate by seat</h3>{table(('seat', 'win rate', '95 % interval'), rows)}"


def _actions(game: Game, played: Sequence[PlayedGame]) -> str:
    """Return the share of each kind of action: blocks of the game's actions, or first words of their labels."""
    kinds = [part.meaning for part in game.action_parts for _ in range(part.size)]
    kinds = kinds or [label.partition(" ")[0] for label in game.labels]
    names = list(dict.fromkeys(kinds))
    number = np.array([names.index(kind) for kind in kinds])
    chosen = number[np.concatenate([each.actions for each in played])]
    parts = parts_of([len(each.actions) for each in played])
    counts = np.array([np.bincount(chosen[part], minlength=len(names)) for part in parts]).T
    shares = counts / np.maximum(counts.sum(0), 1)
    rows = [(words(name, 120), *map(share, row)) for name, row in zip(names, shares.tolist(), strict=True)]
    return (
        "<h3>Actions by fifths of the game</h3>"
        '<p class="quiet">Shares of the decisions with more than one legal action.</p>'
        f"{table(('kind of action', 'all', *PARTS), rows)}"
    )


def _scores(game: Game, ends: np.ndarray) -> str:
    """Return the means of the parts of scores, for winners and others."""
    sheets = [game.score_sheet(game.snapshot(end)) for end in ends]
    first = places(game, ends) == 0
    if game.cooperative:
        first[:] = True
    names = list(dict.fromkeys(name for sheet in sheets for parts in sheet for name in parts))
    values = np.array(
        [
            [[*(parts.get(name, 0) for name in names), sum(parts.values())] for parts in sheet]
            for sheet in sheets
        ]
    )
    won = values[first].mean(0)
    columns: dict[str, Iterable[str]] = {"part": [*(words(name, 60) for name in names), "all"]}
    if first.all():
        columns["mean"] = map("{:.1f}".format, won)
    else:
        lost = values[~first].mean(0)
        columns["mean of first places"] = map("{:.1f}".format, won)
        columns["of others"] = map("{:.1f}".format, lost)
        columns["difference"] = map("{:+.1f}".format, won - lost)
    return f"<h3>How scores come about</h3>{table([*columns], zip(*columns.values(), strict=True))}"


# --- values ---


def _calibration(game: Game, agent: NetworkAgent, played: Sequence[PlayedGame]) -> str:
    """Return the network's values next to the outcomes: a reliability diagram, means and correlations."""
    if game.cooperative or game.num_players < 2:
        return quiet("This game is cooperative or for one player, so no values of first places are shown.")
    if agent.value_target != "seats" and (agent.value_target != "outcome" or game.num_players > 2):
        return quiet(
            f'The network\'s values are no chances of the first place: they predict the reward "{agent.value_target}".'
        )
    values = [each.values for each in played]
    outcomes = [each.outcomes for each in played]
    value, outcome = np.concatenate(values), np.concatenate(outcomes)
    if not len(value):
        return quiet("There was no decision with more than one legal action.")
    span = -1 / (game.num_players - 1), 1.0
    edges = np.linspace(*span, BINS + 1)
    at = np.digitize(value, edges[1:-1])
    counts = np.bincount(at, minlength=BINS)
    some = np.flatnonzero(counts)
    x, y = (np.bincount(at, part, BINS)[some] / counts[some] for part in (value, outcome))

    def draw(left: Any, right: Any) -> None:
        left.plot(span, span, "--", color=GREY)
        left.scatter(x, y, 10 + 90 * counts[some] / counts.max(), COLOURS[0])
        left.set(xlabel="value", ylabel="mean outcome")
        right.bar(edges[:-1], counts, np.diff(edges), align="edge", color=COLOURS[0])
        right.set(xlabel="value", ylabel="decisions")
        for axes in (left, right):
            axes.locator_params(axis="x", nbins=5)

    rows = [
        (
            key.replace("_", " "),
            *(f"{round(each, 2) + 0.0:+.2f}" if np.isfinite(each) else "–" for each in column),
        )
        for key, column in by_fifths(values, outcomes).items()
    ]
    scale = "1 for a sole first place, 0 for all players together"
    return (
        f"<p class=\"quiet\">At each decision the network's value for the player to move, and at the end that player's "
        f"outcome: {scale}. Decisions of one game share their outcome, so few games say little. "
        f"On the dashed line the mean outcome equals the value.</p>{svg_plot(draw)}"
        f"<h3>By fifths of the game</h3>{table(('', 'all', *PARTS), rows)}"
    )


# --- games to look at ---


def _samples(game: Game, agent: NetworkAgent) -> str:
    """Return games of the network with its most likely actions: against itself, and against greedy play."""
    network: Policy = NetworkAgent(agent.network, agent.value_target)
    n, greedy = game.num_players, GreedyPolicy(SEED)
    lineups = {"the network against itself": [network] * n}
    if n > 1 and not game.cooperative:
        last = "greedy begins against the network" if n == 2 else "the network comes last, against greedy"
        lineups["the network begins against greedy"] = [network, *[greedy] * (n - 1)]
        lineups[last] = [*[greedy] * (n - 1), network]
    try:
        return "\n".join(
            _sample(game, agent, name, seats, SEED + number)
            for number, (name, seats) in enumerate(lineups.items())
        )
    except ValueError as error:  # it has no picture, or the network's answer is not finite
        return quiet(f"{error}.")


def _sample(game: Game, agent: NetworkAgent, name: str, seats: Sequence[Policy], seed: int) -> str:
    """Return a collapsed game of these policies: an embedded page, isolated from this one."""
    replay = record(game, seats, seed)
    values_seats = agent.value_target == "seats" and game.num_players > 1
    page = film.page(replay, estimates=chances(agent, replay) if values_seats else None)
    about = f"{name}: {' : '.join(map(str, replay.scores))} after {len(replay.actions)} decisions"
    frame = f'<iframe sandbox="allow-scripts" title="{about}" data-page="{html.escape(page)}"></iframe>'
    return f"<details><summary>{about}</summary>{frame}</details>"
