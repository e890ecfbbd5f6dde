"""The rules of Gardens of Mars, one test for each sentence of the rulebook and of our reading of it.

Positions are drawn as `mars_tools` explains. Seats are A, B, C, D, E; A is to move unless a test says otherwise.
"""

import json
import re

import numpy as np
import pytest
from mars_tools import HEXES, INDEX, Table, hex_label, neighbours, position

from garden_core import Batch, kernels, make
from mars_env import Mars

GARDEN = """
         . . . . . E
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    D . . . . + . . . . .
     . . . . . . . . . .
      . r r r r . A b .
       . . . . . . . .
        . . . . . . .
         C . . . . B
"""
ADD_5 = ("hex 0,2", "plant red")  # A plants there a fifth red flower
ADD_1 = ("hex 0,2", "plant white")  # or a lonely white one
LOSE_1 = ("hex 2,2",)  # A lands on the blue flower


def garden(num_players, moves=(), dice=(1, 3), **others):
    """GARDEN with so many players, after A has taken the moves."""
    board = re.sub("[ABCDE]", lambda seat: seat[0] if "ABCDE".index(seat[0]) < num_players else ".", GARDEN)
    table = position(board, dice=dice, **others)
    for label in moves:
        table.take(label)
    return table


def hexes(*labels):
    return {f"hex {label}" for label in labels}


# --- the deal ---


@pytest.mark.parametrize(("num_players", "each"), [(1, 60), (2, 30), (3, 20), (4, 15), (5, 12)])
def test_each_player_draws_60_over_n_of_ten_flowers_of_six_colours(num_players, each):
    for seed in range(20):
        stocks = np.array(Table(num_players=num_players, cooperative=True).deal(seed).now["stocks"])
        assert stocks.shape == (num_players, 6)
        assert (stocks.sum(axis=1) == each).all()
        assert (stocks.sum(axis=0) == 10).all()


def test_the_flowers_are_drawn_at_random():
    batch = Batch(Mars(), 4000)
    batch.reset(seed=1)
    drawn = batch.states["stocks"][:, 0]  # of each colour hypergeometric: mean 5, variance 125 / 59
    assert abs(drawn.mean(axis=0) - 5).max() < 0.12
    assert abs(drawn.var(axis=0) - 125 / 59).max() < 0.3


@pytest.fixture(scope="module")
def peaks():
    """Where four peaks stand: bool (60000, 91)."""
    batch = Batch(Mars(num_players=1, cooperative=True, peaks=4), 5000)
    dealt = []
    for seed in range(12):
        batch.reset(seed)
        dealt.append(batch.states["peaks"] == 1)
    return np.concatenate(dealt)


def test_as_many_peaks_as_chosen_stand_on_any_hexes_but_the_centre(peaks):
    assert (peaks.sum(axis=1) == 4).all()
    often = peaks.mean(axis=0)
    assert often[INDEX[0, 0]] == 0
    assert abs(np.delete(often, INDEX[0, 0]) - 4 / 90).max() < 0.005


def test_peaks_fence_off_no_part_of_the_board(peaks):
    # Four peaks can fence off one hex or two, and would, were they not redrawn, in about 13 of these deals.
    for hexagon in HEXES:
        for other in [hexagon, *neighbours(hexagon)]:
            rim = [INDEX[h] for h in {*neighbours(hexagon), *neighbours(other)} - {hexagon, other}]
            if len(rim) <= 4:
                assert not peaks[:, rim].all(axis=1).any(), f"{hexagon} and {other} are fenced off"


# --- 1: placing the gardeners ---


def test_each_player_in_turn_order_places_one_gardener_and_plants_nothing():
    table = Table(num_players=3).deal()
    for seat, label in enumerate(["hex -5,0", "hex 0,5", "hex 2,-1"]):
        assert (table.now["phase"], table.to_move) == ("place", seat)
        table.take(label)
    assert table.now["gardeners"] == [[[-5, 0]], [[0, 5]], [[2, -1]]]
    assert table.now["flowers"] == []
    assert (table.now["phase"], table.to_move) == ("move", 0)


def test_a_gardener_is_placed_on_any_hex_without_peak_or_gardener_but_not_on_the_centre():
    table = Table(num_players=2, peaks=3).deal(4)
    first = table.legal[10]
    table.take(first)
    taken = {(0, 0), *map(tuple, table.now["peaks"]), *map(tuple, table.now["gardeners"][0])}
    assert len(taken) == 5
    assert table.legal == [hex_label(hexagon) for hexagon in HEXES if hexagon not in taken]


def test_second_gardeners_are_placed_in_a_second_round_in_the_same_order():
    table = Table(gardeners=2).deal()
    for seat, label in enumerate(["hex 1,0", "hex 2,0", "second hex 3,0", "second hex 4,0"]):
        assert table.to_move == seat % 2
        assert {"second" in legal for legal in table.legal} == {seat >= 2}
        table.take(label)
    assert table.now["gardeners"] == [[[1, 0], [3, 0]], [[2, 0], [4, 0]]]
    assert (table.now["phase"], table.to_move) == ("move", 0)


# --- 2: dice ---


def dice_of_b(board):
    """A lands on a flower beside it with the last die; return how many dice B rolls."""
    table = position(board, dice=[1])
    table.take("hex -5,1")
    assert table.to_move == 1
    return len(table.dice)


def test_a_player_rolls_as_many_dice_as_neighbouring_hexes_hold_no_flower():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . y . .
    A . . . . + . B r . .
     r . . . . . . r . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    assert dice_of_b(board) == 3


def test_the_centre_counts_as_a_hex_without_a_flower():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . r r . . .
    A . . . . + B r . . .
     r . . . . r r . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    assert dice_of_b(board) == 1


def test_a_peak_counts_as_a_hex_without_a_flower():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . ^ ^ . .
    A . . . . + r B r . .
     r . . . . . r r . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    assert dice_of_b(board) == 2


def test_a_gardener_counts_unless_it_stands_on_a_flower():
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


def test_only_hexes_on_the_board_count():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    A . . . . + . . . . B
     r . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    assert dice_of_b(board) == 3


def test_the_flower_under_the_gardener_itself_does_not_matter():
    board = """
              .   .   .   .   .   .
            .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    A   .   .   .   .   +   .   Br  .   .   .
      r   .   .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
            .   .   .   .   .   .   .
              .   .   .   .   .   .
    """
    assert dice_of_b(board) == 6


def test_with_two_gardeners_the_larger_of_the_two_counts():
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
    assert dice_of_b(board) == 4  # beside B1; 3 beside B2
    assert dice_of_b(board.replace("B1", "B3").replace("B2", "B1").replace("B3", "B2")) == 4


def test_each_value_of_a_die_is_equally_likely():
    counts = np.zeros(7)
    for seed in range(1000):
        for value in Table().deal(seed).take("hex 2,0").take("hex -2,0").dice:
            counts[value] += 1
    assert counts.sum() == 6000
    assert abs(counts[1:] - 1000).max() < 5 * (6000 * 1 / 6 * 5 / 6) ** 0.5


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
    table = position(SURROUNDED, dice=[1], scores=[9, 6, 3]).take("hex -5,1")
    assert table.to_move == 2
    assert table.dice
    assert table.scores == [8, 6, 3]


def test_a_surrounded_player_uses_dice_that_others_left():
    table = position(SURROUNDED, dice=[1, 1]).take("hex -5,1")
    assert table.to_move == 1
    assert table.legal == ["hex 1,0", "hex 1,1", "hex 2,-1", "hex 2,1", "hex 3,-1", "hex 3,0"]


def test_dice_are_not_rolled_again_until_all_of_them_have_been_used():
    table = garden(3, LOSE_1, dice=[1, 3, 5])
    assert (table.to_move, table.dice) == (1, [3, 5])
    assert table.take("hex 0,2").take("plant red").dice == [5]
    assert table.to_move == 2
    assert len(table.take("hex 0,5").take("plant red").dice) == 6
    assert table.to_move == 0


# --- 3a: moving ---


def test_a_gardener_moves_as_many_hexes_as_the_die_shows_in_a_straight_line():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . A . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         B . . . . .
    """
    table = position(board, dice=[3])
    assert set(table.legal) == hexes("5,-1", "2,2", "-1,2", "-1,-1", "2,-4", "5,-4")


def test_a_gardener_stays_on_the_board():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . A
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         B . . . . .
    """
    table = position(board, dice=[3])
    assert set(table.legal) == hexes("2,0", "5,-3", "2,3")


def test_the_central_space_cannot_be_occupied_but_passed():
    board = """
         . . . . . .
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . A . .
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         B . . . . .
    """
    assert set(position(board, dice=[3]).legal) == hexes("0,3", "3,-3")
    assert set(position(board, dice=[5]).legal) == hexes("-2,0", "-2,5", "3,-5")


def test_a_gardener_goes_neither_through_nor_onto_peaks_and_gardeners_its_own_other_one_included():
    board = """
              .   .   .   B2  .   .
            .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    .   .   .   .   .   +   .   .   .   .   .
      .   .   A2  .   A1  .   ^   .   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   B1  .   .   .
            .   .   .   .   .   .   .
              .   .   .   .   .   .
    """
    for value, free in {
        1: hexes("0,1", "-1,2", "-2,2", "-2,1", "-1,0"),
        2: hexes("1,-1", "-1,-1", "-3,3"),
        3: hexes("2,-2", "-1,-2", "-4,4"),
        4: hexes("3,-3", "-1,-3", "-5,5"),
    }.items():
        assert {label for label in position(board, dice=[value]).legal if label.startswith("hex")} == free


def test_flowers_can_be_passed():
    board = """
         . . . . . B
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . A r r r . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    table = position(board, dice=[4])
    assert "hex 0,2" in table.legal
    table.take("hex 0,2")
    assert table.now["pending"] == [0, 2]
    assert len(table.now["flowers"]) == 3


def test_any_die_on_the_table_may_be_chosen():
    twos, threes = garden(2, dice=[2]).legal, garden(2, dice=[3]).legal
    assert set(garden(2, dice=[2, 2, 3]).legal) == {*twos, *threes}


def test_a_gardener_stands_in_the_way_where_it_has_gone_and_no_more_where_it_came_from():
    board = """
         . . . . . .
        . . . . . . .
       . . . . B . . .
      . . . . . . . . .
     . . . . . . A . . .
    . . . . . + . r . . .
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
    """
    table = position(board, dice=[1, 2, 3]).take("hex 2,0")
    assert "hex 2,-1" in table.legal
    assert "hex 2,0" not in table.legal


# --- 3b: a die that cannot move ---

CORNER = """
         . . . . . A
        . . . . . . .
       . . . . . B . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . .
"""


def test_a_die_that_cannot_move_costs_1_point_and_is_used_up():
    table = position(CORNER, dice=[6, 6], scores=[9, 3])
    assert table.legal == ["give up die 6"]
    before = table.now
    table.take("give up die 6")
    assert (table.to_move, table.dice, table.scores) == (1, [6], [8, 3])
    assert (table.now["gardeners"], table.now["flowers"]) == (before["gardeners"], [])


def test_a_die_that_cannot_move_may_be_chosen_while_others_could():
    table = position(CORNER, dice=[1, 6])
    assert set(table.legal) == {"give up die 6", *hexes("4,-5", "4,-4", "5,-4")}


def test_a_die_that_can_move_must_move():
    board = """
         . . . . . A
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . . . . . . . . .
       . . . . . . . .
        . . . . . . .
         . . . . . B
    """
    assert set(position(board, dice=[6]).legal) == hexes("-1,1")


def test_with_two_gardeners_a_die_is_given_up_only_if_neither_can_move():
    board = """
              .   .   .   .   .   A1
            .   .   .   .   .   .   .
          .   .   .   .   .   B1  .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    .   .   .   .   .   +   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
            .   .   .   .   .   .   .
              A2  .   .   .   .   B2
    """
    assert position(board, dice=[6]).legal == ["second hex 1,-1"]
    board = """
              .   .   .   .   .   A1
            .   .   .   .   .   .   .
          .   .   .   .   .   B1  .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    .   .   .   .   .   +   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
          .   .   B2  .   .   .   .   .
            .   .   .   .   .   .   .
              A2  .   .   .   .   .
    """
    assert position(board, dice=[6]).legal == ["give up die 6"]


# --- 3c: landing on a flower ---


def test_landing_on_a_flower_costs_1_point_and_plants_nothing():
    before = garden(2, scores=[9, 3]).now
    table = garden(2, LOSE_1, scores=[9, 3])
    assert table.scores == [8, 3]
    assert (table.now["flowers"], table.now["stocks"]) == (before["flowers"], before["stocks"])
    assert table.now["gardeners"][0] == [[2, 2]]
    assert (table.to_move, table.dice, table.now["phase"]) == (1, [3], "move")


# --- 3d: planting ---


def test_on_an_empty_hex_any_one_of_the_remaining_flowers_is_planted():
    table = garden(2, ["hex 0,2"], stocks={0: "bbrn"})
    assert (table.now["phase"], table.to_move) == ("plant", 0)
    assert table.legal == ["plant blue", "plant red", "plant green"]
    table.take("plant blue")
    assert [0, 2, 0] in table.now["flowers"]
    assert table.now["stocks"][0] == [1, 0, 0, 0, 1, 1]
    assert table.now["pending"] is None


def test_while_a_hex_waits_for_its_flower_the_gardener_stands_there_and_the_die_is_gone():
    table = garden(2, ["hex 0,2"])
    assert table.now["pending"] == [0, 2]
    assert table.now["gardeners"][0] == [[0, 2]]
    assert table.dice == [3]
    assert [0, 2] not in [flower[:2] for flower in table.now["flowers"]]


def test_planting_scores_the_connected_group_of_the_colour_the_new_flower_included():
    board = """
         . . . . . B
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . y r r . .
      . . . r r . A . .
       . . . . y . r .
        . . . . . . .
         r . . . . .
    """
    # Both red groups beside 0,2 are joined: 1 + 2 + 2. The one at 1,3 only seems to be near.
    assert position(board, dice=[1, 3]).take("hex 0,2").take("plant red").scores == [5, 0]
    assert position(board, dice=[1, 3]).take("hex 0,2").take("plant yellow").scores == [3, 0]
    assert position(board, dice=[1, 3]).take("hex 0,2").take("plant green").scores == [1, 0]


def test_if_only_one_colour_is_left_it_is_planted_without_a_decision():
    table = garden(2, ["hex 0,2"], stocks={0: "rr"})
    assert (table.to_move, table.now["phase"], table.scores) == (1, "move", [5, 0])
    assert [0, 2, 4] in table.now["flowers"]
    assert table.now["decisions"] == 1


def test_after_planting_the_turn_passes_and_the_other_dice_stay():
    table = garden(3, ADD_1, dice=[1, 3, 3])
    assert (table.to_move, table.dice, table.now["phase"]) == (1, [3, 3], "move")


# --- 4: the score track ---


@pytest.mark.parametrize(
    ("scores", "moves", "after"),
    [
        ([10, 15, 16, 18, 0], ADD_5, [17, 15, 16, 18, 0]),  # on past 15 and 16
        ([10, 12, 14], ADD_5, [15, 12, 14]),  # who is passed on the way does not matter
        ([10, 14], ADD_5, [15, 14]),
        ([10, 9, 8, 6], LOSE_1, [7, 9, 8, 6]),  # the same backward
        ([10, 8], LOSE_1, [9, 8]),
        ([2, 1], LOSE_1, [0, 1]),  # back to 0, past the last space
        ([1, 0, 0], LOSE_1, [0, 0, 0]),  # 0 holds any number
        ([0, 0, 4], LOSE_1, [0, 0, 4]),  # nobody goes below 0
        ([0, 4], LOSE_1, [0, 4]),
        ([0, 1, 2], ADD_1, [3, 1, 2]),
        ([196, 201], ADD_5, [202, 201]),  # the track has no end
    ],
)
def test_a_scorer_goes_on_in_its_direction_to_the_next_free_space(scores, moves, after):
    assert garden(len(scores), moves, scores=scores).scores == after


def test_giving_up_a_die_slides_back_too():
    assert position(CORNER, dice=[6, 6], scores=[9, 8]).take("give up die 6").scores == [7, 8]


# --- 5: special actions ---

NINE_RED_NINE_GREEN = """
         r r r r r .
        n n n n n n n
       n n . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . r r r r . A b .
       . . . . . . . .
        . . . . . . .
         . . . . . B
"""


def tenth_red(moves=ADD_5, dice=(1, 3, 3), special_actions=True, board=NINE_RED_NINE_GREEN, **others):
    """NINE_RED_NINE_GREEN, after A has planted the tenth red flower or made other moves."""
    table = position(board, dice=dice, special_actions=special_actions, **others)
    for label in moves:
        table.take(label)
    return table


def test_the_tenth_flower_of_a_colour_counting_everyones_earns_an_extra_turn():
    table = tenth_red()
    assert (table.to_move, table.now["phase"], table.dice) == (0, "move", [3, 3])
    assert table.now["stocks"][0][4] == 0


def test_without_the_variant_there_are_no_extra_turns():
    assert tenth_red(special_actions=False).to_move == 1
    assert garden(2, ADD_5, scores=[30, 35]).to_move == 1


def test_only_the_tenth_flower_of_the_colour_planted_counts():
    assert tenth_red(ADD_1).to_move == 1
    assert tenth_red(board=NINE_RED_NINE_GREEN.replace("r", ".", 1)).to_move == 1  # the ninth
    assert garden(2, ADD_5, special_actions=True).to_move == 1


@pytest.mark.parametrize(
    ("scores", "moves", "mover", "after"),
    [
        ([21, 26], ADD_5, 0, [27, 26]),
        ([21, 26, 27], ADD_5, 0, [28, 26, 27]),
        ([28, 27], LOSE_1, 0, [26, 27]),  # back
        ([27, 26, 25], LOSE_1, 0, [24, 26, 25]),  # even if it ends below
        ([20, 25], ADD_5, 1, [26, 25]),  # exactly 25 is not above
        ([26, 25], LOSE_1, 1, [24, 25]),
        ([20, 25, 26], ADD_5, 1, [27, 25, 26]),  # 26 is slid over, not led to
        ([25, 27, 28, 29], ADD_5, 1, [30, 27, 28, 29]),  # others are passed on the way
        ([40, 39], ADD_5, 1, [45, 39]),
        ([30, 0], LOSE_1, 1, [29, 0]),
        ([0, 5], ADD_5, 1, [6, 5]),
    ],
)
def test_points_that_lead_to_a_space_above_25_that_another_scorer_holds_earn_an_extra_turn(
    scores, moves, mover, after
):
    table = garden(len(scores), moves, scores=scores, special_actions=True)
    assert (table.to_move, table.scores, table.dice) == (mover, after, [3])


def test_giving_up_a_die_can_earn_an_extra_turn():
    table = position(CORNER, dice=[6, 6], scores=[28, 27], special_actions=True).take("give up die 6")
    assert (table.to_move, table.scores, table.dice) == (0, [26, 27], [6])


def test_without_a_die_left_there_is_no_extra_turn():
    table = tenth_red(dice=[1])
    assert (table.to_move, len(table.dice)) == (1, 3)
    table = garden(2, ADD_5, dice=[1], scores=[30, 35], special_actions=True)
    assert (table.to_move, len(table.dice)) == (1, 3)


def test_both_at_once_give_one_extra_turn_and_it_is_over_after_one_die():
    table = tenth_red(scores=[30, 35])
    assert (table.to_move, table.dice) == (0, [3, 3])
    table.take("hex 3,-1").take("plant white")
    assert (table.to_move, table.dice) == (1, [3])


def test_an_extra_turn_can_earn_another_if_a_die_is_left():
    table = tenth_red(dice=[1, 3, 3]).take("hex 3,-1").take("plant green")
    assert (table.to_move, table.dice) == (0, [3])
    table = tenth_red(dice=[1, 3]).take("hex 3,-1").take("plant green")  # the rulebook's example
    assert (table.to_move, len(table.dice)) == (1, 3)


def test_the_last_own_flower_ends_the_game_even_if_it_earns_an_extra_turn():
    table = tenth_red(["hex 0,2"], stocks={0: "r"})
    assert table.now["terminated"]
    assert table.dice == [3, 3]


# --- 6: the end ---


def test_the_game_ends_at_once_when_a_player_has_planted_the_last_own_flower():
    table = garden(3, ["hex 0,2"], stocks={0: "r"}, scores=[7, 9, 8])
    assert (table.now["terminated"], table.now["truncated"], table.now["phase"]) == (True, False, "over")
    assert table.scores == [12, 9, 8]
    assert table.dice == [3]
    assert table.legal == []
    assert garden(3, ["hex 0,2"], stocks={0: "r"}, dice=[1]).dice == []  # nor are dice rolled


DEADLOCK = """
              .   .   .   .   Ab  b
            .   .   .   .   .   b   b
          .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    .   .   .   .   .   +   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
            r   r   .   .   .   .   .
              B   r   .   .   .   .
"""


def test_the_game_ends_when_no_dice_are_left_and_every_player_is_surrounded():
    table = position(DEADLOCK, dice=[1], scores=[5, 9]).take("hex 5,-5")
    assert (table.now["terminated"], table.now["phase"], table.dice) == (True, "over", [])
    assert table.scores == [4, 9]
    assert table.rewards == [-1, 1]


def test_surrounded_players_go_on_while_there_are_dice():
    table = position(DEADLOCK, dice=[1, 1]).take("hex 5,-5")
    assert (table.over, table.to_move) == (False, 1)
    assert table.take("hex -5,4").over is False  # from there B sees hexes without a flower
    assert table.dice


@pytest.mark.parametrize(
    ("scores", "rewards"),  # scores before A plants the last flower for 5 points
    [
        ([0, 3], [1, -1]),
        ([0, 9], [-1, 1]),
        ([0, 9, 3], [0, 1, -1]),
        ([0, 0, 0], [1, -1 / 2, -1 / 2]),
        ([0, 9, 0, 0], [1 / 3, 1, -2 / 3, -2 / 3]),
        ([0, 0, 0, 0], [1, -1 / 3, -1 / 3, -1 / 3]),
        ([0, 9, 8, 7], [-1, 1, 1 / 3, -1 / 3]),
        ([0, 7, 6, 4, 3], [0, 1, 1 / 2, -1 / 2, -1]),
        ([0, 7, 0, 0, 0], [1 / 2, 1, -1 / 2, -1 / 2, -1 / 2]),
    ],
)
def test_the_highest_score_wins_and_equal_scores_share_their_ranks(scores, rewards):
    table = garden(len(scores), stocks={0: "r"}, scores=scores)
    assert table.rewards == [0] * len(scores)
    table.take("hex 0,2")
    assert table.rewards == [np.float32(reward) for reward in rewards]
    assert table.standings == [5, *scores[1:]]


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_if_all_end_at_0_all_are_tied(num_players):
    table = garden(num_players, LOSE_1, decisions=999)
    assert table.over
    assert table.rewards == [0] * num_players
    assert table.standings == [0] * num_players


# --- 7: the cooperative variant ---


@pytest.mark.parametrize(("num_players", "scale"), [(1, 200), (2, 100), (3, 60), (4, 50), (5, 40)])
def test_the_team_is_paid_the_lowest_score(num_players, scale):
    scores = [13, 30, 31, 32, 33][:num_players]
    table = garden(num_players, stocks={0: "r"}, scores=scores, cooperative=True)
    assert table.rewards == [0] * num_players
    table.take("hex 0,2")
    assert table.over
    assert table.rewards == [np.float32(18 / scale)] * num_players
    assert table.standings == [18] * num_players


def test_the_team_margin_is_the_change_of_the_lowest_score():
    team = {"cooperative": True, "reward": "margin"}
    assert garden(2, ADD_5, scores=[10, 12], **team).rewards == [np.float32(2 / 100)] * 2
    assert garden(3, LOSE_1, scores=[10, 12, 15], **team).rewards == [np.float32(-1 / 60)] * 3
    assert garden(2, LOSE_1, scores=[10, 5], **team).rewards == [0, 0]
    assert garden(1, ADD_5, scores=[10], **team).rewards == [np.float32(5 / 200)]


def test_one_player_plays_alone_in_the_cooperative_variant():
    table = garden(1, ADD_5, dice=[1, 3, 3], cooperative=True)
    assert (table.to_move, table.dice) == (0, [3, 3])


# --- 8: margin rewards ---


@pytest.mark.parametrize(
    ("num_players", "gain"), [(2, [5 / 25, -5 / 25]), (3, [0.5, -0.25, -0.25]), (5, [0.5] + [-0.125] * 4)]
)
def test_margin_pays_the_change_against_the_mean_of_the_others(num_players, gain):
    scores = [10, 2, 3, 4, 5][:num_players]
    assert garden(num_players, ["hex 0,2"], scores=scores, reward="margin").rewards == [0] * num_players
    table = garden(num_players, ADD_5, scores=scores, reward="margin")
    assert table.rewards == [np.float32(value) for value in gain]
    back = garden(num_players, LOSE_1, scores=scores, reward="margin").rewards
    assert np.allclose(back, np.array(gain) / -5)


def test_margin_pays_each_change_once():
    table = garden(2, ADD_5, reward="margin").take("hex 3,2")
    assert table.rewards == [0, 0]
    assert table.take("plant white").rewards == [np.float32(-1 / 25), np.float32(1 / 25)]


def test_margin_pays_at_the_end_no_more_than_the_last_change():
    table = garden(2, ["hex 0,2"], stocks={0: "r"}, scores=[10, 50], reward="margin")
    assert table.over
    assert table.rewards == [np.float32(5 / 25), np.float32(-5 / 25)]


# --- the cap on decisions ---


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    table = garden(2, LOSE_1, decisions=998, scores=[9, 3])
    assert not table.over
    table = garden(2, LOSE_1, decisions=999, scores=[9, 3])
    assert (table.now["truncated"], table.now["terminated"], table.now["phase"]) == (True, False, "over")
    assert table.rewards == [1, -1]
    assert table.scores == [8, 3]
    assert table.legal == []


def test_a_hex_that_waits_for_its_flower_at_the_cap_goes_on_waiting():
    table = garden(2, ["hex 0,2"], decisions=999)
    assert table.now["truncated"]
    assert (table.now["pending"], table.scores) == ([0, 2], [0, 0])


def test_a_game_just_ended_by_the_rules_is_not_truncated_also():
    for table in (
        garden(2, ["hex 0,2"], decisions=999, stocks={0: "r"}),
        position(DEADLOCK, dice=[1], decisions=999).take("hex 5,-5"),
    ):
        assert (table.now["terminated"], table.now["truncated"]) == (True, False)


def test_the_cap_is_an_option():
    table = garden(2, LOSE_1, max_decisions=1)
    assert table.now["truncated"]


# --- options, labels, snapshot ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 6}, r"num_players must be .* to 5 \(1 only with cooperative=True\), not 6"),
        ({"num_players": 0, "cooperative": True}, "num_players must be .* 1 to 5 .*, not 0"),
        ({"num_players": 1}, "num_players must be 2 to 5, or 1 to 5 with cooperative=True, not 1"),
        ({"num_players": 2.0}, "num_players must be a whole number"),
        ({"num_players": True, "cooperative": True}, "num_players must be a whole number"),
        ({"peaks": 4}, "peaks must be 0 to 3 with num_players=2, not 4"),
        ({"num_players": 5, "peaks": 1}, "peaks must be 0 to 0 with num_players=5, not 1"),
        ({"peaks": -1}, "peaks must be .*, not -1"),
        ({"num_players": 3, "gardeners": 2}, "gardeners must be 1 with num_players=3"),
        ({"num_players": 1, "gardeners": 2, "cooperative": True}, "gardeners must be 1 with num_players=1"),
        ({"gardeners": 3}, "gardeners must be .* 1 to 2 .*, not 3"),
        ({"special_actions": 1}, "special_actions must be True or False, not 1"),
        ({"cooperative": "yes"}, "cooperative must be True or False, not 'yes'"),
        ({"max_decisions": 0}, "max_decisions must be .* from 1 .*, not 0"),
        ({"view": "image"}, "view must be 'flat' or 'planes', not 'image'"),
        ({"reward": "score"}, "reward must be 'outcome' or 'margin', not 'score'"),
    ],
)
def test_an_option_out_of_range_is_named_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        make("mars", **options)


def test_there_are_103_actions_and_194_with_two_gardeners():
    first = [f"hex {q},{r}" for q, r in HEXES]
    assert (first[0], first[45], first[90]) == ("hex -5,0", "hex 0,0", "hex 5,0")
    rest = [f"give up die {value}" for value in (1, 2, 3, 4, 5, 6)]
    rest += [f"plant {colour}" for colour in ("blue", "yellow", "white", "grey", "red", "green")]
    assert Mars().labels == (*first, *rest)
    assert Mars().num_actions == 103
    both = Mars(gardeners=2)
    assert both.labels == (*first, *(f"second {label}" for label in first), *rest)
    assert both.num_actions == 194
    assert len(set(both.labels)) == 194


def test_a_snapshot_is_plain_json_with_the_keys_of_the_reading():
    for table in (Table(gardeners=2, peaks=3).deal(), garden(2, ["hex 0,2"]), garden(3, ADD_5)):
        now = table.now
        assert " ".join(now) == (
            "game num_players phase current_player dice gardeners flowers stocks scores peaks pending decisions "
            "terminated truncated"
        )
        assert json.loads(json.dumps(now)) == now
    assert Table().deal().now["gardeners"] == [[], []]


def test_resample_redraws_the_dice_to_come_and_nothing_else():
    rolls = set()
    for seed in range(20):
        table = garden(2, dice=[1])
        before = (table.now, table.legal, table.observation(0).tolist())
        kernels.resample(table.state, table.params, 0, seed)
        assert (table.now, table.legal, table.observation(0).tolist()) == before
        rolls.add(tuple(table.take("hex 2,2").dice))
    assert len(rolls) > 5


def test_the_two_views_say_the_same():
    flat = garden(3, ["hex 0,2"]).observation(1)
    planes = garden(3, ["hex 0,2"], view="planes").observation(1)
    cells = [(r + 5, q + 5) for q, r in HEXES]
    assert flat.shape == (1335,)
    assert planes.shape == (75, 11, 11)
    assert [planes[i][cell] for i in range(14) for cell in cells] == flat[: 14 * 91].tolist()
    assert planes[:14].sum() == flat[: 14 * 91].sum()  # nothing outside the board
    assert (planes[14:] == flat[14 * 91 :, None, None]).all()
