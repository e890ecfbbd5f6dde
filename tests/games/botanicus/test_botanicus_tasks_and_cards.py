"""The rules of Botanicus: tasks, animals, drawing cards, the rulebook's example of a turn in depth."""

from collections import Counter

import pytest
from botanicus_tools import (
    ANIMAL_1,
    BEDS,
    DATA,
    FILLER,
    M1,
    MONEY_3,
    NO_BEDS,
    PLANT_1,
    PLANT_2,
    PLANT_3,
    S3,
    SHOVEL_END,
    WALK_5,
    WATER_2,
    beds,
    mine,
    of,
    printed,
    turn,
)

from garden_core.jit import kernels

# --- tasks ---

SATISFYING = [
    (
        row,
        {
            bed: level
            for bed, level in zip([b for b in BEDS if b[0] == row and b not in NO_BEDS], levels, strict=False)
        },
    )
    for row, levels in enumerate([[1, 1, 2], [1, 2, 2], [2, 2, 2], [1, 2, 3], [2, 2, 3]])
]


@pytest.mark.parametrize(("row", "need"), SATISFYING)
def test_a_basic_task_scores_as_soon_as_its_row_holds_the_plants(row, need):
    task = DATA["basic"][row]
    assert [list(need.values()).count(level) for level in (1, 2, 3, 4)] == task["plants"]
    last, level = list(need.items())[-1]
    gardener = (min(last[0], 3), min(last[1], 2))
    kind = {2: PLANT_2, 3: PLANT_3}[level]
    rest = {bed: lev for bed, lev in need.items() if bed != last}
    table = mine(hand=[kind], garden=rest, gardener=gardener).take(f"use {DATA['cards'][kind]['action']}")
    assert of(table, "basic_done") == [False] * 5
    table.take(f"bed {last[0]},{last[1]}")
    assert of(table, "points") == task["points"]
    assert of(table, "basic_done") == [i == row for i in range(5)]
    assert of(table, "special_done") == [False] * 5


def test_levels_are_exact():
    table = mine(hand=[PLANT_3], garden={(4, 2): 3, (4, 3): 2}, gardener=(3, 0)).take("use plant_3 1")
    assert of(table.take("bed 4,1"), "points") == 0  # II, III, III: one II is missing
    table = mine(hand=[WATER_2], garden={(0, 1): 1, (0, 2): 1, (0, 3): 2}, gardener=(0, 1)).take(
        "use water 2"
    )
    table.take("bed 0,1")
    assert of(table, "points") == 0


def special_in(row, index):
    """Filler tasks but for one row."""
    return [index if i == row else task for i, task in enumerate(FILLER)]


def test_a_special_task_scores_after_its_basic_task():
    # Row 4: basic done; two IV wanted (10 points).
    table = mine(
        hand=[WATER_2], garden={(4, 1): 3, (4, 2): 4}, gardener=(3, 1), basic_done=[4], tasks=special_in(4, 0)
    ).take("use water 2")
    table.take("bed 4,1")
    assert of(table, "points") == 10
    assert of(table, "special_done") == [False] * 4 + [True]
    assert of(table, "basic_done") == [False] * 4 + [True]


def test_a_special_task_already_met_scores_at_once_after_the_basic_task():
    # Row 0 holds I, I, IV; the II completes both the basic task and special 18 (2, 1, 0, 1).
    table = mine(
        hand=[PLANT_2], garden={(0, 0): 1, (0, 1): 1, (0, 3): 4}, gardener=(0, 1), tasks=special_in(0, 18)
    ).take("use plant_2 2")
    table.take("bed 0,2")
    assert of(table, "points") == 5 + 11
    assert (of(table, "basic_done")[0], of(table, "special_done")[0]) == (True, True)


def test_a_special_task_belongs_to_its_row():
    table = mine(
        hand=[WATER_2],
        garden={(4, 1): 3, (4, 2): 4},
        gardener=(3, 1),
        basic_done=[3, 4],
        tasks=special_in(3, 0),
    ).take("use water 2")
    assert of(table.take("bed 4,1"), "points") == 0


@pytest.mark.parametrize("index", range(20))
def test_every_special_task_scores_its_points_with_its_last_plant(index):
    task = DATA["special"][index]
    levels = [level for level, n in enumerate(task["plants"], 1) for _ in range(n)]
    row, lowest = 2, levels[0]
    there = {(row, c): level for c, level in enumerate(levels)}
    column = 0  # the lowest comes last
    del there[row, 0]
    gardener = (row, 0)
    if lowest == 4:
        there[row, 0], hand, first = 3, WATER_2, "use water 2"
    else:
        hand = [PLANT_1, PLANT_2, PLANT_3][lowest - 1]
        first = f"use {DATA['cards'][hand]['action']}"
    table = mine(
        hand=[hand], garden=there, gardener=gardener, basic_done=[row], tasks=special_in(row, index)
    ).take(first)
    assert of(table, "points") == 0
    assert of(table.take(f"bed {row},{column}"), "points") == task["points"]
    assert of(table, "special_done") == [i == row for i in range(5)]


def test_what_is_scored_stays_scored_and_scores_once():
    table = mine(hand=[WATER_2], garden={(0, 0): 1, (0, 1): 1, (0, 2): 1, (0, 3): 1}, gardener=(0, 1))
    table.take("use water 2").take("bed 0,1")
    assert of(table, "points") == 5
    table.take("bed 0,2")  # I, II, II, I: no more than before, nor less
    assert of(table, "points") == 5
    table = mine(hand=[PLANT_2], garden={(0, 0): 1, (0, 1): 1, (0, 2): 1}, gardener=(0, 1), basic_done=[0])
    table.take("use plant_2 2").take("bed 0,1").take("bed 0,2")
    assert of(table, "points") == 0
    assert of(table, "basic_done")[0]


# --- animals ---


@pytest.mark.parametrize(("had", "points"), list(enumerate([3, 6, 10, 15, 21, 0])))
def test_animals_score_3_6_10_15_21_and_a_sixth_nothing(had, points):
    table = mine(hand=[ANIMAL_1], animals=had).take("use animal 1")
    assert of(table, "points") == points
    assert of(table, "animals") == min(had + 1, 5)
    assert turn(table) == (0, "start")


# --- drawing cards ---


def test_cards_are_drawn_from_the_top():
    table = mine(column=8, round=2, tiles={(3, 1): 4}, pile=[WALK_5, ANIMAL_1, WATER_2, WATER_2]).take(
        "flower 1"
    )
    hand = of(table, "hands")
    assert (hand[WALK_5], hand[ANIMAL_1], hand[WATER_2]) == (
        1,
        1,
        1,
    )  # card 1 printed, card 2 by the dark side
    assert table.now["pile"] == [WATER_2]


def test_an_empty_pile_is_made_anew_from_the_discards():
    seen = Counter()
    for seed in range(60):
        table = mine(column=4, tiles={(1, 2): 9}, pile=[], discards=[WATER_2, PLANT_1, WALK_5])
        kernels.resample(table.state, table.params, 0, seed)
        table.take("flower 2")
        drawn = of(table, "hands").index(1)
        assert sum(of(table, "hands")) == 1
        assert sorted([drawn, *table.now["pile"]]) == [WATER_2, PLANT_1, WALK_5]
        assert table.now["discards"] == [0] * 9
        seen[drawn] += 1
    assert min(seen.values()) > 5


def test_the_pile_may_run_out_in_the_midst_of_a_draw():
    table = mine(column=8, round=2, tiles={(3, 1): 4}, pile=[WALK_5], discards=[ANIMAL_1, WATER_2]).take(
        "flower 1"
    )
    assert sum(of(table, "hands")) == 3
    assert (table.now["pile"], sum(table.now["discards"])) == ([], 0)


def test_with_nothing_left_nothing_is_drawn():
    table = printed(4, 2, pile=[])
    assert of(table, "hands") == [0] * 9
    assert turn(table) == (1, "start")


def test_the_card_in_play_is_not_shuffled_into_the_pile():
    table = mine(hand=[MONEY_3], pieces=(M1, 0, 0), coins=2, pile=[], discards=[]).take("use money 3")
    table.take("advance lower").take("pass")
    assert of(table, "hands") == [0] * 9
    assert table.now["discards"] == [int(kind == MONEY_3) for kind in range(9)]


# --- the in-depth example ---


def test_the_in_depth_example_turn():
    # Row 2 holds two III and wants two IV (special 0); row 4 holds III and II and lacks another II.
    table = mine(
        num_players=4,
        column=2,
        coins=4,
        hand=[WATER_2],
        tiles={(0, 2): 10},
        pieces=(0, 0, S3),
        gardener=(1, 1),
        garden={(2, 1): 3, (2, 2): 3, (4, 0): 3, (4, 3): 2},
        tasks=special_in(2, 0),
        basic_done=[2],
    )
    table.take("use water 2").take("bed 2,1")
    assert of(table, "points") == 0
    table.take("bed 2,2")
    assert of(table, "points") == 10
    assert (of(table, "coins"), of(table, "special_done")[2]) == (2, True)
    table.take("flower 2").take("resolve walk").take("walk 3,1")  # two steps of three
    assert of(table, "coins") == 2
    table.take("advance upper")
    assert of(table, "coins") == 0
    assert of(table, "points") == 10 + 24
    assert turn(table) == (0, "plant")
    assert of(table, "tracks") == [0, 0, SHOVEL_END]
    assert beds(table.legal) == ["bed 3,1", "bed 3,2", "bed 4,1", "bed 4,2"]
    table.take("bed 4,1")
    assert of(table, "points") == 10 + 24 + 9
    assert of(table, "tracks") == [0, 0, 0]
    assert table.now["prizes"][1] == [20, 16, 12, 8, 4]
    assert turn(table) == (1, "start")
