"""One learner's seat in each game of a batch: opponents move until it is asked again.

A step of the learner lasts from its decision to its next one, or to the end of the game, and pays all that its
seat was paid in between: a loss that an opponent's move brings about reaches the decision before it.
"""

from __future__ import annotations

import contextlib
import operator
import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from garden_core import kernels, plugins
from garden_core.batch import Batch
from garden_core.checks import as_integer, as_rows, as_seat, check_illegal, require_reset, short
from garden_core.choices import BUILT_IN, Scratch, choose, choose_rows, scratch
from garden_core.game import Game
from garden_core.jit import compiled, records
from garden_core.loops import Rows, deal_row, refresh
from garden_core.policies import FORFEIT, Policy, ask, policy_name
from garden_core.recorder import Recorder
from garden_core.rng import bounded, game_seed, next_float, seed_rng
from garden_core.threads import share

__all__ = ["AUTORESETS", "Learner", "Opponent"]

Opponent = str | Policy
AUTORESETS = ("same_step", "next_step", "disabled")

# What a row waits for: the learner, a policy outside, a new game, or the game that its numbers name; the last
# is the failure to find a game in which the learner is asked.
ASKED, EXTERNAL, OVER, DUE, NEVER = range(5)
FORFEITED = -1.0
"""What the learner is paid for a step with an illegal action that ends its game."""
OUTSIDE = len(BUILT_IN)  # kind of a policy that is not compiled
_SAME_STEP = 0
_SALT = np.uint64(0x6F70706F6E656E74)  # sets the opponents' generator apart from the game's
_GAMES_TRIED = 1000


class Learner:
    """One learner's seat in each of `num_envs` games; see the module's docstring for what a step is.

    All arrays are owned by the learner and overwritten by the next call; copy what you want to keep.

    Args:
        game: the game with its options.
        num_envs: number of rows N, at least 1.
        opponents: who sits on the other seats: "random", "greedy", any agent by name where the agents are installed
            ("mcts:100", "network", a run's folder, "module:attribute"), a policy (see `garden_core.policies`), or a
            sequence of these, from which each other seat of each game draws anew.
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
            `close` cuts short (`garden_core.recorder.Recorder`). The same games are played, more slowly.

    Attributes:
        batch: the games; its `states` may be read at any time.
        observation: int8 (N, *game.observation_shape), what the learner sees; after the end, the final view
            (with "same_step" the first view of the next game).
        action_mask: int8 (N, num_actions); all ones in a row that is over.
        rewards: float32 (N,), what the learner's seat was paid since its last decision. What it is paid before
            its first decision of a game comes with that decision's step.
        terminated: bool (N,), the game is over. A game cut at the cap has paid its outcome: it is over too,
            and nothing is to be estimated beyond it.
        truncated: bool (N,), the game was ended by `max_steps`; it could have gone on.
        capped: bool (N,), it was cut at the cap on decisions.
        final_observation: int8 (N, *observation_shape), the view at the end of a row's last finished game.
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
        opponents: Opponent | Sequence[Opponent] = "random",
        weights: Sequence[float] | np.ndarray | None = None,
        seat: int | Literal["random"] = "random",
        autoreset: str = "same_step",
        threads: int = 1,
        illegal: str = "raise",
        max_steps: int | None = None,
        record: str | os.PathLike[str] | None = None,
    ) -> None:
        check_illegal(illegal)
        if max_steps is not None and as_integer(max_steps, "max_steps", "at least 1") < 1:
            raise ValueError(f"max_steps must be at least 1, or None, not {short(max_steps)}")
        if not (isinstance(autoreset, str) and autoreset in AUTORESETS):
            raise ValueError(
                f"autoreset must be one of {', '.join(map(repr, AUTORESETS))}, not {short(autoreset)}"
            )
        if not (isinstance(seat, str) and seat == "random"):
            try:
                seat = as_seat(seat, game.num_players)
            except ValueError:
                raise ValueError(
                    f"seat must be 'random' or 0 to {game.num_players - 1}, not {short(seat)}"
                ) from None
        self.game = game
        self.batch = Batch(game, num_envs, autoreset=False, threads=threads)
        self.num_envs = n = self.batch.num_envs
        self.autoreset = autoreset
        self.illegal = illegal
        self.max_steps = max_steps
        self.opponents = _as_pool(opponents, game)
        self.rewards = np.zeros(n, np.float32)
        self.terminated = np.zeros(n, np.bool_)
        self.truncated = np.zeros(n, np.bool_)
        self.capped = np.zeros(n, np.bool_)
        self._final = np.zeros((n, game.observation_size), np.int8)
        self.final_seats = np.zeros(n, np.int64)
        self.final_drawn = np.zeros((n, game.num_players), np.int16)
        self._seat = -1 if seat == "random" else int(seat)
        self._recorder = None if record is None else Recorder(game, record)
        self._present: list[_Game | None] = [None] * n  # the games in play, while they are recorded
        self._past: list[tuple[int, _Game, Any]] = []  # rows, games and last states, to be written
        outside = self._recorder is not None  # so that each decision is seen here
        kinds = [OUTSIDE if outside or not isinstance(o, str) else BUILT_IN.index(o) for o in self.opponents]
        self._kinds = np.array(kinds, np.int64)
        self._records = records(n, _record_dtype(game.max_players))
        self._records["last_action"] = -1
        self._generators = np.zeros((n, 4), np.uint64)
        self._cumulative = np.zeros(len(self.opponents))
        self.set_weights(weights)
        self._scratches = [scratch(game) for _ in range(self.batch.threads)]
        self._kept: list[np.ndarray] | None = None

    @property
    def dealt(self) -> bool:
        """Whether there was a reset."""
        return self.batch.dealt

    @property
    def observation(self) -> np.ndarray:
        """What the learner sees, int8 (N, *game.observation_shape)."""
        return self.batch.observation

    @property
    def action_mask(self) -> np.ndarray:
        """What the learner may do, int8 (N, num_actions)."""
        return self.batch.action_mask

    @property
    def final_observation(self) -> np.ndarray:
        """The view at the end of each row's last finished game, int8 (N, *game.observation_shape)."""
        return self._final.reshape(self.num_envs, *self.game.observation_shape)

    @property
    def seats(self) -> np.ndarray:
        """The learner's seat in each row, int64 (N,)."""
        return self._records["seat"]

    @property
    def drawn(self) -> np.ndarray:
        """By seat the index of the opponent in each row, int16 (N, num_players)."""
        return self._records["opponent"][:, : self.game.num_players]

    def set_weights(self, weights: Sequence[float] | np.ndarray | None) -> None:
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
        self._cumulative[:] = np.cumsum(shares / shares.sum())

    def reset(self, seed: int | Sequence[int] | None = None, rows: Any = None) -> None:
        """Deal new games in all rows or in `rows`, as `Batch.reset`, up to the learner's first decision.

        A game that ends before the learner's first decision is passed over.

        Raises:
            ValueError, IndexError: as `Batch.reset`, or if an opponent answers wrongly; nothing has changed.
            RuntimeError: if the learner is not asked in many games in a row.
        """
        with self._undone_on_error():
            rows = self.batch.number_games(seed, rows)
            self._cut_short(rows)
            self.rewards[rows] = 0
            self.terminated[rows] = False
            self.truncated[rows] = False
            self.capped[rows] = False
            self._records["status"][rows] = DUE
            self._play(rows, np.zeros(len(rows), np.int64))
            self.batch.dealt = True
            self._play_outside()
        if self._past:
            self._write()

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
        rows = self.batch.all_rows if rows is None else as_rows(rows, self.num_envs, "stepped")
        waiting = self._records["status"][rows] == OVER
        if waiting.any() and self.autoreset == "disabled":
            row = int(rows[waiting][0])
            raise ValueError(f"row {row}: the game is over; reset(rows=[{row}]) first")
        acting = np.flatnonzero(~waiting)
        if self.illegal == "terminate":
            actions = self._forfeiting(actions, rows, acting)
        else:
            actions = self.batch.check_actions(actions, rows, acting)
        with self._undone_on_error() if (self._kinds == OUTSIDE).any() else contextlib.nullcontext():
            self.terminated[rows] = False
            self.truncated[rows] = False
            self.capped[rows] = False
            self._play(rows, actions)
            self._play_outside()
            if self.max_steps is not None:
                self._truncate()
        if self._past:
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
        record = self._records[row]
        return (int(record["last_seat"]), int(record["last_action"])) if record["last_action"] >= 0 else None

    def _forfeiting(self, actions: Any, rows: np.ndarray, acting: np.ndarray) -> np.ndarray:
        """Return `actions`, one for each of `rows`, as int64, with FORFEIT for the illegal ones among indexes `acting`."""
        actions = self.batch.check_actions(actions, rows, acting[:0])
        chosen = actions[acting]
        exists = (chosen >= 0) & (chosen < self.game.num_actions)
        legal = exists & (self.action_mask[rows[acting], np.where(exists, chosen, 0)] != 0)
        if legal.all():
            return actions
        actions = actions.copy()
        actions[acting[~legal]] = FORFEIT
        return actions

    def _truncate(self) -> None:
        """End the games in which the learner has decided `max_steps` times."""
        rows = np.flatnonzero((self._records["steps"] >= self.max_steps) & (self._records["status"] == ASKED))
        if not len(rows):
            return
        self.truncated[rows] = True
        self._cut_short(rows)
        self.batch.last_states[rows] = self.batch.states[rows]
        self._final[rows] = self.batch.flat[rows]
        self.final_seats[rows], self.final_drawn[rows] = self.seats[rows], self.drawn[rows]
        self._records["status"][rows] = OVER
        if self.autoreset == "same_step":
            paid = self.rewards[rows]
            self._play(rows, np.zeros(len(rows), np.int64))
            self.rewards[rows] = paid
            self._play_outside()
        else:
            self.action_mask[rows] = 1

    @contextlib.contextmanager
    def _undone_on_error(self) -> Iterator[None]:
        """Put everything back as it was if an error or an interruption ends what is done within.

        Only opponents outside of compiled code can fail in the middle of a step.
        """
        arrays = [array.view(np.uint8) for array in (*self._seats, *self.batch.arrays)]
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
        if self._recorder is not None:
            before, episodes = self._records[rows], self.batch.episodes[rows]
        seats, autoreset = self._seats, AUTORESETS.index(self.autoreset)

        def play(part: slice, index: int) -> None:
            play_rows(
                *self.batch.rows,
                *seats,
                *self._scratches[index],
                self.game.params,
                rows[part],
                actions[part],
                self._seat,
                autoreset,
            )

        share(play, len(rows), self.batch.threads)
        if self._recorder is not None:
            self._note(rows, actions, before, episodes)

    def _play_outside(self) -> None:
        """Ask the policies that are not compiled, all rows of one at once, until none is left to ask."""
        status = self._records["status"]
        while True:
            if (status == NEVER).any():
                raise RuntimeError(f"the learner was not asked once in {_GAMES_TRIED} games in a row")
            rows = np.flatnonzero(status == EXTERNAL)
            if not len(rows):
                return
            asked = self._records["opponent"][rows, self.batch.current_player[rows]]
            indexes = np.unique(asked).tolist()
            inside = [
                i for i in indexes if isinstance(self.opponents[i], str)
            ]  # only while games are recorded
            for index in inside or indexes:
                asking = rows[asked == index]
                policy = self.opponents[index]
                if isinstance(policy, str):
                    self._play(asking, self._choose(BUILT_IN.index(policy), asking))
                else:
                    name = f"opponent {index} ({policy_name(policy)})"
                    self._play(asking, ask(policy, self.batch, asking, name))

    def _choose(self, kind: int, rows: np.ndarray) -> np.ndarray:
        """Return what the built-in policy `kind` does in `rows`, as it would have done in compiled code."""
        batch, actions = self.batch, np.zeros(len(rows), np.int64)
        choose_rows(
            kind,
            batch.states,
            self.game.params,
            rows,
            batch.action_mask,
            self._generators,
            actions,
            *self._scratches[0],
        )
        return actions

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
            if before["status"][i] in (OVER, DUE):
                dealt = True
            elif game is not None:
                if actions[i] != FORFEIT:
                    game = game._replace(actions=(*game.actions, int(actions[i])))
                over = dealt or self._records["status"][row] == OVER
                if over and not before["opening"][i]:
                    self._past.append((row, game, batch.last_states[row].copy()))
                self._present[row] = None if over else game
            if dealt:
                seed = game_seed(batch.seeds[row], batch.seed_rows[row], batch.episodes[row])
                self._present[row] = _Game(int(seed), ())

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


def _as_pool(opponents: Opponent | Sequence[Opponent], game: Game) -> list[Opponent]:
    """Return the opponents as built-in names and callables; other names are those of installed agents."""
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


def _record_dtype(max_players: int) -> np.dtype:
    """Type of what is kept of a row beside its state; without padding, whose bytes copies leave as they find them."""
    fields: list[Any] = [
        ("owed", "f8"),  # paid to the learner's seat and not yet delivered
        ("seat", "i8"),
        ("steps", "i4"),  # decisions of the learner in the game
        ("last_action", "i4"),  # the last decision in the game, -1 before the first
        ("opponent", "i2", (max_players,)),  # by seat, an index into the pool
        ("tried", "i2"),  # games passed over since the learner was last asked
        ("status", "u1"),  # ASKED, EXTERNAL, OVER, DUE or NEVER
        ("last_seat", "i1"),  # who took the last decision
        ("opening", "u1"),  # 1 until the learner is asked for the first time in a game
    ]
    return np.dtype([*fields, ("spare", "u1", (-np.dtype(fields).itemsize % 8,))], align=True)


# --- compiled ---


class Seats(NamedTuple):
    """What is kept of the learner's seat in each row.

    Attributes:
        records: (N,), see `_record_dtype`.
        generators: uint64 (N, 4), each row's generator of seats, draws and compiled opponents.
        kinds: int64 (opponents,), built-in policy of each opponent, or OUTSIDE.
        cumulative: float64 (opponents,), cumulative shares of the draw.
        rewards, terminated, truncated, capped, final, seats, drawn: as `Learner` shows them; `final`, `seats` and `drawn` are of
            the row's last finished game.
    """

    records: np.ndarray
    generators: np.ndarray
    kinds: np.ndarray
    cumulative: np.ndarray
    rewards: np.ndarray
    terminated: np.ndarray
    truncated: np.ndarray
    capped: np.ndarray
    final: np.ndarray
    seats: np.ndarray
    drawn: np.ndarray


@compiled
def _new_game(rows, params, seats, row, fixed_seat):
    """Deal the game that the row's numbers name, and draw the learner's seat and the opponents."""
    seed = deal_row(rows, params, row)
    record, rng_state, cumulative = seats.records[row], seats.generators[row], seats.cumulative
    seed_rng(rng_state, seed ^ _SALT)
    n = params[0].num_players
    record.seat = bounded(rng_state, n) if fixed_seat < 0 else fixed_seat
    for p in range(n):
        draw = next_float(rng_state)
        index = 0
        while index < cumulative.shape[0] - 1 and draw >= cumulative[index]:
            index += 1
        record.opponent[p] = index
    record.owed = 0.0
    record.opening = 1
    record.steps = 0
    record.last_action = -1


@compiled
def _let_others_move(state, params, record, kinds, mask, scratch, rng_state):
    """Play compiled opponents until somebody else is asked or the game is over; return the row's status."""
    while not (state.terminated or state.truncated):
        player = np.int64(state.current_player)
        if player == record.seat:
            return ASKED
        kind = kinds[record.opponent[player]]
        if kind == OUTSIDE:
            return EXTERNAL
        n = kernels.legal_actions(state, params, mask)
        action = choose(kind, state, params, mask, n, scratch, rng_state)
        kernels.apply_action(state, params, action)
        record.last_seat = player
        record.last_action = action
        record.owed += state.rewards[record.seat]
    return OVER


@compiled
def _pay(seats, record, row):
    """Deliver what the learner is owed."""
    seats.rewards[row] = record.owed
    record.owed = 0.0


@compiled
def _finish(rows, params, seats, row):
    """Keep what is shown of a finished game."""
    state, record = rows.states[row], seats.records[row]
    seats.terminated[row] = True
    seats.capped[row] = state.truncated != 0
    rows.last_states[row] = rows.states[row]
    seats.seats[row] = record.seat
    for p in range(seats.drawn.shape[1]):
        seats.drawn[row, p] = record.opponent[p]
    kernels.observe(state, params[0], record.seat, seats.final[row])


@compiled
def _play_row(rows, params, seats, scratch, row, fixed_seat, autoreset, forfeited):
    """Go on in a row until somebody outside is asked; deliver what the learner is owed.

    `forfeited`: the learner's game ends first.
    """
    record = seats.records[row]
    state, rng_state = rows.states[row], seats.generators[row]
    while True:
        mask = rows.masks[row]
        if forfeited:
            status = OVER
        else:
            status = _let_others_move(state, params[0], record, seats.kinds, mask, scratch, rng_state)
        forfeited = False
        record.status = status
        if status != OVER:
            if status == ASKED:
                if record.opening:
                    record.opening = 0
                    record.tried = 0
                else:
                    _pay(seats, record, row)
            refresh(rows.states, params, row, rows.observations, rows.masks)
            rows.current_player[row] = state.current_player
            return
        if record.opening:
            record.tried += 1
            if record.tried >= _GAMES_TRIED:
                record.status = NEVER
                return
        else:
            _pay(seats, record, row)
            _finish(rows, params, seats, row)
            if autoreset != _SAME_STEP:
                kernels.observe(state, params[0], record.seat, rows.observations[row])
                rows.masks[row, :] = 1
                return
        rows.episodes[row] += np.uint64(1)
        _new_game(rows, params, seats, row, fixed_seat)


@compiled
def play_rows(
    states,
    last_states,
    seeds,
    seed_rows,
    episodes,
    observations,
    masks,
    current_player,
    records,
    generators,
    kinds,
    cumulative,
    rewards,
    terminated,
    truncated,
    capped,
    final,
    final_seats,
    final_drawn,
    work,
    two_masks,
    points,
    action_values,
    params,
    chosen,
    actions,
    fixed_seat,
    autoreset,
):
    """Take actions[i] of whoever is asked in row chosen[i], or deal a game where one is due, and play on.

    FORFEIT in place of an action of the learner ends its game.

    The arrays are those of `Rows`, `Seats` and `Scratch`.
    """
    rows = Rows(states, last_states, seeds, seed_rows, episodes, observations, masks, current_player)
    seats = Seats(
        records,
        generators,
        kinds,
        cumulative,
        rewards,
        terminated,
        truncated,
        capped,
        final,
        final_seats,
        final_drawn,
    )
    scratch = Scratch(work, two_masks, points, action_values)
    for i in range(chosen.shape[0]):
        row = chosen[i]
        record = seats.records[row]
        forfeited = False
        if record.status == OVER or record.status == DUE:
            rows.episodes[row] += np.uint64(record.status == OVER)
            seats.rewards[row] = 0.0
            record.tried = 0
            _new_game(rows, params, seats, row, fixed_seat)
        elif actions[i] == FORFEIT:
            forfeited = True
            record.owed = FORFEITED
        else:
            record.steps += record.status == ASKED
            record.last_seat = rows.states[row].current_player
            record.last_action = actions[i]
            kernels.apply_action(rows.states[row], params[0], actions[i])
            record.owed += rows.states[row].rewards[record.seat]
        _play_row(rows, params, seats, scratch, row, fixed_seat, autoreset, forfeited)
