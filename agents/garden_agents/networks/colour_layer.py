"""The layer of a board network that reads every colour on every cell with the same weights, and its gradient.

A colour on a cell has a few inputs: features of this colour on the cell, and scalars of this colour. With the same weights for
all cells and colours they become COLOUR_CHANNELS channels, of which the next layer reads the sum and the maximum over the colours.

The loops run over the cells of one colour and channel, so that they are vectorised.
"""

from __future__ import annotations

import numpy as np

from garden_core.jit import compiled

COLOUR_CHANNELS = 4
"""Channels per colour on a cell."""


@compiled
def colour_layer(features, scalars, columns, scalar_columns, weight, bias, shifts, planes, sums):
    """Compute the channels of all colours on all cells, and fill their sums and maxima.

    Args:
        features: float32 (n, C, F).
        scalars: float32 (n, S).
        columns: int64 (f, K), the columns of `features` that come one per colour.
        scalar_columns: int64 (s, K), the columns of `scalars` that come one per colour.
        weight: float32 (f + s, COLOUR_CHANNELS).
        bias: float32 (COLOUR_CHANNELS,).
        shifts: float32 (n, K, COLOUR_CHANNELS), filled with the part of a channel that is the same on all cells.
        planes: float32 (n, K + 2, f, C), filled with the features by colour; the last two of a row are working memory.
        sums: float32 (n, 2 * COLOUR_CHANNELS, C), filled with the sum of each channel over the colours, then the maxima.
    """
    f, colours = columns.shape
    for i in range(features.shape[0]):
        _of_scalars(scalars[i], scalar_columns, weight[f:], bias, shifts[i])
        for colour in range(colours):
            for q in range(f):
                _take_column(features[i], columns[q, colour], planes[i, colour, q])
        for j in range(COLOUR_CHANNELS):
            total, highest = sums[i, j], sums[i, COLOUR_CHANNELS + j]
            total[:] = 0
            highest[:] = 0
            for colour in range(colours):
                channel = planes[i, colours, 0]
                _channel(planes[i, colour], weight[:, j], shifts[i, colour, j], channel)
                for cell in range(channel.shape[0]):
                    total[cell] += channel[cell]
                    highest[cell] = max(highest[cell], channel[cell])


@compiled
def _of_scalars(scalars, scalar_columns, weight, bias, shift):
    """Fill `shift`, float32 (K, COLOUR_CHANNELS), with the bias plus the products of a row's scalars."""
    for colour in range(shift.shape[0]):
        for j in range(COLOUR_CHANNELS):
            shift[colour, j] = bias[j]
        for s in range(scalar_columns.shape[0]):
            for j in range(COLOUR_CHANNELS):
                shift[colour, j] += weight[s, j] * scalars[scalar_columns[s, colour]]


@compiled
def _take_column(features, column, out):
    """Copy a column of `features`, float32 (C, F), to `out`, float32 (C,)."""
    for cell in range(features.shape[0]):
        out[cell] = features[cell, column]


@compiled
def _channel(plane, weight, shift, out):
    """Fill `out`, float32 (C,), with one channel of one colour on all cells; `plane` is float32 (f, C)."""
    out[:] = shift
    for q in range(plane.shape[0]):
        for cell in range(out.shape[0]):
            out[cell] += weight[q] * plane[q, cell]
    for cell in range(out.shape[0]):
        out[cell] = max(out[cell], np.float32(0))


@compiled
def colour_gradient(
    scalars, scalar_columns, weight, shifts, planes, sums, d_sums, d_planes, d_weight, d_bias
):
    """Add the gradient of a loss, given its derivatives by the sums and the maxima.

    Args:
        scalars, scalar_columns, weight, shifts, planes, sums: as in `colour_layer`, which filled the last three.
        d_sums: float32 like `sums`, the derivatives, overwritten. Of equal maxima the first colour has the derivative.
        d_planes: float32 like `planes`, overwritten.
        d_weight, d_bias: float32 like `weight` and the bias, the sums to add to.
    """
    colours, f = planes.shape[1] - 2, planes.shape[2]
    channel, products = d_planes[0, colours, 0], d_planes[0, colours + 1]
    for i in range(sums.shape[0]):
        for j in range(COLOUR_CHANNELS):
            products[:] = 0
            for colour in range(colours):
                _channel(planes[i, colour], weight[:, j], shifts[i, colour, j], channel)
                highest, d_highest = sums[i, COLOUR_CHANNELS + j], d_sums[i, COLOUR_CHANNELS + j]
                _derivative(channel, highest, d_sums[i, j], d_highest)
                for q in range(f):
                    for cell in range(channel.shape[0]):
                        products[q, cell] += channel[cell] * planes[i, colour, q, cell]
                total = _sum(channel)
                d_bias[j] += total
                for s in range(scalar_columns.shape[0]):
                    d_weight[f + s, j] += total * scalars[i, scalar_columns[s, colour]]
            for q in range(f):
                d_weight[q, j] += _sum(products[q])


@compiled
def _derivative(channel, highest, d_total, d_highest):
    """Replace a channel of one colour by the derivative of the loss by its products; `d_highest` becomes 0 where it is used."""
    zero = np.float32(0)
    for cell in range(channel.shape[0]):
        is_highest = channel[cell] == highest[cell]
        d = d_total[cell] + (d_highest[cell] if is_highest else zero)
        d_highest[cell] = zero if is_highest else d_highest[cell]
        channel[cell] = d if channel[cell] > zero else zero


@compiled
def _sum(x):
    """Return the sum of `x`, float32 (C,); adds up four parts to shorten the chain of additions."""
    a, b, c, d = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
    rest = x.shape[0] % 4
    for k in range(rest):
        a += x[k]
    for k in range(rest, x.shape[0], 4):
        a, b, c, d = a + x[k], b + x[k + 1], c + x[k + 2], d + x[k + 3]
    return (a + b) + (c + d)
