"""OpenSpiel: its own check of games, the same games as here, and its bots as policies."""

import itertools

import numpy as np
import pytest

pyspiel = pytest.importorskip("pyspiel")
pytest.importorskip("open_spiel")

from playing import dealt
from processes import python
from variants import VARIANTS

from benchmarks import search_peers
from garden_core import Batch, kernels, list_games, make
from garden_core.interfaces import BotPolicy, register_games
from garden_core.interfaces.openspiel import state_of

register_games()


def loaded(name, seed=1, **options):
    if "num_players" in options:
        options["players"] = options.pop("num_players")
    game = pyspiel.load_game(f"garden_{name}", options)
    game.seed(seed)
    return game


@pytest.mark.parametrize(("name", "options"), VARIANTS, ids=str)
def test_random_simulations(name, options):
    pyspiel.random_sim_test(loaded(name, **options), num_sims=1, serialize=False, verbose=False)


FORKS = """
import pyspiel
from forking import in_children
from garden_core.interfaces import register_games

register_games("cacti")
game = pyspiel.load_game("garden_cacti")

def deals(seed=None):
    if seed is not None:
        game.seed(seed)
    states = [game.new_initial_state() for _ in range(3)]
    for state in states:
        state.apply_action(0)
    return [state.position.states.tobytes() for state in states]

deals()
one, other = in_children(deals)
assert len({*one, *other, *deals()}) == 9
assert in_children(lambda: deals(seed=2)) == [deals(seed=2)] * 2
"""


def test_children_of_a_process_deal_different_games():
    """Unless they seed them. In a process without JAX, whose threads a fork would stop."""
    python("-c", FORKS)


def test_a_state_agrees_with_the_rules():
    """The same actions, chance included, give the same states, views, rewards and ends."""
    for name, options in VARIANTS:
        game, spiel = make(name, **options), loaded(name, **options)
        assert spiel.num_players() == game.num_players
        assert spiel.num_distinct_actions() == game.num_actions
        state, choose = spiel.new_initial_state(), np.random.default_rng(3)
        returns, view = np.zeros(game.num_players), np.zeros(game.observation_size, np.int8)
        for _ in range(150):
            if state.is_terminal():
                break
            position, by_chance = state.position.states[0], state.is_chance_node()
            if by_chance:
                assert [action for action, _ in state.chance_outcomes()] == state.legal_actions() == [0]
            else:
                assert state.current_player() == position["current_player"]
                labels = [state.action_to_string(action) for action in state.legal_actions()]
                assert labels == game.legal_labels(position)
                for seat in range(game.num_players):
                    kernels.observe(position, game.params[0], seat, view)
                    assert state.observation_tensor(seat) == view.tolist()
                    assert state.observation_string(seat) == game.text(position, seat)
            expected, action = position.copy(), int(choose.choice(state.legal_actions()))
            state.apply_action(action)
            returns += state.rewards()
            if not (by_chance or state.is_chance_node()):
                kernels.apply_action(expected, game.params[0], action)
                assert state.position.states[0].tobytes() == expected.tobytes()
        np.testing.assert_allclose(state.returns(), returns, atol=1e-5)


def test_a_clone_does_not_know_chance():
    spiel = loaded("mars", 7, peaks=3)
    state = spiel.new_initial_state()

    def after_chance():
        clone = state.clone()
        clone.apply_action(0)
        return str(clone)

    assert len({after_chance() for _ in range(4)}) == 4, "other deals"
    state.apply_action(0)
    while not state.is_chance_node():
        state.apply_action(state.legal_actions()[-1])
    assert len({after_chance() for _ in range(8)}) > 2, "other dice"


def test_seeds_give_the_same_games():
    dealt = []
    for seed in (5, 5, 6):
        state = loaded("cacti", seed).new_initial_state()
        state.apply_action(0)
        dealt.append(str(state))
    assert dealt[0] == dealt[1] != dealt[2]


@pytest.mark.parametrize("name", list_games())
def test_redrawn_states_look_the_same(name):
    state = loaded(name).new_initial_state()
    choose, sampler = np.random.default_rng(2), pyspiel.UniformProbabilitySampler(0.0, 1.0)
    others = set()
    while not state.is_terminal():
        if not state.is_chance_node():
            player = state.current_player()
            other = state.resample_from_infostate(player, sampler)
            assert other.information_state_string() == state.information_state_string(player)
            assert other.observation_tensor(player) == state.observation_tensor(player)
            assert other.legal_actions() == state.legal_actions()
            others.add(str(other) == str(state))
        state.apply_action(int(choose.choice(state.legal_actions())))
    assert (others == {True}) if make(name).information == "perfect" else (False in others)


def test_information_states_differ_by_history():
    """Two ways to the same position are different information states."""
    spiel = loaded("cacti")
    state = spiel.new_initial_state()
    state.apply_action(0)
    other = state_of(spiel, state.position.states[0])
    assert other.information_state_string() == state.information_state_string()
    action = state.legal_actions()[0]
    state.apply_action(action)
    later = state_of(spiel, state.position.states[0])
    assert later.observation_tensor(0) == state.observation_tensor(0)
    assert later.information_state_string(0) != state.information_state_string(0)


@pytest.mark.parametrize("name", list_games())
def test_information_states_recall_everything(name):
    """A line for the deal and for each action, from which every view of the seat can be computed."""
    spiel = loaded(name)
    state, choose = spiel.new_initial_state(), np.random.default_rng(5)
    seats, labels, seen = range(spiel.num_players()), ["deal"], [[]]
    while not state.is_terminal() and len(state.history()) < 80:
        action = int(choose.choice(state.legal_actions()))
        if not state.is_chance_node():
            labels.append(state.action_to_string(action))
            seen.append([])
        state.apply_action(action)
        seen[-1] = [state.observation_tensor(seat) for seat in seats]
    for seat in seats:
        view = np.zeros(spiel.garden_game.observation_size)
        lines = state.information_state_string(seat).splitlines()
        for line, label, views in zip(lines, labels, seen, strict=True):
            assert line.startswith(label)
            for change in line.removeprefix(label).split():
                entry, value = change.split("=")
                view[int(entry)] = int(value)
            assert view.tolist() == views[seat]


def test_there_are_no_information_state_tensors():
    """The current view is not all that a seat has seen, so it must not pass for that."""
    spiel = loaded("cacti")
    kind, state = spiel.get_type(), spiel.new_initial_state()
    assert (kind.provides_information_state_tensor, kind.provides_observation_tensor) == (False, True)
    state.apply_action(0)
    with pytest.raises(ValueError, match="there is no information-state tensor; use observation_tensor"):
        state.information_state_tensor(0)


def test_options_are_parameters():
    game = pyspiel.load_game("garden_mars(players=3,peaks=1,reward=margin)")
    assert game.num_players() == 3
    assert game.get_type().reward_model == pyspiel.GameType.RewardModel.REWARDS
    assert loaded("mars", cooperative=True).get_type().utility == pyspiel.GameType.Utility.IDENTICAL
    with pytest.raises(ValueError, match="peaks must be 0 to 2"):
        loaded("mars", num_players=3, peaks=4)
    register_games()
    assert {f"garden_{name}" for name in list_games()} <= set(pyspiel.registered_names())


@pytest.mark.parametrize("name", ["cacti", "botanicus"])
def test_the_bot_of_the_leaderboard_plays(name, monkeypatch):
    """Legal actions, the same ones from the same seed."""
    monkeypatch.setattr(search_peers, "SIMULATIONS", 2)
    batch = dealt(make(name), 2, 4)
    first, second = (search_peers.is_mcts(batch.game, seed=5)(batch, batch.all_rows) for _ in range(2))
    assert batch.action_mask[batch.all_rows, first].all()
    assert (first == second).all()


def test_bots_see_nothing_hidden():
    """The other hand and the deck are redrawn in a bot's states."""
    game, given = make("cacti"), []

    class Watching:
        def step(self, state):
            given.append(state.position.states[0].copy())
            return state.legal_actions()[0]

    batch = dealt(game, 30, 3)
    BotPolicy(game, lambda spiel: Watching())(batch, batch.all_rows)
    states = np.array(given)
    assert (states["deck"] != batch.states["deck"]).any(1).all()
    own, other = (states["basic_in_hand"] == batch.states["basic_in_hand"]).T
    assert own.all()
    assert not other.all()


def test_a_bot_for_one_variant_leaves_the_others_alone():
    remembering, taken = make("cacti", memory="history"), []

    class First:
        def step(self, state):
            taken.append(state.position.game)
            return state.legal_actions()[0]

    batch = dealt(remembering, 1, 3)
    BotPolicy(remembering, lambda spiel: First())(batch, batch.all_rows)
    assert taken == [remembering]
    assert pyspiel.load_game("garden_cacti").observation_tensor_shape() == [113]


def test_another_class_of_the_same_name_is_refused():
    class Other(make("cacti").__class__):
        pass

    with pytest.raises(
        ValueError, match=r"garden_cacti is registered for another class, cacti_env\.game:Cacti"
    ):
        register_games(Other)
    with pytest.raises(ValueError, match="garden_cacti is registered for another class"):
        BotPolicy(Other(), lambda spiel: None)


@pytest.mark.parametrize("name", list_games())
def test_wrong_calls_raise_and_change_nothing(name):
    game = loaded(name)
    state, observer = game.new_initial_state(), game.make_py_observer()
    while not state.is_terminal() and len(state.history()) < 40:
        before = state.position.states.tobytes(), state.history(), state.current_player()
        illegal = {*range(-1, game.num_distinct_actions() + 1)} - {*state.legal_actions()}
        for action in (*illegal, -(10**9), 2**62, 2**80, None, "0", 1.5, [0]):
            with pytest.raises((ValueError, TypeError, pyspiel.SpielError)):  # of -1 by OpenSpiel itself
                state.apply_action(action)
        calls = [
            (state.information_state_string,),
            (lambda seat, state=state: state.resample_from_infostate(seat, lambda: 0.5),),
            (observer.set_from, state),
            (observer.string_from, state),
        ]
        for (call, *arguments), seat in itertools.product(calls, (-1, -4, state.num_players(), 10**6)):
            with pytest.raises(ValueError, match="seat must be 0 to"):
                call(*arguments, seat)
        if not state.is_chance_node():
            with pytest.raises(ValueError, match="does not exist"):
                state.action_to_string(state.current_player(), 10**9)
        assert (state.position.states.tobytes(), state.history(), state.current_player()) == before
        state.apply_action(state.legal_actions()[-1])


def test_states_of_other_games_are_refused():
    game = pyspiel.load_game("garden_cacti")
    batch = Batch("mars", 1)
    for state in (batch.states[0], game.garden_game.new_states(1)[0], None, 5):
        with pytest.raises(ValueError, match="not a dealt state record of cacti"):
            state_of(game, state)
