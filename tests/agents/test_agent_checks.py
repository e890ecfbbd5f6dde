"""Checks of agents: whether values predict outcomes, and whether beliefs predict hidden cards."""

import numpy as np
import pytest
from garden_agents import belief, belief_calibration, check_agent, load
from garden_agents.networks.network_agent import shipped
from playing import in_play

from garden_core import GreedyPolicy, list_games, make

CACTI = make("cacti")


class Changed:
    """The pretrained network of a game, with other values."""

    def __init__(self, game, change):
        self.network, self.change = load(game), change

    def evaluate(self, observation, mask):
        probabilities, values = self.network.evaluate(observation, mask)
        return probabilities, self.change(values)


@pytest.mark.parametrize(
    ("name", "players"), [(name, n) for name in list_games() for n in shipped(make(name))]
)
def test_values_of_the_shipped_networks_pass(name, players):
    found = check_agent(load(name, players), make(name, num_players=players), games=60)
    assert found["correlation"][-1] > 0.5
    assert abs(found["mean_value"][0]) < 0.3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda values: values[:, 0], None),
        (lambda values: -values[:, 0], "reversed, as if they were the opponent's"),
        (lambda values: values[:, ::-1], "reversed"),
        (lambda values: (values[:, 0] + 1) / 2, "chances to win from 0 to 1 are: return"),
        (lambda values: np.zeros(len(values)), "uncorrelated with the outcomes"),
        (lambda values: 3 * values, "values from -1 to 1"),
        (lambda values: values * np.nan, "values from -1 to 1"),
    ],
)
def test_values_of_another_meaning_are_named(change, words):
    agent = Changed(CACTI, change)
    if words is None:
        check_agent(agent, CACTI, games=60)
        return
    with pytest.raises(ValueError, match=words):
        check_agent(agent, CACTI, games=60)


def test_values_counted_from_seat_0_are_named():
    class FromSeat0(Changed):
        def evaluate(self, observation, mask):
            probabilities, values = super().evaluate(observation, mask)
            is_second = observation[:, CACTI.observation_slices["seat"]] == 1
            return probabilities, np.where(is_second, values[:, ::-1], values)

    with pytest.raises(ValueError, match="counted from seat 0: count them from the player to move"):
        check_agent(FromSeat0(CACTI, lambda values: values), CACTI, games=60)


def test_values_of_a_cooperative_game_are_compared_with_the_score_to_come():
    game = make("mars", num_players=1, cooperative=True)

    class Counting:
        def evaluate(self, observation, mask):
            return mask / mask.sum(1, keepdims=True), self.sign * mask.mean(1)

    agent = Counting()
    agent.sign = 1.0
    found = check_agent(agent, game, games=60)  # fewer free hexes towards the end
    assert found["correlation"][0] > 0.1
    agent.sign = -1.0
    with pytest.raises(ValueError, match="reversed"):
        check_agent(agent, game, games=60)


def test_a_belief_checks_the_network_as_search_does():
    batch = in_play(CACTI, 4, decisions=5, history=True)
    with pytest.raises(ValueError, match="evaluate must return"):
        belief(batch, Changed(CACTI, lambda values: values * np.nan))


def test_a_belief_is_calibrated_for_the_network_and_overconfident_for_another_player():
    network = load("cacti", sampled=True)
    own, uniform = belief_calibration(CACTI, network, games=12)["bonus"]
    others, _ = belief_calibration(CACTI, network, GreedyPolicy(1), games=12)["bonus"]
    assert own.predictions > 100
    assert own.log_loss < uniform.log_loss < others.log_loss
    assert own.accuracy > others.accuracy
    assert own.calibration_error < others.calibration_error
    assert 0 <= uniform.calibration_error <= 1


def test_calibration_needs_private_fields_and_a_player():
    with pytest.raises(ValueError, match="mars has no private fields"):
        belief_calibration(make("mars"), load("mars"))
    with pytest.raises(ValueError, match="give a player"):
        belief_calibration(CACTI, Changed(CACTI, lambda values: values))
