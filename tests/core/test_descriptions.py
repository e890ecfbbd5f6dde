"""What every game tells people: its rules in short, what an action does, how a score comes about."""

from __future__ import annotations

import random

import numpy as np
import pytest
from cacti_tools import Table, position

from garden_core import kernels, list_games, make

GAMES = [
    *((name, {}) for name in list_games()),
    ("mars", {"gardeners": 2, "special_actions": True}),
    ("mars", {"num_players": 5, "special_actions": True}),
    ("mars", {"num_players": 3, "peaks": 2, "max_decisions": 50}),
    ("mars", {"num_players": 1, "cooperative": True}),
    ("cacti", {"max_decisions": 9}),
]
VARIANTS = pytest.mark.parametrize(("name", "options"), GAMES, ids=lambda value: str(value))


def positions(game, seed):
    """Every state of a random game, with its legal actions."""
    rng, states = random.Random(seed), game.new_states(1)
    mask = np.zeros(game.num_actions, np.int8)
    kernels.deal(states[0], game.params[0], np.uint64(seed))
    while True:
        kernels.legal_actions(states[0], game.params[0], mask)
        legal = np.flatnonzero(mask).tolist()
        yield states.copy()[0], legal
        if not legal:
            return
        kernels.apply_action(states[0], game.params[0], rng.choice(legal))


@VARIANTS
def test_an_action_is_described_in_a_line_by_what_its_player_knows(name, options):
    game = make(name, **options)
    redrawn = game.new_states(1)
    for seed in range(3):
        for number, (state, legal) in enumerate(positions(game, seed)):
            before, snapshot = state.tobytes(), game.snapshot(state)
            told = [game.describe(state, action) for action in legal]
            assert state.tobytes() == before
            assert game.snapshot(state) == snapshot
            for line in told:
                assert 0 < len(line) <= 100
                assert line.isprintable()
            redrawn[0] = state
            if legal:
                kernels.resample(redrawn[0], game.params[0], int(state["current_player"]), number)
            assert [game.describe(redrawn[0], action) for action in legal] == told


@VARIANTS
def test_the_score_sheet_sums_to_the_scores(name, options):
    game = make(name, **options)
    for seed in range(5):
        for state, _ in positions(game, seed):
            snapshot = game.snapshot(state)
            sheets = game.score_sheet(snapshot)
            assert [sum(sheet.values()) for sheet in sheets] == snapshot["scores"] == game.scores(state)
            assert len({tuple(sheet) for sheet in sheets}) == 1
            assert all(type(points) is int for sheet in sheets for points in sheet.values())


@VARIANTS
def test_position_texts_fit_a_terminal(name, options):
    game = make(name, **options)
    for seed in range(3):
        for state, _ in positions(game, seed):
            for seat in (None, *range(game.num_players)):
                lines = game.text(state, seat).partition("\n\nlegal: ")[0].splitlines()
                assert len(lines) <= 40
                assert max(map(len, lines)) <= 100


@pytest.mark.parametrize("name", ["mars", "cacti"])
def test_the_summary_is_plain_paragraphs(name):
    summary = type(make(name)).summary
    assert len(summary.strip().split("\n\n")) > 3
    assert all(len(line) <= 120 and line == line.strip() for line in summary.splitlines())
    assert not set("*`#|<>") & set(summary)


# --- Mars ---


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
    state["phase"], state["dice"][2], state["dice"][6], state["num_dice"] = 1, 2, 1, 3
    for field, value in fields.items():
        state[field][: len(value)] = value
    return lambda label: game.describe(state, hexes[label])


def test_mars_moves():
    told = garden([("-2,0", 4), ("-3,1", 0), ("-2,-1", 4)])
    assert told("hex -3,0") == "go 2 hexes to -3,0 and plant there: at best a group of 3 (red)"
    assert told("hex -5,2") == "go 2 hexes to -5,2 and plant there: a group of 1"
    assert garden([("-3,0", 4)])("hex -3,0") == "go 2 hexes to -3,0, onto a flower: no point to lose"
    assert garden([("-3,0", 4)], score=[3])("hex -3,0") == "go 2 hexes to -3,0, onto a flower: lose 1 point"
    assert garden([("-3,0", 4)], score=[3, 2])("hex -3,0").endswith("lose 1 point and 1 more to pass B")
    assert garden(score=[3])("give up die 6") == "give up the die 6: lose 1 point"


def test_mars_last_colour_score_slide_end_and_extra_turn():
    only_red = np.zeros((2, 6), np.int8)
    only_red[:, 4] = 2
    told = garden([("-2,0", 4)], stocks=only_red, score=[3, 5])
    assert told("hex -3,0") == (
        "go 2 hexes to -3,0 and plant red: a group of 2, 2 points and 1 more to pass B"
    )
    only_red[:, 4] = 1
    assert garden(stocks=only_red)("hex -5,2").endswith("plant red: a group of 1, 1 point; the game ends")
    only_red[:, 4] = 2
    many = {"stocks": np.tile(only_red[0], (4, 1)), "score": [29, 30, 31, 33], "num_players": 4}
    told = garden(special_actions=True, **many)
    assert told("hex -5,2").endswith("1 point and 2 more to pass B, C; an extra turn")
    assert "extra" not in garden(**many)("hex -5,2")


# --- Cacti ---


def said(table):
    return {
        label: table.game.describe(table.state, table.game.labels.index(label))
        for label in table.game.legal_labels(table.state)
    }


TABLE = {
    "middle": [0, 0, 3], "nurseries": [[0, 0, 0, 1, 2, 3], [0, 0, 1, 2, 3]], "hands": [["starting", 0], ["starting", 0]],
    "arrangement_deck": [1, 5], "deck": [2, 2, 2, 2, 2], "bonus": (2, 3),
}  # fmt: skip


def test_cacti_turn():
    told = said(position(**TABLE))
    assert told["grow barrel"] == "take 2 barrel from the middle; then player_1 responds"
    assert told["plant basic 0 upper"] == (
        "plant basic 0 upper from the hand: discard 2 barrel + 1 prickly pear, 3 points"
    )
    assert told["plant basic 1 upper"] == (
        "plant basic 1 upper from the deck: discard 2 barrel + 1 saguaro, 3 points"
    )
    assert told["plant starting"].endswith("discard 1 barrel + 1 prickly pear + 1 saguaro + 1 star, 5 points")
    assert told["special barrel"] == (
        "put 5 barrel (2 from the middle) under the Special Planter: 5 points, for good"
    )
    assert told["special saguaro"] == "put 1 saguaro under the Special Planter: 1 point, for good"
    told = said(position(**TABLE | {"middle": [0]}))
    assert told["grow barrel"] == "take 1 barrel from the middle; then player_1 responds, if possible"


def test_cacti_response_and_last_card():
    told = said(position(**TABLE, asked="response", active=1, current=0))
    assert told["grow barrel"] == "take 2 barrel from the middle, in response"
    assert told["plant basic 0 upper"].endswith(", 3 points, in response")
    told = said(position(**TABLE, asked="last_card", last_turn=True))
    assert told == {
        "take card": "the top card of the deck comes to the Nursery",
        "leave card": "no card comes to the Nursery",
    }


def test_cacti_sheet():
    table = position(
        middle=[], nurseries=[[1] * 4 + [2, 2, 3], [2, 3, 3]], bonus=(2, 3), special=[None, [0, 0, 0]],
        planted=[[[2, "upper"]], ["starting"]],
    )  # fmt: skip
    assert table.game.score_sheet(table.now) == [
        {"planted": 3, "special": 0, "bonus": 2, "left_over": -10},
        {"planted": 5, "special": 3, "bonus": 2, "left_over": -1},
    ]
    assert Table().deal(0).game.score_sheet(table.now) == table.game.score_sheet(table.now)
