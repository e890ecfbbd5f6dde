"""Code that a caller names: `module:attribute`, and agents by name, which other packages announce.

Never pass a name that was read from a file to these functions: they import code.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.metadata import entry_points
from typing import Any

from garden_core.checks import one_line, short

AGENTS = "garden_core.agents"
"""Entry-point group of functions `load_agent(name, game, seed) -> policy`, which raise ValueError for other names."""

INSTALL = "with an installed garden-envs; in a checkout: pip install --editable ."
"""Where games and agents come from, for messages where nothing is installed."""


def imported(name: str, what: str) -> Any:
    """Return what `module:attribute` names; the module may lie in the current folder.

    Args:
        what: the kind of thing, for the message.

    Raises:
        ValueError: if there is no such module or attribute.
    """
    module, _, attribute = name.partition(":")
    if (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)  # last, so that a file there replaces nothing that is installed
    try:
        found = importlib.import_module(module)
    except (ImportError, ValueError, TypeError) as error:
        raise ValueError(f"{what} {one_line(name)} cannot be imported: {one_line(error)}") from error
    try:
        return getattr(found, attribute)
    except AttributeError:
        raise ValueError(f"{what} {one_line(name)}: the module has no {short(attribute)}") from None


def load_agent(name: str, game: Any, seed: int = 0) -> Any:
    """Return the policy called `name` for a game, from the packages that announce agents.

    Raises:
        ValueError: if none of them knows the name, or none is installed.
    """
    reasons = []
    for point in entry_points(group=AGENTS):
        try:
            load = point.load()
        except ImportError as error:
            reasons.append(f"{point.value} cannot be imported ({error})")
            continue
        try:
            return load(name, game, seed)
        except ValueError as error:
            reasons.append(str(error))
    if not reasons:
        reasons.append(
            "no package announces agents by the entry-point group garden_core.agents. 'random' and 'greedy' are always "
            f"there; the others come {INSTALL}"
        )
    raise ValueError(f"no agent {short(name)}: {'; '.join(reasons)}")
