"""Compiled code: the decorator, its cache, records, and fingerprints of what functions compile."""

from garden_core.jit.decorator import OPTIONS, cache_folder, compiled, inlined
from garden_core.jit.fingerprints import fingerprint
from garden_core.jit.rows import JIT, records

__all__ = ["JIT", "OPTIONS", "cache_folder", "compiled", "fingerprint", "inlined", "records"]
