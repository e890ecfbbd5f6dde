"""The cache on disk of kernels for a GPU, with what `garden_core.jit.numba_private` adds to the CPU's cache."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from numba.cuda.core.caching import IndexDataCacheFile
from numba.cuda.dispatcher import CUDACache

from garden_core.batch.gpu_records import BUILD
from garden_core.jit.numba_private import SafeCache, SafeCacheFile


class _CacheFile(SafeCacheFile, IndexDataCacheFile):
    """The files of one kernel."""


class Cache(SafeCache, CUDACache):
    """numba-cuda's cache of one kernel; its keys name all that the kernel compiles, too."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        self.keep_in(_CacheFile)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return self.load(functools.partial(super().load_overload, sig, target_context))

    def save_overload(self, sig: Any, data: Any) -> None:
        self.save(functools.partial(super().save_overload, sig, data))

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), self.fingerprint, BUILD
