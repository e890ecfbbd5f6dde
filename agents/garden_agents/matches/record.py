"""Record games between agents as a dataset, one small file (`garden_core.recorded.dataset`).

    garden record mars --agents greedy mcts:100 --games 10000 --output games.safetensors

All agents play against each other, each in every seat equally often. The games are divided into jobs. A job's seeds depend
only on the seed, the agents' names and the job's number, so the games do not depend on the number of processes.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import msgspec
import numpy as np

from garden_agents.errors import one_line_errors
from garden_agents.matches.jobs import GameArguments, blocks, check, digest_of, finished
from garden_agents.matches.meet import fitted, play, use_one_torch_thread
from garden_agents.progress import progress_bar
from garden_agents.registry import load_agent, make_game
from garden_agents.text.conversations import recorded
from garden_core.batch.batch import Batch
from garden_core.batch.policies import FORFEIT, Policy, check_answer
from garden_core.files.disk import new_file
from garden_core.game import Game
from garden_core.jit.rng import bounded, game_seed, seed_rng
from garden_core.recorded.dataset import (
    LIMIT,
    Dataset,
    Record,
    check_names,
    checked_probabilities,
    record_types,
)

BLOCK = 100  # games in a job, rounded up to a multiple of the number of agents
ROOM = LIMIT - 20_000_000  # bytes of arrays in a file, before its other content and the last job


class Block(NamedTuple):
    """Block number `block` of the games, with `games` games."""

    block: int
    games: int


def lineups(agents: int, num_players: int, games: int, seed: int) -> np.ndarray:
    """Return each seat's agent, int64 (games, num_players): in every `agents` games each agent has each seat once.

    Lineups are drawn from `seed`, without those of only one agent.
    """
    rng_state = np.zeros(4, np.uint64)
    seed_rng(rng_state, np.uint64(seed))
    drawn: list[list[int]] = []
    while len(drawn) < games:
        table = [0, *(int(bounded(rng_state, agents)) for _ in range(num_players - 1))]
        if any(table) or agents == 1 or num_players == 1:
            drawn += [[(agent + turn) % agents for agent in table] for turn in range(agents)]
    return np.array(drawn[:games], np.int64)


def play_block(
    game: Game,
    names: Sequence[str],
    job: Block,
    seed: int,
    allow_other_options: bool = False,
    probabilities: bool = False,
) -> Record:
    """Play a job with new agents; return its games, forfeited games included, on request with the actions' probabilities.

    Sets torch to one thread, see `use_one_torch_thread`.

    Raises:
        RuntimeError: if an agent raises an exception or returns an illegal action; it names the agent.
    """

    def seed_of(purpose: str, size: int = 8) -> int:
        return int.from_bytes(digest_of(seed, job.block, *names, purpose)[:size])

    agents = [load_agent(name, game, seed_of(f"agent {name}", 4), allow_other_options) for name in names]
    log: list[np.ndarray] = []
    if probabilities:
        agents = [_Logged(agent, log) for agent in agents]
    use_one_torch_thread()
    seated = lineups(len(names), game.num_players, job.games, seed_of("lineups"))
    deal_seed = seed_of("games")
    ended = play(game, agents, seated, deal_seed, names=names)
    rows, actions = ended.decisions.T
    arrays = [
        [game_seed(np.uint64(deal_seed), np.uint64(row), np.uint64(0)) for row in range(job.games)],
        np.bincount(rows, minlength=job.games),
        actions[np.argsort(rows, kind="stable")],
        seated,
        ended.forfeited,
    ]
    if probabilities:
        decided, logged = np.hstack(log)
        arrays.append(logged[np.argsort(decided, kind="stable")])
    types = record_types(game).values()
    return Record(*(np.asarray(array, kind) for array, kind in zip(arrays, types, strict=False)))


class _Logged:
    """A policy that also appends the rows of its decisions and their probabilities to `log`, float64 (2, n)."""

    def __init__(self, policy: Policy, log: list[np.ndarray]) -> None:
        self.policy, self.log = policy, log
        self.needs_history = getattr(policy, "needs_history", False)

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        decide = getattr(self.policy, "with_probabilities", None)
        if decide is None:
            actions, probabilities = self.policy(batch, rows), np.full(len(rows), np.nan)
        else:
            actions, probabilities = decide(batch, rows)
        decided = check_answer(actions, batch, rows, may_forfeit=True) != FORFEIT
        rows = rows[decided]
        self.log.append(
            np.stack([rows, checked_probabilities(np.asarray(probabilities)[decided], len(rows))])
        )
        return actions


@dataclass
class Arguments(GameArguments):
    """Play games between agents and write them as a dataset."""

    agents: list[str]
    """one or more of: random, greedy, mcts:400, network, network-mcts:100, a run's folder, module:attribute, openai:MODEL, program:COMMAND"""
    output: Path
    """new file for the dataset"""
    games: int = 1000
    """number of games, rounded up to a multiple of the number of agents"""
    probabilities: bool = False
    """also write the probability of each action, 4 bytes, where the agent knows it (random, networks, your own agents)"""
    conversations: Path | None = None
    """also write the decisions as chat messages into this new file, one JSON line each, to fine-tune a language model"""


def main(arguments: Arguments) -> Dataset:
    """Play the games, write the file and print a summary.

    Finished games are written also after Ctrl-C or if an agent fails.

    Raises:
        SystemExit: for arguments that are not valid, if a file cannot be written, after Ctrl-C, or if an agent fails or
            a process dies.
    """
    a = arguments
    with one_line_errors("stopped; no file is written"):
        game = make_game(a.game, a.num_players, a.options)
        _check(a, game)
        parts, stopped = _record(a, game)
        if not parts:
            raise SystemExit(f"{stopped}; no game is finished, and no file is written")
        given = ([array for array in part if array is not None] for part in parts)
        dataset = Dataset(game, a.agents, Record(*map(np.concatenate, zip(*given, strict=True))), a.seed)
        output = new_file(a.output)
        try:
            dataset.save(output)
        except BaseException:
            output.unlink()
            raise
    print(_summary(dataset))
    if output != a.output:
        print(f"another process has written {a.output} in the meantime: these games are in {output}")
    if a.conversations is not None:
        with one_line_errors(f"stopped; {a.conversations} is not written"):
            _write_conversations(a.conversations, dataset)
    if stopped:
        raise SystemExit(f"{stopped}; {len(dataset):,} finished games are in {output}")
    return dataset


def _write_conversations(path: Path, dataset: Dataset) -> None:
    """Write the decisions as chat messages, see `garden_agents.text.conversations.recorded`."""
    try:
        with (
            path.open("xb") as file,
            progress_bar(total=dataset.num_decisions, unit="decision", desc=path.name) as bar,
        ):
            for line in recorded(dataset):
                file.write(msgspec.json.encode(line) + b"\n")
                bar.update()
    except FileExistsError:
        raise
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _check(arguments: Arguments, game: Game) -> None:
    """Raise an exception for arguments that are not valid, and create the file's folder."""
    names = arguments.agents
    check_names(names)
    check(arguments.games, arguments.processes, names, arguments.seed)
    files = {"--output": arguments.output, "--conversations": arguments.conversations}
    for option, path in files.items():
        if path is not None and path.exists():
            raise ValueError(f"{path} is there already; choose another {option}")
    for name in names:
        load_agent(name, game, allow_other_options=arguments.allow_other_options, check=True)
    for path in filter(None, files.values()):
        path.parent.mkdir(parents=True, exist_ok=True)


def _record(arguments: Arguments, game: Game) -> tuple[list[Record], str]:
    """Play all jobs; return the finished ones, in order, and the reason if some are missing, or ""."""
    names = arguments.agents
    jobs = [Block(*block) for block in blocks(arguments.games, BLOCK, len(names))]
    play_one = functools.partial(
        play_block,
        game,
        names,
        seed=arguments.seed,
        allow_other_options=arguments.allow_other_options,
        probabilities=arguments.probabilities,
    )
    parts = {}
    size, stopped = 0, ""
    try:
        with (
            progress_bar(total=sum(job.games for job in jobs), unit="game") as bar,
            contextlib.closing(
                finished(play_one, jobs, arguments.processes, lambda _: " or ".join(names))
            ) as done,
        ):
            for job, part in done:
                parts[job] = part
                bar.update(job.games)
                size += sum(array.nbytes for array in part if array is not None)
                size += 4 * part.lineups.size  # for the scores
                if size > ROOM:
                    stopped = "the file is full"
                    break
    except KeyboardInterrupt:
        stopped = "stopped"
    except RuntimeError as error:
        stopped = f"error: {error}"
    return [parts[job] for job in sorted(parts)], stopped


def _summary(dataset: Dataset) -> str:
    """Return the dataset in words, and a text table with one line per agent."""
    width = min(30, max(5, *map(len, dataset.agents)))
    lines = [repr(dataset), f"{'agent':<{width}}    seats   score  reward"]
    forfeited = dataset.record.forfeited
    assert forfeited is not None
    for index, name in enumerate(dataset.agents):
        own = dataset.record.lineups == index
        score, reward = dataset.scores[own].mean(), dataset.returns[own].mean()
        lines.append(f"{fitted(name, width):<{width}} {own.sum():>8} {score:>7.1f} {reward:>7.2f}")
        gave_up = (own & (np.arange(own.shape[1]) == forfeited[:, None])).sum()
        if gave_up:
            lines[-1] += f", gave up {gave_up} games"
    return "\n".join(lines)
