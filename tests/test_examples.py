"""The examples that train learn: in 200 games against random play the lower end of the 95 % interval is above one half."""

import offline
import ppo
import privileged
from garden_agents import load_agent, meet
from garden_agents.evaluation import record

from garden_core import make


def beats_random(agent):
    game = make("cacti")
    agents = load_agent(agent, game), load_agent("random", game)
    return meet(game, ("example", "random"), agents, games=200).interval[0] > 0.5


def test_ppo_in_one_file(tmp_path):
    ppo.main(ppo.Arguments(decisions=400_000, output=tmp_path / "ppo.pt"))
    assert beats_random(f"ppo:make?weights={tmp_path / 'ppo.pt'}")


def test_a_critic_that_sees_hidden_cards(tmp_path):
    privileged.main(privileged.Arguments(decisions=400_000, output=tmp_path / "privileged.pt"))
    assert beats_random(f"privileged:make?weights={tmp_path / 'privileged.pt'}")


def test_offline_learning(tmp_path):
    """Behaviour cloning and Q-learning both learn from games of random and greedy play."""
    data, options = tmp_path / "mixed.safetensors", {"reward": "margin"}
    record.main(
        record.Arguments("cacti", ["random", "greedy"], data, games=2000, options=options, processes=1)
    )
    rates = offline.main(offline.Arguments(data, steps=600, opponent="random", games=200))
    for name in ("cloned", "q-learning"):
        assert rates[name] - 1.96 * (rates[name] * (1 - rates[name]) / 200) ** 0.5 > 0.5
