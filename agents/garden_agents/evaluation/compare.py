"""A sequential comparison of two agents: `garden compare cacti runs/new network`.

It plays one agent against the other until the result is clear (`sequential.SequentialTest`), and says how many games that
took. All are games of the same two agents, made with seeds that follow from --seed.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.sequential import ELO, ERRORS, Look, SequentialTest, elo_of
from garden_agents.matches.jobs import blocks, check
from garden_agents.matches.meet import Result, alone_shares, fitted, result_of
from garden_agents.matches.pairs import BLOCK, Games, Job, PairArguments
from garden_agents.plots import COLOURS, GREY, plot
from garden_agents.progress import progress_bar
from garden_core.checks import short

GAMES = 20_000
"""Usual largest number of games."""
PACKAGES = ("garden-envs", "numpy", "numba")


def compare(
    played: Games,
    pair: tuple[str, str],
    test: SequentialTest,
    games: int = GAMES,
    processes: int = 1,
    on_look: Callable[[Look], object] | None = None,
    minutes: float = math.inf,
) -> Result:
    """Play the first agent against copies of the second until `test` decides; return the results of the games it used.

    Blocks of games are added to the test in their order, whichever was finished first, so the results depend neither on
    the number of processes nor on an interruption. Whole blocks are played, which more games later do not change.

    Args:
        played: the finished jobs, which get more; made with `same_agents`, as bounds hold for the agents of all blocks.
        pair: names of the two agents.
        test: a new test, which afterwards has the decision.
        games: largest number of games, rounded up to whole blocks.
        processes: number of processes.
        on_look: called with what is known after each block.
        minutes: after this time, no further block is added, so that the number of games depends on the machine's speed.

    Raises:
        ValueError: for numbers below 1, or minutes that are not positive.
        RuntimeError: if an agent fails or a process dies.
    """
    check(games, processes)
    if not minutes > 0:
        raise ValueError(f"minutes must be more than 0, not {short(minutes)}")
    end = time.monotonic() + 60 * minutes
    jobs = _jobs(pair, played, games)
    with contextlib.closing(played.play(jobs, processes)) as finished:
        for job in jobs:
            while job not in played.done:
                next(finished)
            look = test.add(alone_shares(np.array(played.done[job].places)))
            if on_look is not None:
                on_look(look)
            if test.decision != "open" or time.monotonic() > end:
                break
    return results_of(played, pair, test)


def results_of(played: Games, pair: tuple[str, str], test: SequentialTest) -> Result:
    """Return the results of the games that a test has used.

    Their interval has the bounds of the test, as other intervals do not allow for stopping early.
    """
    look = test.looks[-1]
    used = [played.done[job] for job in _jobs(pair, played, look.games)]
    parts = [(results.places, results.scores, results.forfeited) for results in used]
    result = result_of(pair, *map(np.concatenate, zip(*parts, strict=True)))
    return replace(result, interval=(look.lower, look.upper))


def _jobs(pair: tuple[str, str], played: Games, games: int) -> list[Job]:
    """Return the jobs of at least `games` games, all of the same size."""
    ((_, size),) = blocks(BLOCK, BLOCK, played.game.num_players)
    return [Job(pair, block, size) for block in range(-(-games // size))]


def in_words(result: Result, test: SequentialTest) -> str:
    """Return what a comparison found."""
    agent, opponent = fitted(result.agent, 30), fitted(result.opponent, 30)
    n, look, (first, second) = test.num_players, test.looks[-1], test.elo
    # The bounds can tell more than was asked.
    least = max(first, 0.0) if look.lower > 1 / n else first
    most = min(second, 0.0) if look.upper < 1 / n else second
    decision = {
        "above": f"{agent} is {_more(least)} than {opponent}",
        "below": f"{agent} is {_less(most)} than {opponent}",
        "open": f"open: more games are needed to tell a lead of {first:g} from one of {second:g} Elo",
    }[test.decision]
    low, high = (
        f"{bound:.2%}" + (f" (Elo {elo_of(bound, n):+.1f})" if 0 < bound < 1 else "") for bound in look[2:]
    )
    wrong = "the lower bound is wrong in at most {:g}% of comparisons, the upper one in at most {:g}%"
    lines = [
        f"{agent} won {result.win_rate:.1%} of {result.games} games against {opponent}; equals win {1 / n:.0%}",
        f"true win rate: at least {low}, at most {high}",
        wrong.format(*(100 * error for error in test.errors))
        + ", whenever one looks or stops; this is about the two agents that --seed made",
        decision,
    ]
    if first < 0 < second and test.decision != "open":
        chosen = agent if test.decision == "above" else opponent
        other = -first if test.decision == "above" else second
        lines.append(f"to choose one of them, take {chosen}: it is less than {other:g} Elo weaker, if at all")
    for name, count in ((agent, result.forfeits), (opponent, result.opponents_forfeits)):
        if count:
            lines.insert(1, f"{name} gave up {count} of these games, which it lost")
    return "\n".join(lines)


def _more(elo: float) -> str:
    if elo < 0:
        return f"less than {-elo:g} Elo weaker"
    return f"more than {elo:g} Elo stronger" if elo else "stronger"


def _less(elo: float) -> str:
    if elo < 0:
        return f"more than {-elo:g} Elo weaker"
    return f"not {elo:g} Elo stronger" if elo else "weaker"


def picture(path: Path, test: SequentialTest, title: str) -> None:
    """Draw the win rate and its bounds over the number of games."""
    games, rate, lower, upper = np.array([(0, np.nan, 0, 1), *test.looks]).T
    with plot(path, 1, (7, 3.6)) as (axes,):
        axes.fill_between(games, lower, upper, color=COLOURS[1], alpha=0.14, linewidth=0)
        axes.plot(games, rate, "o-", color=COLOURS[1])
        for elo, share, side in zip(test.elo, test.rates, ("top", "bottom"), strict=True):
            axes.axhline(share, color=GREY, linestyle=":")
            place = {"xycoords": axes.get_yaxis_transform(), "textcoords": "offset points", "va": side}
            axes.annotate(f"Elo {elo:g}", (1, share), (4, 0), **place)
        axes.set(xlabel="games", ylabel="win rate and its bounds", xlim=(0, games[-1]))
        axes.set_ylim(
            max(0, min(lower[-1], test.rates[0]) - 0.1), min(1, max(upper[-1], test.rates[1]) + 0.1)
        )
        axes.yaxis.set_major_formatter("{x:.0%}")
        axes.figure.suptitle(title, x=0.01, ha="left", size=11)


@dataclass
class Arguments(PairArguments):
    """Play an agent against another one until it is clear whether it is stronger."""

    agent: tyro.conf.Positional[str]
    """the agent: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, openai:MODEL, program:COMMAND"""
    opponent: tyro.conf.Positional[str]
    """its opponent, in all other seats"""
    elo: tuple[float, float] = ELO
    """two leads in Elo points; the command stops when the agent's lead is clearly above the first or below the second one"""
    errors: tuple[float, float] = ERRORS
    """largest shares of wrong answers that the lead is above the first one, and that it is below the second one"""
    games: int = GAMES
    """largest number of games, rounded up to blocks of about 50; the command stops earlier if the answer is clear"""
    minutes: float = math.inf
    """longest time for games; bounds and answer hold whenever it ends"""


def main(arguments: Arguments) -> SequentialTest:
    """Play until the result is clear, print it and write the files.

    Raises:
        SystemExit: for arguments that are not valid; after Ctrl-C, once what is known is printed and written; if an agent
            fails or a process dies.
    """
    a = arguments
    pair = a.agent, a.opponent
    game = a.prepare("compare", pair)
    with one_line_errors(a.stopped, RuntimeError):
        played = Games(game, pair, a.seed, a.keep, a.allow_other_options, a.unchanged, same_agents=True)
        test = SequentialTest(game.num_players, a.elo, a.errors)
        with progress_bar(total=a.games, unit="game") as bar:

            def show(look: Look) -> None:
                said = f"{look.rate:.1%}, at least {look.lower:.1%}, at most {look.upper:.1%}"
                bar.set_description(said, refresh=False)
                bar.update(look.games - bar.n)

            stopped = False
            try:
                compare(played, pair, test, a.games, a.processes, show, a.minutes)
            except KeyboardInterrupt:
                stopped = True
                if not test.looks:
                    raise
    result = results_of(played, pair, test)
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
                    f"{fitted(pair[0], 30)} against {fitted(pair[1], 30)}, {game!r}, seed {a.seed}",
                )
    finally:
        print(in_words(result, test), flush=True)
    if stopped:
        raise SystemExit(a.stopped)
    return test
