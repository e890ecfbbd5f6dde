"""Values of networks compared with outcomes."""

import math

import garden_agents
import numpy as np
import pytest
from garden_agents.matches.meet import places
from garden_agents.matches.values import by_fifths, fifths, first_place_values, self_play

from garden_core import make


@pytest.fixture(scope="module")
def agent():
    network_agent = garden_agents.load("cacti")
    network_agent.sampled = True
    return network_agent


def test_games_are_noted_from_the_seat_that_decides(agent):
    game, finished = make("cacti"), []
    games = self_play(game, agent, 12, 3, finished.append)
    assert sum(finished) == len(games) == 12
    for played in games:
        assert len(played.values) == len(played.outcomes) == len(played.actions) == len(played.states) > 5
        won = places(game, played.end)[0] == 0
        seats = played.states["current_player"]
        tied = won.all()
        np.testing.assert_array_equal(played.outcomes, 0 if tied else np.where(won[seats], 1, -1))
        assert played.values.dtype == np.float32
        assert played.actions.dtype == np.int64
        for state, action in zip(played.states, played.actions, strict=True):
            legal = game.legal_labels(state)
            assert len(legal) > 1
            assert game.labels[action] in legal


def test_means_and_correlation_by_fifths():
    values, outcomes = [np.array([1.0, 0, -1, 1] * 5)] * 2, [np.array([1.0, 0, -1, -1] * 5)] * 2
    summary = by_fifths(values, outcomes)
    assert summary["mean_value"] == [0.25] * 6
    assert summary["mean_outcome"] == [-0.25] * 6
    assert summary["correlation"] == pytest.approx(
        [np.corrcoef([1, 0, -1, 1], [1, 0, -1, -1])[0, 1]] * 6, abs=1e-4
    )
    assert fifths(7).tolist() == [0, 0, 1, 2, 2, 3, 4]


def test_fifths_without_decisions_are_nan():
    summary = by_fifths([np.array([0.5])], [np.array([1.0])])
    assert summary["mean_value"][:2] == [0.5, 0.5]
    assert all(map(math.isnan, summary["mean_outcome"][2:] + summary["correlation"]))


def test_a_team_has_no_first_place():
    game = make("mars", num_players=1, cooperative=True)
    state = game.new_states(1)[0]
    assert not first_place_values(game, state).any()
