"""Compiled functions for callers other than Python, by Numba's private interfaces."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
from llvmlite import ir
from numba.extending import intrinsic
from numba.np.arrayobj import make_array, populate_array

from garden_core.jit.decorator import OPTIONS

_I32, _I64 = ir.IntType(32), ir.IntType(64)


def _array(context: Any, builder: Any, kind: Any, data: Any, shape: Sequence[Any]) -> Any:
    """Return a contiguous array at an address."""
    array, size = (
        make_array(kind)(context, builder),
        context.get_abi_sizeof(context.get_data_type(kind.dtype)),
    )
    strides = [ir.Constant(_I64, size)]
    for length in reversed(shape[1:]):
        strides.insert(0, builder.mul(strides[0], length))
    populate_array(array, data=data, shape=shape, strides=strides, itemsize=strides[-1], meminfo=None)
    return array._getvalue()


@intrinsic
def part_of(typing: Any, array: Any, start: Any, shape: Any) -> Any:
    """In compiled code: return the entries of a one-dimensional array from index `start` on, with another shape, not copied."""
    returned = numba.types.Array(array.dtype, len(shape), "C")

    def build(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        whole = make_array(array)(context, builder, values[0])
        lengths = [builder.extract_value(values[2], k) for k in range(len(shape))]
        return _array(context, builder, returned, builder.gep(whole.data, [values[1]]), lengths)

    return returned(array, numba.int64, numba.types.UniTuple(numba.int64, len(shape))), build


def _given(context: Any, kind: Any) -> list[Any]:
    """Return the types of an argument for callers in C."""
    if isinstance(kind, numba.types.NamedTuple):
        return [part for each in kind.types for part in _given(context, each)]
    if isinstance(kind, numba.types.Array):
        return [ir.PointerType(), *[_I32] * kind.ndim]
    return [_I32 if kind == numba.int64 else context.get_value_type(kind)]


def _taken(context: Any, builder: Any, kind: Any, passed: Iterator[Any]) -> Any:
    """Return an argument as Numba has it, from what a caller in C passes."""
    if isinstance(kind, numba.types.NamedTuple):
        return context.make_tuple(
            builder, kind, [_taken(context, builder, each, passed) for each in kind.types]
        )
    value = next(passed)
    if isinstance(kind, numba.types.Array):
        shape = [builder.sext(next(passed), _I64) for _ in range(kind.ndim)]
        return _array(context, builder, kind, value, shape)
    return builder.sext(value, _I64) if kind == numba.int64 else value


def c_function(function: Callable[..., Any], arguments: Sequence[Any]) -> tuple[Any, str]:
    """Compile a function that callers other than Python can call.

    Args:
        function: a Python function, compiled or not, that raises nothing. For targets with other pointers than this machine's,
            no function that it calls may return an array, as structures in memory have this machine's layout.
        arguments: Numba's types. A record is a pointer for the caller; a contiguous array is a pointer and then a 32-bit integer
            for each dimension; a NamedTuple is its parts; an int64 is a 32-bit integer; others are themselves.

    Returns:
        The LLVM module of the function with all that it calls, and the text of a module with a function of the same name, for
        callers in C, that calls it. An int64 is returned as 32 bits.
    """
    options: Any = {**OPTIONS, "no_cpython_wrapper": True}
    dispatcher: Any = numba.njit(**options)(getattr(function, "py_func", function))
    dispatcher.compile(tuple(arguments))
    (result,) = dispatcher.overloads.values()
    context, described, returned = result.target_context, result.fndesc, result.signature.return_type
    given = [part for kind in arguments for part in _given(context, kind)]
    answer = ir.VoidType() if returned == numba.void else context.get_value_type(returned)
    module, is_wide = ir.Module(), returned == numba.int64
    outer = ir.Function(module, ir.FunctionType(_I32 if is_wide else answer, given), function.__name__)
    builder, passed = ir.IRBuilder(outer.append_basic_block()), iter(outer.args)
    values = [_taken(context, builder, kind, passed) for kind in arguments]
    convention, kinds = context.call_conv, (described.restype, described.argtypes)
    inner = ir.Function(module, convention.get_function_type(*kinds), described.llvm_func_name)
    _, value = convention.call_function(builder, inner, *kinds, values)
    if returned == numba.void:
        builder.ret_void()
    else:
        builder.ret(builder.trunc(value, _I32) if is_wide else value)
    return result.library._get_module_for_linking(), str(module)
