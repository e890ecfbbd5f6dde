"""Compiled code: the decorator and its cache, records, random numbers, kernels and loops for all games."""

from garden_core.jit.decorator import cache_folder, compiled, inlined
from garden_core.jit.fingerprints import fingerprint
from garden_core.jit.rng import bounded, game_seed, next_float, next_uint64, nth_legal, seed_rng, shuffle
from garden_core.jit.rows import records

__all__ = [
    "bounded",
    "cache_folder",
    "compiled",
    "fingerprint",
    "game_seed",
    "inlined",
    "next_float",
    "next_uint64",
    "nth_legal",
    "records",
    "seed_rng",
    "shuffle",
]
