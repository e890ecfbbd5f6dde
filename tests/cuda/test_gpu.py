"""Games on a GPU are those of the CPU, byte for byte, over a million decisions of every variant; run where there is one."""

import numpy as np
import pytest
from devices import cases, host, played

from garden_core import Batch

ROWS, STEPS, LOOK = 8192, 128, 8


@pytest.mark.parametrize(("name", "options"), cases(), ids=str)
def test_a_million_decisions_agree(name, options):
    assert ROWS * STEPS >= 10**6
    there, here = (
        played(name, options, device, ROWS, STEPS, cap=10**6, look=LOOK) for device in ("cuda", "cpu")
    )
    for seen, expected in zip(there, here, strict=True):
        assert seen == expected


def test_arrays_go_to_torch_without_a_copy():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this build of torch has no CUDA")
    batch = Batch("connect_four:ConnectFour", 1000, device="cuda")
    batch.reset(1)
    observation, mask = (torch.as_tensor(a, device="cuda") for a in (batch.observation, batch.action_mask))
    assert observation.data_ptr() == batch.observation.__cuda_array_interface__["data"][0]
    batch.step(mask.long().argmax(1))
    assert np.array_equal(observation.cpu().numpy(), host(batch.observation))
    assert np.array_equal(mask.cpu().numpy(), host(batch.action_mask))
