"""Games and agents by name, as command lines give them."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import garden_core
from agents.mcts import MCTSAgent
from garden_core.game import Game
from garden_core.policies import GreedyPolicy, Policy, RandomPolicy

__all__ = ["load_agent", "make_game"]


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

    "random"; "greedy"; "mcts:400", tree search with so many simulations a move; the folder of a training run or
    its model.zip; or "module:attribute", a callable `make(game, seed) -> policy`, where a policy is a callable
    `policy(batch, rows) -> actions`.

    Raises:
        ValueError: if there is no such agent, or it was trained for other spaces.
    """
    if name == "random":
        return RandomPolicy(seed)
    if name == "greedy":
        return GreedyPolicy(seed)
    if name.startswith("mcts:") and name[5:].isdigit():
        return MCTSAgent(int(name[5:]), seed=seed)
    path = Path(name)
    if (path / "model.zip").is_file() or (path.suffix == ".zip" and path.is_file()):
        from agents.ppo import PPOAgent

        return PPOAgent.load(path, game, seed)
    module, _, attribute = name.partition(":")
    if attribute:
        return getattr(importlib.import_module(module), attribute)(game, seed)
    raise ValueError(
        f"unknown agent {name!r}; known are random, greedy, mcts:400 (simulations a move), the folder of a "
        "finished run, a model.zip and module:attribute"
    )
