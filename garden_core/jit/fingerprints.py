"""Fingerprints of compiled functions."""

from __future__ import annotations

import builtins
import dis
import enum
import functools
import hashlib
import inspect
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

_NOT_FOLLOWED = ("numpy", "numba")  # Numba's cache knows its own version
inlined_functions: set[Callable[..., Any]] = set()
"""Functions that are inlined into their callers."""


def fingerprint(*functions: Callable[..., Any]) -> str:
    """Return a hex digest of all that `functions` compile: their code, the functions they call, the constants they read.

    Follows global names, defaults and closures into functions, modules, arrays, numbers, tuples and enums, in any file
    outside of NumPy and Numba.

    Raises:
        NameError: if they use a name that is not defined yet, whose later changes would be missed.

    Example:
        >>> import garden_core
        >>> from garden_core.jit import fingerprint
        >>> rules = garden_core.make("cacti").rules
        >>> fingerprint(rules.points) == fingerprint(rules.points), fingerprint(rules.points) == fingerprint(rules.deal)
        (True, False)
    """
    digest = hashlib.sha256()
    for part in _reached(list(functions)):
        digest.update(part)
    return digest.hexdigest()


def _reached(pending: list[Any]) -> Iterator[bytes]:
    seen = set()
    while pending:
        value = inspect.unwrap(pending.pop())
        if isinstance(value, types.FunctionType):
            if id(value) in seen or _package(value.__module__) in _NOT_FOLLOWED:
                continue
            seen.add(id(value))
            if value in inlined_functions:
                yield b"inlined"
            names: list[str] = []
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
                            "define a Game class below everything that its rules use"
                        )
            for name in names:
                named = value.__globals__.get(name)
                pending += _in_modules(named, names) if isinstance(named, types.ModuleType) else [named]
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
    """Return a function's instructions, without its docstring (`python -OO` has none), and the global names that it uses."""
    steps = [step for step in dis.get_instructions(code) if step.opname != "NOP"]
    instructions = [(step.opname, _argument(step)) for step in steps]
    does = repr((code.co_name, code.co_names, instructions)).encode()
    return does, frozenset(step.argval for step in steps if step.opname == "LOAD_GLOBAL")


def _argument(step: dis.Instruction) -> Any:
    if step.opcode not in dis.hasconst:
        return step.arg
    return None if isinstance(step.argval, types.CodeType) else step.argval


def _in_modules(module: types.ModuleType, names: list[str]) -> list[Any]:
    """Return the values of `names` in the module, and in modules that are among them."""
    modules, values = [module], []
    for holder in modules:
        if _package(holder.__name__) in _NOT_FOLLOWED:
            continue
        for name in names:
            value = getattr(holder, name, None)
            if not isinstance(value, types.ModuleType):
                values.append(value)
            elif value not in modules:
                modules.append(value)
    return values


def _package(module: str | None) -> str:
    return (module or "").partition(".")[0]
