"""Arrays and kernels of a batch on the CPU (`Cpu`); `garden_core.batch.gpu.target.Gpu` has the same methods for a GPU."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from garden_core.batch.choices import choose_rows, scratch
from garden_core.batch.games import params_of
from garden_core.batch.seats import NO_TURN, Seats, play_rows
from garden_core.batch.threads import share
from garden_core.checks import as_integer
from garden_core.game import Game
from garden_core.jit import loops
from garden_core.jit.loops import Rows, StepResult


class Cpu:
    """NumPy arrays, and compiled loops on at most `threads` threads.

    Args:
        games: the variants.
        n: number of rows.
        threads: maximum number of threads.

    Attributes:
        params: the params of all variants.
        all_rows: int64 (n,), the indexes of all rows.

    Raises:
        ValueError: for a number of threads below 1.
    """

    def __init__(self, games: Sequence[Game], n: int, threads: int) -> None:
        self.games, self.params = games, params_of(games)
        self.all_rows = np.arange(n)
        self.threads = as_integer(threads, "threads", "at least 1", 1)
        self._scratches = [scratch(games[0])]

    def clone(self) -> Cpu:
        """Return the same for a copy of a batch, with its own memory."""
        return Cpu(self.games, len(self.all_rows), self.threads)

    # --- arrays ---

    zeros = staticmethod(np.zeros)
    """Return an array of zeros, by shape and dtype."""
    copy = staticmethod(np.copy)
    """Return a copy of an array."""
    put = staticmethod(np.asarray)
    """Return an array of any kind, or numbers, as an array on this device."""
    to_numpy = staticmethod(np.asarray)
    """Return an array of any kind, or numbers, as a NumPy array."""

    def allocate(self, n: int, size: int) -> np.ndarray:
        """Return zeros, int8 (n, size), for observations or masks, in the layout that kernels write fastest."""
        return np.zeros((n, size), np.int8)

    def shaped(self, flat: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
        """Return a view of an array made by `allocate`, each row in another shape."""
        return flat.reshape(len(flat), *shape)

    def field(self, records: np.ndarray, name: str, columns: int | None = None) -> np.ndarray:
        """Return a view of a field of all records; of an array field only the first `columns`, if given."""
        return records[name] if columns is None else records[name][:, :columns]

    # --- games: `chosen`, int64 (k,), are indexes of rows ---

    def number(self, rows: Rows, chosen: np.ndarray, seeds: np.ndarray, seed_rows: np.ndarray) -> None:
        """Set seeds and seed rows, uint64 (k,) each, and reset the episode counters."""
        rows.seeds[chosen], rows.seed_rows[chosen], rows.episodes[chosen] = seeds, seed_rows, 0

    def number_next(self, rows: Rows, chosen: np.ndarray) -> None:
        """Advance the episode counters."""
        rows.episodes[chosen] += np.uint64(1)

    def first_illegal(self, rows: Rows, chosen: np.ndarray, actions: np.ndarray) -> int:
        """Return the first index i such that actions[i] is illegal in row chosen[i], else -1."""
        return loops.first_illegal(rows.masks, rows.states, chosen, actions)

    def first_over(self, rows: Rows, chosen: np.ndarray) -> int:
        """Return the first index i such that the game in row chosen[i] is over, else -1."""
        over = rows.states["terminated"][chosen] | rows.states["truncated"][chosen]
        return int(over.argmax()) if over.any() else -1

    def advance(
        self, rows: Rows, result: StepResult, chosen: np.ndarray, actions: np.ndarray, autoreset: bool
    ) -> None:
        """See `loops.advance_row`."""

        def advance(part: slice, _: int) -> None:
            loops.advance_rows(*rows, *result, self.params, chosen[part], actions[part], autoreset)

        share(advance, len(chosen), self.threads)

    def show(self, rows: Rows) -> None:
        """Write views, masks and players of all rows."""
        for row in range(len(rows.states)):
            loops.refresh(rows.states, self.params, row, rows.observations, rows.masks)
        rows.current_player[:] = rows.states["current_player"]

    def set(self, rows: Rows, result: StepResult, chosen: np.ndarray, states: np.ndarray) -> None:
        """See `loops.set_row`."""
        loops.set_rows(rows, self.params, chosen, states, result)

    def observe(self, states: np.ndarray, players: np.ndarray, hidden: bool = False) -> np.ndarray:
        """Return the view of seat players[i] of states[i], int8 (n, observation size); or what is hidden from it."""
        game = self.games[0]
        out = self.allocate(len(states), game.hidden_size if hidden else game.observation_size)
        write = loops.hidden_rows if hidden else loops.observe_rows

        def see(part: slice, _: int) -> None:
            write(states[part], self.params, players[part], out[part])

        share(see, len(states), self.threads)
        return out

    def standings(self, states: np.ndarray, out: np.ndarray) -> None:
        """Write the standings of states[i] into out[i], int32 (n, max players)."""
        loops.standings_rows(states, self.params, out)

    def choose(self, kind: int, rows: Rows, chosen: np.ndarray, rng_states: np.ndarray) -> np.ndarray:
        """Return the action of a built-in policy in each of the rows, int64 (k,); see `choices.choose`."""
        actions, params, memory = np.zeros(len(chosen), np.int64), self.params, self._scratches[0]
        choose_rows(kind, rows.states, params, chosen, rows.masks, rng_states, actions, *memory)
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
        """See `seats.play_row`; return whether the learner got no turn in many games of a row."""
        while len(self._scratches) < self.threads:
            self._scratches.append(scratch(self.games[0]))

        def play(part: slice, index: int) -> None:
            memory, params = self._scratches[index], self.params
            play_rows(*rows, *seats, *memory, params, chosen[part], actions[part], fixed_seat, autoreset)

        share(play, len(chosen), self.threads)
        return bool((seats.records["status"] == NO_TURN).any())
