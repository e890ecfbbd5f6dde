"""exp and log in compiled code, for WebAssembly, which has neither; errors are below 2e-15 of the result."""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled

_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10
_SQRT2 = 1.4142135623730951


@compiled
def _power_of_two(k):
    """Return 2.0 ** k for -1022 <= k <= 1023."""
    return np.int64((np.int64(k) + 1023) << 52).view(np.float64)


@compiled
def exp(x):
    """Return e ** x, float64."""
    if x > 709.8:
        return np.inf
    if x < -745.2:
        return 0.0
    if np.isnan(x):
        return x
    k = np.int64(np.floor(x / (_LN2_HIGH + _LN2_LOW) + 0.5))
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW  # |r| <= 0.35
    total = 1.0
    for n in range(13, 0, -1):
        total = 1.0 + total * r / n
    half = k // 2
    return total * _power_of_two(half) * _power_of_two(k - half)


@compiled
def log(x):
    """Return the natural logarithm of x, float64; -inf for 0, NaN below."""
    if not x > 0.0:
        return -np.inf if x == 0.0 else np.nan
    if x == np.inf:
        return x
    e = np.int64(0)
    if x < 2.3e-308:
        x *= 18014398509481984.0  # 2 ** 54
        e -= 54
    bits = np.float64(x).view(np.int64)
    e += (bits >> 52) - 1023
    m = np.int64((bits & ((1 << 52) - 1)) | (1023 << 52)).view(np.float64)
    if m > _SQRT2:
        m *= 0.5
        e += 1
    s = (m - 1.0) / (m + 1.0)
    z = s * s
    total = 0.0
    for n in range(23, 1, -2):
        total = (total + 1.0 / n) * z
    return e * _LN2_HIGH + (2.0 * s * (1.0 + total) + e * _LN2_LOW)


@compiled
def expf(x):
    """Return e ** x, float32."""
    return np.float32(exp(np.float64(x)))


@compiled
def logf(x):
    """Return the natural logarithm of x, float32."""
    return np.float32(log(np.float64(x)))
