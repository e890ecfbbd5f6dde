"""Place an agent on the scale of a task: `garden_agents.score`.

The agent plays a few deals against every member of the task's field, in each seat, and then against the four members whose ratings
are nearest to what this says, until its rating is known well enough. The rating is the one that makes its results against these four
most likely (`garden_agents.evaluation.ratings`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from garden_agents.evaluation.ratings import Met, chances, rate_against
from garden_agents.evaluation.tasks import Field, Member, field_of, task_of
from garden_agents.identity import weights_digest
from garden_agents.matches.jobs import check, digest_of
from garden_agents.matches.meet import alone_shares, independent_games, interval_of
from garden_agents.matches.pairs import (
    BLOCK,
    Games,
    Job,
    JobResults,
    finished_jobs,
    on_card_sets,
    play_blocks,
)
from garden_agents.registry import load_agent
from garden_core.batch.policies import Policy
from garden_core.game import Game

GAMES, PRECISION = 4000, 25.0
"""Defaults: the largest number of games, and half the width of the interval, by chance alone, at which games end."""
GAMES_OF_MODELS = 40
"""Default of the commands for the largest number of games of a language model."""
NEAREST = 4
PILOT = 40  # largest number of deals of the pilot against each member; with card sets those of a block
SURPRISE = 3.0  # standard errors


@dataclass(frozen=True)
class Against:
    """The agent's games against a member of the field.

    Attributes:
        agent, rating: the member.
        games: number of games.
        win_rate: the agent's mean share of the win.
        interval: its 95 % interval, see `garden_agents.matches.meet.interval_of`.
        expected: the win rate that the two ratings predict.
        surprise: how many standard errors, the field's misfit included, lie between the two.
    """

    agent: str
    rating: int
    games: int
    win_rate: float
    interval: tuple[float, float]
    expected: float
    surprise: float


@dataclass(frozen=True)
class Score:
    """An agent's place on the scale of a task.

    Attributes:
        task, version: the task.
        agent: the agent's name.
        rating: its rating, that of "random" is 0; the bound that is known if it won, or lost, all games against the nearest members.
        interval: its 95 % interval, in which the field's misfit is included; infinite where the agent won, or lost, all games.
        games: number of games.
        seed: seed of the games.
        against: the games against each member.
        results: for each member, a text for each block of games, the first of which is the pilot's, with a digit for each game, the
            games of a deal one after another: 0 if the agent did not win, k if it won together with k - 1 others.

    Example:
        >>> from garden_agents import score
        >>> found = score("greedy~0.5", "cacti-2", games=100)
        >>> low, high = found.interval
        >>> low < found.rating < high, found.against[0].agent, found.surprises
        (True, 'random', [])
    """

    task: str
    version: int
    agent: str
    rating: float
    interval: tuple[float, float]
    games: int
    seed: int
    against: tuple[Against, ...]
    results: dict[str, tuple[str, ...]]

    @property
    def plain(self) -> dict[str, Any]:
        """The score as plain JSON values; an infinite end of the interval is None."""
        ends = [end if math.isfinite(end) else None for end in self.interval]
        return asdict(self) | {"interval": ends}

    @property
    def surprises(self) -> list[Against]:
        """The members against which the agent does so much better or worse than its rating says that it is not by chance."""
        return [each for each in self.against if abs(each.surprise) > SURPRISE]


class Played(Protocol):
    """What plays the games of an agent, such as `garden_agents.matches.pairs.Games`; `done` are the finished jobs."""

    game: Game
    cards: Sequence[int]
    done: dict[Job, JobResults]

    def play(self, jobs: Sequence[Job], processes: int) -> Iterable[Job]:
        """Play the jobs that are missing in `done`; yield each when it is finished."""
        ...


class Direct:
    """Games of a policy in this process.

    Args:
        game: the game with its options.
        policy: the policy.
        seed: seed of the games and of the opponents' choices.
        allow_other_options: accept opponents that were trained with other options or data.
        together: play the games against all members at once, as for a language model that answers many requests at once.
        on_finished: called after each step of all games with the number of games that it ended.
        cards: see `matches.pairs.play_job`; not with `together`.
    """

    def __init__(
        self,
        game: Game,
        policy: Policy,
        seed: int,
        allow_other_options: bool = False,
        together: bool = False,
        on_finished: Callable[[int], object] | None = None,
        cards: Sequence[int] = (),
    ) -> None:
        self.cards = cards
        self.game, self.policy, self.seed = game, policy, seed
        self.allow_other_options, self.together, self.on_finished = allow_other_options, together, on_finished
        self.done: dict[Job, JobResults] = {}

    def play(self, jobs: Sequence[Job], processes: int) -> Iterator[Job]:
        """Play the jobs that are missing in `done`; yield each when it is finished."""
        missing = [job for job in jobs if job not in self.done]
        for some in [missing] if self.together and missing else [[job] for job in missing]:
            if self.cards:
                (job,) = some
                played = [
                    on_card_sets(self.game, job, self.cards, lambda game, part: self._play(game, [part])[0])
                ]
            else:
                played = self._play(self.game, some)
            self.done |= zip(some, played, strict=True)
            yield from some

    def _play(self, game: Game, jobs: Sequence[Job]) -> list[JobResults]:
        blocks = {}
        for job in jobs:
            digest = digest_of(self.seed, "", job.opponent, job.block)
            seed = int.from_bytes(digest[12:16])
            other = load_agent(job.opponent, game, seed, self.allow_other_options)
            blocks[job] = [other], int.from_bytes(digest[:8])
        return play_blocks(game, blocks, self.policy, self.on_finished)


def score(
    agent: str | Policy,
    task: str,
    games: int = GAMES,
    precision: float = PRECISION,
    seed: int = 0,
    processes: int = 1,
    keep: Path | None = None,
    on_finished: Callable[[int], object] | None = None,
    field: Field | None = None,
    unchanged: Collection[str] = (),
) -> Score:
    """Place an agent on the scale of a task.

    The result depends on the agent, the task, `games`, `precision` and `seed` only, if the agent draws all random numbers from its
    seed. An agent that is a member of the field does not play against itself.

    Args:
        agent: name of an agent (`garden_agents.registry.load_agent`), or a policy.
        task: name of the task, such as "cacti-2".
        games: largest number of games; the pilot is played in any case, one deal against each member at least.
        precision: half the width of the interval by chance alone, in points, at which no more games are played; 0 to play all.
        seed: seed of the games, apart from those of other commands.
        processes: number of processes, for an agent with a name; they are spawned if more than 1.
        keep: file of finished games, which are not repeated, for an agent with a name; None for no file.
        on_finished: called with the number of games of each finished job.
        field: another field than the frozen one.
        unchanged: the agent's name, if it can change unseen but has not changed since the games in `keep`.

    Raises:
        ValueError: for arguments out of range or without effect, an unknown agent or task, or a file `keep` of other games.
        RuntimeError: if an agent fails or a process dies.

    Example:
        >>> from garden_agents import score
        >>> found = score("greedy", "cacti-2", games=400)
        >>> found.task, found.version, found.games <= 450
        ('cacti-2', 1, True)
    """
    field, about = field or field_of(task), task_of(task)
    game, name = about.make(), agent if isinstance(agent, str) else "policy"
    own_seed = seed_of(field, seed)
    played: Played
    if isinstance(agent, str):
        opponents = opponents_of(agent, field, game)
        played = Games(
            game,
            [name, *opponents],
            own_seed,
            keep,
            unchanged=unchanged,
            unnamed=name,
            cards=about.cards,
        )
    elif keep is not None or processes > 1:
        raise ValueError("keep and processes are for an agent with a name")
    else:
        opponents = [member.agent for member in field.members]
        played = Direct(game, agent, own_seed, cards=about.cards)
    return scored(played, name, field, opponents, games, precision, seed, processes, on_finished)


def opponents_of(agent: str, field: Field, game: Game) -> list[str]:
    """Return the names of a field's members without those that are the agent: by its name, or by the weights and what follows them."""
    base, search = _parts(agent)
    weights = "" if ":" in base else weights_digest(load_agent(base, game))

    def is_agent(member: str) -> bool:
        if member == agent or not weights:
            return member == agent
        other, other_search = _parts(member)
        return other_search == search and weights_digest(load_agent(other, game)) == weights

    return [member.agent for member in field.members if not is_agent(member.agent)]


def _parts(name: str) -> tuple[str, str]:
    """Return an agent's name without search and share of random moves, and these."""
    base = re.sub(r"(-mcts:\d+)?(~[\d.]+)?$", "", name)
    return base, name.removeprefix(base)


def seed_of(field: Field, seed: int) -> int:
    """Return the seed of all games of a score, apart from those of other commands."""
    return int.from_bytes(digest_of("score", field.task, field.version, seed)[:4])


def scored(
    played: Played,
    name: str,
    field: Field,
    opponents: Sequence[str],
    games: int = GAMES,
    precision: float = PRECISION,
    seed: int = 0,
    processes: int = 1,
    on_finished: Callable[[int], object] | None = None,
) -> Score:
    """Place the agent `name`, whose games are `played`, on the scale of a field, by games against `opponents`, some of its members.

    The other arguments are those of `score`.
    """
    check(games, processes, seed=seed)
    if not precision >= 0:
        raise ValueError(f"precision must be at least 0, not {precision}")
    n = played.game.num_players
    results: dict[str, list[str]] = {opponent: [] for opponent in opponents}

    def play(meetings: Sequence[str], number: int) -> None:
        jobs = [Job((name, opponent), len(results[opponent]), number) for opponent in meetings]
        for job in jobs:
            if job in played.done and on_finished:
                on_finished(job.games)
        for job in played.play(jobs, processes):
            if on_finished:
                on_finished(job.games)
        for job in jobs:
            results[job.opponent].append(_digits(played.done[job], n))

    pilot = BLOCK // n if played.cards else PILOT
    play([*results], n * max(1, min(pilot, games // (4 * n * len(results)))))
    nearest = _nearest(field, results, n)
    for _ in range(games):
        left = (
            (games - sum(len(block) for blocks in results.values() for block in blocks))
            // (len(nearest) * n)
            * n
        )
        low, high = _by_chance(field, nearest, results, n)[1:]
        if left <= 0 or high - low <= 2 * precision:
            break
        play(nearest, min(-(-BLOCK // n) * n, left))
    return placed(name, field, results, n, seed)


def placed(
    name: str, field: Field, results: Mapping[str, Sequence[str]], num_players: int, seed: int = 0
) -> Score:
    """Return the score that results make.

    Args:
        name: the agent's name.
        field: the field.
        results: see `Score`; of the opponents.
        num_players: number of players.
        seed: seed of the games.
    """
    rating, *ends = _by_chance(field, _nearest(field, results, num_players), results, num_players)
    low, high = (
        rating + math.copysign(math.hypot(end - rating, 1.96 * field.misfit), end - rating) for end in ends
    )
    rating = high if math.isinf(low) else low if math.isinf(high) else rating
    against = tuple(
        _against(member, results[member.agent], rating, field.misfit, num_players)
        for member in field.members
        if member.agent in results
    )
    games = sum(each.games for each in against)
    kept = {opponent: tuple(blocks) for opponent, blocks in results.items()}
    return Score(field.task, field.version, name, rating, (low, high), games, seed, against, kept)


def _digits(played: JobResults, num_players: int) -> str:
    """Return a block of games as in `Score.results`."""
    shares = alone_shares(np.array(played.places)).ravel()
    return "".join("0" if share == 0 else str(round(1 / share)) for share in shares)


def _shares(blocks: Sequence[str], num_players: int) -> np.ndarray:
    """Return the agent's share of the win in each seat of each deal, float (deals, num_players)."""
    winners = np.array([int(digit) for digit in "".join(blocks)]).reshape(-1, num_players)
    return np.divide(1, winners, out=np.zeros(winners.shape), where=winners > 0)


def _nearest(field: Field, results: Mapping[str, Sequence[str]], num_players: int) -> list[str]:
    """Return the members whose ratings are nearest to the agent's rating by the pilot."""
    members = [member for member in field.members if member.agent in results]
    pilot = {member.agent: results[member.agent][:1] for member in members}
    first, *_ = _by_chance(field, [*pilot], pilot, num_players)
    return [m.agent for m in sorted(members, key=lambda member: abs(member.rating - first))[:NEAREST]]


def _by_chance(
    field: Field, opponents: Sequence[str], results: Mapping[str, Sequence[str]], num_players: int
) -> tuple[float, float, float]:
    """Return the rating by the games against some members, with the ends of its 95 % interval by chance alone."""
    ratings = {member.agent: member.rating for member in field.members}
    met = [_met(ratings[opponent], _shares(results[opponent], num_players)) for opponent in opponents]
    return rate_against(met, num_players)


def _met(rating: int, shares: np.ndarray) -> Met:
    return Met(rating, float(shares.mean()), independent_games(shares))


def _against(member: Member, blocks: Sequence[str], rating: float, misfit: float, n: int) -> Against:
    shares = _shares(blocks, n)
    met = _met(member.rating, shares)
    (expected,), (slope,) = chances(np.array([rating - member.rating]), n)
    of_pair = slope * misfit * math.sqrt(NEAREST)  # the misfit is that of a mean of so many pairs
    chance = max(expected * (1 - expected), met.won * (1 - met.won)) / met.games
    error = math.sqrt(chance + of_pair**2)
    surprise = float((met.won - expected) / error)
    return Against(
        member.agent, member.rating, shares.size, met.won, interval_of(shares), float(expected), surprise
    )


def most_games(field: Field, num_players: int, games: int) -> int:
    """Return the largest number of games of a score: `games`, or a deal against each member if these are more."""
    return max(games, num_players * len(field.members))


# --- for the leaderboard ---


def possible(field: Field, results: Mapping[str, Sequence[str]], num_players: int) -> bool:
    """Return whether results of an untrusted file can be those of a score: the digits, and the games in each block.

    All members have a pilot of equal length, and the nearest ones equally many further blocks.
    """
    digits = re.compile(f"([0-{num_players}]{{{num_players}}})+")
    if not all(blocks and all(map(digits.fullmatch, blocks)) for blocks in results.values()):
        return False
    nearest = _nearest(field, results, num_players)
    games = {opponent: [len(block) for block in blocks] for opponent, blocks in results.items()}
    pilot, *others = games[nearest[0]]
    size = -(-BLOCK // num_players) * num_players
    return (
        pilot <= PILOT * num_players
        and all(each == size for each in others[:-1])
        and all(each <= size for each in others[-1:])
        and all(each == [pilot, *(others if name in nearest else [])] for name, each in games.items())
    )


def blocks_of(found: Score) -> dict[Job, str]:
    """Return the jobs of a score, and the digits of each, see `Score.results`."""
    return {
        Job((found.agent, opponent), number, len(block)): block
        for opponent, blocks in found.results.items()
        for number, block in enumerate(blocks)
    }


def play_again(found: Score, jobs: Sequence[Job], processes: int) -> Generator[tuple[Job, str], None, None]:
    """Play jobs of a score again; yield each with its digits when it is finished. Raises as `score`."""
    task, seed = task_of(found.task), seed_of(field_of(found.task), found.seed)
    game = task.make()
    how: dict[str, Any] = {"unnamed": found.agent, "cards": task.cards}
    for job, played in finished_jobs(game, jobs, seed, processes, **how):
        yield job, _digits(played, game.num_players)
