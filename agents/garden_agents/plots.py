"""Plots in the project's style, as files and for pages."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from garden_core.files.disk import write_atomically

COLOURS = ("#b5452c", "#2f6f8f", "#6b8e23", "#8a5a9e", "#c58a1b", "#5f6b73", "#c46a8f", "#3a9c8c")
GREY = "#8a8f94"
"""Of texts and axes; `svg_plot` replaces it by the page's text colour."""


@contextlib.contextmanager
def _axes(columns: int, size: tuple[float, float], style: dict[str, Any], **subplots: Any) -> Iterator[Any]:
    import font_lato
    import matplotlib
    from matplotlib import font_manager
    from matplotlib.figure import Figure  # always draws with Agg

    font_manager.fontManager.addfont(font_lato.font_files["Lato"])
    ours: dict[Any, Any] = {
        "font.family": "Lato",
        "font.size": 10,
        "axes.titlesize": 11,
        "axes.titlelocation": "left",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": "#888888",
        "axes.axisbelow": True,
        "axes.grid": True,
        "grid.color": "#e5e5e5",
        "legend.frameon": False,
        "lines.markersize": 4,
        "text.parse_math": False,
    }
    with matplotlib.rc_context(ours | style):
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        yield figure.subplots(1, columns, squeeze=False, **subplots)[0]


@contextlib.contextmanager
def plot(path: Path, columns: int, size: tuple[float, float], **subplots: Any) -> Iterator[Any]:
    """Yield an array of `columns` axes, side by side; save the figure to `path` when the block ends."""
    with _axes(columns, size, {}, **subplots) as axes:
        yield axes
        drawn = io.BytesIO()
        axes[0].figure.savefig(drawn, format=path.suffix.removeprefix("."))
    # A link at `path`, in a folder that somebody else has prepared, is replaced and not followed.
    write_atomically(path, drawn.getvalue())


def svg_plot(draw: Callable[..., None], **subplots: Any) -> str:
    """Return two axes, which `draw` fills, as an SVG for a page, light or dark."""
    colours = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor")
    style = dict.fromkeys(colours, GREY) | {
        "svg.fonttype": "none",
        "svg.hashsalt": "garden",
        "grid.color": f"{GREY}40",
    }
    with _axes(2, (9, 3.6), style, **subplots) as axes, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # characters that the font lacks: the browser has others
        draw(*axes)
        drawn = io.StringIO()
        axes[0].figure.savefig(drawn, format="svg", transparent=True, metadata={"Date": None})
    text = drawn.getvalue()
    return text[text.index("<svg") :].replace(GREY, "currentColor")
