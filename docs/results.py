"""The tables of README and docs that are made from result files of benchmarks."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from garden_core import list_games, make

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
REPORT = ROOT / "docs" / "report"
PEER_GAMES = {
    "connect_four:ConnectFour": "Connect Four",
    "tic_tac_toe:TicTacToe": "tic-tac-toe",
}
"""Games that other libraries have, too, by our name."""
SAME_WORK = (
    ("one compiled loop draws actions, steps and observes 1,024 games", 1024, ("compiled", "pgx")),
    ("the same with 8,192 games, where pgx is fastest", 8192, ("compiled", "pgx")),
    ("one call from Python steps and observes 1,024 games", 1024, ("Batch.step", "EnvPool")),
    (
        "a loop in Python plays one game, with legal actions and observation",
        1,
        ("env()", "OpenSpiel, Python", "PettingZoo"),
    ),
)
"""What is done per decision, with how many games at once, and who does it."""
FIGURE = re.compile(r"([-+]?[\d.,]+\s?(k|M|%|s|ms|µs|MB|MiB|kB|/s|[kM]/s)?( ± \d+| \(.*\))?|–|)")
"""A cell that is a figure with its unit and range."""


def own_games() -> list[str]:
    """Return the names of this project's games; other games may be installed."""
    return [name for name in list_games() if (ROOT / f"{name}_env").is_dir()]


# --- result files and cells ---


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table; games have their titles, and columns of figures are aligned right."""
    titles = {name: make(name).title for name in own_games()}
    rows = [[titles.get(cell, str(cell)) for cell in row] for row in rows]
    sides = (
        "---:|" if any(column) and all(map(FIGURE.fullmatch, column)) else "---|"
        for column in zip(*rows, strict=True)
    )
    lines = (f"| {' | '.join(row)} |" for row in (head, *rows))
    return "\n".join([next(lines), "|" + "".join(sides), *lines])


def load(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def read_measurements(*names: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    return [measured for name in names for measured in load(name, folder)["measurements"]]


def read_all(name: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the measurements of a benchmark that has a result file for each game."""
    return read_measurements(*sorted(path.stem for path in folder.glob(f"{name}-*.json")), folder=folder)


def _machine(facts: dict[str, Any]) -> str:
    """Return the processor, the versions and the date of a measurement."""
    machine = f"{facts['processor']}, {facts['cores']} cores"
    return f"{machine}, Python {facts['python']}, Numba {facts['numba']}, {facts['date']}"


def short(number: float) -> str:
    """Return a number with three digits or fewer, and k for thousands or M for millions."""
    for unit, sign in ((1e6, "\N{NO-BREAK SPACE}M"), (1e3, "\N{NO-BREAK SPACE}k")):
        if number >= unit:
            return f"{number / unit:,.{max(0, 2 - len(str(int(number / unit))))}f}{sign}"
    return f"{number:,.0f}"


def median_rate(measured: dict[str, Any], key: str = "decisions_per_second") -> str:
    return short(measured[key]["median"])


def win_rate(result: dict[str, Any], digits: int = 1) -> str:
    """Return a win rate and its interval, rounded to this number of digits."""
    low, high = result["interval"]
    return f"{result['win_rate']:.{digits}%} ({low:.{digits}%} to {high:.{digits}%})"


# --- speed ---


def speed() -> str:
    """Return the table of all speeds."""
    rows: list[tuple[Any, ...]] = []
    throughput = load("throughput")
    for measured in throughput["measurements"]:
        if measured["num_envs"] in (1, 64, 1024) and measured["num_players"] == 2:
            what, n = measured["what"], measured["num_envs"]
            games = f"{n} games" if n > 1 else "1 game"
            text = {
                "random play": f"compiled random play, choice, step and mask, {games}",
                "random play, observed": f"the same with observation, {games}",
                "Batch.step": f"`Batch.step` from Python, {games}",
                "env()": "PettingZoo `env()`, the loop in Python",
            }[what]
            rows.append((measured["game"], text, f"{median_rate(measured)}/s"))
            if what == "env()" and "beside" in measured:
                other = measured["beside"]
                text = f"PettingZoo's own {other['what'].split()[-1]} in the same loop"
                rows.append(("", text, f"{median_rate(other)}/s"))
    for measured in read_measurements("training"):
        if measured["threads"] == 1:
            rows.append((measured["game"], "PPO, decisions learned from", f"{median_rate(measured)}/s"))
    for measured in read_measurements("startup"):
        if measured["interface"] == "env()":
            game, cache, seconds = (measured[key] for key in ("game", "cache", "seconds"))
            if cache == "warm":
                rows.append((game, "import of the package", f"{seconds['import']['median']:.2f} s"))
            first = sum(seconds[part]["median"] for part in ("make", "reset", "step"))
            rows.append((game, f"first game and step of `env()`, {cache} cache", f"{first:.2f} s"))
    head = ("game", "what", "median")
    return f"On {_machine(throughput['facts'])}, one thread, in decisions per second or seconds:\n\n{table(head, rows)}"


def rates() -> str:
    """Return the table of the speed of each game: compiled, batched and alone."""
    whats, result = ("random play, observed", "Batch.step", "env()"), load("throughput")
    found = {
        (each["game"], each["what"]): median_rate(each)
        for each in result["measurements"]
        if each["num_players"] == 2 and each["num_envs"] in (1024, *(1,) * (each["what"] == "env()"))
    }
    rows = [(game, *(found[game, what] for what in whats)) for game in own_games()]
    facts = result["facts"]
    return f"On {_machine(facts)}:\n\n{table(('game', 'compiled', '`Batch.step`', '`env()`'), rows)}"


def first_step() -> str:
    """Return the table of the time to the first step of a new process."""
    rows = []
    for game in own_games():
        row = {}
        for each in read_measurements("startup"):
            if (each["game"], each["interface"]) == (game, "env()"):
                row[each["cache"]] = {part: each["seconds"][part]["median"] for part in each["seconds"]}
        first = (sum(row[cache][part] for part in ("make", "reset", "step")) for cache in ("empty", "warm"))
        rows.append((game, f"{row['warm']['import']:.1f} s", *(f"{seconds:.1f} s" for seconds in first)))
    head = ("game", "import", "first game and step, empty cache", "first game and step, warm cache")
    return table(head, rows)


def threads() -> str:
    """Return the table of the speed-up by a second thread in `Batch.step`."""
    result, rows = load("threads"), []
    for measured in result["measurements"]:
        if measured["num_envs"] not in (1024, 8192):
            continue
        rates = (median_rate(measured, key) for key in ("one_thread", "decisions_per_second"))
        ratio = "{median:.2f} ({min:.2f} to {max:.2f})".format(**measured["ratio"])
        rows.append((measured["game"], f"{measured['num_envs']:,}", *rates, ratio))
    head = (
        "game",
        "games at once",
        "one thread, decisions/s",
        "two threads, decisions/s",
        "median of the ratios (range)",
    )
    return f"On {_machine(result['facts'])}:\n\n{table(head, rows)}"


def gpu() -> str:
    """Return the table of decisions per second on a GPU."""
    ways = ("kernel", "Batch.step", "pgx")
    rows, results = [], [load(f"cuda-{name}") for name in ("connect_four", *own_games())]
    for result in results:
        measurements = [each for each in result["measurements"] if each["what"] in ways]
        rates = {(each["what"], each["num_envs"]): median_rate(each) for each in measurements}
        game = measurements[0]["game"].partition(":")[0]
        for size in sorted(size for way, size in rates if way == "kernel"):
            rows.append((game, f"{size:,}", *(rates.get((way, size), "–") for way in ways)))
    head = ("game", "games at once", "one kernel", "`Batch.step`", "the same game in pgx")
    return f"On one {results[0]['settings']['gpu']}, {_machine(results[0]['facts'])}:\n\n{table(head, rows)}"


def datasets() -> str:
    """Return the table of the datasets' sizes and speeds."""
    result = load("datasets")
    rows = [
        (
            measured["game"],
            f"{measured['bytes'] / measured['decisions']:.2f}",
            *(median_rate(measured, way) for way in ("loading", "expanding", "DataLoader")),
        )
        for measured in result["measurements"]
    ]
    head = (
        "game",
        "bytes per decision",
        "loading, decisions/s",
        "expanding, decisions/s",
        "DataLoader, decisions/s",
    )
    return f"On {_machine(result['facts'])}:\n\n{table(head, rows)}"


def search() -> str:
    """Return the table of speeds of tree search."""
    result = load("search")
    rows = [
        (measured["game"], measured["search"], median_rate(measured)) for measured in result["measurements"]
    ]
    head = ("game", "search, 400 simulations per move", "simulated decisions/s")
    return f"On {_machine(result['facts'])}:\n\n{table(head, rows)}"


def answers() -> str:
    """Return the table of the response times of `garden play --web`."""
    head = ("game", "case", "answers", "median, ms", "99 of 100 within, ms")
    keys = ("game", "case", "answers", "median_ms", "p99_ms")
    return table(head, [[measured[key] for key in keys] for measured in read_measurements("web")])


# --- other libraries ---


def _peers(name: str) -> list[dict[str, Any]]:
    return read_measurements(*(f"{name}-{game.partition(':')[0]}" for game in PEER_GAMES))


def _rates(columns: Sequence[str], size: int | None = None) -> dict[tuple[str, int], dict[str, dict]]:
    """Return the measurements by game and number of games, and by column."""
    rates: dict[tuple[str, int], dict[str, dict]] = defaultdict(dict)
    for measured in _peers("peers"):
        if measured["what"] in columns and size in (None, measured["num_envs"]):
            rates[measured["game"], measured["num_envs"]][measured["what"]] = measured
    return rates


def speed_in_short() -> str:
    """Return a sentence on Connect Four in each library, and on our games."""
    columns = ("compiled", "pgx", "EnvPool", "OpenSpiel, C++")
    own, pgx, envpool, openspiel = (
        median_rate(_rates(columns, 1024)["connect_four:ConnectFour", 1024][what]) for what in columns
    )
    games = ", ".join(
        f"{make(each['game']).title} {median_rate(each)}"
        for each in read_measurements("throughput")
        if (each["what"], each["num_envs"], each["num_players"]) == ("Batch.step", 1024, 2)
    )
    facts = load("peers-connect_four")["facts"]
    return (
        f"Decisions per second on one core ({facts['processor']}), 1,024 games at once, with masks and observations: {games}.\n"
        f"Connect Four, one core ({facts['date']}): ours {own}, pgx {pgx}, OpenSpiel {openspiel} (no observations); EnvPool, given actions, {envpool}.\n"
        f"[Speed](docs/speed.md)"
    )


def same_work() -> str:
    """Return the table of games that several libraries have, in groups of equal work per decision."""
    rows, ours = [], ("compiled", "Batch.step", "env()")
    for work, size, columns in SAME_WORK:
        rates = _rates(columns, size)
        for what in columns:
            by = f"garden-envs, `{what}`" if what in ours else what.partition(",")[0]
            by += " (its thread on the same core)" * (what == "EnvPool")
            rows.append((work, by, *(_with_range(rates[game, size][what]) for game in PEER_GAMES)))
            work = ""
    return table(("work per decision", "by", *PEER_GAMES.values()), rows)


def _with_range(measured: dict[str, Any]) -> str:
    """Return the median of decisions per second, and the range."""
    low, high = (short(measured["decisions_per_second"][key]) for key in ("min", "max"))
    return f"{median_rate(measured)} ({low} to {high})"


def peers() -> str:
    """Return the table of compiled loops and other libraries' games."""
    result = load("peers-connect_four")
    names = {"jax": "JAX", "pgx": "pgx", "envpool": "EnvPool", "open_spiel": "OpenSpiel"}
    versions = ", ".join(f"{name} {result['settings'][key]}" for key, name in names.items())
    dates = {load(path.stem)["facts"]["date"] for path in RESULTS.glob("peers-*.json")}
    days = " to ".join(sorted({min(dates), max(dates)}))
    machine = _machine(result["facts"] | {"date": days})
    columns = "compiled", "Batch.step", "pgx", "EnvPool", "OpenSpiel, C++"
    rows = [
        (PEER_GAMES[game], f"{n:,}", *(_share(rates[what]) for what in columns))
        for (game, n), rates in _rates(columns).items()
    ]
    text = f"On {machine}, {versions}, one core, decisions per second:\n\n"
    return text + table(("game", "games at once", *columns), rows)


def _share(measured: dict[str, Any]) -> str:
    """Return decisions per second, and the speed relative to compiled play."""
    ratio = measured["compiled_to_this"]["median"]
    share = f" (1 / {ratio:{'.2f' if ratio < 10 else ',.0f'}})"
    return median_rate(measured) + ("" if measured["what"] == "compiled" else share)


def peers_start() -> str:
    """Return the table of start-up time and memory of the libraries."""
    rows = [
        (
            PEER_GAMES[measured["game"]],
            measured["what"],
            f"{measured['start_up']['median']:.1f} s",
            f"{measured['memory_mib']} MiB",
        )
        for measured in _peers("peers-start")
    ]
    return table(("game", "library", "new process to its first step", "memory"), rows)


def bots() -> str:
    """Return the table of OpenSpiel's IS-MCTS against ours."""
    rows = []
    for measured in read_all("search-peers"):
        (result,) = measured["results"]
        seconds = (measured["seconds_a_move"][result[side]] for side in ("agent", "opponent"))
        times = (f"{1000 * each:.1f} ms" for each in seconds)
        rows.append((measured["game"], result["games"], win_rate(result), *times))
    return table(
        ("game", "games", "our wins (95 % interval)", "our time per move", "OpenSpiel's time per move"),
        rows,
    )


def scripted_players() -> str:
    """Return the table of scripted text players, and of a small language model, in the benchmark's tasks."""
    players: dict[str, dict[str, Any]] = {}
    for r in read_measurements("language_models"):
        players.setdefault(r["player"], {})[r["task"]] = r
    rows, names = [], [*next(iter(players.values()))]
    for player, measured in players.items():
        made, *wrong = (
            sum(r["counts"][key] for r in measured.values())
            for key in ("answers", "illegal", "unreadable", "truncated")
        )
        legal = made - sum(wrong)
        shares = " / ".join(f"{100 * count / made:.0f}" for count in (legal, *wrong))
        rows.append((player, shares, *(_rating(measured[n]) if n in measured else "" for n in names)))
    return table(("player", "legal / illegal / unreadable / truncated answers, %", *names), rows)


def language_model_costs() -> str:
    """Return the table of what a game costs a language model."""
    counted = load("language_models")["settings"]["per_game"].items()
    rows = [(name, prompts, f"{round(tokens, -3):,}") for name, (prompts, tokens) in counted]
    return table(("a game of", "prompts, about", "tokens of prompts, about"), rows)


def _rating(measured: dict[str, Any]) -> str:
    """Return a rating and its interval, which is infinite on a side where the agent won, or lost, all games."""
    low, high = measured["interval"]
    if low is None or high is None:
        return f"below {round(high)}" if low is None else f"above {round(low)}"
    return f"{round(measured['rating'])} ({round(low)} to {round(high)})"


# --- games ---


def games() -> str:
    """Return the table that describes the games by numbers."""
    rows = []
    for r in read_measurements("games", folder=REPORT):
        sequences = f"10^{r['log10_sequences']:.0f}"
        wins = " ".join(f"{100 * share:.0f}" for share in r["wins_by_seat"])
        played = f"{r['decisions']:.0f}", f"{r['choices']:.0f}", f"{r['legal_actions']:.1f}"
        rows.append((r["game"], r["num_players"], f"`{r['agent']}`", *played, sequences, wins))
    head = (
        "game",
        "players",
        "agent",
        "decisions",
        "with a choice",
        "legal actions",
        "sequences",
        "wins by seat, %",
    )
    return table(head, rows)


def games_in_short() -> str:
    """Return the table of what the games are, and how long games between two pretrained networks are."""
    rows = []
    for r in read_measurements("games", folder=REPORT):
        if (r["num_players"], r["agent"]) == (2, "network"):
            game = make(r["game"])
            players = next(option for option in game.options if option.name == "num_players")
            rows.append(
                (
                    r["game"],
                    f"{players.low} to {players.high}" if players.low != players.high else players.low,
                    game.information,
                    game.num_actions,
                    f"{game.observation_shape[0]:,}",
                    game.state_dtype.itemsize,
                    f"{r['decisions']:.0f}",
                    f"{r['legal_actions']:.1f}",
                    f"10^{r['log10_sequences']:.0f}",
                )
            )
    head = ("game", "players", "information", "actions", "observation", "state, bytes")
    return table((*head, "decisions", "legal actions", "sequences"), rows)


# --- tests ---


def soak() -> str:
    """Return the table of results of `make soak`."""
    rows = [
        (
            measured["game"],
            measured["way"],
            f"{measured['decisions']:,}",
            f"{measured['positions']:,}",
            f"{measured['growth_mib']:g} MiB",
        )
        for measured in read_measurements("soak")
    ]
    return table(("game", "interface", "decisions", "positions checked", "growth of memory"), rows)


def mutants() -> str:
    """Return the table of results of `make mutants`."""
    rows = [
        (f"`{measured['file']}`", measured["mutants"], measured["mutants"] - len(measured["survivors"]))
        for measured in read_measurements("mutants")
    ]
    return table(("file", "mutants tried", "noticed by a test"), rows)
