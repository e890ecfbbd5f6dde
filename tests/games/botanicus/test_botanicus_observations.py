"""What a player of Botanicus sees, and what is redrawn that none sees."""

import itertools
import random
from collections import Counter

import numpy as np
import pytest
from botanicus_tools import (
    ANIMAL_1,
    ASKED,
    COPIES,
    DATA,
    KEYS,
    KINDS,
    M4U,
    MONEY_3,
    PLANT_1,
    PLANT_2,
    PLANT_3,
    POLICIES,
    WALK_5,
    WATER_2,
    Table,
    changed,
    choose,
    mine,
    of,
    position,
    put,
    written,
)

from garden_core.jit import kernels

# --- what a player sees ---


def parts(table, seat, text):
    """The parts of the observation of a seat whose meaning contains `text`, one after another."""
    seen, at, out = table.observation(seat).tolist(), 0, []
    for part in table.game.observation_parts:
        if text in part.meaning:
            out.append(seen[at : at + part.size])
        at += part.size
    assert at == len(seen)
    return out


def one_hot(place, size):
    return [int(i == place) for i in range(size)]


def positions(games, data=DATA, **options):
    """Tables at random decisions of random games."""
    for seed in range(games):
        table = Table(num_players=2 + seed % 3, **options).deal(seed)
        rng = random.Random(seed)
        while not table.over:
            if rng.random() < 0.15:
                yield table
            table.take(choose(POLICIES[seed % 3], rng, table.legal))
        yield table


def seat_seen(now, p):
    """What the rules let everybody see of a player, in its order."""
    garden, seen = now["gardens"][p], []
    for level in garden:
        seen += one_hot(level - 1, 4)
    seen += one_hot(now["gardeners"][p], 12)
    seen += [now["coins"][p], now["points"][p] // 2, now["animals"][p], sum(now["hands"][p])]
    for node in now["tracks"][p]:
        seen += one_hot(node, 10)
    seen += now["basic_done"][p] + now["special_done"][p]
    for row, task in enumerate(now["tasks"][p]):
        if task < 0:
            seen += [0] * 6
        else:
            plants, points = DATA["special"][task].values()
            seen += [*plants, points, int(sum(plants) <= sum(DATA["beds"][row]))]
    space = next((s for s, there in enumerate(now["flowers"]) if p in there), None)
    height = 0 if space is None else now["flowers"][space].index(p) + 1
    seen += [*one_hot(space, 4), height, now["stack"].index(p) + 1]
    return [min(int(x), 127) for x in seen]


@pytest.mark.many_games
def test_an_observation_tells_of_every_seat_from_the_own_one_on():
    for table in positions(9):
        now, n = table.now, table.game.num_players
        for seat in range(n):
            assert [*itertools.chain(*parts(table, seat, "own seat"))] == seat_seen(now, seat)
            for i in (1, 2, 3):
                seen = [*itertools.chain(*parts(table, seat, f"seat {i} after it"))]
                assert seen == (seat_seen(now, (seat + i) % n) if i < n else [0] * len(seen))


@pytest.mark.many_games
def test_an_observation_tells_of_the_table():
    kinds = {}
    for table in positions(9):
        now, seat = table.now, table.now["current_player"]
        padded = [0, 0, 0]
        assert parts(table, seat, "own hand, by kind") == [now["hands"][seat] + padded]
        assert parts(table, seat, "discards, by kind") == [now["discards"] + padded]
        assert parts(table, seat, "cards in the pile") == [[len(now["pile"]), now["round"], now["column"]]]
        assert parts(table, seat, "prizes by stack")[0] in (
            [x for stack in now["prizes"] for x in ([*stack, 0][0], len(stack))],
            [[*stack, 0][0] for stack in now["prizes"]] + [len(stack) for stack in now["prizes"]],
        )
        assert parts(table, seat, "number of players") == [[table.game.num_players]]
        if now["asked"] == "over":
            continue
        assert parts(table, seat, "what is asked") == [one_hot(ASKED.index(now["asked"]), len(ASKED) - 1)]
        kind, left = now["hand_action"] or (None, 0)
        at_hand = [int(kind == k) for k in KINDS] + [left, now["steps_taken"]]
        assert parts(table, seat, "the action at hand") == [at_hand]
        pending = Counter()
        for k, n in itertools.chain(*now["pending"]):
            pending[k] += n
        assert parts(table, seat, "pending actions") == [[pending[k] for k in KINDS]]
        if now["round"] < 3:
            spaces = parts(table, seat, "spaces of the current")[0]
            size = len(spaces) // 4
            for s, what in enumerate(DATA["board"][now["column"] - 1]):
                kind, n = what.split()
                *hot, amount, there = spaces[size * s : size * (s + 1)]
                assert (sum(hot), amount, there) == (1, int(n), len(now["flowers"][s]))
                assert kinds.setdefault(kind, hot) == hot
        tiles = parts(table, seat, "tiles")[0]
        size = len(tiles) // 16
        sides = [*DATA["tiles"]["spotted"], *DATA["tiles"]["striped"]]
        for i, (place, space) in enumerate(itertools.product(range(4), range(4))):
            *hot, amount = tiles[size * i : size * (i + 1)]
            kind, n = sides[now["tiles"][place][space]][now["round"] > 1].split()
            if now["covered"][place][space]:
                assert not any(hot) + amount
            else:
                assert (sum(hot), amount) == (1, int(n))
                assert kinds.setdefault(f"tile {kind}", hot) == hot
    assert len(set(map(str, kinds.values()))) >= 11


def test_the_next_column_is_seen_with_no_flowers_there():
    for column in range(1, 8):
        table = mine(column=column, flowers=[[1], [2], [], []], started=2, stack=[1, 2, 0])
        spaces = parts(table, 0, "spaces of the next")[0]
        size = len(spaces) // 4
        following = mine(column=column + 1)
        assert spaces == parts(following, 0, "spaces of the current")[0]
        assert [spaces[size * s + size - 1] for s in range(4)] == [0] * 4


def test_larger_values_are_capped_at_127():
    table = mine(coins=300, points=500)
    assert parts(table, 0, "own seat: coins") == [[127, 127, 0, 0]]
    assert table.scores[0] == 600


def test_hidden_hands_and_the_pile_are_not_seen_by_others():
    one = position(num_players=3, stack=[0, 1, 2], hands=[[WATER_2], [PLANT_1, WALK_5], [ANIMAL_1]], seed=1)
    other = position(num_players=3, stack=[0, 1, 2], hands=[[WATER_2], [ANIMAL_1, PLANT_2], [WALK_5]], seed=1)
    assert one.now["pile"] != other.now["pile"]
    assert (one.observation(0) == other.observation(0)).all()
    assert (one.observation(1) != other.observation(1)).any()
    assert (one.observation(2) != other.observation(2)).any()
    shorter = position(num_players=3, stack=[0, 1, 2], hands=[[WATER_2], [ANIMAL_1], [WALK_5]], seed=1)
    assert (shorter.observation(0) != other.observation(0)).any()  # the size of a hand is seen


def test_tasks_not_yet_assigned_are_seen_by_all_from_the_own_seat_on():
    table = Table(num_players=3).deal(6)
    first = table.now["stack"][0]
    table.take("assign 2").take("assign 0")
    for seat in range(3):
        seen = np.reshape(parts(table, seat, "dealt tasks yet to be assigned")[0], (4, 5, 5)).tolist()
        assert seen[3] == [[0] * 5] * 5  # nobody sits there
        for i in range(3):
            owner = (seat + i) % 3
            for j, task in enumerate(table.now["dealt"][owner]):
                plants, points = DATA["special"][task].values()
                given = owner == first and j in (0, 2)
                assert seen[i][j] == ([0] * 5 if given else [*plants, points])
    while table.now["asked"] == "assign":
        table.take(table.legal[0])
    assert not any(parts(table, 0, "dealt tasks yet to be assigned")[0])


def test_the_observation_is_laid_out_as_the_reading_has_it():
    table = Table(num_players=3).deal(6)
    assert table.observation(0).shape == (1224,)
    assert table.observation(0)[1223] == 3
    assert table.observation(1)[1123:1223].tolist() == parts(table, 1, "dealt tasks yet to be assigned")[0]


def test_assigned_tasks_are_public():
    table = Table(num_players=3).deal(6)
    second = table.now["stack"][1]
    before = table.observation(second)
    table.take("assign 2")
    assert (table.observation(second) != before).any()


# --- redrawing ---


def redrawn(table, seat, seed):
    other = table.copy()
    kernels.resample(other.state, other.params, seat, seed)
    return other


@pytest.mark.many_games
def test_redrawing_changes_nothing_that_the_seat_sees():
    differs = Counter()
    for table in positions(9):
        now = table.now
        for seat in range(table.game.num_players):
            other = redrawn(table, seat, now["decisions"])
            after = other.now
            assert (other.observation(seat) == table.observation(seat)).all()
            if table.to_move == seat:
                assert other.legal == table.legal
            for key in KEYS.split():
                if key not in ("hands", "pile"):
                    assert after[key] == now[key]
                differs[key] += after[key] != now[key]
            assert after["hands"][seat] == now["hands"][seat]
            assert [sum(hand) for hand in after["hands"]] == [sum(hand) for hand in now["hands"]]
            assert len(after["pile"]) == len(now["pile"])
            cards = [
                np.sum([*x["hands"], np.bincount(np.array(x["pile"], int), minlength=9)], axis=0).tolist()
                for x in (now, after)
            ]
            assert cards[0] == cards[1]
    assert {key for key, times in differs.items() if times} == {"hands", "pile"}


@pytest.mark.many_games
def test_redrawn_hands_and_piles_are_fair():
    table = position(num_players=3, stack=[0, 1, 2], hands=[[ANIMAL_1], [WALK_5], [WATER_2]])
    held, tops = Counter(), Counter()
    for seed in range(2000):
        now = redrawn(table, 0, seed).now
        held[now["hands"][1].index(1)] += 1
        tops[now["pile"][0]] += 1
    for drawn in (held, tops):
        for kind, copies in enumerate(COPIES):
            mean = 2000 * (copies - (kind == ANIMAL_1)) / 17
            assert abs(drawn[kind] - mean) <= 5 * mean**0.5


def test_redrawing_gives_another_future():
    table = mine(
        column=4, pile=[], discards=[PLANT_1] * 3 + [WATER_2] * 3 + [PLANT_3, MONEY_3, WALK_5, ANIMAL_1]
    )
    futures = {str(put(redrawn(table, 0, seed), "flower 2").now["pile"]) for seed in range(20)}
    assert len(futures) > 10


@pytest.mark.many_games
def test_redrawn_positions_play_on():
    rng = random.Random(1)
    for table in itertools.islice(positions(3), 0, None, 6):
        other = redrawn(table, 0, 5)
        while not other.over:
            other.take(rng.choice(other.legal))
        assert other.now["terminated"]


def test_a_stack_of_fewer_prizes_than_are_left_out_is_empty(tmp_path):
    table = mine(num_players=2, pieces=(M4U, 0, 0), tables=written(changed(prizes__money=[50]), tmp_path))
    assert table.now["prizes"] == [[], [16, 12, 8, 4]]
    assert sorted(parts(table, 0, "prizes by stack")[0]) == [0, 0, 4, 16]
    table.take("flower 2").take("advance upper")
    assert of(table, "points") == 1
    assert table.now["prizes"] == [[], [16, 12, 8, 4]]
    assert sorted(parts(table, 1, "prizes by stack")[0]) == [0, 0, 4, 16]
