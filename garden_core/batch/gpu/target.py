"""Arrays and kernels of a batch on a GPU (`Gpu`, as `garden_core.batch.cpu.Cpu`), one thread per game.

The layout of observations and masks makes neighbouring threads write neighbouring bytes. With
`NUMBA_ENABLE_CUDASIM=1 NUMBA_DISABLE_JIT=1` Numba's simulator runs the kernels in Python, without a GPU.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from garden_core.batch.choices import Scratch
from garden_core.batch.gpu import kernels as gk
from garden_core.batch.gpu.kernels import config, cuda
from garden_core.batch.seats import Seats
from garden_core.game import Game
from garden_core.jit import records
from garden_core.jit.loops import Rows, StepResult
from garden_core.jit.rows import JIT
from garden_core.plugins import EXTRA

BLOCK = 128
"""Threads in a block."""
THREADS = 1 << 16
"""Maximum number of threads where each needs its own memory."""
_NONE = 2**62  # larger than any index


def launch(kernel: Any, count: int, *arguments: Any) -> None:
    """Run a kernel with at least `count` threads."""
    if count:
        block = min(count, BLOCK)
        kernel[-(-count // block), block](*arguments)


def put(array: Any) -> Any:
    """Return an array of any library, or numbers, as numba-cuda array; one on the GPU keeps its memory, others are copied."""
    if _is_on_gpu(array):
        return array if hasattr(array, "__cuda_ndarray__") else cuda.as_cuda_array(array)
    array = np.asarray(array)
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    return cuda.to_device(array if contiguous else array.copy())


def _is_on_gpu(numbers: Any) -> bool:
    return hasattr(numbers, "__cuda_array_interface__") or hasattr(numbers, "__cuda_ndarray__")


def clear(array: Any) -> None:
    """Fill a contiguous array on the GPU with zeros."""
    if config.ENABLE_CUDASIM:
        array._ary.fill(0)
    elif array.size:
        from numba.cuda.cudadrv.driver import device_memset

        device_memset(array, 0, array.size * array.dtype.itemsize)


def striped(shape: tuple[int, ...], dtype: Any) -> Any:
    """Return zeros on the GPU; neighbours in the first axis are neighbours in memory."""
    n, size = shape[0], np.dtype(dtype).itemsize
    memory = cuda.device_array((*shape[1:], n), dtype)
    clear(memory)
    return view(memory, shape, (size, *_strides(shape[1:], size * n)))


def _strides(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
    """Return the strides of an array in C order whose elements are `size` bytes apart."""
    return tuple(size * math.prod(shape[k + 1 :]) for k in range(len(shape)))


def view(
    array: Any, shape: tuple[int, ...], strides: tuple[int, ...], dtype: Any = None, offset: int = 0
) -> Any:
    """Return a view of an array on the GPU, in another shape or dtype; strides and offset are in bytes."""
    dtype = array.dtype if dtype is None else np.dtype(dtype)
    if config.ENABLE_CUDASIM:
        memory = array._ary.ravel("K").view(np.uint8)
        return type(array)(np.ndarray(shape, dtype, memory, offset, strides))
    from numba.cuda.cudadrv.devicearray import DeviceNDArray

    return DeviceNDArray(shape, strides, dtype, gpu_data=array.gpu_data.view(offset))


class Gpu:
    """Arrays on the GPU, and a kernel for each loop; `garden_core.batch.cpu.Cpu` documents the methods.

    Arguments are arrays on the GPU, of any library, or NumPy arrays, which are copied there.

    Args:
        game: the game.
        n: number of rows.

    Raises:
        RuntimeError: without a GPU that CUDA can use, or without a compiler for it.
    """

    threads = 1
    put = staticmethod(put)

    def __init__(self, game: Game, n: int) -> None:
        if not JIT and not config.ENABLE_CUDASIM:
            raise RuntimeError("a GPU runs compiled code alone: unset NUMBA_DISABLE_JIT")
        if not cuda.is_available():
            if cuda.cuda_error() is None:
                raise RuntimeError(f"there is no compiler for a GPU: {EXTRA.format('cuda')}")
            raise RuntimeError(f"there is no GPU that CUDA can use: {cuda.cuda_error()}")
        self.game = game
        self.params = self.put(game.params)
        self.all_rows = np.arange(n)
        self._all_rows = self.put(self.all_rows)
        self._first = self.put(np.full(1, _NONE))
        self._never = self.zeros(1, np.int64)
        self._ended = self.zeros(n, np.int64)
        self._scratch: Scratch | None = None

    def clone(self) -> Gpu:
        return Gpu(self.game, len(self.all_rows))

    def __reduce__(self) -> Any:
        raise TypeError("games on a GPU cannot be pickled, only copied (clone, copy.deepcopy)")

    # --- arrays ---

    def zeros(self, shape: int | tuple[int, ...], dtype: Any) -> Any:
        made = cuda.device_array(shape, dtype)
        clear(made)
        return made

    def allocate(self, n: int, size: int) -> Any:
        return striped((n, size), np.int8)

    def shaped(self, flat: Any, shape: tuple[int, ...]) -> Any:
        n = flat.shape[0]
        return view(flat, (n, *shape), (1, *_strides(shape, n)))

    def field(self, records: Any, name: str, columns: int | None = None) -> Any:
        dtype, offset = records.dtype.fields[name][:2]
        inner, shape = dtype.subdtype or (dtype, ())
        strides = records.dtype.itemsize, *_strides(shape, inner.itemsize)
        shown = shape if columns is None else (columns, *shape[1:])
        return view(records, (records.shape[0], *shown), strides, inner, offset)

    def copy(self, array: Any) -> Any:
        size = array.size * array.dtype.itemsize
        other = cuda.device_array(size, np.uint8)
        other.copy_to_device(view(array, (size,), (1,), np.uint8))
        return view(other, array.shape, array.strides, array.dtype)

    def to_numpy(self, array: Any) -> np.ndarray:
        return self.put(array).copy_to_host() if _is_on_gpu(array) else np.asarray(array)

    def indexes(self, chosen: np.ndarray) -> Any:
        """Return the indexes of rows as an array on the GPU, where those of all rows are kept."""
        return self._all_rows if chosen is self.all_rows else self.put(chosen)

    # --- games ---

    def number(self, rows: Rows, chosen: np.ndarray, seeds: np.ndarray, seed_rows: np.ndarray) -> None:
        launch(gk.number, len(chosen), rows, self.indexes(chosen), self.put(seeds), self.put(seed_rows))

    def number_next(self, rows: Rows, chosen: np.ndarray) -> None:
        launch(gk.number_next, len(chosen), rows.episodes, self.indexes(chosen))

    def first_illegal(self, rows: Rows, chosen: np.ndarray, actions: Any) -> int:
        indexes, actions, first = self.indexes(chosen), self.put(actions), self._first
        launch(gk.first_illegal, len(chosen), rows.masks, rows.states, indexes, actions, first)
        return self._lowest()

    def first_over(self, rows: Rows, chosen: np.ndarray) -> int:
        launch(gk.first_over, len(chosen), rows.states, self.indexes(chosen), self._first)
        return self._lowest()

    def _lowest(self) -> int:
        """Return the index that a kernel has left in `_first`, or -1."""
        index = int(self.to_numpy(self._first)[0])
        if index == _NONE:
            return -1
        self._first = self.put(np.full(1, _NONE))
        return index

    def advance(
        self, rows: Rows, result: StepResult, chosen: np.ndarray, actions: Any, autoreset: bool
    ) -> None:
        indexes, actions = self.indexes(chosen), self.put(actions)
        launch(gk.advance, len(chosen), rows, result, self.params, indexes, actions, autoreset)

    def show(self, rows: Rows) -> None:
        launch(gk.show, rows.states.shape[0], rows, self.params)

    def set(self, rows: Rows, result: StepResult, chosen: np.ndarray, states: np.ndarray) -> None:
        launch(gk.set, len(chosen), rows, result, self.params, self.indexes(chosen), self.put(states))

    def observe(self, states: Any, players: Any, hidden: bool = False) -> Any:
        n, size = states.shape[0], self.game.hidden_size if hidden else self.game.observation_size
        out = view(cuda.device_array((size, n), np.int8), (n, size), (1, n))
        kernel = gk.observe_hidden if hidden else gk.observe
        launch(kernel, n, self.put(states), self.params, self.put(players), out)
        return out

    def standings(self, states: Any, out: Any) -> None:
        launch(gk.standings, states.shape[0], states, self.params, self.put(out))

    def choose(self, kind: int, rows: Rows, chosen: np.ndarray, rng_states: Any) -> Any:
        actions = cuda.device_array(len(chosen), np.int64)
        threads = min(len(chosen), THREADS)
        given = self.indexes(chosen), rows.masks, rng_states, self._scratch_for(threads), actions
        launch(gk.choose, threads, kind, rows.states, self.params, *given)
        return actions

    def play(
        self, rows: Rows, seats: Seats, chosen: np.ndarray, actions: Any, fixed_seat: int, autoreset: int
    ) -> bool:
        scratch = self._scratch_for(min(len(chosen), THREADS))
        given = self.params, self.indexes(chosen), self.put(actions), fixed_seat, autoreset, self._never
        launch(gk.play, scratch.states.shape[0], rows, seats, scratch, *given)
        if not self.to_numpy(self._never)[0]:
            return False
        clear(self._never)
        return True

    def random_play(self, rows: Rows, steps: int, with_observations: bool, rng_states: Any) -> int:
        """See `loops.random_play`."""
        n = rows.states.shape[0]
        clear(self._ended)
        launch(gk.random_play, n, rows, self.params, steps, with_observations, rng_states, self._ended)
        return int(self.to_numpy(self._ended).sum())

    def _scratch_for(self, threads: int) -> Scratch:
        """Return the memory of at least `threads` threads."""
        if self._scratch is None or self._scratch.states.shape[0] < threads:
            game = self.game
            self._scratch = Scratch(
                self.put(records((threads, 3), game.state_dtype)),
                striped((threads, 2, game.num_actions), np.int8),
                striped((threads, game.max_players), np.int32),
                striped((threads, game.num_actions), np.int64),
            )
        return self._scratch
