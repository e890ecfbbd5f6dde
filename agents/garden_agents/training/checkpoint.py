"""Checkpoints of a training: network, optimizer, past selves and progress in one safetensors file.

Loading one runs no code, whoever wrote it: the file holds arrays and JSON, and both are checked.
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
    """What a checkpoint holds beside its arrays."""

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
    """Write a checkpoint; an older one is replaced once the new one is complete.

    Args:
        path: the file.
        game: the game that the network learns.
        weights: the network's weights by name.
        optimizer: the network's optimizer.
        progress: progress of the training.
        past: weights of the past selves.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
        ValueError: if a number is not finite, as after rates that are too high, or the file would be larger than 2 GB.
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
    """Context manager that names a checkpoint in the messages of ValueErrors about it."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{path} is no checkpoint of this training: {error}") from None


def check(path: Path, game: Game, shapes: Shapes) -> None:
    """Check that a checkpoint is of this game, and its network has weights of these names and shapes.

    Raises:
        ValueError: if the file cannot be read or is damaged, is of another game or another version, options or data of it,
            or its network is another one.
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
    """Restore the optimizer from a checkpoint; return progress, the network's weights, the weights of past selves.

    Args:
        path: the file.
        game: the game that the network learns.
        shapes: shapes of the network's weights by name, and of a past self's.
        optimizer: the network's optimizer.

    Raises:
        ValueError: as `check`; nothing has changed then.
    """
    with named(path):
        arrays, progress = _read(path, game)
        weights, moments = _part(arrays, "network"), _part(arrays, "optimizer")
        check_weights(weights, shapes)
        past = [_part(arrays, f"past.{i}") for i in range(_num_past(arrays))]
        for other in past:
            check_weights(other, shapes)
        state = _optimizer_state(moments, optimizer)
        if sum(map(len, (weights, moments, *past))) != len(arrays):
            raise ValueError("it holds arrays that belong to nothing")
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress, weights, past


def _part(arrays: Weights, name: str) -> dict[str, np.ndarray]:
    start = f"{name}."
    return {key.removeprefix(start): array for key, array in arrays.items() if key.startswith(start)}


def _num_past(arrays: Weights) -> int:
    numbers = {key.split(".")[0] for key in _part(arrays, "past")}
    if numbers != {str(number) for number in range(len(numbers))}:
        raise ValueError("its past selves are not numbered from 0 on")
    return len(numbers)


def _optimizer_state(arrays: Weights, optimizer: torch.optim.Optimizer) -> dict[int, dict[str, torch.Tensor]]:
    """Return Adam's state, for each parameter that was updated: the step and two moments."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    updated = [number for number in range(len(parameters)) if f"{number}.step" in arrays]
    needed: dict[str, tuple[int, ...]] = {}
    for number in updated:
        shape = tuple(parameters[number].shape)
        needed |= {f"{number}.step": (), f"{number}.exp_avg": shape, f"{number}.exp_avg_sq": shape}
    check_weights(arrays, needed)
    return {
        number: {name: torch.from_numpy(array.copy()) for name, array in _part(arrays, str(number)).items()}
        for number in updated
    }
