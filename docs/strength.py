"""The tables of training and playing strength in README and docs, made from result files."""

from __future__ import annotations

import itertools
import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from garden_agents.evaluation.sequential import expected_share
from garden_agents.evaluation.tasks import Member, field_of, task_of, tasks
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.heads import target_of
from results import (
    REPORT,
    RESULTS,
    ROOT,
    median_rate,
    read_all,
    read_measurements,
    short,
    table,
    win_rate,
)
from safetensors import safe_open

from garden_core import make

MESSAGE, BANDWIDTH = 50e-6, 1.25e9
"""Assumed seconds per message between processes, and bytes per second."""
RESAMPLED = 2000  # for bootstrap intervals
FEWEST_SEEDS = 5  # for which such an interval is shown in short tables
BOTH, NEITHER = "garden train", "plain observation"
KNOWLEDGE = {
    BOTH: "all",
    "without imitation": "features and network alone",
    "imitation alone": "imitation alone",
    NEITHER: "none",
}
"""Baselines by the knowledge of the game that our trainer has there."""
PAIR = ("agent", "against", "games", "wins (95 % interval)")


def trainers() -> str:
    """Return the table of the trainers' speeds, and of where our trainer's time goes."""
    rows = []
    for measured in read_measurements("training"):
        sb3, shares = measured["sb3"], measured["shares_of_time"].items()
        rates = median_rate(measured), median_rate(sb3), f"{sb3['ratio']['median']:.1f}"
        time = ", ".join(f"{part} {share:.0%}" for part, share in shares)
        rows.append((measured["game"], measured["threads"], *rates, time))
    head = (
        "game",
        "threads",
        "ours, decisions/s",
        "SB3's, decisions/s",
        "ratio",
        "where our trainer's time goes",
    )
    return table(head, rows)


def more_processes() -> str:
    """Return the table of the time that several processes' gradients leave to a training, computed from the speed of one."""
    rows = []
    for measured in read_measurements("training"):
        if measured["threads"] > 1:
            continue
        game = make(measured["game"], reward="margin")
        size = new_network(game, Architecture(), target_of(game), 0).parameters.nbytes
        cells = [measured["game"], f"{size / 1e3:,.0f} kB"]
        for minibatch in (512, 8192):
            step = minibatch / 3 / measured["decisions_per_second"]["median"]  # three epochs
            for count in (8, 64, 512):
                messages = 2 * (count - 1)
                waiting = messages * (MESSAGE + size / count / BANDWIDTH)
                cells.append(f"{step / (step + waiting):.0%}")
        rows.append(cells)
    head = (f"{n} processes, minibatches of {size:,}" for size in (512, 8192) for n in (8, 64, 512))
    return table(("game", "gradient", *head), rows)


def roofline() -> str:
    """Return the table of a training's arithmetic beside matrix products, and of where its time goes."""
    rows = []
    for measured in read_measurements("roofline", folder=REPORT):
        rates = (f"{measured[key]['median']:.0f}" for key in ("gflops", "gflops_of_products"))
        time = ", ".join(f"{part} {share:.0%}" for part, share in measured["shares_of_time"].items())
        share = f"{measured['share']['median']:.0%}"
        rows.append(
            (measured["game"], f"{measured['operations_per_decision'] / 1e6:.2f}", *rates, share, time)
        )
    head = ("game", "million operations per decision", "GFLOP/s", "of products alone", "share")
    return table((*head, "where the time goes"), rows)


def networks_with_metadata() -> list[tuple[Path, dict[str, Any]]]:
    """Return file and metadata of each shipped network."""
    found = []
    for path in sorted(ROOT.glob("agents/garden_agents/games/*/networks/*.safetensors")):
        with safe_open(path, "np") as file:
            found.append((path, json.loads(file.metadata()["config"])))
    return found


def networks() -> str:
    """Return the table of shipped networks."""
    rows = []
    for path, config in networks_with_metadata():
        origin = config["origin"]
        made = f"{short(origin['decisions'])} decisions in {origin['seconds'] / 60:.0f} minutes"
        game, players = config["game"], config["options"]["num_players"]
        name = f"[{make(game).title}, {players} players](cards/{game}-{players}.md)"
        rows.append((name, f"{path.stat().st_size / 1e6:.2f} MB", made))
    return table(("network", "size", "last training run until this version"), rows)


def variants() -> str:
    """Return the table of networks in variants of the games; in a cooperative game, mean scores in place of wins."""
    rows = []
    for measured in read_all("variants", REPORT):
        cells = []
        for result in measured["results"]:
            if "win_rate" in result:
                cells.append(win_rate(result))
            else:
                cells.append(
                    f"{result['mean_score']:.0f} points, {result['opponents_mean_score']:.0f} by greedy"
                )
        network = measured["network"].replace("comes with the game", "pretrained")
        about = make(measured["game"]).title, measured["variant"], network
        rows.append((*about, *cells, *[""] * (2 - len(cells))))
    return table(("game", "variant", "network", "against greedy", "against mcts:50"), rows)


def calibration() -> str:
    """Return the table of values and outcomes: means, and correlation by fifths of the game."""
    rows = []
    for measured in read_measurements("calibration", folder=REPORT):
        (value, *values), (outcome, *outcomes) = measured["mean_value"], measured["mean_outcome"]
        apart = max((v - o for v, o in zip(values, outcomes, strict=True)), key=abs)
        means = (f"{mean:+.3f}" for mean in (value, outcome, apart))
        fifths = (f"{correlation:.2f}" for correlation in measured["correlation"][1:])
        about = f"{make(measured['game']).title}, {measured['num_players']}", measured["values_by"]
        rows.append((*about, *means, *fifths))
    head = (
        "game, players",
        "values by",
        "mean value",
        "mean outcome",
        "largest difference of the means in any fifth",
    )
    return table((*head, "correlation: 1st fifth", "2nd", "3rd", "4th", "5th"), rows)


# --- playing strength ---


def _pair(result: dict[str, Any]) -> tuple[Any, ...]:
    """Return the columns PAIR of a result."""
    return f"`{result['agent']}`", f"`{result['opponent']}`", result["games"], win_rate(result)


def ratings() -> str:
    """Return the table of the ratings of some members of each task's field."""
    rows, shown = [], {"random": "random", "greedy": "greedy", "main": "network"}
    for name in tasks():
        found = {shown.get(m.agent.removeprefix(f"{name}:"), m.agent): m for m in field_of(name).members}
        search = [agent for agent in found if "mcts" in agent and "~" not in agent]
        cells = [", ".join(_rating(found[agent], agent) for agent in search)]
        rows.append((f"`{name}`", *(_rating(found[agent]) for agent in shown.values()), *cells))
    return table(("task", *(f"`{agent}`" for agent in shown.values()), "search"), rows)


def _rating(member: Member, name: str = "") -> str:
    name = re.sub(r"^.*:main", "network", name)
    return f"{f'`{name}` ' * bool(name)}{member.rating} ± {1.96 * member.error:.0f}"


def fields() -> str:
    """Return the table of all fields: members with their ratings, from the strongest to the weakest."""
    columns = []
    for name in tasks():
        members = reversed(field_of(name).members)
        columns.append([f"`{m.agent.removeprefix(f'{name}:')}` {m.rating}" for m in members])
    rows = itertools.zip_longest(*columns, fillvalue="")
    return table([f"`{name}`" for name in tasks()], rows)


def fits() -> str:
    """Return the table of how well ratings describe the members of each field."""
    rows = []
    for name in tasks():
        field = field_of(name)
        residuals = np.array([pair[-1] for pair in field.pairs])
        worst = max(field.pairs, key=lambda pair: abs(pair[-1]))
        a, b = (agent.removeprefix(f"{name}:") for agent in worst[:2])
        rows.append(
            (
                f"`{name}`",
                len(field.pairs),
                f"{np.sqrt((residuals**2).mean()):.1f}",
                f"`{a}` against `{b}`: {worst[3]:.1%}, expected {worst[4]:.1%}",
                f"± {field.misfit:.0f}",
            )
        )
    head = ("task", "pairs", "residuals, standard errors (rms)", "largest residual", "misfit, points")
    return table(head, rows)


def interquartile_mean(ratings: np.ndarray) -> float:
    """Return the mean of the middle half of ratings, without a quarter of them, rounded down, at each end."""
    ordered = np.sort(ratings)
    cut = len(ordered) // 4
    return float(ordered[cut : len(ordered) - cut].mean())


def spread(ratings: Sequence[float]) -> tuple[float, float, float, float]:
    """Return mean and interquartile mean of the seeds' ratings, and the latter's 95 % interval by bootstrap.

    As R. Agarwal et al., "Deep reinforcement learning at the edge of the statistical precipice", 2021.
    """
    values, rng = np.array(ratings, float), np.random.default_rng(0)
    means = [interquartile_mean(rng.choice(values, len(values))) for _ in range(RESAMPLED)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(values.mean()), interquartile_mean(values), float(low), float(high)


def _baseline_runs() -> dict[tuple[int, str, bool, str], list[dict[str, Any]]]:
    """Return the baselines' runs in the present versions of the tasks by decisions, method, knowledge and task."""
    path, found = RESULTS / "baselines.jsonl", defaultdict(list)
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        run = json.loads(line)
        if run["version"] == task_of(run["task"]).version:
            found[run["decisions"], run["method"], run["knowledge"], run["task"]].append(run)
    return found


def baselines() -> str:
    """Return the table of the benchmark's baselines: ratings over the seeds by number of decisions, method and task."""
    found = _baseline_runs()
    names = _measured(found)
    lines = [
        (
            short(decisions),
            method,
            "yes" if knowledge else "no",
            *(_spread(found[decisions, method, knowledge, name]) for name in names),
        )
        for decisions, method, knowledge in sorted({key[:3] for key in found})
    ]
    return table(("decisions", "method", "knowledge", *(f"`{name}`" for name in names)), lines)


def baselines_in_short() -> str:
    """Return the table of the benchmark's baselines with ratings, their intervals and numbers of seeds alone."""
    found = _baseline_runs()
    names = _measured(found)
    lines = [
        (short(key[0]), key[1], *(_middle(found[*key, name]) for name in names))
        for key in sorted({key[:3] for key in found})
    ]
    return table(("decisions", "method", *(f"`{name}`" for name in names)), lines)


def _measured(found: Iterable[tuple[int, str, bool, str]]) -> list[str]:
    """Return the tasks that have runs."""
    return [name for name in tasks() if any(key[3] == name for key in found)]


def _middle(runs: list[dict[str, Any]]) -> str:
    """Return the ratings of the seeds of a method, as text.

    From five seeds on it is their interquartile mean with its interval; for fewer it is each rating, for one with the interval of its games.
    """
    if not runs:
        return ""
    ratings = [run["rating"] for run in runs]
    if len(runs) == 1:
        return f"{ratings[0]} ± {max(abs(bound - ratings[0]) for bound in runs[0]['interval']):.0f}; 1 seed"
    if len(runs) < FEWEST_SEEDS:
        return f"{', '.join(map(str, ratings))}; {len(runs)} seeds"
    _, middle, low, high = spread(ratings)
    return f"{middle:.0f} ({low:.0f} to {high:.0f}); {len(runs)} seeds"


def knowledge() -> str:
    """Return the table of ratings of our trainer with all, parts and nothing of the knowledge of a game, and of the difference of all."""
    found = _baseline_runs()
    names, rows = _measured(found), []
    for decisions in sorted({key[0] for key in found}):
        runs = {
            method: [found.get((decisions, method, method != NEITHER, name), []) for name in names]
            for method in KNOWLEDGE
        }
        if any(runs[BOTH]) and any(runs[NEITHER]):
            at = short(decisions)
            rows += [
                (at, what, *map(_middle, runs[key])) for key, what in KNOWLEDGE.items() if any(runs[key])
            ]
            rows.append((at, "all less none", *map(_difference, runs[BOTH], runs[NEITHER])))
    return table(("decisions", "knowledge", *(f"`{name}`" for name in names)), rows)


def _difference(runs: list[dict[str, Any]], others: list[dict[str, Any]]) -> str:
    """Return the difference of two methods' interquartile means, from five seeds on with its interval by bootstrap."""
    if not (runs and others):
        return ""
    rng = np.random.default_rng(0)
    ratings = [np.array([run["rating"] for run in each], float) for each in (runs, others)]
    change = f"{interquartile_mean(ratings[0]) - interquartile_mean(ratings[1]):+.0f}"
    if min(map(len, ratings)) >= FEWEST_SEEDS:
        draws = [
            [interquartile_mean(rng.choice(each, len(each))) for each in ratings] for _ in range(RESAMPLED)
        ]
        low, high = np.percentile(np.subtract(*np.transpose(draws)), [2.5, 97.5])
        change += f" ({low:+.0f} to {high:+.0f})"
    return change


def unseen_cards() -> str:
    """Return the table of ratings with learned and with unseen cards, by the number of card sets in training."""
    path, found = REPORT / "unseen-cards.jsonl", defaultdict(list)
    for line in path.read_text("utf-8").splitlines() if path.exists() else ():
        run = json.loads(line)
        found[run["game"], run["steps"], run["sets"]].append(run)

    def of(runs: list[dict[str, Any]], cards: str) -> str:
        ratings = [run[cards]["rating"] for run in runs]
        return f"{np.mean(ratings):.0f}" + (f" ({min(ratings)} to {max(ratings)})" if len(runs) > 1 else "")

    rows = [
        (
            game.title(),
            short(steps),
            f"{sets:,}",
            len(runs),
            of(runs, "learned"),
            of(runs, "unseen"),
        )
        for (game, steps, sets), runs in sorted(
            found.items(), key=lambda item: (item[0][0] != "cacti", item[0])
        )
    ]
    columns = "game", "decisions", "card sets", "seeds", "rating, learned cards", "rating, unseen cards"
    return table(columns, rows)


def _spread(runs: list[dict[str, Any]]) -> str:
    """Return mean and interquartile mean of ratings, with interval, number of seeds and minutes of a run, as text."""
    if not runs:
        return ""
    mean, middle, low, high = spread([run["rating"] for run in runs])
    minutes = sum(run["seconds"] for run in runs) / len(runs) / 60
    ratings = f"{mean:.0f}; {middle:.0f} ({low:.0f} to {high:.0f})" if len(runs) > 1 else f"{mean:.0f}"
    return f"{ratings}, {len(runs)} seed{'s' * (len(runs) > 1)}, {minutes:.1f} min"


def best_responses() -> str:
    """Return the table of win rates of best responses, and of search with the agent's own network, by task and agent."""
    rows = []
    for measured in read_all("exploit", REPORT):
        agent = "network" if ":" in measured["agent"] else measured["agent"]
        (rating,) = (m.rating for m in field_of(measured["task"]).members if m.agent == measured["agent"])
        response, *search = (win_rate(r) for r in measured["results"])
        rows.append(
            (f"`{measured['task']}`", f"`{agent}`", rating, measured["way"], response, *(search or [""]))
        )
    head = ("task", "agent", "its rating", "best response begins with", "best response wins", "search wins")
    return table(head, rows)


def exploited() -> str:
    """Return the table of losses of agents against their best responses and search, by task."""
    found: defaultdict[str, dict[tuple[str, int], str]] = defaultdict(dict)
    for measured in read_all("exploit", REPORT):
        for at, result in enumerate(measured["results"]):
            if measured["way"] == "the agent's weights" or ":" not in measured["agent"]:
                found[measured["task"]][measured["agent"].partition(":")[2], at] = win_rate(result)
    head = (
        "task",
        "`greedy` loses to its best response",
        "`network` loses to its best response",
        "`network` loses to search",
    )
    columns = ("", 0), ("main", 0), ("main", 1)
    return table(
        head, [(f"`{task}`", *(cells.get(column, "") for column in columns)) for task, cells in found.items()]
    )


def ladder(wanted: Callable[[str, str], bool] = lambda agent, opponent: True) -> str:
    """Return the table of win rates of pairs of searches and networks, and the agents' times per move."""
    rows = []
    for measured in read_all("ladder", REPORT):
        for result in measured["results"]:
            agent, opponent = result["agent"], result["opponent"]
            if wanted(agent, opponent):
                seconds = (measured["seconds_a_move"].get(each) for each in (agent, opponent))
                times = (f"{1000 * each:.2g}" if each else "–" for each in seconds)
                rows.append((measured["game"], *_pair(result), *times))
    return table(("game", *PAIR, "time per move, ms", "opponent's"), rows)


def search_in_short() -> str:
    """Return the rows of `ladder` in which a network with search plays."""
    pairs = {"network", "network-mcts:100", "mcts:400"}
    return ladder(lambda agent, opponent: "network-mcts" in agent and opponent in pairs)


# --- comparisons ---


def comparison_in_short() -> str:
    """Return a sentence on the number of games of sequential tests."""
    rows = {(r["num_players"], r["lead"]): r for r in read_measurements("comparing-errors", folder=REPORT)}
    at = {lead: f"{rows[2, lead]['games']:,.0f}" for lead in (0, 40)}
    return (
        f"With two players, the answer took {at[40]} games on average if the true lead was 40 Elo points, and {at[0]} if it was 0.\n"
        f"A test with a fixed number of games takes {rows[2, 0]['fixed_games']:,} for the same errors ([report](report/comparing.md))."
    )


def scores() -> str:
    """Return the table of how often the intervals of short scores hold known ratings, by task."""
    measured: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_all("scale", REPORT):
        measured[row["task"]].append(row)
    rows = []
    for task, found in measured.items():
        short_scores = [row for row in found if "agent" in row]
        members = [row for row in found if "member" in row]
        held = sum(row["held"] * row["scores"] for row in short_scores) / sum(
            row["scores"] for row in short_scores
        )
        each = ", ".join(
            f"`{row['agent'].removeprefix(f'{task}:')}` {row['held']:.0%}" for row in short_scores
        )
        missed = ", ".join(
            f"`{row['member'].removeprefix(f'{task}:')}`" for row in members if not row["held"]
        )
        rows.append(
            (
                f"`{task}`",
                f"{held:.0%}",
                each,
                f"{sum(row['held'] for row in members)} of {len(members)}",
                missed,
            )
        )
    head = (
        "task",
        "intervals that hold the long match's rating",
        "by agent",
        "members within their intervals",
        "others",
    )
    return table(head, rows)


def comparing_errors() -> str:
    """Return the table of error rates and lengths of simulated sequential tests."""
    rows = [
        (
            r["num_players"],
            r["lead"],
            f"{r['above']:.1%}",
            f"{r['lower_bound_wrong']:.1%}",
            f"{r['upper_bound_wrong']:.1%}",
            f"{r['games']:,.0f}",
            f"{r['fixed_games']:,}",
            f"{_planned(r['fixed_games'], expected_share(r['lead'], r['num_players']), r['num_players']):,}"
            if r["lead"] >= 20
            else "",
        )
        for r in read_measurements("comparing-errors", folder=REPORT)
    ]
    head = (
        "players",
        "true lead",
        "answer: more than 0",
        "lower bound wrong",
        "upper bound wrong",
        "games",
        "fixed number for 20",
        "for the true lead",
    )
    return table(head, rows)


def _planned(games: int, rate: float, num_players: int) -> int:
    """Return the length of a fixed test that is planned for this win rate, from that of one planned for 20 Elo points."""
    planned, equal = expected_share(20, num_players), 1 / num_players
    return round(games * ((planned - equal) / (rate - equal)) ** 2)


def comparing_repeats() -> str:
    """Return the table of sequential tests of the networks against themselves with random actions."""
    rows = []
    for r in read_measurements("comparing-repeats", folder=REPORT):
        right = sum(test["decision"] == "above" for test in r["tests"])
        games = [test["games"] for test in r["tests"]]
        low, high = r["interval"]
        rows.append(
            (
                r["game"],
                f"{r['noise']:.1%}",
                f"{r['rate']:.1%} ({low:.1%} to {high:.1%})",
                f"{right} of {len(games)}",
                f"{r['games']:,.0f} ({min(games):,} to {max(games):,})",
                *(
                    f"{fixed:,} ({r['games'] / fixed:.0%})"
                    for fixed in (_planned(r["fixed_games_shared"], r["rate"], 2), r["fixed_games_shared"])
                ),
            )
        )
    fixed = "fixed, true lead", "fixed, 20 Elo"
    head = ("game", "random actions", "true win rate", "right", "games", *fixed)
    return table(head, rows)


def comparing_deals() -> str:
    """Return the table of the variance that is left if each deal is played in all seats."""
    rows = [
        (
            r["game"],
            r["num_players"],
            "`network` with random actions"
            if ":" in r["opponent"].partition("-")[0]
            else f"`{r['opponent']}`",
            f"{r['rate']:.1%}",
            f"{r['variance']:.2f} ± {r['standard_error']:.2f}",
        )
        for r in read_measurements("comparing-deals", folder=REPORT)
    ]
    return table(("game", "players", "`network` against", "win rate", "variance left"), rows)


def comparing_seeds() -> str:
    """Return the table of comparisons of agents whose strength depends on their seeds."""
    rows = [
        (
            "once" if r["made_once"] else "anew for each block",
            f"{r['said_stronger_though_equal']} of {r['equal']}",
            f"{r['said_stronger'] - r['said_stronger_though_equal']} of {r['stronger']}"
            if r["stronger"]
            else "–",
        )
        for r in read_measurements("comparing-seeds", folder=REPORT)
    ]
    return table(("agents are made", "“stronger” of equals", "“stronger” of the stronger"), rows)


def decisions() -> str:
    """Return the table of decisions whether a new network replaces a pretrained one."""
    rows = [
        (
            r["date"],
            r["game"],
            r["num_players"],
            f"`{r['command']}`",
            r.get("games", "–"),
            f"{r['rate']:.1%} ({r['lower']:.1%} to {r['upper']:.1%})" if "rate" in r else "first network",
            "yes" if r["replaced"] else "no",
        )
        for r in read_measurements("networks")
    ]
    return table(
        ("date", "game", "players", "new network", "games", "win rate and its bounds", "replaced"), rows
    )


def hidden() -> str:
    """Return the table of trainings with hidden information, by seed, and means over the seeds."""
    ways: dict[str, list[dict[str, Any]]] = {}
    for measured in read_measurements("hidden", folder=REPORT):
        ways.setdefault(measured["way"], []).append(measured)

    def untrained(way: str, key: str) -> bool:
        return "--no-predict" in way and key != "value_error"

    rows = []
    for way, runs in ways.items():
        greedy = [run["against_greedy"] for run in runs if "against_greedy" in run]
        plain = [f"{run['rate']:.0%} of {run['games']:,}" for run in runs if "rate" in run]
        keys = "value_error", "bonus_loss", "basic_loss"
        means = [
            f"{sum(run[key] for run in runs) / len(runs):.2f}"
            if key in runs[0] and not untrained(way, key)
            else "–"
            for key in keys
        ]
        each = ", ".join(f"{rate:.1%}" for rate in greedy)
        against = f"{sum(greedy) / len(greedy):.1%} ({each})" if greedy else "–"
        rows.append((f"`{way}`" if greedy else way, against, ", ".join(plain) or "–", *means))
    head = "training", "against greedy", "against the plain network of the seed"
    return table((*head, "value error", "loss of Bonus", "loss of Basic"), rows)


def offline() -> str:
    """Return the table of offline learning: win rates against `greedy`."""
    by_size: dict[int, list[dict[str, float]]] = {}
    for measured in read_measurements("offline", folder=REPORT):
        by_size.setdefault(measured["games"], []).append(measured["rates"])
    rows = []
    for size, runs in by_size.items():
        for name in runs[0]:
            rates = [run[name] for run in runs]
            each = ", ".join(f"{rate:.1%}" for rate in rates)
            rows.append((f"{size:,}", name, f"{sum(rates) / len(rates):.1%}", each))
    return table(("games in the dataset", "agent", "mean", "by seed"), rows)


def luck_solved() -> str:
    """Return a sentence on the estimates of a win rate that is known."""
    (r,) = (each for each in read_measurements("luck", folder=REPORT) if each["game"] == "pig")
    return (
        f"The mean of 200 estimates was {r['mean']:.2%} with a standard error of {r['standard_error']:.2%}; the true win rate is {r['truth']:.2%}.\n"
        f"The variance of the estimates was {r['variance_left']:.2f} of that without corrections."
    )


def luck() -> str:
    """Return the table of the variance that is left if luck is subtracted."""
    rows = [
        (
            r["game"],
            r["num_players"],
            f"`{r['agent']}`",
            f"`{r['opponent']}`",
            f"{r['events']:.0f}",
            f"{r['variance_left']:.2f}",
            f"{r['variance_left_at_best']:.2f}",
            f"{r['seconds']['corrected'] / r['seconds']['plain']:.1f}",
        )
        for r in read_measurements("luck", folder=REPORT)
        if r["game"] != "pig"
    ]
    head = (
        "game",
        "players",
        "agent",
        "against",
        "chance events",
        "variance left",
        "at the best factor",
        "time",
    )
    return table(head, rows)
