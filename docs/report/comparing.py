"""Measure how many games a comparison needs: `python -m docs.report.comparing [PARTS...]`.

`errors`: 2,000 simulated sequential tests for each true lead: how often they are wrong, and how many games they take. `repeats`:
the shipped network of each game plays against itself with a share of random actions, first 20,000 games, then twenty sequential
tests. `deals`: how much of the variance of the win rate is saved by playing each deal in all seats. `seeds`: comparisons of agents
whose strength depends on their seeds, made once, and anew for each block. Each part has its result file, `comparing-PART.json`. Finished games are kept next to it and not repeated; the folder is deleted at the end.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import tyro
from garden_agents.evaluation.compare import compare
from garden_agents.evaluation.sequential import SequentialTest, elo_of, expected_share
from garden_agents.matches.jobs import digest_of
from garden_agents.matches.meet import alone_shares, interval_of
from garden_agents.matches.pairs import BLOCK, Games, jobs_of
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent

from benchmarks import common
from garden_core import Batch, Game, make
from garden_core.batch.policies import GreedyPolicy, Policy, RandomPolicy

NOISE = {"botanicus": 0.013, "cacti": 0.03, "mars": 0.022}
"""Share of random actions of `noisy`, with which the network wins 53 to 57 % of the games against it."""
NOISY = "docs.report.comparing:noisy"
LEADS = (-40, -20, 0, 10, 20, 40, 100)  # Elo points
SEARCH = "network-mcts:8"
"""Another opponent of the network, in `deals`."""


@dataclass
class Arguments:
    """Measure how many games a comparison needs."""

    parts: tyro.conf.Positional[tuple[str, ...]] = ("errors", "repeats", "deals", "seeds")
    """parts to measure"""
    games: tuple[str, ...] = ("botanicus", "cacti", "mars")
    """names of games"""
    tests: int = 2000
    """simulated tests of each lead"""
    repeats: int = 20
    """sequential tests in each game"""
    comparisons: int = 60
    """comparisons in `seeds`"""
    matches: int = 20_000
    """games that tell the true win rate"""
    pairs: int = 1000
    """deals of each pair of agents"""
    processes: int = 2
    """number of processes"""
    output: Path = Path(__file__).parent
    """folder for the result files"""


def noisy(game: Game, seed: int) -> Policy:
    """Return the shipped network's agent, which sometimes chooses a random action instead."""
    network, rng = load_agent("network", game, seed), np.random.default_rng(seed)

    def choose(batch: Batch, rows: np.ndarray) -> np.ndarray:
        actions, masks = network(batch, rows), batch.action_mask[rows]
        other = (rng.random(masks.shape) * masks).argmax(1)
        return np.where(rng.random(len(rows)) < NOISE[game.name], other, actions)

    return choose


def either(game: Game, seed: int, name: str = "") -> Policy:
    """Return greedy or random play, by the seed."""
    return GreedyPolicy(seed) if seed % 2 else RandomPolicy(seed)


def fixed_games(test: SequentialTest, variance: float) -> int:
    """Return the number of games of the test that is decided once, after a fixed number, with the same errors.

    Args:
        test: the sequential test.
        variance: variance of a game's share of the win.
    """
    quantiles = sum(NormalDist().inv_cdf(1 - error) for error in test.errors)
    return round(variance * (quantiles / (test.rates[1] - test.rates[0])) ** 2)


def errors(arguments: Arguments) -> list[dict[str, Any]]:
    """Simulate tests of 0 against 20 Elo points, with two and four players; a game is won or lost, at random."""
    rng, rows = np.random.default_rng(0), []
    for n in (2, 4):
        for lead in LEADS:
            rate, found = expected_share(lead, n), []
            for _ in progress_bar(iterable=range(arguments.tests), desc=f"{n} players, lead of {lead}"):
                test = SequentialTest(n)
                while test.decision == "open":
                    test.add(rng.random((-(-BLOCK // n), n)) < rate)
                look = test.looks[-1]
                found.append((test.decision == "above", look.lower > rate, look.upper < rate, look.games))
            above, low, high, games = map(float, np.mean(found, axis=0))
            rows.append(
                {
                    "num_players": n,
                    "lead": lead,
                    "above": above,
                    "lower_bound_wrong": low,
                    "upper_bound_wrong": high,
                    "games": games,
                    "fixed_games": fixed_games(test, test.rates[0] * (1 - test.rates[0])),
                }
            )
            print(rows[-1], flush=True)
    return rows


def repeats(arguments: Arguments) -> list[dict[str, Any]]:
    """Return the true win rate of each game's network against `noisy`, and what twenty tests find."""
    rows, pair, keep = [], ("network", NOISY), arguments.output / "comparing-games"
    keep.mkdir(parents=True, exist_ok=True)

    def games_of(game: Game, seed: int) -> Games:
        path = keep / f"{game.name}-{seed}.games.jsonl"
        return Games(game, pair, seed, path, unchanged=[NOISY], same_agents=True)

    for name in arguments.games:
        game = make(name)
        played, jobs = games_of(game, 0), jobs_of(pair, 2, arguments.matches)
        with progress_bar(total=len(jobs), desc=name) as bar:
            for _ in played.play(jobs, arguments.processes):
                bar.update()
        shares = np.concatenate([alone_shares(np.array(played.done[job].places)) for job in jobs])
        tests = []
        for seed in progress_bar(iterable=range(1, arguments.repeats + 1), desc=f"{name}, tests"):
            test = SequentialTest(2)
            compare(games_of(game, seed), pair, test, processes=arguments.processes)
            tests.append({"decision": test.decision, **test.looks[-1]._asdict()})
        rate = float(shares.mean())
        rows.append(
            {
                "game": name,
                "noise": NOISE[name],
                "rate": rate,
                "interval": interval_of(shares),
                "lead": elo_of(rate, 2),
                "tests": tests,
                "games": float(np.mean([each["games"] for each in tests])),
                "fixed_games": fixed_games(test, float(shares.var())),
                "fixed_games_shared": fixed_games(test, 2 * float(shares.mean(1).var())),
            }
        )
        print({key: value for key, value in rows[-1].items() if key != "tests"}, flush=True)
    return rows


def deals(arguments: Arguments) -> list[dict[str, Any]]:
    """Return the variance of the win rate with each deal played in all seats, relative to games with different deals."""
    rows = []
    for name in arguments.games:
        for n, opponent in ((2, NOISY), (2, SEARCH), (4, NOISY)):
            if name == "cacti" and n == 4:
                continue
            game, pair = make(name, num_players=n), ("network", opponent)
            played, jobs = Games(game, pair, seed=1000), jobs_of(pair, n, arguments.pairs * n)
            jobs = [job for job in jobs if job.agents == pair]
            with progress_bar(total=len(jobs), desc=f"{name}, {n} players, {opponent}") as bar:
                for _ in played.play(jobs, arguments.processes):
                    bar.update()
            shares = np.concatenate([alone_shares(np.array(played.done[job].places)) for job in jobs])
            apart = shares.var(0, ddof=1).mean() / n
            ratio = float(shares.mean(1).var(ddof=1) / apart)
            rows.append(
                {
                    "game": name,
                    "num_players": n,
                    "opponent": opponent,
                    "deals": len(shares),
                    "rate": float(shares.mean()),
                    "variance": ratio,
                    "standard_error": ratio * float(np.sqrt(2 / len(shares))),
                }
            )
            print(rows[-1], flush=True)
    return rows


def seeds(arguments: Arguments) -> list[dict[str, Any]]:
    """Compare two agents in Cacti that are each greedy or random by their seeds; count the answers that the first is stronger.

    Made anew for each block of games the two are equal. Made once, they are equal in half of the comparisons, as
    `made_equal` counts; in a quarter the first one is stronger.
    """
    own = "docs.report.comparing:either?name="
    pair, rows = (f"{own}a", f"{own}b"), []
    for once in (True, False):
        found = []
        for seed in progress_bar(
            iterable=range(arguments.comparisons), desc=f"made {'once' if once else 'anew'}"
        ):
            test = SequentialTest(2)
            compare(Games(make("cacti"), pair, seed, same_agents=once), pair, test)
            digest = digest_of(seed, *pair)
            first, second = (int.from_bytes(digest[at : at + 4]) % 2 for at in (8, 12))
            equal = first == second or not once
            found.append(
                (
                    equal,
                    equal and test.decision == "above",
                    not equal and first > second,
                    test.decision == "above",
                )
            )
        equal, wrong, stronger, said = np.sum(found, axis=0).tolist()
        rows.append(
            {
                "made_once": once,
                "equal": equal,
                "said_stronger_though_equal": wrong,
                "stronger": stronger,
                "said_stronger": said,
            }
        )
        print(rows[-1], flush=True)
    return rows


PARTS: dict[str, Callable[[Arguments], list[dict[str, Any]]]] = {
    "errors": errors,
    "repeats": repeats,
    "deals": deals,
    "seeds": seeds,
}


def main(arguments: Arguments) -> None:
    """Measure the parts, print them and write the result files."""
    for part in arguments.parts:
        settings = {
            key: getattr(arguments, key) for key in ("tests", "repeats", "matches", "pairs", "comparisons")
        }
        common.save(arguments.output, f"comparing-{part}", settings, PARTS[part](arguments))
    shutil.rmtree(arguments.output / "comparing-games", ignore_errors=True)


if __name__ == "__main__":
    main(tyro.cli(Arguments))
