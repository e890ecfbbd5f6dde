"""Descriptions of actions in Gardens of Mars."""

from __future__ import annotations

import numpy as np

from garden_core import make
from garden_core.jit import kernels


def garden(flowers=(), **fields):
    """A game of Mars in the phase "move", player A on -5,0, and the other far off; flowers are (hex, colour)."""
    options = {"num_players": 2} | {
        key: fields.pop(key) for key in ("num_players", "special_actions") if key in fields
    }
    game = make("mars", **options)
    state = game.new_states(1)[0]
    kernels.deal(state, game.params[0], np.uint64(1))
    hexes = {label: action for action, label in enumerate(game.labels)}
    start = [hexes[f"hex {at}"] for at in ("-5,0", "5,0", "5,-5", "0,5", "-5,5")]
    for player in range(game.num_players):
        state["gardeners"][player, 0] = start[player]
        state["blocked"][start[player]] = 1
    for at, colour in flowers:
        index = hexes[f"hex {at}"]
        state["flowers"][index] = colour
        state["garden"][colour, index // 64] |= np.uint64(1) << np.uint64(index % 64)
        state["planted"][colour] += 1
    state["stocks"][: game.num_players] = 2
    state["phase"], state["dice"][2], state["dice"][6], state["num_dice"] = 1, 2, 1, 3
    for field, value in fields.items():
        state[field][: len(value)] = value
    return lambda label: game.describe(state, hexes[label])


def test_mars_moves():
    describe = garden([("-2,0", 4), ("-3,1", 0), ("-2,-1", 4)])
    assert describe("hex -3,0") == "go 2 hexes to -3,0 and plant there: at best a group of 3 (red)"
    assert describe("hex -5,2") == "go 2 hexes to -5,2 and plant there: a group of 1"
    assert garden([("-3,0", 4)])("hex -3,0") == "go 2 hexes to -3,0, onto a flower: no point to lose"
    assert garden([("-3,0", 4)], score=[3])("hex -3,0") == "go 2 hexes to -3,0, onto a flower: lose 1 point"
    assert garden([("-3,0", 4)], score=[3, 2])("hex -3,0").endswith(
        "lose 1 point and 1 more to pass player_1"
    )
    assert garden(score=[3])("give up die 6") == "give up the die 6: lose 1 point"


def test_mars_last_colour_score_slide_end_and_extra_turn():
    only_red = np.zeros((2, 6), np.int8)
    only_red[:, 4] = 2
    describe = garden([("-2,0", 4)], stocks=only_red, score=[3, 5])
    assert describe("hex -3,0") == (
        "go 2 hexes to -3,0 and plant red: a group of 2, 2 points and 1 more to pass player_1"
    )
    only_red[:, 4] = 1
    assert garden(stocks=only_red)("hex -5,2").endswith("plant red: a group of 1, 1 point; the game ends")
    only_red[:, 4] = 2
    many = {"stocks": np.tile(only_red[0], (4, 1)), "score": [29, 30, 31, 33], "num_players": 4}
    describe = garden(special_actions=True, **many)
    assert describe("hex -5,2").endswith("1 point and 2 more to pass player_1, player_2; an extra turn")
    assert "extra" not in garden(**many)("hex -5,2")
