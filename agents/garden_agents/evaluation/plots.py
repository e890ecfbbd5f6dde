"""Plots in the project's style."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from garden_core.files.disk import write_atomically

COLOURS = ("#b5452c", "#2f6f8f", "#6b8e23", "#8a5a9e", "#c58a1b", "#5f6b73")


@contextlib.contextmanager
def plot(path: Path, columns: int, size: tuple[float, float], **subplots: Any) -> Iterator[Any]:
    """Yield an array of `columns` axes, side by side; save the figure to `path` when the block ends."""
    import font_lato
    import matplotlib
    from matplotlib import font_manager
    from matplotlib.figure import Figure  # draws with Agg, whatever backend is configured

    font_manager.fontManager.addfont(font_lato.font_files["Lato"])
    style: dict[Any, Any] = {
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
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, dpi=150, layout="constrained")
        yield figure.subplots(1, columns, squeeze=False, **subplots)[0]
        drawn = io.BytesIO()
        figure.savefig(drawn, format=path.suffix.removeprefix("."))
    # A link at `path`, in a folder that somebody else has prepared, is replaced and not followed.
    write_atomically(path, drawn.getvalue())
