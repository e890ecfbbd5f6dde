"""Batch: many games stepped together; each row shows the view of its player to move."""

from __future__ import annotations

import copy
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np

from garden_core.batch.cpu import Cpu
from garden_core.batch.games import check_variants, fixed_variants, games_of, seats_of
from garden_core.checks import (
    as_integer,
    as_rows,
    as_seed,
    as_seeds,
    check_choice,
    require_reset,
    short,
)
from garden_core.errors import IllegalActionError
from garden_core.forks import Process
from garden_core.game import Game
from garden_core.jit import game_seed, loops, records
from garden_core.registry import AnyGame

_INT64 = np.dtype(np.int64)


class History:
    """The decisions of each row's current game, and the states in which they were taken.

    Args:
        game: the game.
        num_envs: number of rows N.

    Attributes:
        states: state records (N, room), of which the first lengths[row] are in use.
        actions: int64 (N, room).
        lengths: int64 (N,).
    """

    def __init__(self, game: Game, num_envs: int) -> None:
        self.states = records((num_envs, 64), game.state_dtype)
        self.actions = np.zeros((num_envs, 64), np.int64)
        self.lengths = np.zeros(num_envs, np.int64)

    def add(self, rows: np.ndarray, states: np.ndarray, actions: np.ndarray) -> None:
        """Append a decision to each of `rows`: `actions` of these rows, taken in `states` of all rows."""
        at = self.lengths[rows]
        if at.max(initial=0) == self.actions.shape[1]:
            self.states, self.actions = (
                np.concatenate([full, np.zeros_like(full)], 1) for full in (self.states, self.actions)
            )
        self.states[rows, at], self.actions[rows, at] = states[rows], actions
        self.lengths[rows] += 1

    def of(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the states, records (k,), and actions, int64 (k,), of a row in the order of play."""
        k = self.lengths[row]
        return self.states[row, :k], self.actions[row, :k]


class Batch:
    """`num_envs` copies of a game stepped together; each row shows the view of its player to move.

    The batch owns all arrays and overwrites them at the next call; copy those that you want to keep.

    With `device="cuda"` the games and all arrays are on a GPU (`garden_core.batch.gpu`); the games are the same bit for
    bit. `torch.as_tensor(batch.observation, device="cuda")` shares the memory, `copy_to_host()` returns a NumPy array.
    Actions can be arrays on either device.

    Args:
        game: the game with its options, for example `garden_core.make("mars", num_players=3)`; or a Game class or name,
            for the game with its default options; or a list of these, variants of one game (docs/many-variants.md).
        num_envs: number of rows N, at least 1.
        autoreset: deal a new game in the step in which one ends. Otherwise a finished row must be reset before it is
            stepped again.
        history: keep the decisions of each row's current game, for agents that infer hidden cards from them.
        threads: maximum number of threads that step, deal and observe; any number gives the same results. Threads help
            from a few thousand rows (docs/speed.md).
        device: "cpu", or "cuda" for the first NVIDIA GPU (extra `cuda`).
        variants: for each row the index of the variant that all its games have, int (N,). None: each deal draws one from the
            game's own seed, all equally likely.

    Attributes:
        games: the variants, a tuple; of one game.
        num_players: the largest number of players.
        observation: int8 `(N, *game.observation_shape)`, the view of the player to move.
        action_mask: int8 (N, num_actions), 1 where legal; all ones in a row whose game is over.
        current_player: int64 (N,), seat of the player to move.
        rewards: float32 (N, num_players), each seat's reward for the last step; 0 for seats that a row's game lacks.
        terminated: bool (N,), the last step ended the game by its rules.
        truncated: bool (N,), the last step ended it by the cap on decisions.
        states: state records (N,); copying a row clones its game.
        last_states: state records (N,), final state of each row's last finished game.
        history: the decisions of the current games, or None.

    Raises:
        ValueError: for num_envs or threads below 1, an unknown device, a history, threads or variants on a GPU, or variants that
            do not go together.
        ImportError: for "cuda" without its packages.
        RuntimeError: for "cuda" without a GPU.

    Example:
        >>> from garden_core import Batch
        >>> batch = Batch("cacti", num_envs=4)
        >>> batch.reset(seed=1)
        >>> batch.step(batch.action_mask.argmax(axis=1))
        >>> batch.observation.shape, batch.rewards.shape
        ((4, 113), (4, 2))
    """

    def __init__(
        self,
        game: AnyGame | Sequence[AnyGame],
        num_envs: int,
        autoreset: bool = True,
        history: bool = False,
        threads: int = 1,
        device: str = "cpu",
        variants: Any = None,
    ) -> None:
        self.num_envs = n = as_integer(num_envs, "num_envs", "at least 1", 1)
        check_choice(device, "device", ("cpu", "cuda"))
        self.games = games = games_of(game)
        self._first = first = games[0]
        self._players = np.array([each.num_players for each in games])
        self.num_players = int(self._players.max())
        self.autoreset = autoreset
        self.device = device
        target: Any = Cpu(games, n, threads)
        if device == "cuda":
            if history or target.threads > 1:
                raise ValueError("on a GPU a batch keeps no history and has no threads")
            if len(games) > 1:
                raise ValueError("on a GPU a batch plays one variant")
            from garden_core.batch.gpu.target import Gpu  # loads numba.cuda

            target = Gpu(first, n)
        self.target = target
        """Makes the arrays and runs the kernels: a `Cpu` or a `Gpu`."""
        self.threads = target.threads
        zeros = target.zeros
        self._hold(
            loops.Rows(
                states=target.put(first.new_states(n)),
                last_states=target.put(first.new_states(n)),
                seeds=zeros(n, np.uint64),
                seed_rows=zeros(n, np.uint64),
                episodes=zeros(n, np.uint64),
                variants=target.put(fixed_variants(variants, n, len(games))),
                observations=target.allocate(n, first.observation_size),
                masks=target.allocate(n, first.num_actions),
                current_player=zeros(n, np.int64),
            ),
            loops.StepResult(
                rewards=zeros((n, self.num_players), np.float32),
                terminated=zeros(n, np.bool_),
                truncated=zeros(n, np.bool_),
            ),
        )
        self.history = History(first, n) if history else None
        self.all_rows = target.all_rows
        self.dealt = False
        """Whether the first reset has been made."""
        self._process = Process()
        self._inherited: tuple[np.uint64, np.ndarray, np.ndarray] | None = None
        """After a fork: the rows' new seed, and the seeds and episode numbers of the games dealt before."""
        self.resets = np.zeros(n, np.int64)
        """How often each row was reset or set, int64 (N,); with `episodes` it tells the games of a row apart, also those of one seed."""

    def _hold(self, rows: loops.Rows, result: loops.StepResult) -> None:
        self.rows = rows
        """The arrays of the games, as compiled loops take them."""
        (
            self.states,
            self.last_states,
            self.seeds,
            self.seed_rows,
            self.episodes,
            self.fixed_variants,
            self.flat,
            self.action_mask,
            self.current_player,
        ) = rows
        self.result = result
        self.rewards, self.terminated, self.truncated = result

    @property
    def game(self) -> Game:
        """The game.

        Raises:
            ValueError: in a batch of several variants, in which each row has a game of its own.
        """
        self._require_one_variant()
        return self._first

    def _require_one_variant(self) -> None:
        if len(self.games) > 1:
            raise ValueError(
                f"this batch plays {len(self.games)} variants of {self._first.name}, so there is no game of all rows: use "
                "batch.games[batch.variant[row]]; what needs one game cannot play here"
            )

    @property
    def variant(self) -> np.ndarray:
        """For each row the index of its present game's variant in `games`, uint32 (N,)."""
        return self.target.field(self.states, "variant")

    @property
    def observation(self) -> np.ndarray:
        """The view of the player to move, int8 `(N, *game.observation_shape)`."""
        return self.target.shaped(self.flat, self._first.observation_shape)

    @property
    def over(self) -> np.ndarray:
        """Whether the last step ended the game, bool (N,); on a CPU only."""
        return self.terminated | self.truncated

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """All arrays that resets and steps write to."""
        return (*self.rows, *self.result)

    def reset(self, seed: int | Sequence[int] | None = None, rows: Any = None) -> None:
        """Deal new games, in all rows or in `rows` (indexes or a mask of bools).

        Args:
            seed: game e of row i has the seed `rng.game_seed(seed, i, e)` for any batch size; a sequence has one seed
                for each row, which becomes row 0 of that seed. None: each row's next game, at first of a random seed. In a
                forked process the games after the current ones have a new random seed, also if they are dealt by a step.

        Raises:
            ValueError: for a seed outside 0 … 2**64 - 1, more or fewer seeds than rows, or a repeated row.
            IndexError: for a row that does not exist.
        """
        rows = self.number_games(seed, rows)
        deals = np.full(len(rows), loops.DEAL)
        self.target.advance(self.rows, self.result, rows, deals, self.autoreset)
        if self.history is not None:
            self.history.lengths[rows] = 0
        self.dealt = True

    def chosen(self, rows: Any, verb: str) -> np.ndarray:
        """Return the indexes of `rows`, all if None; see `checks.as_rows`."""
        if rows is None or rows is self.all_rows:
            return self.all_rows
        return as_rows(self.target.to_numpy(rows), self.num_envs, verb)

    def asked(self, rows: Any, any_variant: bool = False) -> np.ndarray:
        """Return the indexes of the rows, int64 (n,), in which a policy is asked for an action.

        Args:
            rows: indexes, or a mask of bools.
            any_variant: whether the policy plays several variants in one batch, each by its own params.

        Raises:
            ValueError: for a row whose game is over, which it names, or a repeated row; in a batch of several variants, which the
                policy does not play.
            IndexError: for a row that does not exist.
            RuntimeError: before the first reset.
        """
        require_reset(self.dealt, "a policy")
        if not any_variant:
            self._require_one_variant()
        rows = self.chosen(rows, "asked")
        if (first := self.target.first_over(self.rows, rows)) >= 0:
            raise ValueError(f"row {rows[first]}: the game is over, so there is no action to choose")
        return rows

    def game_seed(self, row: int) -> int:
        """Return the seed of a row's current game."""
        if self._inherited is not None:
            seed, games, episodes = self._inherited
            if self.seeds[row] == seed and self.episodes[row] == episodes[row]:
                return int(games[row])
        return int(game_seed(self.seeds[row], self.seed_rows[row], self.episodes[row]))

    def number_games(self, seed: int | Sequence[int] | None, rows: Any) -> np.ndarray:
        """Set seed and episode number of each row's next game, as `reset` does; return the rows' indexes."""
        rows = self.chosen(rows, "reset")
        if not self.dealt and len(rows) < self.num_envs:
            raise ValueError("the first reset must deal all rows; rows is for later ones")
        if self.dealt:
            self.notice_fork()
        else:
            self._process = Process()
        if seed is None and self.dealt:
            self.target.number_next(self.rows, rows)
            self.resets[self.target.to_numpy(rows)] += 1
            return rows
        if seed is None:
            seed = secrets.randbits(64)
        if isinstance(seed, int | np.integer):
            seeds, seed_rows = np.full(len(rows), as_seed(seed)), rows.astype(np.uint64)
        else:
            seeds, seed_rows = as_seeds(seed, len(rows)), np.zeros(len(rows), np.uint64)
        self.target.number(self.rows, rows, seeds, seed_rows)
        self.resets[self.target.to_numpy(rows)] += 1
        return rows

    @property
    def origin(self) -> tuple[Any, ...]:
        """The process that seeded the rows, and what it dealt before a fork: to be restored with the arrays."""
        return self._process, self._inherited

    @origin.setter
    def origin(self, origin: tuple[Any, ...]) -> None:
        self._process, self._inherited = origin

    def notice_fork(self) -> bool:
        """Give all rows a new random seed for the games after the current ones if this process was forked since the deal.

        Otherwise all children of a process would play the same games. Return whether it was forked.
        """
        if self.device != "cpu" or not self._process.was_forked():  # no fork can use its parent's GPU
            return False
        games = np.array([self.game_seed(row) for row in range(self.num_envs)], np.uint64)
        seed = np.uint64(secrets.randbits(64))
        self._inherited = seed, games, self.episodes.copy()
        self.seeds[:], self.seed_rows[:] = seed, self.all_rows
        self._process = Process()
        return True

    def step(self, actions: Any, rows: Any = None) -> None:
        """Take one action in every row, or only in `rows` (indexes without repeats, or a mask of bools).

        Args:
            actions: integers, one per stepped row.

        Raises:
            ValueError: if an action is illegal or a row's game is over; it names the row and the action's label, and
                nothing changes.
            RuntimeError: before the first reset.
        """
        require_reset(self.dealt, "step")
        rows = self.chosen(rows, "stepped")
        actions = self.check_actions(actions, rows)
        if self.autoreset:
            self.notice_fork()
        if self.history is not None:
            self.history.add(rows, self.states, actions)
        self.target.advance(self.rows, self.result, rows, actions, self.autoreset)
        if self.history is not None and self.autoreset:
            self.history.lengths[rows[self.over[rows]]] = 0

    def check_actions(self, actions: Any, rows: np.ndarray, acting: np.ndarray | None = None) -> np.ndarray:
        """Return `actions`, one for each of `rows`, as int64; those at the indexes `acting` (all if None) must be legal."""
        actions = self.target.put(actions)
        if actions.shape != rows.shape:
            raise ValueError(f"actions must have shape {rows.shape}, one for each row, not {actions.shape}")
        if actions.dtype != _INT64:
            if actions.dtype.kind not in "iu" and actions.size:
                raise ValueError(f"actions must be integers, not {actions.dtype}")
            actions = self.target.put(self.target.to_numpy(actions).astype(np.int64))
        taken = actions
        if acting is not None:
            rows, taken = rows[acting], self.target.to_numpy(actions)[acting]
        wrong = self.target.first_illegal(self.rows, rows, taken)
        if wrong >= 0:
            row, action = int(rows[wrong]), int(taken[wrong])
            state, mask = (
                self.target.to_numpy(array[row : row + 1])[0] for array in (self.states, self.action_mask)
            )
            if state["terminated"] or state["truncated"]:
                raise ValueError(f"row {row}: the game is over; reset(rows=[{row}]) first")
            raise IllegalActionError(
                f"row {row}: ", self.games[int(state["variant"])], int(state["current_player"]), action, mask
            )
        return actions

    def observe(self, player: int | np.ndarray, states: np.ndarray | None = None) -> np.ndarray:
        """Return the view of `player` in each row, a new array, int8 `(N, *game.observation_shape)`.

        Args:
            player: one seat for all rows, or an array with one seat per row.
            states: states to observe instead of the current ones, for example `last_states`.

        Raises:
            ValueError: for a seat that does not exist, or states of another game.
            RuntimeError: before the first reset.
        """
        out = self._seen(player, states, "observe")
        return self.target.shaped(out, self._first.observation_shape)

    def observe_hidden(self, player: int | np.ndarray, states: np.ndarray | None = None) -> np.ndarray:
        """Return what `player` cannot see in each row, a new array, int8 (N, game.hidden_size): for training only.

        With the observation it is the full state, except for the generator: as input of a critic, or as labels of a
        prediction. `game.hidden_parts` describes it. Arguments and exceptions are those of `observe`.

        Example:
            >>> from garden_core import Batch
            >>> batch = Batch("cacti", num_envs=4)
            >>> batch.reset(seed=1)
            >>> bonus = batch.game.hidden_slices["opponent's bonus"]
            >>> batch.observe_hidden(0)[:, bonus].argmax(axis=1)  # the type of the opponent's Bonus Planter
            array([0, 0, 1, 2])
        """
        return self._seen(player, states, "observe_hidden", hidden=True)

    def observe_public(self, states: np.ndarray | None = None) -> np.ndarray:
        """Return what all seats see in each row, a new array, int8 `(N, *game.observation_shape)`.

        It is the observation of seat 0, with zeros in the parts that only seat 0 sees. Arguments and exceptions are those of
        `observe`.

        Raises:
            ValueError: for a game that hides something and does not describe the parts of its observation.
        """
        game = self._first
        if game.information == "imperfect" and not game.observation_parts:
            raise ValueError(f"{game.name} does not say which parts of an observation are private")
        out = self._seen(0, states, "observe_public")
        for part in game.observation_parts:
            if part.private:
                out[:, game.observation_slices[part.name]] = 0
        return self.target.shaped(out, game.observation_shape)

    def redraws(self, number: int, seed: int, player: int | np.ndarray | None = None) -> np.ndarray:
        """Return possible states of each row, as far as a seat knows, a new array of state records (N, number).

        All that the seat cannot see is redrawn, and the generator, uniformly from what agrees with its observation
        (`kernels.resample`). The moves of the other seats are not taken into account.

        Args:
            number: number of redraws of each row, at least 1.
            seed: redraw k of row i has the seed `rng.game_seed(seed, i, k)`.
            player: one seat for all rows, or an array with one seat per row; the players to move by default.

        Raises:
            ValueError: for a number below 1, and a seed or a seat that does not exist.
            RuntimeError: before the first reset.

        Example:
            >>> from garden_core import Batch
            >>> batch = Batch("cacti", num_envs=4)
            >>> batch.reset(seed=1)
            >>> batch.redraws(10, seed=0)["bonus"][0, :, 1]  # possible Bonus Planters of player_1
            array([1, 0, 1, 0, 0, 0, 0, 1, 0, 3], dtype=int8)
        """
        require_reset(self.dealt, "redraws")
        as_integer(number, "number", "at least 1", 1)
        states = self.target.to_numpy(self.states)
        players = self._seats(self.current_player if player is None else player, states)
        drawn = records((len(states), number), self._first.state_dtype)
        loops.redraw_rows(states, self.target.params, players, np.uint64(as_seed(seed)), drawn)
        return drawn

    def _seen(
        self, player: int | np.ndarray, states: np.ndarray | None, verb: str, hidden: bool = False
    ) -> Any:
        require_reset(self.dealt, verb)
        if states is None:
            states = self.states
        elif getattr(states, "dtype", None) != self._first.state_dtype or states.ndim != 1:
            raise ValueError(
                f"states must be an array of {self._first.name}'s state records, in one dimension"
            )
        else:
            check_variants(self.target.to_numpy(states), len(self.games))
        return self.target.observe(states, self._seats(player, states), hidden)

    def _seats(self, player: int | np.ndarray, states: Any) -> np.ndarray:
        """Return one seat for each of `states`, int64 (n,); see `seats_of`."""
        given = self.target.to_numpy(player)
        return seats_of(given if given.ndim else player, states, self._players)

    def refresh(self) -> None:
        """Recompute views, masks and players after your own changes to `states`.

        Raises:
            RuntimeError: before the first reset.
        """
        require_reset(self.dealt, "refresh")
        self.target.show(self.rows)

    def set_states(self, rows: Any, states: Any) -> None:
        """Put games in progress into `rows`: puzzles, endgames, positions of a curriculum (`Game.from_snapshot`).

        Positions and random states are copied by way of snapshots; a game without snapshots copies records unchecked. The
        rows' rewards become 0 and their histories empty. Before the first reset, all rows must be set.

        Args:
            rows: indexes without repeats, or a mask of bools.
            states: one state record per row.

        Raises:
            ValueError: for the wrong number of states, a state of another game, one that was never dealt, or an
                impossible position; it names the row, and nothing changes.
            IndexError: for a row that does not exist.
        """
        rows = self.chosen(rows, "set")
        if not self.dealt and len(rows) < self.num_envs:
            raise ValueError("before the first reset, set_states must give all rows their games")
        given = [states] if isinstance(states, np.void) else list(states)
        if len(given) != len(rows):
            raise ValueError(f"there are {len(given)} states for {len(rows)} rows")
        checked = records(len(rows), self._first.state_dtype)
        for i, (row, state) in enumerate(zip(rows.tolist(), given, strict=True)):
            if getattr(state, "dtype", None) != self._first.state_dtype:
                raise ValueError(f"row {row}: not a state record of {self._first.name}: {short(state)}")
            try:
                check_variants(np.atleast_1d(state), len(self.games))
                checked[i] = self.games[int(state["variant"])].checked_state(state)
            except ValueError as error:
                raise ValueError(f"row {row}: {error}") from None
        if not self.dealt:
            self.number_games(None, None)
            self.dealt = True
        self.resets[self.target.to_numpy(rows)] += 1
        self.target.set(self.rows, self.result, rows, checked)
        if self.history is not None:
            self.history.lengths[rows] = 0

    def clone(self) -> Batch:
        """Return an independent copy of the batch and its games."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Batch:
        """Copy all arrays and share the game, which is immutable."""
        other = copy.copy(self)
        other.target = self.target.clone()
        copied = self.target.copy
        other._hold(loops.Rows(*map(copied, self.rows)), loops.StepResult(*map(copied, self.result)))
        other.all_rows = other.target.all_rows
        other.history = copy.deepcopy(self.history, memo)
        other.resets = self.resets.copy()
        return other
