"""The rules of Gardens of Mars: the score track, special actions, the end, rewards, the cap; options."""

import numpy as np
import pytest
from mars_tools import ADD_1, ADD_5, CORNER, LOSE_1, garden, position

from garden_core import make

# --- 4: the score track ---


@pytest.mark.parametrize(
    ("scores", "moves", "after"),
    [
        ([10, 15, 16, 18, 0], ADD_5, [17, 15, 16, 18, 0]),  # on past 15 and 16 [4.2]
        ([10, 12, 14], ADD_5, [15, 12, 14]),  # scorers on the way do not matter
        ([10, 9, 8, 6], LOSE_1, [7, 9, 8, 6]),  # the same backward
        ([2, 1], LOSE_1, [0, 1]),  # back to 0, past the last space
        ([1, 0, 0], LOSE_1, [0, 0, 0]),  # 0 has room for all [4.1]
        ([0, 0, 4], LOSE_1, [0, 0, 4]),  # no score is below 0 [4.3]
        ([196, 201], ADD_5, [202, 201]),  # the track has no end [4.4]
    ],
)
def test_a_scorer_goes_on_in_its_direction_to_the_next_free_space(scores, moves, after):
    assert garden(len(scores), moves, scores=scores).scores == after


# --- 6: special actions ---

NINE_RED_NINE_GREEN = """
         r r r r r .
        n n n n n n n
       n n . . . . . .
      . . . . . . . . .
     . . . . . . . . . .
    . . . . . + . . . . .
     . . . . . . . . . .
      . r r r r . A b .
       . . . . . . . .
        . . . . . . .
         . . . . . B
"""


def tenth_red(moves=ADD_5, dice=(1, 3, 3), special_actions=True, board=NINE_RED_NINE_GREEN, **others):
    """Set up NINE_RED_NINE_GREEN, after A has planted the tenth red flower or made other moves."""
    return position(board, dice=dice, special_actions=special_actions, **others).take(*moves)


def test_the_tenth_flower_of_a_colour_counting_everyones_earns_an_extra_turn():
    """[6.1]; only with the variant, and only the colour planted counts."""
    table = tenth_red()
    assert (table.to_move, table.now["phase"], table.dice) == (0, "move", [3, 3])
    assert table.now["stocks"][0][4] == 0
    assert tenth_red(special_actions=False).to_move == 1
    assert tenth_red(ADD_1).to_move == 1
    assert tenth_red(board=NINE_RED_NINE_GREEN.replace("r", ".", 1)).to_move == 1  # the ninth


@pytest.mark.parametrize(
    ("scores", "moves", "mover", "after"),
    [
        ([21, 26, 27], ADD_5, 0, [28, 26, 27]),
        ([28, 27], LOSE_1, 0, [26, 27]),  # back [6.2]
        ([27, 26, 25], LOSE_1, 0, [24, 26, 25]),  # even if it ends below
        ([20, 25], ADD_5, 1, [26, 25]),  # exactly 25 is not above
        ([20, 25, 26], ADD_5, 1, [27, 25, 26]),  # 26 is slid over, not led to [6.2]
        ([25, 27, 28, 29], ADD_5, 1, [30, 27, 28, 29]),  # scorers on the way do not matter
    ],
)
def test_points_that_lead_to_a_taken_space_above_25_earn_an_extra_turn(scores, moves, mover, after):
    """[6.1]; only with the variant."""
    table = garden(len(scores), moves, scores=scores, special_actions=True)
    assert (table.to_move, table.scores, table.dice) == (mover, after, [3])
    assert garden(len(scores), moves, scores=scores).to_move == 1


def test_giving_up_a_die_can_earn_an_extra_turn():
    """[6.2]."""
    table = position(CORNER, dice=[6, 6], scores=[28, 27], special_actions=True).take("give up die 6")
    assert (table.to_move, table.scores, table.dice) == (0, [26, 27], [6])


def test_without_a_die_left_there_is_no_extra_turn():
    """[6.3]."""
    for table in (tenth_red(dice=[1]), garden(2, ADD_5, dice=[1], scores=[30, 35], special_actions=True)):
        assert (table.to_move, len(table.dice)) == (1, 3)


def test_both_at_once_give_one_extra_turn_and_it_is_over_after_one_die():
    """[6.4]."""
    table = tenth_red(scores=[30, 35])
    assert (table.to_move, table.dice) == (0, [3, 3])
    table.take("hex 3,-1", "plant white")
    assert (table.to_move, table.dice) == (1, [3])


def test_an_extra_turn_can_earn_another_if_a_die_is_left():
    """[6.3, 6.4]."""
    table = tenth_red().take("hex 3,-1", "plant green")
    assert (table.to_move, table.dice) == (0, [3])
    table = tenth_red(dice=[1, 3]).take("hex 3,-1", "plant green")  # the rulebook's example
    assert (table.to_move, len(table.dice)) == (1, 3)


def test_the_last_own_flower_ends_the_game_even_if_it_earns_an_extra_turn():
    """[6.4]."""
    table = tenth_red(["hex 0,2"], stocks={0: "r"})
    assert table.now["terminated"]
    assert table.dice == [3, 3]


# --- 5: the end ---


def test_the_game_ends_at_once_when_a_player_has_planted_the_last_own_flower():
    """[5.1]; no dice are rolled."""
    table = garden(3, ["hex 0,2"], stocks={0: "r"}, scores=[7, 9, 8])
    assert (table.now["terminated"], table.now["truncated"], table.now["phase"]) == (True, False, "over")
    assert (table.scores, table.dice, table.legal) == ([12, 9, 8], [3], [])
    assert garden(3, ["hex 0,2"], stocks={0: "r"}, dice=[1]).dice == []


DEADLOCK = """
              .   .   .   .   Ab  b
            .   .   .   .   .   b   b
          .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
    .   .   .   .   .   +   .   .   .   .   .
      .   .   .   .   .   .   .   .   .   .
        .   .   .   .   .   .   .   .   .
          .   .   .   .   .   .   .   .
            r   r   .   .   .   .   .
              B   r   .   .   .   .
"""


def test_the_game_ends_when_no_dice_are_left_and_every_player_is_surrounded():
    """[5.2]."""
    table = position(DEADLOCK, dice=[1], scores=[5, 9]).take("hex 5,-5")
    assert (table.now["terminated"], table.now["phase"], table.dice) == (True, "over", [])
    assert (table.scores, table.rewards) == ([4, 9], [-1, 1])


@pytest.mark.parametrize(
    ("scores", "rewards"),  # scores before A plants the last flower for 5 points
    [
        ([0, 3], [1, -1]),
        ([0, 9, 3], [0, 1, -1]),
        ([0, 9, 0, 0], [1 / 3, 1, -2 / 3, -2 / 3]),
        ([0, 7, 6, 4, 3], [0, 1, 1 / 2, -1 / 2, -1]),
    ],
)
def test_the_highest_score_wins_and_equal_scores_share_their_ranks(scores, rewards):
    """[5.3, 9.1]."""
    table = garden(len(scores), stocks={0: "r"}, scores=scores)
    assert table.rewards == [0] * len(scores)
    table.take("hex 0,2")
    assert table.rewards == [np.float32(reward) for reward in rewards]
    assert table.standings == [5, *scores[1:]]


@pytest.mark.parametrize("num_players", [2, 5])
def test_if_all_end_at_0_all_are_tied(num_players):
    """[5.3, 9.1]."""
    table = garden(num_players, LOSE_1, decisions=999)
    assert (table.over, table.rewards) == (True, [0] * num_players)


# --- 8: the cooperative variant ---


@pytest.mark.parametrize(("num_players", "scale"), [(1, 200), (2, 100), (3, 60), (4, 50), (5, 40)])
def test_the_team_receives_the_lowest_score(num_players, scale):
    """[8.1, 9.3]."""
    scores = [13, 30, 31, 32, 33][:num_players]
    table = garden(num_players, stocks={0: "r"}, scores=scores, cooperative=True)
    assert table.rewards == [0] * num_players
    table.take("hex 0,2")
    assert table.over
    assert table.rewards == [np.float32(18 / scale)] * num_players
    assert table.standings == [18] * num_players


@pytest.mark.parametrize(
    ("scores", "moves", "reward"),
    [
        ([10, 12], ADD_5, 2 / 100),
        ([10, 12, 15], LOSE_1, -1 / 60),
        ([10, 5], LOSE_1, 0),
        ([10], ADD_5, 5 / 200),
    ],
)
def test_the_margin_of_the_team_is_the_change_of_the_lowest_score(scores, moves, reward):
    """[9.3]."""
    table = garden(len(scores), moves, scores=scores, cooperative=True, reward="margin")
    assert table.rewards == [np.float32(reward)] * len(scores)


# --- 9: margin rewards, the cap on decisions ---


@pytest.mark.parametrize(
    ("num_players", "gain"), [(2, [5 / 25, -5 / 25]), (3, [0.5, -0.25, -0.25]), (5, [0.5] + [-0.125] * 4)]
)
def test_margin_rewards_the_change_of_the_lead_over_the_mean_of_the_others(num_players, gain):
    """[9.2]."""
    start = {"num_players": num_players, "scores": [10, 2, 3, 4, 5][:num_players], "reward": "margin"}
    assert garden(moves=["hex 0,2"], **start).rewards == [0] * num_players
    assert garden(moves=ADD_5, **start).rewards == [np.float32(value) for value in gain]
    assert np.allclose(garden(moves=LOSE_1, **start).rewards, np.array(gain) / -5)


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    """[9.4]."""
    assert not garden(2, LOSE_1, decisions=998).over
    table = garden(2, LOSE_1, decisions=999, scores=[9, 3])
    assert (table.now["truncated"], table.now["terminated"], table.now["phase"]) == (True, False, "over")
    assert (table.rewards, table.scores, table.legal) == ([1, -1], [8, 3], [])
    table = garden(2, ["hex 0,2"], decisions=999)
    assert (table.now["truncated"], table.now["pending"]) == (True, [0, 2])  # still without a flower


def test_a_game_just_ended_by_the_rules_is_not_truncated():
    """[9.4]."""
    for table in (
        garden(2, ["hex 0,2"], decisions=999, stocks={0: "r"}),
        position(DEADLOCK, dice=[1], decisions=999).take("hex 5,-5"),
    ):
        assert (table.now["terminated"], table.now["truncated"]) == (True, False)


# --- options, redrawing ---


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_players": 6}, r"num_players must be .* to 5 \(1 only with cooperative=True\), not 6"),
        ({"num_players": 1}, "num_players must be 2 to 5, or 1 to 5 with cooperative=True, not 1"),
        ({"num_players": True, "cooperative": True}, "num_players must be a whole number"),
        ({"peaks": 4}, "peaks must be 0 to 3 with num_players=2, not 4"),
        ({"num_players": 5, "peaks": 1}, "peaks must be 0 to 0 with num_players=5, not 1"),
        ({"num_players": 3, "gardeners": 2}, "gardeners must be 1 with num_players=3"),
        ({"num_players": 1, "gardeners": 2, "cooperative": True}, "gardeners must be 1 with num_players=1"),
        ({"special_actions": 1}, "special_actions must be True or False, not 1"),
        ({"max_decisions": 0}, "max_decisions must be .* from 1 .*, not 0"),
        ({"view": "image"}, "view must be 'flat' or 'planes' or 'flat.special', not 'image'"),
    ],
)
def test_an_option_out_of_range_is_named_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        make("mars", **options)


def test_resample_redraws_the_dice_to_come_and_nothing_else():
    table = garden(2, dice=[1])
    rolls = set()
    for seed in range(20):
        other = table.resampled(0, seed)
        for name in ("now", "legal"):
            assert getattr(other, name) == getattr(table, name)
        assert np.array_equal(other.observation(0), table.observation(0))
        rolls.add(tuple(other.take("hex 2,2").dice))
    assert len(rolls) > 5
