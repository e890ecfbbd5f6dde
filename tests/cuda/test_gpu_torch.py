"""Arrays of a batch on a GPU as tensors there; run where torch has the GPU too."""

import numpy as np
import torch
from devices import host

from garden_core import Batch


def test_arrays_go_to_torch_without_a_copy():
    batch = Batch("connect_four:ConnectFour", 1000, device="cuda")
    batch.reset(1)
    observation, mask = (torch.as_tensor(a, device="cuda") for a in (batch.observation, batch.action_mask))
    assert observation.data_ptr() == batch.observation.__cuda_array_interface__["data"][0]
    batch.step(mask.long().argmax(1))
    assert np.array_equal(observation.cpu().numpy(), host(batch.observation))
    assert np.array_equal(mask.cpu().numpy(), host(batch.action_mask))
