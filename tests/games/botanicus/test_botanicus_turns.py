"""The rules of Botanicus: the printed values, setup, the assignment of special tasks, whose turn it is, phase 1, Garden cards.

`botanicus_tools` explains the positions: each begins with a turn of seat 0, followed by seats 1 and 2 in the
stack. A test gives things to seat 0 only (see `mine`).
"""

import itertools
import math
from collections import Counter

import pytest
from botanicus_tools import (
    ANIMAL_1,
    BEDS,
    COPIES,
    CROSSINGS,
    DATA,
    M1,
    MONEY_3,
    NO_BEDS,
    PLANT_1,
    PLANT_3,
    TRACKS,
    WATER_2,
    Table,
    flowers,
    mine,
    of,
    position,
    put,
    sells,
    turn,
    uses,
    walks,
)
from statistics_tools import assert_uniform, uniform

# --- 12: the printed values that the rulebook gives ---


def test_the_data_agree_with_the_numbers_of_the_rulebook():
    """[1.1, 1.5, 12]."""
    assert sum(map(sum, DATA["beds"])) == 18
    assert [(r, c) for r, c in BEDS if not DATA["beds"][r][c]] == NO_BEDS
    assert DATA["fountain"] == [1, 1]
    assert DATA["columns"] == [2, 5, 9, 15]
    assert DATA["animals"] == [3, 6, 10, 15, 21]
    assert [task["points"] for task in DATA["basic"]] == [5, 7, 8, 8, 9]
    assert (len(DATA["special"]), len(DATA["board"])) == (20, 8)
    assert {sort: len(tiles) for sort, tiles in DATA["tiles"].items()} == {"spotted": 8, "striped": 8}
    assert [card["copies"] for card in DATA["cards"]] == COPIES
    assert sum(COPIES) == 18
    assert [column[0] for column in DATA["board"][::2]] == ["pole 3"] * 4
    assert sum(len(stack) for stack in DATA["prizes"].values()) == 12
    assert DATA["prizes"]["shovel"][0] == 24
    assert "plant_2 1" in DATA["tracks"]["shovel"][-1]["gains"]
    assert DATA["tracks"]["wheelbarrow"][-1]["gains"] == ["points 7", "water 2"]


# --- 3: setup ---


@pytest.fixture(scope="module", params=[2, 3, 4])
def dealt(request):
    table = Table(num_players=request.param)
    return [table.deal(seed).now for seed in range(500)]


def test_all_players_begin_with_the_same_things(dealt):
    """[3.2]. The agreement test compares this for every deal."""
    now = dealt[0]
    n = now["num_players"]
    assert (now["coins"], now["scores"]) == ([6] * n, [2] * n)
    assert now["hands"] == [[0] * 9] * n
    assert now["gardeners"] == [CROSSINGS.index((1, 1))] * n
    assert now["tracks"] == [[0, 0, 0]] * n
    assert now["points"] == now["animals"] == [0] * n
    assert now["basic_done"] == now["special_done"] == [[False] * 5] * n


def test_prizes_depend_on_the_number_of_players(dealt):
    """[3.3]."""
    left_out = 4 - dealt[0]["num_players"]
    assert dealt[0]["prizes"] == [[18, 15, 12, 9, 6, 3][left_out:], [24, 20, 16, 12, 8, 4][left_out:]]


def test_tiles_are_laid_at_random_by_sort_on_the_light_side(dealt):
    """[3.4]."""
    for now in dealt:
        assert sorted(t for place in now["tiles"] for t in place[:2]) == list(range(8))
        assert sorted(t for place in now["tiles"] for t in place[2:]) == list(range(8, 16))
    for place, space in itertools.product(range(4), range(4)):
        assert uniform([now["tiles"][place][space] for now in dealt], 8)


def test_five_special_tasks_each_no_two_alike(dealt):
    """[3.7]."""
    for now in dealt:
        assert [len(own) for own in now["dealt"]] == [5] * now["num_players"]
        assert len(set(itertools.chain(*now["dealt"]))) == 5 * now["num_players"]
    for player, number in ((0, 0), (-1, 4)):
        assert uniform([now["dealt"][player][number] for now in dealt], 20)


def test_the_first_stack_is_random(dealt):
    """[3.6]."""
    n = dealt[0]["num_players"]
    assert uniform([tuple(now["stack"]) for now in dealt], math.factorial(n))


def test_the_pile_holds_all_eighteen_cards_shuffled(dealt):
    """[3.5]."""
    for now in dealt:
        assert Counter(now["pile"]) == Counter(dict(enumerate(COPIES)))
    for place in (0, 9, 17):
        assert_uniform(Counter(now["pile"][place] for now in dealt), dict(enumerate(COPIES)))


# --- 3.7: special tasks are assigned ---


@pytest.mark.parametrize("num_players", [2, 3])
def test_each_player_in_the_order_of_the_stack_assigns_four_tasks_and_the_last_follows(num_players):
    """[3.7]."""
    table = Table(num_players=num_players).deal(5)
    for player in table.now["stack"]:
        for row, task in enumerate((2, 0, 4, 1)):
            assert turn(table) == (player, "assign")
            assert table.now["tasks"][player][row:] == [-1] * (5 - row)
            table.take(f"assign {task}")
        assert table.now["tasks"][player] == [table.now["dealt"][player][task] for task in (2, 0, 4, 1, 3)]
    assert table.now["decisions"] == 4 * num_players
    assert turn(table) == (table.now["stack"][0], "neutral" if num_players == 2 else "start")


# --- 4.2, 4.3: the order of turns ---


def test_the_turn_order_example_with_stacked_flowers():
    """[4.2]."""
    blue, yellow, green, red = range(4)
    table = position(num_players=4, stack=[blue, yellow, green, red], coins=[6] * 4)
    for player, space in ((blue, 2), (yellow, 2), (green, 3), (red, 0)):
        assert turn(table) == (player, "start")
        put(table, f"flower {space}")
    assert table.now["stack"] == table.now["order"] == [red, yellow, blue, green]


def test_only_the_column_that_all_have_left_counts():
    """[4.3]: seat 2 is next, not seat 1, whose Flower is at the top of the new column."""
    table = put(position(num_players=3, stack=[0, 1, 2]), "flower 3")
    assert turn(table) == (1, "start")
    assert turn(put(table, "flower 0")) == (2, "start")


# --- 5.1 to 5.6: phase 1 ---


def test_phase_1_offers_walks_cards_and_flowers():
    """[5.1, 5.6]."""
    table = mine(hand=[WATER_2, ANIMAL_1])
    assert len(walks(table.legal)) == 11
    assert uses(table.legal) == ["use water 2", "use animal 1"]
    assert sells(table.legal) == ["sell water 2", "sell animal 1"]
    assert flowers(table.legal) == [f"flower {s}" for s in range(4)]
    assert len(table.legal) == 11 + 2 + 2 + 4


@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(["walk 0,1", "sell water 2"])))
def test_walk_and_card_in_either_order_once_per_turn(first, second):
    """[5.1]."""
    table = mine(hand=[WATER_2, WATER_2]).take(first)
    assert turn(table) == (0, "start")
    assert not (walks if first == "walk 0,1" else sells)(table.legal)
    table.take(second)
    assert table.legal == [f"flower {s}" for s in range(4)]
    assert walks(put(table, "flower 1").legal)


@pytest.mark.parametrize("origin", CROSSINGS)
def test_a_walk_costs_1_coin_per_step_by_the_shortest_way(origin):
    """[5.2]."""
    table = mine(gardener=origin)
    for target in CROSSINGS:
        steps = abs(target[0] - origin[0]) + abs(target[1] - origin[1])
        label = f"walk {target[0]},{target[1]}"
        for coins in (7, steps, max(steps - 1, 0)):
            table.state["coins"][0] = coins
            assert (label in table.legal) == (0 < steps <= coins)
        if steps:
            table.state["coins"][0] = 7
            after = table.copy().take(label)
            assert of(after, "coins") == 7 - steps
            assert after.now["gardeners"] == [CROSSINGS.index(to) for to in (target, (1, 1), (1, 1))]


# --- 5.3 to 5.5: Garden cards ---


def test_a_card_is_used_for_2_coins_and_then_discarded():
    """[5.3, 5.5]."""
    table = mine(hand=[PLANT_3], coins=2).take("use plant_3 1")
    assert (of(table, "coins"), sum(of(table, "hands"))) == (0, 0)
    assert (table.now["in_play"], table.now["discards"], table.now["asked"]) == (PLANT_3, [0] * 9, "plant")
    table.take("bed 1,1")
    assert (table.now["in_play"], table.now["discards"][PLANT_3]) == (None, 1)
    assert turn(table) == (0, "start")


def test_a_card_is_not_used_without_2_coins_but_sold():
    """[5.3]."""
    table = mine(hand=[PLANT_3], coins=1)
    assert not uses(table.legal)
    table.take("sell plant_3 1")
    assert (of(table, "coins"), table.now["discards"][PLANT_3], table.now["played"]) == (4, 1, True)
    assert turn(table) == (0, "start")


def test_only_cards_in_the_own_hand_can_be_played():
    """[5.3]."""
    table = position(num_players=3, stack=[0, 1, 2], hands=[[], [WATER_2], [ANIMAL_1]])
    assert not uses(table.legal) + sells(table.legal)


def test_a_forfeited_card_costs_its_coins_and_is_discarded():
    """[5.3, 6.4]."""
    table = mine(hand=[PLANT_1]).take("use plant_1 3", "pass")
    assert (of(table, "coins"), table.now["discards"][PLANT_1]) == (4, 1)
    assert turn(table) == (0, "start")


def test_a_card_drawn_by_a_card_cannot_be_played_in_that_turn():
    """[5.4]."""
    table = mine(hand=[MONEY_3], pieces=(M1, 0, 0), pile=[WATER_2])
    table.take("use money 3", "advance lower", "pass")
    assert of(table, "hands")[WATER_2] == 1
    assert turn(table) == (0, "start")
    assert not uses(table.legal) + sells(table.legal)


@pytest.mark.parametrize("kind", sorted({*range(9)} - {ANIMAL_1}))
def test_every_card_gives_its_action(kind):
    """[5.3, 12.7]."""
    action, n = DATA["cards"][kind]["action"].split()
    table = mine(hand=[kind], garden={(1, 1): 3, (2, 2): 2}).take(f"use {action} {n}")
    assert table.now["hand_action"] == [action, int(n)]
    assert turn(table) == (0, "track" if action in TRACKS else action.partition("_")[0])
    assert (table.now["in_play"], table.now["pending"]) == (kind, [[]])
