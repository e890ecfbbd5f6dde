"""Opponents by name."""

from __future__ import annotations

import shutil

import pytest

from cacti_env import Cacti


@pytest.mark.parametrize("name", ["mcts:4", "network", "own_agents:first_legal", "run"])
def test_any_agent_by_name_is_an_opponent(name, tmp_path):
    pytest.importorskip("sb3_contrib")
    import gymnasium
    from garden_agents.networks.network_agent import shipped

    from garden_core.interfaces.gymnasium_env import VectorEnv
    from garden_core.interfaces.sb3 import GardenVecEnv

    if name == "run":
        shutil.copy(shipped(Cacti())[2], tmp_path / "network.safetensors")
        name = str(tmp_path)
    env = gymnasium.make("garden/Cacti-v0", opponents=name)
    _, info = env.reset(seed=1)
    over = False
    while not over:
        _, _, over, _, info = env.step(int(info["action_mask"].argmax()))
    for vector in (
        VectorEnv("cacti", num_envs=3, opponents=["random", name]),
        GardenVecEnv("cacti", 3, name),
    ):
        vector.reset()
        for _ in range(3):
            vector.step(vector.action_masks().argmax(1))


def test_without_the_agents_the_message_says_what_to_install(monkeypatch):
    import gymnasium

    from garden_core import plugins

    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    with pytest.raises(ValueError, match=r"no agent 'network': .*pip install --editable \."):
        gymnasium.make("garden/Cacti-v0", opponents="network")
    monkeypatch.undo()
    with pytest.raises(ValueError, match="no agent 'grandmaster': unknown agent") as raised:
        gymnasium.make("garden/Cacti-v0", opponents="grandmaster")
    assert "pip install" not in str(raised.value)
