"""The examples with other libraries learn."""

import pytest


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("example", "settings"),
    [("jax_callback", {"updates": 30}), ("dqn_openspiel", {}), ("ppo_torchrl", {"decisions": 150_000})],
)
def test_an_example_learns_cacti(example, settings):
    """In 200 games against random play the lower end of the 95 % interval is above one half."""
    module = pytest.importorskip(example)
    rate = module.main(module.Arguments(**settings))
    assert rate - 1.96 * (rate * (1 - rate) / 200) ** 0.5 > 0.5
