"""The games of a batch: variants that go together, and the seats that each has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from garden_core.checks import as_seat, short
from garden_core.game import Game
from garden_core.options import REWARD
from garden_core.registry import AnyGame, as_game

NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


def games_of(game: AnyGame | Sequence[AnyGame], options: Mapping[str, Any] = NO_OPTIONS) -> tuple[Game, ...]:
    """Return the games that a batch plays, of one game or of a list of variants; `options` are those of classes and names.

    Raises:
        TypeError: for anything but games, Game classes and names, and for options of a game, which has them already.
        ValueError: for an empty list, or variants that do not go together: the class, the shapes and parts of observations and
            actions, the kind of reward and whether the players are a team must be the same. It says what differs.
    """
    if not isinstance(game, list | tuple):
        return (as_game(cast(AnyGame, game), dict(options)),)
    games = tuple(as_game(each, dict(options)) for each in game)
    if not games:
        raise ValueError("a batch needs at least one game")
    first = _common(games[0])
    for other in games[1:]:
        for name, value in _common(other).items():
            if value != first[name]:
                raise ValueError(f"{other} and {games[0]} cannot be in one batch: they differ in {name}")
    return games


def _common(game: Game) -> dict[str, Any]:
    parts = (game.observation_parts, game.hidden_parts, game.action_parts)
    observed, hidden, acted = ([(part.name, part.size, part.private) for part in each] for each in parts)
    return {
        "class": type(game),
        "the actions": (game.num_actions, acted),
        "the observation": (game.observation_shape, observed),
        "what is hidden": (game.hidden_size, hidden),
        "the kind of reward": game.option_values[REWARD.name],
        "cooperation": game.cooperative,
    }


def params_of(games: Sequence[Game]) -> np.ndarray:
    """Return the params of all games, records (games,)."""
    return games[0].params if len(games) == 1 else np.concatenate([game.params for game in games])


def fixed_variants(variants: Any, n: int, number: int) -> np.ndarray:
    """Return the variant of each row, int64 (n,), -1 for a drawn one.

    Args:
        variants: int (n,), or None if all are drawn.
        n: number of rows.
        number: number of variants.

    Raises:
        ValueError: for anything else.
    """
    if variants is None:
        return np.full(n, -1)
    given = np.asarray(variants)
    if given.shape != (n,) or given.dtype.kind not in "iu" or not ((given >= 0) & (given < number)).all():
        raise ValueError(f"variants must be {n} indexes of {number} variants, not {short(variants)}")
    return given.astype(np.int64)


def seats_of(player: Any, states: np.ndarray, num_players: np.ndarray) -> np.ndarray:
    """Return one seat for each state, int64 (n,).

    Args:
        player: a seat for all, or an array with one for each.
        states: state records (n,).
        num_players: int64 (variants,).

    Raises:
        ValueError: for a seat that a state's game does not have.
    """
    count, seats = len(states), np.asarray(player)
    if seats.ndim and (seats.shape != (count,) or seats.dtype.kind not in "iu"):
        raise ValueError(
            f"player must be a seat, or whole numbers ({count},), not {seats.dtype} {seats.shape}"
        )
    least = int(num_players.min())
    if not seats.ndim and len(num_players) == 1:
        return np.full(count, as_seat(player, least, "player"))
    each = num_players[states["variant"]] if len(num_players) > 1 else least
    if not seats.ndim:
        seats = np.full(count, as_seat(player, int(num_players.max()), "player"))
    if count and not ((seats >= 0) & (seats < each)).all():
        of_row = ", and a seat of the row's game" if len(num_players) > 1 else ""
        raise ValueError(f"player must be 0 to {int(num_players.max()) - 1}{of_row}, not {short(player)}")
    return np.ascontiguousarray(seats, np.int64)


def check_variants(states: np.ndarray, number: int) -> None:
    """Raise ValueError unless the states' variants are below `number`."""
    if len(states) and int(states["variant"].max()) >= number:
        raise ValueError(
            f"a state is of variant {int(states['variant'].max())}, and this has {number} variant{'s' * (number > 1)}: it is of another batch"
        )
