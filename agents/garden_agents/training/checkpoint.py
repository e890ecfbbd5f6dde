"""Checkpoints of a training: network, optimizer, past selves and progress in one safetensors file.

Loading one runs no code, whoever wrote it: the file holds tensors and JSON, and both are checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
import torch

from garden_agents.networks.files import check_weights, load_weights, read, weights_of, write

__all__ = ["CHECKPOINT", "Progress", "check", "load", "save"]

CHECKPOINT = "checkpoint.safetensors"
_KEY = "checkpoint"

Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]
Share = Annotated[float, msgspec.Meta(ge=0, le=1)]


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


def save(path: Path, policy: Any, optimizer: Any, progress: Progress, past: Sequence[Any] = ()) -> None:
    """Write a checkpoint; an older one is replaced once the new one is complete.

    Args:
        path: the file.
        policy: the network.
        optimizer: the network's optimizer.
        progress: progress of the training.
        past: past selves, frozen copies of the network.

    Raises:
        OSError: if the disk is full or the folder cannot be written.
    """
    tensors = {f"policy.{name}": tensor for name, tensor in weights_of(policy).items()}
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": tensor for name, tensor in state.items()}
    for number, other in enumerate(past):
        tensors |= {f"past.{number}.{name}": tensor for name, tensor in weights_of(other).items()}
    write(path, tensors, _KEY, msgspec.to_builtins(progress))


def check(path: Path, policy: Any) -> None:
    """Check that a checkpoint's network has the same weights' names and shapes as `policy`, which may be on "meta".

    Raises:
        ValueError: if the file cannot be read or is damaged, or its network is another one.
    """
    try:
        tensors, _, _ = read(path, _KEY, Progress)
        check_weights(_part(tensors, "policy"), weights_of(policy))
    except ValueError as error:
        raise ValueError(f"{path} is no checkpoint of this training: {error}") from None


def load(path: Path, policy: Any, optimizer: Any) -> tuple[Progress, list[dict[str, torch.Tensor]]]:
    """Restore network and optimizer from a checkpoint; return the progress and the weights of the past selves.

    Raises:
        ValueError: if the file cannot be read or is damaged, or its network is another one; nothing has changed then.
    """
    try:
        tensors, progress, _ = read(path, _KEY, Progress)
        weights = _part(tensors, "policy")
        needed = weights_of(policy)
        check_weights(weights, needed)
        past = [_part(tensors, f"past.{i}") for i in range(_count(tensors, "past"))]
        for other in past:
            check_weights(other, needed)
        state = _optimizer_state(_part(tensors, "optimizer"), optimizer)
        parts = sum(map(len, (weights, _part(tensors, "optimizer"), *past)))
        if parts != len(tensors):
            raise ValueError("it holds tensors that belong to nothing")
    except ValueError as error:
        raise ValueError(f"{path} is no checkpoint of this training: {error}") from None
    load_weights(policy, weights)
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return progress, past


def _part(tensors: Mapping[str, torch.Tensor], name: str) -> dict[str, torch.Tensor]:
    start = f"{name}."
    return {key.removeprefix(start): tensor for key, tensor in tensors.items() if key.startswith(start)}


def _count(tensors: Mapping[str, torch.Tensor], name: str) -> int:
    numbers = {key.split(".")[1] for key in tensors if key.startswith(f"{name}.")}
    if numbers != {str(number) for number in range(len(numbers))}:
        raise ValueError("its past selves are not numbered from 0 on")
    return len(numbers)


def _optimizer_state(
    tensors: Mapping[str, torch.Tensor], optimizer: Any
) -> dict[int, dict[str, torch.Tensor]]:
    """Return Adam's state, for each parameter that was updated: the step and two moments."""
    parameters = [parameter for group in optimizer.param_groups for parameter in group["params"]]
    updated = [number for number in range(len(parameters)) if f"{number}.step" in tensors]
    needed = {}
    for number in updated:
        needed[f"{number}.step"] = torch.zeros(())
        needed |= {f"{number}.{name}": parameters[number] for name in ("exp_avg", "exp_avg_sq")}
    check_weights(tensors, needed)
    return {number: _part(tensors, str(number)) for number in updated}
