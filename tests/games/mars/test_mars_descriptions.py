"""Descriptions of actions in Gardens of Mars."""

import pytest
from mars_tools import position, seated

BOARD = """
         . . . . . C
        . . . . . . .
       . . . . . . . .
      . . . . . . . . .
     . . . r . . . . . .
    A . . r . + . . . . B
     . b . . . . . . . .
      r . . . . . . . .
       . . . . . . . .
        . . . . . . .
         D . . . . .
"""


@pytest.mark.parametrize(
    ("label", "setup", "description"),
    [
        ("hex -3,0", {}, "go 2 hexes to -3,0 and plant there: at best a group of 3 (red)"),
        ("hex -5,1", {}, "go 1 hex to -5,1 and plant there: at best a group of 2 (blue, red)"),
        ("hex -4,-1", {}, "go 1 hex to -4,-1 and plant there: a group of 1"),
        ("hex -5,2", {}, "go 2 hexes to -5,2, onto a flower: no point to lose"),
        ("hex -5,2", {"scores": [3, 0]}, "go 2 hexes to -5,2, onto a flower: lose 1 point"),
        (
            "hex -5,2",
            {"scores": [3, 2]},
            "go 2 hexes to -5,2, onto a flower: lose 1 point and 1 more to pass player_1",
        ),
        ("give up die 6", {"scores": [3, 0]}, "give up the die 6: lose 1 point"),
        (
            "hex -3,0",
            {"scores": [3, 6], "stocks": {0: "rr"}},
            "go 2 hexes to -3,0 and plant red: a group of 3, 3 points and 1 more to pass player_1",
        ),
        (
            "hex -3,0",
            {"stocks": {0: "w"}},
            "go 2 hexes to -3,0 and plant white: a group of 1, 1 point; the game ends",
        ),
    ],
)
def test_descriptions(label, setup, description):
    assert position(seated(BOARD, 2), dice=[1, 2, 6], **setup).described(label) == description


@pytest.mark.parametrize(("special_actions", "end"), [(True, "; an extra turn"), (False, "")])
def test_a_slide_and_an_extra_turn(special_actions, end):
    setup = {"scores": [29, 30, 31, 33], "stocks": {0: "ww"}, "special_actions": special_actions}
    described = position(BOARD, dice=[2, 2], **setup).described("hex -3,0")
    assert described.endswith("1 point and 2 more to pass player_1, player_2" + end)
