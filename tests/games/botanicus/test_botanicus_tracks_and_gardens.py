"""The rules of Botanicus: tracks, planting, watering, the walk action."""

from collections import Counter

import pytest
from botanicus_tools import (
    ANIMAL_1,
    BEDS,
    CROSSINGS,
    DATA,
    KINDS,
    M1,
    M2L,
    M4U,
    MONEY_3,
    NO_BEDS,
    PLANT_3,
    S1,
    S2,
    S4,
    SHOVEL_END,
    TRACKS,
    W1,
    W2U,
    W3,
    WALK_5,
    WATER_2,
    WHEELBARROW_2,
    WHEELBARROW_END,
    beds,
    mine,
    of,
    planted,
    printed,
    resolves,
    turn,
    walks,
)

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
    assert of(table, "tracks") == [0, 0, S2]
    assert table.to_move == 1


def test_a_shovel_action_that_cannot_pay_its_first_path_scores_its_steps():
    table = mine(coins=1, pieces=(0, 0, S1)).take("flower 3")
    assert (of(table, "points"), of(table, "coins"), of(table, "tracks")) == (2, 1, [0, 0, S1])
    assert turn(table) == (1, "start")
    table = mine(coins=2, pieces=(0, 0, S1)).take("flower 3")
    assert table.legal == ["pass", "advance upper"]


def node_names(track):
    return [node["name"] for node in DATA["tracks"][track]]


EDGES = [
    (track, number, way, node[way])
    for track in TRACKS
    for number, node in enumerate(DATA["tracks"][track])
    for way in ("upper", "lower")
    if way in node
]


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


def test_a_track_may_be_taken_by_a_card_and_its_gains_forfeited():
    table = mine(hand=[WHEELBARROW_2], coins=2).take("use wheelbarrow 2").take("advance upper").take("pass")
    assert table.now["pending"] == [[], [["plant_1", 1], ["water", 1]]]
    assert of(table, "points") == 1
    assert table.now["in_play"] == WHEELBARROW_2
    table.take("pass")
    assert turn(table) == (0, "start")
    assert (table.now["in_play"], table.now["discards"][WHEELBARROW_2]) == (None, 1)
    assert of(table, "tracks") == [0, W1, 0]


def test_the_piece_returns_only_after_the_gains_are_resolved():
    table = mine(pieces=(0, 0, S4)).take("flower 3").take("advance upper")
    assert of(table, "tracks") == [0, 0, SHOVEL_END]
    table.take("pass")
    assert of(table, "tracks") == [0, 0, 0]


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


# --- watering ---


@pytest.mark.parametrize("level", range(5))
def test_watering_raises_levels_1_to_3_by_one(level):
    table = mine(hand=[WATER_2], garden={(1, 1): level, (2, 2): 1}).take("use water 2")
    assert ("bed 1,1" in table.legal) == (level in (1, 2, 3))
    if level in (1, 2, 3):
        table.take("bed 1,1")
        assert planted(table) == {(1, 1): level + 1, (2, 2): 1}


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
