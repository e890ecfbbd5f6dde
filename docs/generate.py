"""Update the generated parts of README and docs (tables, pictures of recorded games, pages of rules, model cards): `python docs/generate.py`."""

from __future__ import annotations

import argparse
import functools
import importlib
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import cards
import pictures
import results
import strength
import tyro
from results import ROOT, own_games, table

from garden_core import Game, make
from garden_core.game import Part
from garden_core.interfaces.registration import gymnasium_id, pettingzoo_id
from garden_core.options import REWARD

RESULT_TABLES = (
    results.speed,
    results.speed_in_short,
    results.rates,
    results.same_work,
    results.first_step,
    results.threads,
    results.gpu,
    results.datasets,
    results.search,
    results.answers,
    results.peers,
    results.peers_start,
    results.bots,
    results.scripted_players,
    results.language_model_costs,
    strength.trainers,
    strength.more_processes,
    strength.roofline,
    strength.networks,
    strength.variants,
    strength.calibration,
    strength.ratings,
    strength.fields,
    strength.fits,
    strength.baselines,
    strength.baselines_in_short,
    strength.knowledge,
    strength.unseen_cards,
    strength.best_responses,
    strength.exploited,
    strength.ladder,
    strength.search_in_short,
    strength.comparison_in_short,
    strength.scores,
    strength.comparing_errors,
    strength.comparing_repeats,
    strength.comparing_deals,
    strength.comparing_seeds,
    strength.decisions,
    strength.hidden,
    strength.offline,
    strength.luck,
    strength.luck_solved,
    results.games,
    results.games_in_short,
    results.soak,
    results.mutants,
)

OTHER_SEAT = re.compile(r"(seat \d+ after it): ")
"""Begins the meaning of a part that repeats a part of the observer."""


def card(game: Game) -> str:
    """Return a game's metadata: players, information, spaces, names in the registries."""
    players = next(option for option in game.options if option.name == "num_players")
    pettingzoo, gymnasium = pettingzoo_id(type(game)), gymnasium_id(type(game))
    chance = {"none": "none", "deal": "in the deal", "play": "in the deal and during play"}
    facts = {
        "PettingZoo": f'`{game.name}_v{game.version}.env(...)`, `pettingzoo.make("aec", "{pettingzoo}", ...)`',
        "Gymnasium": f'`gymnasium.make("{gymnasium}", ...)`, `gymnasium.make_vec("{gymnasium}", ...)`',
        "Batches": f'`Batch(garden_core.make("{game.name}", ...), num_envs)`',
        "Players": f"{players.low} to {players.high}" if players.low != players.high else players.low,
        "Agents": "`player_0` … in seating order",
        "Information": game.information,
        "Chance": chance[game.chance],
        "Action space": f"Discrete({game.num_actions}) with the default options",
        "Observation space": f"Box(0, 127, {game.observation_shape}, int8) with the default options",
        "State": f"one record of {game.state_dtype.itemsize} bytes",
    }
    return table(("", ""), facts.items())


def options(game: Game) -> str:
    """Return the table of options."""
    rows = [
        (f"`{o.name}`", f"`{o.default!r}`", o.allowed.replace("'", '"'), o.help)
        for o in (*game.options, REWARD)
    ]
    return table(("option", "default", "allowed", "meaning"), rows)


def actions(game: Game) -> str:
    """Return the table of the blocks of actions."""
    rows = [
        (indexes, f"`{part.name}`", f"`{game.labels[first]}`", part.meaning)
        for first, indexes, part in _indexed(game.action_parts)
    ]
    return table(("actions", "name", "label, for example", "meaning"), rows)


def observation(game: Game, first: int = 0) -> str:
    """Return the table of the parts of an observation, from part number `first`."""
    rows, others = [], []
    for start, indexes, part in _indexed(game.observation_parts)[first:]:
        if seat := OTHER_SEAT.match(part.meaning):
            if not others or others[-1][0] != seat[1]:
                others.append((seat[1], start))
            last = start + part.size - 1
        else:
            if others:
                firsts = ", ".join(str(at) for _, at in others)
                rows.append(
                    (
                        f"{others[0][1]} … {last}",
                        "",
                        "",
                        f"the same for each other seat, in order from the observer: from {firsts}",
                    )
                )
                others = []
            rows.append((indexes, f"`{part.name}`", part.values, part.meaning))
    return table(("entries", "name", "values", "meaning"), rows)


def hidden(game: Game) -> str:
    """Return the table of the parts of what is hidden from a seat."""
    rows = [
        (indexes, f"`{part.name}`", part.values, part.meaning)
        for _, indexes, part in _indexed(game.hidden_parts)
    ]
    return table(("entries", "name", "values", "meaning"), rows)


def memory(game: Game) -> str:
    """Return the table of the parts that `memory="history"` adds to an observation."""
    return observation(make(game.name, memory="history"), len(game.observation_parts))


def values(game: Game) -> str:
    """Return the table of the parts of an observation that `cards_shown="values"` has in place of others."""
    shown = _indexed(make(game.name, cards_shown="values").observation_parts)
    rows = [
        (indexes, f"`{part.name}`", part.values, part.meaning)
        for _, indexes, part in shown
        if part not in game.observation_parts
    ]
    return table(("entries", "name", "values", "meaning"), rows)


def _indexed(parts: Sequence[Part]) -> list[tuple[int, str, Part]]:
    """Return the first index, the range of indexes in words, and each part."""
    indexed, first = [], 0
    for part in parts:
        last = first + part.size - 1
        indexed.append((first, f"{first} … {last}" if part.size > 1 else f"{first}", part))
        first = last + 1
    return indexed


def commands() -> str:
    """Return the tables of the options of every command."""
    from garden_agents.commands import MODULES

    explained: set[tuple[str, str]] = set()
    sections = []
    modules = {"train": "training.ppo", "exploit": "training.exploit"} | MODULES
    for name, module in modules.items():
        arguments = importlib.import_module(f"garden_agents.{module}").Arguments
        listed = _options_of(arguments)
        rows = [row for row in listed if row not in explained]
        shared = [option for option, text in listed if (option, text) in explained]
        explained |= {*listed}
        summary = " ".join(arguments.__doc__.split())
        if shared:
            summary += f" Options explained above: {', '.join(shared)}."
        sections.append(f"## `garden {name}`\n\n{summary}\n\n{table(('option', 'meaning'), rows)}")
    return "\n\n".join(sections)


def _options_of(arguments: type) -> list[tuple[str, str]]:
    """Return each option of a command and its help text."""
    with warnings.catch_warnings(action="ignore", category=DeprecationWarning):
        parser = tyro.extras.get_parser(arguments)
    rows = []
    for action in parser._actions:
        if "--help" not in action.option_strings and action.help != argparse.SUPPRESS:
            text = re.sub(
                r" \(default: (None|False|''|)\)$", "", " ".join(action.help.replace("%%", "%").split())
            )
            if "if not given" in text:  # and what then is said there, as it can depend on the machine
                text = re.sub(r" \(default: .*\)$", "", text)
            # As code, which is not broken after hyphens.
            text = re.sub(r"`[^`]*`|--[a-z][a-z-]*", lambda option: f"`{option[0].strip('`')}`", text)
            rows.append((f"`{(action.option_strings or [str(action.dest).upper()])[0]}`", text))
    return rows


def generated() -> dict[str, Callable[[], str]]:
    """Return every generated part by name."""
    parts = {function.__name__.replace("_", " "): function for function in RESULT_TABLES}
    parts["commands"] = commands
    for game in map(make, own_games()):
        for what in (card, options, actions, observation, *[hidden] * bool(game.hidden_parts)):
            parts[f"{game.name} {what.__name__}"] = functools.partial(what, game)
        if "memory" in game.option_values:
            parts[f"{game.name} memory"] = functools.partial(memory, game)
        if "cards_shown" in game.option_values:
            parts[f"{game.name} values"] = functools.partial(values, game)
    return parts


def filled(text: str) -> str:
    """Return `text` with all generated parts updated."""
    parts = generated()

    def fill(match: re.Match[str]) -> str:
        return f"<!-- begin {match[1]} -->\n{parts[match[1]]()}\n<!-- end {match[1]} -->"

    return re.sub(r"<!-- begin ([\w ]+) -->\n.*?<!-- end \1 -->", fill, text, flags=re.DOTALL)


def rules() -> dict[Path, str]:
    """Return, by file, the full rules of each game that has them in its package."""
    made = {}
    for game in map(make, own_games()):
        if game.rules_text != game.summary:
            note = "<!-- A copy of rules.md in the game's package: python docs/generate.py -->"
            title, _, text = game.rules_text.partition("\n")
            made[ROOT / "docs" / "rules" / f"{game.name}.md"] = (
                f"{note}\n\n{title}\n\n## In short\n\n{game.summary.strip()}\n{text}"
            )
    return made


def pages() -> list[Path]:
    """Return the pages for people: at the top of the project, in docs, and the report."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "AGENTS.md")]
    docs = ROOT / "docs"
    return [*top, *sorted(docs.glob("*.md")), *sorted((docs / "report").glob("*.md"))]


if __name__ == "__main__":
    for page in pages():
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
    for path, content in (pictures.stills() | rules() | cards.cards()).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
