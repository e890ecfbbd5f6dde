"""Arrays of records whose rows are arguments of kernels, compiled or not."""

from __future__ import annotations

import copyreg
import functools
import operator
from typing import Any

import numba
import numpy as np

JIT: bool = not numba.config.DISABLE_JIT
"""False under `NUMBA_DISABLE_JIT=1`, which runs everything as plain Python."""


def records(shape: int | tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """Return an array of zero records; the fields are attributes of a row, also in plain Python.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit import records
        >>> states = records(3, np.dtype([("score", "i4", 2), ("current_player", "i8")]))
        >>> states["score"][0, 1] = 5
        >>> states[0]["score"].tolist()
        [0, 5]
    """
    made = np.zeros(shape, dtype)
    return made if JIT else with_attributes(made)


def with_attributes(array: np.ndarray) -> np.ndarray:
    """Return a view of an array of records; the fields are attributes of a row.

    Example:
        >>> import numpy as np
        >>> from garden_core.jit.rows import with_attributes
        >>> with_attributes(np.zeros(3, np.dtype([("score", "i4")])))[0].score
        np.int32(0)
    """
    return array.view(np.dtype((_row_class(array.dtype), array.dtype)))


class _RowType(type):
    """Type of the classes that `_row_class` returns; they pickle as calls of it."""

    form: np.dtype


@functools.cache
def _row_class(dtype: np.dtype) -> _RowType:
    """Return a class for rows of a record type, with the fields as attributes: twice as fast as `np.record`."""

    def field(form: np.dtype, offset: int) -> property:
        def write(row: np.void, value: Any) -> None:
            row.setfield(value, form, offset)

        return property(operator.methodcaller("getfield", form, offset), write)

    fields = {name: field(*place[:2]) for name, place in (dtype.fields or {}).items()}
    return _RowType("Row", (np.void,), fields | {"form": dtype})


copyreg.pickle(_RowType, lambda row_class: (_row_class, (row_class.form,)))
