"""The rules of Botanicus: the printed values, setup, the assignment of special tasks, whose turn it is, phase 1, Garden cards.

Positions are set up as `botanicus_tools` explains: they begin with a turn. Seat 0 is to move, three play, and
nobody has anything but what a test gives to seat 0 (see `mine`). Seats 1 and 2 follow in the stack.
"""

import itertools
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
    planted,
    position,
    put,
    sells,
    turn,
    uses,
    walks,
)
from statistics_tools import uniform

# --- the printed values, as far as the rulebook tells them ---


def test_the_data_agree_with_the_numbers_of_the_rulebook():
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


# --- setup ---


@pytest.fixture(scope="module", params=[2, 3, 4])
def dealt(request):
    table = Table(num_players=request.param)
    return [table.deal(seed).now for seed in range(500)]


def test_everybody_starts_with_six_coins_no_cards_on_the_fountain_with_pieces_on_start(dealt):
    for now in dealt:
        n = now["num_players"]
        assert now["coins"] == [6] * n
        assert now["hands"] == [[0] * 9] * n
        assert now["gardeners"] == [CROSSINGS.index((1, 1))] * n
        assert now["tracks"] == [[0, 0, 0]] * n
        assert now["points"] == now["animals"] == [0] * n
        assert now["basic_done"] == now["special_done"] == [[False] * 5] * n
        assert now["scores"] == [2] * n


def test_prizes_depend_on_the_number_of_players(dealt):
    left_out = {2: 2, 3: 1, 4: 0}
    for now in dealt:
        k = left_out[now["num_players"]]
        assert now["prizes"] == [[18, 15, 12, 9, 6, 3][k:], [24, 20, 16, 12, 8, 4][k:]]


def test_tiles_are_laid_at_random_by_sort_on_the_light_side(dealt):
    for now in dealt:
        assert sorted(t for place in now["tiles"] for t in place[:2]) == list(range(8))
        assert sorted(t for place in now["tiles"] for t in place[2:]) == list(range(8, 16))
        assert now["covered"] == [[False] * 4] * 4
    for place, space in itertools.product(range(4), range(4)):
        assert uniform([now["tiles"][place][space] for now in dealt], 8)


def test_five_special_tasks_each_no_two_alike(dealt):
    for now in dealt:
        assert [len(own) for own in now["dealt"]] == [5] * now["num_players"]
        everything = list(itertools.chain(*now["dealt"]))
        assert len(set(everything)) == len(everything)
        assert set(everything) <= set(range(20))
    assert uniform([now["dealt"][0][0] for now in dealt], 20)
    assert uniform([now["dealt"][-1][4] for now in dealt], 20)


def test_the_first_stack_is_random(dealt):
    n = dealt[0]["num_players"]
    assert uniform([tuple(now["stack"]) for now in dealt], [0, 1, 2, 6, 24][n])
    for now in dealt:
        assert now["order"] == now["stack"]


def test_the_pile_holds_all_eighteen_cards_shuffled(dealt):
    for now in dealt:
        assert Counter(now["pile"]) == Counter(dict(enumerate(COPIES)))
        assert now["discards"] == [0] * 9
    for place in (0, 9, 17):
        often = Counter(now["pile"][place] for now in dealt)
        for kind, copies in enumerate(COPIES):
            mean = len(dealt) * copies / 18
            assert abs(often[kind] - mean) < 5 * mean**0.5


# --- special tasks are assigned ---


@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_each_player_in_the_order_of_the_stack_assigns_four_tasks_and_the_last_goes_by_itself(num_players):
    table = Table(num_players=num_players).deal(5)
    for player in table.now["stack"]:
        for row in range(4):
            assert turn(table) == (player, "assign")
            assert table.now["tasks"][player][row:] == [-1] * (5 - row)
            j = [2, 0, 4, 1][row]
            table.take(f"assign {j}")
            assert table.now["tasks"][player][row] == table.now["dealt"][player][j]
        assert table.now["tasks"][player][4] == table.now["dealt"][player][3]
    assert table.now["decisions"] == 4 * num_players
    assert turn(table) == (table.now["stack"][0], "neutral" if num_players == 2 else "start")


# --- whose turn it is ---


def test_the_turn_order_example_with_stacked_flowers():
    blue, yellow, green, red = range(4)
    table = position(num_players=4, stack=[blue, yellow, green, red], coins=[6] * 4)
    for player, space in ((blue, 2), (yellow, 2), (green, 3), (red, 0)):
        assert turn(table) == (player, "start")
        put(table, f"flower {space}")
    assert table.now["stack"] == table.now["order"] == [red, yellow, blue, green]
    for player in (red, yellow, blue, green):
        assert turn(table) == (player, "start")
        put(table, "flower 0")  # in a column with tiles: 3 coins each
        table.state["coins"][:] = 20


def test_only_the_column_that_all_have_left_counts():
    table = position(num_players=3, stack=[0, 1, 2])
    put(table, "flower 3")
    assert turn(table) == (1, "start")
    put(table, "flower 0")
    assert turn(table) == (2, "start")  # not seat 1, whose Flower is at the top of the new column


# --- phase 1 ---


def test_phase_1_offers_walks_cards_and_flowers():
    table = mine(hand=[WATER_2, ANIMAL_1])
    assert turn(table) == (0, "start")
    assert len(walks(table.legal)) == 11
    assert uses(table.legal) == ["use water 2", "use animal 1"]
    assert sells(table.legal) == ["sell water 2", "sell animal 1"]
    assert flowers(table.legal) == [f"flower {s}" for s in range(4)]
    assert len(table.legal) == 11 + 2 + 2 + 4


def test_walk_and_card_in_either_order_each_once():
    for first, second in itertools.permutations(["walk 0,1", "sell water 2"]):
        table = mine(hand=[WATER_2, WATER_2]).take(first)
        assert (table.now["walked"], table.now["played"]) == (first[0] == "w", first[0] == "s")
        assert turn(table) == (0, "start")
        assert not (walks if first[0] == "w" else sells)(table.legal)
        table.take(second)
        assert table.legal == [f"flower {s}" for s in range(4)]
        assert (table.now["walked"], table.now["played"]) == (True, True)


def test_walked_and_played_are_forgotten_with_the_turn():
    table = mine(hand=[WATER_2]).take("walk 1,2").take("sell water 2")
    put(table, "flower 1")
    assert (table.now["walked"], table.now["played"]) == (False, False)
    assert walks(table.legal)


@pytest.mark.parametrize("origin", CROSSINGS)
def test_a_walk_costs_a_coin_a_step_by_the_shortest_way_along_the_paths(origin):
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
            assert of(after, "gardeners") == CROSSINGS.index(target)
            assert after.now["gardeners"][1:] == [4, 4]


# --- Garden cards ---


def test_a_card_is_used_for_2_coins_and_then_discarded():
    table = mine(hand=[PLANT_3], coins=2).take("use plant_3 1")
    assert of(table, "coins") == 0
    assert (table.now["in_play"], table.now["discards"]) == (PLANT_3, [0] * 9)
    assert sum(of(table, "hands")) == 0
    assert table.now["asked"] == "plant"
    table.take("bed 1,1")
    assert (table.now["in_play"], table.now["discards"][PLANT_3]) == (None, 1)
    assert turn(table) == (0, "start")


def test_a_card_is_not_used_without_2_coins_but_sold():
    table = mine(hand=[PLANT_3], coins=1)
    assert not uses(table.legal)
    table.take("sell plant_3 1")
    assert of(table, "coins") == 4
    assert table.now["discards"][PLANT_3] == 1
    assert table.now["played"]
    assert not planted(table)
    assert turn(table) == (0, "start")


def test_only_cards_in_the_own_hand_can_be_played():
    table = position(num_players=3, stack=[0, 1, 2], hands=[[], [WATER_2], [ANIMAL_1]])
    assert not uses(table.legal) + sells(table.legal)


def test_a_forfeited_card_is_paid_and_discarded_all_the_same():
    table = mine(hand=[PLANT_1]).take("use plant_1 3").take("pass")
    assert of(table, "coins") == 4
    assert table.now["discards"][PLANT_1] == 1
    assert turn(table) == (0, "start")
    assert walks(table.legal)


def test_a_card_drawn_by_a_card_cannot_be_played_in_that_turn():
    table = mine(hand=[MONEY_3], pieces=(M1, 0, 0), pile=[WATER_2]).take("use money 3")
    table.take("advance lower").take("pass")
    assert of(table, "hands")[WATER_2] == 1
    assert turn(table) == (0, "start")
    assert not uses(table.legal) + sells(table.legal)


@pytest.mark.parametrize("kind", range(9))
def test_every_card_does_what_it_says(kind):
    action, n = DATA["cards"][kind]["action"].split()
    table = mine(hand=[kind], garden={(1, 1): 3, (2, 2): 2}).take(f"use {action} {n}")
    if action == "animal":
        assert (of(table, "animals"), of(table, "points"), table.now["asked"]) == (1, 3, "start")
        return
    assert table.now["hand_action"] == [action, int(n)]
    asked = {"water": "water", "walk": "walk"}.get(action, "track" if action in TRACKS else "plant")
    assert turn(table) == (0, asked)
    assert table.now["in_play"] == kind
    assert table.now["pending"] == [[]]
