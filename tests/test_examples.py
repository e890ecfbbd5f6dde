"""The examples that train learn: they beat random play."""

import pytest


def test_ppo_in_one_file_learns_cacti(tmp_path):
    """In 200 games of its saved weights against random play the lower end of the 95 % interval is above one half."""
    pytest.importorskip("torch")
    pytest.importorskip("tyro")
    import ppo
    from garden_agents import load_agent, meet

    from garden_core import make

    ppo.main(ppo.Arguments(decisions=400_000, output=tmp_path / "ppo.pt"))
    game = make("cacti")
    agents = load_agent(f"ppo:make?weights={tmp_path / 'ppo.pt'}", game), load_agent("random", game)
    assert meet(game, ("ppo", "random"), agents, games=200).interval[0] > 0.5
