"""Every kernel of every game compiles to PTX, the code of a GPU, where there is no GPU: with the types that it is called with."""

import pickle
import re
from dataclasses import replace
from types import SimpleNamespace

import numba
import numpy as np
import pytest
import torch
from devices import OWN
from garden_agents.games import hints_of
from garden_agents.networks.board_features import num_cell_features
from garden_agents.training import ppo
from garden_agents.training.gpu import features as gpu_features
from numba import cuda
from numba.cuda.cudadrv.devicearray import sentry_contiguous
from numba.cuda.dispatcher import CUDADispatcher
from variants import GAMES

from garden_core import Batch, GreedyPolicy, Learner, RandomPolicy, make
from garden_core.batch.gpu import kernels as gpu_kernels
from garden_core.batch.gpu import target as gpu
from garden_core.jit.kernels import copy_record

CAPABILITY = (9, 0)


@pytest.fixture
def kernels(monkeypatch):
    """PTX by kernel and types of its arguments, of all kernels that are called; nothing is run."""
    compiled = {}

    def compile_only(kernel, count, *arguments):
        called = kernel.py_func.__name__, tuple(map(numba.typeof, arguments))
        if called not in compiled:
            compiled[called], _ = cuda.compile_ptx(kernel.py_func, called[1], cc=CAPABILITY)

    def view(array, shape, strides, dtype=None, offset=0):
        memory = array.ravel("K").view(np.uint8)
        return np.ndarray(shape, dtype or array.dtype, memory, offset, strides)

    device = SimpleNamespace(compute_capability=CAPABILITY, id=0)
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    monkeypatch.setattr(gpu_kernels.cuda, "is_available", lambda: True)
    for module in (gpu, gpu_features):
        monkeypatch.setattr(module, "launch", compile_only)
    for owner in (gpu.Gpu, gpu_features):
        monkeypatch.setattr(owner, "put", np.asarray)
    monkeypatch.setattr(gpu, "view", view)
    monkeypatch.setattr(gpu.cuda, "device_array", np.empty)
    monkeypatch.setattr(gpu, "clear", lambda array: array.fill(0))
    monkeypatch.setattr(gpu.Gpu, "copy", lambda self, array: array.copy())
    monkeypatch.setattr(gpu.Gpu, "to_numpy", np.asarray)
    return compiled


@pytest.mark.parametrize("name", [*GAMES, *OWN])
def test_every_kernel_compiles(kernels, name):
    other = Batch(name, 3)
    other.reset(1)
    batch = Batch(name, 3, device="cuda")
    batch.reset(1)
    batch.reset(rows=[1])
    batch.step(np.zeros(3, np.int64))
    batch.step(np.zeros(3, np.int32))
    batch.refresh()
    batch.set_states([0], [other.states[0]])
    batch.observe(0)
    batch.observe(np.zeros(3, np.int64), batch.last_states)
    batch.observe_hidden(0)
    for policy in (RandomPolicy(), GreedyPolicy()):
        policy(batch, batch.all_rows)
    batch.target.standings(batch.states, np.zeros((3, batch.game.max_players), np.int32))
    learner = Learner(batch.game, 3, ("greedy", "random"), device="cuda")
    learner.reset(1)
    learner.step(np.zeros(3, np.int64))
    batch.target.random_play(batch.rows, 1, True, batch.target.put(np.zeros((3, 4), np.uint64)))
    there = {kernel for kernel in vars(gpu_kernels).values() if isinstance(kernel, CUDADispatcher)}
    assert {called for called, _ in kernels} == {kernel.py_func.__name__ for kernel in there}
    check(kernels)


def test_unsupported_settings_on_a_gpu_are_refused(kernels):
    for changes in (
        {"opponents": lambda batch, rows: None},
        {"opponents": "mcts:10"},
        {"autoreset": "next_step"},
        {"illegal": "terminate"},
        {"max_steps": 5},
    ):
        with pytest.raises(ValueError, match="on a GPU opponents are"):
            Learner(make("cacti"), 3, **changes, device="cuda")
    for changes in ({"history": True}, {"threads": 2}):
        with pytest.raises(ValueError, match="on a GPU a batch keeps no history"):
            Batch("cacti", 3, **changes, device="cuda")


def test_a_missing_gpu_is_reported(monkeypatch, tmp_path):
    monkeypatch.setattr(gpu_kernels.cuda, "is_available", lambda: False)
    with pytest.raises(RuntimeError, match="no GPU that CUDA can use"):
        Batch("cacti", 3, device="cuda")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(SystemExit, match="--device cuda: there is no GPU that CUDA can use"):
        ppo.train(ppo.Arguments("cacti", device="cuda", run=tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_missing_compiler_is_reported(monkeypatch):
    monkeypatch.setattr(gpu_kernels.cuda, "is_available", lambda: False)
    monkeypatch.setattr(gpu_kernels.cuda, "cuda_error", lambda: None)
    with pytest.raises(RuntimeError, match=r"no compiler for a GPU: pip install .*\[cuda\]"):
        Batch("cacti", 3, device="cuda")


def test_games_on_a_gpu_are_not_pickled(kernels):
    for held in (Batch("cacti", 3, device="cuda"), Learner(make("cacti"), 3, device="cuda")):
        with pytest.raises(TypeError, match="games on a GPU cannot be pickled"):
            pickle.dumps(held)


@pytest.mark.parametrize(
    "array", [np.arange(9)[::2], np.zeros((3, 4))[:, 1], np.zeros((3, 4)).T, np.int64(1)]
)
def test_arrays_put_on_a_gpu_are_contiguous(monkeypatch, array):
    array = np.asarray(array)
    monkeypatch.setattr(gpu_kernels.cuda, "to_device", lambda given: sentry_contiguous(given) or given)
    found = gpu.put(array)
    assert found.shape == array.shape
    assert np.array_equal(found, array)


def test_features_compile(kernels):
    """Those of a board, with and without hints of its game, and those without a board."""
    board = hints_of(make("mars")).board(make("mars"))
    seen = np.zeros((1000, 3), np.int8).T  # as a batch on the GPU has them
    for each in (board, replace(board, num_features=0, fill_features=None)):
        out = np.zeros((3, len(each.neighbours), num_cell_features(each)), np.float32)
        gpu_features.GpuFeatures(each)(seen, out)
    for shown in ("places", "values"):
        game = make("botanicus", cards_shown=shown)
        features = hints_of(game).features(game)
        seen = np.zeros((game.observation_size, 3), np.int8).T
        gpu_features.GpuFlatFeatures(features)(seen, np.zeros((3, features.num), np.float32))
    check(kernels)


@pytest.mark.parametrize(("size", "word"), [(536, "u64"), (20, "u32"), (7, "u8")])
def test_a_record_is_copied_in_words(kernels, size, word):
    def copy(to, source, chosen):
        copy_record(to, 0, source[chosen[0]])

    given = numba.typeof(np.zeros(2, np.dtype([("bytes", "u1", size)])))
    code, _ = cuda.compile_ptx(
        copy, (given, given, numba.typeof(np.zeros(1, np.float64).view(np.int64))), cc=CAPABILITY
    )
    assert set(re.findall(r"\bst\.global\.(\w+)", code)) == {word}


def check(kernels):
    """Check that the code has its kernel as entry, is for the right GPU, and rounds as a CPU does."""
    assert kernels
    for (kernel, _), code in kernels.items():
        assert ".target sm_90" in code
        assert re.search(rf"\.visible \.entry \w*{kernel}", code)
        assert not re.search(r"\bfma\.", code), f"{kernel}: a product is added without being rounded"
