"""The fingerprint of what a function compiles."""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_NOT_FOLLOWED = ("numpy", "numba")  # Numba's cache knows its own version
inlined_functions: set[Callable[..., Any]] = set()
"""Functions whose callers take their code in."""


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Hex digest of everything that `functions` compile: their code, what they call, the constants they read.

    Follows global names, defaults and closures into functions, modules, arrays, numbers, tuples and enums,
    in any file; NumPy and Numba themselves are left out.

    Raises:
        NameError: if a name that they use is not defined yet, as its change would go unseen.
    """
    digest = hashlib.sha256()
    for part in _reached(list(functions)):
        digest.update(part)
    return digest.hexdigest()


def _reached(pending: list[Any]) -> Iterator[bytes]:
    seen = set()
    while pending:
        value = pending.pop()
        if isinstance(getattr(value, "py_func", None), types.FunctionType):
            value = value.py_func
        if isinstance(value, types.FunctionType):
            value = getattr(value, "__wrapped__", value)
            if id(value) in seen or _package(value.__module__) in _NOT_FOLLOWED:
                continue
            seen.add(id(value))
            if value in inlined_functions:
                yield b"inlined"
            names = []
            codes = [value.__code__]
            for code in codes:
                codes += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
                names += code.co_names
                steps, global_names = _steps(code)
                yield steps
                for name in global_names:
                    if name not in value.__globals__ and not hasattr(builtins, name):
                        raise NameError(
                            f"{name!r}, which {value.__qualname__} uses, is not defined yet; "
                            "a Game class must stand below everything that its rules use"
                        )
            for name in names:
                held = value.__globals__.get(name)
                pending += _in_modules(held, names) if isinstance(held, types.ModuleType) else [held]
            pending += value.__defaults__ or ()
            pending += (value.__kwdefaults__ or {}).values()
            pending += [cell.cell_contents for cell in value.__closure__ or ()]
        elif isinstance(value, np.ndarray | np.generic):
            yield repr((value.dtype, value.shape)).encode() + value.tobytes()
        elif isinstance(value, tuple):
            pending += value
        elif isinstance(value, type) and issubclass(value, enum.Enum):
            yield repr(list(value)).encode()
        elif isinstance(value, bool | int | float | complex | str | bytes | np.dtype | enum.Enum):
            yield repr(value).encode()


@functools.cache
def _steps(code: types.CodeType) -> tuple[bytes, frozenset[str]]:
    """Return what a function does, docstring or not (`python -OO` has none), and the global names that it uses."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "NOP"]
    does: list[Any] = [code.co_name, code.co_names]
    for step in steps:
        constant = step.opcode in dis.hasconst and not isinstance(step.argval, types.CodeType)
        does.append(
            (step.opname, step.argval if constant else None if step.opcode in dis.hasconst else step.arg)
        )
    return repr(does).encode(), frozenset(step.argval for step in steps if step.opname == "LOAD_GLOBAL")


def _in_modules(module: types.ModuleType, names: list[str]) -> list[Any]:
    """Whatever `names` may mean in the module, and in the modules that they mean there."""
    modules, found = [module], []
    for holder in modules:
        if _package(holder.__name__) in _NOT_FOLLOWED:
            continue
        for name in names:
            held = getattr(holder, name, None)
            if not isinstance(held, types.ModuleType):
                found.append(held)
            elif held not in modules:
                modules.append(held)
    return found


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0]
