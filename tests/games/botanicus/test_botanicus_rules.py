"""The rules of Botanicus, one test for each statement of the rulebook and of our reading of it.

Positions are set up as `botanicus_tools` explains: they begin with a turn. Seat 0 is to move, three play, and
nobody has anything but what a test gives to seat 0 (see `mine`). Seats 1 and 2 follow in the stack.
"""

import itertools
import json
import random
from collections import Counter

import numpy as np
import pytest
import tomli_w
from botanicus_tools import DATA, POLICIES, Table, choose, made_up, position
from statistics_tools import uniform

from garden_core import kernels, make

KEYS = (
    "game num_players round column current_player asked hand_action steps_taken in_play pending gardens gardeners "
    "coins points animals hands tracks tasks dealt basic_done special_done flowers order stack walked played "
    "prizes tiles covered pile discards scores decisions terminated truncated"
)
ASKED = ["assign", "neutral", "start", "choose", "plant", "water", "walk", "track", "over"]
KINDS = ["plant_1", "plant_2", "plant_3", "plant_4", "water", "walk", "money", "wheelbarrow", "shovel"]
TRACKS = ["money", "wheelbarrow", "shovel"]
CROSSINGS = [(r, c) for r in range(4) for c in range(3)]
BEDS = [(r, c) for r in range(5) for c in range(4)]
NO_BEDS = [(1, 3), (3, 0)]
# Places among the card kinds, the nodes of the tracks and the tiles of the packaged data.
WATER_2, PLANT_2, PLANT_1, PLANT_3, MONEY_3, WHEELBARROW_2, SHOVEL_2, ANIMAL_1, WALK_5 = range(9)
COPIES = [3, 2, 3, 2, 2, 2, 2, 1, 1]
M1, M2U, M2L, M3, M4U, M4L, MONEY_END = range(1, 8)
W1, W2U, W2L, W3, W4, WHEELBARROW_END = range(1, 7)
S1, S2U, S2L, S3, S4, SHOVEL_END = range(1, 7)
FILLER = [17, 14, 19, 13, 15]  # special tasks that no test meets by chance


def laid(where=()):
    """16 tiles, those of `where` ({(place, space): tile}) there and the others in order around them."""
    tiles = [[None] * 4 for _ in range(4)]
    for (place, space), tile in dict(where).items():
        assert (space < 2) == (tile < 8)
        tiles[place][space] = tile
    for sort in range(2):
        rest = [t for t in range(8 * sort, 8 * sort + 8) if t not in dict(where).values()]
        for place, space in itertools.product(range(4), range(2 * sort, 2 * sort + 2)):
            if tiles[place][space] is None:
                tiles[place][space] = rest.pop(0)
    return tiles


def mine(
    *, num_players=3, hand=(), garden=None, gardener=(1, 1), coins=6, points=0, animals=0, pieces=(0, 0, 0),
    tasks=FILLER, basic_done=(), special_done=(), tiles=None, **others,
):  # fmt: skip
    """A position in which seat 0 begins its turn and has all this; the others have 6 coins and no more."""

    def own(value, other):
        return [value, *[other] * (num_players - 1)]

    others.setdefault("stack", list(range(num_players)))
    return position(
        num_players=num_players,
        hands=own(list(hand), []),
        gardens=own(garden or {}, {}),
        gardeners=own(gardener, (1, 1)),
        coins=own(coins, 6),
        points=own(points, 0),
        animals=own(animals, 0),
        tracks=own(list(pieces), [0, 0, 0]),
        tasks=own(list(tasks), [17, 14, 19, 13, 15]),
        basic_done=own(list(basic_done), []),
        special_done=own(list(special_done), []),
        tiles=laid(tiles or {}),
        **others,
    )


def printed(column, space, coins=6, **own):
    """Seat 0 of two has placed its Flower on the neutral one, which costs 3 coins, and so has no tile's action."""
    flowers_there = [["neutral"] if s == space else [] for s in range(4)]
    covered = [(column // 2 - 1, space)] if column % 2 == 0 else []
    table = mine(num_players=2, column=column, flowers=flowers_there, covered=covered, coins=coins + 3, **own)
    return table.take(f"flower {space}")


def put(table, label):
    """Take the action and forfeit all decisions up to the next turn or to whatever else is left of this one."""
    table.take(label)
    while table.now["asked"] not in ("start", "neutral", "over"):
        table.take("pass")
    return table


def through(table):
    """Forfeit everything until the turn is another player's."""
    while table.now["asked"] not in ("start", "neutral", "over"):
        table.take("pass")
    return table


def starting(*prefixes):
    """A filter of labels."""
    return lambda labels: [label for label in labels if label.startswith(prefixes)]


walks, beds, resolves, uses, sells, flowers, neutrals = map(
    starting, ("walk", "bed", "resolve", "use", "sell", "flower", "neutral")
)


def planted(table, seat=0):
    """The garden of a seat as {(row, column): level}."""
    return {BEDS[i]: level for i, level in enumerate(table.now["gardens"][seat]) if level > 0}


def turn(table):
    """Whose turn it is, and what is asked."""
    return table.now["current_player"], table.now["asked"]


def of(table, key, seat=0):
    return table.now[key][seat]


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


def test_the_specials_of_the_data_are_those_of_the_reading():
    text = (
        "0002-10 0020-7 0011-9 0111-11 0030-11 2001-8 0201-10 1011-10 0120-10 1002-11 1110-8 0102-12 2020-11 "
        "1111-14 0400-11 0220-14 3001-10 0040-17 2101-11 0310-12"
    )
    assert [f"{''.join(map(str, t['plants']))}-{t['points']}" for t in DATA["special"]] == text.split()


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


def test_gardens_start_empty_with_eighteen_beds(dealt):
    empty = [-1 if bed in NO_BEDS else 0 for bed in BEDS]
    for now in dealt:
        assert now["gardens"] == [empty] * now["num_players"]


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


def test_the_game_begins_with_round_one_column_one_and_the_assignments_of_the_first_in_the_stack(dealt):
    for now in dealt:
        assert (now["round"], now["column"], now["asked"]) == (1, 1, "assign")
        assert now["current_player"] == now["stack"][0]
        assert now["tasks"] == [[-1] * 5] * now["num_players"]
        assert now["flowers"] == [[], [], [], []]
        assert (now["decisions"], now["terminated"], now["truncated"]) == (0, False, False)
        assert (now["walked"], now["played"], now["in_play"], now["hand_action"]) == (
            False,
            False,
            None,
            None,
        )


def test_one_seed_gives_one_deal():
    assert Table().deal(7).now == Table().deal(7).now
    assert Table().deal(7).now != Table().deal(8).now


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


def test_a_task_is_assigned_only_once_and_any_row_is_allowed():
    table = Table(num_players=3).deal(1)
    seen = [0, 1, 2, 3, 4]
    for j in (4, 1, 0, 3):
        assert table.legal == [f"assign {i}" for i in seen]
        table.take(f"assign {j}")
        seen.remove(j)


def test_all_tasks_stay_in_dealt_for_the_whole_game():
    table = Table(num_players=3).deal(1)
    before = table.now["dealt"]
    while not table.over:
        table.take(table.legal[-1])
    assert table.now["dealt"] == before
    assert [sorted(own) for own in table.now["tasks"]] == [sorted(own) for own in before]


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


def test_the_stack_decides_at_the_very_start():
    for stack in itertools.permutations(range(3)):
        table = position(num_players=3, stack=stack)
        for player in stack:
            assert turn(table) == (player, "start")
            assert table.now["order"][0] == player
            put(table, "flower 0")


def test_the_space_counts_before_the_place_in_the_stack():
    table = position(num_players=4, stack=[0, 1, 2, 3], coins=[20] * 4)
    for space in (3, 1, 3, 1):
        put(table, f"flower {space}")
    assert table.now["stack"] == [3, 1, 2, 0]


def test_only_the_column_that_all_have_left_counts():
    table = position(num_players=3, stack=[0, 1, 2])
    put(table, "flower 3")
    assert turn(table) == (1, "start")
    put(table, "flower 0")
    assert turn(table) == (2, "start")  # not seat 1, whose Flower is at the top of the new column


def test_one_player_may_have_two_turns_in_a_row():
    table = position(num_players=3, stack=[0, 1, 2])
    for space in (3, 2, 0):
        put(table, f"flower {space}")
    assert table.now["column"] == 2
    assert turn(table) == (2, "start")


def test_flowers_lie_bottom_to_top_and_the_order_loses_who_has_placed():
    table = position(num_players=3, stack=[2, 0, 1])
    put(table, "flower 1")
    assert (table.now["flowers"], table.now["order"]) == ([[], [2], [], []], [0, 1])
    put(table, "flower 1")
    assert (table.now["flowers"], table.now["order"]) == ([[], [2, 0], [], []], [1])
    put(table, "flower 3")
    assert (table.now["flowers"], table.now["order"]) == ([[]] * 4, [0, 2, 1])


def test_the_order_loses_a_player_on_placing_the_flower_not_at_the_end_of_the_turn():
    table = mine().take("flower 1")
    assert turn(table) == (0, "track")
    assert table.now["order"] == [1, 2]
    assert table.now["stack"] == [0, 1, 2]


def test_four_players_may_all_stand_on_one_space():
    table = position(num_players=4, stack=[0, 1, 2, 3], coins=[20] * 4)
    for paid in (0, 3, 6, 9):
        player = table.to_move
        put(table, "flower 2")
        assert table.now["coins"][player] == 20 - paid
    assert table.now["stack"] == [3, 2, 1, 0]


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


def test_neither_walk_nor_card_is_compulsory_and_both_end_with_the_flower():
    table = mine(hand=[WATER_2]).take("flower 1")
    assert table.now["asked"] == "track"
    assert not walks(table.legal) + uses(table.legal) + sells(table.legal)
    table.take("pass")
    assert table.to_move == 1


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


def test_without_coins_there_is_no_walk():
    assert not walks(mine(coins=0).legal)


def test_staying_put_is_no_walk():
    assert "walk 1,1" not in mine(coins=20).legal


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


def test_coins_of_a_sale_pay_for_a_walk():
    table = mine(hand=[PLANT_3], coins=0).take("sell plant_3 1")
    assert len(walks(table.legal)) == len([c for c in CROSSINGS if 0 < abs(c[0] - 1) + abs(c[1] - 1) <= 3])


def test_only_cards_in_the_own_hand_can_be_played():
    table = position(num_players=3, stack=[0, 1, 2], hands=[[], [WATER_2], [ANIMAL_1]])
    assert not uses(table.legal) + sells(table.legal)


def test_two_cards_of_a_kind_are_one_choice_and_one_stays():
    table = mine(hand=[WATER_2, WATER_2]).take("sell water 2")
    assert of(table, "hands") == [1, 0, 0, 0, 0, 0, 0, 0, 0]


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


def test_a_card_drawn_by_the_flower_waits_for_the_next_turn():
    table = printed(4, 2, pile=[ANIMAL_1])
    assert of(table, "hands")[ANIMAL_1] == 1
    assert table.to_move == 1


def test_the_card_that_waters_twice():
    table = mine(hand=[WATER_2], garden={(1, 1): 1, (2, 2): 3}).take("use water 2")
    assert turn(table) == (0, "water")
    assert table.now["hand_action"] == ["water", 2]
    table.take("bed 2,2")
    assert table.now["hand_action"] == ["water", 1]
    table.take("bed 1,1")
    assert planted(table) == {(1, 1): 2, (2, 2): 4}
    assert turn(table) == (0, "start")


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


# --- the Flower: costs, what it gives ---


def test_each_flower_already_there_costs_3_coins():
    for height in range(4):
        flowers_there = [[], [1, 2, 3][:height], [], []]
        for coins in (3 * height, 3 * height - 1):
            if coins < 0:
                continue
            table = position(
                num_players=4, stack=[1, 2, 3, 0], started=3, flowers=flowers_there, coins=[coins] * 4
            )
            assert ("flower 1" in table.legal) == (coins >= 3 * height)
        table = position(num_players=4, stack=[1, 2, 3, 0], started=3, flowers=flowers_there, coins=[9] * 4)
        table.take("flower 1")
        assert table.now["flowers"][1][: height + 1] == [*[1, 2, 3][:height], 0]
        assert of(table, "coins") == 9 - 3 * height
        assert table.now["hand_action"] == ["wheelbarrow", 2]


def test_the_flower_can_be_placed_on_any_space_that_can_be_paid():
    table = mine(started=2, stack=[1, 2, 0], flowers=[[], [1], [2], []], coins=2)
    assert flowers(table.legal) == ["flower 0", "flower 3"]


@pytest.mark.parametrize(("column", "space"), list(itertools.product(range(1, 9), range(4))))
def test_every_space_gives_its_printed_action(column, space):
    action, n = DATA["board"][column - 1][space].split()
    table = printed(column, space, garden={(1, 1): 1}, pile=[PLANT_3])
    got = of(table, "coins") - 6, of(table, "points"), of(table, "animals"), sum(of(table, "hands"))
    at_once = {
        "coins": (int(n), 0, 0, 0),
        "points": (0, int(n), 0, 0),
        "animal": (0, 3, 1, 0),
        "card": (0, 0, 0, 1),
    }
    if action == "pole":
        assert got == (3, 0, 0, 0)  # what is paid in `printed`: a pole costs nothing
    else:
        assert got == at_once.get(action, (0, 0, 0, 0))
    if action in KINDS:
        assert table.now["hand_action"] == [action, int(n)]
        assert table.to_move == 0
    else:
        assert turn(table) == (1, "start")


def test_columns_in_odd_places_have_no_tiles():
    for column in (1, 3, 5, 7):
        table = mine(column=column).take("flower 1")
        assert table.now["covered"] == [[False] * 4] * 4
        assert table.now["pending"] == [[]]


def test_a_tile_gives_its_action_besides_the_printed_one_and_stays():
    table = mine(column=2, tiles={(0, 0): 3}).take("flower 0")
    assert of(table, "coins") == 6 + 2 + 3
    assert table.now["covered"][0] == [True, False, False, False]
    assert table.now["tiles"] == laid({(0, 0): 3})


def test_a_tile_is_only_for_the_first_flower():
    table = mine(column=2, tiles={(0, 0): 3})
    put(table, "flower 0").take("flower 0")
    assert table.now["coins"][1] == 6 - 3 + 2


def test_the_neutral_flower_covers_a_tile_too():
    table = mine(num_players=2, column=8, round=1, tiles={(3, 0): 3})
    table.state["asked"] = ASKED.index("neutral")
    table.take("neutral 0")
    assert table.now["covered"][3][0]
    table.take("flower 0")
    assert of(table, "coins") == 6 - 3 + 2


@pytest.mark.parametrize("first", ["walk", "shovel"])
def test_printed_action_and_tile_are_carried_out_in_either_order(first):
    table = mine(column=2, tiles={(0, 2): 10}).take("flower 2")
    assert turn(table) == (0, "choose")
    assert table.legal == ["pass", "resolve walk", "resolve shovel"]
    assert table.now["pending"] == [[["walk", 3], ["shovel", 1]]]
    table.take(f"resolve {first}")
    other = {"walk": ["shovel", 1], "shovel": ["walk", 3]}[first]
    assert table.now["pending"] == [[other]]
    if first == "walk":
        table.take("walk 0,0")
    else:
        table.take("advance upper").take("pass").take("bed 1,1")
    assert table.now["hand_action"] == other
    assert table.now["pending"] == [[]]
    assert table.to_move == 0


def test_at_once_gains_come_first_and_leave_no_choice():
    table = mine(column=2, tiles={(0, 2): 8}).take("flower 2")  # walk 3 and an animal
    assert (of(table, "animals"), of(table, "points")) == (1, 3)
    assert turn(table) == (0, "walk")
    table = mine(column=6, tiles={(2, 1): 0}).take("flower 1")  # coins 3 and a step on Money
    assert of(table, "coins") == 9
    assert turn(table) == (0, "track")


def test_groups_of_at_once_gains_never_appear():
    table = mine(column=2, tiles={(0, 1): 3}).take("flower 1")
    assert (of(table, "coins"), of(table, "points")) == (9, 2)
    assert turn(table) == (1, "start")
    assert table.now["pending"] == []


def test_of_one_kind_the_printed_one_goes_first_without_a_choice():
    table = mine(column=2, tiles={(0, 3): 15}, gardener=(1, 1)).take("flower 3")  # plant_1 2, and plant_1 2
    assert turn(table) == (0, "plant")
    assert table.now["hand_action"] == ["plant_1", 2]
    assert table.now["pending"] == [[["plant_1", 2]]]
    for bed in ("1,1", "1,2", "2,1"):
        assert turn(table) == (0, "plant")
        table.take(f"bed {bed}")
    assert table.now["hand_action"] == ["plant_1", 1]
    table.take("bed 2,2")
    assert table.to_move == 1
    table = mine(column=6, tiles={(2, 0): 5}).take("flower 0")  # walk 2, and walk 3 by the tile
    assert table.now["hand_action"] == ["walk", 2]
    assert table.now["pending"] == [[["walk", 3]]]


def test_planting_different_levels_is_a_choice():
    table = mine(column=8, tiles={(3, 3): 15}).take("flower 3")  # plant_2 2, and plant_1 2
    assert table.legal == ["pass", "resolve plant_1", "resolve plant_2"]


def test_one_action_is_completed_before_the_next_begins():
    table = mine(column=2, tiles={(0, 3): 14}, garden={(1, 1): 1}).take("flower 3")  # plant_1 2, and water 2
    table.take("resolve water").take("bed 1,1")
    assert table.legal == ["pass", "bed 1,1"]  # the second watering, no planting in between
    assert turn(table) == (0, "water")
    table.take("bed 1,1")
    assert turn(table) == (0, "plant")


def test_resolve_stays_legal_for_an_action_that_turns_out_impossible():
    table = mine(column=4, tiles={(1, 3): 11}).take("flower 3")  # water 2, and shovel 2; nothing to water
    assert table.legal == ["pass", "resolve water", "resolve shovel"]
    table.take("resolve water")
    assert table.now["hand_action"] == ["shovel", 2]


# --- Pole Position ---


def test_the_pole_position_example_with_a_second_flower():
    yellow, blue = 0, 1
    table = position(num_players=3, stack=[yellow, blue, 2], coins=[0, 0, 6], column=3)
    table.take("flower 0")
    assert table.now["coins"][yellow] == 3
    assert turn(table) == (blue, "start")
    assert "flower 1" in table.legal
    table.take("flower 0")
    assert table.now["coins"][blue] == 0
    put(table, "flower 2")
    assert turn(table) == (blue, "start")
    assert table.now["stack"] == [blue, yellow, 2]


def test_a_pole_position_is_free_even_under_three_flowers():
    table = position(
        num_players=4, stack=[1, 2, 3, 0], started=3, flowers=[[1, 2, 3], [], [], []], coins=[0] * 4
    )
    table.take("flower 0")
    assert of(table, "coins") == 0
    assert table.now["stack"] == [0, 3, 2, 1]


def test_under_a_neutral_flower_a_pole_position_is_free_and_gives_nothing():
    table = mine(num_players=2, flowers=[["neutral"], [], [], []], coins=1).take("flower 0")
    assert of(table, "coins") == 1


# --- two players: the neutral Flower ---


def test_who_is_first_in_a_column_places_the_neutral_flower_first():
    table = Table(num_players=2).deal(3)
    while table.now["asked"] == "assign":
        table.take("assign 0" if "assign 0" in table.legal else table.legal[0])
    for round_number, column in itertools.product((1, 2), range(1, 9)):
        now = table.now
        assert (now["round"], now["column"]) == (round_number, column)
        assert turn(table) == (now["stack"][0], "neutral")
        assert table.legal == [f"neutral {s}" for s in range(4)]
        table.take("neutral 3")
        assert table.now["flowers"] == [[], [], [], ["neutral"]]
        assert turn(table) == (now["stack"][0], "start")
        assert table.now["order"] == now["stack"]
        put(table, "flower 0" if column % 2 else "flower 1")
        assert turn(table) == (now["stack"][1], "start")
        put(table, "flower 2" if round_number == 1 else "flower 0")
    assert (table.now["round"], table.now["asked"]) == (3, "start")
    assert not neutrals(table.legal)


def test_the_neutral_flower_costs_whoever_comes_upon_it_and_takes_no_turn():
    table = mine(num_players=2, flowers=[[], ["neutral"], [], []], coins=7)
    put(table, "flower 1")
    assert of(table, "coins") == 4
    table.take("flower 1")
    assert table.now["coins"][1] == 0  # two Flowers lay there
    through(table)
    assert table.now["stack"] == [1, 0]
    assert turn(table) == (1, "neutral")


def test_the_neutral_flower_is_placed_for_free_on_any_space_and_gives_nothing():
    for space in range(4):
        table = mine(num_players=2, column=2, coins=0)
        table.state["asked"] = ASKED.index("neutral")
        before = table.now
        table.take(f"neutral {space}")
        after = table.now
        assert [after[k] for k in ("coins", "points", "hands")] == [
            before[k] for k in ("coins", "points", "hands")
        ]
        assert after["flowers"][space] == ["neutral"]
        assert turn(table) == (0, "start")


@pytest.mark.parametrize("num_players", [3, 4])
def test_there_is_no_neutral_flower_with_more_players(num_players):
    table = Table(num_players=num_players).deal(3)
    while not table.over:
        assert table.now["asked"] != "neutral"
        assert "neutral" not in itertools.chain(*table.now["flowers"])
        table.take(table.legal[-1])


# --- forfeits, automatic passes ---


def test_an_action_can_be_forfeited_at_once():
    table = mine(hand=[PLANT_1]).take("use plant_1 3")
    assert "pass" in table.legal
    table.take("pass")
    assert not planted(table)
    assert turn(table) == (0, "start")


def test_what_is_left_of_an_action_can_be_forfeited():
    table = mine(hand=[PLANT_1]).take("use plant_1 3").take("bed 1,1").take("pass")
    assert planted(table) == {(1, 1): 1}
    assert turn(table) == (0, "start")


def test_forfeiting_one_action_leaves_the_other():
    table = mine(column=2, tiles={(0, 3): 14}, garden={(1, 1): 1}).take("flower 3")
    table.take("resolve plant_1").take("pass")
    assert turn(table) == (0, "water")


def test_pass_in_a_choice_forfeits_the_whole_group():
    table = mine(column=2, tiles={(0, 2): 10}).take("flower 2").take("pass")
    assert turn(table) == (1, "start")
    assert of(table, "points") == 0  # the unused step of a track action never begun scores nothing
    assert of(table, "tracks") == [0, 0, 0]


def test_pass_in_a_choice_forfeits_only_the_innermost_group():
    table = mine(column=6, tiles={(2, 0): 1}).take("flower 0")  # walk 2, and a step on Wheelbarrow
    table.take("resolve wheelbarrow").take("advance upper").take("pass")  # no more steps
    assert table.now["pending"] == [[["walk", 2]], [["plant_1", 1], ["water", 1]]]
    assert (table.now["asked"], table.now["hand_action"]) == ("choose", None)
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("pass")
    assert turn(table) == (0, "walk")
    assert table.now["pending"] == [[]]
    assert not planted(table)


def test_gains_of_a_node_are_resolved_before_the_other_action_of_the_space():
    table = mine(column=6, tiles={(2, 0): 1}).take("flower 0")
    table.take("resolve wheelbarrow").take("advance upper").take("pass").take("resolve plant_1")
    assert table.now["pending"] == [[["walk", 2]], [["water", 1]]]
    table.take("bed 1,1")
    assert table.now["pending"] == [[["walk", 2]], []]
    assert turn(table) == (0, "water")
    table.take("bed 1,1")
    assert turn(table) == (0, "walk")
    table.take("walk 3,1")
    assert table.to_move == 1
    assert planted(table) == {(1, 1): 2}


def test_pass_is_not_legal_in_phase_1_of_the_rounds():
    assert "pass" not in mine(hand=[WATER_2]).legal


def test_watering_with_nothing_to_water_is_passed_by_itself():
    table = mine(hand=[WATER_2], garden={(1, 1): 4, (0, 0): 1}).take("use water 2")
    assert turn(table) == (0, "start")
    assert of(table, "coins") == 4
    assert table.now["discards"][WATER_2] == 1


def test_a_second_watering_that_is_impossible_is_passed_by_itself():
    table = mine(hand=[WATER_2], garden={(1, 1): 3}).take("use water 2").take("bed 1,1")
    assert planted(table) == {(1, 1): 4}
    assert turn(table) == (0, "start")


def test_a_choice_is_asked_all_the_same_if_one_turns_out_impossible():
    full = dict.fromkeys([(1, 1), (1, 2), (2, 1), (2, 2)], 1)
    table = mine(column=4, tiles={(1, 3): 15}, garden=full).take("flower 3")  # water 2, and plant_1 2
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve plant_1")  # no bed takes another I
    assert turn(table) == (0, "water")


def test_planting_without_a_possible_bed_is_passed_by_itself():
    full = dict.fromkeys([(1, 1), (1, 2), (2, 1), (2, 2)], 1)
    table = mine(hand=[PLANT_1], garden=full).take("use plant_1 3")
    assert turn(table) == (0, "start")
    table = mine(hand=[PLANT_1], garden={bed: 1 for bed in full if bed != (1, 1)}).take("use plant_1 3")
    assert table.legal == ["pass", "bed 1,1"]
    table.take("bed 1,1")
    assert turn(table) == (0, "start")


def test_a_track_where_no_step_can_be_paid_any_more_is_stopped_by_itself():
    table = mine(coins=2).take("flower 2").take("advance upper").take("advance upper")
    assert of(table, "coins") == 2 + 5
    assert turn(table) == (1, "start")
    table = mine(coins=3).take("flower 2").take("advance upper").take("advance upper")
    assert table.legal == ["pass", "advance upper"]
    assert of(table, "coins") == 3


# --- tracks ---


def test_the_money_example_with_a_bought_step():
    table = mine(column=2, tiles={(0, 1): 0}, pile=[ANIMAL_1, WATER_2], coins=4).take("flower 1")
    assert table.now["hand_action"] == ["money", 1]
    table.take("advance upper")
    assert (of(table, "coins"), table.now["hand_action"], table.now["steps_taken"]) == (4, ["money", 0], 1)
    table.take("advance lower")
    assert of(table, "coins") == 4 - 3 + 2
    assert of(table, "hands")[ANIMAL_1] == 1
    assert of(table, "points") == 2  # printed beside the tile; no wasted step
    assert of(table, "tracks") == [M2L, 0, 0]
    assert turn(table) == (1, "start")


def test_the_wheelbarrow_example_past_the_end():
    table = mine(column=3, pieces=(0, W3, 0), garden={(1, 1): 1, (2, 1): 1}).take("flower 3")
    table.take("advance upper").take("advance upper")
    assert of(table, "points") == 7 + 1
    assert of(table, "tracks")[1] == WHEELBARROW_END
    assert table.now["hand_action"] == ["water", 2]
    table.take("bed 1,1").take("bed 2,1")
    assert planted(table) == {(1, 1): 2, (2, 1): 2}
    assert of(table, "tracks")[1] == 0
    assert turn(table) == (1, "start")


def test_the_shovel_example_with_a_path_for_2_coins():
    table = mine(coins=2).take("flower 3").take("advance upper").take("advance upper")
    assert of(table, "coins") == 0
    assert table.now["hand_action"] == ["plant_1", 2]
    table.take("bed 1,1").take("bed 2,2")
    assert planted(table) == {(1, 1): 1, (2, 2): 1}
    assert of(table, "tracks") == [0, 0, S2U]
    assert table.to_move == 1


def test_the_shovel_example_without_the_coins():
    table = mine(coins=1).take("flower 3").take("advance upper")
    assert table.legal == ["pass", "advance lower"]
    table.take("pass")  # just one step
    assert of(table, "points") == 1
    assert table.now["hand_action"] == ["plant_1", 1]
    assert of(table, "tracks") == [0, 0, S1]


def node_names(track):
    return [node["name"] for node in DATA["tracks"][track]]


EDGES = [
    (track, number, way, node[way])
    for track in TRACKS
    for number, node in enumerate(DATA["tracks"][track])
    for way in ("upper", "lower")
    if way in node
]


@pytest.mark.parametrize(("track", "number", "way", "edge"), EDGES)
@pytest.mark.parametrize("free", [1, 0])
def test_every_edge_leads_on_for_its_cost_and_3_coins_more_for_a_bought_step(track, number, way, edge, free):
    i, space = TRACKS.index(track), {"wheelbarrow": 1, "money": 2, "shovel": 3}[track]
    cost = edge.get("cost", 0) + 3 * (1 - free)
    for coins in (cost - 1, cost):
        if coins < 0:
            continue
        pieces = [0, 0, 0]
        pieces[i] = number
        table = mine(pieces=pieces, coins=coins).take(f"flower {space}")
        table.state["left"] = 2 * free
        if not free and not starting("advance")(table.legal):
            assert coins < cost
            continue
        assert (f"advance {way}" in table.legal) == (coins >= cost)
    before = of(table, "coins")
    end = edge["to"] == node_names(track)[-1]
    table.state["left"] = 2 * free
    table.take(f"advance {way}")
    stopped = end or not free  # then no more coins are left to buy another step with
    gains = dict(gain.split() for gain in DATA["tracks"][track][node_names(track).index(edge["to"])]["gains"])
    assert of(table, "coins") == before - cost + stopped * int(gains.get("coins", 0))
    if not stopped:
        assert of(table, "tracks")[i] == node_names(track).index(edge["to"])
        assert table.now["hand_action"] == [track, 1]


def test_a_node_with_one_edge_has_the_upper_one_only():
    assert mine().take("flower 2").legal == ["pass", "advance upper"]


def test_a_piece_never_moves_backward():
    for track, number, _, edge in EDGES:
        assert node_names(track).index(edge["to"]) > number


def test_each_unused_step_scores_a_point_on_stopping():
    table = mine(column=5).take("flower 3").take("advance upper").take("pass")  # money 3
    assert of(table, "points") == 2
    assert of(table, "coins") == 6 + 3
    assert of(table, "tracks") == [M1, 0, 0]


def test_without_any_step_the_unused_steps_score_but_nothing_is_gained():
    table = mine(column=5, pieces=(M1, 0, 0)).take("flower 3").take("pass")
    assert of(table, "points") == 3
    assert of(table, "coins") == 6
    assert of(table, "tracks") == [M1, 0, 0]


def test_used_steps_score_nothing_and_bought_ones_neither():
    table = mine(coins=20).take("flower 2")
    for _ in range(4):
        table.take("advance upper")
    assert of(table, "coins") == 20 - 6
    assert table.now["steps_taken"] == 4
    table.take("pass")
    assert of(table, "points") == 0
    assert of(table, "coins") == 20 - 6 + 6
    assert of(table, "tracks") == [M4U, 0, 0]


def test_gains_come_only_from_the_space_where_one_ends():
    table = mine(column=5, coins=2).take("flower 3")
    table.take("advance upper").take("advance lower").take("advance upper")
    assert of(table, "coins") == 2 + 4
    assert of(table, "points") == 1
    assert sum(of(table, "hands")) == 0


@pytest.mark.parametrize("track", TRACKS)
def test_every_node_gives_its_gains_on_ending_there(track):
    i, space = TRACKS.index(track), {"wheelbarrow": 1, "money": 2, "shovel": 3}[track]
    for number, way, edge in ((n, w, e) for t, n, w, e in EDGES if t == track):
        to = node_names(track).index(edge["to"])
        pieces = [0, 0, 0]
        pieces[i] = number
        table = mine(num_players=4, pieces=pieces, garden={(1, 1): 2, (2, 2): 2}, pile=[PLANT_3] * 2)
        table.take(f"flower {space}").take(f"advance {way}")
        end = to == len(node_names(track)) - 1
        before = of(mine(), "coins") - edge.get("cost", 0)
        if not end:
            table.take("pass")
        gains = Counter()
        for gain in DATA["tracks"][track][to]["gains"]:
            kind, n = gain.split()
            gains[kind] += 1 if kind == "prize" else int(n)
        assert of(table, "coins") == before + gains["coins"]
        assert of(table, "animals") == gains["animal"]
        assert sum(of(table, "hands")) == gains["card"]
        prize = {"money": 18, "shovel": 24}.get(track, 0) * gains["prize"]
        assert of(table, "points") == 1 + gains["points"] + 3 * gains["animal"] + prize
        asked = []
        for _ in range(5):
            now = table.now
            if now["asked"] == "choose":
                table.take(resolves(table.legal)[0])
            elif now["asked"] in ("plant", "water"):
                if now["hand_action"][0] not in [kind for kind, _ in asked]:
                    asked.append(tuple(now["hand_action"]))
                table.take(beds(table.legal)[-1])
        assert sorted(asked) == sorted((kind, n) for kind, n in gains.items() if kind in KINDS)
        assert turn(table) == (1, "start")
        assert of(table, "tracks")[i] == (0 if end else to)


def test_a_node_with_two_different_gains_leaves_the_order_to_the_player():
    table = mine(pieces=(0, W2U, 0), coins=0).take("flower 1").take("advance upper").take("pass")
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve plant_1").take("bed 1,1").take("bed 1,1").take("bed 1,1")
    assert planted(table) == {(1, 1): 3}


def test_the_end_stops_and_returns_the_piece_at_once_if_nothing_is_to_be_decided():
    table = mine(pieces=(M4U, 0, 0)).take("flower 2").take("advance upper")
    assert of(table, "tracks") == [0, 0, 0]
    assert of(table, "points") == 1 + 15  # three players: the prize of 18 is left out
    assert of(table, "coins") == 6 + 4
    assert turn(table) == (1, "start")


def test_a_track_may_be_taken_by_a_card_and_its_gains_forfeited():
    table = mine(hand=[WHEELBARROW_2], coins=2).take("use wheelbarrow 2").take("advance upper").take("pass")
    assert table.now["pending"] == [[], [["plant_1", 1], ["water", 1]]]
    assert of(table, "points") == 1
    assert table.now["in_play"] == WHEELBARROW_2
    table.take("pass")
    assert turn(table) == (0, "start")
    assert (table.now["in_play"], table.now["discards"][WHEELBARROW_2]) == (None, 1)
    assert of(table, "tracks") == [0, W1, 0]


def test_a_piece_at_the_end_cannot_go_on_with_bought_steps():
    table = mine(pieces=(0, 0, S4), coins=30).take("flower 3").take("advance upper")
    assert turn(table) == (0, "plant")
    assert table.now["steps_taken"] == 0  # the track action is over


def test_the_piece_returns_only_after_the_gains_are_resolved():
    table = mine(pieces=(0, 0, S4)).take("flower 3").take("advance upper")
    assert of(table, "tracks") == [0, 0, SHOVEL_END]
    table.take("pass")
    assert of(table, "tracks") == [0, 0, 0]


def test_the_next_move_starts_from_the_beginning_again():
    table = mine(pieces=(M4U, 0, 0), hand=[MONEY_3]).take("use money 3").take("advance upper")
    table.take("flower 2").take("advance upper")
    assert of(table, "tracks") == [M1, 0, 0]


def test_a_piece_that_does_not_end_stays_where_it_is():
    table = mine(pieces=(M1, W1, S1)).take("flower 2").take("advance upper").take("pass")
    assert of(table, "tracks") == [M2U, W1, S1]


def test_prizes_are_taken_from_the_top_and_may_all_go_to_one_player():
    table = mine(num_players=4, pieces=(M4U, 0, 0), hand=[MONEY_3], coins=20).take("use money 3")
    table.take("advance upper")
    assert of(table, "points") == 2 + 18
    assert table.now["prizes"] == [[15, 12, 9, 6, 3], [24, 20, 16, 12, 8, 4]]
    table.take("flower 2")
    for _ in range(5):
        table.take("advance upper")
    assert of(table, "points") == 20 + 15
    assert table.now["prizes"][0] == [12, 9, 6, 3]


def test_an_empty_stack_gives_no_prize():
    table = mine(pieces=(M4U, 0, 0), prizes_taken=[6, 3]).take("flower 2").take("advance upper")
    assert of(table, "points") == 1
    assert of(table, "coins") == 6 + 4
    assert table.now["prizes"] == [[], [12, 8, 4]]
    assert of(table, "tracks") == [0, 0, 0]


def test_others_pieces_on_a_space_do_not_matter():
    table = position(num_players=3, stack=[0, 1, 2], tracks=[[0, 0, 0], [M1, 0, 0], [M1, 0, 0]])
    table.take("flower 2").take("advance upper")
    assert table.now["tracks"] == [[M1, 0, 0]] * 3


# --- planting ---


@pytest.mark.parametrize("crossing", CROSSINGS)
def test_plants_go_to_existing_beds_in_range_of_the_gardener(crossing):
    r, c = crossing
    reach = [(r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1)]
    table = mine(hand=[PLANT_3], gardener=crossing).take("use plant_3 1")
    assert beds(table.legal) == [f"bed {i},{j}" for i, j in reach if (i, j) not in NO_BEDS]
    table = mine(hand=[WATER_2], gardener=crossing, garden={bed: 1 for bed in BEDS if bed not in NO_BEDS})
    table.take("use water 2")
    assert beds(table.legal) == [f"bed {i},{j}" for i, j in reach if (i, j) not in NO_BEDS]


@pytest.mark.parametrize(("card", "level"), [("plant_1 3", 1), ("plant_2 2", 2), ("plant_3 1", 3)])
def test_plants_go_on_empty_beds_or_replace_another_level_but_not_their_own(card, level):
    kind = [c["action"] for c in DATA["cards"]].index(card)
    there = {(1, 1): 1, (1, 2): 2, (2, 1): 3, (2, 2): 4}
    table = mine(hand=[kind], garden=there).take(f"use {card}")
    possible = [bed for bed in there if there[bed] != level]
    assert beds(table.legal) == [f"bed {r},{c}" for r, c in possible]
    for r, c in possible:
        other = table.copy().take(f"bed {r},{c}")
        assert planted(other) == {**there, (r, c): level}
    assert "bed 1,1" in mine(hand=[kind]).take(f"use {card}").legal


def test_an_amount_of_plants_is_as_many_single_choices():
    table = mine(hand=[PLANT_1]).take("use plant_1 3")
    for left in (3, 2, 1):
        assert table.now["hand_action"] == ["plant_1", left]
        table.take(beds(table.legal)[0])
    assert planted(table) == {(1, 1): 1, (1, 2): 1, (2, 1): 1}


def test_a_plant_just_planted_cannot_be_planted_again_at_the_same_level():
    table = mine(hand=[PLANT_2]).take("use plant_2 2").take("bed 1,1")
    assert "bed 1,1" not in table.legal


def test_plants_do_not_run_out():
    table = position(num_players=3, stack=[0, 1, 2], hands=[[PLANT_3], [], []])
    table.state["garden"][1:3][table.state["garden"][1:3] >= 0] = 3
    assert beds(table.take("use plant_3 1").legal)


# --- watering ---


@pytest.mark.parametrize("level", range(5))
def test_watering_raises_levels_1_to_3_by_one(level):
    table = mine(hand=[WATER_2], garden={(1, 1): level, (2, 2): 1}).take("use water 2")
    assert ("bed 1,1" in table.legal) == (level in (1, 2, 3))
    if level in (1, 2, 3):
        table.take("bed 1,1")
        assert planted(table) == {(1, 1): level + 1, (2, 2): 1}


def test_the_same_plant_may_be_watered_more_than_once():
    table = mine(hand=[WATER_2], garden={(1, 1): 2}).take("use water 2").take("bed 1,1").take("bed 1,1")
    assert planted(table) == {(1, 1): 4}


# --- the walk action ---


@pytest.mark.parametrize(("column", "space", "n"), [(2, 2, 3), (6, 0, 2), (8, 2, 3)])
def test_a_walk_action_is_free_and_up_to_its_number_of_steps(column, space, n):
    table = printed(column, space, gardener=(0, 0), coins=0)
    assert turn(table) == (0, "walk")
    assert table.legal == ["pass"] + [f"walk {r},{c}" for r, c in CROSSINGS if 0 < r + c <= n]
    table.take("walk 1,1")
    assert of(table, "gardeners") == 4
    assert of(table, "points") == of(table, "coins") == 0  # steps not used give nothing
    assert turn(table) == (1, "start")


def test_a_walk_by_a_card_leaves_the_walk_for_coins():
    table = mine(hand=[WALK_5]).take("use walk 5").take("walk 3,2")
    assert of(table, "coins") == 4
    assert not table.now["walked"]
    table.take("walk 2,2")
    assert of(table, "coins") == 3
    assert not walks(table.legal)


def test_a_walk_action_is_one_move():
    table = mine(hand=[WALK_5]).take("walk 1,2").take("use walk 5").take("walk 1,1")
    assert flowers(table.legal) == table.legal


def test_a_walk_action_may_be_forfeited():
    table = mine(hand=[WALK_5]).take("use walk 5").take("pass")
    assert of(table, "gardeners") == 4
    assert turn(table) == (0, "start")


# --- tasks ---


SATISFYING = [
    (row, {bed: level for bed, level in zip([b for b in BEDS if b[0] == row and b not in NO_BEDS], levels, strict=False)})
    for row, levels in enumerate([[1, 1, 2], [1, 2, 2], [2, 2, 2], [1, 2, 3], [2, 2, 3]])
]  # fmt: skip


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


def test_the_order_of_the_plants_in_the_row_does_not_matter():
    for levels in set(itertools.permutations([2, 2, 3, 0])):
        there = {(4, c): level for c, level in enumerate(levels) if level}
        missing = next(bed for bed in there if there[bed] == 3)
        table = mine(
            hand=[PLANT_3], gardener=(3, min(missing[1], 2)), garden={k: v for k, v in there.items() if v < 3}
        )
        table.take("use plant_3 1").take(f"bed 4,{missing[1]}")
        assert of(table, "points") == 9


def test_further_plants_do_no_harm():
    table = mine(hand=[PLANT_3], garden={(4, 0): 4, (4, 2): 2, (4, 3): 2}, gardener=(3, 0)).take(
        "use plant_3 1"
    )
    assert of(table.take("bed 4,1"), "points") == 9


def test_levels_are_exact():
    table = mine(hand=[PLANT_3], garden={(4, 2): 3, (4, 3): 2}, gardener=(3, 0)).take("use plant_3 1")
    assert of(table.take("bed 4,1"), "points") == 0  # II, III, III: one II is missing
    table = mine(hand=[WATER_2], garden={(0, 1): 1, (0, 2): 1, (0, 3): 2}, gardener=(0, 1)).take(
        "use water 2"
    )
    table.take("bed 0,1")
    assert of(table, "points") == 0


def test_another_row_does_not_count():
    table = mine(hand=[PLANT_2], garden={(0, 1): 1, (1, 2): 1}, gardener=(0, 1)).take("use plant_2 2")
    table.take("bed 0,2")
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


def test_a_special_task_does_not_score_before_its_basic_task():
    table = mine(hand=[WATER_2], garden={(4, 1): 3, (4, 2): 4}, gardener=(3, 1), tasks=special_in(4, 0))
    table.take("use water 2").take("bed 4,1")
    assert of(table, "points") == 0
    assert not any(of(table, "special_done"))


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


def test_tasks_are_checked_after_each_single_change():
    # Watering passes through I, II, II (7 points) on the way to I, II, III.
    table = mine(hand=[WATER_2], garden={(1, 0): 1, (1, 1): 1, (1, 2): 2}).take("use water 2")
    table.take("bed 1,1")
    assert of(table, "points") == 7
    table.take("bed 1,1")
    assert planted(table)[1, 1] == 3
    assert of(table, "points") == 7


def test_a_replaced_plant_may_complete_a_task():
    table = mine(hand=[PLANT_1], garden={(0, 1): 4, (0, 2): 1, (0, 3): 2}, gardener=(0, 0)).take(
        "use plant_1 3"
    )
    assert of(table.take("bed 0,1"), "points") == 5


def test_a_special_task_that_does_not_fit_into_its_row_is_never_met():
    # Four II in row 1, which has three beds.
    table = mine(
        hand=[PLANT_2],
        garden={(1, 0): 2, (1, 1): 2},
        gardener=(1, 1),
        basic_done=[1],
        tasks=special_in(1, 14),
    ).take("use plant_2 2")
    assert of(table.take("bed 1,2"), "points") == 0


def test_tasks_of_others_do_not_score():
    table = position(
        num_players=3, stack=[0, 1, 2], gardens=[{(0, 1): 1, (0, 2): 1}, {}, {}], hands=[[PLANT_2], [], []],
        gardeners=[(0, 0), (1, 1), (1, 1)],
    )  # fmt: skip
    table.take("use plant_2 2").take("bed 0,0")
    assert table.now["points"] == [5, 0, 0]


# --- animals ---


@pytest.mark.parametrize(("had", "points"), list(enumerate([3, 6, 10, 15, 21, 0])))
def test_animals_score_3_6_10_15_21_and_a_sixth_nothing(had, points):
    table = mine(hand=[ANIMAL_1], animals=had).take("use animal 1")
    assert of(table, "points") == points
    assert of(table, "animals") == min(had + 1, 5)
    assert turn(table) == (0, "start")


def test_the_animal_example_the_second_scores_6():
    table = printed(6, 3, animals=1)
    assert (of(table, "points"), of(table, "animals")) == (6, 2)


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


def test_the_pile_is_not_shuffled_before_a_card_must_be_drawn():
    table = printed(4, 2, pile=[ANIMAL_1], discards=[WATER_2])
    assert of(table, "hands")[ANIMAL_1] == 1
    assert table.now["pile"] == []
    assert table.now["discards"][WATER_2] == 1


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


def test_there_is_no_limit_to_the_hand():
    everything = [kind for kind, copies in enumerate(COPIES) for _ in range(copies)]
    table = printed(4, 2, hand=everything[:-1], pile=everything[-1:])
    assert of(table, "hands") == COPIES


# --- the in-depth example ---


def test_the_in_depth_example_turn():
    # Row 2 holds two III and wants two IV (special 0); row 4 holds III and II and lacks another II.
    table = mine(
        num_players=4, column=2, coins=4, hand=[WATER_2], tiles={(0, 2): 10}, pieces=(0, 0, S3), gardener=(1, 1),
        garden={(2, 1): 3, (2, 2): 3, (4, 0): 3, (4, 3): 2}, tasks=special_in(2, 0), basic_done=[2],
    )  # fmt: skip
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


# --- rounds ---


def before_the_end(round, **own):
    """The last turn in column 8: seats 1 and 2 have placed their Flowers, on 1 and 3."""
    return mine(column=8, round=round, stack=[1, 2, 0], started=2, flowers=[[], [1], [], [2]], **own)


def test_all_columns_are_played_in_both_rounds_and_then_a_last_turn():
    table = position(num_players=3, stack=[0, 1, 2])
    met = []
    while not table.over:
        now = table.now
        met.append((now["round"], now["column"], now["current_player"]))
        label = "pass" if now["round"] == 3 else "flower 0"
        if label not in table.legal:
            table.state["coins"][:3] = 20
        put(table, label)
    rounds = [(r, c) for r, c in itertools.product((1, 2), range(1, 9))] + [(3, 8)]
    assert [(r, c) for r, c, _ in met] == [step for step in rounds for _ in range(3)]
    assert Counter(player for _, _, player in met) == {0: 17, 1: 17, 2: 17}
    # Everybody stacks up on the top space: the order turns round with each column.
    assert [player for _, _, player in met[:9]] == [0, 1, 2, 2, 1, 0, 0, 1, 2]


def test_after_round_one_the_flowers_are_stacked_in_their_order_and_column_1_begins():
    table = put(before_the_end(1), "flower 0")
    now = table.now
    assert (now["round"], now["column"]) == (2, 1)
    assert now["stack"] == now["order"] == [0, 1, 2]
    assert now["flowers"] == [[], [], [], []]
    assert turn(table) == (0, "start")


def test_after_round_one_tiles_stay_but_are_uncovered():
    table = before_the_end(1, covered=[(0, 0), (1, 3), (3, 1), (3, 3)])
    before = table.now["tiles"]
    put(table, "flower 0")
    assert table.now["covered"] == [[False] * 4] * 4
    assert table.now["tiles"] == before


@pytest.mark.parametrize("tile", range(16))
@pytest.mark.parametrize("side", [0, 1])
def test_every_tile_has_its_light_side_in_round_one_and_its_dark_side_in_round_two(tile, side):
    action, n = [*DATA["tiles"]["spotted"], *DATA["tiles"]["striped"]][tile][side].split()
    n = int(n)
    space = 1 if tile < 8 else 2  # coins 3, points 4
    table = mine(
        column=6, round=1 + side, tiles={(2, space): tile}, garden={(1, 1): 1}, pile=[PLANT_3] * 2
    ).take(f"flower {space}")
    coins, points = (3, 0) if space == 1 else (0, 4)
    assert of(table, "coins") == 6 + coins + n * (action == "coins")
    assert of(table, "points") == points + n * (action == "points") + 3 * (action == "animal")
    assert sum(of(table, "hands")) == n * (action == "card")
    assert table.now["hand_action"] == ([action, n] if action in KINDS else None)
    assert table.to_move == (0 if action in KINDS else 1)


def test_after_round_two_comes_the_last_turn_in_the_order_of_the_stack():
    table = before_the_end(2, covered=[(3, 1), (3, 3)])
    put(table, "flower 2")
    now = table.now
    assert (now["round"], now["column"]) == (3, 8)
    assert now["stack"] == now["order"] == [1, 0, 2]
    assert now["flowers"] == [[], [], [], []]
    assert now["covered"][3] == [False, True, True, True]
    for player in (1, 0, 2):
        assert turn(table) == (player, "start")
        table.take("pass")
    assert table.now["terminated"]


def test_the_next_column_uses_its_own_tiles_and_covered_ones_stay_so_in_the_round():
    table = position(num_players=3, stack=[0, 1, 2], column=2, tiles=laid())
    for space in (1, 2, 0):
        put(table, f"flower {space}")
    assert table.now["covered"] == [[True, True, True, False]] + [[False] * 4] * 3
    for space in (0, 0, 0):
        put(table, f"flower {space}")
    put(table, "flower 3")
    assert table.now["covered"] == [[True, True, True, False], [False] * 3 + [True]] + [[False] * 4] * 2


# --- the last turn ---


def last(**own):
    return mine(round=3, column=8, **own)


def test_the_last_turn_is_a_normal_turn_with_a_choice_of_track():
    table = last(hand=[WATER_2], garden={(1, 1): 1})
    assert walks(table.legal)
    assert uses(table.legal) + sells(table.legal) == ["use water 2", "sell water 2"]
    assert resolves(table.legal) == [f"resolve {track}" for track in TRACKS]
    assert "pass" in table.legal
    assert not flowers(table.legal)
    table.take("use water 2").take("bed 1,1").take("pass")  # the second watering
    assert turn(table) == (0, "start")
    table.take("walk 1,2")
    assert table.legal == ["pass", *(f"resolve {track}" for track in TRACKS)]
    table.take("resolve money")
    assert table.now["hand_action"] == ["money", 1]
    assert table.legal == ["pass", "advance upper"]
    assert table.now["order"] == [1, 2]


@pytest.mark.parametrize("track", TRACKS)
def test_the_last_action_is_one_step_on_a_track_of_ones_choice(track):
    i = TRACKS.index(track)
    table = last(coins=2).take(f"resolve {track}")
    assert table.now["hand_action"] == [track, 1]
    table.take("advance upper")
    assert of(table, "tracks")[i] == 1
    through(table)
    assert turn(table) == (1, "start")


def test_more_steps_cost_3_coins_each_in_the_last_turn():
    table = last(coins=7, pile=[ANIMAL_1]).take("resolve money").take("advance upper").take("advance lower")
    assert of(table, "coins") == 4
    table.take("advance upper")
    assert of(table, "coins") == 1 + 4
    assert turn(table) == (1, "start")


def test_a_step_not_taken_scores_a_point_in_the_last_turn_but_pass_before_does_not():
    table = last().take("resolve money").take("pass")
    assert of(table, "points") == 1
    assert table.to_move == 1
    table = last().take("pass")
    assert of(table, "points") == 0
    assert table.to_move == 1
    assert table.now["order"] == [1, 2]


def test_a_card_or_a_walk_does_not_end_the_last_turn():
    table = last(hand=[WATER_2, ANIMAL_1]).take("walk 0,1").take("sell water 2")
    assert turn(table) == (0, "start")
    assert not uses(table.legal) + sells(table.legal) + walks(table.legal)


def test_each_player_has_one_last_turn_and_then_the_game_is_over():
    table = last().take("pass").take("pass").take("resolve money").take("pass")
    now = table.now
    assert (now["asked"], now["terminated"], now["truncated"]) == ("over", True, False)
    assert table.legal == []
    assert (now["round"], now["column"], now["walked"], now["played"]) == (3, 8, False, False)


def test_the_last_gains_are_resolved_before_the_game_ends():
    table = last(started=2, stack=[1, 2, 0]).take("resolve shovel").take("advance upper").take("pass")
    assert not table.over
    table.take("bed 1,1")
    assert table.over
    assert planted(table) == {(1, 1): 1}


# --- final scoring ---


COLUMN_BEDS = [[bed for bed in BEDS if bed[1] == c and bed not in NO_BEDS] for c in range(4)]


def test_the_scoring_example_of_two_full_columns():
    garden = dict.fromkeys(COLUMN_BEDS[0], 3) | {(0, 0): 1}
    garden |= dict.fromkeys(COLUMN_BEDS[2], 1) | {(2, 2): 4, (3, 2): 3}
    garden |= dict.fromkeys(COLUMN_BEDS[1][1:], 4)  # one bed short
    assert mine(garden=garden, coins=0).scores[0] == 9 + 15


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize("level", [1, 2, 3, 4])
def test_a_full_column_scores_its_highest_plant_once(column, level):
    points = [2, 5, 9, 15][level - 1]
    full = dict.fromkeys(COLUMN_BEDS[column], level)
    assert mine(garden=full, coins=0).scores[0] == points
    for bed in full:
        assert mine(garden={**dict.fromkeys(full, 1), bed: level}, coins=0).scores[0] == points
        assert mine(garden={b: v for b, v in full.items() if b != bed}, coins=0).scores[0] == 0


@pytest.mark.parametrize("coins", range(10))
def test_three_coins_are_worth_a_point(coins):
    assert mine(coins=coins, points=7).scores == [7 + coins // 3, 2, 2]


def test_scores_are_told_as_things_stand_and_add_up_in_the_end():
    table = last(coins=7, points=40, garden=dict.fromkeys(COLUMN_BEDS[0], 2))
    assert table.scores == [40 + 5 + 2, 2, 2]
    table.take("pass").take("pass").take("pass")
    assert table.scores == [40 + 5 + 2, 2, 2]
    assert of(table, "points") == 40  # what was scored so far stays as it is
    assert table.rewards[0] == 1


@pytest.mark.parametrize("stack", list(itertools.permutations(range(3))))
def test_a_tie_goes_to_the_flower_higher_in_the_last_stack_and_there_are_no_ties(stack):
    table = position(num_players=3, round=3, column=8, stack=stack, coins=[0, 1, 2], points=[5, 5, 5])
    for _ in range(3):
        table.take("pass")
    assert table.scores == [5, 5, 5]
    assert [table.rewards[p] for p in stack] == [1, 0, -1]


def test_the_points_come_before_the_stack():
    table = position(num_players=3, round=3, column=8, stack=[0, 1, 2], coins=[0, 0, 0], points=[5, 6, 5])
    for _ in range(3):
        table.take("pass")
    assert table.rewards == [0, 1, -1]


def test_the_flowers_of_column_8_in_round_two_decide_the_tie():
    table = position(
        num_players=2, round=2, column=8, stack=[0, 1], coins=[0, 0], flowers=[["neutral"], [], [], []]
    )
    put(table, "flower 2").state["coins"][:] = 3
    put(table, "flower 2").state["points"][:] = 0
    table.state["coins"][:] = 0
    table.take("pass").take("pass")
    assert table.scores == [0, 0]
    assert table.rewards == [-1, 1]


# --- rewards ---


@pytest.mark.parametrize(("n", "ranked"), [(2, [1, -1]), (3, [1, 0, -1]), (4, [1, 1 / 3, -1 / 3, -1])])
def test_outcome_pays_by_rank_at_the_end_only(n, ranked):
    table = position(
        num_players=n, round=3, column=8, stack=list(range(n))[::-1], points=[5 * p for p in range(n)]
    )
    for _ in range(n - 1):
        table.take("pass")
        assert table.rewards == [0] * n
    table.take("pass")
    assert table.rewards == pytest.approx(ranked[::-1])


def test_margin_pays_each_change_of_the_lead_over_the_others_mean():
    table = mine(hand=[ANIMAL_1, WATER_2], reward="margin", coins=6).take("use animal 1")
    change = 3 + 4 // 3 - 6 // 3
    assert table.rewards == pytest.approx([change / 20, -change / 2 / 20, -change / 2 / 20], abs=1e-6)
    table.take("flower 0")
    assert table.rewards == pytest.approx([1 / 20, -1 / 40, -1 / 40], abs=1e-6)


def test_margin_counts_columns_and_coins_as_they_stand():
    garden = {bed: 1 for bed in COLUMN_BEDS[0] if bed != (1, 0)}
    table = mine(hand=[PLANT_3], gardener=(1, 0), garden=garden, num_players=2, reward="margin").take(
        "use plant_3 1"
    )
    assert table.rewards == pytest.approx(
        [-1 / 20, 1 / 20], abs=1e-6
    )  # four coins are worth a point, six two
    table.take("bed 1,0")
    assert table.rewards == pytest.approx([9 / 20, -9 / 20], abs=1e-6)


def test_a_game_starts_level_in_margin():
    table = Table(num_players=2, reward="margin").deal(0)
    for label in ("assign 0", "assign 1", "assign 2", "assign 3"):
        assert table.take(label).rewards == [0, 0]


# --- the cap ---


def test_the_cap_is_2000_unless_chosen_otherwise():
    assert make("botanicus").chosen["max_decisions"] == 2000
    assert make("botanicus").chosen["num_players"] == 2


@pytest.mark.parametrize("cap", [1, 9, 20, 60])
def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands(cap):
    table = Table(num_players=3, max_decisions=cap).deal(2)
    rng = random.Random(2)
    while not table.over:
        assert table.now["decisions"] < cap
        table.take(rng.choice(table.legal))
    now = table.now
    assert (now["truncated"], now["terminated"], now["decisions"]) == (True, False, cap)
    assert (now["asked"], table.legal) == ("over", [])
    ranked = sorted(range(3), key=lambda p: (-now["scores"][p], now["stack"].index(p)))
    assert [table.rewards[p] for p in ranked] == [1, 0, -1]
    assert now["scores"] == by_formula(now, DATA)


def test_margin_of_a_truncated_game_sums_to_a_twentieth_of_the_lead():
    for cap in (15, 40, 90):
        game = Record(DATA, "busy", cap, num_players=3, reward="margin", max_decisions=cap)
        scores = game.nows[-1]["scores"]
        assert game.nows[-1]["truncated"]
        lead = [(own - (sum(scores) - own) / 2) / 20 for own in scores]
        assert np.allclose(np.sum(game.rewards, axis=0), lead, atol=1e-4)


def test_everything_else_stays_as_the_last_step_left_it_when_truncated():
    cut = position(num_players=3, stack=[0, 1, 2], max_decisions=13).take("flower 3")
    whole = position(num_players=3, stack=[0, 1, 2]).take("flower 3")
    same = set(KEYS.split()) - {"asked", "truncated", "current_player"}
    assert cut.now["truncated"]
    assert not whole.now["truncated"]
    assert {key: cut.now[key] for key in same} == {key: whole.now[key] for key in same}


def test_a_game_just_ended_by_the_rules_is_not_also_truncated():
    table = last(started=2, stack=[1, 2, 0], max_decisions=13).take("pass")
    now = table.now
    assert (now["terminated"], now["truncated"], now["decisions"]) == (True, False, 13)


# --- options, labels, snapshot ---


@pytest.mark.parametrize(
    ("option", "value"), [("num_players", 1), ("num_players", 5), ("num_players", 0), ("max_decisions", 0)]
)
def test_options_out_of_range_are_refused_by_name(option, value):
    with pytest.raises(ValueError, match=option):
        make("botanicus", **{option: value})


def test_there_are_81_actions_with_the_labels_of_the_reading():
    cards = [card["action"] for card in DATA["cards"]] + ["kind 9", "kind 10", "kind 11"]
    labels = ["pass"]
    labels += [f"walk {r},{c}" for r, c in CROSSINGS]
    labels += [f"bed {r},{c}" for r, c in BEDS]
    labels += [f"resolve {kind}" for kind in KINDS]
    labels += ["advance upper", "advance lower"]
    labels += [f"use {card}" for card in cards] + [f"sell {card}" for card in cards]
    labels += [f"flower {s}" for s in range(4)] + [f"neutral {s}" for s in range(4)]
    labels += [f"assign {j}" for j in range(5)]
    assert list(make("botanicus").labels) == labels
    assert make("botanicus").num_actions == len(labels) == len(set(labels)) == 81


def test_a_snapshot_is_plain_json_with_the_keys_of_the_reading():
    tables = [
        Table().deal(),
        mine(column=2, tiles={(0, 2): 10}).take("flower 2"),
        mine(column=6, tiles={(2, 0): 1}).take("flower 0").take("resolve wheelbarrow").take("advance upper"),
        mine(hand=[WATER_2], garden={(1, 1): 1}).take("use water 2"),
        last(started=2, stack=[1, 2, 0]).take("pass"),
    ]
    for table in tables:
        now = table.now
        assert set(now) == set(KEYS.split())
        assert json.loads(json.dumps(now)) == now
        assert now["game"] == "botanicus"
        assert now["asked"] in ASKED


def test_steps_taken_counts_only_for_the_track_action_at_hand():
    table = mine(column=5, coins=20).take("flower 2")
    for steps in range(3):
        assert (table.now["steps_taken"], table.now["hand_action"]) == (steps, ["wheelbarrow", 3 - steps])
        table.take("advance upper")
    assert (table.now["steps_taken"], table.now["hand_action"]) == (3, ["wheelbarrow", 0])
    table.take("pass").take("resolve plant_1")
    assert table.now["steps_taken"] == 0


# --- other data ---


def written(data, folder, name="data"):
    path = folder / f"{name}.toml"
    path.write_text(tomli_w.dumps(data))
    return str(path)


def changed(**changes):
    """The packaged data with other values; a key `a__b` stands for data[a][b], numbers index lists."""
    data = json.loads(json.dumps(DATA))
    for key, value in changes.items():
        *way, name = [int(part) if part.isdigit() else part for part in key.split("__")]
        at = data
        for part in way:
            at = at[part]
        at[name] = value
    return data


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("board__1__0", "coins 0"),
        ("board__1__0", "nonsense 2"),
        ("cards__0__action", "plant_2 2"),  # two kinds with the same action
        ("cards__0__copies", 0),
        ("cards__0__copies", 61),
        ("tracks__money__1__gains", ["shovel 1"]),  # steps on a track by a track
        ("tracks__money__1__gains", ["coins 1"] * 4),
        ("tracks__shovel__2__upper__cost", 1),  # the end of Shovel out of reach without coins from there on
        ("tracks__money__1__upper__to", "nowhere"),
        ("tracks__money__2__upper__to", "M1"),
        ("special", DATA["special"][:19]),
        ("special", DATA["special"] * 2),
        ("tiles__spotted", DATA["tiles"]["spotted"][:7]),
        ("tiles__striped", DATA["tiles"]["striped"] + [["coins 1", "coins 1"]]),
        ("prizes__money", [1] * 9),
        ("beds", [[1, 1, 1, 0]] * 5),  # a column without a bed
        ("fountain", [4, 0]),
        ("columns", [1, 2, 3]),
        ("animals", [1, 2]),
        ("basic", DATA["basic"][:4]),
    ],
)
def test_a_faulty_data_file_is_refused_with_the_key_at_fault(key, value, tmp_path):
    with pytest.raises(ValueError, match=key.split("__")[0]):
        make("botanicus", tables=written(changed(**{key: value}), tmp_path)).new_states(1)


def test_other_values_change_the_game(tmp_path):
    data = changed(
        fountain=[3, 0],
        animals=[1, 1, 1, 1, 1],
        board__0__0="pole 5",
        board__0__1="plant_4 1",
        columns=[1, 1, 1, 20],
    )
    table = Table(num_players=3, tables=written(data, tmp_path)).deal(0)
    while table.now["asked"] == "assign":
        table.take(table.legal[0])
    first, second = table.now["order"][:2]
    assert table.now["gardeners"] == [9] * 3
    table.take("flower 1")
    assert table.legal == ["pass", "bed 3,1", "bed 4,0", "bed 4,1"]
    table.take("bed 4,0")
    assert planted(table, first) == {(4, 0): 4}
    table.take("flower 0")
    assert table.now["coins"][second] == 11


def test_a_pole_position_in_a_column_with_tiles_keeps_the_tile(tmp_path):
    data = changed(board__1__0="pole 3")
    table = mine(column=2, tiles={(0, 0): 3}, coins=0, tables=written(data, tmp_path)).take("flower 0")
    assert of(table, "coins") == 6
    table.state["coins"][1] = 0
    table.take("flower 0")
    assert table.now["coins"][1] == 0


def test_three_gains_of_a_node_wait_beside_the_other_action_of_the_space(tmp_path):
    data = changed(tracks__wheelbarrow__1__gains=["water 1", "walk 2", "plant_4 2"])
    table = mine(column=6, tiles={(2, 0): 1}, garden={(1, 1): 1}, tables=written(data, tmp_path)).take(
        "flower 0"
    )
    table.take("resolve wheelbarrow").take("advance upper").take("pass")
    assert table.now["pending"] == [[["walk", 2]], [["water", 1], ["walk", 2], ["plant_4", 2]]]
    assert table.legal == ["pass", "resolve plant_4", "resolve water", "resolve walk"]
    table.take("resolve walk").take("walk 0,1")
    assert table.now["pending"] == [[["walk", 2]], [["water", 1], ["plant_4", 2]]]
    table.take("resolve plant_4").take("bed 0,1").take("pass")
    assert turn(table) == (0, "water")
    table.take("bed 1,1")
    assert turn(table) == (0, "walk")
    assert table.now["pending"] == [[]]
    assert planted(table) == {(0, 1): 4, (1, 1): 2}


def test_of_one_kind_the_first_gained_goes_first_among_others(tmp_path):
    data = changed(tracks__wheelbarrow__1__gains=["plant_1 2", "water 1", "plant_1 3"])
    table = mine(tables=written(data, tmp_path)).take("flower 1").take("advance upper").take("pass")
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve plant_1")
    assert table.now["hand_action"] == ["plant_1", 2]
    table.take("pass")  # the first two only
    assert table.legal == ["pass", "resolve plant_1", "resolve water"]
    table.take("resolve water")  # nothing to water
    assert table.now["hand_action"] == ["plant_1", 3]


def test_a_node_without_gains_gives_nothing_and_the_turn_goes_on(tmp_path):
    data = changed(tracks__wheelbarrow__1__gains=[])
    table = mine(tables=written(data, tmp_path)).take("flower 1").take("advance upper").take("pass")
    assert turn(table) == (1, "start")
    assert (of(table, "points"), of(table, "tracks")) == (1, [0, W1, 0])


def test_prizes_on_spaces_tiles_and_cards_are_taken_at_once(tmp_path):
    data = changed(
        board__0__1="prize shovel", board__1__0="prize money", tiles__spotted__3=["prize money"] * 2
    )
    path = written(data, tmp_path)
    table = mine(tables=path).take("flower 1")
    assert (of(table, "points"), table.now["prizes"][1]) == (20, [16, 12, 8, 4])
    table = mine(column=2, tiles={(0, 0): 3}, tables=path).take("flower 0")
    assert (of(table, "points"), table.now["prizes"][0]) == (15 + 12, [9, 6, 3])


def test_a_sixth_animal_among_several_gains_nothing(tmp_path):
    path = written(changed(board__0__1="animal 3"), tmp_path)
    table = mine(animals=3, tables=path).take("flower 1")
    assert (of(table, "points"), of(table, "animals")) == (15 + 21, 5)


# --- whole games ---


def by_formula(now, data):
    """Each seat's score: points so far, full columns, coins."""
    scores = []
    for points, coins, garden in zip(now["points"], now["coins"], now["gardens"], strict=True):
        for c in range(4):
            column = [level for level in garden[c::4] if level >= 0]
            points += data["columns"][max(column) - 1] if all(column) else 0
        scores.append(points + coins // 3)
    return scores


def parsed(action):
    kind, n = action.split()
    return (f"prize {n}", 1) if kind == "prize" else (kind, int(n))


def edges_of(data, track, number):
    """The edges from a node, as (way, place of the node it leads to, cost)."""
    nodes = data["tracks"][track]
    names = [node["name"] for node in nodes]
    return [
        (way, names.index(nodes[number][way]["to"]), nodes[number][way].get("cost", 0))
        for way in ("upper", "lower")
        if way in nodes[number]
    ]


def track_at_hand(now):
    """The track of the action at hand, its free steps left and the place of the piece."""
    track, left = now["hand_action"]
    return track, left, now["tracks"][now["current_player"]][TRACKS.index(track)]


def bed_label(i):
    return f"bed {i // 4},{i % 4}"


def far(crossing, other):
    (a, b), (c, d) = CROSSINGS[crossing], CROSSINGS[other]
    return abs(a - c) + abs(b - d)


def by_text(now, data):
    """What the text allows in a position, in the order of the labels."""
    p, asked = now["current_player"], now["asked"]
    if asked == "over":
        return []
    if asked == "assign":
        return [f"assign {j}" for j, task in enumerate(now["dealt"][p]) if task not in now["tasks"][p]]
    if asked == "neutral":
        return [f"neutral {s}" for s in range(4)]
    coins, here = now["coins"][p], now["gardeners"][p]
    if asked == "start":
        legal = ["pass"] if now["round"] == 3 else []
        if not now["walked"]:
            legal += [f"walk {r},{c}" for i, (r, c) in enumerate(CROSSINGS) if 0 < far(i, here) <= coins]
        if now["round"] == 3:
            legal += [f"resolve {track}" for track in TRACKS]
        if not now["played"]:
            held = [data["cards"][kind]["action"] for kind, n in enumerate(now["hands"][p]) if n]
            legal += [f"use {card}" for card in held if coins >= 2] + [f"sell {card}" for card in held]
        if now["round"] < 3:
            spaces = zip(data["board"][now["column"] - 1], now["flowers"], strict=True)
            legal += [
                f"flower {s}"
                for s, (what, there) in enumerate(spaces)
                if what.startswith("pole") or coins >= 3 * len(there)
            ]
        return legal
    if asked == "choose":
        pending = {kind for kind, _ in now["pending"][-1]}
        return ["pass", *(f"resolve {kind}" for kind in KINDS if kind in pending)]
    if asked == "walk":
        n = now["hand_action"][1]
        return ["pass", *(f"walk {r},{c}" for i, (r, c) in enumerate(CROSSINGS) if 0 < far(i, here) <= n)]
    if asked == "track":
        track, left, node = track_at_hand(now)
        extra = 0 if left else 3
        return [
            "pass",
            *(f"advance {way}" for way, _, cost in edges_of(data, track, node) if cost + extra <= coins),
        ]
    r, c = CROSSINGS[here]
    reach = [4 * i + j for i, j in ((r, c), (r, c + 1), (r + 1, c), (r + 1, c + 1))]
    garden, kind = now["gardens"][p], now["hand_action"][0]
    if kind == "water":
        return ["pass", *(bed_label(i) for i in reach if 1 <= garden[i] <= 3)]
    return ["pass", *(bed_label(i) for i in reach if garden[i] not in (-1, int(kind[-1])))]


class Expected:
    """What the text makes of one step: coins paid and gained, points, cards, prizes, animals."""

    def __init__(self, now, label, data):
        self.now, self.data, self.player = now, data, now["current_player"]
        self.paid = self.unused = 0
        self.gains = []
        verb, _, what = label.partition(" ")
        if now["asked"] == "start":
            if verb == "walk":
                r, c = map(int, what.split(","))
                self.paid = far(now["gardeners"][self.player], CROSSINGS.index((r, c)))
            elif verb == "use":
                self.paid = 2
                self.gains = [parsed(what)]
            elif verb == "sell":
                self.paid = -3
            elif verb == "flower":
                self.flower(int(what))
        elif now["asked"] == "track":
            self.track(label)

    def flower(self, space):
        now, column = self.now, self.now["column"]
        kind, n = parsed(self.data["board"][column - 1][space])
        height = len(now["flowers"][space])
        if kind == "pole":
            self.gains = [("coins", n)] * (not height)
        else:
            self.paid, self.gains = 3 * height, [(kind, n)]
        if column % 2 == 0 and not height:
            tile = now["tiles"][column // 2 - 1][space]
            sides = [*self.data["tiles"]["spotted"], *self.data["tiles"]["striped"]][tile]
            self.gains.append(parsed(sides[now["round"] - 1]))

    def track(self, label):
        track, left, node = track_at_hand(self.now)
        end = len(self.data["tracks"][track]) - 1
        moved, stopped = self.now["steps_taken"] > 0, label == "pass"
        if label != "pass":
            edge = next(e for e in edges_of(self.data, track, node) if e[0] == label.split()[1])
            node, self.paid, moved = edge[1], edge[2] + (0 if left else 3), True
            left = max(left - 1, 0)
            rest = self.now["coins"][self.player] - self.paid
            cheapest = min((cost for *_, cost in edges_of(self.data, track, node)), default=0)
            stopped = node == end or rest < cheapest + (0 if left else 3)
        if stopped:
            self.unused = left
            if moved:
                self.gains = [parsed(gain) for gain in self.data["tracks"][track][node].get("gains", [])]

    def total(self, kind):
        return sum(n for what, n in self.gains if what == kind)

    @property
    def coins(self):
        return self.total("coins") - self.paid

    @property
    def drawn(self):
        return min(self.total("card"), len(self.now["pile"]) + sum(self.now["discards"]))

    @property
    def animals(self):
        return min(self.total("animal"), 5 - self.now["animals"][self.player])

    def prizes(self, stack):
        return self.now["prizes"][stack][: self.total(f"prize {('money', 'shovel')[stack]}")]

    @property
    def points(self):
        had = self.now["animals"][self.player]
        score = self.unused + self.total("points")
        score += sum(self.data["animals"][had : had + self.animals])
        return score + sum(self.prizes(0)) + sum(self.prizes(1))


class Record:
    """A whole game: its data, snapshots, legal actions, actions taken and rewards."""

    def __init__(self, data, policy, seed, **options):
        table = Table(**options).deal(seed)
        rng = random.Random(seed)
        self.data, self.game, self.n = data, table.game, options["num_players"]
        self.nows, self.legal, self.taken, self.rewards = [table.now], [table.legal], [], []
        while not table.over:
            pick = greedy(table, rng) if policy == "greedy" else choose(policy, rng, self.legal[-1])
            self.taken.append(pick)
            table.take(pick)
            self.nows.append(table.now)
            self.legal.append(table.legal)
            self.rewards.append(table.rewards)

    @property
    def steps(self):
        """Triples of snapshot before, action, snapshot after."""
        return zip(self.nows, self.taken, self.nows[1:], strict=False)


def greedy(table, rng):
    """The action after which the own score is highest, any of the best."""
    me, legal = table.to_move, table.legal
    if len(legal) == 1:
        return legal[0]
    return max(legal, key=lambda label: (table.copy().take(label).scores[me], rng.random()))


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games of every policy for 2, 3 and 4 players, with the packaged and with made-up data."""
    folder = tmp_path_factory.mktemp("tables")
    played = []
    for n, (i, policy) in itertools.product((2, 3, 4), enumerate([*POLICIES, "greedy"])):
        for seed in range(1 if policy == "greedy" else 3):
            reward = ("outcome", "margin")[(seed + i) % 2]
            played.append(Record(DATA, policy, seed + 10 * n, num_players=n, reward=reward))
    for seed in range(100, 118):
        data = made_up(seed)
        path = written(data, folder, str(seed))
        policy, reward = POLICIES[seed % 3], ("outcome", "margin")[seed // 2 % 2]
        played.append(Record(data, policy, seed, num_players=2 + seed // 3 % 3, tables=path, reward=reward))
    return played


def test_what_is_legal_is_what_the_text_allows(games):
    for game in games:
        for now, legal in zip(game.nows, game.legal, strict=True):
            assert legal == by_text(now, game.data)


def test_whoever_is_to_move_has_more_than_pass(games):
    for game in games:
        for legal in game.legal[:-1]:
            assert legal
            assert legal != ["pass"]
            if game.data is DATA:
                assert len(legal) <= 25


def test_games_end_by_the_rules_well_before_the_cap(games):
    for game in games:
        now = game.nows[-1]
        assert (now["terminated"], now["truncated"]) == (True, False)
        assert now["decisions"] == len(game.taken) < (500 if game.data is DATA else 1000)
        assert [now["decisions"] for now in game.nows] == list(range(len(game.nows)))
        starts = [
            (now["round"], now["column"], now["current_player"])
            for now in game.nows
            if now["asked"] == "start"
        ]
        assert Counter(player for _, _, player in set(starts)) == dict.fromkeys(range(game.n), 17)


def test_every_card_is_always_in_exactly_one_place(games):
    for game in games:
        copies = [card["copies"] for card in game.data["cards"]]
        for now in game.nows:
            piles = Counter(now["pile"])
            in_play = [int(kind == now["in_play"]) for kind in range(len(copies))]
            places = [*now["hands"], now["discards"], in_play, [piles[kind] for kind in range(len(copies))]]
            assert np.sum(places, axis=0).tolist() == copies


def test_every_prize_is_in_its_stack_or_was_scored(games):
    left_out = {2: 2, 3: 1, 4: 0}
    for game in games:
        for stack, name in enumerate(("money", "shovel")):
            whole = game.data["prizes"][name]
            assert game.nows[0]["prizes"][stack] == whole[left_out[game.n] :]
            for before, label, after in game.steps:
                taken = Expected(before, label, game.data).prizes(stack)
                assert after["prizes"][stack] == before["prizes"][stack][len(taken) :]


def test_every_flower_is_on_the_board_or_yet_to_come(games):
    for game in games:
        for now in game.nows:
            there = list(itertools.chain(*now["flowers"]))
            neutral = game.n == 2 and now["round"] < 3 and now["asked"] not in ("assign", "neutral")
            assert there.count("neutral") == neutral
            players = [p for p in there if p != "neutral"]
            if now["round"] == 3:
                assert players == []
            else:
                assert sorted(players + now["order"]) == list(range(game.n))
            assert sorted(now["stack"]) == list(range(game.n))
            assert now["order"] == now["stack"][game.n - len(now["order"]) :]


def test_tiles_and_beds_and_dealt_tasks_never_change_place(games):
    for game in games:
        first = game.nows[0]
        beds_there = [bed >= 0 for bed in first["gardens"][0]]
        assert beds_there == [bool(bed) for row in game.data["beds"] for bed in row]
        for now in game.nows:
            assert (now["tiles"], now["dealt"]) == (first["tiles"], first["dealt"])
            assert all([bed >= 0 for bed in garden] == beds_there for garden in now["gardens"])
            for own, dealt_own in zip(now["tasks"], now["dealt"], strict=True):
                assigned = [task for task in own if task >= 0]
                assert len(set(assigned)) == len(assigned)
                assert set(assigned) <= set(dealt_own)
                assert len(assigned) == 5 or now["asked"] in ("assign", "over")


def test_tiles_are_covered_by_the_first_flower_and_uncovered_with_round_two(games):
    for game in games:
        for before, label, after in game.steps:
            covered = [list(place) for place in before["covered"]]
            verb, _, space = label.partition(" ")
            if verb in ("flower", "neutral") and before["column"] % 2 == 0:
                covered[before["column"] // 2 - 1][int(space)] = True
            if (before["round"], after["round"]) == (1, 2):
                covered = [[False] * 4] * 4
            assert after["covered"] == covered


def test_every_change_of_coins_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            coins = list(before["coins"])
            coins[before["current_player"]] += Expected(before, label, game.data).coins
            assert after["coins"] == coins
            assert min(coins) >= 0


def test_every_change_of_points_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            points, p = list(before["points"]), before["current_player"]
            points[p] += Expected(before, label, game.data).points
            for row in range(5):
                if after["basic_done"][p][row] > before["basic_done"][p][row]:
                    points[p] += game.data["basic"][row]["points"]
                if after["special_done"][p][row] > before["special_done"][p][row]:
                    points[p] += game.data["special"][after["tasks"][p][row]]["points"]
            assert after["points"] == points


def test_every_change_of_animals_and_hands_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            p, expected = before["current_player"], Expected(before, label, game.data)
            animals, hands = list(before["animals"]), [list(hand) for hand in before["hands"]]
            animals[p] += expected.animals
            assert after["animals"] == animals
            if label.startswith(("use", "sell")):
                hands[p][[card["action"] for card in game.data["cards"]].index(label.partition(" ")[2])] -= 1
            assert after["hands"][:p] + after["hands"][p + 1 :] == hands[:p] + hands[p + 1 :]
            drawn = np.subtract(after["hands"][p], hands[p])
            assert drawn.min() >= 0
            assert drawn.sum() == expected.drawn
            if expected.drawn <= len(before["pile"]):
                assert after["pile"] == before["pile"][expected.drawn :]
                top = Counter(before["pile"][: expected.drawn])
                assert drawn.tolist() == [top[kind] for kind in range(len(drawn))]


def test_every_change_of_a_garden_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            gardens, p = [list(garden) for garden in before["gardens"]], before["current_player"]
            if label.startswith("bed"):
                bed = BEDS.index(tuple(map(int, label[4:].split(","))))
                kind = before["hand_action"][0]
                gardens[p][bed] = gardens[p][bed] + 1 if kind == "water" else int(kind[-1])
            assert after["gardens"] == gardens


def test_every_change_of_a_gardener_is_explained(games):
    for game in games:
        for before, label, after in game.steps:
            gardeners = list(before["gardeners"])
            if label.startswith("walk"):
                gardeners[before["current_player"]] = CROSSINGS.index(tuple(map(int, label[5:].split(","))))
            assert after["gardeners"] == gardeners


def meets(garden, row, plants):
    return all(garden[4 * row : 4 * row + 4].count(level) >= n for level, n in enumerate(plants, 1))


def test_tasks_are_done_exactly_as_the_text_says(games):
    for game in games:
        basic, special = game.data["basic"], game.data["special"]
        for before, _, after in game.steps:
            for p, row in itertools.product(range(game.n), range(5)):
                garden, task = after["gardens"][p], after["tasks"][p][row]
                done = before["basic_done"][p][row] or meets(garden, row, basic[row]["plants"])
                assert after["basic_done"][p][row] == done
                more = before["special_done"][p][row] or (
                    done and task >= 0 and meets(garden, row, special[task]["plants"])
                )
                assert after["special_done"][p][row] == more


def test_who_is_to_move_follows_from_the_flowers(games):
    for game in games:
        for before, label, after in game.steps:
            verb, _, space = label.partition(" ")
            there = [list(stack) for stack in before["flowers"]]
            if verb in ("flower", "neutral"):
                there[int(space)].append("neutral" if verb == "neutral" else before["current_player"])
            new_column = (after["round"], after["column"]) != (before["round"], before["column"])
            if new_column:
                reading = [p for stack in there for p in stack[::-1] if p != "neutral"]
                assert after["stack"] == after["order"] == reading
                following = {1: 2, 2: 3}[before["round"]] if before["column"] == 8 else before["round"]
                column = 8 if following == 3 else before["column"] % 8 + 1
                assert (after["round"], after["column"]) == (following, column)
                assert after["flowers"] == [[]] * 4
            else:
                assert after["stack"] == before["stack"]
                assert after["flowers"] == there
            if after["asked"] in ("start", "neutral"):
                assert after["current_player"] == after["order"][0]
            if after["asked"] == "neutral":
                assert not any(after["flowers"])
            if after["asked"] in ("choose", "plant", "water", "walk", "track"):
                assert after["current_player"] == before["current_player"]
                assert (after["in_play"] is not None) == (after["current_player"] in after["order"])


def test_phase_1_marks_are_kept_and_forgotten(games):
    for game in games:
        for before, label, after in game.steps:
            if after["asked"] == "over":
                assert not after["walked"]
                assert not after["played"]
                continue
            in_phase_1 = before["order"] == after["order"] and before["current_player"] in before["order"]
            if after["asked"] == "start" and in_phase_1 and before["asked"] not in ("assign", "neutral"):
                walked = before["walked"] or (before["asked"] == "start" and label.startswith("walk"))
                assert after["walked"] == walked
                assert after["played"] == (before["played"] or label.startswith(("use", "sell")))
            elif after["asked"] in ("start", "neutral"):
                assert not after["walked"]
                assert not after["played"]


def test_pieces_move_along_the_edges_and_go_home_from_the_end(games):
    for game in games:
        ends = [len(game.data["tracks"][track]) - 1 for track in TRACKS]
        for before, label, after in game.steps:
            for p, i in itertools.product(range(game.n), range(3)):
                was, is_now = before["tracks"][p][i], after["tracks"][p][i]
                moved = label.startswith("advance") and p == before["current_player"]
                if moved and before["hand_action"][0] == TRACKS[i]:
                    to = next(e[1] for e in edges_of(game.data, TRACKS[i], was) if e[0] == label.split()[1])
                    assert is_now in ((to,) if to != ends[i] else (to, 0))
                elif was == ends[i]:
                    assert is_now in (was, 0)
                else:
                    assert is_now == was
            if after["asked"] in ("start", "neutral", "over"):
                assert all(
                    place != end for own in after["tracks"] for place, end in zip(own, ends, strict=True)
                )


def test_pending_is_never_deeper_than_two_groups_of_three(games):
    deepest, widest = 0, 0
    for game in games:
        for now in game.nows:
            deepest = max(deepest, len(now["pending"]))
            widest = max(widest, *map(len, now["pending"]), 0)
            for kind, n in itertools.chain(*now["pending"]):
                assert kind in KINDS
                assert n >= 1
            if now["asked"] in ("assign", "neutral", "start", "over"):
                assert now["pending"] == []
                assert (now["hand_action"], now["steps_taken"], now["in_play"]) == (None, 0, None)
            else:
                assert now["pending"]
                assert (now["hand_action"] is None) == (now["asked"] == "choose")
            if now["asked"] == "choose":
                assert len({kind for kind, _ in now["pending"][-1]}) > 1
            if now["asked"] in ("plant", "water", "walk"):
                assert now["hand_action"][0].startswith(now["asked"])
                assert now["hand_action"][1] >= 1
                assert now["steps_taken"] == 0
    assert deepest == 2
    assert widest <= 3


def test_scores_follow_the_formula_all_along(games):
    for game in games:
        for now in game.nows:
            assert now["scores"] == by_formula(now, game.data)


def test_outcome_pays_by_score_and_then_by_the_last_stack(games):
    for game in games:
        if game.game.chosen["reward"] == "outcome":
            assert all(rewards == [0] * game.n for rewards in game.rewards[:-1])
            now = game.nows[-1]
            ranked = sorted(range(game.n), key=lambda p: (-now["scores"][p], now["stack"].index(p)))
            paid = [game.rewards[-1][p] for p in ranked]
            assert paid == pytest.approx(np.linspace(1, -1, game.n).tolist())


def test_margin_pays_each_change_and_sums_to_a_twentieth_of_the_lead(games):
    for game in games:
        if game.game.chosen["reward"] == "margin":
            scores = np.array([now["scores"] for now in game.nows], float)
            lead = scores - (scores.sum(axis=1, keepdims=True) - scores) / (game.n - 1)
            assert np.allclose(game.rewards, np.diff(lead, axis=0) / 20, atol=1e-5)
            assert np.allclose(np.sum(game.rewards, axis=0), lead[-1] / 20, atol=1e-4)
            assert np.allclose(np.sum(game.rewards, axis=1), 0, atol=1e-5)


def test_packaged_games_come_near_the_figures_of_the_reading(games):
    for game in games:
        if game.data is DATA:
            last_now = game.nows[-1]
            assert max(max(now["coins"]) for now in game.nows) < 60
            assert max(last_now["scores"]) < 180
            assert 60 < last_now["decisions"] < 500


def test_one_seed_and_the_same_actions_give_the_same_game():
    one, other = (Record(DATA, "busy", 4, num_players=3) for _ in range(2))
    assert (one.nows, one.taken) == (other.nows, other.taken)


def test_a_copied_state_plays_on_alike():
    table = mine(
        column=4, pile=[], discards=[PLANT_1] * 3 + [WATER_2] * 3 + [PLANT_3, MONEY_3, WALK_5, ANIMAL_1]
    )
    twin = table.copy()
    assert put(table, "flower 2").now == put(twin, "flower 2").now
    assert sum(of(table, "hands")) == 1


# --- what a player sees ---


def parts(table, seat, text):
    """The parts of the observation of a seat whose meaning contains `text`, one after another."""
    seen, at, out = table.observation(seat).tolist(), 0, []
    for part in table.game.observation_parts:
        if text in part.meaning:
            out.append(seen[at : at + part.size])
        at += part.size
    assert at == len(seen)
    return out


def one_hot(place, size):
    return [int(i == place) for i in range(size)]


def positions(games, data=DATA, **options):
    """Tables at random decisions of random games."""
    for seed in range(games):
        table = Table(num_players=2 + seed % 3, **options).deal(seed)
        rng = random.Random(seed)
        while not table.over:
            if rng.random() < 0.15:
                yield table
            table.take(choose(POLICIES[seed % 3], rng, table.legal))
        yield table


def seat_seen(now, p):
    """What the reading lets everybody see of a player, in its order."""
    garden, seen = now["gardens"][p], []
    for level in garden:
        seen += one_hot(level - 1, 4)
    seen += one_hot(now["gardeners"][p], 12)
    seen += [now["coins"][p], now["points"][p] // 2, now["animals"][p], sum(now["hands"][p])]
    for node in now["tracks"][p]:
        seen += one_hot(node, 10)
    seen += now["basic_done"][p] + now["special_done"][p]
    for row, task in enumerate(now["tasks"][p]):
        if task < 0:
            seen += [0] * 6
        else:
            plants, points = DATA["special"][task].values()
            seen += [*plants, points, int(sum(plants) <= sum(DATA["beds"][row]))]
    space = next((s for s, there in enumerate(now["flowers"]) if p in there), None)
    height = 0 if space is None else now["flowers"][space].index(p) + 1
    seen += [*one_hot(space, 4), height, now["stack"].index(p) + 1]
    return [min(int(x), 127) for x in seen]


def test_an_observation_tells_of_every_seat_from_the_own_one_on():
    for table in positions(9):
        now, n = table.now, table.game.num_players
        for seat in range(n):
            assert [*itertools.chain(*parts(table, seat, "own seat"))] == seat_seen(now, seat)
            for i in (1, 2, 3):
                seen = [*itertools.chain(*parts(table, seat, f"seat {i} after it"))]
                assert seen == (seat_seen(now, (seat + i) % n) if i < n else [0] * len(seen))


def test_an_observation_tells_of_the_table():
    kinds = {}
    for table in positions(9):
        now, seat = table.now, table.now["current_player"]
        padded = [0, 0, 0]
        assert parts(table, seat, "own hand, by kind") == [now["hands"][seat] + padded]
        assert parts(table, seat, "discards, by kind") == [now["discards"] + padded]
        assert parts(table, seat, "cards in the pile") == [[len(now["pile"]), now["round"], now["column"]]]
        assert parts(table, seat, "prizes by stack")[0] in (
            [x for stack in now["prizes"] for x in ([*stack, 0][0], len(stack))],
            [[*stack, 0][0] for stack in now["prizes"]] + [len(stack) for stack in now["prizes"]],
        )
        assert parts(table, seat, "number of players") == [[table.game.num_players]]
        if now["asked"] == "over":
            continue
        assert parts(table, seat, "what is asked") == [one_hot(ASKED.index(now["asked"]), len(ASKED) - 1)]
        kind, left = now["hand_action"] or (None, 0)
        at_hand = [int(kind == k) for k in KINDS] + [left, now["steps_taken"]]
        assert parts(table, seat, "the action at hand") == [at_hand]
        pending = Counter()
        for k, n in itertools.chain(*now["pending"]):
            pending[k] += n
        assert parts(table, seat, "pending actions") == [[pending[k] for k in KINDS]]
        if now["round"] < 3:
            spaces = parts(table, seat, "spaces of the current")[0]
            size = len(spaces) // 4
            for s, what in enumerate(DATA["board"][now["column"] - 1]):
                kind, n = what.split()
                *hot, amount, there = spaces[size * s : size * (s + 1)]
                assert (sum(hot), amount, there) == (1, int(n), len(now["flowers"][s]))
                assert kinds.setdefault(kind, hot) == hot
        tiles = parts(table, seat, "tiles")[0]
        size = len(tiles) // 16
        sides = [*DATA["tiles"]["spotted"], *DATA["tiles"]["striped"]]
        for i, (place, space) in enumerate(itertools.product(range(4), range(4))):
            *hot, amount = tiles[size * i : size * (i + 1)]
            kind, n = sides[now["tiles"][place][space]][now["round"] > 1].split()
            if now["covered"][place][space]:
                assert not any(hot) + amount
            else:
                assert (sum(hot), amount) == (1, int(n))
                assert kinds.setdefault(f"tile {kind}", hot) == hot
    assert len(set(map(str, kinds.values()))) >= 11


def test_the_next_column_is_seen_with_no_flowers_there():
    for column in range(1, 8):
        table = mine(column=column, flowers=[[1], [2], [], []], started=2, stack=[1, 2, 0])
        spaces = parts(table, 0, "spaces of the next")[0]
        size = len(spaces) // 4
        following = mine(column=column + 1)
        assert spaces == parts(following, 0, "spaces of the current")[0]
        assert [spaces[size * s + size - 1] for s in range(4)] == [0] * 4


def test_larger_values_are_capped_at_127():
    table = mine(coins=300, points=500)
    assert parts(table, 0, "own seat: coins") == [[127, 127, 0, 0]]
    assert table.scores[0] == 600


def test_hidden_hands_and_the_pile_are_not_seen_by_others():
    one = position(num_players=3, stack=[0, 1, 2], hands=[[WATER_2], [PLANT_1, WALK_5], [ANIMAL_1]], seed=1)
    other = position(num_players=3, stack=[0, 1, 2], hands=[[WATER_2], [ANIMAL_1, PLANT_2], [WALK_5]], seed=1)
    assert one.now["pile"] != other.now["pile"]
    assert (one.observation(0) == other.observation(0)).all()
    assert (one.observation(1) != other.observation(1)).any()
    assert (one.observation(2) != other.observation(2)).any()
    shorter = position(num_players=3, stack=[0, 1, 2], hands=[[WATER_2], [ANIMAL_1], [WALK_5]], seed=1)
    assert (shorter.observation(0) != other.observation(0)).any()  # the size of a hand is seen


def test_tasks_not_yet_assigned_are_seen_by_their_owner_only():
    table = Table(num_players=3).deal(6)
    first, second, _ = table.now["stack"]
    table.take("assign 2").take("assign 0")
    for j, task in ((1, 19), (3, 18), (4, 17)):
        other = table.copy()
        if task in itertools.chain(*table.now["dealt"]) or j in (0, 2):
            task = next(t for t in range(20) if t not in itertools.chain(*table.now["dealt"]))
        other.state["dealt"][first, j] = task
        assert (table.observation(second) == other.observation(second)).all()
        assert (table.observation(first) != other.observation(first)).any()
    seen = parts(table, first, "own dealt tasks")[0]
    wanted = []
    for j in (1, 3, 4):
        task = DATA["special"][table.now["dealt"][first][j]]
        wanted.append([*task["plants"], task["points"]])
    rows = [seen[5 * j : 5 * j + 5] for j in range(5)]
    assert [row for row in rows if any(row)] == wanted


def test_assigned_tasks_are_public():
    table = Table(num_players=3).deal(6)
    second = table.now["stack"][1]
    before = table.observation(second)
    table.take("assign 2")
    assert (table.observation(second) != before).any()


# --- redrawing ---


def redrawn(table, seat, seed):
    other = table.copy()
    kernels.resample(other.state, other.params, seat, seed)
    return other


def test_redrawing_changes_nothing_that_the_seat_sees():
    differs = Counter()
    for table in positions(9):
        now = table.now
        for seat in range(table.game.num_players):
            other = redrawn(table, seat, now["decisions"])
            after = other.now
            assert (other.observation(seat) == table.observation(seat)).all()
            if table.to_move == seat:
                assert other.legal == table.legal
            for key in KEYS.split():
                if key not in ("hands", "pile", "dealt"):
                    assert after[key] == now[key]
                differs[key] += after[key] != now[key]
            assert after["hands"][seat] == now["hands"][seat]
            assert after["dealt"][seat] == now["dealt"][seat]
            assert [sum(hand) for hand in after["hands"]] == [sum(hand) for hand in now["hands"]]
            assert len(after["pile"]) == len(now["pile"])
            cards = [
                np.sum([*x["hands"], np.bincount(np.array(x["pile"], int), minlength=9)], axis=0).tolist()
                for x in (now, after)
            ]
            assert cards[0] == cards[1]
            for p in range(table.game.num_players):
                assert set(now["tasks"][p]) - {-1} <= set(after["dealt"][p])
                if now["asked"] != "assign" or -1 not in now["tasks"][p]:
                    assert after["dealt"][p] == now["dealt"][p]
            assert len(set(itertools.chain(*after["dealt"]))) == 5 * table.game.num_players
    assert {key for key, times in differs.items() if times} == {"hands", "pile", "dealt"}


def test_redrawn_hands_and_piles_are_fair():
    table = position(num_players=3, stack=[0, 1, 2], hands=[[ANIMAL_1], [WALK_5], [WATER_2]])
    held, tops = Counter(), Counter()
    for seed in range(2000):
        now = redrawn(table, 0, seed).now
        held[now["hands"][1].index(1)] += 1
        tops[now["pile"][0]] += 1
    for drawn in (held, tops):
        for kind, copies in enumerate(COPIES):
            mean = 2000 * (copies - (kind == ANIMAL_1)) / 17
            assert abs(drawn[kind] - mean) <= 5 * mean**0.5


def test_redrawn_tasks_are_fair():
    table = Table(num_players=2).deal(3)
    first, second = table.now["stack"]
    table.take("assign 4")
    mine_now = table.now["dealt"][first]
    drawn = [redrawn(table, first, seed).now["dealt"][second] for seed in range(800)]
    for j in range(5):
        assert uniform([own[j] for own in drawn], 15)
    assert not set(itertools.chain(*drawn)) & set(mine_now)
    seen_by_second = [redrawn(table, second, seed).now["dealt"][first] for seed in range(800)]
    assert {own[4] for own in seen_by_second} == {mine_now[4]}
    assert uniform([own[0] for own in seen_by_second], 14)


def test_redrawing_gives_another_future():
    table = mine(
        column=4, pile=[], discards=[PLANT_1] * 3 + [WATER_2] * 3 + [PLANT_3, MONEY_3, WALK_5, ANIMAL_1]
    )
    futures = {str(put(redrawn(table, 0, seed), "flower 2").now["pile"]) for seed in range(20)}
    assert len(futures) > 10


def test_redrawn_positions_play_on():
    rng = random.Random(1)
    for table in itertools.islice(positions(3), 0, None, 6):
        other = redrawn(table, 0, 5)
        while not other.over:
            other.take(rng.choice(other.legal))
        assert other.now["terminated"]


def test_a_stack_of_fewer_prizes_than_are_left_out_is_empty(tmp_path):
    table = mine(num_players=2, pieces=(M4U, 0, 0), tables=written(changed(prizes__money=[50]), tmp_path))
    assert table.now["prizes"] == [[], [16, 12, 8, 4]]
    assert sorted(parts(table, 0, "prizes by stack")[0]) == [0, 0, 4, 16]
    table.take("flower 2").take("advance upper")
    assert of(table, "points") == 1
    assert table.now["prizes"] == [[], [16, 12, 8, 4]]
    assert sorted(parts(table, 1, "prizes by stack")[0]) == [0, 0, 4, 16]
