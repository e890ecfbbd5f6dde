"""Whole games of Cacti: what must hold in each at all times, whatever is played.

That each decision does what the rules say is compared with the plain reference in test_cacti_agreement.py.
"""

import itertools
from collections import Counter

import numpy as np
import pytest
import tomli_w
from cacti_tools import DATA, POLICIES, Record, basics_in, counts, made_up

pytestmark = pytest.mark.many_games


def visible(now, data):
    """Each seat's points of planted Arrangements and of the Special Planter."""
    points = []
    for planted, under in zip(now["planted"], now["special"], strict=True):
        halves = [data["basic"][card[0]][card[1]] if card[1:] else data["starting"] for card in planted]
        points.append(sum(half["points"] for half in halves) + sum(under or ()))
    return points


def by_formula(now, data):
    """Each seat's score."""
    scores = visible(now, data)
    for seat, nursery in enumerate(now["nurseries"]):
        rest = [n for t, n in enumerate(nursery) if n and t != now["bonus"][seat]]
        scores[seat] += nursery[now["bonus"][seat]] - sum(rest) * len(rest)
    return scores


def lasting():
    """Cards for long games: many cacti of many types, cheap Arrangements."""
    one = [{"cost": counts([t], 6), "points": t} for t in range(6)]
    basic = [{"upper": one[k % 6], "lower": one[(k + 1) % 6]} for k in range(32)]
    types = ["a", "b", "c", "d", "e", "f"]
    return {"types": types, "count": [20] * 6, "bonus": types, "starting": one[0], "basic": basic}


def scarce():
    """The fewest cards allowed: 12 cacti of two types, two Bonus Planters of one, 3 Basic Arrangements."""
    card = {"upper": {"cost": [1, 0], "points": 1}, "lower": {"cost": [0, 2], "points": 3}}
    types, starting = ["a", "b"], {"cost": [1, 1], "points": 2}
    return {"types": types, "count": [6, 6], "bonus": ["a", "a"], "starting": starting, "basic": [card] * 3}


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """Games of every policy with the packaged cards and with others, half of them with reward="margin"."""
    folder = tmp_path_factory.mktemp("cards")
    played = []
    for i, data in enumerate([DATA, lasting(), scarce(), *map(made_up, range(10, 18))]):
        path = folder / f"{i}.toml"
        path.write_text(tomli_w.dumps(data))
        for seed, (j, policy) in itertools.product(range(12 if i < 3 else 2), enumerate(POLICIES)):
            reward = ("outcome", "margin")[(seed + j) % 2]
            options = {"cards": str(path), "reward": reward, "max_decisions": 10**6}
            played.append(Record(data, policy, seed, **options))
    return played


def test_every_card_is_always_in_exactly_one_place(games):
    for game in games:
        n = len(game.data["types"])
        for now in game.nows:
            places = [now["middle"], *now["nurseries"], counts(now["deck"], n), now["discards"]]
            places += [under for under in now["special"] if under]
            assert np.min(places) >= 0
            assert np.sum(places, axis=0).tolist() == game.data["count"]
            assert basics_in(now) == list(range(len(game.data["basic"])))
            for planted, in_hand in zip(now["planted"], now["starting_in_hand"], strict=True):
                assert planted.count(["starting"]) == 1 - in_hand


def test_scores_follow_the_formula_all_along(games):
    for game in games:
        for now in game.nows:
            assert now["scores"] == by_formula(now, game.data)


def test_outcome_pays_1_0_or_minus_1_at_the_end_and_margin_what_all_can_see(games):
    for game in games:
        now = game.nows[-1]
        if game.game.option_values["reward"] == "outcome":
            planters = [now["nurseries"][p][now["bonus"][p]] + sum(now["special"][p] or ()) for p in range(2)]
            own, other = zip(now["scores"], planters, strict=True)
            paid = np.zeros(len(game.taken))
            paid[-1] = (own > other) - (own < other)
        else:
            leads = [np.subtract(*visible(now, game.data)) for now in game.nows[:-1]]
            paid = np.diff([*leads, np.subtract(*now["scores"])]) / 10
        np.testing.assert_allclose(game.rewards, np.stack([paid, -paid], axis=1), atol=1e-6)


def test_games_end_by_the_rules_within_the_longest_length_told(games):
    longest = Counter()
    for game in games:
        now = game.nows[-1]
        assert (now["terminated"], now["truncated"]) == (True, False)
        assert now["decisions"] == len(game.taken) <= game.game.max_game_length
        longest[game.data is DATA] = max(longest[game.data is DATA], len(game.taken))
    assert longest[True] < 200  # which is the cap if none is chosen
    assert longest[False] > 60


def test_the_last_turn_is_the_second_players_and_comes_once(games):
    met = Counter()
    for game in games:
        turns = [now["active_player"] for now in game.nows[:-1] if now["last_turn"]]
        assert set(turns) <= {1}
        assert len(turns) <= 3
        met[game.nows[-1]["last_turn"]] += 1
    assert min(met[True], met[False]) > 10
