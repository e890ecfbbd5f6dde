"""One learner's seat in each game of a batch; opponents move until the learner's next turn.

A step lasts from the learner's decision to its next one, or to the end of the game. Its reward is the sum of the seat's
rewards in between, so a loss caused by an opponent's move is credited to the learner's decision before it.
"""

from __future__ import annotations

import contextlib
import copy
import operator
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from garden_core import plugins
from garden_core.batch.batch import Batch
from garden_core.batch.choices import BUILT_IN, FORFEIT
from garden_core.batch.games import games_of
from garden_core.batch.policies import Policy, ask, policy_name
from garden_core.batch.seats import (
    AUTORESETS,
    EXTERNAL_TURN,
    FINISHED,
    GAMES_TRIED,
    OUTSIDE,
    Seats,
    record_dtype,
)
from garden_core.checks import as_integer, check_choice, check_illegal, require_reset, short
from garden_core.game import Game
from garden_core.jit import records
from garden_core.jit.loops import DEAL
from garden_core.registry import AnyGame

Opponent = str | Policy
Opponents = Opponent | Sequence[Opponent]
"""One opponent, or a list or tuple of opponents to sample from."""
Weights = Sequence[float] | np.ndarray | None
"""Relative sampling weights of the opponents; equal if None."""
Seat = int | Literal["random"]
"""The learner's seat, or "random" to sample it for each game."""


class Learner:
    """One learner's seat in each of `num_envs` games; the module's docstring defines a step.

    The learner owns all arrays and overwrites them at the next call; copy those that you want to keep.

    Args:
        game: the game with its options, or a game's name, class or module:Class; or a list of these, variants of one game, as in
            a `Batch`.
        num_envs: number of rows N, at least 1.
        opponents: policy of the other seats: "random", "greedy", an agent's name if the agents are installed ("mcts:100",
            "network", a run's folder, "module:attribute"), a callable (see `garden_core.batch.policies`), or a sequence of
            these, from which the opponent of each other seat is sampled for each game.
        weights: relative sampling weights of the sequence, non-negative numbers; equal if None.
        seat: the learner's seat, or "random" to sample it for each game.
        autoreset: when the next game is dealt in a row whose game is over: in the "same_step", in the "next_step" (which
            ignores the row's action), or "disabled": only by `reset(rows=…)`.
        threads: maximum number of threads that play the games (`Batch`).
        illegal: effect of an illegal action: "raise" an error and change nothing; or "terminate" the learner's game with
            reward -1, for algorithms without action masks.
        max_steps: truncate a game after this many decisions of the learner, without further reward; None for no limit
            other than the game's own.
        on_game_end: called as `on_game_end(seed, actions, state)` with the seed of the deal, all actions and the last state
            of each game in which the learner has a turn, including games that a reset or `close` cuts short; for example
            `garden_core.recorded.recorder.Recorder(game, folder).save`. The games stay the same, but play more slowly.
        device: "cpu", or "cuda" for games and arrays on a GPU (`Batch`). A GPU supports only the opponents "random" and
            "greedy" and autoreset in the same step, and neither `illegal`, `max_steps` nor `on_game_end`.

    Attributes:
        batch: the games; its `states` can be read at any time.
        observation: int8 `(N, *game.observation_shape)`, the learner's view; after the end, the final view (with
            "same_step" the first view of the next game).
        action_mask: int8 (N, num_actions); all ones if the game is over, the legal actions if `max_steps` truncated it.
        rewards: float32 (N,), sum of the seat's rewards since the learner's last decision. Rewards before its first
            decision of a game belong to that decision's step.
        terminated: bool (N,), the game is over. This includes games cut at the cap, which are scored: do not bootstrap
            their value.
        truncated: bool (N,), the learner has taken `max_steps` decisions. Unless `terminated` is also set, the game could
            have continued.
        capped: bool (N,), the game was cut at the cap on decisions.
        final_observation: int8 `(N, *game.observation_shape)`, the view at the end of a row's last finished game.
        final_action_mask: int8 (N, num_actions), the action mask there; without rows on a GPU.
        seats: int64 (N,), the learner's seat in each row's current game.
        final_seats: int64 (N,), its seat in the row's last finished game.
        drawn: int16 (N, num_players), for each seat the index of the opponent sampled for the row's current game; -1 for a seat
            that the game lacks.
        final_drawn: int16 (N, num_players), the same for the row's last finished game.

    Raises:
        ValueError: for an invalid option; it lists the allowed values.

    Example:
        >>> from garden_core import Learner
        >>> learner = Learner("cacti", num_envs=4, opponents=["random", "greedy"])
        >>> learner.reset(seed=1)
        >>> learner.step(learner.action_mask.argmax(axis=1))
        >>> learner.rewards.shape
        (4,)
    """

    def __init__(
        self,
        game: AnyGame | Sequence[AnyGame],
        num_envs: int,
        opponents: Opponents = "random",
        weights: Weights = None,
        seat: Seat = "random",
        autoreset: str = "same_step",
        threads: int = 1,
        illegal: str = "raise",
        max_steps: int | None = None,
        on_game_end: Callable[[int, Sequence[int], Any], object] | None = None,
        device: str = "cpu",
    ) -> None:
        games = games_of(game)
        game = games[0]
        check_illegal(illegal)
        check_choice(autoreset, "autoreset", AUTORESETS)
        if max_steps is not None:
            as_integer(max_steps, "max_steps", "None or at least 1", 1)
        self._fixed_seat = -1
        if not (isinstance(seat, str) and seat == "random"):
            last = min(each.num_players for each in games) - 1
            self._fixed_seat = as_integer(seat, "seat", f"'random' or 0 to {last}", 0, last)
        self.batch = Batch(games, num_envs, autoreset=False, threads=threads, device=device)
        self.num_envs = n = self.batch.num_envs
        self.autoreset = autoreset
        self.illegal = illegal
        self.max_steps = max_steps
        self.opponents = _as_pool(opponents, games)
        kinds = [
            BUILT_IN.index(opponent) if isinstance(opponent, str) and on_game_end is None else OUTSIDE
            for opponent in self.opponents
        ]  # games are recorded outside compiled code, which sees each decision
        self._outside = OUTSIDE in kinds
        self._on_gpu = device == "cuda"
        if self._on_gpu and (
            self._outside or (autoreset, illegal, max_steps) != ("same_step", "raise", None)
        ):
            raise ValueError(
                "on a GPU opponents are 'random' and 'greedy', autoreset is 'same_step', an illegal action raises, and "
                "there is no max_steps and no on_game_end"
            )
        target = self.batch.target
        self.rewards = target.zeros(n, np.float32)
        self.terminated, self.truncated, self.capped = (target.zeros(n, np.bool_) for _ in range(3))
        self._final = target.allocate(n, game.observation_size)
        self.final_action_mask = np.ones((0 if self._on_gpu else n, game.num_actions), np.int8)
        self.final_seats = target.zeros(n, np.int64)
        self.final_drawn = target.zeros((n, self.batch.num_players), np.int16)
        self._on_game_end = on_game_end
        self._running: list[_RecordedGame | None] = [None] * n  # recorded games in play
        self._finished: list[
            tuple[int, _RecordedGame, Any]
        ] = []  # row, game and last state, not yet reported
        self._kinds = target.put(np.array(kinds, np.int64))
        seat_records = records(n, record_dtype(game.max_players))
        seat_records["last_action"] = -1
        self._records = target.put(seat_records)
        self._generators = target.zeros((n, 4), np.uint64)
        self.set_weights(weights)

    def __deepcopy__(self, memo: dict[int, Any]) -> Learner:
        """Copy everything, including arrays on a GPU."""
        other = memo[id(self)] = copy.copy(self)
        for name, value in vars(self).items():
            on_gpu = hasattr(value, "__cuda_ndarray__")
            setattr(other, name, self.batch.target.copy(value) if on_gpu else copy.deepcopy(value, memo))
        return other

    @property
    def game(self) -> Game:
        """The game; raises ValueError if there are several variants, see `Batch.game`."""
        return self.batch.game

    @property
    def dealt(self) -> bool:
        """Whether the first reset has been made."""
        return self.batch.dealt

    @property
    def observation(self) -> np.ndarray:
        """The learner's view, int8 `(N, *game.observation_shape)`."""
        return self.batch.observation

    @property
    def action_mask(self) -> np.ndarray:
        """The learner's legal actions, int8 (N, num_actions)."""
        return self.batch.action_mask

    @property
    def final_observation(self) -> np.ndarray:
        """The learner's view at the end of each row's last finished game, int8 `(N, *game.observation_shape)`."""
        return self.batch.target.shaped(self._final, self.batch.games[0].observation_shape)

    @property
    def seats(self) -> np.ndarray:
        """The learner's seat in each row, int64 (N,)."""
        return self.batch.target.field(self._records, "seat")

    @property
    def drawn(self) -> np.ndarray:
        """Index of each seat's opponent in each row, int16 (N, num_players)."""
        return self.batch.target.field(self._records, "opponent", self.batch.num_players)

    def set_weights(self, weights: Weights) -> None:
        """Change the sampling weights of the opponents, for games dealt from now on.

        Raises:
            ValueError: unless there is one non-negative number per opponent and not all are 0.
        """
        n = len(self.opponents)
        try:
            values = np.ones(n) if weights is None else np.asarray(weights, np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if values.shape != (n,) or not ((values >= 0) & (values < np.inf)).all() or not values.any():
            raise ValueError(f"weights must be {n} non-negative numbers, not all 0: {short(weights)}")
        shares = values / values.max()  # with a finite sum
        self._cumulative = self.batch.target.put(np.cumsum(shares / shares.sum()))

    def reset(self, seed: int | Sequence[int] | None = None, rows: Any = None) -> None:
        """Deal new games in all rows or in `rows`, as `Batch.reset`, and play up to the learner's first turn.

        Games that end before the learner's first turn are skipped. A seed also reseeds the opponents that have a method
        `reseed` (`garden_core.batch.policies`).

        Raises:
            ValueError, IndexError: as `Batch.reset`, or for an invalid answer of an opponent; nothing changes.
            RuntimeError: if the learner has no turn in many successive games.
        """
        self._notice_fork()
        with contextlib.nullcontext() if self._on_gpu else self._undone_on_error():
            rows = self.batch.number_games(seed, rows)
            if seed is not None:
                self._reseed(rows, [self.batch.game_seed(row) for row in rows])
            self._cut_short(rows)
            self._play(rows, np.full(len(rows), DEAL))
            self.batch.dealt = True
            self._play_outside()
        self._write()

    def _reseed(self, rows: np.ndarray, seeds: Sequence[int]) -> None:
        """Reseed the opponents that support it, each of `rows` by one of the seeds."""
        for opponent in self.opponents:
            reseed: Any = getattr(opponent, "reseed", None)
            if reseed:
                reseed(rows, np.array(seeds, np.uint64))

    def _notice_fork(self) -> None:
        """In a process forked since the deal, take new random seeds for the games after the current ones and for opponents."""
        batch = self.batch
        if batch.dealt and batch.notice_fork():
            self._reseed(batch.all_rows, [secrets.randbits(64) for _ in batch.all_rows])

    def step(self, actions: Any, rows: Any = None) -> None:
        """Take the learner's action in every row, or only in `rows`, and play up to its next turn.

        Args:
            actions: integers, one per stepped row.
            rows: indexes without repeats, or a mask of bools; the other rows do not change.

        Raises:
            ValueError: for an illegal action (unless that ends the game), a row that is over if autoreset is disabled, or
                an invalid answer of an opponent; it names row and label, and nothing changes. An opponent's own errors are
                passed on.
            RuntimeError: before the first reset.
        """
        require_reset(self.dealt, "step")
        rows = self.batch.chosen(rows, "stepped")
        acting = None
        if self.autoreset != "same_step":
            waiting = self._records["status"][rows] == FINISHED
            if waiting.any() and self.autoreset == "disabled":
                row = rows[waiting][0]
                raise ValueError(f"row {row}: the game is over; reset(rows=[{row}]) first")
            acting = np.flatnonzero(~waiting)
        if self.illegal == "terminate":
            actions = self._forfeiting(actions, rows)
        else:
            actions = self.batch.check_actions(actions, rows, acting)
            if acting is not None:
                actions = np.where(waiting, 0, actions)  # not DEAL by chance; `play_row` ignores them
        if self.max_steps is not None:
            last = rows if acting is None else rows[acting]
            last = last[self._records["steps"][last] + 1 >= self.max_steps]
        if self.autoreset != "disabled":
            self._notice_fork()
        with self._undone_on_error() if self._outside else contextlib.nullcontext():
            self._play(rows, actions)
            self._play_outside()
            if self.max_steps is not None:
                self._truncate(last)
        self._write()

    def close(self) -> None:
        """End the unfinished games, for `on_game_end`; raises what that raises."""
        self._cut_short(self.batch.all_rows)
        self._write()

    def last_decision(self, row: int) -> tuple[int, int] | None:
        """Return seat and action of the last decision in the row's current game; None before the first."""
        record = self.batch.target.to_numpy(self._records[row : row + 1])[0]
        seat, action = int(record["last_seat"]), int(record["last_action"])
        return None if action < 0 else (seat, action)

    def _forfeiting(self, actions: Any, rows: np.ndarray) -> np.ndarray:
        """Return `actions`, one for each of `rows`, as int64, with FORFEIT in place of illegal ones."""
        actions = self.batch.check_actions(actions, rows, acting=rows[:0])
        exists = (actions >= 0) & (actions < self.action_mask.shape[1])
        legal = exists & (self.action_mask[rows, np.where(exists, actions, 0)] != 0)
        return np.where(legal, actions, FORFEIT)

    def _truncate(self, last: np.ndarray) -> None:
        """End the games in the rows `last`, in which the learner has taken `max_steps` decisions."""
        self.final_action_mask[self.terminated] = 1
        rows = last[~self.terminated[last]]
        self._cut_short(rows)
        self.batch.last_states[rows] = self.batch.states[rows]
        self._final[rows] = self.batch.flat[rows]
        self.final_action_mask[rows] = self.action_mask[rows]
        self.final_seats[rows], self.final_drawn[rows] = self.seats[rows], self.drawn[rows]
        self._records["status"][rows] = FINISHED
        if self.autoreset == "same_step":
            rewards = self.rewards[rows]
            self._play(rows, np.zeros(len(rows), np.int64))
            self.rewards[rows] = rewards
            self._play_outside()
        self.truncated[last] = True

    @contextlib.contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        """Restore everything if an error or an interruption leaves the context.

        Only opponents outside compiled code can fail in the middle of a step.
        """
        masks = [self.final_action_mask] if self.max_steps is not None else []  # otherwise constant
        batch = self.batch
        arrays = [array.view(np.uint8) for array in (*self._seats, *batch.arrays, batch.resets, *masks)]
        copies = [array.copy() for array in arrays]
        dealt, running, finished = self.dealt, self._running[:], self._finished[:]
        origin = batch.origin
        try:
            yield
        except BaseException:
            for array, saved in zip(arrays, copies, strict=True):
                array[:] = saved
            batch.dealt, self._running, self._finished = dealt, running, finished
            batch.origin = origin
            raise

    @property
    def _seats(self) -> Seats:
        """The arrays of the seats, as compiled loops take them."""
        return Seats(
            self._records,
            self._generators,
            self._kinds,
            self._cumulative,
            self.rewards,
            self.terminated,
            self.truncated,
            self.capped,
            self._final,
            self.final_seats,
            self.final_drawn,
        )

    def _play(self, rows: np.ndarray, actions: np.ndarray) -> None:
        batch, recorded = self.batch, self._on_game_end is not None
        before = (self._records[rows], batch.episodes[rows]) if recorded else ()
        autoreset = AUTORESETS.index(self.autoreset)
        if batch.target.play(batch.rows, self._seats, rows, actions, self._fixed_seat, autoreset):
            raise RuntimeError(f"the learner had no turn in {GAMES_TRIED} successive games")
        if recorded:
            self._note(rows, actions, *before)

    def _play_outside(self) -> None:
        """Play the turns of policies outside compiled code, each policy's rows in one call, until none is left."""
        batch = self.batch
        while self._outside:
            rows = np.flatnonzero(self._records["status"] == EXTERNAL_TURN)
            if not len(rows):
                return
            opponents = self._records["opponent"][rows, batch.current_player[rows]]
            indexes = np.unique(opponents).tolist()
            # Only while games are recorded; they choose as in compiled code.
            built_in = [index for index in indexes if isinstance(self.opponents[index], str)]
            for index in built_in or indexes:
                own, policy = rows[opponents == index], self.opponents[index]
                if isinstance(policy, str):
                    kind = BUILT_IN.index(policy)
                    actions = batch.target.choose(kind, batch.rows, own, self._generators)
                else:
                    actions = ask(policy, batch, own, f"opponent {index} ({policy_name(policy)})")
                self._play(own, actions)

    # --- recording ---

    def _note(self, rows: np.ndarray, actions: np.ndarray, before: np.ndarray, episodes: np.ndarray) -> None:
        """Add decisions to the recorded games, and collect those that are over.

        Args:
            rows, actions: rows played, and their actions.
            before, episodes: `_records` and `batch.episodes` of these rows before the actions.
        """
        batch = self.batch
        for i, row in enumerate(rows.tolist()):
            game, dealt = self._running[row], batch.episodes[row] != episodes[i]
            if before["status"][i] == FINISHED or actions[i] == DEAL:
                dealt = True
            elif game is not None:
                if actions[i] != FORFEIT:
                    game = game._replace(actions=(*game.actions, int(actions[i])))
                over = dealt or self._records["status"][row] == FINISHED
                if over and not before["opening"][i]:
                    self._finished.append((row, game, batch.last_states[row].copy()))
                self._running[row] = None if over else game
            if dealt:
                self._running[row] = _RecordedGame(batch.game_seed(row), ())

    def _cut_short(self, rows: np.ndarray) -> None:
        """Collect the unfinished recorded games of `rows`."""
        for row in rows.tolist() if self._on_game_end else ():
            if game := self._running[row]:
                self._finished.append((row, game, self.batch.states[row].copy()))
                self._running[row] = None

    def _write(self) -> None:
        """Report the collected games in the order of their rows."""
        finished, self._finished = sorted(self._finished, key=operator.itemgetter(0)), []
        for _, game, state in finished:
            assert self._on_game_end is not None
            self._on_game_end(*game, state)


class _RecordedGame(NamedTuple):
    """A recorded game: the seed of its deal, and its actions."""

    seed: int
    actions: tuple[int, ...]


def _as_pool(opponents: Opponents, games: Sequence[Game]) -> list[Opponent]:
    """Return the opponents as built-in names and callables; other names are loaded as installed agents."""
    pool: list[Any] = list(opponents) if isinstance(opponents, list | tuple) else [opponents]
    for index, opponent in enumerate(pool):
        if isinstance(opponent, str) and opponent not in BUILT_IN:
            if len(games) > 1:
                raise ValueError(
                    f"in games of several variants an opponent is 'random', 'greedy' or a callable, not {short(opponent)}"
                )
            pool[index] = plugins.load_agent(opponent, games[0], index)
        elif not (isinstance(opponent, str) or callable(opponent)):
            raise ValueError(
                "an opponent is 'random', 'greedy', another agent's name or a callable policy(batch, rows), "
                f"not {short(opponent)}"
            )
    if not pool:
        raise ValueError("there must be at least one opponent to draw from")
    return pool
