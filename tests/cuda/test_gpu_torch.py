"""Arrays of a batch on a GPU as tensors there; run where torch has the GPU too."""

import numpy as np
import pytest
import torch
from devices import host
from garden_agents.games import hints_of
from garden_agents.networks.board_features import cell_features
from garden_agents.networks.flat_network import flat_features
from garden_agents.training import ppo
from garden_agents.training.gpu.features import GpuFeatures, GpuFlatFeatures

from garden_core import Batch
from garden_core.batch.policies import ask


def test_arrays_go_to_torch_without_a_copy():
    batch = Batch("connect_four:ConnectFour", 1000, device="cuda")
    batch.reset(1)
    observation, mask = (torch.as_tensor(a, device="cuda") for a in (batch.observation, batch.action_mask))
    assert observation.data_ptr() == batch.observation.__cuda_array_interface__["data"][0]
    batch.step(mask.long().argmax(1))
    assert np.array_equal(observation.cpu().numpy(), host(batch.observation))
    assert np.array_equal(mask.cpu().numpy(), host(batch.action_mask))


def test_rows_seats_and_answers_may_be_tensors():
    batch = Batch("connect_four:ConnectFour", 100, device="cuda")
    batch.reset(1)
    rows = torch.arange(10, 20, device="cuda")
    batch.step(ask(lambda batch, rows: torch.full((10,), 3, device="cuda"), batch, rows), rows)
    seats = torch.zeros(100, dtype=torch.int64, device="cuda")
    assert np.array_equal(host(batch.observe(seats)), host(batch.observe(0)))


@pytest.mark.parametrize("network", ["flat", "board"])
def test_a_training_learns_and_is_resumed(tmp_path, network):
    size = {"envs": 1024, "rollout": 16, "minibatch": 4096, "pool_share": 0.2}
    few = {"evaluation_games": 20, "final_games": 20}
    settings = size | few | {"device": "cuda", "network": network, "run": tmp_path / "run"}
    folder = ppo.train(ppo.Arguments("mars", steps=50_000, checkpoint_every=80_000, **settings))
    ppo.train(ppo.Arguments(resume=folder, steps=100_000))
    assert (folder / "evaluation.json").exists()


def observed(name):
    """A game, and observations after some decisions."""
    batch = Batch(name, 500)
    batch.reset(1)
    for _ in range(20):
        batch.step(batch.action_mask.argmax(1))
    return batch.game, batch.flat


def filled(features, observation, shape):
    """Return the features computed on the GPU as a NumPy array."""
    out = torch.empty(shape, device="cuda")
    features(torch.from_numpy(observation).cuda(), out)
    return out.cpu().numpy()


def test_features_agree_with_the_cpu():
    game, seen = observed("mars")
    board = hints_of(game).board(game)
    expected = cell_features(board, seen)
    assert np.array_equal(filled(GpuFeatures(board), seen, expected.shape), expected)
    game, seen = observed("botanicus")
    features = hints_of(game).features(game)
    expected = flat_features(features, seen)
    assert np.array_equal(filled(GpuFlatFeatures(features), seen, expected.shape), expected)
