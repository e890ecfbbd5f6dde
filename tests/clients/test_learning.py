"""The examples with other libraries learn."""

import importlib

import pytest


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("libraries", "example", "settings"),
    [
        ("jax", "jax_callback", {"updates": 30}),
        ("pyspiel open_spiel tree", "dqn_openspiel", {}),
        ("torchrl", "ppo_torchrl", {"decisions": 150_000}),
    ],
)
def test_an_example_learns_cacti(libraries, example, settings):
    """In 200 games against random play the lower end of the 95 % interval is above one half."""
    for library in libraries.split():
        pytest.importorskip(library)
    module = importlib.import_module(example)
    rate = module.main(module.Arguments(**settings))
    assert rate - 1.96 * (rate * (1 - rate) / 200) ** 0.5 > 0.5
