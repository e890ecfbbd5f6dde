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

# --- 2: tasks ---


def use(kind, **own):
    """Set up a position in which seat 0 has used a card of this kind."""
    return mine(hand=[kind], **own).take(f"use {DATA['cards'][kind]['action']}")


@pytest.mark.parametrize("row", range(5))
def test_a_basic_task_scores_as_soon_as_its_row_holds_the_plants(row):
    """[2.2]; the highest plant comes last."""
    task = DATA["basic"][row]
    levels = [level for level, n in enumerate(task["plants"], 1) for _ in range(n)]
    *there, (_, column) = [bed for bed in BEDS if bed[0] == row and bed not in NO_BEDS][: len(levels)]
    table = use(
        {2: PLANT_2, 3: PLANT_3}[levels[-1]],
        garden=dict(zip(there, levels, strict=False)),
        gardener=(min(row, 3), min(column, 2)),
    )
    assert of(table, "basic_done") == [False] * 5
    table.take(f"bed {row},{column}")
    assert of(table, "points") == task["points"]
    assert of(table, "basic_done") == [i == row for i in range(5)]
    assert of(table, "special_done") == [False] * 5


def test_levels_are_exact():
    """[2.1]: I, II, II, so that one I is missing."""
    table = use(WATER_2, garden={(0, 1): 1, (0, 2): 1, (0, 3): 2}, gardener=(0, 1))
    assert of(table.take("bed 0,1"), "points") == 0


def special_in(row, task):
    """Return FILLER with another task in one row."""
    return [*FILLER[:row], task, *FILLER[row + 1 :]]


def test_a_special_task_already_met_scores_at_once_after_the_basic_task():
    """[2.3]. Row 0 holds I, I, IV; the II completes both the basic task and special 18."""
    table = use(
        PLANT_2, garden={(0, 0): 1, (0, 1): 1, (0, 3): 4}, gardener=(0, 1), tasks=special_in(0, 18)
    ).take("bed 0,2")
    assert of(table, "points") == 5 + 11
    assert (of(table, "basic_done")[0], of(table, "special_done")[0]) == (True, True)


@pytest.mark.parametrize(("row", "points"), [(4, 10), (3, 0)])
def test_a_special_task_scores_in_its_row_after_the_basic_task(row, points):
    """[2.3]. Row 4 gets two IV, as special 0 asks for."""
    table = use(
        WATER_2,
        garden={(4, 1): 3, (4, 2): 4},
        gardener=(3, 1),
        basic_done=[3, 4],
        tasks=special_in(row, 0),
    ).take("bed 4,1")
    assert of(table, "points") == points


@pytest.mark.parametrize("number", range(20))
def test_every_special_task_scores_its_points_with_its_last_plant(number):
    """[2.3, 12.2]; the lowest plant comes last."""
    task = DATA["special"][number]
    lowest, *levels = [level for level, n in enumerate(task["plants"], 1) for _ in range(n)]
    garden = {(2, c): level for c, level in enumerate(levels, 1)}
    if lowest == 4:
        garden[2, 0] = 3
    kind = [PLANT_1, PLANT_2, PLANT_3, WATER_2][lowest - 1]
    table = use(kind, garden=garden, gardener=(2, 0), basic_done=[2], tasks=special_in(2, number))
    assert of(table, "points") == 0
    assert of(table.take("bed 2,0"), "points") == task["points"]
    assert of(table, "special_done") == [i == 2 for i in range(5)]


def test_a_task_scores_once_and_stays_scored():
    """[2.4]: I, II, I, I scores; I, II, II, I changes nothing."""
    table = use(WATER_2, garden={(0, 0): 1, (0, 1): 1, (0, 2): 1, (0, 3): 1}, gardener=(0, 1))
    assert of(table.take("bed 0,1"), "points") == 5
    assert of(table.take("bed 0,2"), "points") == 5
    table = use(PLANT_2, garden={(0, 0): 1, (0, 1): 1, (0, 2): 1}, gardener=(0, 1), basic_done=[0])
    table.take("bed 0,1", "bed 0,2")
    assert of(table, "points") == 0
    assert of(table, "basic_done")[0]


# --- 6.8: animals ---


@pytest.mark.parametrize(("had", "points"), list(enumerate([3, 6, 10, 15, 21, 0])))
def test_animals_score_3_6_10_15_21_and_a_sixth_nothing(had, points):
    """[6.8]."""
    table = use(ANIMAL_1, animals=had)
    assert (of(table, "points"), of(table, "animals")) == (points, min(had + 1, 5))
    assert turn(table) == (0, "start")


# --- 6.9: drawing cards ---


def test_cards_are_drawn_from_the_top():
    """[6.9]: one card printed, two by the dark side of the tile."""
    table = mine(column=8, round=2, tiles={(3, 1): "card 1"}, pile=[WALK_5, ANIMAL_1, WATER_2, WATER_2])
    table.take("flower 1")
    assert of(table, "hands") == [int(kind in (WALK_5, ANIMAL_1, WATER_2)) for kind in range(9)]
    assert table.now["pile"] == [WATER_2]


def test_the_discards_are_shuffled_into_an_empty_pile():
    """[6.9]."""
    table = mine(column=4, tiles={(1, 2): "points 3"}, pile=[], discards=[WATER_2, PLANT_1, WALK_5])
    seen = Counter()
    for seed in range(60):
        other = table.resampled(0, seed).take("flower 2")
        drawn = of(other, "hands").index(1)
        assert sorted([drawn, *other.now["pile"]]) == [WATER_2, PLANT_1, WALK_5]
        assert other.now["discards"] == [0] * 9
        seen[drawn] += 1
    assert min(seen.values()) > 5


def test_the_pile_may_run_out_in_the_midst_of_a_draw():
    """[6.9]."""
    table = mine(
        column=8, round=2, tiles={(3, 1): "card 1"}, pile=[WALK_5], discards=[ANIMAL_1, WATER_2]
    ).take("flower 1")
    assert sum(of(table, "hands")) == 3
    assert (table.now["pile"], sum(table.now["discards"])) == ([], 0)


def test_with_nothing_left_nothing_is_drawn():
    """[6.9]."""
    table = printed(4, 2, pile=[])
    assert of(table, "hands") == [0] * 9
    assert turn(table) == (1, "start")


def test_the_card_in_play_is_not_shuffled_into_the_pile():
    """[5.5, 6.9]."""
    table = use(MONEY_3, pieces=(M1, 0, 0), coins=2, pile=[]).take("advance lower", "pass")
    assert of(table, "hands") == [0] * 9
    assert table.now["discards"] == [int(kind == MONEY_3) for kind in range(9)]


# --- the in-depth example ---


def test_the_in_depth_example_turn():
    """Row 2 holds two III and asks for two IV (special 0); row 4 holds III and II and needs another II."""
    table = use(
        WATER_2,
        num_players=4,
        column=2,
        coins=4,
        tiles={(0, 2): "shovel 1"},
        pieces=(0, 0, S3),
        garden={(2, 1): 3, (2, 2): 3, (4, 0): 3, (4, 3): 2},
        tasks=special_in(2, 0),
        basic_done=[2],
    ).take("bed 2,1")
    assert of(table, "points") == 0
    table.take("bed 2,2")
    assert (of(table, "points"), of(table, "coins"), of(table, "special_done")[2]) == (10, 2, True)
    table.take("flower 2", "resolve walk", "walk 3,1")  # two steps of three
    assert of(table, "coins") == 2
    table.take("advance upper")
    assert (of(table, "coins"), of(table, "points")) == (0, 10 + 24)
    assert turn(table) == (0, "plant")
    assert of(table, "tracks") == [0, 0, SHOVEL_END]
    assert beds(table.legal) == ["bed 3,1", "bed 3,2", "bed 4,1", "bed 4,2"]
    table.take("bed 4,1")
    assert of(table, "points") == 10 + 24 + 9
    assert of(table, "tracks") == [0, 0, 0]
    assert table.now["prizes"][1] == [20, 16, 12, 8, 4]
    assert turn(table) == (1, "start")
