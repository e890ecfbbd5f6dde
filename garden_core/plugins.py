"""Code loaded by name: `module:attribute`, and agents that other packages announce.

Never pass a name from an untrusted file to these functions: they import code.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.metadata import entry_points
from typing import Any

from garden_core.checks import one_line, short

GAMES = "garden_core.games"
"""Entry-point group of games."""
AGENTS = "garden_core.agents"
"""Entry-point group of functions `load_agent(name, game, seed) -> policy`, which raise ValueError for unknown names."""

EXTRA = "pip install '.[{}]' in a checkout of garden-envs"
"""How to install an extra, for messages."""
INSTALL = "with an installed garden-envs; in a checkout: pip install --editable ."
"""How to install games and agents, for messages where none is installed."""


def imported(name: str, what: str) -> Any:
    """Return the object that `module:attribute` names; the current folder is searched too.

    Args:
        what: the kind of object, for the message.

    Raises:
        ValueError: if there is no such module or attribute.
    """
    module, _, attribute = name.partition(":")
    if (folder := os.getcwd()) not in sys.path:
        sys.path.append(folder)  # last, so that no file there shadows an installed module
    try:
        imported_module = importlib.import_module(module)
    except (ImportError, ValueError, TypeError) as error:
        raise ValueError(f"{what} {one_line(name)} cannot be imported: {one_line(error)}") from error
    try:
        return getattr(imported_module, attribute)
    except AttributeError:
        raise ValueError(f"{what} {one_line(name)}: the module has no {short(attribute)}") from None


def load_agent(name: str, game: Any, seed: int = 0) -> Any:
    """Return the policy called `name` for a game, from the first package that knows it.

    Raises:
        ValueError: if no package knows the name, or none is installed.
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
