"""The random generator in a state: xoshiro256++ in four uint64 words, seeded by splitmix64.

Source: D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators" (2021), and their public
reference code; bounded draws after D. Lemire, "Fast random integer generation in an interval" (2019).
All operands are uint64, as Numba types `uint64 + 1` as int64.
"""

from __future__ import annotations

import numpy as np

from garden_core.jit.decorator import compiled

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_LOW_32 = np.uint64(0xFFFFFFFF)
_TWO_32 = np.uint64(1 << 32)
_U11, _U17, _U19, _U23, _U27, _U30, _U31 = (np.uint64(n) for n in (11, 17, 19, 23, 27, 30, 31))
_LAST = np.uint64(2**64 - 1)
_U32, _U41, _U45 = np.uint64(32), np.uint64(41), np.uint64(45)


@compiled
def _mix(x):
    """The output function of splitmix64: a bijection of uint64 that scatters its bits."""
    x = (x ^ (x >> _U30)) * _MIX_1
    x = (x ^ (x >> _U27)) * _MIX_2
    return x ^ (x >> _U31)


@compiled
def seed_rng(rng_state, seed):
    """Fill `rng_state`, uint64 (4,), from a uint64 seed with splitmix64.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import seed_rng
        >>> rng_state = np.empty(4, np.uint64)
        >>> seed_rng(rng_state, np.uint64(1))
        >>> int(rng_state[0])
        10451216379200822465
    """
    x = np.uint64(seed)
    for i in range(4):
        x = x + _GOLDEN
        rng_state[i] = _mix(x)


@compiled
def game_seed(seed, row, episode):
    """Return the seed (uint64) of the deal of episode `episode` in row `row` with `seed`, for any batch size.

    Example:
        >>> import numpy as np
        >>> from garden_core import Batch
        >>> from garden_core.jit import game_seed
        >>> batch = Batch("cacti", num_envs=2)
        >>> batch.reset(seed=1)  # deals row 1 from this seed:
        >>> int(game_seed(np.uint64(1), 1, 0))
        6301985355436268297
    """
    x = _mix(np.uint64(seed) + _GOLDEN)
    x = _mix((x ^ np.uint64(row)) + _GOLDEN)
    return _mix((x ^ np.uint64(episode)) + _GOLDEN)


@compiled
def seed_streams(rng_states, chosen, purpose, seed, numbers):
    """Fill rows `chosen` of `rng_states`, uint64 (N, 4), from (purpose, seed, numbers[i]), all uint64.

    Purposes count down from the last episode of a seed, so that streams differ from the deals' seeds.
    """
    for i in range(chosen.shape[0]):
        seed_rng(rng_states[chosen[i]], game_seed(seed, numbers[i], _LAST - purpose))


@compiled
def next_uint64(rng_state):
    """Draw 64 random bits and advance `rng_state`, uint64 (4,).

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import next_uint64, seed_rng
        >>> rng_state = np.empty(4, np.uint64)
        >>> seed_rng(rng_state, np.uint64(1))
        >>> int(next_uint64(rng_state))
        14971601782005023387
    """
    s0, s1, s2, s3 = rng_state[0], rng_state[1], rng_state[2], rng_state[3]
    x = s0 + s3
    result = ((x << _U23) | (x >> _U41)) + s0
    s2 = s2 ^ s0
    s3 = s3 ^ s1
    rng_state[1] = s1 ^ s2
    rng_state[0] = s0 ^ s3
    rng_state[2] = s2 ^ (s1 << _U17)
    rng_state[3] = (s3 << _U45) | (s3 >> _U19)
    return result


@compiled
def bounded(rng_state, n):
    """Draw an int64 in 0 … n - 1, each equally likely; 1 <= n < 2**32.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import bounded, seed_rng
        >>> rng_state = np.empty(4, np.uint64)
        >>> seed_rng(rng_state, np.uint64(1))
        >>> [int(bounded(rng_state, 6)) for _ in range(5)]
        [4, 4, 0, 4, 1]
    """
    width = np.uint64(n)
    product = (next_uint64(rng_state) >> _U32) * width
    if product & _LOW_32 < width:  # reject the short last interval, which would bias the result
        threshold = (_TWO_32 - width) % width
        while product & _LOW_32 < threshold:
            product = (next_uint64(rng_state) >> _U32) * width
    return np.int64(product >> _U32)


@compiled
def next_float(rng_state):
    """Draw a float64 in [0, 1) with 53 random bits.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import next_float, seed_rng
        >>> rng_state = np.empty(4, np.uint64)
        >>> seed_rng(rng_state, np.uint64(1))
        >>> print(f"{next_float(rng_state):.6f}")
        0.811612
    """
    return np.float64(next_uint64(rng_state) >> _U11) * (1.0 / 9007199254740992.0)


@compiled
def shuffle(rng_state, items, n):
    """Shuffle the first `n` entries of the 1-D array `items` in place, every order equally likely.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import seed_rng, shuffle
        >>> rng_state, cards = np.empty(4, np.uint64), np.arange(6, dtype=np.int8)
        >>> seed_rng(rng_state, np.uint64(1))
        >>> shuffle(rng_state, cards, 6)
        >>> cards.tolist()
        [1, 5, 2, 0, 3, 4]
    """
    for i in range(n - 1, 0, -1):
        j = bounded(rng_state, i + 1)
        held = items[i]
        items[i] = items[j]
        items[j] = held


@compiled
def nth_legal(mask, n):
    """Return the index of the n-th 1 in `mask`, counting from 0; `mask` must have more than n ones.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import nth_legal
        >>> int(nth_legal(np.array([0, 1, 0, 1], np.int8), 1))
        3
    """
    action = 0
    while action + 8 <= mask.shape[0]:  # eight at a time: masks are unpredictable, so branches mispredict
        ones = 0
        for i in range(8):
            ones += mask[action + i]
        if n < ones:
            break
        n -= ones
        action += 8
    while mask[action] == 0 or n > 0:
        n -= mask[action]
        action += 1
    return action
