"""JAX: games stepped inside of jitted code, by a callback."""

import pytest

pytest.importorskip("jax")


def test_a_network_in_jax_learns_cacti():
    """In 200 games against random play the lower end of a 95 % interval lies above one half."""
    import jax_callback

    rate = jax_callback.main(jax_callback.Arguments(updates=30))
    assert rate - 1.96 * (rate * (1 - rate) / 200) ** 0.5 > 0.5
