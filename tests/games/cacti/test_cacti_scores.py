"""The rules of Cacti: scores, who wins, rewards, the cap."""

import pytest
from cacti_tools import FULL, last, position

# --- 5: scores ---


def test_the_scoring_example():
    """14 for Arrangements, 5 and 4 for Planters, minus 4 cacti of 3 types: 11 [5.1] to [5.3]."""
    table = position(
        middle=FULL,
        nurseries=([0, 0, 0, 0, 1, 2, 3, 3], [0, 0, 1]),
        hands=((), [0]),
        active=1,
        special=([2] * 5, [1]),
        planted=(["starting", [0, "upper"], [5, "lower"]], ()),
    )
    assert table.scores[0] == 14 + 9 - 12 == 11
    table.take("grow star").take("grow barrel")  # Kate's response: two more for her Bonus Planter
    assert table.over
    assert table.scores[0] == 13
    assert table.now["nurseries"][0] == [6, 1, 1, 2]


@pytest.mark.parametrize(
    ("nursery", "score"),
    [([], 0), ([1, 1, 1, 2, 2], -10), ([1, 2, 3], -9), ([0] * 6, 6), ([0, 0, 0, 1, 1, 3], 3 - 6)],
)
def test_cacti_left_cost_their_number_times_their_types(nursery, score):
    """[5.3]; the type of the Bonus Planter is not among them [5.1]."""
    assert position(middle=FULL, nurseries=(nursery, ()), bonus=(0, 1)).scores == [score, 0]
    assert position(middle=FULL, nurseries=((), nursery), bonus=(1, 0)).scores == [0, score]


@pytest.mark.parametrize(
    ("seat_0", "score", "reward"),
    [
        # the most points
        ({"special": [1] * 6}, 6, 1),
        ({"planted": [[0, "lower"]], "special": [1] * 9, "nursery": [1] * 11}, 4, -1),
        # level points: cacti under both planters, of which seat 1 has five
        ({"planted": [[0, "upper"]], "special": [1], "nursery": [0]}, 5, -1),
        ({"special": [2] * 3, "nursery": [0] * 3 + [1]}, 5, 1),
        # a tie
        ({"special": [3] * 5}, 5, 0),
        ({"special": [1] * 5, "planted": [[0, "upper"]], "nursery": [2, 2, 2]}, 5 + 3 - 3, 0),
    ],
)
def test_the_most_points_win_then_the_most_cacti_under_both_planters(seat_0, score, reward):
    """[5.4, 7.1]; seat 1 has 5 points, all under its Special Planter."""
    seat_0 = {"nursery": (), "special": None, "planted": ()} | seat_0
    table = last(
        middle=[3] * 5,
        nurseries=(seat_0["nursery"], ()),
        special=(seat_0["special"], None),
        planted=(seat_0["planted"], ()),
    ).take("special star")
    assert table.over
    assert table.scores == [score, 5]
    assert table.rewards == [reward, -reward]


# --- 7: rewards ---


def tenths(own):
    """Return the rewards if the lead of seat 0 grows by `own` points."""
    return pytest.approx([own / 10, -own / 10], abs=1e-6)


def test_margin_rewards_arrangements_and_special_planters_at_once():
    """[7.2]."""
    table = position(
        middle=FULL, nurseries=([0, 0, 1], ()), hands=([0], ()), deck=[0] * 9, reward="margin"
    ).take("plant basic 0 upper")
    assert table.rewards == tenths(3)
    assert table.take("special barrel").rewards == tenths(-3)  # two from the middle and the opening card


def test_margin_betrays_no_bonus_planter_before_the_end():
    """[7.2]."""
    for bonus in range(4):
        table = position(
            middle=FULL, nurseries=([0, 1], [3]), deck=[2] * 9, bonus=(bonus, bonus), reward="margin"
        )
        assert table.take("grow barrel").rewards == [0, 0]
        assert table.take("grow star").rewards == [0, 0]


def test_margin_rewards_the_rest_with_the_last_decision():
    """[7.2]."""
    table = last(
        middle=[3, 3],
        nurseries=([0, 0, 1, 2, 2], [1, 0]),
        planted=(["starting"], ()),
        reward="margin",
    ).take("special star")
    assert table.scores == [5 + 2 - 6, 2 + 1 - 1]
    # Seat 0's Arrangement counted before: now its Bonus Planter and penalty, and all of seat 1's.
    assert table.rewards == tenths((2 - 6) - (2 + 1 - 1))


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    """[7.3]."""
    table = position(middle=FULL, nurseries=([0], [1, 2]), deck=[2] * 9, bonus=(0, 0), max_decisions=2)
    assert not table.take("grow barrel").over
    now = table.take("grow star").now
    assert (now["asked"], now["truncated"], now["terminated"], now["decisions"]) == ("over", True, False, 2)
    assert table.scores == [3, -4 * 3]  # the opening card, a saguaro, included
    assert (table.rewards, table.legal) == ([1, -1], [])


def test_a_game_just_ended_by_the_rules_is_not_truncated():
    """[7.3]."""
    table = last(max_decisions=1).take("special barrel")
    assert (table.now["terminated"], table.now["truncated"]) == (True, False)
