"""The tables of README and docs that are made from result files of benchmarks."""

from __future__ import annotations

import json
import re
import textwrap
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from safetensors import safe_open

from garden_core import list_games

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
REPORT = ROOT / "docs" / "report"
PEER_GAMES = {
    "connect_four:ConnectFour": "Connect Four",
    "tic_tac_toe:TicTacToe": "tic-tac-toe",
    "mars": "Mars / Hex 11 × 11",
    "cacti": "Cacti / gin rummy",
    "botanicus": "Botanicus / backgammon",
}
PAIR = ("agent", "against", "games", "win rate", "95 % interval")
TRAINED = ("training", "decisions", "against greedy", "against mcts:50", "against the default's network")


def own_games() -> list[str]:
    """Return the names of this project's games; other games may be installed."""
    return [name for name in list_games() if (ROOT / f"{name}_env").is_dir()]


# --- result files and cells ---


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = (f"| {' | '.join(map(str, row))} |" for row in (head, *rows))
    return "\n".join([next(lines), "|" + "---|" * len(head), *lines])


def _result(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def _measurements(*names: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    return [measured for name in names for measured in _result(name, folder)["measurements"]]


def _of_games(name: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the measurements of a benchmark that has a result file for each game."""
    return _measurements(*sorted(path.stem for path in folder.glob(f"{name}-*.json")), folder=folder)


def _machine(facts: dict[str, Any]) -> str:
    return f"{facts['processor']}, {facts['cores']} cores, Python {facts['python']}, Numba {facts['numba']}"


def _short(number: float) -> str:
    if number >= 1e6:
        return f"{number / 1e6:.2f} million"
    return f"{number / 1e3:,.0f} thousand" if number >= 1e4 else f"{number:,.0f}"


def _rate(measured: dict[str, Any], key: str = "decisions_per_second") -> str:
    return _short(measured[key]["median"])


def _win_rate(result: dict[str, Any], to: str = "…") -> tuple[str, str]:
    """Return a win rate and its interval."""
    low, high = result["interval"]
    return f"{result['win_rate']:.1%}", f"{low:.1%} {to} {high:.1%}"


def _mean_and_range(rates: Sequence[float]) -> str:
    return f"{sum(rates) / len(rates):.0%} ({min(rates):.0%} to {max(rates):.0%})"


# --- speed ---


def speed() -> str:
    """Return the table of all speeds."""
    rows: list[tuple[Any, ...]] = []
    throughput = _result("throughput")
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
            rows.append((measured["game"], text, f"{_rate(measured)} decisions/s"))
            if what == "env()" and "beside" in measured:
                other = measured["beside"]
                text = f"PettingZoo's own {other['what'].split()[-1]} in the same loop"
                rows.append(("", text, f"{_rate(other)} decisions/s"))
    for measured in _measurements("training"):
        if measured["threads"] == 1:
            rows.append((measured["game"], "PPO, decisions learned from", f"{_rate(measured)} decisions/s"))
    for measured in _measurements("startup"):
        if measured["interface"] == "env()":
            game, cache, seconds = (measured[key] for key in ("game", "cache", "seconds"))
            if cache == "warm":
                rows.append((game, "import of the package", f"{seconds['import']['median']:.2f} s"))
            first = sum(seconds[part]["median"] for part in ("make", "reset", "step"))
            rows.append((game, f"first game and step of `env()`, {cache} cache", f"{first:.2f} s"))
    head = ("game", "what", "median")
    return f"On {_machine(throughput['facts'])}, one thread:\n\n{table(head, rows)}"


def threads() -> str:
    """Return the table of the speed-up by a second thread in `Batch.step`."""
    result, rows = _result("threads"), []
    for measured in result["measurements"]:
        rates = (_rate(measured, key) for key in ("one_thread", "decisions_per_second"))
        ratio = "{median:.2f} ({min:.2f} to {max:.2f})".format(**measured["ratio"])
        rows.append((measured["game"], f"{measured['num_envs']:,}", *rates, ratio))
    head = ("game", "N", "one thread, decisions/s", "two threads", "median of the ratios (range)")
    return f"On {_machine(result['facts'])}:\n\n{table(head, rows)}"


def gpu() -> str:
    """Return the table of decisions per second on a GPU."""
    ways = ("kernel", "Batch.step", "pgx")
    rows, results = [], [_result(f"cuda-{name}") for name in ("connect_four", *own_games())]
    for result in results:
        measurements = [each for each in result["measurements"] if each["what"] in ways]
        rates = {(each["what"], each["num_envs"]): _rate(each) for each in measurements}
        game = measurements[0]["game"].partition(":")[0]
        for size in sorted(size for way, size in rates if way == "kernel"):
            rows.append((game, f"{size:,}", *(rates.get((way, size), "–") for way in ways)))
    head = ("game", "games at once", "one kernel", "`Batch.step`", "the same game in pgx")
    return f"On one {results[0]['settings']['gpu']}, {_machine(results[0]['facts'])}:\n\n{table(head, rows)}"


def datasets() -> str:
    """Return the table of the datasets' sizes and speeds."""
    result = _result("datasets")
    rows = [
        (
            measured["game"],
            f"{measured['bytes'] / measured['decisions']:.2f}",
            *(_rate(measured, way) for way in ("loading", "expanding", "DataLoader")),
        )
        for measured in result["measurements"]
    ]
    head = ("game", "bytes a decision", "loading, decisions/s", "expanding", "DataLoader, shuffled")
    return f"On {_machine(result['facts'])}:\n\n{table(head, rows)}"


def search() -> str:
    """Return the table of speeds of tree search."""
    rows = [(measured["game"], measured["search"], _rate(measured)) for measured in _measurements("search")]
    return table(("game", "search, 400 simulations a move", "simulated decisions/s"), rows)


def answers() -> str:
    """Return the table of the response times of `garden play --web`."""
    head = ("game", "case", "answers", "median, ms", "99 of 100 within, ms")
    keys = ("game", "case", "answers", "median_ms", "p99_ms")
    return table(head, [[measured[key] for key in keys] for measured in _measurements("web")])


# --- other libraries ---


def _peers(name: str) -> list[dict[str, Any]]:
    return _measurements(*(f"{name}-{game.partition(':')[0]}" for game in PEER_GAMES))


def _rates(columns: Sequence[str], size: int | None = None) -> dict[tuple[str, int], dict[str, dict]]:
    """Return the measurements by game and number of games, and by column."""
    rates: dict[tuple[str, int], dict[str, dict]] = defaultdict(dict)
    for measured in _peers("peers"):
        if measured["what"] in columns and size in (None, measured["num_envs"]):
            rates[measured["game"], measured["num_envs"]][measured["what"]] = measured
    return rates


def speed_in_short() -> str:
    """Return the table of speeds of each game and of the most similar games of other libraries."""
    columns = ("Batch.step", "pgx", "EnvPool", "OpenSpiel, C++")
    rows = [
        (PEER_GAMES[game], *(_rate(rates[what]) if what in rates else "" for what in columns), "")
        for (game, _), rates in _rates(columns, 1024).items()
    ]
    loops = _rates(("env()", "PettingZoo"), 1)["connect_four:ConnectFour", 1]
    own, other = _rate(loops["env()"]), _rate(loops["PettingZoo"])
    rows.append(("Connect Four, one game, a loop in Python", f"`env()`: {own}", "", "", "", other))
    machine = _machine(_result("peers-connect_four")["facts"])
    return (
        f"Decisions per second on one core ({machine}), 1,024 games at once, with masks and observations; OpenSpiel plays\n"
        "one game at a time, without observations. Where a line names two games, the second is the nearest one in the other\n"
        f"libraries.\n\n{table(('game', '`Batch.step`', *columns[1:], 'PettingZoo'), rows)}"
    )


def _compared(columns: Sequence[str], size: int | None = None) -> str:
    """Return the table of decisions per second and of the speed relative to compiled play."""

    def cell(measured: dict[str, Any] | None) -> str:
        if measured is None:
            return ""
        ratio = measured["compiled_to_this"]["median"]
        share = f" (1 / {ratio:{'.2f' if ratio < 10 else ',.0f'}})"
        return _rate(measured) + ("" if measured["what"] == "compiled" else share)

    rows = [
        (PEER_GAMES[game], f"{n:,}", *(cell(rates.get(what)) for what in columns))
        for (game, n), rates in _rates(columns, size).items()
    ]
    return table(("game", "N", *columns), rows)


def peers() -> str:
    """Return the table of compiled loops and other libraries' games."""
    result = _result("peers-connect_four")
    names = {"jax": "JAX", "pgx": "pgx", "envpool": "EnvPool", "open_spiel": "OpenSpiel"}
    versions = ", ".join(f"{name} {result['settings'][key]}" for key, name in names.items())
    text = f"On {_machine(result['facts'])}, {versions}, one core, decisions per second:\n\n"
    return text + _compared(("compiled", "Batch.step", "pgx", "EnvPool", "OpenSpiel, C++"))


def peers_in_python() -> str:
    """Return the table of loops in Python over ours and other libraries' games."""
    return _compared(("compiled", "env()", "OpenSpiel, Python", "PettingZoo"), 1)


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
    for measured in _of_games("search-peers"):
        (result,) = measured["results"]
        seconds = (measured["seconds_a_move"][result[side]] for side in ("agent", "opponent"))
        times = (f"{1000 * each:.1f} ms" for each in seconds)
        rows.append((measured["game"], result["games"], *_win_rate(result), *times))
    return table(("game", "games", "ours wins", "95 % interval", "ours, time a move", "OpenSpiel's"), rows)


# --- training ---


def scaling() -> str:
    """Return the table of trainings with workers: measured, and predicted by the model."""
    rows = []
    for measured in _of_games("scaling"):
        for row in measured["workers"]:
            rates = (_short(row[key]) if key in row else "" for key in ("sampled", "trained"))
            off = f"{row['predicted'] / row['trained'] - 1:+.0%}" if "trained" in row else ""
            rows.append((measured["game"], row["workers"], *rates, _short(row["predicted"]), off))
    return table(("game", "workers", "sampled/s", "trained/s", "by the model", "off by"), rows)


def scaling_parts() -> str:
    """Return the table of the measured parts of trainings with workers."""
    rows = []
    for measured in _of_games("scaling"):
        parts = measured["parts"]
        micro = (f"{1e6 * parts[part]:.1f}" for part in ("play", "learn"))
        sizes = f"{parts['bytes_of_a_decision']:,.0f}", f"{parts['bytes_of_the_weights'] / 1000:,.0f}"
        rows.append((measured["game"], f"{parts['decisions']:,.0f}", *micro, *sizes))
    head = ("game", "decisions per call", "play, µs per decision", "learn", "bytes per decision")
    return table((*head, "kB of weights"), rows)


def trainers() -> str:
    """Return the table of the trainers' speeds, and of where our trainer's time goes."""
    rows = []
    for measured in _measurements("training"):
        sb3, shares = measured["sb3"], measured["shares_of_time"].items()
        rates = _rate(measured), _rate(sb3), f"{sb3['ratio']['median']:.1f}"
        time = ", ".join(f"{part} {share:.0%}" for part, share in shares)
        rows.append((measured["game"], measured["threads"], *rates, time))
    head = ("game", "threads", "own, decisions/s", "SB3's", "ratio", "where our trainer's time goes")
    return table(head, rows)


def networks() -> str:
    """Return the table of shipped networks, and below it the commands that trained each."""
    rows, commands = [], []
    for path in sorted(ROOT.glob("agents/garden_agents/games/*/networks/*.safetensors")):
        with safe_open(path, "np") as file:
            config = json.loads(file.metadata()["config"])
        game, origin, players = config["game"], config["origin"], config["options"]["num_players"]
        arena = f"arena-{game}-{players}.json"
        made = f"{origin['decisions'] / 1000:,.0f} thousand decisions in {origin['seconds'] / 60:.0f} minutes"
        size, result = f"{path.stat().st_size / 1e6:.2f} MB", f"[{arena}](../benchmarks/results/{arena})"
        rows.append((f"{game}, {players}", size, origin["seed"], made, result))
        steps = "\n".join(map(_wrapped, origin["command"].split(" && ")))
        commands.append(f"`{path.relative_to(ROOT)}`:\n\n```bash\n{steps}\n```")
    head = ("game, players", "size", "seed", "kept after, in the last command", "result file")
    return "\n\n".join([table(head, rows), *commands])


def _wrapped(command: str) -> str:
    """Return a command in lines of about 90 characters, broken before options."""
    unbroken = re.sub(r" (?!--)", "\0", command)
    lines = textwrap.wrap(unbroken, 84, break_long_words=False, break_on_hyphens=False)
    return " \\\n    ".join(lines).replace("\0", " ")


def _trained(name: str, *keys: str) -> str:
    """Return the table of the runs of each command, after equal times: means and ranges over the seeds."""
    runs: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    for measured in _of_games(name, REPORT):
        about = (f"{measured['minutes']:g}",) if "minutes" in keys else ()
        runs[measured["game"], *about, f"`{measured['way']}`"].append(measured)
    rows = []
    for about, measurements in runs.items():
        ends = [
            {key: values[-1] for key, values in measured["evaluations"].items()} for measured in measurements
        ]
        decisions = sum(end["decisions"] for end in ends) / len(ends)
        rates = (_mean_and_range([end[name] for end in ends]) for name in ("greedy", "mcts:50"))
        duels = [measured["against_default"] for measured in measurements if "against_default" in measured]
        against = _mean_and_range(duels) if duels else ""
        rows.append((*about, f"{decisions / 1000:,.0f} thousand", *rates, against))
    return table(("game", *keys, *TRAINED), rows)


def curves() -> str:
    """Return the table of the learning curves' ends."""
    return _trained("learning", "minutes")


def compared() -> str:
    """Return the table of training settings."""
    return _trained("compared")


def calibration() -> str:
    """Return the table of values and outcomes: means, and correlation by fifths of the game."""
    rows = []
    for measured in _measurements("calibration", folder=REPORT):
        (value, *values), (outcome, *outcomes) = measured["mean_value"], measured["mean_outcome"]
        apart = max((v - o for v, o in zip(values, outcomes, strict=True)), key=abs)
        means = (f"{mean:+.3f}" for mean in (value, outcome, apart))
        fifths = (f"{correlation:.2f}" for correlation in measured["correlation"][1:])
        about = f"{measured['game']}, {measured['num_players']}", measured["values_by"]
        rows.append((*about, *means, *fifths))
    head = ("game, players", "values by", "mean value", "mean outcome", "farthest apart in a fifth")
    return table((*head, "correlation: 1st fifth", "2nd", "3rd", "4th", "5th"), rows)


# --- playing strength ---


def _arenas() -> list[tuple[str, int, dict[str, Any]]]:
    """Return game, number of players and content of every arena's result file."""
    arenas = [_result(path.stem) for path in sorted(RESULTS.glob("arena-*.json"))]
    return [(arena["game"], arena["options"]["num_players"], arena) for arena in arenas]


def _pair(result: dict[str, Any]) -> tuple[Any, ...]:
    """Return the columns PAIR of a result."""
    return f"`{result['agent']}`", f"`{result['opponent']}`", result["games"], *_win_rate(result)


def strength() -> str:
    """Return the table of the shipped networks' win rates."""
    rows = []
    for game, players, arena in _arenas():
        for r in arena["results"]:
            if r["opponent"] == "network" and players == 2:  # a pair is listed once, in either order
                low, high = r["interval"]
                r = {
                    "agent": "network",
                    "opponent": r["agent"],
                    "win_rate": 1 - r["win_rate"],
                    "interval": (1 - high, 1 - low),
                }
            if r["agent"] == "network" and r["opponent"] != "random":
                opponents = f"`{r['opponent']}`" if players == 2 else f"{players - 1} of `{r['opponent']}`"
                rows.append((game, opponents, *_win_rate(r)))
    return table(("game", "the network against", "wins", "95 % interval"), rows)


def ratings() -> str:
    """Return the table of ratings of all arenas."""
    rows = [
        (game, players, f"`{r['agent']}`", f"{r['rating']:.0f} ± {r['uncertainty']:.0f}")
        for game, players, arena in _arenas()
        for r in arena["ratings"]
    ]
    return table(("game", "players", "agent", "rating ± 2 sigma"), rows)


def pairs() -> str:
    """Return the table of win rates of all pairs in all arenas."""
    rows = [
        (game, players, *_pair(r), f"{r['mean_score']:.1f} : {r['opponents_mean_score']:.1f}")
        for game, players, arena in _arenas()
        for r in arena["results"]
    ]
    return table(("game", "players", *PAIR, "mean scores"), rows)


def tried() -> str:
    """Return the table of pairs of agents that docs/training.md compares in Cacti."""
    return table(PAIR, map(_pair, _result("tried-cacti-2", REPORT)["results"]))


def best_responses() -> str:
    """Return the table of win rates of best responses, and of search, against networks.

    Search does not depend on what the best response begins with, and is listed once for each network.
    """
    rows, previous = [], ()
    for measured in _of_games("exploit", REPORT):
        about = measured["game"], measured["num_players"], measured["agent"]
        response, search = ("{} ({})".format(*_win_rate(r, "to")) for r in measured["results"])
        rows.append((*about, measured["way"], response, "" if about == previous else search))
        previous = about
    head = ("game", "players", "agent", "best response begins with", "best response wins", "search wins")
    return table(head, rows)


def ladder() -> str:
    """Return the table of ratings and times per move of the agents of each game's ladder."""
    rows = []
    for measured in _of_games("ladder", REPORT):
        for agent, (rating, uncertainty) in sorted(measured["ratings"].items(), key=lambda each: each[1][0]):
            seconds = measured["seconds_a_move"].get(agent)
            time = "" if seconds is None else f"{1000 * seconds:.3g}"
            rows.append((measured["game"], f"`{agent}`", f"{rating:.0f} ± {uncertainty:.0f}", time))
    return table(("game", "agent", "rating ± 2 sigma", "a move, ms"), rows)


def ladder_pairs() -> str:
    """Return the table of win rates of the pairs of each game's ladder."""
    ladders = _of_games("ladder", REPORT)
    return table(("game", *PAIR), [(each["game"], *_pair(r)) for each in ladders for r in each["results"]])


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
        for measured in _measurements("soak")
    ]
    return table(("game", "played through", "decisions", "positions checked", "memory grew by"), rows)


def mutants() -> str:
    """Return the table of results of `make mutants`."""
    rows = [
        (f"`{measured['file']}`", measured["mutants"], measured["mutants"] - len(measured["survivors"]))
        for measured in _measurements("mutants")
    ]
    return table(("file", "mutants tried", "noticed by a test"), rows)
