"""`memory="history"`: observations also hold public counts of what each player took and left."""

import random

import numpy as np
import pytest
from cacti_tools import POLICIES, Table, choose, made_up, position
from data_tools import written

from cacti_env import Cacti
from garden_core import RandomPolicy, Replay, record

pytestmark = pytest.mark.many_games


def count(table, label, before, counts):
    """Add an action to the counts of taken and left things, from the labels and the position alone."""
    cards, player = table.game.cards, before["current_player"]
    grown, passed_by, not_planted = counts
    if label in ("take card", "leave card"):
        return
    for t, name in enumerate(cards.types):
        if label == f"grow {name}":
            grown[player][t] += 1
        elif before["middle"][t]:
            passed_by[player][t] += 1
    names = [f"plant basic {k} {half}" for k in range(len(cards.basic)) for half in ("upper", "lower")]
    for number, (half, name) in enumerate(zip(cards.halves, [*names, "plant starting"], strict=True)):
        holds = all(have >= asked for have, asked in zip(before["nurseries"][player], half.cost, strict=True))
        if label != name and holds:
            not_planted[player][number] += 1


@pytest.mark.parametrize("packaged", [True, False])
def test_counts_follow_the_public_actions(packaged, tmp_path):
    for seed in range(40):
        options = {} if packaged else {"cards": written(tmp_path, made_up(seed))}
        table, plain = Table(memory="history", **options).deal(seed), Table(**options).deal(seed)
        types, halves = len(table.game.cards.types), len(table.game.cards.halves)
        counts = [[[0] * width for _ in range(2)] for width in (types, types, halves)]
        rng = random.Random(seed)
        while not table.over:
            label, before = choose(POLICIES[seed % 3], rng, table.legal), table.now
            count(table, label, before, counts)
            table.take(label)
            plain.take(label)
            now = table.now
            assert [now[name] for name in ("grown", "passed_by", "not_planted")] == counts
            assert {key: now[key] for key in plain.now} == plain.now
            for seat in (0, 1):
                seen = [n for whose in (seat, 1 - seat) for part in counts for n in part[whose]]
                np.testing.assert_array_equal(table.observation(seat), [*plain.observation(seat), *seen])


def test_a_memory_of_one_turn():
    """Barrels are grown in answer to prickly pears; the Special comes after two turns of the other kind."""
    table = position(
        memory="history",
        middle=[0, 0, 1, 2],
        nurseries=[[3], [0, 1, 2, 3]],
        hands=[["starting"], ["starting", 0]],
        deck=[3, 3, 3, 3, 3, 3, 3],
        arrangement_deck=[5],
    )
    table.take("grow prickly pear").take("grow barrel")
    now = table.now
    assert now["grown"] == [[0, 1, 0, 0], [1, 0, 0, 0]]
    assert now["passed_by"] == [[1, 0, 1, 0], [0, 0, 1, 0]]
    halves = len(
        table.game.cards.halves
    )  # the Starting Arrangement is the last, which seat 1 could have planted
    assert now["not_planted"] == [[0] * halves, [0] * (halves - 1) + [1]]


def test_counts_stop_where_an_entry_ends():
    table = Table(memory="history").deal(0)
    table.state["passed_by"][:] = 127
    table.take(table.legal[0])
    assert set(np.ravel(table.now["passed_by"])) == {127}


def test_it_is_an_option_of_one_game():
    """Options change in both directions; states, views and snapshots follow the option."""
    plain, remembering = Cacti(), Cacti(memory="history")
    assert plain == Cacti(memory="none") != remembering
    assert repr(remembering) == "Cacti(memory='history')"
    assert remembering.with_options(memory="none") == plain
    assert plain.with_options(memory="history") == remembering
    assert remembering.with_options(memory="none").observation_shape == plain.observation_shape
    assert type(plain) is type(remembering)
    assert remembering.observation_parts[: len(plain.observation_parts)] == plain.observation_parts
    table = Table().deal(1)
    for _ in range(20):
        table.take(table.legal[0])
    assert not any(table.state[name].any() for name in ("grown", "passed_by", "not_planted"))


def test_a_replay_of_it_is_a_replay_of_the_same_game(tmp_path):
    game = Cacti(memory="history")
    record(game, [RandomPolicy(1), RandomPolicy(2)], seed=1).save(tmp_path / "game.json")
    assert Replay.load(tmp_path / "game.json").game == game


@pytest.mark.parametrize(("written", "read"), [("none", "history"), ("history", "none")])
def test_a_position_of_the_other_option_is_refused(written, read):
    snapshot = Cacti(memory=written).snapshot(Table(memory=written).deal(0).state)
    with pytest.raises(ValueError, match="grown"):
        Cacti(memory=read).from_snapshot(snapshot)
