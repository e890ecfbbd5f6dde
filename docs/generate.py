"""Fill the generated tables of README and docs: `python docs/generate.py`; a test asks that they are current."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from garden_core import Game, make
from mars_env import rules
from mars_env.board import COLOURS

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def card(game: Game) -> str:
    """Return the identity card."""
    players = next(option for option in game.options if option.name == "num_players")
    gym_id = f"garden/{game.name.capitalize()}-v0"
    return _table(
        ("", ""),
        [
            (
                "PettingZoo",
                f'`{game.name}_v0.env(...)`, `pettingzoo.make("aec", "garden/{game.name}-v0", ...)`',
            ),
            ("Gymnasium", f'`gymnasium.make("{gym_id}", ...)`, `gymnasium.make_vec("{gym_id}", ...)`'),
            ("Batches", f'`Batch(garden_core.make("{game.name}", ...), num_envs)`'),
            ("Players", f"{players.low} to {players.high}"),
            ("Agents", "`player_0` … in seating order"),
            ("Information", game.information),
            ("Chance", game.chance),
            ("Action space", f"Discrete({game.num_actions}) with the default options"),
            ("Observation space", f"Box(0, 127, {game.observation_shape}, int8) with the default options"),
            ("State", f"one record of {game.state_dtype.itemsize} bytes"),
        ],
    )


def options(game: Game) -> str:
    """Return the table of options."""
    from garden_core.game import REWARD

    every = (*game.options, REWARD)
    return _table(
        ("option", "default", "allowed", "meaning"),
        [(f"`{o.name}`", f"`{o.default!r}`", o.allowed.replace("'", '"'), o.help) for o in every],
    )


def mars_actions() -> str:
    """Return the blocks of actions, read off the labels."""
    rows = []
    one, two = make("mars"), make("mars", gardeners=2)
    kinds = (
        ("hex", "go to this hex with the (first) gardener; while placing: place it there"),
        ("second", "the same with the second gardener"),
        ("give", "give up the die of this value, with which no gardener can move"),
        ("plant", "plant a flower of this colour"),
    )
    for word, meaning in kinds:
        cells = []
        for game in (one, two):
            indexes = [i for i, label in enumerate(game.labels) if label.split()[0] == word]
            cells.append(f"{indexes[0]} … {indexes[-1]}" if indexes else "–")
            assert indexes == list(range(indexes[0], indexes[-1] + 1)) if indexes else True
        example = two.labels[[label.split()[0] for label in two.labels].index(word)]
        rows.append((*cells, f"`{example}`", meaning))
    rows.append((f"{one.num_actions} in all", f"{two.num_actions} in all", "", ""))
    return _table(("one gardener", "two gardeners", "label, for example", "meaning"), rows)


def mars_observation() -> str:
    """Return what lies where in an observation."""
    hexes, n = 91, rules.NUM_BOARD_PLANES
    rows, plane = [], 0
    for count, text in (
        (6, f"flowers by colour: {', '.join(COLOURS)}"),
        (5, "gardeners, a plane a seat (with two gardeners: four planes, two a seat)"),
        (1, "peaks"),
        (1, "hexes that the observer, to move, can reach now (with two gardeners: a plane each)"),
        (1, "the hex that waits for a flower"),
    ):
        last = plane + count - 1
        where = f"{plane} … {last}" if count > 1 else f"{plane}"
        rows.append((where, f"{plane * hexes} … {(last + 1) * hexes - 1}", "0, 1", text))
        plane += count
    assert plane == n
    at = 0
    for count, values, text in (
        (
            5 * rules.SEAT_SCALARS,
            "≥ 0",
            "for each of 5 seats: flowers left by colour (6), score div 16, score mod 16",
        ),
        (5, "0, 1", "whose turn it is, one-hot from the observer's seat on"),
        (6, "0 … 6", "dice on the table, by value"),
        (3, "0, 1", "phase, one-hot: place, move, plant"),
        (1, "1 … 5", "number of players"),
        (6, "0 … 10", "flowers planted so far, by colour"),
    ):
        first, last = n + at, n + at + count - 1
        start = n * hexes + at
        where = f"{first} … {last}" if count > 1 else f"{first}"
        flat = f"{start} … {start + count - 1}" if count > 1 else f"{start}"
        rows.append((where, flat, values, text))
        at += count
    assert n * hexes + at == rules.FLAT_SIZE
    return _table(("planes", "entries of flat", "values", "meaning"), rows)


def generated() -> dict[str, Callable[[], str]]:
    """Return every generated part by name."""
    return {
        "mars card": lambda: card(make("mars")),
        "mars options": lambda: options(make("mars")),
        "mars actions": mars_actions,
        "mars observation": mars_observation,
        "speed": speed,
        "strength": strength,
    }


def speed() -> str:
    """Return the speed table of README, from the result files."""
    throughput, startup, training = (_result(name) for name in ("throughput", "startup", "training"))
    rows: list[tuple[Any, ...]] = []
    for found in throughput["measurements"]:
        if found["num_envs"] in (1, 64, 1024) and found["num_players"] == 2:
            rate, what, n = found["decisions_per_second"]["median"], found["what"], found["num_envs"]
            games = f"{n} games" if n > 1 else "1 game"
            text = {
                "random play": f"compiled random play, choice, step and mask, {games}",
                "random play, observed": f"the same with observation, {games}",
                "Batch.step": f"`Batch.step` from Python, {games}",
                "env()": "PettingZoo `env()`, the loop in Python",
            }[what]
            rows.append((found["game"], text, f"{_short(rate)} decisions/s"))
            if what == "env()" and "beside" in found:
                other = found["beside"]
                text = f"PettingZoo's own {other['what'].split()[-1]} in the same loop"
                rows.append(("", text, f"{_short(other['decisions_per_second']['median'])} decisions/s"))
    for found in training["measurements"]:
        if found["what"] == "speed" and found["threads"] == 2:
            text = f"MaskablePPO, {found['network']} network, a third of the opponents past selves"
            rows.append(
                (
                    found["game"],
                    text,
                    f"{_short(found['decisions_per_second']['median'])} learner decisions/s",
                )
            )
    for found in startup["measurements"]:
        if found["interface"] == "env()":
            seconds = {part: found["seconds"][part]["median"] for part in ("import", "make", "reset", "step")}
            if found["cache"] == "warm":
                rows.append((found["game"], "import of the package", f"{seconds['import']:.2f} s"))
            first = seconds["make"] + seconds["reset"] + seconds["step"]
            rows.append(
                (found["game"], f"first game and step of `env()`, {found['cache']} cache", f"{first:.2f} s")
            )
    facts = throughput["facts"]
    machine = (
        f"{facts['processor']}, {facts['cores']} cores, Python {facts['python']}, Numba {facts['numba']}"
    )
    return f"On {machine}, one thread (training: two):\n\n" + _table(("game", "what", "median"), rows)


def strength() -> str:
    """Return what `make train` reaches, from the result file."""
    rows = [
        (
            found["game"],
            f"{found['minutes']:g} minutes, {found['decisions'] / 1000:,.0f} thousand decisions",
            result["opponent"],
            f"{result['win_rate']:.1%}",
            f"{result['interval'][0]:.1%} … {result['interval'][1]:.1%}",
            f"{result['mean_score']:.1f} : {result['opponents_mean_score']:.1f}",
        )
        for found in _result("training")["measurements"]
        if found["what"] == "learning"
        for result in found["results"]
    ]
    head = ("game", "training from nothing", "against", "win rate", "95 % interval", "mean scores")
    return _table(head, rows)


def _result(name: str) -> dict[str, Any]:
    return json.loads((RESULTS / f"{name}.json").read_text())


def _short(rate: float) -> str:
    return (
        f"{rate / 1e6:.2f} million"
        if rate >= 1e6
        else f"{rate / 1e3:,.0f} thousand"
        if rate >= 1e4
        else f"{rate:,.0f}"
    )


def filled(text: str) -> str:
    """Return `text` with the content of every generated part made anew."""
    parts = generated()

    def fill(match: re.Match[str]) -> str:
        return f"<!-- begin {match[1]} -->\n{parts[match[1]]()}\n<!-- end {match[1]} -->"

    return re.sub(r"<!-- begin ([\w ]+) -->\n.*?<!-- end \1 -->", fill, text, flags=re.DOTALL)


def pages() -> list[Path]:
    """Return README and the pages in docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


if __name__ == "__main__":
    for page in pages():
        page.write_text(filled(page.read_text()))
