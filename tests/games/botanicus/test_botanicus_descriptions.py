"""Descriptions of actions and scores in Botanicus."""

import random
import re

import pytest
from botanicus_tools import (
    ANIMAL_1,
    POLICIES,
    S3,
    W1,
    WATER_2,
    Table,
    choose,
    laid,
    last,
    made_up,
    mine,
    position,
)
from data_tools import written
from quick import seeds


@pytest.mark.parametrize("num_players", [2, 3, 4])
@pytest.mark.parametrize("seed", seeds(6, 1, 5))
@pytest.mark.many_games
def test_whole_games_are_described_and_summed_up(seed, num_players, tmp_path):
    options = {"num_players": num_players}
    if seed > 2:
        options["tables"] = written(tmp_path, made_up(seed))
    table = Table(**options).deal(seed)
    rng = random.Random(seed)
    while not table.over:
        check_sheet(table)
        check_descriptions(table)
        table.take(choose(POLICIES[seed % 3], rng, table.legal))
    check_sheet(table)


def check_sheet(table):
    sheet = table.game.score_sheet(table.now)
    assert [sum(parts.values()) for parts in sheet] == table.scores
    for parts in sheet:
        assert list(parts) == ["tasks", "animals", "columns", "coins", "other points"]
        assert min(parts.values()) >= 0


def check_descriptions(table):
    """One line for each action, different ones, without internal names."""
    lines = [table.described(label) for label in table.legal]
    for line in lines:
        assert line.isascii()
        assert line.isprintable()
        assert not re.search(r"plant_|\b[MWSN]\d|\bpole\b|prize (money|shovel)", line)
    if table.now["asked"] != "assign":  # two tasks of another data file may be the same
        assert len(set(lines)) == len(lines)
        assert table.game.option_values["tables"] or max(map(len, lines)) <= 95


def test_the_parts_of_a_score():
    table = position(
        coins=[11, 0],
        animals=[3, 0],
        points=[60, 0],
        basic_done=[[0], []],
        special_done=[[0], []],
        tasks=[[0, 1, 2, 3, 4], [5, 6, 7, 8, 9]],
        gardens=[{(0, 0): 3, (1, 0): 1, (2, 0): 1, (4, 0): 1}, {}],
    )
    own, other = table.game.score_sheet(table.now)
    assert own == {"tasks": 15, "animals": 19, "columns": 9, "coins": 3, "other points": 26}
    assert set(other.values()) == {0}


# --- descriptions ---


def test_assigning():
    table = Table().deal(0)
    task = table.game.tables.special[table.now["dealt"][table.to_move][2]]
    start, points = table.described("assign 2").split(" = ")
    assert start.startswith("give row 0 the task ")
    assert points.startswith(f"{task.points} points")
    table.take("assign 0", "assign 1", "assign 2")
    assert table.described("assign 3").startswith("row 3: ")
    assert "; row 4: " in table.described("assign 3")


def test_a_turn():
    table = position(
        num_players=3,
        column=2,
        flowers=[[1, 2], [], [], []],
        stack=[2, 1, 0],
        started=2,
        coins=[7, 0, 2],
        covered=[(0, 0)],
        tiles=laid(),
        hands=[[WATER_2, ANIMAL_1], [], []],
        animals=[1, 0, 0],
    )
    for label, words in {
        "walk 1,2": "Gardener to 1,2 for 1 coin",
        "walk 3,2": "Gardener to 3,2 for 3 coins",
        "use water 2": "pay 2 coins and use the card: 2 water (nothing to water in reach)",
        "use animal 1": "pay 2 coins and use the card: 1 animal (6 points)",
        "sell water 2": "sell the card 2 water for 3 coins",
        "flower 0": "Flower on space 0 for 6 coins: 2 coins",
        "flower 1": "Flower on space 1, free: 2 points + tile wheelbarrow track 1",
        "flower 2": "Flower on space 2, free: walk 3 + tile 1 animal (6 points)",
    }.items():
        assert table.described(label) == words
    table.take("flower 2")
    assert table.described("walk 3,2") == "Gardener to 3,2, free"
    assert table.described("pass") == "forfeit walk 3"


def test_poles_and_the_neutral_flower():
    table = position(num_players=2, flowers=[["neutral"], [], [], []])
    assert table.described("flower 0") == (
        "Flower on space 0, free: Pole Position, not the first, so gain nothing"
    )
    table = position(num_players=2)
    assert table.described("flower 0") == "Flower on space 0, free: Pole Position, gain 3 coins"
    table = Table(num_players=2).deal(0)
    while table.now["asked"] == "assign":
        table.take(table.legal[0])
    assert table.described("neutral 0") == (
        "neutral Flower on space 0: Pole Position (3 coins) then gives no coins"
    )
    assert table.described("neutral 2") == "neutral Flower on space 2: money track 2 then costs 3 coins"


def test_planting_and_watering():
    garden = {(2, 0): 1, (2, 1): 3, (2, 2): 2, (2, 3): 2, (0, 1): 1, (1, 1): 1, (3, 1): 1, (4, 1): 1}
    before = {"stack": [1, 0, 2], "started": 1, "flowers": [[], [], [], [1]]}  # without the tile of space 3
    table = mine(column=8, gardener=(2, 1), tasks=[0, 1, 14, 3, 4], garden=garden, **before).take("flower 3")
    assert table.now["hand_action"] == ["plant_2", 2]
    for label, words in {
        "bed 2,1": "plant II at 2,1 (replaces III); points: basic task +8, column 1 -4",
        "bed 3,2": "plant II at 3,2",
        "pass": "forfeit 2 plant II",
    }.items():
        assert table.described(label) == words
    garden = {(1, 1): 1, (2, 1): 3, (2, 2): 1, (2, 0): 1}
    table = mine(column=4, basic_done=[2], tasks=[0, 1, 5, 3, 4], garden=garden, **before).take("flower 3")
    assert table.described("bed 2,1") == "water 2,1: III becomes IV; points: special task +8"
    assert table.described("bed 1,1") == "water 1,1: I becomes II"


def test_tracks():
    table = mine(coins=9, pieces=(0, 0, S3)).take("flower 3")  # shovel track 2
    for label, words in {
        "pass": "stay where the piece is: gain nothing; 2 unused steps = 2 points",
        "advance lower": "on to 2 plant I, free",
        "advance upper": "on to the end for 2 coins: 1 plant II + shovel prize (20 points); 1 unused step = 1 point",
    }.items():
        assert table.described(label) == words
    table.take("advance lower")
    assert table.described("pass") == "stop here: gain 2 plant I; 1 unused step = 1 point"
    table.take("pass")
    assert table.described("pass") == "forfeit 2 plant I"
    table = mine(coins=9).take("flower 3", "advance upper", "advance upper")
    assert table.described("advance upper") == "on to 1 plant I + 1 plant II for 3 coins"


def test_choices_and_the_last_turn():
    table = last(pieces=(0, W1, 0))
    assert table.described("pass") == "end the turn without a track action"
    assert table.described("resolve wheelbarrow") == (
        "last action: 1 step on the wheelbarrow track, from 1 plant I + 1 water"
    )
    table = mine().take("flower 1", "advance upper", "pass")  # wheelbarrow track 2
    for label, words in {
        "resolve plant_1": "next: 1 plant I",
        "resolve water": "next: 1 water (nothing to water in reach)",
        "pass": "forfeit 1 plant I + 1 water",
    }.items():
        assert table.described(label) == words
