"""A policy that is asked for an action in a finished row raises an error that names the row."""

import sys
from pathlib import Path

import numpy as np
import pytest
from garden_agents import MCTSAgent, load
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.programs import ProgramAgent
from garden_agents.text import TextAgent
from garden_agents.training.pool import PastSelf

from garden_core import Batch, GreedyPolicy, RandomPolicy, make
from garden_core.batch.policies import ask
from garden_core.jit import loops

GAME = make("cacti", max_decisions=3)
BOT = Path(__file__).parents[2] / "examples" / "line_bot.py"


def past_self():
    made = PastSelf(1)
    made.network = new_network(GAME, Architecture(hidden=8), "seats")
    return made


def spiel_bot():
    pytest.importorskip("pyspiel")
    from garden_core.interfaces import BotPolicy

    class Bot:
        def step(self, state):
            return state.legal_actions()[0]

    return BotPolicy(GAME, lambda game: Bot())


def onnx(tmp_path):
    pytest.importorskip("onnxruntime")
    from garden_agents import export_onnx, load_agent

    export_onnx(load(GAME), tmp_path / "network.onnx")
    return load_agent(str(tmp_path / "network.onnx"), GAME)


POLICIES = {
    "random": lambda _: RandomPolicy(1),
    "greedy": lambda _: GreedyPolicy(1),
    "search": lambda _: MCTSAgent(5),
    "network": lambda _: load(GAME),
    "search with a network": lambda _: MCTSAgent(5, network=load(GAME)),
    "a past self": lambda _: past_self(),
    "a program": lambda _: ProgramAgent(f"{sys.executable} {BOT}", GAME),
    "a language model": lambda _: TextAgent(lambda messages: "ACTION: 1", GAME),
    "a bot of OpenSpiel": lambda _: spiel_bot(),
    "an ONNX file": onnx,
}


def one_over():
    """A batch whose row 1 is over, where row 0 is in play."""
    batch = Batch(GAME, 2, autoreset=False, history=True)
    batch.reset(seed=1)
    for _ in range(3):
        batch.step(batch.action_mask[1:].argmax(1), rows=[1])
    assert batch.over.tolist() == [False, True]
    return batch


@pytest.mark.parametrize("name", POLICIES)
def test_a_policy_that_is_asked_names_the_row(name, tmp_path):
    batch, policy = one_over(), POLICIES[name](tmp_path)
    before = batch.states.tobytes()
    methods = [policy, getattr(policy, "with_probabilities", policy), getattr(policy, "decide", policy)]
    for method in [*methods, getattr(policy, "search", policy)]:
        for rows in ([1], [0, 1]):
            with pytest.raises(ValueError, match="row 1: the game is over"):
                method(batch, np.array(rows))
    assert batch.action_mask[0, policy(batch, np.array([0]))[0]]
    assert batch.states.tobytes() == before


def test_a_policy_of_ones_own_is_refused_where_it_is_asked():
    batch = one_over()
    with pytest.raises(ValueError, match="row 1: the game is over"):
        ask(lambda batch, rows: batch.action_mask[rows].argmax(1), batch, batch.all_rows)


def test_random_play_leaves_a_finished_row_alone():
    batch = one_over()
    before = batch.states[1].tobytes()
    assert loops.random_play(*batch.rows, GAME.params, 2, True, np.ones((2, 4), np.uint64)) == 0
    assert batch.states[1].tobytes() == before
    assert batch.states["decisions"].tolist() == [2, 3]
