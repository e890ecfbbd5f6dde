"""Charts as inline SVG, for pages that give colours to the classes `c0` to `c5`: lines with bands, points, bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from garden_core.svg import tag, text, title

__all__ = ["Line", "bars", "count", "line_chart", "number", "percent", "points", "swatch"]

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 14, 10, 40
SIZE = 12  # of texts
COLOURS = 6
DASHES = ("", "6 3", "2 3", "8 3 2 3", "1 4")

Form = Callable[[float], str]


class Line(NamedTuple):
    """A line of a chart, K points long.

    Attributes:
        x: float (K,), finite.
        y: float (K,); not finite where there is nothing to draw.
        low, high: float (K,), the band around it; None for no band.
        notes: what each point is called; points are marked where there are notes.
    """

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    notes: Sequence[str] = ()


def line_chart(
    lines: Sequence[Line],
    x_label: str,
    x_form: Form,
    y_form: Form,
    y_range: tuple[float, float] | None = None,
    level: tuple[float, str] | None = None,
) -> str:
    """Return a chart of lines from x = 0 on.

    Args:
        lines: the lines; line i has the class `c{i % 6}`.
        x_label: what x is.
        x_form, y_form: the numbers at the axes, as text.
        y_range: range of y; if None that of the lines and bands, without what lies far beyond the middle 96 %.
        level: a horizontal line, where and what it is called; none if None.
    """
    right = max((float(line.x.max()) for line in lines if len(line.x)), default=1.0) or 1.0
    plot = _Plot((0.0, right), y_range or _range(lines))
    inside = []
    for i, line in enumerate(lines):
        for run in _runs(line.y):
            x, y = plot.x(line.x[run]), plot.y(line.y[run])
            if line.low is not None and line.high is not None:
                ends = np.concatenate([plot.y(line.low[run]), plot.y(line.high[run])[::-1]])
                inside.append(
                    tag("path", d=_path(np.concatenate([x, x[::-1]]), ends), class_=f"band c{i % COLOURS}")
                )
    if level is not None:
        at = float(plot.y(np.array([level[0]]))[0])
        inside.append(tag("path", d=f"M{LEFT} {at:.1f}H{WIDTH - RIGHT}", class_="level"))
        inside.append(text(LEFT + 4, at - 8, level[1], SIZE - 1, class_="quiet"))
    for i, line in enumerate(lines):
        look = {"class_": f"line c{i % COLOURS}", "stroke_dasharray": DASHES[i % len(DASHES)] or None}
        for run in _runs(line.y):
            x, y = plot.x(line.x[run]), plot.y(line.y[run])
            inside.append(tag("path", d=_path(x, y), **look))
            alone = len(x) == 1 and not line.notes
            inside += [_dot(x[0], y[0], 2, i)] if alone else []
        for x, y, note in zip(plot.x(line.x), plot.y(line.y), line.notes, strict=False):
            inside += [_dot(x, y, 3.5, i, note)] if math.isfinite(y) else []
    return plot.drawn(inside, x_label, "", x_form, y_form)


def points(
    x: np.ndarray,
    y: np.ndarray,
    shares: np.ndarray,
    notes: Sequence[str],
    span: tuple[float, float],
    labels: tuple[str, str],
) -> str:
    """Return a chart of points beside the diagonal, where x and y are equal.

    Args:
        x, y: float (K,).
        shares: float (K,), areas of the points; the largest is drawn largest.
        notes: what each point is called.
        span: range of both axes.
        labels: what x and y are.
    """
    plot = _Plot(span, span)
    ends = [float(side(np.array([end]))[0]) for end in span for side in (plot.x, plot.y)]
    inside = [tag("path", d="M{:.1f} {:.1f}L{:.1f} {:.1f}".format(*ends), class_="level")]
    radii = 2.5 + 7 * np.sqrt(shares / max(float(shares.max(initial=0)), 1e-9))
    for each in zip(plot.x(x), plot.y(y), radii, notes, strict=True):
        inside.append(_dot(*each[:3], 1, each[3]))
    return plot.drawn(inside, *labels, number, number)


def bars(
    heights: np.ndarray, notes: Sequence[str], span: tuple[float, float], x_label: str, y_form: Form
) -> str:
    """Return a chart of bars that share an axis evenly.

    Args:
        heights: float (K,), not negative.
        notes: what each bar is called.
        span: range of the axis.
        x_label: what x is.
        y_form: the numbers at the axis of heights, as text.
    """
    plot = _Plot(span, (0.0, max(float(heights.max(initial=0)) * 1.05, 1e-9)))
    edges, tops = plot.x(np.linspace(*span, len(heights) + 1)), plot.y(heights)
    inside = [
        tag(
            "rect",
            title(note),
            x=float(left) + 1,
            y=float(top),
            width=float(right - left) - 2,
            height=HEIGHT - BOTTOM - float(top),
            class_="bar c1",
        )
        for left, right, top, note in zip(edges[:-1], edges[1:], tops, notes, strict=True)
    ]
    return plot.drawn(inside, x_label, "", number, y_form)


def swatch(i: int) -> str:
    """Return a small picture of line i, for a legend."""
    look = {"class_": f"line c{i % COLOURS}", "stroke_dasharray": DASHES[i % len(DASHES)] or None}
    return tag("svg", tag("path", d="M0 5H26", **look), width=26, height=10, aria_hidden="true")


# --- numbers as text ---


def count(x: float) -> str:
    """Return a large number in short, as 1.5M."""
    for size, unit in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(x) >= 0.9995 * size:
            return f"{x / size:.3g}{unit}"
    return f"{x:.3g}"


def percent(x: float) -> str:
    """Return a share in percent."""
    return f"{100 * x:.0f}%"


def number(x: float) -> str:
    """Return a number to five digits at most."""
    return count(x) if abs(x) >= 10_000 else f"{x:.5g}"


# --- within a chart ---


class _Plot:
    """The place of a chart's numbers."""

    def __init__(self, across: tuple[float, float], up: tuple[float, float]) -> None:
        self.across, self.up = across, up

    def x(self, x: np.ndarray) -> np.ndarray:
        low, high = self.across
        return LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def y(self, y: np.ndarray) -> np.ndarray:
        low, high = self.up
        return HEIGHT - BOTTOM - (y - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def drawn(self, inside: Sequence[str], x_label: str, y_label: str, x_form: Form, y_form: Form) -> str:
        """Return the chart: grid, numbers, and what is inside, cut off at the edges."""
        bottom = HEIGHT - BOTTOM
        parts = []
        for tick, y in _ticks(*self.up, self.y):
            parts.append(tag("path", d=f"M{LEFT} {y:.1f}H{WIDTH - RIGHT}", class_="grid"))
            parts.append(text(LEFT - 6, y, y_form(tick), SIZE, text_anchor="end", class_="quiet"))
        for tick, x in _ticks(*self.across, self.x):
            parts.append(tag("path", d=f"M{x:.1f} {bottom}v4", class_="grid"))
            parts.append(text(x, bottom + 12, x_form(tick), SIZE, text_anchor="middle", class_="quiet"))
        middle = (LEFT + WIDTH - RIGHT) / 2
        parts.append(text(middle, HEIGHT - 9, x_label, SIZE, text_anchor="middle", class_="quiet"))
        if y_label:
            turned = {"transform": f"translate(10 {(TOP + bottom) / 2:.0f}) rotate(-90)"}
            parts.append(tag("g", text(0, 0, y_label, SIZE, text_anchor="middle", class_="quiet"), **turned))
        # a picture in the picture cuts off what is outside of it
        frame = {"x": LEFT - 5, "y": TOP - 5, "width": WIDTH - LEFT - RIGHT + 10, "height": bottom - TOP + 10}
        parts.append(tag("svg", *inside, **frame, viewBox=" ".join(map(str, frame.values()))))
        return tag("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}")


def _dot(x: float, y: float, radius: float, i: int, note: str = "") -> str:
    place = {"cx": float(x), "cy": float(y), "r": float(radius)}
    return tag("circle", *([title(note)] if note else []), **place, class_=f"dot c{i % COLOURS}")


def _path(x: np.ndarray, y: np.ndarray) -> str:
    limit = 10 * (WIDTH + HEIGHT)  # far outside, where it is cut off anyway
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, np.clip(y, -limit, limit), strict=True))


def _runs(y: np.ndarray) -> list[np.ndarray]:
    """Return the indexes of points without a gap between them."""
    finite = np.flatnonzero(np.isfinite(y))
    return [run for run in np.split(finite, np.flatnonzero(np.diff(finite) > 1) + 1) if len(run)]


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the range of all lines; of their middle 96 % with some room if the rest lies far beyond."""
    drawn = [
        part[np.isfinite(part)]
        for line in lines
        for part in (line.y, line.low, line.high)
        if part is not None
    ]
    found = np.concatenate([*drawn, np.zeros(0)])
    if not len(found):
        return 0.0, 1.0
    low, high = float(found.min()), float(found.max())
    inner = [float(x) for x in np.quantile(found, (0.02, 0.98))]
    room = inner[1] - inner[0]
    if room > 0 and high - low > 3 * room:
        low, high = max(low, inner[0] - 0.3 * room), min(high, inner[1] + 0.3 * room)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5)
    return low, high


def _ticks(low: float, high: float, place: Callable[[np.ndarray], np.ndarray]) -> list[tuple[float, float]]:
    """Return three to six round numbers from `low` to `high`, and their places."""
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    ticks = [step * i for i in range(first, last + 1)]
    return list(zip(ticks, place(np.array(ticks)).tolist(), strict=True))
