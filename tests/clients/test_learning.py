"""The examples with other libraries learn."""

import importlib

import pytest
from garden_agents import load_agent, meet

from garden_core import make


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(
    ("libraries", "example", "settings"),
    [
        ("jax", "jax_callback", {"updates": 30}),
        ("pyspiel open_spiel tree", "dqn_openspiel", {}),
        ("torchrl", "ppo_torchrl", {"decisions": 150_000}),
    ],
)
def test_an_example_learns_cacti(libraries, example, settings, tmp_path):
    """In 200 games against random play the lower end of the 95 % interval is above one half; saved weights play, too."""
    for library in libraries.split():
        pytest.importorskip(library)
    module = importlib.import_module(example)
    path = tmp_path / "weights.pt"
    if saves := hasattr(module, "make"):
        settings = {**settings, "output": path}
    rate = module.main(module.Arguments(**settings))
    assert rate - 1.96 * (rate * (1 - rate) / 200) ** 0.5 > 0.5
    if saves:
        game = make("cacti")
        agents = load_agent(f"{example}:make?weights={path}", game), load_agent("random", game, seed=1)
        assert meet(game, ("ppo", "random"), agents, games=200).win_rate == rate
