"""Checks of the weights in a file."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from garden_core.checks import one_line

_MOST_NAMES = 5  # tensors that a message names


def check_weights(weights: Mapping[str, np.ndarray], shapes: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the weights have these names and shapes, are float32 or float16, and are finite.

    Raises:
        ValueError: if not; the message names some of the arrays at fault.
    """
    other = sorted(weights.keys() ^ shapes.keys())
    other += [n for n in shapes if n in weights and weights[n].shape != shapes[n]]
    if other:
        raise ValueError(f"it does not fit its own description: {_some(other)}")
    types = [f"{n} is {w.dtype}" for n, w in weights.items() if w.dtype not in (np.float32, np.float16)]
    if types:
        raise ValueError(f"its weights are not float32 or float16: {_some(types)}")
    broken = [n for n, w in weights.items() if not np.isfinite(w).all()]
    if broken:
        raise ValueError(f"its weights are not finite: {_some(broken)}")


def _some(names: list[str]) -> str:
    listed = ", ".join(one_line(name, 100) for name in names[:_MOST_NAMES])
    return listed + (", …" if len(names) > _MOST_NAMES else "")
