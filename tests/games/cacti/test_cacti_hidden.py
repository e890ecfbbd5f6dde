"""Hidden information in Cacti [6]: no seat sees more than a player at the table, and redrawing is fair."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from cacti_tools import POLICIES, Table, choose, made_up, position
from data_tools import written
from statistics_tools import assert_uniform

pytestmark = pytest.mark.many_games


def positions(games, folder=None):
    """Yield tables at random decisions and at the end of random games, with other cards where a folder is given."""
    for seed in range(games):
        options = {"cards": written(folder, made_up(seed))} if folder else {}
        table = Table(**options).deal(seed)
        rng = random.Random(seed)
        while True:
            if rng.random() < 0.3 or table.over:
                yield table
            if table.over:
                break
            table.take(choose(POLICIES[seed % 3], rng, table.legal))


def views(table, seat):
    """Return all that a seat sees; the picture, which is slow to draw, at every fifth decision."""
    return (
        table.observation(seat).tobytes(),
        table.game.text(table.state, seat),
        table.game.svg(table.state, seat) if table.now["decisions"] % 5 == 0 else None,
        table.legal if table.to_move == seat else None,
        table.rewards,
    )


@pytest.mark.parametrize("packaged", [True, False])
def test_redrawing_changes_nothing_that_the_seat_sees(packaged, tmp_path):
    changed = Counter()
    for table in positions(20, None if packaged else tmp_path):
        for seat in range(2):
            other = table.resampled(seat, table.now["decisions"])
            assert views(other, seat) == views(table, seat)
            before, after = table.now, other.now
            for key in before:
                changed[key] += before[key] != after[key]
            assert Counter(after["deck"]) == Counter(before["deck"])
            assert bool(other.legal) == bool(table.legal)
            hidden = after["arrangement_deck"] + after["basic_in_hand"][1 - seat]
            assert sorted(hidden) == sorted(before["arrangement_deck"] + before["basic_in_hand"][1 - seat])
    redrawn = {key for key, times in changed.items() if times}
    assert redrawn == {"deck", "arrangement_deck", "basic_in_hand", "bonus", "scores"}


def test_an_empty_arrangement_deck_has_no_top():
    for deck, top in (([], []), ([3, 0], [3])):
        table = position(middle=[0], arrangement_deck=deck)
        shown = table.observation(0)[table.game.observation_slices["open arrangement"]]
        assert np.flatnonzero(shown).tolist() == top


def test_an_onlooker_sees_every_card_and_a_seat_its_own():
    table = position(
        middle=[0] * 5, deck=[3, 2], hands=[["starting", 4], [7]], arrangement_deck=[1, 2], bonus=(2, 3)
    )
    text = table.game.text(table.state)
    for words in (
        "next: star, saguaro",
        "basic 4:",
        "basic 7:",
        "Bonus Planter: saguaro",
        "Bonus Planter: star",
    ):
        assert words in text
    own = table.game.text(table.state, 1)
    assert "basic 7:" in own
    assert "basic 4:" not in own
    assert "legal" not in own  # the other's legal actions would reveal its hand
    assert "legal" in table.game.text(table.state, 0)


# --- every arrangement of the hidden cards, equally often ---


def hidden(table, seat):
    now = table.now
    return (
        tuple(now["deck"]),
        tuple(now["arrangement_deck"][1:]),
        tuple(now["basic_in_hand"][1 - seat]),
        now["bonus"][1 - seat],
    )


DRAWS = 20_000


@pytest.mark.parametrize("seat", [0, 1])
def test_redrawing_reaches_every_arrangement_equally_often(seat):
    hands = [["starting", 5], [8]] if seat == 0 else [[8], ["starting", 5]]
    bonus = (2, 0) if seat == 0 else (0, 2)
    table = position(middle=[0] * 5, deck=[0, 1, 2, 3], hands=hands, arrangement_deck=[3, 6, 10], bonus=bonus)
    drawn = Counter(hidden(table.resampled(seat, seed), seat) for seed in range(DRAWS))
    decks = list(itertools.permutations(range(4)))
    arrangements = [(cards[:2], cards[2:]) for cards in itertools.permutations([6, 8, 10])]
    possible = [(deck, *cards, bonus) for deck in decks for cards in arrangements for bonus in (0, 1, 3)]
    assert_uniform(drawn, dict.fromkeys(possible, 1))


@pytest.mark.parametrize(
    ("asked", "current", "seat"),
    [("action", 0, 0), ("action", 1, 1), ("last_card", 0, 1), ("last_card", 1, 0)],
)
def test_a_hand_that_allows_no_action_is_drawn_too(asked, current, seat):
    """Unless its owner has to act: here the middle is empty and no hand can plant anything."""
    table = position(
        middle=[], hands=[[5], [8]], arrangement_deck=[3, 6], active=current, asked=asked, last_turn=True
    )
    drawn = Counter(tuple(table.resampled(seat, s).now["basic_in_hand"][1 - seat]) for s in range(1000))
    assert_uniform(drawn, {(6,): 1, ([8, 5][seat],): 1})


def test_several_bonus_planters_of_a_type_count_each(tmp_path):
    data = made_up(0)
    data["bonus"] = [0, 0, 1, 0]
    table = Table(cards=written(tmp_path, data)).deal(3)
    table.state["bonus"][:] = (0, 0)
    drawn = Counter(table.resampled(0, seed).now["bonus"][1] for seed in range(6000))
    assert set(drawn) == {0, 1}
    assert drawn[1] / 6000 == pytest.approx(1 / 3, abs=0.03)


def test_a_seat_that_must_respond_holds_a_card_that_can_be_planted():
    """The middle is empty, so that seat 1 can respond by its hand alone."""
    table = position(
        middle=[],
        deck=[0] * 9,
        nurseries=[[], [2, 2, 2, 3, 3]],
        hands=[["starting", 0], [8]],
        arrangement_deck=[1, 10, 3, 11],
        active=0,
        asked="response",
        current=1,
    )
    halves = {k: [half.cost for half in table.game.cards.halves[2 * k : 2 * k + 2]] for k in (3, 8, 10, 11)}
    possible = [k for k, costs in halves.items() if any(np.all(np.array(c) <= [0, 0, 3, 2]) for c in costs)]
    assert possible == [8, 11]
    drawn = Counter()
    for seed in range(DRAWS // 4):
        other = table.resampled(0, seed)
        assert other.legal
        drawn[hidden(other, 0)[1:3]] += 1
    arrangements = [(cards[:3], cards[3:]) for cards in itertools.permutations([3, 8, 10, 11])]
    assert_uniform(drawn, dict.fromkeys([cards for cards in arrangements if cards[1][0] in possible], 1))
