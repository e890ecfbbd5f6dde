"""Agents that strangers name: in a request, on a page, in a link or in a file. Games: `garden_core.registry.untrusted_game`."""

from __future__ import annotations

import re
from collections.abc import Container

from garden_core.checks import short
from garden_core.errors import UntrustedError

_BUILT_IN = re.compile(r"random|greedy|network|ppo|((network|ppo)-)?mcts:([0-9]{1,4}|[0-9](\.[0-9]{1,3})?s)")


def is_built_in(name: str) -> bool:
    """Return whether an agent opens no file, imports no other code, and takes seconds for a move at most."""
    return _BUILT_IN.fullmatch(name) is not None


def untrusted_agent(name: str, own: Container[str] = ()) -> str:
    """Return the name of an agent that a stranger chose, if it is a built-in one within limits, or one of `own`.

    Args:
        name: the agent's name, as the stranger wrote it.
        own: names of agents that the caller allows.

    Raises:
        TypeError: if it is no text.
        UntrustedError: for any other agent.

    Example:
        >>> from garden_agents.untrusted import untrusted_agent
        >>> untrusted_agent("mcts:100")
        'mcts:100'
    """
    if not isinstance(name, str):
        raise TypeError(f"an agent's name is a text, not {short(name)}")
    if not (is_built_in(name) or name in own):
        raise UntrustedError(
            f"agent {short(name)} is not available here; these are: random, greedy, network, and mcts:N or network-mcts:N with N up to 9999"
        )
    return name
