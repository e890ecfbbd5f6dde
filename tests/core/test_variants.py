"""Variants of a game: a subclass with other rules."""

import json

import numpy as np
import pytest
from garden_agents import NetworkAgent
from garden_agents.games import hints_of, networks_folder
from garden_agents.networks.architecture import Architecture, empty_network
from garden_agents.networks.network_agent import save_network, start_from
from pig import HOLD, ROLL, Pig

from botanicus_env import Botanicus
from cacti_env import Cacti
from garden_core import Batch, compiled, make

pig_apply = Pig.rules.apply_action


@compiled
def apply_action(state, params, action):
    player = state.current_player
    pig_apply(state, params, action)
    state.score[player] += action == HOLD


class Generous(Pig):
    """A hold gains a point more."""

    name = "generous"
    rules = Pig.rules._replace(apply_action=apply_action)


@compiled
def points(state, params, out):
    out[:] = 2 * state.score


def test_a_variant_plays_by_its_rules_and_is_the_game_in_all_else():
    batches = Batch(Pig(), 1), Batch(Generous(), 1)
    for batch in batches:
        batch.reset(seed=3)
        while not batch.action_mask[0, HOLD]:
            batch.step([ROLL])
        batch.step([HOLD])
    plain, generous = (batch.game.scores(batch.states[0]) for batch in batches)
    assert (np.array(generous) - plain).tolist() == [1, 0]
    game = batches[1].game
    assert game.labels == Pig().labels
    snapshot = json.loads(json.dumps(game.snapshot(batches[1].states[0])))
    assert snapshot["game"] == "generous"
    with pytest.raises(ValueError, match="game must be 'pig', not 'generous'"):
        Pig().from_snapshot(snapshot)


@pytest.mark.parametrize("kind", ["mars:Mars", "cacti:Cacti", "botanicus:Botanicus"])
def test_snapshots_of_a_variant_are_read(kind):
    name = kind.partition(":")[0]
    base = type(make(name))
    variant = type(base.__name__, (base,), {"name": f"own_{name}", "rules": base.rules})()
    state = base().from_snapshot(base().snapshot(dealt(base()).states[0]), 1)
    snapshot = base().snapshot(state) | {"game": variant.name}
    assert variant.snapshot(variant.from_snapshot(snapshot, 1)) == snapshot
    assert hints_of(variant) is hints_of(base)
    assert networks_folder(variant) is None


def dealt(game):
    batch = Batch(game, 1)
    batch.reset(seed=1)
    return batch


def test_players_read_what_differs():
    game = Generous()
    assert game.title == "Pig (generous)"
    assert game.rules_text.startswith("A variant of Pig. A hold gains a point more.\n\n")
    assert make("mars").rules_text.startswith("# Gardens of Mars")

    class Tied(Botanicus):
        """Level scores are a tie."""

        name = "tied"
        rules = Botanicus.rules._replace(standings=Botanicus.rules.points)

    assert Tied().summary == f"A variant of Botanicus. Level scores are a tie.\n\n{Botanicus().summary}"
    assert Tied().rules_text == f"Level scores are a tie.\n\n{Botanicus().rules_text}"


def test_points_that_were_equal_stay_so():
    class Double(Pig):
        """Points count twice."""

        name = "double"
        rules = Pig.rules._replace(points=points)

    assert Double.rules.standings is Double.rules.public_points is points


@pytest.mark.parametrize(
    ("base", "own", "words"),
    [
        (Pig, {"__doc__": "More."}, "Own changes rules of pig: give it a name of its own"),
        (Pig, {"name": "own"}, "Own changes rules of pig: say in its docstring what differs"),
        (Pig, {"name": "own", "__doc__": "More.", "labels": ("a", "b", "c")}, "cannot define labels"),
        (Cacti, {"name": "own", "__doc__": "More."}, "changes points, but not public_points and standings"),
    ],
)
def test_faulty_variants_are_refused(base, own, words):
    with pytest.raises(TypeError, match=words):
        type("Own", (base,), {"rules": base.rules._replace(points=points), **own})


def test_a_variant_starts_from_the_networks_of_its_game(tmp_path):
    path, architecture = tmp_path / "pig.safetensors", Architecture(hidden=8)
    network = empty_network(Pig(), architecture, "outcome")
    save_network(path, Pig(), network, architecture, "outcome", {})
    game = Generous()
    with pytest.raises(ValueError, match="made for pig, of which generous is a variant, and may play badly"):
        NetworkAgent.load(path, game)
    own = empty_network(game, architecture, "outcome")
    start_from(path, own, game, architecture)
    for name, weights in network.weights.items():
        np.testing.assert_array_equal(own.weights[name], weights)
