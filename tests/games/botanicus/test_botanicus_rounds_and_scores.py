"""The rules of Botanicus: rounds, the last turn, final scoring, rewards, the cap."""

import itertools
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
    flowers,
    last,
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

# --- 4: rounds ---


def before_the_end(round, **own):
    """Set up the last turn in column 8: seats 1 and 2 have placed their Flowers, on 1 and 3."""
    return mine(column=8, round=round, stack=[1, 2, 0], started=2, flowers=[[], [1], [], [2]], **own)


def test_all_columns_are_played_in_both_rounds_and_then_a_last_turn():
    """[4.1, 4.2]. All Flowers on the top space: the order is reversed in each column."""
    table = position(num_players=3, stack=[0, 1, 2])
    turns = []
    while not table.over:
        table.state["coins"][:3] = 20
        turns.append((table.now["round"], table.now["column"], table.to_move))
        put(table, "pass" if table.now["round"] == 3 else "flower 0")
    rounds = [*itertools.product((1, 2), range(1, 9)), (3, 8)]
    orders = itertools.cycle([(0, 1, 2), (2, 1, 0)])
    assert turns == [(*when, player) for when in rounds for player in next(orders)]


def test_after_round_one_tiles_stay_but_are_uncovered():
    """[4.5]."""
    table = before_the_end(1, covered=[(0, 0), (1, 3), (3, 1), (3, 3)])
    before = table.now["tiles"]
    put(table, "flower 0")
    assert (table.now["covered"], table.now["tiles"]) == ([[False] * 4] * 4, before)


@pytest.mark.parametrize("tile", range(16))
@pytest.mark.parametrize("side", [0, 1])
def test_every_tile_has_its_light_side_in_round_one_and_its_dark_side_in_round_two(tile, side):
    """[3.4, 4.5, 12.4]."""
    sides = [*DATA["tiles"]["spotted"], *DATA["tiles"]["striped"]][tile]
    kind, n = sides[side].split()
    space, coins, points = (1, 9, 0) if tile < 8 else (2, 6, 4)  # with what is printed
    table = mine(
        column=6, round=1 + side, tiles={(2, space): sides[0]}, garden={(1, 1): 1}, pile=[PLANT_3] * 2
    ).take(f"flower {space}")
    gains = Counter({kind: int(n)})
    assert of(table, "coins") == coins + gains["coins"]
    assert of(table, "points") == points + gains["points"] + sum(DATA["animals"][: gains["animal"]])
    assert sum(of(table, "hands")) == gains["card"]
    assert table.now["hand_action"] == ([kind, int(n)] if kind in KINDS else None)


def test_after_round_two_comes_the_last_turn_in_the_order_of_the_stack():
    """[4.4, 8.1]."""
    table = put(before_the_end(2, covered=[(3, 1), (3, 3)]), "flower 2")
    now = table.now
    assert (now["round"], now["column"], now["flowers"]) == (3, 8, [[], [], [], []])
    assert now["stack"] == now["order"] == [1, 0, 2]
    assert now["covered"][3] == [False, True, True, True]
    for player in (1, 0, 2):
        assert turn(table) == (player, "start")
        table.take("pass")
    assert table.now["terminated"]


# --- 8: the last turn ---


def test_the_last_turn_is_a_normal_turn_with_a_choice_of_track():
    """[8.1, 8.2]."""
    table = last(hand=[WATER_2], garden={(1, 1): 1})
    assert walks(table.legal)
    assert uses(table.legal) + sells(table.legal) == ["use water 2", "sell water 2"]
    assert not flowers(table.legal)
    table.take("use water 2", "bed 1,1", "pass", "walk 1,2")
    assert table.legal == ["pass", *(f"resolve {track}" for track in TRACKS)]
    table.take("resolve money")
    assert table.now["hand_action"] == ["money", 1]
    assert table.legal == ["pass", "advance upper"]
    assert table.now["order"] == [1, 2]


@pytest.mark.parametrize(("labels", "points"), [(["resolve money", "pass"], 1), (["pass"], 0)])
def test_a_step_not_taken_scores_a_point_in_the_last_turn_but_no_track_scores_nothing(labels, points):
    """[8.3]."""
    table = last().take(*labels)
    assert (of(table, "points"), table.to_move) == (points, 1)


def test_the_last_gains_are_resolved_before_the_game_ends():
    """[5.9, 8.2]."""
    table = last(started=2, stack=[1, 2, 0]).take("resolve shovel", "advance upper", "pass")
    assert not table.over
    assert table.take("bed 1,1").over
    assert planted(table) == {(1, 1): 1}


# --- 9: final scoring ---

COLUMN_BEDS = [[bed for bed in BEDS if bed[1] == c and bed not in NO_BEDS] for c in range(4)]


def test_the_scoring_example_of_two_full_columns():
    """[9.1]."""
    garden = dict.fromkeys(COLUMN_BEDS[0], 3) | {(0, 0): 1}
    garden |= dict.fromkeys(COLUMN_BEDS[2], 1) | {(2, 2): 4, (3, 2): 3}
    garden |= dict.fromkeys(COLUMN_BEDS[1][1:], 4)  # one bed short
    assert mine(garden=garden, coins=0).scores[0] == 9 + 15


@pytest.mark.parametrize("column", range(4))
@pytest.mark.parametrize(("level", "points"), list(enumerate([2, 5, 9, 15], 1)))
def test_a_full_column_scores_its_highest_plant_once(column, level, points):
    """[9.1]."""
    for bed in COLUMN_BEDS[column]:
        garden = dict.fromkeys(COLUMN_BEDS[column], 1) | {bed: level}
        assert mine(garden=garden, coins=0).scores[0] == points
        assert mine(garden=garden | {bed: 0}, coins=0).scores[0] == 0


@pytest.mark.parametrize("stack", list(itertools.permutations(range(3))))
def test_a_tie_goes_to_the_flower_higher_in_the_last_stack_and_there_are_no_ties(stack):
    """[9.2, 9.3]."""
    table = position(num_players=3, round=3, column=8, stack=stack, coins=[0, 1, 2], points=[5, 5, 5])
    table.take(*["pass"] * 3)
    assert table.scores == [5, 5, 5]
    assert [table.rewards[p] for p in stack] == [1, 0, -1]


# --- 11: rewards, the cap ---


@pytest.mark.parametrize(("n", "ranked"), [(2, [1, -1]), (3, [1, 0, -1]), (4, [1, 1 / 3, -1 / 3, -1])])
def test_the_outcome_rewards_ranks_at_the_end_only(n, ranked):
    """[11.1]."""
    table = position(
        num_players=n, round=3, column=8, stack=list(range(n))[::-1], points=[5 * p for p in range(n)]
    )
    for _ in range(n - 1):
        assert table.take("pass").rewards == [0] * n
    assert table.take("pass").rewards == pytest.approx(ranked[::-1])


def test_margin_rewards_each_change_of_the_lead_over_the_mean_of_the_others():
    """[11.2]."""
    table = mine(hand=[ANIMAL_1, WATER_2], reward="margin", coins=6).take("use animal 1")
    change = 3 + 4 // 3 - 6 // 3
    assert table.rewards == pytest.approx([change / 20, -change / 2 / 20, -change / 2 / 20], abs=1e-6)
    table.take("flower 0")
    assert table.rewards == pytest.approx([1 / 20, -1 / 40, -1 / 40], abs=1e-6)


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    """[11.3]; twelve decisions have assigned the tasks."""
    table = mine(max_decisions=14, points=5).take("walk 1,2")
    assert not table.over
    table.take("flower 2")
    now = table.now
    assert (now["truncated"], now["terminated"], now["decisions"]) == (True, False, 14)
    assert (now["asked"], table.legal, table.scores) == ("over", [], [5 + 5 // 3, 2, 2])
    assert table.rewards == [1, 0, -1]


def test_a_game_just_ended_by_the_rules_is_not_truncated():
    """[11.3]."""
    now = last(started=2, stack=[1, 2, 0], max_decisions=13).take("pass").now
    assert (now["terminated"], now["truncated"], now["decisions"]) == (True, False, 13)
