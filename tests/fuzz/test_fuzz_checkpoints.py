"""Checkpoints that strangers made or that were damaged: one that training goes on from, or a ValueError and no change."""

import json

import fuzzing
import numpy as np
import pytest
import torch
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.training.checkpoint import Progress, save
from garden_agents.training.checkpoint import load as load_checkpoint
from garden_agents.training.torch_network import TorchNetwork
from sealed import joined, parts

from garden_core import make

MARS, SMALL = make("mars"), Architecture("auto", channels=4, hidden=16)


class Training:
    """A small network in training: a step was made, and there is a past self."""

    def __init__(self):
        self.network = new_network(MARS, SMALL, "outcome")
        parameters = TorchNetwork(self.network).parameters
        self.optimizer = torch.optim.Adam([parameters], 1e-3)
        torch.manual_seed(0)
        parameters.grad = torch.rand_like(parameters)
        self.optimizer.step()

    def contents(self):
        """Everything that a checkpoint restores, as bytes."""
        tensors = [torch.from_numpy(self.network.parameters)]
        tensors += [t for state in self.optimizer.state_dict()["state"].values() for t in state.values()]
        return [tensor.detach().numpy().tobytes() for tensor in tensors]


@pytest.fixture(scope="module")
def training():
    return Training()


@pytest.fixture(scope="module")
def content(training, tmp_path_factory):
    path = tmp_path_factory.mktemp("checkpoint") / "checkpoint.safetensors"
    progress = Progress(4096, 12.5, [0.5] * 4, [True, False, True, False])
    save(path, MARS, training.network.weights, training.optimizer, progress, [Training().network.weights])
    return path.read_bytes()


@pytest.fixture
def load(training):
    """Load a checkpoint; if it is refused nothing has changed."""

    def loaded(path):
        before, shapes = training.contents(), training.network.shapes
        checkpoint, _ = fuzzing.outcome(
            lambda: load_checkpoint(path, MARS, shapes, training.optimizer), ValueError, path.name
        )
        if checkpoint is None:
            assert training.contents() == before
        else:
            progress, weights, past = checkpoint
            assert progress.seconds >= 0
            assert all(0 <= share <= 1 for share in progress.ahead)
            assert all(np.isfinite(array).all() for other in (weights, *past) for array in other.values())
        return checkpoint

    return loaded


@fuzzing.each_block
def test_damaged_bytes(load, content, numbers, tmp_path):
    head = len(content) - len(parts(content)[1])
    fuzzing.load_damaged(load, tmp_path / "checkpoint.safetensors", content, numbers, head)


@fuzzing.each_block
def test_changed_headers_and_progress(load, content, numbers, tmp_path):
    path, (header, tensors) = tmp_path / "checkpoint.safetensors", parts(content)
    fuzzing.load_changed(load, path, header, lambda changed: joined(changed, tensors), numbers)

    def with_progress(changed):
        return joined(header | {"__metadata__": {"checkpoint": json.dumps(changed)}}, tensors)

    progress = json.loads(header["__metadata__"]["checkpoint"])
    fuzzing.load_changed(load, path, progress, with_progress, numbers)


def test_a_whole_one_is_taken(load, content, tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(content)
    progress, _, past = load(tmp_path / "checkpoint.safetensors")
    assert (progress.decisions, len(past)) == (4096, 1)


def test_no_file_and_pickles(load, tmp_path):
    fuzzing.load_no_files(load, tmp_path / "checkpoint.safetensors")
