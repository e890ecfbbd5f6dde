"""Networks by description: the architecture, and what the value head predicts."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from garden_agents.games import hints_of
from garden_agents.networks.board_network import BoardNetwork
from garden_agents.networks.flat_network import FlatNetwork
from garden_agents.networks.heads import num_values
from garden_agents.networks.network import Network
from garden_core.game import Game

Kind = Literal["auto", "board", "flat"]
WIDEST = 16_384
"""Largest number of channels, and largest width of a hidden layer."""
Width = Annotated[int, msgspec.Meta(ge=1, le=WIDEST)]


class Architecture(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """A network's architecture.

    Attributes:
        kind: "board", "flat", or "auto" for "board" where the game has a board.
        channels: channels of a cell in the board network.
        hidden: width of the hidden layers.
        separate_values: whether the flat network's values are read from hidden layers of their own.
    """

    kind: Kind = "auto"
    channels: Width = 32
    hidden: Width = 128
    separate_values: bool = False


def empty_network(
    game: Game, architecture: Architecture, value_target: str, num_players: int | None = None
) -> Network:
    """Return a network that has no memory yet: its weights are zeros once they are asked for.

    Args:
        game: the game.
        architecture: the network's architecture.
        value_target: what its value head predicts, one of `heads.VALUE_TARGETS`.
        num_players: number of seats that it values; those of the game if None.

    Raises:
        ValueError: for the kind "board" with a game that has no board, or separate values on a board.
    """
    size, hints = game.observation_size, hints_of(game)
    values = num_values(value_target, num_players or game.num_players)
    kind, board = architecture.kind, hints.board(game)
    if kind == "board" and board is None:
        raise ValueError(f"network must be 'auto' or 'flat': {game.name} has no board")
    if kind == "flat" or board is None:
        width, separate = architecture.hidden, architecture.separate_values
        return FlatNetwork(size, game.num_actions, values, width, hints.features(game), separate)
    if architecture.separate_values:
        raise ValueError(
            f"separate_values is for the flat network, but {game.name} has a board: choose network flat"
        )
    return BoardNetwork(board, size, game.num_actions, values, architecture.channels, architecture.hidden)


def new_network(game: Game, architecture: Architecture, value_target: str, seed: Any = 0) -> Network:
    """Return an untrained network, with random weights of this seed; raises as `empty_network`."""
    network = empty_network(game, architecture, value_target)
    network.initialize(np.random.default_rng(seed))
    return network
