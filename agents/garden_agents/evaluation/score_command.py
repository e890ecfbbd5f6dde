"""The command `garden score AGENT`, and scores as text and picture."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.ratings import chances
from garden_agents.evaluation.score import GAMES, GAMES_OF_MODELS, PRECISION, Score, most_games, score
from garden_agents.evaluation.tasks import field_of, task_of, tasks
from garden_agents.identity import weights_digest
from garden_agents.matches.jobs import CORES
from garden_agents.plots import COLOURS, plot
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent
from garden_agents.text.agent import TextAgent
from garden_agents.text.estimate import announcement
from garden_core.batch.policies import Policy
from garden_core.checks import one_line
from garden_core.files.disk import write_json


def table(found: Score) -> str:
    """Return a score as text: the rating, and the games against each member."""
    low, high = found.interval
    lines = [
        f"{found.agent} in {found.task}, version {found.version}: rating {found.rating:.0f} ({low:.0f} to {high:.0f}), {found.games} games",
        f"{'against':<28} rating  games  win rate   95 % interval   expected",
    ]
    for each in reversed(found.against):
        rates = f"{each.win_rate:>8.1%}  {each.interval[0]:>6.1%} … {each.interval[1]:>6.1%}  {each.expected:>8.1%}"
        lines.append(
            f"{each.agent:<28} {each.rating:>6} {each.games:>6}  {rates}{' !' if each in found.surprises else ''}"
        )
    lines += [
        f"! One number does not describe this agent: against {each.agent} it does {'better' if each.surprise > 0 else 'worse'} than its rating says"
        for each in found.surprises
    ]
    return "\n".join(lines)


def picture(path: Path, found: Score) -> None:
    """Draw an agent's win rates against the members of the field, by their ratings."""
    n = task_of(found.task).make().num_players
    ratings = np.array([each.rating for each in found.against])
    rates = np.array([(each.win_rate, *each.interval) for each in found.against])
    with plot(path, 1, (9, 5)) as (axes,):
        span = np.linspace(ratings.min() - 100, max(ratings.max(), found.rating) + 100, 300)
        axes.plot(span, chances(found.rating - span, n)[0], color=COLOURS[1], label="as the rating says")
        errors = np.abs(rates[:, 1:] - rates[:, :1]).T
        axes.errorbar(
            ratings, rates[:, 0], errors, fmt="o", color=COLOURS[0], capsize=3, label="played, 95 % intervals"
        )
        for number, each in enumerate(found.against):
            name = one_line(each.agent.removeprefix(f"{found.task}:"), 40)
            above = number % 2  # in turn, as neighbours are close
            look: dict[str, Any] = {"textcoords": "offset points", "size": 7, "rotation": 50}
            look |= {"ha": "left", "va": "bottom"} if above else {"ha": "right", "va": "top"}
            offset = (0, 3) if above else (3, -3)
            axes.annotate(name, (each.rating, each.interval[above]), offset, **look)
        low, high = found.interval
        axes.axvspan(max(low, span[0]), min(high, span[-1]), color=COLOURS[1], alpha=0.15)
        axes.set(xlabel="rating of the opponent", ylabel="win rate", ylim=(-0.02, 1.12))
        axes.set_title(
            f"{one_line(found.agent, 60)} in {found.task}, version {found.version}: {found.rating:.0f} ({low:.0f} to {high:.0f})"
        )
        axes.legend()


@dataclass
class Arguments:
    """Place an agent on the scale of the benchmark's tasks."""

    agent: tyro.conf.Positional[str]
    """the agent: a run's folder, a network's file, module:attribute, program:COMMAND, openai:MODEL, greedy, mcts:400, …"""
    task: tuple[str, ...] = ()
    """tasks, such as cacti-2; all that the agent can play if none is given"""
    games: int | None = None
    """largest number of games in a task; 4000 if not given, or 40 for a language model"""
    precision: float = PRECISION
    """no more games are played once the interval, by chance alone, is this number of points up and down; the field's misfit comes on top"""
    seed: int = 0
    """seed of the games and of the agents' choices"""
    processes: int = CORES
    """number of processes, which does not change the results; one per core if not given"""
    unchanged: tuple[str, ...] = ()
    """the agent, if it can change unseen but has not changed: its finished games are kept"""
    output: Path = Path("scores")
    """folder for the results: a file .json and a picture .png for each task, and the finished games, which are not repeated"""


@one_line_errors("stopped; the same command continues", RuntimeError)
def main(arguments: Arguments) -> list[Score]:
    """Score the agent; print and write the results.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if an agent fails.
    """
    a, found = arguments, []
    a.output.mkdir(parents=True, exist_ok=True)
    for name in a.task or _playable(a.agent):
        stem = a.output / f"{name}-{re.sub(r'[^A-Za-z0-9.~]+', '-', a.agent).strip('-')[-60:]}"
        own = load_agent(a.agent, task_of(name).make(), a.seed)
        games = _games(a, name, own)
        with progress_bar(total=games, unit="game", desc=name) as bar:
            one = score(
                a.agent,
                name,
                games,
                a.precision,
                a.seed,
                a.processes,
                stem.with_name(f"{stem.name}.games.jsonl"),
                bar.update,
                unchanged=a.unchanged,
            )
        about = {
            "weights": weights_digest(own),
            "garden-envs": version("garden-envs"),
        }
        write_json(stem.with_name(f"{stem.name}.json"), one.plain | about)
        picture(stem.with_name(f"{stem.name}.png"), one)
        print(table(one), flush=True)
        found.append(one)
    return found


def _games(arguments: Arguments, task: str, own: Policy) -> int:
    """Return the largest number of games in a task; print, for a language model, what they cost, before anything is sent."""
    a = arguments
    if not isinstance(own, TextAgent):
        return GAMES if a.games is None else a.games
    games = GAMES_OF_MODELS if a.games is None else a.games
    most = most_games(field_of(task), task_of(task).make().num_players, games)
    print(announcement(own, task, most), file=sys.stderr)
    return games


def _playable(agent: str) -> list[str]:
    """Return the tasks that an agent can play.

    Raises:
        ValueError: if there are none; it says why for the last one.
    """
    found, reason = [], ""
    for name, task in tasks().items():
        try:
            load_agent(agent, task.make(), check=True)
            found.append(name)
        except (ImportError, RuntimeError, TypeError, ValueError) as error:  # also of the agent's own code
            reason = f"{name}: {one_line(error)}"
    if not found:
        raise ValueError(f"{agent} can play no task; {reason}")
    return found
