"""Whole games of Botanicus: what must hold in each at all times, whatever is played.

That each decision does what the rules say is compared with the plain reference in test_botanicus_agreement.py.
"""

import itertools
from collections import Counter

import numpy as np
import pytest
from botanicus_tools import DATA, POLICIES, Record, by_formula, made_up, written

pytestmark = pytest.mark.many_games


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games of every policy for 2, 3 and 4 players, with the packaged and with made-up data."""
    folder = tmp_path_factory.mktemp("tables")
    played = []
    for n, (i, policy) in itertools.product((2, 3, 4), enumerate([*POLICIES, "greedy"])):
        reward = ("outcome", "margin")[(n + i) % 2]
        played.append(Record(DATA, policy, 10 * n, num_players=n, reward=reward))
    for seed in range(100, 112):
        data = made_up(seed)
        path = written(data, folder, str(seed))
        policy, reward = POLICIES[seed % 3], ("outcome", "margin")[seed // 2 % 2]
        played.append(Record(data, policy, seed, num_players=2 + seed // 3 % 3, tables=path, reward=reward))
    return played


def test_games_end_by_the_rules_well_before_the_cap_after_17_turns_each(games):
    for game in games:
        now = game.nows[-1]
        assert (now["terminated"], now["truncated"]) == (True, False)
        assert now["decisions"] == len(game.taken) < (500 if game.data is DATA else 1000)
        starts = {(now["round"], now["column"], now["current_player"]) for now in game.nows[:-1]}
        turns = Counter(player for _, _, player in starts)
        assert turns == dict.fromkeys(range(game.n), 17)


def test_every_card_is_always_in_exactly_one_place(games):
    for game in games:
        copies = [card["copies"] for card in game.data["cards"]]
        for now in game.nows:
            piles = Counter(now["pile"])
            in_play = [int(kind == now["in_play"]) for kind in range(len(copies))]
            places = [*now["hands"], now["discards"], in_play, [piles[kind] for kind in range(len(copies))]]
            assert np.sum(places, axis=0).tolist() == copies


def test_whoever_is_to_move_has_more_than_pass(games):
    for game in games:
        for legal in game.legal[:-1]:
            assert legal
            assert legal != ["pass"]


def test_scores_follow_the_formula_all_along(games):
    for game in games:
        for now in game.nows:
            assert now["scores"] == by_formula(now, game.data)


def test_rewards_rank_the_players_or_pay_each_change_of_the_lead(games):
    for game in games:
        if game.game.option_values["reward"] == "outcome":
            now = game.nows[-1]
            ranked = sorted(range(game.n), key=lambda p: (-now["scores"][p], now["stack"].index(p)))
            paid = np.zeros((len(game.taken), game.n))
            paid[-1, ranked] = np.linspace(1, -1, game.n)
        else:
            scores = np.array([now["scores"] for now in game.nows], float)
            lead = scores - (scores.sum(axis=1, keepdims=True) - scores) / (game.n - 1)
            paid = np.diff(lead, axis=0) / 20
        np.testing.assert_allclose(game.rewards, paid, atol=1e-5)
