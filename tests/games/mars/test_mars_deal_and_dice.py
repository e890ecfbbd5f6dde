"""The rules of Gardens of Mars: the deal, placing the gardeners, dice.

Positions are drawn as `mars_tools` explains. Seats are A, B, C, D, E; A has the turn unless a test says otherwise.
"""

import numpy as np
import pytest
from garden_agents.search.agent import MCTSAgent
from mars_tools import HEXES, INDEX, LOSE_1, Table, garden, hex_label, neighbours, position
from statistics_tools import uniform

from garden_core import Batch
from garden_core.batch.policies import GreedyPolicy
from garden_core.jit.rng import bounded, seed_rng, shuffle
from mars_env import Mars

# --- 1.4, 1.7: the deal ---


@pytest.mark.parametrize(
    "options",
    [{"num_players": n, "cooperative": True} for n in range(1, 6)] + [{"gardeners": 2}, {"peaks": 3}],
    ids=str,
)
def test_flowers_are_drawn_after_the_last_gardener_is_placed_and_before_the_first_roll(options):
    """[1.7]. The agreement test compares observations."""
    table = Table(**options).deal(7)
    n = table.game.num_players
    while table.now["phase"] == "place":
        assert not table.state["stocks"].any()
        table.take(table.legal[0])
    assert table.now["phase"] == "move"
    if not options.get("peaks"):
        rng = np.zeros(4, np.uint64)  # without peaks nothing is drawn before
        seed_rng(rng, np.uint64(7))
        bag = np.repeat(np.arange(6, dtype=np.int8), 10)
        shuffle(rng, bag, 60)
        drawn = [np.bincount(own, minlength=6).tolist() for own in bag.reshape(n, -1)]
        assert table.now["stocks"] == drawn
        assert table.dice == sorted(1 + int(bounded(rng, 6)) for _ in table.dice)


@pytest.mark.parametrize("options", [{}, {"num_players": 4, "peaks": 1}, {"gardeners": 2}], ids=str)
def test_redrawing_before_the_last_placement_changes_the_flowers_to_come_and_nothing_that_is_seen(options):
    table = Table(**options).deal(3)
    n = table.game.num_players
    for _ in range(n * table.game.option_values["gardeners"] - 1):
        table.take(table.legal[0])
    to_come = set()
    for seed in range(20):
        other = table.resampled(table.to_move, seed)
        assert other.now == table.now
        for seat in range(n):
            assert np.array_equal(other.observation(seat), table.observation(seat))
        to_come.add(str(other.take(other.legal[0]).now["stocks"]))
    assert len(to_come) == 20


@pytest.mark.parametrize("make_policy", [lambda: GreedyPolicy(5), lambda: MCTSAgent(simulations=30, seed=5)])
@pytest.mark.parametrize("options", [{}, {"num_players": 1, "cooperative": True}], ids=str)
def test_no_agent_that_places_the_last_gardener_predicts_the_flowers(make_policy, options):
    """The choice depends on the observation alone, not on the state of the generator."""
    chosen = set()
    for seed in range(12):
        batch = Batch(Mars(**options), 1)
        batch.reset(seed)  # without peaks, only the generator differs
        if batch.game.num_players == 2:
            batch.step(batch.action_mask.argmax(axis=1))
        chosen.add(int(make_policy()(batch, np.zeros(1, np.int64))[0]))
    assert len(chosen) == 1


@pytest.fixture(scope="module")
def peaks():
    """Places of four peaks: bool (60000, 91)."""
    batch = Batch(Mars(num_players=1, cooperative=True, peaks=4), 5000)
    dealt = []
    for seed in range(12):
        batch.reset(seed)
        dealt.append(batch.states["peaks"] == 1)
    return np.concatenate(dealt)


@pytest.mark.many_games
def test_as_many_peaks_as_chosen_are_on_any_hexes_but_the_centre(peaks):
    """[1.4]."""
    assert (peaks.sum(axis=1) == 4).all()
    often = peaks.mean(axis=0)
    assert often[INDEX[0, 0]] == 0
    assert abs(np.delete(often, INDEX[0, 0]) - 4 / 90).max() < 0.005


@pytest.mark.many_games
def test_peaks_fence_off_no_part_of_the_board(peaks):
    """[1.4]. Without a redraw, four peaks would fence off one hex or two in about 13 of these deals."""
    for hexagon in HEXES:
        for other in [hexagon, *neighbours(hexagon)]:
            rim = [INDEX[h] for h in {*neighbours(hexagon), *neighbours(other)} - {hexagon, other}]
            if len(rim) <= 4:
                assert not peaks[:, rim].all(axis=1).any(), f"{hexagon} and {other} are fenced off"


# --- 1.6: placing the gardeners ---


def test_each_player_in_turn_order_places_one_gardener_and_plants_nothing():
    """[1.6]."""
    table = Table(num_players=3).deal()
    for seat, label in enumerate(["hex -5,0", "hex 0,5", "hex 2,-1"]):
        assert (table.now["phase"], table.to_move) == ("place", seat)
        table.take(label)
    assert table.now["gardeners"] == [[[-5, 0]], [[0, 5]], [[2, -1]]]
    assert (table.now["flowers"], table.now["phase"], table.to_move) == ([], "move", 0)


def test_a_gardener_is_placed_on_any_hex_without_peak_or_gardener_but_not_on_the_centre():
    """[1.6]."""
    table = Table(num_players=2, peaks=3).deal(4)
    table.take(table.legal[10])
    taken = {(0, 0), *map(tuple, table.now["peaks"]), *map(tuple, table.now["gardeners"][0])}
    assert len(taken) == 5
    assert table.legal == [hex_label(hexagon) for hexagon in HEXES if hexagon not in taken]


def test_second_gardeners_are_placed_in_a_second_round_in_the_same_order():
    """[7.1]."""
    table = Table(gardeners=2).deal()
    for seat, label in enumerate(["hex 1,0", "hex 2,0", "second hex 3,0", "second hex 4,0"]):
        assert table.to_move == seat % 2
        assert {"second" in legal for legal in table.legal} == {seat >= 2}
        table.take(label)
    assert table.now["gardeners"] == [[[1, 0], [3, 0]], [[2, 0], [4, 0]]]
    assert (table.now["phase"], table.to_move) == ("move", 0)


# --- 2.2 to 2.5: dice ---


def dice_of_b(board):
    """Let A land on a flower next to it with the last die; return how many dice B rolls."""
    table = position(board, dice=[1]).take("hex -5,1")
    assert table.to_move == 1
    return len(table.dice)


def test_a_player_rolls_as_many_dice_as_neighbouring_hexes_hold_no_flower():
    """[2.2, 2.3]; the edge of the board does not count."""
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . y r
    A . . . . + . . . r B
     r . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    assert dice_of_b(board) == 1


def test_the_centre_and_peaks_count_as_hexes_without_a_flower():
    """[2.3]."""
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . ^ r . . .
    A . . . . + B r . . .
     r . . . . r r . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    assert dice_of_b(board) == 2


def test_a_hex_with_a_gardener_counts_unless_it_holds_a_flower():
    """[2.3]."""
    board = """
              .   .   .   .   .   .
            .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   C   Dr  .   .
    A   .   .   .   .   +   r   B   r   .   .
      r   .   .   .   .   .   r   r   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
            .   .   .   .   .   .   .
              .   .   .   .   .   .
    """
    assert dice_of_b(board) == 1


def test_with_two_gardeners_the_larger_of_the_two_counts():
    """[7.3]."""
    board = """
              A2  .   .   .   .   .
            .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    A1  .   .   .   .   +   .   B1  r   .   .
      r   .   .   .   .   .   .   r   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
            .   .   .   .   .   .   .
              .   .   .   .   .   B2
    """
    assert dice_of_b(board) == 4  # next to B1; 3 next to B2
    assert dice_of_b(board.replace("B1", "B3").replace("B2", "B1").replace("B3", "B2")) == 4


def test_each_value_of_a_die_is_equally_likely():
    """[2.2]."""
    assert uniform(
        [die for seed in range(1000) for die in Table().deal(seed).take("hex 2,0", "hex -2,0").dice], 6
    )


SURROUNDED = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . r r . .
    A . . . . + r B r . .
     r . . . . . r r . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . C
"""


def test_a_surrounded_player_rolls_no_dice_and_the_turn_ends_without_penalty():
    """[2.4]."""
    table = position(SURROUNDED, dice=[1], scores=[9, 6, 3]).take("hex -5,1")
    assert (table.to_move, table.scores) == (2, [8, 6, 3])
    assert table.dice


def test_a_surrounded_player_uses_dice_that_others_left():
    """[2.5]."""
    table = position(SURROUNDED, dice=[1, 1]).take("hex -5,1")
    assert table.to_move == 1
    assert table.legal == ["hex 1,0", "hex 1,1", "hex 2,-1", "hex 2,1", "hex 3,-1", "hex 3,0"]


def test_dice_are_not_rolled_again_until_all_of_them_have_been_used():
    """[2.5]."""
    table = garden(3, LOSE_1, dice=[1, 3, 5])
    assert (table.to_move, table.dice) == (1, [3, 5])
    table.take("hex 0,2", "plant red")
    assert (table.to_move, table.dice) == (2, [5])
    table.take("hex 0,5", "plant red")
    assert (table.to_move, len(table.dice)) == (0, 6)
