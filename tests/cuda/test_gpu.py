"""Games on a GPU agree with the CPU byte for byte over a million decisions of every variant; needs a GPU."""

import pytest
from devices import cases, learned, played

ROWS, STEPS, LOOK = 8192, 128, 8


@pytest.mark.parametrize(("name", "options"), cases(), ids=str)
def test_a_million_decisions_agree(name, options):
    assert ROWS * STEPS >= 10**6
    for play in (played, learned):
        there, here = (
            play(name, options, device, ROWS, STEPS, cap=10**6, look=LOOK) for device in ("cuda", "cpu")
        )
        for seen, expected in zip(there, here, strict=True):
            assert seen == expected
