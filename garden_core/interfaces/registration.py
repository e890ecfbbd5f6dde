"""Registration of games with Gymnasium and PettingZoo, under ids made of name and version."""

from __future__ import annotations

from typing import Any

from garden_core.game import Game
from garden_core.registry import game_class, list_games


def gymnasium_id(game: type[Game]) -> str:
    """Return the id of a game's Gymnasium environments, for example "garden/Mars-v0"."""
    return f"garden/{game.name.capitalize()}-v{game.version}"


def pettingzoo_id(game: type[Game]) -> str:
    """Return the id of a game's PettingZoo environment, for example "garden/mars-v0"."""
    return f"garden/{game.name}-v{game.version}"


def register_environments(*games: type[Game]) -> None:
    """Register games with Gymnasium, and with PettingZoo versions that have a registry; repeated calls have no effect.

    Args:
        *games: the Game classes; by default all installed games, which are loaded. A class that is defined again, as in a
            notebook, replaces its earlier definition.

    Raises:
        ValueError: if another class is registered under the same name and version.

    Example:
        >>> import gymnasium
        >>> from garden_core.interfaces import register_environments
        >>> register_environments()
        >>> gymnasium.make("garden/Cacti-v0").action_space
        Discrete(35)
    """
    import gymnasium
    import pettingzoo

    for game in games or map(game_class, list_games()):
        if not _is_registered(gymnasium.registry, gymnasium_id(game), game):
            gymnasium.register(
                gymnasium_id(game),
                entry_point="garden_core.interfaces.gymnasium_env:Env",
                vector_entry_point="garden_core.interfaces.gymnasium_env:VectorEnv",
                kwargs={"game": _named(game)},
                order_enforce=False,  # the environments check that; without wrappers `action_masks()` is available
                disable_env_checker=True,
            )
        aec_registry = getattr(pettingzoo, "aec_registry", None)
        if aec_registry is not None and not _is_registered(aec_registry, pettingzoo_id(game), game):
            entry_point = "garden_core.interfaces.pettingzoo_env:env"
            pettingzoo.register("aec", pettingzoo_id(game), entry_point, kwargs={"game": _named(game)})


def _is_registered(registry: dict[str, Any], name: str, game: type[Game]) -> bool:
    """Return whether a game is registered; remove an earlier definition of its class."""
    known = registry[name].kwargs.get("game") if name in registry else None
    if known is None or known in (game, _named(game)):
        return known is not None
    if not (isinstance(known, type) and _place(known) == _place(game)):
        raise ValueError(
            f"{name} is registered for another class, {known}: give {game.__qualname__} a name of its own"
        )
    del registry[name]
    return False


def _place(game: type[Game]) -> tuple[str, str]:
    return game.__module__, game.__qualname__


def _named(game: type[Game]) -> type[Game] | str:
    """Return "module:Class", which a spec can store as JSON, or the class if it cannot be imported by that name."""
    importable = game.__module__ != "__main__" and "<" not in game.__qualname__
    return f"{game.__module__}:{game.__qualname__}" if importable else game
