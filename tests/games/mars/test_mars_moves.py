"""The rules of Gardens of Mars: moving, dice that cannot move, flowers, planting."""

from mars_tools import CORNER, LOSE_1, garden, hexes, position

# --- 3.2, 3.3: moving ---


def test_a_gardener_moves_as_many_hexes_as_the_die_shows_in_a_straight_line():
    """[3.2]."""
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
    assert set(position(board, dice=[3]).legal) == hexes("5,-1", "2,2", "-1,2", "-1,-1", "2,-4", "5,-4")


def test_a_gardener_passes_the_centre_but_does_not_stop_there():
    """[3.3]."""
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


def test_a_gardener_goes_neither_through_nor_onto_peaks_and_other_gardeners():
    """[3.3, 7.2]; the player's other gardener is in the way too."""
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
    }.items():
        assert {label for label in position(board, dice=[value]).legal if label.startswith("hex")} == free


def test_a_gardener_passes_flowers():
    """[3.3]."""
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
    table = position(board, dice=[4]).take("hex 0,2")
    assert table.now["pending"] == [0, 2]
    assert len(table.now["flowers"]) == 3


def test_any_die_on_the_table_may_be_chosen():
    """[3.1]."""
    twos, threes = garden(2, dice=[2]).legal, garden(2, dice=[3]).legal
    assert set(garden(2, dice=[2, 2, 3]).legal) == {*twos, *threes}


def test_a_gardener_is_in_the_way_where_it_is_now_and_not_where_it_was():
    """[3.3]."""
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


# --- 3.7, 3.8: a die that cannot move ---


def test_a_die_that_cannot_move_costs_1_point_and_is_used_up():
    """[3.7, 3.8]."""
    table = position(CORNER, dice=[6, 6], scores=[9, 3])
    assert table.legal == ["give up die 6"]
    before = table.now
    table.take("give up die 6")
    assert (table.to_move, table.dice, table.scores) == (1, [6], [8, 3])
    assert (table.now["gardeners"], table.now["flowers"]) == (before["gardeners"], [])


def test_a_die_is_given_up_only_if_it_cannot_move_even_if_others_could():
    """[3.1, 3.7]."""
    table = position(CORNER, dice=[1, 6])
    assert set(table.legal) == {"give up die 6", *hexes("4,-5", "4,-4", "5,-4")}


def test_with_two_gardeners_a_die_is_given_up_only_if_neither_can_move():
    """[7.4]."""
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


# --- 3.4: landing on a flower ---


def test_landing_on_a_flower_costs_1_point_and_plants_nothing():
    """[3.4]."""
    before = garden(2).now
    table = garden(2, LOSE_1, scores=[9, 3])
    assert table.scores == [8, 3]
    assert (table.now["flowers"], table.now["stocks"]) == (before["flowers"], before["stocks"])
    assert table.now["gardeners"][0] == [[2, 2]]
    assert (table.to_move, table.dice, table.now["phase"]) == (1, [3], "move")


# --- 3.5, 3.6: planting ---


def test_on_an_empty_hex_any_one_of_the_remaining_flowers_is_planted():
    """[3.5]."""
    table = garden(2, ["hex 0,2"], stocks={0: "bbrn"})
    assert (table.now["phase"], table.to_move) == ("plant", 0)
    assert table.legal == ["plant blue", "plant red", "plant green"]
    table.take("plant blue")
    assert [0, 2, 0] in table.now["flowers"]
    assert table.now["stocks"][0] == [1, 0, 0, 0, 1, 1]
    assert table.now["pending"] is None


def test_planting_scores_the_connected_group_of_the_colour_the_new_flower_included():
    """[3.6]. Both red groups next to 0,2 are joined: 1 + 2 + 2. The one at 1,3 only seems to be near."""
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
    for colour, points in {"red": 5, "yellow": 3, "green": 1}.items():
        table = position(board, dice=[1, 3]).take("hex 0,2").take(f"plant {colour}")
        assert table.scores == [points, 0]


def test_the_last_colour_left_is_planted_without_a_decision():
    """[3.5]."""
    table = garden(2, ["hex 0,2"], stocks={0: "rr"})
    assert (table.to_move, table.now["phase"], table.scores) == (1, "move", [5, 0])
    assert [0, 2, 4] in table.now["flowers"]
    assert table.now["decisions"] == 1
