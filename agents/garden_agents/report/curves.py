"""The learning curves of a run."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from garden_agents.matches.meet import wilson
from garden_agents.plots import COLOURS, GREY
from garden_agents.report.run_files import TEAM
from garden_core.checks import one_line


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
