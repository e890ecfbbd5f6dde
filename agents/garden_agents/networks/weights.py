"""Checks of the weights that a file holds."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from garden_core.checks import one_line

_MOST_NAMES = 5  # names of tensors that a message lists


def check_weights(found: Mapping[str, np.ndarray], needed: Mapping[str, tuple[int, ...]]) -> None:
    """Check that the arrays have the names and shapes of `needed`, are float32, and that all numbers are finite.

    Raises:
        ValueError: if not; it names some of the arrays at fault.
    """
    other = sorted(found.keys() ^ needed.keys())
    other += [n for n in needed if n in found and found[n].shape != needed[n]]
    if other:
        raise ValueError(f"it does not fit its own description: {_some(other)}")
    types = [f"{n} is {found[n].dtype}, not float32" for n in needed if found[n].dtype != np.float32]
    if types:
        raise ValueError(f"its weights are of another type: {_some(types)}")
    broken = [name for name, array in found.items() if not np.isfinite(array).all()]
    if broken:
        raise ValueError(f"its weights are not finite: {_some(broken)}")


def _some(names: list[str]) -> str:
    listed = ", ".join(one_line(name, 100) for name in names[:_MOST_NAMES])
    return listed + (", …" if len(names) > _MOST_NAMES else "")
