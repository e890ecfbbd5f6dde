"""Making networks from an architecture and a value target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from garden_agents.games import hints_of
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.heads import num_values
from garden_agents.networks.network import Network
from garden_core.game import Game

Kind = Literal["auto", "board", "flat", "plain"]
WIDEST = 16_384
"""Largest number of channels, and largest width of a hidden layer."""
Width = Annotated[int, msgspec.Meta(ge=1, le=WIDEST)]


class Architecture(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A network's architecture.

    Attributes:
        kind: "board"; "flat"; "plain" for "flat" without the game's own features, which reads nothing but the observation; or
            "auto" for "board" where the game has a board, else "flat".
        channels: channels per cell in the board network.
        hidden: width of the hidden layers.
        separate_values: give the value head of the flat network its own hidden layers.
    """

    kind: Kind = "auto"
    channels: Width = 32
    hidden: Width = 128
    separate_values: bool = False


def empty_network(
    game: Game, architecture: Architecture, value_target: str, num_players: int | None = None
) -> Network:
    """Return a network whose weights are zeros, allocated on first use.

    Args:
        game: the game.
        architecture: the network's architecture.
        value_target: what the value head predicts, one of `heads.VALUE_TARGETS`.
        num_players: number of seats that it values; the game's number of players if None.

    Raises:
        ValueError: for kind "board" if the game has no board, or `separate_values` for a board network.
    """
    kind, hidden, separate = architecture.kind, architecture.hidden, architecture.separate_values
    hints = hints_of(game)
    board = hints.board(game)
    sizes = game.observation_size, game.num_actions, num_values(value_target, num_players or game.num_players)
    if kind == "board" and board is None:
        raise ValueError(f"network must be 'auto' or 'flat': {game.name} has no board")
    if kind in ("flat", "plain") or board is None:
        return FlatNetwork(*sizes, hidden, None if kind == "plain" else hints.features(game), separate)
    if separate:
        raise ValueError(
            f"separate_values is for the flat network, but {game.name} has a board: choose network flat"
        )
    return BoardNetwork(board, *sizes, architecture.channels, hidden)


def check_inputs(games: Sequence[Game], architecture: Architecture) -> None:
    """Raise ValueError unless one network can play all the games: its inputs must not depend on tables that differ."""
    first, *others = (_tables(game, architecture) for game in games)
    for game, tables in zip(games[1:], others, strict=True):
        if tables != first:
            raise ValueError(
                f"the network's features read tables that differ between {games[0]} and {game}: choose network plain, or an option "
                "with which observations show these tables, if the game has one"
            )


def _tables(game: Game, architecture: Architecture) -> list[object]:
    """Return what a network's inputs depend on besides the observation, as values that can be compared."""
    hints, kind = hints_of(game), architecture.kind
    board = hints.board(game) if kind in ("auto", "board") else None
    if board is not None:
        return [value.tobytes() if isinstance(value, np.ndarray) else value for value in vars(board).values()]
    features = None if kind == "plain" else hints.features(game)
    return [] if features is None else [features.num, features.fill, features.params.tobytes()]


def new_network(
    game: Game, architecture: Architecture, value_target: str, seed: Any = 0, num_players: int | None = None
) -> Network:
    """Return a network with random weights drawn from `seed`; for the other arguments and errors see `empty_network`."""
    network = empty_network(game, architecture, value_target, num_players)
    network.initialize(np.random.default_rng(seed))
    return network
