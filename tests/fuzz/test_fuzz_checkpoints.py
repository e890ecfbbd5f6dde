"""Checkpoints that strangers made or that were damaged: one that training goes on from, or a ValueError and no change."""

from __future__ import annotations

import json
import random
from typing import Any

import fuzzing
import pytest

pytest.importorskip("sb3_contrib")

import numpy as np
import torch
from garden_agents.networks.architecture import new_network
from garden_agents.training.checkpoint import Progress, load, save
from garden_agents.training.torch_network import TorchNetwork
from test_fuzz_networks import SMALL, joined, parts

from garden_core import make

MARS = make("mars")


class Training:
    """A small network in training: a step was made, and there is a past self."""

    def __init__(self) -> None:
        self.network = new_network(MARS, SMALL, "outcome")
        parameters = TorchNetwork(self.network).parameters
        self.optimizer = torch.optim.Adam([parameters], 1e-3)
        torch.manual_seed(0)
        parameters.grad = torch.rand_like(parameters)
        self.optimizer.step()

    def contents(self) -> list[bytes]:
        """Everything that a checkpoint restores, as bytes."""
        tensors = [torch.from_numpy(self.network.parameters)]
        tensors += [t for state in self.optimizer.state_dict()["state"].values() for t in state.values()]
        return [tensor.detach().numpy().tobytes() for tensor in tensors]


@pytest.fixture(scope="module")
def training() -> Training:
    return Training()


@pytest.fixture(scope="module")
def content(training, tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint.safetensors"
    progress = Progress(4096, 12.5, [0.5] * 4, [True, False, True, False])
    save(path, MARS, training.network.weights, training.optimizer, progress, [Training().network.weights])
    return path.read_bytes()


def loaded(path, training) -> Any:
    """Load a checkpoint; if it is refused nothing has changed."""
    before, shapes = training.contents(), training.network.shapes
    found, error = fuzzing.outcome(
        lambda: load(path, MARS, shapes, shapes, training.optimizer), ValueError, names=path.name
    )
    if error is not None:
        assert training.contents() == before
    else:
        progress, weights, past = found
        assert progress.seconds >= 0
        assert all(0 <= share <= 1 for share in progress.ahead)
        assert all(np.isfinite(array).all() for other in (weights, *past) for array in other.values())
    return found


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_damaged_bytes(training, content, numbers, tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    head = len(content) - len(parts(content)[1])
    for number in numbers:
        path.write_bytes(fuzzing.damaged_head_or_all(content, head, number))
        loaded(path, training)


@pytest.mark.parametrize("numbers", fuzzing.blocks(), ids=str)
def test_changed_headers_and_progress(training, content, numbers, tmp_path):
    path = tmp_path / "checkpoint.safetensors"
    header, tensors = parts(content)
    for number in numbers:
        rng = random.Random(number)
        try:
            if number % 2:
                changed = fuzzing.mutated(header, rng)
            else:
                progress = fuzzing.mutated(json.loads(header["__metadata__"]["checkpoint"]), rng)
                changed = header | {"__metadata__": {"checkpoint": json.dumps(progress)}}
            path.write_bytes(joined(changed, tensors))
        except (ValueError, RecursionError):
            continue
        loaded(path, training)


def test_a_whole_one_is_taken(training, content, tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(content)
    progress, _, past = loaded(tmp_path / "checkpoint.safetensors", training)
    assert (progress.decisions, len(past)) == (4096, 1)


def test_no_file_and_pickles(training, tmp_path):
    for path in fuzzing.special_paths(tmp_path):
        assert loaded(path, training) is None
    path = tmp_path / "checkpoint.safetensors"
    for pickled in fuzzing.pickles(tmp_path / "marker"):
        path.write_bytes(pickled)
        assert loaded(path, training) is None
    assert not (tmp_path / "marker").exists()
