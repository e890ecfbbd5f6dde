"""The examples that train learn: in 200 games against random play the lower end of the 95 % interval is above an equal share."""

import json

import kaggle_harness as kaggle
import numpy as np
import offline
import ppo
import privileged
import speed
from garden_agents import load_agent, meet
from garden_agents.matches import record
from playing import dealt
from processes import garden_here

from garden_core import RandomPolicy, make


def beats_random(agent, name="cacti"):
    game = make(name)
    agents = load_agent(agent, game), load_agent("random", game)
    return meet(game, ("example", "random"), agents, games=200).interval[0] > 1 / game.num_players


def test_ppo_in_one_file(tmp_path):
    ppo.main(ppo.Arguments(decisions=400_000, output=tmp_path / "ppo.pt"))
    assert beats_random(f"ppo:make?weights={tmp_path / 'ppo.pt'}")


def test_a_critic_that_sees_hidden_cards(tmp_path):
    privileged.main(privileged.Arguments(decisions=400_000, output=tmp_path / "privileged.pt"))
    assert beats_random(f"privileged:make?weights={tmp_path / 'privileged.pt'}")


def test_a_game_with_hidden_hands_is_learned(tmp_path):
    words = "train tricks:Tricks --steps 100000 --final-games 0 --threads 1 --run"
    assert garden_here(words, tmp_path / "run")[1] is None
    assert beats_random(str(tmp_path / "run"), "tricks:Tricks")


def test_offline_learning(tmp_path):
    """Behaviour cloning and Q-learning both learn from games of random and greedy play."""
    data, options = tmp_path / "mixed.safetensors", {"reward": "margin"}
    record.main(
        record.Arguments("cacti", ["random", "greedy"], data, games=2000, options=options, processes=1)
    )
    rates = offline.main(offline.Arguments(data, steps=600, opponent="random", games=200))
    for name in ("cloned", "q-learning"):
        assert rates[name] - 1.96 * (rates[name] * (1 - rates[name]) / 200) ** 0.5 > 0.5


def test_speed_has_a_figure_for_each_window():
    rates = list(speed.speeds("cacti", games=4, windows=3, seconds=0.001))
    assert len(rates) == 3
    assert min(rates) > 0


def test_the_three_functions_of_kaggles_harness():
    game, policy = make("cacti"), RandomPolicy(5)
    batch = dealt(game, 1, 5, autoreset=False, history=True)
    while not batch.over[0]:
        seat, before = int(batch.current_player[0]), batch.history.of(0)
        observation = json.loads(json.dumps(kaggle.observe(game, batch.states[0], seat, before)))
        moves = kaggle.get_legal_moves(observation)
        assert [*moves] == np.flatnonzero(batch.action_mask[0]).tolist()
        text = kaggle.generate_prompt(observation, [])
        assert "Actions are written as follows" in text
        again = kaggle.generate_prompt(observation, [], "I pass.", "pass")
        assert again.startswith(text)
        assert "'pass'" in again
        for label in moves.values():
            assert kaggle.parse_response(f"Hm.\nACTION: {label}", [*moves.values()]) == (label, label)
        assert kaggle.parse_response("", [*moves.values()]) == (None, None)
        assert kaggle.parse_response("Action: sing", [*moves.values()]) == (None, "sing")
        other = kaggle.observe(game, batch.states[0], 1 - seat)
        assert kaggle.get_legal_moves(other) == {}
        assert (other["prompt"], other["isTerminal"]) == ("", False)
        batch.step(policy(batch, batch.all_rows))
