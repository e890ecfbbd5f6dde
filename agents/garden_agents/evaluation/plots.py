"""Plots in the project's style, as files and for pages."""

from __future__ import annotations

import contextlib
import io
import itertools
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from garden_agents.evaluation.matches import wilson
from garden_agents.evaluation.run_files import TEAM
from garden_core.checks import one_line
from garden_core.files.disk import write_atomically

COLOURS = ("#b5452c", "#2f6f8f", "#6b8e23", "#8a5a9e", "#c58a1b", "#5f6b73")
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


def learning_curves(
    left: Any, right: Any, columns: Mapping[str, np.ndarray], games: int | None, chance: float | None
) -> None:
    """Plot win rates, or a team's scores, over decisions on one of two axes and over time on the other.

    Args:
        left, right: the axes, which share y.
        columns: float (K,): "decisions" learned from, "seconds" of training, and by agent the rates against it.
        games: number of games behind each win rate, for 95 % intervals; None for a team's scores, or if unknown.
        chance: win rate among equal players; None for a team, or if unknown.
    """
    decisions, minutes = columns["decisions"], columns["seconds"] / 60
    names = [name for name in columns if name not in ("decisions", "seconds")]
    looks = itertools.product(("-", "--"), COLOURS)
    for name, (line, colour) in zip(names, looks, strict=False):
        rates = columns[name]
        finite = np.isfinite(rates)
        for axes, x in ((left, decisions), (right, minutes)):
            axes.plot(x, rates, f"o{line}", color=colour, label=f"against {one_line(name, 60)}")
            if games:
                low, high = np.array([wilson(rate * games, games) for rate in rates]).T
                axes.fill_between(x, low, high, where=finite, color=colour, alpha=0.14, linewidth=0)
    team = names == [TEAM]
    left.set(xlabel="decisions learned from", ylabel="team score" if team else "win rate")
    right.set(xlabel="minutes of training")
    if not team:
        left.set(ylim=(0, 1.02))
    for axes in (left, right):
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=6)
        if chance:
            axes.axhline(chance, color=GREY, linestyle=":", label=f"chance, {chance:.0%}")
    if names and not team:
        left.legend()
