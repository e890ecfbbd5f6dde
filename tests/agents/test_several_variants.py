"""Networks that learn several variants of a game."""

import json
import re

import numpy as np
import pytest
from garden_agents import NetworkAgent, load_agent
from garden_agents.games import TEST_SEEDS
from garden_agents.networks.architecture import new_network
from garden_agents.networks.heads import chances_and_margins
from garden_agents.networks.network_agent import save_network
from garden_agents.networks.variants import Variants, with_card_set
from garden_agents.training import ppo
from small_runs import SMALL, tiny_ppo

from botanicus_env import Botanicus
from cacti_env import Cacti
from garden_core import Batch
from garden_core.files import array_files
from mars_env import Mars

NUMBERS = Variants({"num_players": (2, 3, 5)})


def saved(path, variants=NUMBERS):
    """A network with random weights for Mars with two players, and the variants."""
    n = max(variants.options["num_players"])
    network = new_network(Mars(), SMALL, "seats", 1, num_players=n)
    network.weights["values.bias"][:] = np.random.default_rng(0).normal(size=2 * n)
    save_network(path, Mars(), network, SMALL, "seats", {}, variants)
    return network


def test_a_network_plays_each_variant_with_the_values_of_its_seats(tmp_path):
    whole = saved(path := tmp_path / "network.safetensors")
    for game in NUMBERS.of(Mars()):
        agent, batch = NetworkAgent.load(path, game), Batch(game, 20)
        batch.reset(3)
        n = game.num_players
        logits, raw = whole.evaluate(batch.flat)
        own_logits, own = agent.network.evaluate(batch.flat)
        np.testing.assert_array_equal(own_logits, logits)
        wider = chances_and_margins(raw, np.full(20, n)).reshape(20, 2, 5)
        np.testing.assert_allclose(chances_and_margins(own), wider[:, :, :n].reshape(20, 2 * n), atol=1e-6)
        assert not wider[:, :, n:].any()
        agent.values(batch, batch.all_rows)


@pytest.mark.parametrize("game", [Mars(num_players=4), Mars(peaks=1)], ids=str)
def test_a_variant_that_it_never_learned_is_refused(game, tmp_path):
    saved(path := tmp_path / "network.safetensors")
    with pytest.raises(ValueError, match="may play badly here"):
        NetworkAgent.load(path, game)
    NetworkAgent.load(path, game, allow_other_options=True)


def test_a_network_of_card_sets_plays_any_cards(tmp_path):
    for number, path in enumerate((tmp_path / "own.safetensors", tmp_path / "many.safetensors")):
        save_network(
            path,
            Cacti(),
            new_network(Cacti(), SMALL, "seats"),
            SMALL,
            "seats",
            {},
            Variants(card_sets=9 * number),
        )
    other = with_card_set(Cacti(), TEST_SEEDS[0])
    assert NetworkAgent.load(path, other).config["variants"]["card_sets"] == 9
    with pytest.raises(ValueError, match="other data"):
        NetworkAgent.load(tmp_path / "own.safetensors", other)


@pytest.mark.parametrize(
    ("game", "changes", "sentence"),
    [
        ("mars", {"variants": ("num_players",)}, "OPTION=VALUE"),
        ("mars", {"variants": ("peaks=0,1", "peaks=2")}, "each option once"),
        ("mars", {"variants": ("peak=0,1",)}, "peak"),
        ("mars", {"variants": ("num_players=2,6",)}, "num_players must be"),
        ("mars", {"variants": ("gardeners=1,2",)}, "they differ in the actions"),
        ("cacti", {"variants": ("cards=a.toml,b.toml",)}, "is a file"),
        (
            "mars",
            {"variants": ("num_players=2,3",), "pool_share": 0.5, "pool_agents": ("greedy",)},
            "play one variant",
        ),
        ("mars", {"variants": ("cooperative=true,false",)}, "cooperati"),
        ("mars", {"card_sets": 2}, "generates no card sets"),
        ("botanicus", {"card_sets": 2}, "features read tables that differ"),
    ],
    ids=str,
)
def test_what_one_network_cannot_learn_is_refused(game, changes, sentence, tmp_path):
    """Before a folder is made."""
    with pytest.raises((ValueError, TypeError), match=sentence):
        ppo.train(tiny_ppo(game=game, run=tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


def test_one_value_is_trained_with_its_own_observations(tmp_path):
    few = {
        "final_games": 0,
        "evaluations": 0,
        "run": tmp_path / "run",
        "steps": 300,
        "variants": ("cards_shown=values",),
    }
    folder = ppo.train(tiny_ppo(game="botanicus", **few))
    game = Botanicus(cards_shown="values")
    agent, batch = load_agent(str(folder), game), Batch(game, 4)
    batch.reset(1)
    batch.step(agent(batch, batch.all_rows))
    with pytest.raises(ValueError, match="observation"):
        load_agent(str(folder), Botanicus())


def test_a_network_of_several_numbers_of_players_keeps_its_other_variants(tmp_path):
    """So that files that are made of the loaded network, as ONNX, are for all of these."""
    variants = Variants({"num_players": (2, 3), "peaks": (0, 1)})
    saved(path := tmp_path / "network.safetensors", variants)
    config = NetworkAgent.load(path, Mars(num_players=3, peaks=1)).config
    assert config["options"]["num_players"] == 3
    assert config["variants"] == {"options": {"peaks": [0, 1]}, "card_sets": 0}
    (tmp_path / "three").mkdir()
    again = tmp_path / "three" / "network.safetensors"
    own = NetworkAgent.load(path, Mars(num_players=3))
    array_files.write(again, own.network.weights, "config", own.config)
    for peaks in (0, 1):
        NetworkAgent.load(again, Mars(num_players=3, peaks=peaks))
    with pytest.raises(ValueError, match="num_players=3"):
        NetworkAgent.load(again, Mars())


def test_a_training_on_variants_is_evaluated_on_each_and_resumed(tmp_path, capsys):
    several = {"variants": ("num_players=2,3", "special_actions=false,true"), "pool_share": 0.3}
    few = {"evaluation_games": 20, "final_games": 6, "rollout": 20}
    folder = ppo.train(tiny_ppo(game="mars", run=tmp_path / "run", steps=600, **several, **few))
    assert re.search(r"do not tell .*special_actions=True.* apart", capsys.readouterr().out)
    ppo.train(ppo.Arguments(resume=folder, steps=1200))
    evaluation = json.loads((folder / "evaluation.json").read_text())
    results = evaluation["results"]
    assert len({result["variant"] for result in results}) == 4
    assert {result["opponent"] for result in results} == {"random", "greedy", "mcts:50"}
    assert evaluation["decisions"] >= 1200
    for game in (Mars(), Mars(num_players=3, special_actions=True)):
        load_agent(str(folder), game)
