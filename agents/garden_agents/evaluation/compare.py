"""A sequential comparison of two agents: `garden compare cacti runs/new network`.

It plays one agent against the other until the result is clear (`sequential.SequentialTest`), and says how many games that
took. The games are those that `garden arena` would play with the same seed, in the same order.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.jobs import blocks, check
from garden_agents.evaluation.matches import Result, alone_shares, result_of, short, table
from garden_agents.evaluation.pairs import BLOCK, Games, Job, JobResults, PairArguments
from garden_agents.evaluation.plots import COLOURS, GREY, plot
from garden_agents.evaluation.sequential import Look, SequentialTest, elo_of
from garden_agents.progress import progress_bar

PACKAGES = ("garden-envs", "numpy", "numba")


def compare(
    played: Games,
    pair: tuple[str, str],
    test: SequentialTest,
    games: int = 20_000,
    processes: int = 1,
    ray: str | None = None,
    on_look: Callable[[Look], object] | None = None,
) -> Result:
    """Play the first agent against copies of the second until `test` decides; return the results of the games it used.

    Blocks of games are added to the test in their order, whichever was finished first, so the results depend neither on
    the number of processes nor on an interruption.

    Args:
        played: the finished jobs, which get more.
        pair: names of the two agents.
        test: a new test, which afterwards has the decision.
        games: largest number of games, rounded up to a multiple of the number of players.
        processes, ray: see `pairs.finished_jobs`.
        on_look: called with what is known after each block.

    Raises:
        ValueError: for numbers below 1.
        RuntimeError: if an agent fails or a process dies.
    """
    check(games, processes)
    n = played.game.num_players
    jobs = [Job(*pair, *block) for block in blocks(games, BLOCK, n)]
    used: list[JobResults] = []
    with contextlib.closing(played.play(jobs, processes, ray)) as finished:
        for job in jobs:
            while job not in played.done:
                next(finished)
            used.append(played.done[job])
            look = test.add(alone_shares(np.array(used[-1].places)))
            if on_look is not None:
                on_look(look)
            if test.decision != "open":
                break
    parts = [(results.places, results.scores, results.forfeited) for results in used]
    return result_of(pair, *map(np.concatenate, zip(*parts, strict=True)))


def in_words(pair: Sequence[str], test: SequentialTest) -> str:
    """Return what a finished test found."""
    (agent, opponent), n, look = (short(name, 30) for name in pair), test.num_players, test.looks[-1]
    first, second = (f"{elo:g}" for elo in test.elo)
    decision = {
        "above": f"{agent} leads {opponent} by more than {first} Elo",
        "below": f"{agent} leads {opponent} by less than {second} Elo",
        "open": f"open: more games are needed to tell {first} from {second} Elo",
    }[test.decision]
    low, high = (f"{bound:.1%} (Elo {elo_of(bound, n):+.0f})" for bound in look[2:])
    errors = " and ".join(f"{error:.1%}" for error in test.errors)
    return (
        f"true win rate: at least {low}, at most {high}; wrong in at most {errors} of comparisons\n{decision}"
    )


def picture(path: Path, test: SequentialTest, title: str) -> None:
    """Draw the win rate and its bounds over the number of games."""
    games, rate, lower, upper = np.array(test.looks).T
    with plot(path, 1, (7, 3.6)) as (axes,):
        axes.fill_between(games, lower, upper, color=COLOURS[1], alpha=0.14, linewidth=0)
        axes.plot(games, rate, color=COLOURS[1])
        for elo, share, side in zip(test.elo, test.rates, ("top", "bottom"), strict=True):
            axes.axhline(share, color=GREY, linestyle=":")
            place = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "va": side}
            axes.annotate(f"Elo {elo:g}", (1, share), (4, 0), **place)
        axes.set(xlabel="games", ylabel="win rate and its bounds", xlim=(0, games[-1]))
        axes.set_ylim(max(0, lower[-1] - 0.1), min(1, upper[-1] + 0.1))
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.figure.suptitle(title, x=0.01, ha="left", size=11)


@dataclass
class Arguments(PairArguments):
    """Play an agent against another one until it is clear whether it is stronger."""

    agent: tyro.conf.Positional[str]
    """the agent: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, program:COMMAND"""
    opponent: tyro.conf.Positional[str]
    """its opponent, in all other seats"""
    elo: tuple[float, float] = (0.0, 20.0)
    """the question: is the agent's lead more than the first number of Elo points, or less than the second one?"""
    errors: tuple[float, float] = (0.05, 0.1)
    """largest chances of the wrong answers "more" and "less", whenever one looks"""
    games: int = 20_000
    """largest number of games; the command stops earlier if the answer is clear"""


def main(arguments: Arguments) -> SequentialTest:
    """Play until the result is clear, print it and write the files.

    Raises:
        SystemExit: for arguments that are not valid, or after Ctrl-C.
        RuntimeError: if an agent fails or a process dies.
    """
    a = arguments
    game, pair = a.prepare(), (a.agent, a.opponent)
    with one_line_errors(a.stopped):
        played = Games(game, pair, a.seed, a.keep, a.allow_other_options, a.unchanged)
        test = SequentialTest(game.num_players, a.elo, a.errors)
        with progress_bar(total=a.games, unit="game") as bar:

            def show(look: Look) -> None:
                bar.set_description(f"{look.lower:.1%} … {look.rate:.1%} … {look.upper:.1%}", refresh=False)
                bar.update(look.games - bar.n)

            result = compare(played, pair, test, a.games, a.processes, a.ray, show)
    words = ["compare", a.game, *pair, "--elo", *a.elo, "--errors", *a.errors, "--games", a.games]
    found = {
        "decision": test.decision,
        "elo": a.elo,
        "errors": a.errors,
        "result": asdict(result),
        "looks": [look._asdict() for look in test.looks],
    }
    a.write(game, words, found, PACKAGES)
    try:  # the result is printed even if the picture fails
        if a.drawing is not None:
            with one_line_errors():
                picture(
                    a.drawing,
                    test,
                    f"{short(pair[0], 30)} against {short(pair[1], 30)}, {game!r}, seed {a.seed}",
                )
    finally:
        print(f"{table([result])}\n\n{in_words(pair, test)}", flush=True)
    return test
