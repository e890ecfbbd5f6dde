"""Games and agents by name, as command lines give them."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import garden_core
from agents.mcts import MCTSAgent
from garden_core.game import Game
from garden_core.policies import GreedyPolicy, Policy, RandomPolicy

__all__ = ["NETWORK", "SUFFIX", "load_agent", "make_game"]

NETWORK, SUFFIX = "network.safetensors", ".safetensors"  # the network in the folder of a run
_SEARCH = re.compile(r"(?:(?P<network>.+)-)?mcts:(?:(?P<count>\d+)|(?P<seconds>\d+(?:\.\d+)?)s)")


def make_game(name: str, num_players: int | None, options: dict[str, str]) -> Game:
    """Return the game with options given as text on a command line."""
    values: dict[str, object] = {key: _value(text) for key, text in options.items()}
    if num_players is not None:
        values["num_players"] = num_players
    return garden_core.make(name, **values)


def _value(text: str) -> object:
    try:
        return json.loads(text.lower())
    except json.JSONDecodeError:
        return text


def load_agent(name: str, game: Game, seed: int = 0) -> Policy:
    """Return the agent called `name`.

    - "random" and "greedy";
    - "mcts:400", tree search with so many simulations a move, or "mcts:0.5s" with so much time;
    - "ppo", the trained network that comes with the game, and "ppo-mcts:100", search that it guides;
    - the folder of a training run, or a network's file (.safetensors); with "-mcts:100" behind it, search likewise;
    - "module:attribute", a callable `make(game, seed) -> policy`, where a policy is a callable
      `policy(batch, rows) -> actions`.

    Raises:
        ValueError: if there is no such agent, or it was trained for other spaces.
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
        network: Any = load_agent(search["network"], game, seed) if search["network"] else None
        if network is not None and not hasattr(network, "judge"):
            raise ValueError(f"{name}: only a trained network can guide search, not {search['network']!r}")
        if network is not None and network.foresees == "margin":
            raise ValueError(
                f"{name}: this network foresees margins, as its reward was mostly margin when it was kept; only one "
                "that foresees outcomes can guide search: try a higher --outcome"
            )
        return MCTSAgent(**limit, network=network, seed=seed)
    path = Path(name)
    if name == "ppo" or (path / NETWORK).is_file() or (path.suffix == SUFFIX and path.is_file()):
        from agents import trained  # torch is loaded where a network plays, and not for the others

        return trained.load(game, seed=seed) if name == "ppo" else trained.NetworkAgent.load(path, game, seed)
    module, _, attribute = name.partition(":")
    if attribute:
        return _imported(module, attribute)(game, seed)
    raise ValueError(
        f"unknown agent {name!r}; known are random, greedy, mcts:400 (simulations a move), mcts:0.5s (time), ppo, "
        "ppo-mcts:100, the folder of a finished run, a network's file (.safetensors) and module:attribute"
    )


def _imported(module: str, attribute: str) -> Callable[[Game, int], Policy]:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ValueError(f"agent {module}:{attribute} cannot be imported: {error}") from None
    if not hasattr(found, attribute):
        raise ValueError(f"agent {module}:{attribute}: the module has no {attribute!r}")
    return getattr(found, attribute)
