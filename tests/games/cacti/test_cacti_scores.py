"""The rules of Cacti: scores, who wins, rewards, the cap."""

import pytest
from cacti_tools import FULL, last, position

# --- scores ---


def test_the_scoring_example():
    """14 for Arrangements, 5 and 4 for Planters, minus 4 cacti of 3 types: 11."""
    kate = {
        "bonus": (0, 1),
        "special": ([2] * 5, [1]),
        "planted": (["starting", [0, "upper"], [5, "lower"]], ()),
    }
    table = position(
        middle=FULL, nurseries=([0, 0, 0, 0, 1, 2, 3, 3], [0, 0, 1]), hands=((), [0]), active=1, **kate
    )
    assert table.scores[0] == 14 + 9 - 12 == 11
    table.take("grow star").take("grow barrel")  # Kate's response: two more for her Bonus Planter
    assert table.over
    assert table.scores[0] == 13
    assert table.now["nurseries"][0] == [6, 1, 1, 2]


@pytest.mark.parametrize("t", range(4))
def test_each_cactus_under_the_special_planter_is_worth_1_point(t):
    assert position(middle=FULL, special=([t] * 7, [t] * 3)).scores == [7, 3]


@pytest.mark.parametrize(
    ("nursery", "score"),
    [
        ([], 0),
        ([1], -1),
        ([1, 1, 1, 2, 2], -10),
        ([1, 2, 3], -9),
        ([0] * 6, 6),
        ([0, 0, 0, 1, 1, 3], 3 - 6),
    ],
)
def test_cacti_left_cost_their_number_times_their_types_without_those_of_the_bonus_planter(nursery, score):
    assert position(middle=FULL, nurseries=(nursery, ()), bonus=(0, 1)).scores == [score, 0]
    assert position(middle=FULL, nurseries=((), nursery), bonus=(1, 0)).scores == [0, score]


# --- who wins ---


def ended(nursery=(), under=None, planted=()):
    """After the last turn: seat 1 has 5 points, all under Planters; the rest is seat 0's, who has Bonus 0."""
    table = last(middle=[3] * 5, nurseries=(nursery, ()), special=(under, None), planted=(planted, ()))
    table.take("special star")
    assert table.over
    assert table.scores[1] == 5
    return table


@pytest.mark.parametrize(
    ("seat_0", "score", "reward"),
    [
        ({"under": [1] * 6}, 6, 1),
        ({"planted": [[0, "lower"]]}, 6, 1),
        ({"planted": ["starting"], "nursery": [1]}, 4, -1),
        ({"planted": [[0, "lower"]], "under": [1] * 9, "nursery": [1] * 11}, 4, -1),
    ],
)
def test_the_most_points_win(seat_0, score, reward):
    table = ended(**seat_0)
    assert table.scores[0] == score
    assert table.rewards == [reward, -reward]


@pytest.mark.parametrize(
    ("seat_0", "reward"),
    [
        ({"planted": ["starting"]}, -1),  # none under Planters against five
        ({"planted": [[0, "upper"]], "under": [1, 1]}, -1),
        ({"planted": [[0, "upper"]], "under": [1], "nursery": [0]}, -1),
        ({"nursery": [0] * 6 + [1]}, 1),  # six against five
        ({"under": [2] * 3, "nursery": [0] * 3 + [1]}, 1),
    ],
)
def test_level_points_are_decided_by_the_cacti_under_both_planters(seat_0, reward):
    table = ended(**seat_0)
    assert table.scores == [5, 5]
    assert table.rewards == [reward, -reward]


@pytest.mark.parametrize(
    "seat_0",
    [
        {"under": [3] * 5},
        {"nursery": [0] * 5},
        {"under": [1] * 5, "planted": [[0, "upper"]], "nursery": [2, 2, 2]},
    ],
)
def test_a_true_tie_gives_0_to_both(seat_0):
    table = ended(**seat_0)
    assert table.scores == [5, 5]
    assert table.rewards == [0, 0]


def test_negative_scores_win_too():
    table = last(middle=[3], nurseries=([1, 2, 3], [1, 2]), special=((), ()), bonus=(0, 0)).take("grow star")
    assert table.over
    assert table.scores == [-9, -9]
    assert table.rewards == [0, 0]
    table = last(middle=[1], nurseries=([1, 2, 3], [1, 2]), special=((), ()), bonus=(0, 0)).take(
        "grow prickly pear"
    )
    assert table.scores == [-9, -6]
    assert table.rewards == [-1, 1]


# --- rewards ---


def tenths(own):
    """The rewards of whom seat 0 leads by `own` points more than before."""
    return pytest.approx([own / 10, -own / 10], abs=1e-6)


def test_margin_pays_arrangements_and_special_planters_at_once():
    table = position(
        middle=FULL, nurseries=([0, 0, 1], ()), hands=([0], ()), deck=[0] * 9, reward="margin"
    ).take("plant basic 0 upper")
    assert table.rewards == tenths(3)
    assert table.take("special barrel").rewards == tenths(-3)  # two from the middle and the opening card


def test_margin_betrays_no_bonus_planter_before_the_end():
    for bonus in range(4):
        table = position(
            middle=FULL, nurseries=([0, 1], [3]), deck=[2] * 9, bonus=(bonus, bonus), reward="margin"
        )
        assert table.take("grow barrel").rewards == [0, 0]
        assert table.take("grow star").rewards == [0, 0]


def test_margin_pays_the_rest_with_the_last_step():
    table = last(
        middle=[3, 3],
        nurseries=([0, 0, 1, 2, 2], [1, 0]),
        planted=(["starting"], ()),
        bonus=(0, 1),
        reward="margin",
    ).take("special star")
    assert table.scores == [5 + 2 - 6, 2 + 1 - 1]
    # Seat 0's Arrangement was paid for before: now its Bonus Planter and penalty, and all of seat 1's.
    assert table.rewards == tenths((2 - 6) - (2 + 1 - 1))


def test_margin_pays_the_rest_when_the_game_is_truncated():
    table = position(
        middle=FULL,
        nurseries=([0, 0, 1], [1, 1]),
        hands=([0], ()),
        deck=[2] * 9,
        reward="margin",
        max_decisions=1,
    ).take("plant basic 0 upper")
    assert table.now["truncated"]
    assert table.scores == [3, 2 - 1]
    assert table.rewards == tenths(2)


# --- the cap on decisions ---


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    table = position(middle=FULL, nurseries=([0], [1, 2]), deck=[2] * 9, bonus=(0, 0), max_decisions=2)
    table.take("grow barrel")
    assert not table.over
    table.take("grow star")
    assert table.now["asked"] == "over"
    assert (table.now["truncated"], table.now["terminated"], table.now["decisions"]) == (True, False, 2)
    assert table.scores == [3, -4 * 3]  # the opening card, a saguaro, included
    assert table.rewards == [1, -1]
    assert table.legal == []


def test_a_response_still_asked_at_the_cap_does_not_happen():
    table = position(middle=FULL, nurseries=([0], ()), deck=[2] * 9, max_decisions=1).take("grow barrel")
    assert table.now["truncated"]
    assert table.now["middle"] == [0, 1, 1, 1]
    assert table.now["nurseries"] == [[3, 0, 0, 0], [0] * 4]
    assert table.rewards == [1, -1]


@pytest.mark.parametrize("label", ["special barrel", "plant starting"])
def test_a_game_just_ended_by_the_rules_is_not_truncated_also(label):
    table = last(nurseries=((), [0, 1, 2, 3]), hands=((), ["starting"]), max_decisions=1).take(label)
    assert (table.now["terminated"], table.now["truncated"]) == (True, False)
