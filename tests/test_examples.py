"""The examples that train learn: they beat random play."""

import pytest


def test_ppo_in_one_file_learns_cacti():
    """In 200 games against random play the lower end of the 95 % interval is above one half."""
    pytest.importorskip("torch")
    pytest.importorskip("tyro")
    import ppo

    from garden_core import make

    network = ppo.main(ppo.Arguments(decisions=400_000))
    rate = ppo.win_rate(network, make("cacti"), "random", 200)
    assert rate - 1.96 * (rate * (1 - rate) / 200) ** 0.5 > 0.5
