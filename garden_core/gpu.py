"""Where a batch's games live: in the memory of a GPU (`Gpu`, as `garden_core.cpu.Cpu`), a thread for each game.

Observations and masks are laid out so that neighbouring threads write neighbouring bytes. With
`NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1` Numba's simulator runs the kernels in Python, without a GPU.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from garden_core import gpu_kernels as gk
from garden_core.choices import Scratch
from garden_core.game import Game
from garden_core.gpu_kernels import config, cuda
from garden_core.jit import JIT, records
from garden_core.loops import Paid, Rows
from garden_core.seats import Seats

__all__ = ["BLOCK", "THREADS", "Gpu", "launch", "put", "view"]

BLOCK = 128
"""Threads in a block."""
THREADS = 1 << 16
"""Largest number of threads where each needs memory of its own."""


def launch(kernel: Any, count: int, *arguments: Any) -> None:
    """Run a kernel with at least `count` threads."""
    if count:
        block = min(count, BLOCK)
        kernel[-(-count // block), block](*arguments)


def put(array: Any) -> Any:
    """Return an array of any library as one of numba-cuda: NumPy's is copied to the GPU, others have the same memory."""
    if isinstance(array, np.ndarray):
        contiguous = array.flags.c_contiguous or array.flags.f_contiguous
        return cuda.to_device(array if contiguous else array.copy())
    return array if hasattr(array, "__cuda_ndarray__") else cuda.as_cuda_array(array)


def view(
    array: Any, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any = None, offset: int = 0
) -> Any:
    """Return the memory of an array on the GPU, from `offset` on, in another shape or type; strides are in bytes."""
    dtype = array.dtype if dtype is None else np.dtype(dtype)
    if config.ENABLE_CUDASIM:
        memory = array._ary.ravel("K").view(np.uint8)
        return type(array)(np.ndarray(shape, dtype, memory, offset, strides))
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    return DeviceNDArray(shape, strides, dtype, gpu_data=array.gpu_data.view(offset))


class Gpu:
    """Arrays on the GPU, and a kernel for each loop; see `garden_core.cpu.Cpu` for what the methods do.

    What is given may be an array on the GPU, of whatever library, or one of NumPy, which is then copied there.

    Raises:
        RuntimeError: where there is no GPU that CUDA can use, or no compiler for it.
    """

    threads = 1

    def __init__(self, game: Game) -> None:
        if not JIT and not config.ENABLE_CUDASIM:
            raise RuntimeError("a GPU runs compiled code alone: unset NUMBA_DISABLE_JIT")
        if not cuda.is_available():
            if cuda.cuda_error() is None:
                raise RuntimeError("there is no compiler for a GPU: pip install 'garden-envs[cuda]'")
            raise RuntimeError(f"there is no GPU that CUDA can use: {cuda.cuda_error()}")
        self.game = game
        self.params = self.put(game.params)
        self._found = self.put(np.full(1, 2**62))
        self._all_rows: tuple[Any, Any] = (None, None)
        self._scratch: Scratch | None = None

    def another(self) -> Gpu:
        return Gpu(self.game)

    # --- arrays ---

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        return self.put(np.zeros(shape, dtype))

    def empty(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        """Return an array with any content."""
        return cuda.device_array(shape, dtype)

    def wide(self, n: int, size: int) -> Any:
        return view(self.zeros((size, n), np.int8), (n, size), (1, n))

    def shaped(self, wide: Any, shape: tuple[int, ...]) -> Any:
        n = wide.shape[0]
        strides = [n * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
        return view(wide, (n, *shape), (1, *strides))

    def new_states(self, n: int) -> Any:
        return self.put(self.game.new_states(n))

    def field(self, records: Any, name: str) -> Any:
        dtype, offset = records.dtype.fields[name][:2]
        inner, shape = dtype.subdtype or (dtype, ())
        strides = [inner.itemsize * int(np.prod(shape[k + 1 :])) for k in range(len(shape))]
        whole = (records.shape[0], *shape), (records.dtype.itemsize, *strides)
        return view(records, *whole, inner, offset)

    def put(self, array: Any) -> Any:
        return put(array)

    def copy(self, array: Any) -> Any:
        size = array.size * array.dtype.itemsize
        other = self.empty(size, np.uint8)
        other.copy_to_device(view(array, (size,), (1,), np.uint8))
        return view(other, array.shape, array.strides, array.dtype)

    def to_numpy(self, array: Any) -> np.ndarray:
        return array.copy_to_host()

    def array(self, numbers: Any) -> Any:
        on_gpu = hasattr(numbers, "__cuda_array_interface__") or hasattr(numbers, "__cuda_ndarray__")
        return self.put(numbers if on_gpu else np.asarray(numbers))

    def as_int64(self, numbers: Any) -> Any:
        out = self.empty(numbers.shape, np.int64)
        launch(gk.as_int64, out.shape[0], numbers, out)
        return out

    def _indexes(self, chosen: np.ndarray) -> Any:
        """Return rows on the GPU; those of a whole batch are copied there once."""
        if self._all_rows[0] is not chosen:
            self._all_rows = chosen, self.put(chosen)
        return self._all_rows[1]

    # --- games ---

    def number(self, rows: Rows, chosen: np.ndarray, seeds: np.ndarray, seed_rows: np.ndarray) -> None:
        given = self.put(chosen), self.put(seeds), self.put(seed_rows)
        launch(gk.number, len(chosen), rows, *given)

    def number_next(self, rows: Rows, chosen: np.ndarray) -> None:
        launch(gk.number_next, len(chosen), rows.episodes, self.put(chosen))

    def first_illegal(self, rows: Rows, chosen: np.ndarray, actions: Any) -> int:
        none = 2**62
        given = self._indexes(chosen), self.put(actions)
        launch(gk.first_illegal, len(chosen), rows.masks, rows.states, *given, self._found)
        found = int(self.to_numpy(self._found)[0])
        if found == none:
            return -1
        self._found = self.put(np.full(1, none))
        return found

    def advance(self, rows: Rows, paid: Paid, chosen: np.ndarray, actions: Any, autoreset: bool) -> None:
        given = self._indexes(chosen), self.put(actions), autoreset
        launch(gk.advance, len(chosen), rows, paid, self.params, *given)

    def show(self, rows: Rows) -> None:
        launch(gk.show, rows.states.shape[0], rows, self.params)

    def set(self, rows: Rows, paid: Paid, chosen: np.ndarray, given: np.ndarray) -> None:
        launch(gk.set, len(chosen), rows, paid, self.params, self.put(chosen), self.put(given))

    def observe(self, states: Any, players: Any) -> Any:
        n, size = states.shape[0], self.game.observation_size
        out = view(self.empty((size, n), np.int8), (n, size), (1, n))
        launch(gk.observe, n, self.put(states), self.params, self.put(players), out)
        return out

    def standings(self, states: Any, out: Any) -> None:
        launch(gk.standings, states.shape[0], states, self.params, self.put(out))

    def generators(self, n: int, seed: int) -> Any:
        rng_states = self.zeros((n, 4), np.uint64)
        launch(gk.generators, n, rng_states, np.uint64(seed))
        return rng_states

    def choose(self, kind: int, rows: Rows, chosen: np.ndarray, rng_states: Any) -> Any:
        actions = self.empty(len(chosen), np.int64)
        threads = min(len(chosen), THREADS)
        given = self._indexes(chosen), rows.masks, rng_states, self._scratch_for(threads), actions
        launch(gk.choose, threads, kind, rows.states, self.params, *given)
        return actions

    def play(
        self, rows: Rows, seats: Seats, chosen: np.ndarray, actions: Any, fixed_seat: int, autoreset: int
    ) -> bool:
        scratch = self._scratch_for(min(len(chosen), THREADS))
        never = self.zeros(1, np.int64)
        given = self.params, self._indexes(chosen), self.put(actions), fixed_seat, autoreset, never
        launch(gk.play, scratch.states.shape[0], rows, seats, scratch, *given)
        return bool(self.to_numpy(never)[0])

    def random_play(self, rows: Rows, steps: int, with_observations: bool, rng_states: Any) -> int:
        """See `loops.random_play`."""
        n = rows.states.shape[0]
        ended = self.zeros(n, np.int64)
        given = self.params, steps, with_observations, rng_states, ended
        launch(gk.random_play, n, rows, *given)
        return int(self.to_numpy(ended).sum())

    def _scratch_for(self, threads: int) -> Scratch:
        """Return the memory of at least so many threads."""
        if self._scratch is None or self._scratch.states.shape[0] < threads:
            game = self.game
            self._scratch = Scratch(
                self.put(records((threads, 3), game.state_dtype)),
                self.zeros((threads, 2, game.num_actions), np.int8),
                self.zeros((threads, game.max_players), np.int32),
                self.zeros((threads, game.num_actions), np.int64),
            )
        return self._scratch
