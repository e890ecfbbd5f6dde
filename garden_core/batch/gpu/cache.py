"""The disk cache of GPU kernels, with the additions of `garden_core.jit.numba_private` to Numba's cache."""

from __future__ import annotations

from typing import Any

from numba.cuda.core.caching import IndexDataCacheFile
from numba.cuda.dispatcher import CUDACache

from garden_core.batch.gpu.records import BUILD
from garden_core.jit.numba_private import SafeCache, SafeCacheFile


class _CacheFile(SafeCacheFile, IndexDataCacheFile):
    """The files of one kernel."""


class Cache(SafeCache, CUDACache):
    """numba-cuda's cache of one kernel; its keys include a digest of all code that the kernel compiles."""

    file_class = _CacheFile

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return *super()._index_key(sig, codegen), self.fingerprint, BUILD
