"""The rules of Botanicus: rounds, the last turn, final scoring, rewards, the cap."""

import itertools
import random
from collections import Counter

import pytest
from botanicus_tools import (
    ANIMAL_1,
    BEDS,
    DATA,
    KINDS,
    NO_BEDS,
    PLANT_3,
    TRACKS,
    WATER_2,
    Table,
    by_formula,
    flowers,
    last,
    mine,
    of,
    planted,
    position,
    put,
    resolves,
    sells,
    turn,
    uses,
    walks,
)

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
    assert of(table, "points") == points + n * (action == "points") + (action == "animal") * sum(
        DATA["animals"][:n]
    )
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


# --- the last turn ---


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


def test_a_step_not_taken_scores_a_point_in_the_last_turn_but_pass_before_does_not():
    table = last().take("resolve money").take("pass")
    assert of(table, "points") == 1
    assert table.to_move == 1
    table = last().take("pass")
    assert of(table, "points") == 0
    assert table.to_move == 1
    assert table.now["order"] == [1, 2]


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


@pytest.mark.parametrize("stack", list(itertools.permutations(range(3))))
def test_a_tie_goes_to_the_flower_higher_in_the_last_stack_and_there_are_no_ties(stack):
    table = position(num_players=3, round=3, column=8, stack=stack, coins=[0, 1, 2], points=[5, 5, 5])
    for _ in range(3):
        table.take("pass")
    assert table.scores == [5, 5, 5]
    assert [table.rewards[p] for p in stack] == [1, 0, -1]


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


# --- the cap ---


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


def test_a_game_just_ended_by_the_rules_is_not_also_truncated():
    table = last(started=2, stack=[1, 2, 0], max_decisions=13).take("pass")
    now = table.now
    assert (now["terminated"], now["truncated"], now["decisions"]) == (True, False, 13)
