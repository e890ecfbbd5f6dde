"""Seeds of which a few are enough for the quick run, as the others check the same with other games."""

import pytest


def seeds(count, *quick):
    """Return the seeds 0 … count - 1 for parametrize; all but those named are for `make test-long`."""
    return [seed if seed in quick else pytest.param(seed, marks=pytest.mark.long) for seed in range(count)]
