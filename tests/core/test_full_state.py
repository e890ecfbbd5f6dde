"""The full state, for training: what is hidden from a seat, what all see, names and slices of parts, PettingZoo's `state`."""

import itertools
import re

import numpy as np
import pytest
from pettingzoo.utils import turn_based_aec_to_parallel
from pig import Pig
from toys import Cards

from botanicus_env import botanicus_v0
from cacti_env import cacti_v0
from garden_core import Batch, Part, kernels, make
from garden_core.jit import game_seed
from mars_env import mars_v0

GAMES = {
    "cacti": make("cacti"),
    "remembering": make("cacti", memory="history"),
    "values": make("cacti", cards_shown="values"),
    "botanicus": make("botanicus", num_players=3),
    "mars": make("mars", num_players=4),
}
each_game = pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)


def positions(game, games=6):
    """A batch, at random decisions of its games."""
    batch, rng = Batch(game, games), np.random.default_rng(3)
    batch.reset(5)
    for number in range(60):
        yield batch
        for _ in range(1 + number % 3):
            batch.step((rng.random(batch.action_mask.shape) * batch.action_mask).argmax(1))


def named(game, entries):
    return {name: entries[where].tolist() for name, where in game.hidden_slices.items()}


@pytest.mark.parametrize("game", [GAMES["cacti"], GAMES["values"]], ids=repr)
def test_cacti_hides_hand_bonus_and_decks(game):
    types, basics = len(game.cards.types), len(game.cards.basic)

    def values(k):
        card = game.cards.basic[k]
        return [n for half in (card.upper, card.lower) for n in (*half.cost, half.points)]

    for batch in positions(game):
        for seat in range(2):
            for row, entries in enumerate(batch.observe_hidden(seat)):
                now, shown = game.snapshot(batch.states[row]), named(game, entries)
                other = 1 - seat
                assert shown["opponent's bonus"] == [int(now["bonus"][other] == t) for t in range(types)]
                hand, below = now["basic_in_hand"][other], now["arrangement_deck"][1:]
                if game is GAMES["values"]:
                    held, deck = ([n for k in cards for n in values(k)] for cards in (hand, below))
                else:
                    held, deck = [int(k in hand) for k in range(basics)], [k + 1 for k in below]
                for name, entries in (
                    ("opponent's basic", held),
                    ("deck", [t + 1 for t in now["deck"]]),  # both decks from the top
                    ("arrangement deck", deck),
                ):
                    assert shown[name] == entries + [0] * (len(shown[name]) - len(entries))


def test_botanicus_hides_hands_and_pile():
    game = GAMES["botanicus"]
    for batch in positions(game):
        for seat in range(3):
            for row, entries in enumerate(batch.observe_hidden(seat)):
                now, shown = game.snapshot(batch.states[row]), named(game, entries)
                for i in range(1, 4):
                    hand = now["hands"][(seat + i) % 3] if i < 3 else []
                    kinds = shown[f"seat {i} after it: hand"]
                    assert kinds == hand + [0] * (len(kinds) - len(hand))
                codes = [kind + 1 for kind in now["pile"]]
                assert shown["pile"] == codes + [0] * (len(shown["pile"]) - len(codes))


def test_mars_hides_nothing():
    game = GAMES["mars"]
    assert (game.hidden_parts, game.hidden_size, game.hidden_slices) == ((), 0, {})
    batch = next(positions(game))
    assert batch.observe_hidden(2).shape == (6, 0)
    assert (batch.observe_public() == batch.observe(0)).all()


@each_game
def test_the_public_part_is_what_every_seat_sees(game):
    """It never changes with what any seat cannot see, while observations do."""
    private = [part.name for part in game.observation_parts if part.private]
    expected = {"cacti": {"own bonus", "own basic"}, "botanicus": {"own hand"}, "mars": set()}
    unseen = {"unseen arrangements"} & game.observation_slices.keys()
    assert set(private) == expected[game.name] | unseen
    for batch in positions(game, 3):
        public, own = batch.observe_public(), batch.observe(0)
        for name, where in game.observation_slices.items():
            assert (public[:, where] == (0 if name in private else own[:, where])).all()


@each_game
def test_parts_have_names_and_slices(game):
    for parts, slices, size in (
        (game.observation_parts, game.observation_slices, game.observation_size),
        (game.hidden_parts, game.hidden_slices, game.hidden_size),
        (game.action_parts, game.action_slices, game.num_actions),
    ):
        assert list(slices) == [part.name for part in parts]
        assert len(slices) == len(parts)
        ends = np.cumsum([0, *(part.size for part in parts)])
        assert [(each.start, each.stop) for each in slices.values()] == list(itertools.pairwise(ends))
        assert ends[-1] == size
    plant = game.action_slices["plant starting" if game.name == "cacti" else list(game.action_slices)[-1]]
    assert len(game.labels[plant]) == plant.stop - plant.start


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        *((values, (0, np.inf)) for values in ("≥ 0", ">= 0", ">=0")),
        *((values, (0, 5)) for values in ("0 … 5", "0 ... 5", "0…5", "0, 1, 5")),
        ("-1, 0", (-1, 0)),
        ("7", (7, 7)),
    ],
)
def test_values_of_a_part(values, bounds):
    assert Part("score", 1, "the score", values).bounds == bounds


@pytest.mark.parametrize(
    "values", ["", "> 0", "=> 0", "≥ 0 … 5", "0-5", "0 to 5", "0.5 … 1", "5 … 0", "0,", " 0, 1"]
)
def test_values_of_no_known_form(values):
    with pytest.raises(
        ValueError, match="values of part 'score' must be written like .* not " + re.escape(repr(values))
    ):
        Part("score", 1, "the score", values)


def test_seats_and_states_are_as_for_observe():
    batch = Batch("cacti", 3)
    with pytest.raises(RuntimeError, match=r"call reset\(\) before observe_hidden\(\)"):
        batch.observe_hidden(0)
    batch.reset(1)
    seats = np.array([1, 0, 1])
    each = np.stack([batch.observe_hidden(seat) for seat in (0, 1)])
    assert (batch.observe_hidden(seats) == each[seats, range(3)]).all()
    assert (batch.observe_hidden(0, batch.states[[2]]) == each[0, 2]).all()
    for wrong in (2, [0, 1], np.array([0, 5, 0])):
        with pytest.raises(ValueError, match="player must be"):
            batch.observe_hidden(wrong)


@each_game
def test_redraws_are_those_of_the_rules(game):
    """Of the player to move, or of the seats that are named; nothing else of the batch changes."""
    *_, batch = positions(game, 3)
    before = batch.states.copy()
    for seats in (None, 1, np.array([1, 0, 1])):
        players = np.broadcast_to(batch.current_player if seats is None else seats, 3)
        drawn = batch.redraws(4, 9, seats)
        assert drawn.shape == (3, 4)
        for (row, k), _ in np.ndenumerate(drawn["decisions"]):
            state = before[row : row + 1].copy()
            seed = game_seed(np.uint64(9), np.uint64(row), np.uint64(k))
            kernels.resample(state[0], game.params[0], players[row], seed)
            assert state.tobytes() == drawn[row, k].tobytes()
    assert batch.states.tobytes() == before.tobytes()
    for wrong in ({"number": 0, "seed": 1}, {"number": 1, "seed": -1}, {"number": 1, "seed": 1, "player": 9}):
        with pytest.raises(ValueError, match=r"number|seed|player"):
            batch.redraws(**wrong)


def test_games_that_describe_no_parts():
    """With perfect information all is public; with imperfect information one must say what is private."""
    batch = Batch(Pig, 2)
    batch.reset(1)
    assert (batch.observe_public() == batch.observe(0)).all()
    batch = Batch(Cards, 2)
    batch.reset(1)
    assert batch.observe_hidden(0).shape == (2, 0)
    with pytest.raises(ValueError, match="cards does not say which parts of an observation are private"):
        batch.observe_public()


def test_state_in_pettingzoos_conversion():
    env = turn_based_aec_to_parallel(cacti_v0.env())
    observations, _ = env.reset(seed=4)
    for _ in range(30):
        assert env.state_space.contains(env.state())
        mover = next(agent for agent, seen in observations.items() if seen["action_mask"].any())
        observations, *_ = env.step({mover: int(observations[mover]["action_mask"].argmax())})
        if not env.agents:
            break


@pytest.mark.parametrize("module", [mars_v0, cacti_v0, botanicus_v0])
def test_state_of_pettingzoo(module):
    env = module.env()
    with pytest.raises(RuntimeError, match=r"call reset\(\) before state\(\)"):
        env.state()
    env.reset(seed=4)
    game, batch = env.unwrapped.game, Batch(env.unwrapped.game, 1)
    batch.reset(4)
    for _ in range(20):
        state = env.state()
        assert env.unwrapped.state_space.contains(state)
        assert (state == np.hstack([batch.observe(0), batch.observe_hidden(0)])[0]).all()
        action = int(batch.action_mask[0].argmax())
        env.step(action)
        batch.step([action])
    assert state.shape == (game.observation_size + game.hidden_size,)
    state[:] = 1
    assert not (env.state() == 1).all()
