"""Games and agents by name, as command lines give them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from garden_agents.networks import NETWORK, SUFFIX
from garden_agents.search.agent import MCTSAgent
from garden_core.checks import short
from garden_core.data import DataFile
from garden_core.files import is_file
from garden_core.game import Game
from garden_core.plugins import imported
from garden_core.policies import GreedyPolicy, Policy, RandomPolicy
from garden_core.registry import game_class

__all__ = ["is_built_in", "load_agent", "make_game"]

_BUILT_IN = re.compile(r"random|greedy|ppo|(ppo-)?mcts:([0-9]{1,4}|[0-9]{1,2}(\.[0-9]{1,3})?s)")
_SEARCH = re.compile(r"(?:(?P<network>.+)-)?mcts:(?:(?P<count>\d+)|(?P<seconds>\d+(?:\.\d+)?)s)")


def make_game(
    name: str,
    num_players: int | None,
    options: dict[str, str],
    data_files: Mapping[str, DataFile] | None = None,
) -> Game:
    """Return the game with options given as text on a command line.

    Args:
        name: of an installed game, or "module:Class".
        data_files: by option, in place of the paths in `options`; given when these come from a file, whose paths are
            not to be opened.

    Raises:
        ValueError, TypeError: as `garden_core.make`, or for a path in a file's options.
    """
    values: dict[str, object] = {key: _value(text) for key, text in options.items()}
    if num_players is not None:
        values["num_players"] = num_players
    kind = game_class(name)
    if data_files is not None:
        paths = [option.name for option in kind.options if option.is_file and values.get(option.name)]
        missing = sorted(set(paths) - set(data_files))
        if missing:
            raise ValueError(f"the content of the data file {', '.join(missing)} is missing")
        values |= data_files
    return kind(**values)


def is_built_in(name: str) -> bool:
    """Whether an agent's name opens no file, imports no code but the project's own, and stands for no endless search."""
    return _BUILT_IN.fullmatch(name) is not None


def _value(text: str) -> object:
    try:
        return json.loads(text.lower())
    except (ValueError, RecursionError):  # also an integer of thousands of digits
        return text


def load_agent(
    name: str, game: Game, seed: int = 0, allow_other_options: bool = False, threads: int = 1
) -> Policy:
    """Return the agent called `name`.

    - "random" and "greedy";
    - "mcts:400", tree search with so many simulations a move, or "mcts:0.5s" with so much time;
    - "ppo", the trained network that comes with the game, and "ppo-mcts:100", search that it guides;
    - the folder of a training run, or a network's file (.safetensors); with "-mcts:100" behind it, search likewise;
    - "module:attribute", a callable `make(game, seed) -> policy`, where a policy is a callable
      `policy(batch, rows) -> actions`.

    Args:
        allow_other_options: take networks that were made for other options or data too.
        threads: of a search without a network.

    Raises:
        ValueError: if there is no such agent, or its network was made for another game, other options or data.
    """
    if name == "random":
        return RandomPolicy(seed)
    if name == "greedy":
        return GreedyPolicy(seed)
    search = _SEARCH.fullmatch(name)
    if search:
        limit: Any = (
            {"seconds": float(search["seconds"])}
            if search["seconds"]
            else {"simulations": int(search["count"])}
        )
        network: Any = None
        if search["network"]:
            network = load_agent(search["network"], game, seed, allow_other_options)
        if network is not None and not hasattr(network, "evaluate"):
            raise ValueError(f"{name}: only a trained network can guide search, not {search['network']!r}")
        if network is not None and network.value_target == "margin":
            raise ValueError(
                f"{name}: this network value_target margins, as its reward was mostly margin when it was kept; only one "
                "that value_target outcomes can guide search: try a higher --outcome"
            )
        return MCTSAgent(**limit, threads=threads, network=network, seed=seed)
    path = Path(name)
    if name == "ppo" or is_file(path / NETWORK) or (path.suffix == SUFFIX and is_file(path)):
        from garden_agents.networks import (
            network_agent,  # torch is loaded where a network plays, and not for the others
        )

        other = {"allow_other_options": allow_other_options}
        if name == "ppo":
            return network_agent.load(game, seed=seed, **other)
        return network_agent.NetworkAgent.load(path, game, seed, **other)
    if name.partition(":")[2]:
        return imported(name, "agent")(game, seed)
    raise ValueError(
        f"unknown agent {short(name)}; known are random, greedy, mcts:400 (simulations a move), mcts:0.5s (time), ppo, "
        "ppo-mcts:100, the folder of a finished run, a network's file (.safetensors) and module:attribute"
    )
