"""Checkpoints of a training: network, optimizer, past selves and progress in one safetensors file.

A checkpoint from an untrusted source is safe to load: it contains only arrays and JSON, and both are validated.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np
import torch

from garden_agents.networks.weights import check_weights
from garden_core.checks import short
from garden_core.files.array_files import read, write
from garden_core.game import Game

CHECKPOINT = "checkpoint.safetensors"
_KEY = "checkpoint"

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Weights = Mapping[str, np.ndarray]
Shapes = Mapping[str, tuple[int, ...]]


class Progress(msgspec.Struct, forbid_unknown_fields=True):
    """The progress of a training.

    Attributes:
        decisions: decisions of the learner so far.
        seconds: seconds of training so far.
        ahead: for each opponent of the pool, the recent rate of games in which the learner finished ahead of it.
        met: for each opponent of the pool, whether the learner has played against it.
    """

    decisions: Count
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e9)]
    ahead: list[Share] = []
    met: list[bool] = []


class _Content(msgspec.Struct, forbid_unknown_fields=True):
    """Metadata of a checkpoint."""

    game: str
    version: int  # of the game
    tables: str  # the game's `tables_digest`
    progress: Progress


def save(
    path: Path,
    game: Game,
    weights: Weights,
    optimizer: torch.optim.Optimizer,
    progress: Progress,
    past: Sequence[Weights] = (),
) -> None:
    """Write a checkpoint; it replaces an older one once it is complete.

    Args:
        path: the file.
        game: the game that the network learns.
        weights: the network's weights by name.
        optimizer: the network's optimizer.
        progress: progress of the training.
        past: weights of the past selves.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
        ValueError: if a number is not finite, as after too high learning rates, or the file would be larger than 2 GB.
    """
    arrays = {f"network.{name}": array for name, array in weights.items()}
    for number, state in optimizer.state_dict()["state"].items():
        arrays |= {f"optimizer.{number}.{name}": tensor.cpu().numpy() for name, tensor in state.items()}
    for number, other in enumerate(past):
        arrays |= {f"past.{number}.{name}": array for name, array in other.items()}
    check_weights(arrays, {name: array.shape for name, array in arrays.items()})
    content = _Content(game.name, game.version, game.tables_digest, progress)
    write(path, arrays, _KEY, msgspec.to_builtins(content))


@contextlib.contextmanager
def named(path: Path) -> Iterator[None]:
    """Context manager that adds a checkpoint's path to the message of a ValueError."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is no checkpoint of this training: {error}") from None


def check(path: Path, game: Game, shapes: Shapes) -> None:
    """Check that a checkpoint is of this game, and that its network's weights have these names and shapes.

    Raises:
        ValueError: if the file cannot be read or is damaged, or its game (also its version, options or data) or its network
            differs.
    """
    with named(path):
        arrays, _ = _read(path, game)
        check_weights(_part(arrays, "network"), shapes)


def _read(path: Path, game: Game) -> tuple[dict[str, np.ndarray], Progress]:
    """Return the arrays and the progress of a checkpoint of this game.

    Raises:
        ValueError: as `array_files.read`, or for a checkpoint of another game.
    """
    arrays, content, _ = read(path, _KEY, _Content)
    if (content.game, content.version) != (game.name, game.version):
        made = f"{short(content.game)} version {content.version}"
        raise ValueError(f"it is of {made}, not of {game.name!r} version {game.version}")
    if content.tables != game.tables_digest:
        raise ValueError(f"it is of {game.name} with other options or data than {game}")
    return arrays, content.progress


def load(
    path: Path, game: Game, shapes: Shapes, optimizer: torch.optim.Optimizer
) -> tuple[Progress, dict[str, np.ndarray], list[dict[str, np.ndarray]]]:
    """Restore the optimizer from a checkpoint; return the progress, the network's weights and the past selves' weights.

    Args:
        path: the file.
        game: the game that the network learns.
        shapes: shapes by name of the network's and each past self's weights.
        optimizer: the network's optimizer.

    Raises:
        ValueError: as `check`; the optimizer is then unchanged.
    """
    with named(path):
        arrays, progress = _read(path, game)
        weights, moments = _part(arrays, "network"), _part(arrays, "optimizer")
        check_weights(weights, shapes)
        past: list[dict[str, np.ndarray]] = []
        while other := _part(arrays, f"past.{len(past)}"):
            check_weights(other, shapes)
            past.append(other)
        state = _optimizer_state(moments, optimizer)
        if sum(map(len, (weights, moments, *past))) != len(arrays):
            raise ValueError("it holds arrays that belong to nothing")
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress, weights, past


def _part(arrays: Weights, name: str) -> dict[str, np.ndarray]:
    start = f"{name}."
    return {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}


def _optimizer_state(arrays: Weights, optimizer: torch.optim.Optimizer) -> dict[int, dict[str, torch.Tensor]]:
    """Return Adam's state for its one parameter: the step and two moments; {} before the first step."""
    if not arrays:
        return {}
    shape = tuple(optimizer.param_groups[0]["params"][0].shape)
    check_weights(arrays, {"0.step": (), "0.exp_avg": shape, "0.exp_avg_sq": shape})
    return {0: {name: torch.from_numpy(array.copy()) for name, array in _part(arrays, "0").items()}}
