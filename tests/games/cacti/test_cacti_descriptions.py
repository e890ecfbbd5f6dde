"""Descriptions of actions and scores in Cacti."""

from __future__ import annotations

from cacti_tools import Table, position


def said(table):
    return {label: table.described(label) for label in table.legal}


TABLE = {
    "middle": [0, 0, 3],
    "nurseries": [[0, 0, 0, 1, 2, 3], [0, 0, 1, 2, 3]],
    "hands": [["starting", 0], ["starting", 0]],
    "arrangement_deck": [1, 5],
    "deck": [2, 2, 2, 2, 2],
    "bonus": (2, 3),
}


def test_cacti_turn():
    described = said(position(**TABLE))
    assert described["grow barrel"] == "take 2 barrel from the middle; then player_1 responds"
    assert described["plant basic 0 upper"] == (
        "plant basic 0 upper from the hand: discard 2 barrel + 1 prickly pear, 3 points"
    )
    assert described["plant basic 1 upper"] == (
        "plant basic 1 upper from the deck: discard 2 barrel + 1 saguaro, 3 points"
    )
    assert described["plant starting"].endswith(
        "discard 1 barrel + 1 prickly pear + 1 saguaro + 1 star, 5 points"
    )
    assert described["special barrel"] == (
        "put 5 barrel (2 from the middle) under the Special Planter: 5 points, for good"
    )
    assert described["special saguaro"] == "put 1 saguaro under the Special Planter: 1 point, for good"
    described = said(position(**TABLE | {"middle": [0]}))
    assert described["grow barrel"] == "take 1 barrel from the middle; then player_1 responds, if possible"


def test_cacti_response_and_last_card():
    described = said(position(**TABLE, asked="response", active=1, current=0))
    assert described["grow barrel"] == "take 2 barrel from the middle, in response"
    assert described["plant basic 0 upper"].endswith(", 3 points, in response")
    described = said(position(**TABLE, asked="last_card", last_turn=True))
    assert described == {
        "take card": "the top card of the deck comes to the Nursery",
        "leave card": "no card comes to the Nursery",
    }


def test_cacti_sheet():
    table = position(
        middle=[],
        nurseries=[[1] * 4 + [2, 2, 3], [2, 3, 3]],
        bonus=(2, 3),
        special=[None, [0, 0, 0]],
        planted=[[[2, "upper"]], ["starting"]],
    )
    assert table.game.score_sheet(table.now) == [
        {"planted": 3, "special": 0, "bonus": 2, "left_over": -10},
        {"planted": 5, "special": 3, "bonus": 2, "left_over": -1},
    ]
    assert Table().deal(0).game.score_sheet(table.now) == table.game.score_sheet(table.now)
