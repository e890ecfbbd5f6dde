"""Update the generated parts of README and docs (tables, pictures of recorded games, pages of rules): `python docs/generate.py`."""

from __future__ import annotations

import functools
import json
import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pictures
from safetensors import safe_open

from garden_core import Game, list_games, make
from garden_core.game import Part
from garden_core.interfaces.registration import gymnasium_id, pettingzoo_id

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
REPORT = ROOT / "docs" / "report"


def own_games() -> list[str]:
    """Return the names of this project's games, whose packages are in the checkout; others may be installed beside them."""
    return [name for name in list_games() if (ROOT / f"{name}_env").is_dir()]


def _table(head: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows])


def card(game: Game) -> str:
    """Return a game's metadata: players, information, spaces, names in the registries."""
    players = next(option for option in game.options if option.name == "num_players")
    gym_id = gymnasium_id(type(game))
    return _table(
        ("", ""),
        [
            (
                "PettingZoo",
                f'`{game.name}_v{game.version}.env(...)`, `pettingzoo.make("aec", "{pettingzoo_id(type(game))}", ...)`',
            ),
            ("Gymnasium", f'`gymnasium.make("{gym_id}", ...)`, `gymnasium.make_vec("{gym_id}", ...)`'),
            ("Batches", f'`Batch(garden_core.make("{game.name}", ...), num_envs)`'),
            ("Players", f"{players.low} to {players.high}" if players.low != players.high else players.low),
            ("Agents", "`player_0` … in seating order"),
            ("Information", game.information),
            (
                "Chance",
                {"none": "none", "deal": "in the deal", "play": "in the deal and during play"}[game.chance],
            ),
            ("Action space", f"Discrete({game.num_actions}) with the default options"),
            ("Observation space", f"Box(0, 127, {game.observation_shape}, int8) with the default options"),
            ("State", f"one record of {game.state_dtype.itemsize} bytes"),
        ],
    )


def options(game: Game) -> str:
    """Return the table of options."""
    from garden_core.options import REWARD

    every = (*game.options, REWARD)
    return _table(
        ("option", "default", "allowed", "meaning"),
        [(f"`{o.name}`", f"`{o.default!r}`", o.allowed.replace("'", '"'), o.help) for o in every],
    )


def actions(game: Game) -> str:
    """Return the table of the blocks of actions."""
    rows = []
    for where, part in _places(game.action_parts):
        label = game.labels[int(where.split()[0])]
        rows.append((where, f"`{label}`", part.meaning))
    return _table(("actions", "label, for example", "meaning"), rows)


def observation(game: Game) -> str:
    """Return the table of the parts of an observation."""
    rows = [(where, part.values, part.meaning) for where, part in _places(game.observation_parts)]
    return _table(("entries", "values", "meaning"), rows)


def memory(game: Game) -> str:
    """Return the table of what an observation has more with `memory="history"`."""
    remembering = make(game.name, memory="history")
    first = len(game.observation_parts)
    rows = [
        (where, part.values, part.meaning) for where, part in _places(remembering.observation_parts)[first:]
    ]
    return _table(("entries", "values", "meaning"), rows)


def summary(game: Game) -> str:
    """Return the rules in short."""
    return game.summary.strip()


def _places(parts: tuple[Part, ...]) -> list[tuple[str, Part]]:
    """Return each part with its range of indexes."""
    places, at = [], 0
    for part in parts:
        last = at + part.size - 1
        places.append((f"{at} … {last}" if part.size > 1 else f"{at}", part))
        at += part.size
    return places


def generated() -> dict[str, Callable[[], str]]:
    """Return every generated part by name."""
    parts = {
        "speed": speed,
        "speed in short": speed_in_short,
        "threads": threads,
        "gpu": gpu,
        "datasets": datasets,
        "peers": peers,
        "peers in Python": peers_in_python,
        "peers start": peers_start,
        "bots": bots,
        "scaling": scaling,
        "scaling parts": scaling_parts,
        "trainers": trainers,
        "strength": strength,
        "ratings": ratings,
        "pairs": pairs,
        "networks": networks,
        "curves": curves,
        "compared": compared,
        "calibration": calibration,
        "best responses": best_responses,
        "tried": tried,
        "search": search,
        "ladder": ladder,
        "ladder pairs": ladder_pairs,
        "answers": answers,
        "soak": soak,
        "mutants": mutants,
    }
    for game in map(make, own_games()):
        for what in (card, options, actions, observation):
            parts[f"{game.name} {what.__name__}"] = functools.partial(what, game)
        if "memory" in game.option_values:
            parts[f"{game.name} memory"] = functools.partial(memory, game)
        if game.summary:
            parts[f"{game.name} summary"] = functools.partial(summary, game)
        for name, (head, rows) in game.data_tables.items():
            parts[f"{game.name} {name}"] = functools.partial(_table, head, rows)
    return parts


def speed() -> str:
    """Return the table of all speeds, from the result files."""
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
        if found["threads"] == 1:
            rate = found["decisions_per_second"]["median"]
            rows.append((found["game"], "PPO, decisions learned from", f"{_short(rate)} decisions/s"))
    for found in startup["measurements"]:
        if found["interface"] == "env()":
            seconds = {part: found["seconds"][part]["median"] for part in ("import", "make", "reset", "step")}
            if found["cache"] == "warm":
                rows.append((found["game"], "import of the package", f"{seconds['import']:.2f} s"))
            first = seconds["make"] + seconds["reset"] + seconds["step"]
            rows.append(
                (found["game"], f"first game and step of `env()`, {found['cache']} cache", f"{first:.2f} s")
            )
    head = ("game", "what", "median")
    return f"On {_machine(throughput['facts'])}, one thread:\n\n" + _table(head, rows)


def speed_in_short() -> str:
    """Return a line of speeds for each game beside the nearest ones of other libraries."""
    columns = ("Batch.step", "pgx", "EnvPool", "OpenSpiel, C++")
    loops = ("env()", "PettingZoo")
    rates, one = _rates(columns, 1024), _rates(loops, 1)["connect_four:ConnectFour", 1]
    rows = [
        (PEER_GAMES[game], *(_short(found[what][0]) if what in found else "" for what in columns), "")
        for (game, _), found in rates.items()
    ]
    mine, other = (_short(one[what][0]) for what in loops)
    rows.append(("Connect Four, one game, a loop in Python", f"`env()`: {mine}", "", "", "", other))
    machine = _machine(_result("peers-connect_four")["facts"])
    head = ("game", "`Batch.step`", *columns[1:], loops[1])
    return (
        f"Decisions per second on one core ({machine}), 1,024 games at once, with masks and observations; OpenSpiel plays\n"
        "one game at a time, without observations. Where a line names two games, the second is the nearest one in the other\n"
        f"libraries.\n\n{_table(head, rows)}"
    )


def strength() -> str:
    """Return the table of how the networks that come with the games do, from the arenas' result files."""
    rows = []
    for game, players, arena in _arenas():
        for r in arena["results"]:
            won, low, high = (r["win_rate"], *r["interval"])
            if (
                r["opponent"] == "network" and players == 2
            ):  # a pair stands once, and the network may come second
                r = r | {"agent": "network", "opponent": r["agent"]}
                won, low, high = 1 - won, 1 - high, 1 - low
            if r["agent"] == "network" and r["opponent"] != "random":
                opponents = f"`{r['opponent']}`" if players == 2 else f"{players - 1} of `{r['opponent']}`"
                rows.append((game, opponents, f"{won:.1%}", f"{low:.1%} … {high:.1%}"))
    return _table(("game", "the network against", "wins", "95 % interval"), rows)


def threads() -> str:
    """Return the table of what a second thread is worth in `Batch.step`."""
    result = _result("threads")
    rows = []
    for found in result["measurements"]:
        rates = (_short(found[key]["median"]) for key in ("one_thread", "decisions_per_second"))
        ratio = found["ratio"]
        rows.append(
            (
                found["game"],
                f"{found['num_envs']:,}",
                *rates,
                f"{ratio['median']:.2f} ({ratio['min']:.2f} to {ratio['max']:.2f})",
            )
        )
    head = ("game", "N", "one thread, decisions/s", "two threads", "median of the ratios (range)")
    return f"On {_machine(result['facts'])}:\n\n" + _table(head, rows)


def gpu() -> str:
    """Return the table of decisions per second on a GPU."""
    rows, results = [], [_result(f"cuda-{name}") for name in ("connect_four", *own_games())]
    for result in results:
        found = {
            (one["what"], one["num_envs"]): one["decisions_per_second"] for one in result["measurements"]
        }
        for size in sorted({size for what, size in found if what == "kernel"}):
            rates = (found.get((way, size)) for way in ("kernel", "Batch.step", "pgx"))
            shown = (_short(rate["median"]) if rate else "–" for rate in rates)
            rows.append((result["measurements"][0]["game"].partition(":")[0], f"{size:,}", *shown))
    head = ("game", "games at once", "one kernel", "`Batch.step`", "the same game in pgx")
    return f"On one {results[0]['settings']['gpu']}, {_machine(results[0]['facts'])}:\n\n" + _table(
        head, rows
    )


def datasets() -> str:
    """Return the table of how large datasets are, and how fast they are loaded and expanded."""
    result = _result("datasets")
    rows = [
        (
            found["game"],
            f"{found['bytes'] / found['decisions']:.2f}",
            *(_short(found[way]["median"]) for way in ("loading", "expanding", "DataLoader")),
        )
        for found in result["measurements"]
    ]
    head = ("game", "bytes a decision", "loading, decisions/s", "expanding", "DataLoader, shuffled")
    return f"On {_machine(result['facts'])}:\n\n" + _table(head, rows)


PEER_GAMES = {
    "connect_four:ConnectFour": "Connect Four",
    "tic_tac_toe:TicTacToe": "tic-tac-toe",
    "mars": "Mars / Hex 11 × 11",
    "cacti": "Cacti / gin rummy",
    "botanicus": "Botanicus / backgammon",
}


def _file(game: str) -> str:
    return game.partition(":")[0]


Rates = dict[tuple[str, int], dict[str, tuple[float, float]]]


def _rates(columns: tuple[str, ...], size: int | None = None) -> Rates:
    """Return decisions per second, and how many times as fast compiled play is, by game and number of games, and by way."""
    rates: Rates = {}
    for found in (each for game in PEER_GAMES for each in _result(f"peers-{_file(game)}")["measurements"]):
        if found["what"] in columns and size in (None, found["num_envs"]):
            medians = (found[key]["median"] for key in ("decisions_per_second", "compiled_to_this"))
            rates.setdefault((found["game"], found["num_envs"]), {})[found["what"]] = (*medians,)
    return rates


def _beside(columns: tuple[str, ...], size: int | None = None) -> str:
    """Return a table of decisions per second, with a column for each of what was measured beside each other."""

    def cell(what: str, found: dict[str, tuple[float, float]]) -> str:
        if what not in found:
            return ""
        rate, ratio = found[what]
        share = f" (1 / {ratio:{'.2f' if ratio < 10 else ',.0f'}})"
        return _short(rate) + ("" if what == "compiled" else share)

    rows = [
        (PEER_GAMES[game], f"{n:,}", *(cell(what, found) for what in columns))
        for (game, n), found in _rates(columns, size).items()
    ]
    return _table(("game", "N", *columns), rows)


def peers() -> str:
    """Return the table of compiled loops beside other libraries' games."""
    facts, about = (_result("peers-connect_four")[key] for key in ("facts", "settings"))
    names = {"jax": "JAX", "pgx": "pgx", "envpool": "EnvPool", "open_spiel": "OpenSpiel"}
    versions = ", ".join(f"{name} {about[key]}" for key, name in names.items())
    text = f"On {_machine(facts)}, {versions}, one core, decisions per second:\n\n"
    return text + _beside(("compiled", "Batch.step", "pgx", "EnvPool", "OpenSpiel, C++"))


def peers_in_python() -> str:
    """Return the table of loops in Python beside other libraries' games."""
    return _beside(("compiled", "env()", "OpenSpiel, Python", "PettingZoo"), 1)


def peers_start() -> str:
    """Return the table of start-up and memory beside other libraries' games."""
    rows = [
        (
            PEER_GAMES[found["game"]],
            found["what"],
            f"{found['start_up']['median']:.1f} s",
            f"{found['memory_mib']} MiB",
        )
        for game in PEER_GAMES
        for found in _result(f"peers-start-{_file(game)}")["measurements"]
    ]
    return _table(("game", "library", "new process to its first step", "memory"), rows)


def bots() -> str:
    """Return the table of OpenSpiel's IS-MCTS against ours."""
    rows = []
    for found in _measurements("search-peers"):
        (result,) = found["results"]
        low, high = result["interval"]
        times = (f"{1000 * found['seconds_a_move'][result[side]]:.1f} ms" for side in ("agent", "opponent"))
        won = f"{result['win_rate']:.1%}", f"{low:.1%} … {high:.1%}"
        rows.append((found["game"], result["games"], *won, *times))
    head = ("game", "games", "ours wins", "95 % interval", "ours, time a move", "OpenSpiel's")
    return _table(head, rows)


def scaling() -> str:
    """Return the table of trainings with workers: measured, and by the model."""
    rows = []
    for found in _measurements("scaling"):
        for row in found["workers"]:
            measured = (_short(row[key]) if key in row else "" for key in ("sampled", "trained"))
            off = f"{row['predicted'] / row['trained'] - 1:+.0%}" if "trained" in row else ""
            rows.append((found["game"], row["workers"], *measured, _short(row["predicted"]), off))
    head = ("game", "workers", "sampled/s", "trained/s", "by the model", "off by")
    return _table(head, rows)


def scaling_parts() -> str:
    """Return the table of the measured parts of trainings with workers."""
    rows = []
    for found in _measurements("scaling"):
        p = found["parts"]
        micro = (f"{1e6 * seconds:.1f}" for seconds in (p["play"], p["learn"]))
        sizes = f"{p['bytes_of_a_decision']:,.0f}", f"{p['bytes_of_the_weights'] / 1000:,.0f}"
        rows.append((found["game"], f"{p['decisions']:,.0f}", *micro, *sizes))
    head = (
        "game",
        "decisions per call",
        "play, µs per decision",
        "learn",
        "bytes per decision",
        "kB of weights",
    )
    return _table(head, rows)


def trainers() -> str:
    """Return the table of the trainers' speeds side by side, and of where the time of our own goes."""
    rows = []
    for found in _result("training")["measurements"]:
        own, other = found["decisions_per_second"], found["sb3"]
        shares = ", ".join(f"{part} {share:.0%}" for part, share in found["shares_of_time"].items())
        rates = (_short(own["median"]), _short(other["decisions_per_second"]["median"]))
        rows.append((found["game"], found["threads"], *rates, f"{other['ratio']['median']:.1f}", shares))
    head = ("game", "threads", "own, decisions/s", "SB3's", "ratio", "where our trainer's time goes")
    return _table(head, rows)


def _machine(facts: dict[str, Any]) -> str:
    return f"{facts['processor']}, {facts['cores']} cores, Python {facts['python']}, Numba {facts['numba']}"


def _arenas() -> list[tuple[str, int, dict[str, Any]]]:
    """Return, for every arena's result file, the game, the number of players and the content."""
    found = [json.loads(path.read_text("utf-8")) for path in sorted(RESULTS.glob("arena-*.json"))]
    return [(each["game"], each["options"]["num_players"], each) for each in found]


def ratings() -> str:
    """Return the table of ratings of all arenas."""
    rows = [
        (game, players, f"`{r['agent']}`", f"{r['rating']:.0f} ± {r['uncertainty']:.0f}")
        for game, players, arena in _arenas()
        for r in arena["ratings"]
    ]
    return _table(("game", "players", "agent", "rating ± 2 sigma"), rows)


def pairs() -> str:
    """Return the table of win rates of all pairs in all arenas."""
    rows = [
        (game, players, *_pair(r), f"{r['mean_score']:.1f} : {r['opponents_mean_score']:.1f}")
        for game, players, arena in _arenas()
        for r in arena["results"]
    ]
    return _table(("game", "players", *PAIR, "mean scores"), rows)


PAIR = ("agent", "against", "games", "win rate", "95 % interval")


def _pair(result: dict[str, Any]) -> tuple[Any, ...]:
    """Return the columns PAIR of a result."""
    low, high = result["interval"]
    names = f"`{result['agent']}`", f"`{result['opponent']}`"
    return (*names, result["games"], f"{result['win_rate']:.1%}", f"{low:.1%} … {high:.1%}")


def tried() -> str:
    """Return the table of pairs of agents that docs/training.md compares in Cacti."""
    return _table(PAIR, [_pair(r) for r in _result("tried-cacti-2", REPORT)["results"]])


def networks() -> str:
    """Return the table of networks that come with the games, and under it the commands that made each."""
    rows, commands = [], []
    for path in sorted(ROOT.glob("agents/garden_agents/games/*/networks/*.safetensors")):
        with safe_open(path, "np") as file:
            config = json.loads(file.metadata()["config"])
        origin, players = config["origin"], config["options"]["num_players"]
        name, arena = f"{config['game']}, {players}", f"arena-{config['game']}-{players}.json"
        made = f"{origin['decisions'] / 1000:,.0f} thousand decisions in {origin['seconds'] / 60:.0f} minutes"
        size = f"{path.stat().st_size / 1e6:.2f} MB"
        result = f"[{arena}](../{(RESULTS / arena).relative_to(ROOT)})"
        rows.append((name, size, origin["seed"], made, result))
        steps = "\n".join(map(_broken, origin["command"].split(" && ")))
        commands.append(f"`{path.relative_to(ROOT)}`:\n\n```bash\n{steps}\n```")
    table = _table(("game, players", "size", "seed", "kept after, in the last command", "result file"), rows)
    return "\n\n".join([table, *commands])


def _broken(command: str) -> str:
    """Return a command in lines of about 90 characters, broken before options."""
    kept = re.sub(r" (?!--)", "\0", command)
    lines = textwrap.wrap(kept, 84, break_long_words=False, break_on_hyphens=False)
    return " \\\n    ".join(lines).replace("\0", " ")


def curves() -> str:
    """Return the table of the learning curves' ends: mean and range of the seeds."""
    runs: dict[tuple[str, float, str], list[dict[str, Any]]] = {}
    for found in _measurements("learning", REPORT):
        runs.setdefault((found["game"], found["minutes"], found["way"]), []).append(found)
    rows = [(game, f"{minutes:g}", *_trained(way, found)) for (game, minutes, way), found in runs.items()]
    return _table(("game", "minutes", *TRAINED), rows)


def compared() -> str:
    """Return the table of settings of training after equal times."""
    runs: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for found in _measurements("compared", REPORT):
        runs.setdefault((found["game"], found["way"]), []).append(found)
    return _table(("game", *TRAINED), [(game, *_trained(way, found)) for (game, way), found in runs.items()])


TRAINED = ("training", "decisions", "against greedy", "against mcts:50", "against the default's network")


def _trained(way: str, runs: list[dict[str, Any]]) -> tuple[str, ...]:
    """Return the columns TRAINED of the runs of one command: means and ranges."""
    evaluations = [found["evaluations"] for found in runs]
    decisions = sum(each["decisions"][-1] for each in evaluations) / len(evaluations)
    rates = [_mean_and_range([each[name][-1] for each in evaluations]) for name in ("greedy", "mcts:50")]
    duels = [found["against_default"] for found in runs if "against_default" in found]
    return (f"`{way}`", f"{decisions / 1000:,.0f} thousand", *rates, _mean_and_range(duels) if duels else "")


def calibration() -> str:
    """Return the table of values held against outcomes: mean, and correlation by fifths of the game."""
    rows = []
    for found in _result("calibration", REPORT)["measurements"]:
        means, outcomes = found["mean_value"], found["mean_outcome"]
        fifths = (f"{x:.2f}" for x in found["correlation"][1:])
        off = (value - outcome for value, outcome in zip(means[1:], outcomes[1:], strict=True))
        what = f"{found['game']}, {found['num_players']}", found["values_by"]
        rows.append((*what, f"{means[0]:+.3f}", f"{outcomes[0]:+.3f}", f"{max(off, key=abs):+.3f}", *fifths))
    head = (
        "game, players",
        "values by",
        "mean value",
        "mean outcome",
        "farthest apart in a fifth",
        "correlation: 1st fifth",
        "2nd",
        "3rd",
        "4th",
        "5th",
    )
    return _table(head, rows)


def best_responses() -> str:
    """Return the table of how often trained best responses, and search, win against networks.

    Search is the same whatever the best response begins with, and stands once for each network.
    """
    rows, before = [], ()
    for found in _measurements("exploit", REPORT):
        about = found["game"], found["num_players"], found["agent"]
        response, search = map(_rate_and_interval, found["results"])
        rows.append((*about, found["way"], response, "" if about == before else search))
        before = about
    head = ("game", "players", "agent", "best response begins with", "best response wins", "search wins")
    return _table(head, rows)


def _rate_and_interval(result: dict[str, Any]) -> str:
    low, high = result["interval"]
    return f"{result['win_rate']:.1%} ({low:.1%} to {high:.1%})"


def _mean_and_range(rates: Sequence[float]) -> str:
    return f"{sum(rates) / len(rates):.0%} ({min(rates):.0%} to {max(rates):.0%})"


def search() -> str:
    """Return the table of speeds of tree search."""
    rows = [
        (found["game"], found["search"], _short(found["decisions_per_second"]["median"]))
        for found in _result("search")["measurements"]
    ]
    return _table(("game", "search, 400 simulations a move", "simulated decisions/s"), rows)


def ladder() -> str:
    """Return the table of ratings and times of a move of the agents of each game's ladder."""
    rows = []
    for found in _measurements("ladder", REPORT):
        for agent, (rating, uncertainty) in sorted(found["ratings"].items(), key=lambda each: each[1][0]):
            seconds = found["seconds_a_move"].get(agent)
            time = "" if seconds is None else f"{1000 * seconds:.3g}"
            rows.append((found["game"], f"`{agent}`", f"{rating:.0f} ± {uncertainty:.0f}", time))
    return _table(("game", "agent", "rating ± 2 sigma", "a move, ms"), rows)


def ladder_pairs() -> str:
    """Return the table of the win rates of the pairs of each game's ladder."""
    rows = [(found["game"], *_pair(r)) for found in _measurements("ladder", REPORT) for r in found["results"]]
    return _table(("game", *PAIR), rows)


def answers() -> str:
    """Return the table of the page's answers."""
    head = ("game", "case", "answers", "median, ms", "99 of 100 within, ms")
    keys = ("game", "case", "answers", "median_ms", "p99_ms")
    return _table(head, [tuple(found[key] for key in keys) for found in _result("web")["measurements"]])


def soak() -> str:
    """Return the table of results of `make soak`."""
    rows = [
        (
            found["game"],
            found["way"],
            f"{found['decisions']:,}",
            f"{found['positions']:,}",
            f"{found['growth_mib']:g} MiB",
        )
        for found in _result("soak")["measurements"]
    ]
    return _table(("game", "played through", "decisions", "positions checked", "memory grew by"), rows)


def mutants() -> str:
    """Return the table of results of `make mutants`."""
    rows = [
        (f"`{found['file']}`", str(found["mutants"]), str(found["mutants"] - len(found["survivors"])))
        for found in _result("mutants")["measurements"]
    ]
    return _table(("file", "mutants tried", "noticed by a test"), rows)


def _result(name: str, folder: Path = RESULTS) -> dict[str, Any]:
    return json.loads((folder / f"{name}.json").read_text("utf-8"))


def _measurements(name: str, folder: Path = RESULTS) -> list[dict[str, Any]]:
    """Return the measurements of a benchmark that has a result file for each game."""
    files = sorted(folder.glob(f"{name}-*.json"))
    return [found for file in files for found in json.loads(file.read_text("utf-8"))["measurements"]]


def _short(rate: float) -> str:
    return (
        f"{rate / 1e6:.2f} million"
        if rate >= 1e6
        else f"{rate / 1e3:,.0f} thousand"
        if rate >= 1e4
        else f"{rate:,.0f}"
    )


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
            made[ROOT / "docs" / "rules" / f"{game.name}.md"] = f"{note}\n\n{game.rules_text}"
    return made


def pages() -> list[Path]:
    """Return the pages for people: at the top of the project and in docs."""
    top = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return [*top, *sorted((ROOT / "docs").glob("*.md"))]


if __name__ == "__main__":
    for page in pages():
        page.write_text(filled(page.read_text("utf-8")), "utf-8")
    for path, content in (pictures.stills() | rules()).items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, "utf-8")
