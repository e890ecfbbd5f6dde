"""Copies of records on a GPU word by word; numba-cuda would copy byte by byte, in a loop."""

from __future__ import annotations

from llvmlite import ir
from numba.cuda import types
from numba.extending import intrinsic, overload

from garden_core.jit import fingerprint
from garden_core.jit.kernels import copy_record

_AT_ONCE = 8  # words read before they are written


def _word(size: int) -> int:
    """Return the size of the largest word, at most 8 bytes, that divides a record of `size` bytes."""
    return min(size & -size, 8)


def use_words() -> None:
    """Make numba-cuda compile `copy_record` to a copy in words."""
    overload(copy_record, target="cuda")(_in_words)


def _in_words(to, row, record):
    if _word(record.size) == 1:
        return lambda to, row, record: to.__setitem__(row, record)
    return lambda to, row, record: _copy(to[row], record)


def _copied(context, to, record):
    """Copy a record, aligned and of whole words, into another of its type."""
    assert to == record
    width = _word(record.size)
    count = record.size // width

    def code(context, builder, signature, arguments):
        form = ir.IntType(8 * width)
        into, source = (builder.bitcast(each, form.as_pointer()) for each in arguments)

        def place(start, index):
            return builder.gep(start, [ir.Constant(ir.IntType(32), index)])

        for first in range(0, count, _AT_ONCE):
            indexes = range(first, min(first + _AT_ONCE, count))
            words = [builder.load(place(source, index), align=width) for index in indexes]
            for index, value in zip(indexes, words, strict=True):
                builder.store(value, place(into, index), align=width)
        return context.get_dummy_value()

    return types.void(to, record), code


_copy = intrinsic(_copied)
BUILD = fingerprint(_copied)
"""Digest of the copy's code, which a kernel's fingerprint does not include."""
