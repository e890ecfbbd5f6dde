"""The learning curves of a run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from garden_agents.matches.meet import wilson
from garden_agents.plots import COLOURS, GREY
from garden_agents.report.run_files import RATING, TEAM
from garden_core.checks import one_line

APART = 0.035
"""Least distance of two names of members, as a part of the axis."""


def learning_curves(
    left: Any,
    right: Any,
    columns: Mapping[str, np.ndarray],
    games: int | None = None,
    chance: float | None = None,
    members: Mapping[str, float] | None = None,
) -> None:
    """Plot ratings, win rates, or a team's scores, over decisions on one of two axes and over time on the other.

    Args:
        left, right: the axes, which share y.
        columns: float (K,): "decisions" learned from, "seconds" of training, and what evaluations measured: the columns `RATING`, by
            opponent the win rates against it, or `TEAM`.
        games: number of games behind each win rate, for 95 % intervals; None if unknown.
        chance: win rate among equal players; None if unknown.
        members: ratings of a field's members by name, drawn as lines.
    """
    from matplotlib.ticker import EngFormatter

    decisions, minutes = columns["decisions"], columns["seconds"] / 60
    names = [name for name in columns if name not in ("decisions", "seconds")]
    rated = names == [*RATING]
    if rated:
        curves = {"network": tuple(columns[name] for name in RATING)}
    else:
        curves = {name: (columns[name], *_interval(columns[name], games)) for name in names}
    for (name, curve), (line, colour) in zip(
        curves.items(), itertools.product(("-", "--"), COLOURS), strict=False
    ):
        for axes, x in ((left, decisions), (right, minutes)):
            axes.plot(x, curve[0], f"o{line}", color=colour, label=f"against {one_line(name, 60)}")
            if len(curve) == 3:
                axes.fill_between(
                    x,
                    *curve[1:],
                    where=np.isfinite(curve[1] + curve[2]),
                    color=colour,
                    alpha=0.14,
                    linewidth=0,
                )
    what = "rating" if rated else "team score" if names == [TEAM] else "win rate"
    left.set(xlabel="decisions learned from", ylabel=what)
    right.set(xlabel="minutes of training")
    left.xaxis.set_major_formatter(EngFormatter(sep=" "))
    if what == "win rate":
        left.set(ylim=(0, 1.02))
    for axes in (left, right):
        axes.set_xlim(left=0)
        axes.locator_params(axis="x", nbins=6)
        if chance and what == "win rate":
            axes.axhline(chance, color=GREY, linestyle=":", label=f"chance, {chance:.0%}")
    if names and what == "win rate":
        left.legend()
    if rated:
        member_lines(left, right, members or {})


def member_lines(left: Any, right: Any, members: Mapping[str, float]) -> None:
    """Draw the ratings of a field's members as lines on two axes that share y, with names at the right end.

    Names that would overlap are left out.
    """
    for axes in (left, right):
        axes.grid(visible=False, axis="y")
        for rating in members.values():
            axes.axhline(rating, color=GREY, alpha=0.5, linewidth=0.7)
    low, high = left.get_ylim()
    last = -np.inf
    for name, rating in sorted(members.items(), key=lambda member: member[1]):
        if rating - last > APART * (high - low):
            right.annotate(
                one_line(re.sub(r"^\w+-\d+:", "", name), 30),
                (1, rating),
                (4, 0),
                xycoords=("axes fraction", "data"),
                textcoords="offset points",
                size=7,
                va="center",
                color=GREY,
            )
            last = rating


def _interval(rates: np.ndarray, games: int | None) -> tuple[np.ndarray, ...]:
    """Return the ends of the 95 % intervals of win rates; () if the number of games is unknown."""
    return tuple(np.array([wilson(rate * games, games) for rate in rates]).T) if games else ()
