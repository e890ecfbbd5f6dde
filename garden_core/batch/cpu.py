"""Where a batch's games live: in the memory of this computer, stepped by its processor (`Cpu`).

`garden_core.batch.gpu.Gpu` has the same methods for a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core.batch.choices import choose_rows, scratch
from garden_core.batch.seats import NEVER, Seats, play_rows
from garden_core.batch.threads import share
from garden_core.checks import as_integer
from garden_core.game import Game
from garden_core.jit import loops
from garden_core.jit.loops import Rows, StepResult


class Cpu:
    """Arrays of NumPy, and compiled loops on at most `threads` threads.

    Args:
        game: the game.
        n: number of rows.
        threads: largest number of threads.

    Attributes:
        all_rows: int64 (n,), the indexes of all rows.

    Raises:
        ValueError: for a number of threads below 1.
    """

    def __init__(self, game: Game, n: int, threads: int) -> None:
        self.game = game
        self.all_rows = np.arange(n)
        self.threads = as_integer(threads, "threads", "at least 1", 1)
        self._scratches = [scratch(game)]

    def clone(self) -> Cpu:
        """Return the same for a copy of a batch, with memory of its own."""
        return Cpu(self.game, len(self.all_rows), self.threads)

    # --- arrays ---

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> np.ndarray:
        """Return an array of zeros."""
        return np.zeros(shape, dtype)

    def allocate(self, n: int, size: int) -> np.ndarray:
        """Return zeros, int8 (n, size), for observations or masks, laid out as they are written fastest."""
        return np.zeros((n, size), np.int8)

    def shaped(self, wide: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return the memory of an array that `allocate` has made, with each row in another shape."""
        return wide.reshape(len(wide), *shape)

    def field(self, records: np.ndarray, name: str, columns: int | None = None) -> np.ndarray:
        """Return a field of all records, in the same memory; of an array in each the first `columns`."""
        return records[name] if columns is None else records[name][:, :columns]

    def put(self, array: np.ndarray) -> np.ndarray:
        """Return an array of NumPy as one of these."""
        return array

    def copy(self, array: np.ndarray) -> np.ndarray:
        """Return a copy of an array."""
        return array.copy()

    def to_numpy(self, array: np.ndarray) -> np.ndarray:
        """Return an array, or a part of one, as one of NumPy."""
        return array

    def array(self, numbers: Any) -> np.ndarray:
        """Return numbers that a caller gives as an array."""
        return np.asarray(numbers)

    def host(self, numbers: Any) -> np.ndarray:
        """Return numbers that a caller gives as an array of NumPy."""
        return np.asarray(numbers)

    def as_int64(self, numbers: np.ndarray) -> np.ndarray:
        """Return whole numbers as int64."""
        return numbers.astype(np.int64)

    # --- games: `chosen`, int64 (k,), are indexes of rows ---

    def number(self, rows: Rows, chosen: np.ndarray, seeds: np.ndarray, seed_rows: np.ndarray) -> None:
        """Let the next game in each row be the first of its seed and number of row, uint64 (k,) each."""
        rows.seeds[chosen], rows.seed_rows[chosen], rows.episodes[chosen] = seeds, seed_rows, 0

    def number_next(self, rows: Rows, chosen: np.ndarray) -> None:
        """Let the next game in each row be the one after the last."""
        rows.episodes[chosen] += np.uint64(1)

    def first_illegal(self, rows: Rows, chosen: np.ndarray, actions: np.ndarray) -> int:
        """Return the first index i such that actions[i] is illegal in row chosen[i], else -1."""
        return loops.first_illegal(rows.masks, rows.states, chosen, actions)

    def advance(
        self, rows: Rows, paid: StepResult, chosen: np.ndarray, actions: np.ndarray, autoreset: bool
    ) -> None:
        """See `loops.advance_row`."""

        def advance(part: slice, _: int) -> None:
            loops.advance_rows(*rows, *paid, self.game.params, chosen[part], actions[part], autoreset)

        share(advance, len(chosen), self.threads)

    def show(self, rows: Rows) -> None:
        """Write views, masks and players of all rows."""
        for row in range(len(rows.states)):
            loops.refresh(rows.states, self.game.params, row, rows.observations, rows.masks)
        rows.current_player[:] = rows.states["current_player"]

    def set(self, rows: Rows, paid: StepResult, chosen: np.ndarray, given: np.ndarray) -> None:
        """See `loops.set_row`."""
        loops.set_rows(rows, self.game.params, chosen, given, paid)

    def observe(self, states: np.ndarray, players: np.ndarray) -> np.ndarray:
        """Return what seat players[i] sees of states[i], int8 (n, observation size)."""
        out = self.allocate(len(states), self.game.observation_size)

        def see(part: slice, _: int) -> None:
            loops.observe_rows(states[part], self.game.params, players[part], out[part])

        share(see, len(states), self.threads)
        return out

    def standings(self, states: np.ndarray, out: np.ndarray) -> None:
        """Write the standings of states[i] into out[i], int32 (n, max players)."""
        loops.standings_rows(states, self.game.params, out)

    def choose(self, kind: int, rows: Rows, chosen: np.ndarray, rng_states: np.ndarray) -> np.ndarray:
        """Return what a built-in policy does in each of the rows, int64 (k,); see `choices.choose`."""
        actions = np.zeros(len(chosen), np.int64)
        given = rows.states, self.game.params, chosen, rows.masks, rng_states, actions
        choose_rows(kind, *given, *self._scratches[0])
        return actions

    def play(
        self,
        rows: Rows,
        seats: Seats,
        chosen: np.ndarray,
        actions: np.ndarray,
        fixed_seat: int,
        autoreset: int,
    ) -> bool:
        """See `seats.play_row`; return whether there is a row in which the learner was not asked in many games."""
        while len(self._scratches) < self.threads:
            self._scratches.append(scratch(self.game))

        def play(part: slice, index: int) -> None:
            memory, params = self._scratches[index], self.game.params
            play_rows(*rows, *seats, *memory, params, chosen[part], actions[part], fixed_seat, autoreset)

        share(play, len(chosen), self.threads)
        return bool((seats.records["status"] == NEVER).any())
