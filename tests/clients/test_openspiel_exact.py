"""OpenSpiel's exact algorithms on a Cacti of few cards, whose chance nodes list all outcomes."""

import json

import numpy as np
import pytest
from data_tools import written

pyspiel = pytest.importorskip("pyspiel")
pytest.importorskip("open_spiel")

from best_response import best_response, deals
from open_spiel.python import policy
from open_spiel.python.algorithms import cfr, exploitability
from open_spiel.python.algorithms.best_response import BestResponsePolicy
from test_cacti_best_response import FEWER, by_checksum, data_of

from garden_core.interfaces import register_games

register_games()
EVEN_FEWER = {"count": [11, 1]}
"""144 deals and 1004 information states, instead of 522 and 9392."""


def loaded(folder, outcomes=522, **changes):
    path = written(folder, data_of(**changes))
    return pyspiel.load_game(f"garden_cacti(cards={path},max_chance_outcomes={outcomes})")


@pytest.fixture
def game(tmp_path):
    return loaded(tmp_path, **FEWER)


class Checksum(policy.Policy):
    """The agent `by_checksum`; an observation is part of the information state."""

    def action_probabilities(self, state, player_id=None):
        view = state.position.view(state.current_player())
        return {by_checksum(view, state.legal_actions()): 1.0}


def plain(snapshot):
    return json.dumps(snapshot, sort_keys=True)


def dealt(game):
    """The deals' snapshots, and their probabilities."""
    root = game.new_initial_state()
    after = [root.child(outcome).position.states[0] for outcome in root.legal_actions()]
    return [plain(game.garden_game.snapshot(state)) for state in after], [
        p for _, p in root.chance_outcomes()
    ]


def test_chance_nodes_list_all_deals(game):
    assert game.get_type().chance_mode == pyspiel.GameType.ChanceMode.EXPLICIT_STOCHASTIC
    assert game.max_chance_outcomes() == 522
    snapshots, probabilities = dealt(game)
    assert len(snapshots) == len(set(snapshots)) == 522
    assert sum(probabilities) == pytest.approx(1, abs=1e-12)
    expected = {plain(world.snapshot()): probability for probability, world in deals(data_of(**FEWER))}
    assert dict(zip(snapshots, probabilities, strict=True)) == pytest.approx(expected, abs=1e-12)


def test_sampled_deals_are_among_them(game):
    sampling = pyspiel.load_game("garden_cacti", game.get_parameters() | {"max_chance_outcomes": 1})
    sampling.seed(1)
    sampled = {dealt(sampling)[0][0] for _ in range(3000)}
    assert sampled <= set(dealt(game)[0])
    assert len(sampled) > 400


def test_the_history_determines_the_state(game):
    pyspiel.random_sim_test(game, num_sims=20, serialize=False, verbose=False)
    choose, shuffles = np.random.default_rng(1), 0
    for _ in range(60):
        state, again = game.new_initial_state(), game.new_initial_state()
        while not state.is_terminal():
            shuffles += state.is_chance_node() and state.position.is_dealt
            action, clone = int(choose.choice(state.legal_actions())), state.clone()
            for other in (state, again, clone):
                other.apply_action(action)
            records = {other.position.states.tobytes() for other in (state, again, clone)}
            assert len(records) == 1
    assert shuffles


def test_too_many_outcomes_are_refused(tmp_path):
    with pytest.raises(ValueError, match="a chance event has 522 outcomes; max_chance_outcomes is 521"):
        loaded(tmp_path, 521, **FEWER)
    with pytest.raises(ValueError, match="max_chance_outcomes must be at least 1, not 0"):
        loaded(tmp_path, 0, **FEWER)
    with pytest.raises(ValueError, match="a chance event has more than 100000 combinations of draws"):
        pyspiel.load_game("garden_cacti(max_chance_outcomes=1000)")


@pytest.mark.parametrize("seat", [0, 1])
def test_the_best_response_equals_our_own(game, seat):
    """Returns are from -1 to 1, wins from 0 to 1."""
    response = BestResponsePolicy(game, seat, Checksum(game, [0, 1]))
    wins = (response.value(game.new_initial_state()) + 1) / 2
    assert wins == pytest.approx(best_response(data_of(**FEWER), by_checksum, seat), abs=1e-9)


def is_halved(game, iterations):
    """Whether CFR halves the exploitability of uniformly random play."""
    solver = cfr.CFRSolver(game)
    for _ in range(iterations):
        solver.evaluate_and_update_policy()
    before = exploitability.nash_conv(game, policy.UniformRandomPolicy(game))
    return exploitability.nash_conv(game, solver.average_policy()) < before / 2


def test_cfr_halves_exploitability(tmp_path):
    assert is_halved(loaded(tmp_path, **EVEN_FEWER), 3)


@pytest.mark.long
def test_cfr_halves_exploitability_with_all_deals(game):
    assert is_halved(game, 4)
