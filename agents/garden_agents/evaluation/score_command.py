"""The command `garden score AGENT`, and scores as text and picture.

    garden score openai:MODEL --task cacti-2

The answers of a language model are kept in a transcript, and the same command continues: answers in it are not requested again
(`garden_agents.text.TextAgent`). So it is with an agent `module:attribute` that is a `TextAgent` and takes an argument
`transcript`.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from garden_agents.errors import one_line_errors
from garden_agents.evaluation.ratings import chances
from garden_agents.evaluation.score import (
    GAMES,
    GAMES_OF_MODELS,
    PRECISION,
    Direct,
    Score,
    most_games,
    opponents_of,
    score,
    scored,
    seed_of,
)
from garden_agents.evaluation.tasks import field_of, task_of, tasks
from garden_agents.identity import weights_digest
from garden_agents.matches.jobs import CORES, check
from garden_agents.plots import COLOURS, plot
from garden_agents.progress import progress_bar
from garden_agents.registry import accepts, arguments_of, load_agent, maker_of
from garden_agents.text.agent import Counts, TextAgent
from garden_agents.text.disguises import private_data
from garden_agents.text.estimate import announcement
from garden_core.batch.policies import Policy
from garden_core.checks import one_line
from garden_core.files.disk import write_json
from garden_core.game import Game


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
    """Place an agent on the scale of the benchmark's tasks; for a language model also count its answers."""

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
    disguise: int | None = None
    """seed of other names for everything in the games, for a language model"""
    private_cards: int | None = None
    """seed of other cards, which no model has seen; not for Mars, which has none"""
    base_url: str | None = None
    """address of the server of openai:MODEL, such as http://localhost:8000/v1; OPENAI_BASE_URL, or OpenAI's, if not given"""
    dry_run: bool = False
    """send nothing: estimate prompts and tokens of a language model from games of random actions"""
    output: Path = Path("scores")
    """folder for the results: a file .json and a picture .png for each task, and the finished games, or a language model's
    answers, which are not repeated"""


@one_line_errors("stopped; the same command continues", RuntimeError)
def main(arguments: Arguments) -> list[Score]:
    """Score the agent; print and write the results.

    Raises:
        SystemExit: for arguments that are not valid, after Ctrl-C, or if an agent fails, as when a model's server does not answer.
    """
    a, found = arguments, []
    given, takes_transcript = _agent_arguments(a)
    about_games = {
        key: value for key in ("disguise", "private_cards") if (value := getattr(a, key)) is not None
    }
    agent = re.sub(r"[^A-Za-z0-9.~]+", "-", a.agent).strip("-")[-60:]
    private = a.private_cards is not None
    for name in a.task or _playable(a, given):
        stem = "-".join([name, agent, *(f"{key}-{value}" for key, value in about_games.items())])
        field, game = field_of(name), _game_in(name, a.private_cards)
        seed = seed_of(field, a.seed)
        own = _loaded(a, name, game, seed, given)
        is_model = isinstance(own, TextAgent)
        games = a.games if a.games is not None else GAMES_OF_MODELS if is_model else GAMES
        check(games, a.processes, seed=a.seed)
        most = most_games(field, game.num_players, games)
        if isinstance(own, TextAgent):
            print(announcement(own, name, most), file=sys.stderr)
        elif a.dry_run:
            raise ValueError(f"--dry-run is for language models, not {a.agent}")
        if a.dry_run:
            continue
        a.output.mkdir(parents=True, exist_ok=True)
        keep = a.output / f"{stem}.{'transcript' if is_model else 'games'}.jsonl"
        with progress_bar(total=most, unit="game", desc=name) as bar:
            if is_model or private:
                if is_model and takes_transcript:
                    own = load_agent(a.agent, game, seed, private, arguments={**given, "transcript": keep})
                played = Direct(game, own, seed, private, together=is_model, on_finished=bar.update)
                opponents = opponents_of(a.agent, field, game)
                one = scored(played, a.agent, field, opponents, games, a.precision, a.seed)
            else:
                one = score(
                    a.agent,
                    name,
                    games,
                    a.precision,
                    a.seed,
                    a.processes,
                    keep,
                    bar.update,
                    unchanged=a.unchanged,
                )
        content = one.plain | {"weights": weights_digest(own), "garden-envs": version("garden-envs")}
        if isinstance(own, TextAgent):
            content |= {"text_agent": own.settings, "counts": asdict(own.counts)}
        write_json(a.output / f"{stem}.json", content | about_games)
        picture(a.output / f"{stem}.png", one)
        print(table(one), flush=True)
        if private:
            print("the opponents' ratings are those with the packaged cards")
        if isinstance(own, TextAgent):
            print(answers(own.counts), flush=True)
        found.append(one)
    return found


def answers(counts: Counts) -> str:
    """Return a line about a language model's answers."""
    c, made = counts, max(counts.decisions, 1)
    wrong = ", ".join(f"{getattr(c, kind)} {kind}" for kind in ("illegal", "unreadable", "truncated", "late"))
    return (
        f"{c.decisions} decisions: {c.legal_at_once / made:.1%} legal at once, {c.fallbacks / made:.1%} without a legal answer; "
        f"answers: {wrong}; {(c.prompt_tokens + c.completion_tokens) / made:,.0f} tokens and {c.seconds / made:.2f} seconds per decision"
    )


def _game_in(name: str, private_cards: int | None) -> Game:
    """Return the game of a task, with other cards on request (`garden_agents.text.private_data`)."""
    task = task_of(name)
    game = task.make()
    if private_cards is None:
        return game
    if task.card_sets:
        raise ValueError(f"{name} has many card sets already: leave out --private-cards")
    return game.with_options(**private_data(game, private_cards))


def _agent_arguments(arguments: Arguments) -> tuple[dict[str, Any], bool]:
    """Return the arguments to make the agent with, and whether it also takes a transcript.

    Raises:
        ValueError: if it does not take `disguise` or `base_url`, and the command has one.
    """
    a = arguments
    maker, named = maker_of(a.agent), arguments_of(a.agent)

    def takes(key: str) -> bool:
        return key not in named and maker is not None and accepts(maker, key)

    given = {key: value for key in ("disguise", "base_url") if (value := getattr(a, key)) is not None}
    for key in given:
        if not takes(key):
            why = "names one itself" if key in named else f"takes no argument {key}"
            raise ValueError(f"--{key.replace('_', '-')} cannot be passed to {a.agent}, which {why}")
    if a.dry_run and takes("base_url"):  # with an address it needs no key
        given = {"base_url": os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"} | given
    return given, takes("transcript")


def _loaded(
    arguments: Arguments, task: str, game: Game, seed: int, given: Mapping[str, Any], check: bool = False
) -> Policy:
    """Return the agent; for the arguments see `load_agent`.

    Raises:
        ValueError: for a language model in a task of many card sets, as its prompts are about one; and as `load_agent`.
    """
    a = arguments
    own = load_agent(a.agent, game, seed, a.private_cards is not None, check=check, arguments=given)
    if isinstance(own, TextAgent) and task_of(task).card_sets:
        raise ValueError(
            f"{task} has many card sets, which are not for language models: they have --private-cards"
        )
    return own


def _playable(arguments: Arguments, given: Mapping[str, Any]) -> list[str]:
    """Return the tasks that the agent can play.

    Raises:
        ValueError: if there are none; it says why for the last one.
    """
    a, found, reason = arguments, [], ""
    for name in tasks():
        try:
            game = _game_in(name, a.private_cards)
            _loaded(a, name, game, 0, given, check=True)
            found.append(name)
        except (ImportError, RuntimeError, TypeError, ValueError) as error:  # also of the agent's own code
            reason = f"{name}: {one_line(error)}"
    if not found:
        raise ValueError(f"{a.agent} can play no task; {reason}")
    return found
