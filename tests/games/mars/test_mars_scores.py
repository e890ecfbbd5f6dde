"""The rules of Gardens of Mars: the score track, special actions, the end, rewards, the cap; options."""

import numpy as np
import pytest
from mars_tools import (
    ADD_1,
    ADD_5,
    CORNER,
    LOSE_1,
    garden,
    position,
)

from garden_core import make
from garden_core.jit import kernels

# --- 4: the score track ---


@pytest.mark.parametrize(
    ("scores", "moves", "after"),
    [
        ([10, 15, 16, 18, 0], ADD_5, [17, 15, 16, 18, 0]),  # on past 15 and 16
        ([10, 12, 14], ADD_5, [15, 12, 14]),  # who is passed on the way does not matter
        ([10, 9, 8, 6], LOSE_1, [7, 9, 8, 6]),  # the same backward
        ([10, 8], LOSE_1, [9, 8]),
        ([2, 1], LOSE_1, [0, 1]),  # back to 0, past the last space
        ([1, 0, 0], LOSE_1, [0, 0, 0]),  # 0 holds any number
        ([0, 0, 4], LOSE_1, [0, 0, 4]),  # nobody goes below 0
        ([0, 1, 2], ADD_1, [3, 1, 2]),
        ([196, 201], ADD_5, [202, 201]),  # the track has no end
    ],
)
def test_a_scorer_goes_on_in_its_direction_to_the_next_free_space(scores, moves, after):
    assert garden(len(scores), moves, scores=scores).scores == after


# --- 5: special actions ---

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
    """NINE_RED_NINE_GREEN, after A has planted the tenth red flower or made other moves."""
    table = position(board, dice=dice, special_actions=special_actions, **others)
    for label in moves:
        table.take(label)
    return table


def test_the_tenth_flower_of_a_colour_counting_everyones_earns_an_extra_turn():
    table = tenth_red()
    assert (table.to_move, table.now["phase"], table.dice) == (0, "move", [3, 3])
    assert table.now["stocks"][0][4] == 0


def test_without_the_variant_there_are_no_extra_turns():
    assert tenth_red(special_actions=False).to_move == 1
    assert garden(2, ADD_5, scores=[30, 35]).to_move == 1


def test_only_the_tenth_flower_of_the_colour_planted_counts():
    assert tenth_red(ADD_1).to_move == 1
    assert tenth_red(board=NINE_RED_NINE_GREEN.replace("r", ".", 1)).to_move == 1  # the ninth
    assert garden(2, ADD_5, special_actions=True).to_move == 1


@pytest.mark.parametrize(
    ("scores", "moves", "mover", "after"),
    [
        ([21, 26], ADD_5, 0, [27, 26]),
        ([21, 26, 27], ADD_5, 0, [28, 26, 27]),
        ([28, 27], LOSE_1, 0, [26, 27]),  # back
        ([27, 26, 25], LOSE_1, 0, [24, 26, 25]),  # even if it ends below
        ([20, 25], ADD_5, 1, [26, 25]),  # exactly 25 is not above
        ([26, 25], LOSE_1, 1, [24, 25]),
        ([20, 25, 26], ADD_5, 1, [27, 25, 26]),  # 26 is slid over, not led to
        ([25, 27, 28, 29], ADD_5, 1, [30, 27, 28, 29]),  # others are passed on the way
    ],
)
def test_points_that_lead_to_a_space_above_25_that_another_scorer_holds_earn_an_extra_turn(
    scores, moves, mover, after
):
    table = garden(len(scores), moves, scores=scores, special_actions=True)
    assert (table.to_move, table.scores, table.dice) == (mover, after, [3])


def test_giving_up_a_die_can_earn_an_extra_turn():
    table = position(CORNER, dice=[6, 6], scores=[28, 27], special_actions=True).take("give up die 6")
    assert (table.to_move, table.scores, table.dice) == (0, [26, 27], [6])


def test_without_a_die_left_there_is_no_extra_turn():
    table = tenth_red(dice=[1])
    assert (table.to_move, len(table.dice)) == (1, 3)
    table = garden(2, ADD_5, dice=[1], scores=[30, 35], special_actions=True)
    assert (table.to_move, len(table.dice)) == (1, 3)


def test_both_at_once_give_one_extra_turn_and_it_is_over_after_one_die():
    table = tenth_red(scores=[30, 35])
    assert (table.to_move, table.dice) == (0, [3, 3])
    table.take("hex 3,-1").take("plant white")
    assert (table.to_move, table.dice) == (1, [3])


def test_an_extra_turn_can_earn_another_if_a_die_is_left():
    table = tenth_red(dice=[1, 3, 3]).take("hex 3,-1").take("plant green")
    assert (table.to_move, table.dice) == (0, [3])
    table = tenth_red(dice=[1, 3]).take("hex 3,-1").take("plant green")  # the rulebook's example
    assert (table.to_move, len(table.dice)) == (1, 3)


def test_the_last_own_flower_ends_the_game_even_if_it_earns_an_extra_turn():
    table = tenth_red(["hex 0,2"], stocks={0: "r"})
    assert table.now["terminated"]
    assert table.dice == [3, 3]


# --- 6: the end ---


def test_the_game_ends_at_once_when_a_player_has_planted_the_last_own_flower():
    table = garden(3, ["hex 0,2"], stocks={0: "r"}, scores=[7, 9, 8])
    assert (table.now["terminated"], table.now["truncated"], table.now["phase"]) == (True, False, "over")
    assert table.scores == [12, 9, 8]
    assert table.dice == [3]
    assert table.legal == []
    assert garden(3, ["hex 0,2"], stocks={0: "r"}, dice=[1]).dice == []  # nor are dice rolled


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
    table = position(DEADLOCK, dice=[1], scores=[5, 9]).take("hex 5,-5")
    assert (table.now["terminated"], table.now["phase"], table.dice) == (True, "over", [])
    assert table.scores == [4, 9]
    assert table.rewards == [-1, 1]


@pytest.mark.parametrize(
    ("scores", "rewards"),  # scores before A plants the last flower for 5 points
    [
        ([0, 3], [1, -1]),
        ([0, 9, 3], [0, 1, -1]),
        ([0, 0, 0], [1, -1 / 2, -1 / 2]),
        ([0, 9, 0, 0], [1 / 3, 1, -2 / 3, -2 / 3]),
        ([0, 0, 0, 0], [1, -1 / 3, -1 / 3, -1 / 3]),
        ([0, 7, 6, 4, 3], [0, 1, 1 / 2, -1 / 2, -1]),
    ],
)
def test_the_highest_score_wins_and_equal_scores_share_their_ranks(scores, rewards):
    table = garden(len(scores), stocks={0: "r"}, scores=scores)
    assert table.rewards == [0] * len(scores)
    table.take("hex 0,2")
    assert table.rewards == [np.float32(reward) for reward in rewards]
    assert table.standings == [5, *scores[1:]]


@pytest.mark.parametrize("num_players", [2, 3, 4, 5])
def test_if_all_end_at_0_all_are_tied(num_players):
    table = garden(num_players, LOSE_1, decisions=999)
    assert table.over
    assert table.rewards == [0] * num_players
    assert table.standings == [0] * num_players


# --- 7: the cooperative variant ---


@pytest.mark.parametrize(("num_players", "scale"), [(1, 200), (2, 100), (3, 60), (4, 50), (5, 40)])
def test_the_team_is_paid_the_lowest_score(num_players, scale):
    scores = [13, 30, 31, 32, 33][:num_players]
    table = garden(num_players, stocks={0: "r"}, scores=scores, cooperative=True)
    assert table.rewards == [0] * num_players
    table.take("hex 0,2")
    assert table.over
    assert table.rewards == [np.float32(18 / scale)] * num_players
    assert table.standings == [18] * num_players


def test_the_team_margin_is_the_change_of_the_lowest_score():
    team = {"cooperative": True, "reward": "margin"}
    assert garden(2, ADD_5, scores=[10, 12], **team).rewards == [np.float32(2 / 100)] * 2
    assert garden(3, LOSE_1, scores=[10, 12, 15], **team).rewards == [np.float32(-1 / 60)] * 3
    assert garden(2, LOSE_1, scores=[10, 5], **team).rewards == [0, 0]
    assert garden(1, ADD_5, scores=[10], **team).rewards == [np.float32(5 / 200)]


# --- 8: margin rewards ---


@pytest.mark.parametrize(
    ("num_players", "gain"), [(2, [5 / 25, -5 / 25]), (3, [0.5, -0.25, -0.25]), (5, [0.5] + [-0.125] * 4)]
)
def test_margin_pays_the_change_against_the_mean_of_the_others(num_players, gain):
    scores = [10, 2, 3, 4, 5][:num_players]
    assert garden(num_players, ["hex 0,2"], scores=scores, reward="margin").rewards == [0] * num_players
    table = garden(num_players, ADD_5, scores=scores, reward="margin")
    assert table.rewards == [np.float32(value) for value in gain]
    back = garden(num_players, LOSE_1, scores=scores, reward="margin").rewards
    assert np.allclose(back, np.array(gain) / -5)


# --- the cap on decisions ---


def test_a_game_at_the_cap_is_truncated_and_scored_as_it_stands():
    table = garden(2, LOSE_1, decisions=998, scores=[9, 3])
    assert not table.over
    table = garden(2, LOSE_1, decisions=999, scores=[9, 3])
    assert (table.now["truncated"], table.now["terminated"], table.now["phase"]) == (True, False, "over")
    assert table.rewards == [1, -1]
    assert table.scores == [8, 3]
    assert table.legal == []


def test_a_hex_that_waits_for_its_flower_at_the_cap_goes_on_waiting():
    table = garden(2, ["hex 0,2"], decisions=999)
    assert table.now["truncated"]
    assert (table.now["pending"], table.scores) == ([0, 2], [0, 0])


def test_a_game_just_ended_by_the_rules_is_not_truncated_also():
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
        ({"view": "image"}, "view must be 'flat' or 'planes', not 'image'"),
    ],
)
def test_an_option_out_of_range_is_named_with_what_is_allowed(options, message):
    with pytest.raises(ValueError, match=message):
        make("mars", **options)


def test_resample_redraws_the_dice_to_come_and_nothing_else():
    rolls = set()
    for seed in range(20):
        table = garden(2, dice=[1])
        before = (table.now, table.legal, table.observation(0).tolist())
        kernels.resample(table.state, table.params, 0, seed)
        assert (table.now, table.legal, table.observation(0).tolist()) == before
        rolls.add(tuple(table.take("hex 2,2").dice))
    assert len(rolls) > 5
