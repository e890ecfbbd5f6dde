"""Charts of lines, bands and points as inline SVG, for pages that give colours to the classes `c0` to `c5`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from garden_core.render.svg import tag, text, title

WIDTH, HEIGHT = 380, 230
LEFT, RIGHT, TOP, BOTTOM = 52, 366, 10, 190  # edges of the plot in the picture
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
        notes: names of the points, which are marked where there are notes.
        radii: float (K,) of the marks; all equal if None.
    """

    x: np.ndarray
    y: np.ndarray
    low: np.ndarray | None = None
    high: np.ndarray | None = None
    notes: Sequence[str] = ()
    radii: np.ndarray | None = None


def line_chart(
    lines: Sequence[Line],
    x_label: str,
    x_form: Form,
    y_form: Form,
    y_range: tuple[float, float] | None = None,
    level: tuple[float, float, str] | None = None,
    x_range: tuple[float, float] | None = None,
) -> str:
    """Return a chart of lines.

    Args:
        lines: the lines; line i has the class `c{i % 6}`.
        x_label: name of the x axis.
        x_form, y_form: format the numbers at the axes.
        y_range: range of y; if None the range of the lines and bands, without what is far beyond the middle 96 %.
        level: a straight line to compare with: its y at the left and at the right edge, and its name; none if None.
        x_range: range of x; from 0 to the largest x if None.
    """
    largest = max((float(line.x.max()) for line in lines if len(line.x)), default=1.0)
    left, right = x_range or (0.0, largest or 1.0)
    low, high = y_range or _range(lines)

    def across(x: Any) -> Any:
        return LEFT + (x - left) / (right - left) * (RIGHT - LEFT)

    def up(y: Any) -> Any:
        return BOTTOM - (y - low) / (high - low) * (BOTTOM - TOP)

    bands, curves = [], []
    for i, line in enumerate(lines):
        x, y = across(line.x), up(line.y)
        titles = [title(note) for note in line.notes]
        radii = np.full(len(x), 3.5) if line.radii is None else line.radii
        for run in _runs(line.y):
            curves.append(tag("path", d=_path(x[run], y[run]), **_look(i)))
            if line.low is not None and line.high is not None:
                around = np.append(up(line.low[run]), up(line.high[run])[::-1])
                outline = _path(np.append(x[run], x[run][::-1]), around)
                bands.append(tag("path", d=outline, class_=f"band c{i % COLOURS}"))
            for k in run if titles or len(run) == 1 else ():  # a point alone has no line
                place = {"cx": float(x[k]), "cy": float(y[k]), "r": float(radii[k])}
                curves.append(tag("circle", *titles[k : k + 1], **place, class_=f"dot c{i % COLOURS}"))
    if level is not None:
        first, last = up(np.array(level[:2])).tolist()
        bands.append(tag("path", d=f"M{LEFT} {first:.1f}L{RIGHT} {last:.1f}", class_="level"))
        bands.append(text(LEFT + 4, first - 8, level[2], SIZE - 1, class_="quiet"))

    quiet = {"text_anchor": "middle", "class_": "quiet"}
    parts = [text((LEFT + RIGHT) / 2, HEIGHT - 9, x_label, SIZE, **quiet)]
    for tick in _ticks(left, right):
        at = float(across(tick))
        parts.append(tag("path", d=f"M{at:.1f} {BOTTOM}v4", class_="grid"))
        parts.append(text(at, BOTTOM + 12, x_form(tick), SIZE, **quiet))
    for tick in _ticks(low, high):
        at = float(up(tick))
        parts.append(tag("path", d=f"M{LEFT} {at:.1f}H{RIGHT}", class_="grid"))
        parts.append(text(LEFT - 6, at, y_form(tick), SIZE, text_anchor="end", class_="quiet"))
    # a picture in the picture cuts off what is outside of it
    frame = {"x": LEFT - 5, "y": TOP - 5, "width": RIGHT - LEFT + 10, "height": BOTTOM - TOP + 10}
    parts.append(tag("svg", *bands, *curves, **frame, viewBox=" ".join(map(str, frame.values()))))
    return tag("svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}")


def swatch(i: int) -> str:
    """Return a small picture of line i, for a legend."""
    return tag("svg", tag("path", d="M0 5H26", **_look(i)), width=26, height=10, aria_hidden="true")


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


def _look(i: int) -> dict[str, str | None]:
    return {"class_": f"line c{i % COLOURS}", "stroke_dasharray": DASHES[i % len(DASHES)] or None}


def _path(x: np.ndarray, y: np.ndarray) -> str:
    limit = 10 * (WIDTH + HEIGHT)  # far outside, where it is cut off anyway
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, np.clip(y, -limit, limit), strict=True))


def _runs(y: np.ndarray) -> list[np.ndarray]:
    """Return the indexes of points without a gap between them."""
    finite = np.flatnonzero(np.isfinite(y))
    return [run for run in np.split(finite, np.flatnonzero(np.diff(finite) > 1) + 1) if len(run)]


def _range(lines: Sequence[Line]) -> tuple[float, float]:
    """Return the range of all lines; of their middle 96 % with some room if the rest is far beyond."""
    parts = [part for line in lines for part in line[1:4] if part is not None]
    numbers = np.concatenate([*parts, []])
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return 0.0, 1.0
    low, inner_low, inner_high, high = np.quantile(numbers, (0, 0.02, 0.98, 1)).tolist()
    room = inner_high - inner_low
    if room > 0 and high - low > 3 * room:
        low, high = max(low, inner_low - 0.3 * room), min(high, inner_high + 0.3 * room)
    if high - low <= 1e-9 * max(abs(low), abs(high)):
        low, high = low - (abs(low) / 2 or 0.5), high + (abs(high) / 2 or 0.5)
    return low, high


def _ticks(low: float, high: float) -> list[float]:
    """Return three to six round numbers from `low` to `high`."""
    rough = (high - low) / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= 0.999 * rough)
    first, last = math.ceil(low / step - 1e-6), math.floor(high / step + 1e-6)
    return [step * i for i in range(first, last + 1)]
