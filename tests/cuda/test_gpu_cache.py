"""Machine code for a GPU is loaded from disk, and damaged files or a full disk end no run; no GPU is needed."""

from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from numba import cuda
from numba.cuda.cudadrv import devices
from numba.cuda.dispatcher import _Kernel
from processes import full_disk

from garden_core.batch.gpu import kernels as gpu_kernels
from garden_core.jit import numba_private


def double(numbers, out):
    i = cuda.grid(1)
    if i < out.shape[0]:
        out[i] = 2 * numbers[i]


class Cached:
    """A kernel with a cache of its own."""

    def __init__(self):
        self.kernel = gpu_kernels.kernel(double)
        self.cache = self.kernel._cache
        self.folder = Path(self.cache.cache_path)

    def save(self, form=np.int64):
        types = self.types(form)
        self.cache.save_overload(types, _Kernel(double, types, **self.kernel.targetoptions))

    def load(self, form=np.int64):
        return self.cache.load_overload(self.types(form), self.kernel.targetctx)

    def types(self, form):
        return (numba.typeof(np.zeros(1, form)), numba.typeof(np.zeros(1)))

    def files(self):
        return sorted(path.suffix for path in self.folder.iterdir())


@pytest.fixture
def cached(monkeypatch, tmp_path):
    device = SimpleNamespace(compute_capability=(9, 0), id=0)
    monkeypatch.setattr("numba.cuda.dispatcher.get_current_device", lambda: device)
    monkeypatch.setattr(devices, "get_context", lambda *_: SimpleNamespace(device=device))
    monkeypatch.setattr(gpu_kernels, "cache_folder", lambda: str(tmp_path))
    return Cached


def test_kernels_are_found_again(cached):
    assert cached().load() is None
    cached().save()
    cached().save(np.int32)
    assert cached().load().signature == cached().load().signature
    assert cached().load().signature != cached().load(np.int32).signature
    assert cached().files() == [".nbc", ".nbc", ".nbi"]


@pytest.mark.parametrize(("suffix", "keep"), [(".nbi", 0), (".nbi", 100), (".nbc", 100)])
def test_damaged_files_are_deleted(cached, suffix, keep):
    cached().save()
    (path,) = cached().folder.glob(f"*{suffix}")
    path.write_bytes(path.read_bytes()[:keep])
    assert cached().load() is None
    assert cached().files() == []
    cached().save()
    assert cached().load() is not None


def test_a_full_disk_gives_a_warning(cached, monkeypatch):
    one = cached()
    monkeypatch.setattr(one.cache._cache_file, "_save_data", full_disk)
    with pytest.warns(UserWarning, match="compiled code was not kept in .*No space left"):
        one.save()


def test_a_changed_kernel_is_compiled_again(cached, monkeypatch):
    cached().save()
    monkeypatch.setattr(numba_private, "fingerprint", lambda *_: "another")
    assert cached().load() is None
