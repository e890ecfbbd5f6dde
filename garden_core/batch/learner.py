"""One learner's seat in each game of a batch: opponents move until it is asked again.

A step of the learner lasts from its decision to its next one, or to the end of the game, and pays all that its
seat was paid in between: a loss that an opponent's move brings about reaches the decision before it.
"""

from __future__ import annotations

import contextlib
import copy
import operator
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from garden_core import plugins
from garden_core.batch.batch import Batch
from garden_core.batch.choices import BUILT_IN, FORFEIT
from garden_core.batch.policies import Policy, ask, policy_name
from garden_core.batch.seats import (
    AUTORESETS,
    EXTERNAL,
    FINISHED,
    GAMES_TRIED,
    OUTSIDE,
    Seats,
    record_dtype,
)
from garden_core.checks import as_integer, as_seat, check_choice, check_illegal, require_reset, short
from garden_core.files.recorder import Folder, Recorder
from garden_core.game import Game
from garden_core.jit import records
from garden_core.jit.loops import DEAL
from garden_core.jit.rng import game_seed

Opponent = str | Policy
Opponents = Opponent | Sequence[Opponent]
"""One opponent, or a list or tuple of opponents to draw from."""
Weights = Sequence[float] | np.ndarray | None
"""How often each opponent is drawn; equally if None."""
Seat = int | Literal["random"]
"""The learner's seat, or "random" to draw it for each game."""


class Learner:
    """One learner's seat in each of `num_envs` games; see the module's docstring for what a step is.

    All arrays are owned by the learner and overwritten by the next call; copy what you want to keep.

    Args:
        game: the game with its options.
        num_envs: number of rows N, at least 1.
        opponents: who sits on the other seats: "random", "greedy", any agent by name where the agents are installed
            ("mcts:100", "network", a run's folder, "module:attribute"), a policy (see `garden_core.batch.policies`), or a
            sequence of these, from which an opponent is drawn for each other seat of each game.
        weights: how often each of the sequence is drawn, any non-negative numbers; equally if None.
        seat: the learner's seat, or "random" to draw it for each game.
        autoreset: when a row whose game is over is dealt anew: in the "same_step", in the "next_step" (whose
            action for that row is ignored), or "disabled": by `reset(rows=…)` alone.
        threads: largest number of threads that play the games (`Batch`).
        illegal: what an illegal action does: "raise" an error, and nothing has changed; or "terminate" the learner's game,
            with reward -1, for algorithms that know no masks.
        max_steps: end a game after so many decisions of the learner, without paying anything beyond (`truncated`); None
            for no end but the game's own.
        record: a folder that gets a replay of each game in which the learner is asked, also of those that a reset or
            `close` cuts short (`garden_core.files.recorder.Recorder`). The same games are played, more slowly.
        device: "cpu", or "cuda" for games and arrays on a GPU (`Batch`): with the opponents "random" and "greedy",
            autoreset in the same step, and neither `illegal`, `max_steps` nor `record`.

    Attributes:
        batch: the games; its `states` may be read at any time.
        observation: int8 `(N, *game.observation_shape)`, what the learner sees; after the end, the final view
            (with "same_step" the first view of the next game).
        action_mask: int8 (N, num_actions); all ones where the game is over, what was legal where `max_steps` has cut it.
        rewards: float32 (N,), what the learner's seat was paid since its last decision. What it is paid before
            its first decision of a game comes with that decision's step.
        terminated: bool (N,), the game is over. A game cut at the cap has paid its outcome: it is over too,
            and nothing is to be estimated beyond it.
        truncated: bool (N,), the learner has decided `max_steps` times. Unless `terminated` is set too, the game could
            have gone on.
        capped: bool (N,), it was cut at the cap on decisions.
        final_observation: int8 `(N, *game.observation_shape)`, the view at the end of a row's last finished game.
        final_action_mask: int8 (N, num_actions), the mask there, as `action_mask` has it; without rows on a GPU.
        seats: int64 (N,), the learner's seat in the game now in each row.
        final_seats: int64 (N,), its seat in the row's last finished game.
        drawn: int16 (N, num_players), by seat the index of the opponent drawn for the game now in each row.
        final_drawn: int16 (N, num_players), the same for the row's last finished game.

    Raises:
        ValueError: for options outside the above; it names what is allowed.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponents: Opponents = "random",
        weights: Weights = None,
        seat: Seat = "random",
        autoreset: str = "same_step",
        threads: int = 1,
        illegal: str = "raise",
        max_steps: int | None = None,
        record: Folder | None = None,
        device: str = "cpu",
    ) -> None:
        check_illegal(illegal)
        if max_steps is not None and as_integer(max_steps, "max_steps", "at least 1") < 1:
            raise ValueError(f"max_steps must be at least 1, or None, not {short(max_steps)}")
        check_choice(autoreset, "autoreset", AUTORESETS)
        if not (isinstance(seat, str) and seat == "random"):
            try:
                seat = as_seat(seat, game.num_players)
            except ValueError:
                raise ValueError(
                    f"seat must be 'random' or 0 to {game.num_players - 1}, not {short(seat)}"
                ) from None
        self.game = game
        self.batch = Batch(game, num_envs, autoreset=False, threads=threads, device=device)
        self.num_envs = n = self.batch.num_envs
        self.autoreset = autoreset
        self.illegal = illegal
        self.max_steps = max_steps
        self.opponents = _as_pool(opponents, game)
        self._on_gpu = device == "cuda"
        if self._on_gpu and (
            not all(isinstance(opponent, str) for opponent in self.opponents)
            or (autoreset, illegal, max_steps, record) != ("same_step", "raise", None, None)
        ):
            raise ValueError(
                "on a GPU opponents are 'random' and 'greedy', autoreset is 'same_step', an illegal action raises, and "
                "there is no max_steps and no record"
            )
        target = self.batch.target
        self.rewards = target.zeros(n, np.float32)
        self.terminated, self.truncated, self.capped = (target.zeros(n, np.bool_) for _ in range(3))
        self._final = target.allocate(n, game.observation_size)
        self.final_action_mask = np.ones((0 if self._on_gpu else n, game.num_actions), np.int8)
        self.final_seats = target.zeros(n, np.int64)
        self.final_drawn = target.zeros((n, game.num_players), np.int16)
        self._seat = -1 if seat == "random" else int(seat)
        self._recorder = None if record is None else Recorder(game, record)
        self._present: list[_Game | None] = [None] * n  # the games in play, while they are recorded
        self._past: list[tuple[int, _Game, Any]] = []  # rows, games and last states, to be written
        kinds = [
            BUILT_IN.index(opponent) if isinstance(opponent, str) and record is None else OUTSIDE
            for opponent in self.opponents
        ]  # games are recorded outside of compiled code, where each decision is seen
        self._outside = OUTSIDE in kinds
        self._kinds = target.put(np.array(kinds, np.int64))
        kept = records(n, record_dtype(game.max_players))
        kept["last_action"] = -1
        self._records = target.put(kept)
        self._generators = target.zeros((n, 4), np.uint64)
        self.set_weights(weights)
        self._kept: list[np.ndarray] | None = None

    def __deepcopy__(self, memo: dict[int, Any]) -> Learner:
        """Copy everything, the arrays on a GPU too."""
        other = memo[id(self)] = copy.copy(self)
        for name, value in vars(self).items():
            on_gpu = hasattr(value, "__cuda_ndarray__")
            copied = self.batch.target.copy(value) if on_gpu else copy.deepcopy(value, memo)
            setattr(other, name, copied)
        return other

    @property
    def dealt(self) -> bool:
        """Whether there was a reset."""
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
        """The view at the end of each row's last finished game, int8 `(N, *game.observation_shape)`."""
        return self.batch.target.shaped(self._final, self.game.observation_shape)

    @property
    def seats(self) -> np.ndarray:
        """The learner's seat in each row, int64 (N,)."""
        return self.batch.target.field(self._records, "seat")

    @property
    def drawn(self) -> np.ndarray:
        """By seat the index of the opponent in each row, int16 (N, num_players)."""
        return self.batch.target.field(self._records, "opponent", self.game.num_players)

    def set_weights(self, weights: Weights) -> None:
        """Change how often each opponent is drawn, for games dealt from now on.

        Raises:
            ValueError: unless there is one non-negative number for each opponent, and not all are 0.
        """
        try:
            values = np.ones(len(self.opponents)) if weights is None else np.asarray(weights, np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.zeros(0)
        if (
            values.shape != (len(self.opponents),)
            or not ((values >= 0) & (values < np.inf)).all()
            or not values.any()
        ):
            raise ValueError(
                f"weights must be {len(self.opponents)} non-negative numbers, not all 0: {short(weights)}"
            )
        shares = values / values.max()  # whose sum is finite
        self._cumulative = self.batch.target.put(np.cumsum(shares / shares.sum()))

    def reset(self, seed: int | Sequence[int] | None = None, rows: Any = None) -> None:
        """Deal new games in all rows or in `rows`, as `Batch.reset`, up to the learner's first decision.

        A game that ends before the learner's first decision is passed over. With a seed, opponents that have a method
        `reseed` start again (`garden_core.batch.policies`).

        Raises:
            ValueError, IndexError: as `Batch.reset`, or if an opponent answers wrongly; nothing has changed.
            RuntimeError: if the learner is not asked in many games in a row.
        """
        with contextlib.nullcontext() if self._on_gpu else self._undone_on_error():
            rows = self.batch.number_games(seed, rows)
            if seed is not None:
                self._reseed(rows)
            self._cut_short(rows)
            self._play(rows, np.full(len(rows), DEAL))
            self.batch.dealt = True
            self._play_outside()
        self._write()

    def _reseed(self, rows: np.ndarray) -> None:
        """Have the opponents that can draw other numbers from here on, by the seeds of the games in `rows`."""
        able: list[Any] = [opponent for opponent in self.opponents if getattr(opponent, "reseed", None)]
        if able:
            numbers = np.array([self._game_seed(row) for row in rows], np.uint64)
            for opponent in able:
                opponent.reseed(rows, numbers)

    def _game_seed(self, row: int) -> int:
        """Return the seed of the game now in a row."""
        batch = self.batch
        return int(game_seed(batch.seeds[row], batch.seed_rows[row], batch.episodes[row]))

    def step(self, actions: Any, rows: Any = None) -> None:
        """Take the learner's action in every row, or in `rows` alone, and let the others move until it is asked again.

        Args:
            actions: integers, one for each row stepped.
            rows: indexes without repeats, or a mask of bools; the other rows stay as they are.

        Raises:
            ValueError: if an action is illegal (unless that ends the game), or a row is over and autoreset is disabled;
                it names row and label, and nothing has changed. If an opponent's answer is wrong, likewise; what an
                opponent raises is passed on.
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
            actions = self._forfeiting(actions, rows, acting)
        else:
            actions = self.batch.check_actions(actions, rows, acting)
        if self.max_steps is not None:
            last = rows if acting is None else rows[acting]
            last = last[self._records["steps"][last] + 1 >= self.max_steps]
        with self._undone_on_error() if self._outside else contextlib.nullcontext():
            self._play(rows, actions)
            self._play_outside()
            if self.max_steps is not None:
                self._truncate(last)
        self._write()

    def close(self) -> None:
        """Record the games in play as far as they went, if games are recorded.

        Raises:
            OSError: if a replay cannot be written.
        """
        self._cut_short(self.batch.all_rows)
        self._write()

    def last_decision(self, row: int) -> tuple[int, int] | None:
        """Return the last decision in the game now in `row`, seat and action; None before the first."""
        record = self.batch.target.to_numpy(self._records[row : row + 1])[0]
        return (int(record["last_seat"]), int(record["last_action"])) if record["last_action"] >= 0 else None

    def _forfeiting(self, actions: Any, rows: np.ndarray, acting: np.ndarray | None) -> np.ndarray:
        """Return `actions`, one for each of `rows`, as int64, with FORFEIT for the illegal ones among indexes `acting`."""
        acting = np.arange(len(rows)) if acting is None else acting
        actions = self.batch.check_actions(actions, rows, acting[:0])
        chosen = actions[acting]
        exists = (chosen >= 0) & (chosen < self.game.num_actions)
        legal = exists & (self.action_mask[rows[acting], np.where(exists, chosen, 0)] != 0)
        actions = actions.copy()
        actions[acting[~legal]] = FORFEIT
        return actions

    def _truncate(self, last: np.ndarray) -> None:
        """End the games in the rows `last`, in which the learner has decided `max_steps` times."""
        self.final_action_mask[self.terminated] = 1
        rows = last[~self.terminated[last]]
        self._cut_short(rows)
        self.batch.last_states[rows] = self.batch.states[rows]
        self._final[rows] = self.batch.flat[rows]
        self.final_action_mask[rows] = self.action_mask[rows]
        self.final_seats[rows], self.final_drawn[rows] = self.seats[rows], self.drawn[rows]
        self._records["status"][rows] = FINISHED
        if self.autoreset == "same_step":
            paid = self.rewards[rows]
            self._play(rows, np.zeros(len(rows), np.int64))
            self.rewards[rows] = paid
            self._play_outside()
        self.truncated[last] = True

    @contextlib.contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        """Put everything back as it was if an error or an interruption ends what is done within.

        Only opponents outside of compiled code can fail in the middle of a step.
        """
        masks = [self.final_action_mask] if self.max_steps is not None else []  # which nothing else changes
        arrays = [array.view(np.uint8) for array in (*self._seats, *self.batch.arrays, *masks)]
        if self._kept is None:
            self._kept = [array.copy() for array in arrays]
        for kept, array in zip(self._kept, arrays, strict=True):
            np.copyto(kept, array)
        dealt, present, past = self.dealt, self._present[:], self._past[:]
        try:
            yield
        except BaseException:
            for kept, array in zip(self._kept, arrays, strict=True):
                np.copyto(array, kept)
            self.batch.dealt, self._present, self._past = dealt, present, past
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
        batch, recorded = self.batch, self._recorder is not None
        before = (self._records[rows], batch.episodes[rows]) if recorded else ()
        autoreset = AUTORESETS.index(self.autoreset)
        if batch.target.play(batch.rows, self._seats, rows, actions, self._seat, autoreset):
            raise RuntimeError(f"the learner was not asked once in {GAMES_TRIED} games in a row")
        if recorded:
            self._note(rows, actions, *before)

    def _play_outside(self) -> None:
        """Ask the policies that are not compiled, all rows of one at once, until none is left to ask."""
        batch = self.batch
        while self._outside:
            rows = np.flatnonzero(self._records["status"] == EXTERNAL)
            if not len(rows):
                return
            asked = self._records["opponent"][rows, batch.current_player[rows]]
            indexes = np.unique(asked).tolist()
            # Only while games are recorded; they do what they would have done in compiled code.
            built_in = [index for index in indexes if isinstance(self.opponents[index], str)]
            for index in built_in or indexes:
                asking, policy = rows[asked == index], self.opponents[index]
                if isinstance(policy, str):
                    kind = BUILT_IN.index(policy)
                    chosen = batch.target.choose(kind, batch.rows, asking, self._generators)
                else:
                    chosen = ask(policy, batch, asking, f"opponent {index} ({policy_name(policy)})")
                self._play(asking, chosen)

    # --- recording ---

    def _note(self, rows: np.ndarray, actions: np.ndarray, before: np.ndarray, episodes: np.ndarray) -> None:
        """Note decisions and ends of recorded games.

        Args:
            rows, actions: what was played.
            before, episodes: `_records` and `batch.episodes` of these rows before that.
        """
        batch = self.batch
        for i, row in enumerate(rows.tolist()):
            game, dealt = self._present[row], batch.episodes[row] != episodes[i]
            if before["status"][i] == FINISHED or actions[i] == DEAL:
                dealt = True
            elif game is not None:
                if actions[i] != FORFEIT:
                    game = game._replace(actions=(*game.actions, int(actions[i])))
                over = dealt or self._records["status"][row] == FINISHED
                if over and not before["opening"][i]:
                    self._past.append((row, game, batch.last_states[row].copy()))
                self._present[row] = None if over else game
            if dealt:
                self._present[row] = _Game(self._game_seed(row), ())

    def _cut_short(self, rows: np.ndarray) -> None:
        """Note that recorded games end here as far as they went."""
        if self._recorder is not None:
            for row in rows.tolist():
                game, self._present[row] = self._present[row], None
                if game is not None:
                    self._past.append((row, game, self.batch.states[row].copy()))

    def _write(self) -> None:
        """Write the recorded games that are over, row by row."""
        past, self._past = sorted(self._past, key=operator.itemgetter(0)), []
        for _, game, state in past:
            assert self._recorder is not None
            self._recorder.save(*game, state)


class _Game(NamedTuple):
    """A game that is recorded: the seed of its deal, and its decisions."""

    seed: int
    actions: tuple[int, ...]


def _as_pool(opponents: Opponents, game: Game) -> list[Opponent]:
    """Return the opponents as built-in names and callables; other names are names of installed agents."""
    pool: list[Any] = list(opponents) if isinstance(opponents, list | tuple) else [opponents]
    for index, opponent in enumerate(pool):
        if isinstance(opponent, str) and opponent not in BUILT_IN:
            pool[index] = plugins.load_agent(opponent, game, index)
        elif not (isinstance(opponent, str) or callable(opponent)):
            raise ValueError(
                "an opponent is 'random', 'greedy', another agent's name or a callable policy(batch, rows), "
                f"not {short(opponent)}"
            )
    if not pool:
        raise ValueError("there must be at least one opponent to draw from")
    return pool
