"""Hidden information in Botanicus: nobody sees what a player at the table could not, and redrawing is fair."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from botanicus_tools import POLICIES, Table, choose, position
from statistics_tools import assert_uniform

from garden_core import kernels

pytestmark = pytest.mark.many_games


def positions(games):
    """Yield tables at random decisions, and over, of random games with 2 to 4 players."""
    for seed in range(games):
        table = Table(num_players=2 + seed % 3).deal(seed)
        rng = random.Random(seed)
        while True:
            if rng.random() < 0.06 or table.now["asked"] == "assign" or table.over:
                yield table
            if table.over:
                break
            table.take(choose(POLICIES[2 - seed % 2], rng, table.legal))


def resampled(table, seat, seed):
    other = table.copy()
    kernels.resample(other.state, other.params, seat, seed)
    return other


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
            other = resampled(table, seat, number)
            picture = number % 10 == 0
            assert views(other, seat, picture) == views(table, seat, picture)
            before, after = table.now, other.now
            for key in before:
                changed[key] += before[key] != after[key]
            assert [sum(hand) for hand in after["hands"]] == [sum(hand) for hand in before["hands"]]
            assert all_cards(after) == all_cards(before)
            dealt = list(itertools.chain(*after["dealt"]))
            assert len(set(dealt)) == len(dealt)
            assert bool(other.legal) == bool(table.legal)
    assert {key for key, times in changed.items() if times} == {"hands", "pile", "dealt"}


def all_cards(now):
    cards = Counter(now["pile"])
    for hand in [*now["hands"], now["discards"]]:
        cards += Counter(dict(enumerate(hand)))
    return cards


def test_redrawing_leaves_positions_that_play_on():
    rng = random.Random(0)
    for number, table in enumerate(positions(3)):
        if number % 5 == 0:
            other = resampled(table, 0, 9)
            while not other.over:
                other.take(rng.choice(other.legal))
            assert other.now["terminated"]


def test_flipping_what_is_hidden_changes_nobody_elses_view():
    for number, table in enumerate(positions(6)):
        now, n = table.now, table.game.num_players
        for seat in range(n):
            other = table.copy()
            other.state["pile"][: len(now["pile"])] = np.roll(other.state["pile"][: len(now["pile"])], 1)
            other.state["rng"][0] ^= np.uint64(1)
            owner = (seat + 1) % n
            held = np.flatnonzero(other.state["hand"][owner])
            if len(held):
                other.state["hand"][owner, held[0]] -= 1
                other.state["hand"][owner, (held[0] + 1) % 9] += 1
            for j, task in enumerate(now["dealt"][owner]):
                if task not in now["tasks"][owner]:
                    other.state["dealt"][owner, j] = (task + 1) % 20
            assert views(other, seat, number % 10 == 0) == views(table, seat, number % 10 == 0)


def test_a_seat_sees_its_own_hand_and_tasks():
    table = position(hands=[[0], [2]])
    for seat in range(2):
        other = table.copy()
        other.state["hand"][seat] = np.roll(other.state["hand"][seat], 1)
        assert views(other, seat)[:2] != views(table, seat)[:2]
    table = Table().deal(1)
    other = table.copy()
    seat = table.to_move
    other.state["dealt"][seat] = np.roll(other.state["dealt"][seat], 1)
    assert views(other, seat)[:2] != views(table, seat)[:2]
    assert views(other, 1 - seat)[:2] == views(table, 1 - seat)[:2]


def test_an_onlooker_sees_every_hand():
    table = position(hands=[[0, 0], [2]])
    assert "cards: 2 water (x2)" in table.game.text(table.state)
    assert "cards: 3 plant I" in table.game.text(table.state)
    own = table.game.text(table.state, 1)
    assert "cards: 2 hidden" in own
    assert "cards: 3 plant I" in own


# --- every arrangement of the hidden cards, equally often ---


def test_redrawing_reaches_every_arrangement_equally_often():
    """Four cards lie in the pile and others' hands, all different but two; two of them are in the other's hand."""
    table = position(hands=[[0], [1, 2]], pile=[3, 3], discards=[])
    drawn = Counter()
    for seed in range(12_000):
        now = resampled(table, 0, seed).now
        hand = tuple(kind for kind, n in enumerate(now["hands"][1]) for _ in range(n))
        drawn[hand, tuple(now["pile"])] += 1
    orders = Counter()
    for cards in itertools.permutations([1, 2, 3, 3]):
        orders[tuple(sorted(cards[:2])), cards[2:]] += 1
    assert_uniform(drawn, orders)


def test_unassigned_tasks_are_redrawn_evenly():
    table = Table().deal(5)
    first = table.to_move
    for _ in range(4):
        table.take(table.legal[-1])  # the first player has assigned all tasks, which are public now
    assert table.to_move == 1 - first
    table.take("assign 2")
    known = {*table.now["dealt"][first], table.now["dealt"][1 - first][2]}
    drawn = Counter()
    for seed in range(6000):
        dealt = resampled(table, first, seed).now["dealt"]
        assert dealt[first] == table.now["dealt"][first]
        assert dealt[1 - first][2] == table.now["dealt"][1 - first][2]
        drawn.update(task for j, task in enumerate(dealt[1 - first]) if j != 2)
    assert_uniform(drawn, dict.fromkeys(set(range(20)) - known, 1))
    other = resampled(table, 1 - first, 7)
    assert other.now["dealt"] == table.now["dealt"]
