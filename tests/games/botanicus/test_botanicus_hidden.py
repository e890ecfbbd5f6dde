"""Hidden information in Botanicus [10]: no seat sees more than a player at the table, and redrawing is fair."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from botanicus_tools import PLANT_1, PLANT_2, PLANT_3, POLICIES, WATER_2, Table, choose, position
from statistics_tools import assert_uniform

pytestmark = pytest.mark.many_games


def positions(games):
    """Yield tables at random decisions and at the end of random games with 2 to 4 players."""
    for seed in range(games):
        table = Table(num_players=2 + seed % 3, cards_shown=("places", "values")[seed % 2]).deal(seed)
        rng = random.Random(seed)
        while True:
            if rng.random() < 0.06 or table.now["asked"] == "assign" or table.over:
                yield table
            if table.over:
                break
            table.take(choose(POLICIES[2 - seed % 2], rng, table.legal))


def views(table, seat, picture=True):
    return (
        table.observation(seat).tobytes(),
        table.game.text(table.state, seat),
        table.game.svg(table.state, seat) if picture else None,
        table.legal if table.to_move == seat else None,
        table.scores,
        table.standings,
    )


def test_redrawing_changes_nothing_that_the_seat_sees():
    changed = Counter()
    for number, table in enumerate(positions(12)):
        for seat in range(table.game.num_players):
            other = table.resampled(seat, number)
            picture = number % 10 == 0
            assert views(other, seat, picture) == views(table, seat, picture)
            before, after = table.now, other.now
            for key in before:
                changed[key] += before[key] != after[key]
            assert [sum(hand) for hand in after["hands"]] == [sum(hand) for hand in before["hands"]]
            assert all_cards(after) == all_cards(before)
            assert bool(other.legal) == bool(table.legal)
    assert {key for key, times in changed.items() if times} == {"hands", "pile"}


def all_cards(now):
    cards = Counter(now["pile"])
    for hand in [*now["hands"], now["discards"]]:
        cards += Counter(dict(enumerate(hand)))
    return cards


def test_a_seat_sees_its_own_hand():
    table = position(hands=[[WATER_2], [PLANT_1]])
    for seat in range(2):
        other = table.copy()
        other.state["hand"][seat] = np.roll(other.state["hand"][seat], 1)
        assert views(other, seat)[:2] != views(table, seat)[:2]


def test_every_seat_sees_all_tasks_from_the_deal_on():
    """[10.2]."""
    table = Table(num_players=3).deal(1)
    spare = min(set(range(20)).difference(*table.now["dealt"]))
    for owner, j in itertools.product(range(3), range(5)):
        other = table.copy()
        other.state["dealt"][owner, j] = spare
        for seat in range(3):
            seen = zip(
                views(other, seat)[:3], views(table, seat)[:3], strict=True
            )  # observation, text, picture
            assert all(one != two for one, two in seen)
            assert table.game.seen(table.now, seat)["dealt"] == table.now["dealt"]


def test_an_onlooker_sees_every_hand():
    table = position(hands=[[WATER_2, WATER_2], [PLANT_1]])
    assert "cards: 2 water (x2)" in table.game.text(table.state)
    assert "cards: 3 plant I" in table.game.text(table.state)
    own = table.game.text(table.state, 1)
    assert "cards: 2 hidden" in own
    assert "cards: 3 plant I" in own


# --- every arrangement of the hidden cards, equally often ---


def test_redrawing_reaches_every_arrangement_equally_often():
    """Four cards are hidden, two of them alike: two in the pile and two in the other's hand."""
    table = position(hands=[[WATER_2], [PLANT_2, PLANT_1]], pile=[PLANT_3, PLANT_3])
    drawn = Counter()
    for seed in range(12_000):
        now = table.resampled(0, seed).now
        hand = tuple(kind for kind, n in enumerate(now["hands"][1]) for _ in range(n))
        drawn[hand, tuple(now["pile"])] += 1
    orders = Counter()
    for cards in itertools.permutations([PLANT_2, PLANT_1, PLANT_3, PLANT_3]):
        orders[tuple(sorted(cards[:2])), cards[2:]] += 1
    assert_uniform(drawn, orders)
