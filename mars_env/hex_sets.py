"""Sets of hexes as two uint64 words, low and high: hex h is bit h & 63 of word h >> 6. Compiled."""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled
from mars_env.board import NEIGHBOUR_SETS

_ONE, _ZERO = np.uint64(1), np.uint64(0)
_LAST_BIT = np.uint64(63)
_DE_BRUIJN, _SHIFT = np.uint64(0x03F79D71B4CB0A89), np.uint64(58)
_DE_BRUIJN_INDEX = np.zeros(64, np.int8)
for _i in range(64):
    _DE_BRUIJN_INDEX[((int(_DE_BRUIJN) << _i) & (2**64 - 1)) >> 58] = _i


@compiled
def bit(hex_):
    """Return the bit of `hex_` within its word."""
    return _ONE << (np.uint64(hex_) & _LAST_BIT)


@compiled
def lowest(low, high):
    """Return the lowest hex of a set that is not empty."""
    word = low if low else high
    index = np.int64(_DE_BRUIJN_INDEX[((word & (~word + _ONE)) * _DE_BRUIJN) >> _SHIFT])
    return index if low else index + 64


@compiled
def group(hex_, low, high):
    """Return the connected group that holds `hex_` within the set (low, high): its size, its set, the set of its neighbours."""
    size = np.int64(0)
    group_low, group_high, near_low, near_high = _ZERO, _ZERO, _ZERO, _ZERO
    new_low = bit(hex_) if hex_ < 64 else _ZERO
    new_high = _ZERO if hex_ < 64 else bit(hex_)
    while new_low | new_high:  # each round takes one hex of the rim into the group
        member = lowest(new_low, new_high)
        size += 1
        if member < 64:
            group_low |= bit(member)
        else:
            group_high |= bit(member)
        near_low |= NEIGHBOUR_SETS[member, 0]
        near_high |= NEIGHBOUR_SETS[member, 1]
        new_low = near_low & low & ~group_low
        new_high = near_high & high & ~group_high
    return size, group_low, group_high, near_low, near_high


@compiled
def group_size(hex_, low, high):
    """Return the size of the connected group that holds `hex_` within the set (low, high)."""
    return group(hex_, low, high)[0]
