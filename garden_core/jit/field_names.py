"""A check of rules before they compile: the record fields that they use must exist."""

from __future__ import annotations

import difflib
import dis
import inspect
import types
from collections.abc import Callable
from typing import Any

import numpy as np


def check_field_names(rules: tuple[Callable[..., Any], ...], records: dict[str, np.dtype]) -> None:
    """Check the record fields that rules use, and functions of the same module that they call.

    Args:
        rules: functions decorated with `compiled`.
        records: record types by argument name, such as "state".

    Raises:
        TypeError: for an unknown field; it names the file, line and function, and a similar field.
    """
    pending = [*map(inspect.unwrap, rules)]
    for function in pending:
        code = function.__code__
        for name in code.co_names:
            called = inspect.unwrap(function.__globals__.get(name))
            if isinstance(called, types.FunctionType) and called.__module__ == function.__module__:
                pending += [called] if called not in pending else []
        arguments = set(code.co_varnames[: code.co_argcount]) & records.keys()
        holder: Any = None
        for step in dis.get_instructions(code):
            if step.opname in ("LOAD_ATTR", "STORE_ATTR") and holder in arguments:
                names = records[holder].names or ()
                if step.argval not in names:
                    line = step.positions.lineno if step.positions else code.co_firstlineno
                    similar = difflib.get_close_matches(step.argval, names, 1)
                    raise TypeError(
                        f"{code.co_filename}:{line}: {function.__name__} uses {holder}.{step.argval}, but the record "
                        f"has no such field"
                        + (f"; did you mean {similar[0]}?" if similar else f": {', '.join(names)}")
                    )
            holder = None
            if step.opname.startswith("LOAD_FAST"):
                holder = step.argval[-1] if isinstance(step.argval, tuple) else step.argval
