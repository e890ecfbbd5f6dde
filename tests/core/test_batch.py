"""Batch, played with the toy game: rows, seeds, steps, ends, copies, errors that change nothing."""

import copy
import pickle

import numpy as np
import pytest
from pig import HOLD, ROLL, Pig
from playing import dealt

from garden_core import Batch, kernels
from garden_core.jit import rng


def rows_of(batch):
    return [batch.states[row].tobytes() for row in range(batch.num_envs)]


def everything(batch):
    return {name: value.tobytes() for name, value in vars(batch).items() if isinstance(value, np.ndarray)}


def play(batch, steps, seed=0):
    choose = np.random.default_rng(seed)
    for _ in range(steps):
        batch.step([int(choose.choice(np.flatnonzero(mask))) for mask in batch.action_mask])


def pig_batch(n=4, autoreset=True, seed=1, **options):
    return dealt(Pig(**options), n, seed, autoreset=autoreset)


def test_seeds():
    batch = pig_batch(4, seed=5)
    first = rows_of(batch)
    assert len(set(first)) == 4
    batch.reset(seed=np.uint64(5))
    assert rows_of(batch) == first, "the same seed deals the same games"
    batch.reset(seed=6)
    assert not set(rows_of(batch)) & set(first)
    batch.reset(seed=[5, 5, 9, 5])
    assert rows_of(batch)[0] == rows_of(batch)[1] == first[0], "a seed of its own makes a row row 0"
    assert rows_of(batch)[2] != first[0]
    batch.reset(seed=[5], rows=[2])
    assert rows_of(batch)[2] == first[0]
    batch.reset(seed=2**64 - 1)
    assert len(set(rows_of(batch))) == 4


def test_reset_without_seed_goes_on():
    batch = pig_batch(3, seed=5)
    first = rows_of(batch)
    batch.reset()
    second = rows_of(batch)
    assert not set(second) & set(first)
    batch.reset(seed=5)
    batch.reset()
    assert rows_of(batch) == second, "by the same seed with the same games"
    direct = Pig().new_states(1)
    kernels.deal(direct[0], Pig().params[0], rng.game_seed(np.uint64(5), np.uint64(2), np.uint64(1)))
    assert second[2] == direct.tobytes(), "game 1 of row 2"
    one, other = Batch(Pig(), 2), Batch(Pig(), 2)
    one.reset()
    other.reset()
    assert rows_of(one) != rows_of(other), "the first time from a random seed"


@pytest.mark.parametrize("rows", [[1, 3], np.array([1, 3]), np.array([False, True, False, True])], ids=repr)
def test_reset_and_step_of_some_rows_leave_the_others(rows):
    batch = pig_batch(4)
    play(batch, 5)
    before = rows_of(batch)
    batch.reset(rows=rows)
    assert [row for row in range(4) if rows_of(batch)[row] == before[row]] == [0, 2]
    assert batch.states["decisions"].tolist() == [5, 0, 5, 0]
    batch.step([ROLL, ROLL], rows=rows)
    assert batch.states["decisions"].tolist() == [5, 1, 5, 1]


@pytest.mark.parametrize(
    ("actions", "rows", "message"),
    [
        ([ROLL, HOLD, ROLL], None, r"row 1: action 1 \('hold'\) is illegal; legal are 'roll'"),
        ([ROLL, HOLD], [0, 2], r"row 2: action 1 \('hold'\) is illegal"),
        ([ROLL, ROLL, 2], None, r"row 2: action 2 does not exist \(0 to 1\)"),
        ([ROLL, ROLL], None, r"shape \(3,\), one for each row, not \(2,\)"),
        ([0.0, 0.0, 0.0], None, "integers, not float64"),
        ([ROLL, ROLL], [1, 1], "only once"),
    ],
)
def test_wrong_actions_are_named_and_change_nothing(actions, rows, message):
    batch = pig_batch(3)
    before = everything(batch)
    with pytest.raises(ValueError, match=message):
        batch.step(actions, rows=rows)
    assert everything(batch) == before


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64, np.int64])
def test_actions_of_any_integer_type(dtype):
    batch = pig_batch(3)
    batch.step(np.zeros(3, dtype))
    assert batch.states["decisions"].tolist() == [1, 1, 1]


def play_until_one_ends(batch):
    """Hold whenever possible; return the rows that have just ended."""
    while True:
        batch.step([HOLD if mask[HOLD] else ROLL for mask in batch.action_mask])
        ended = np.flatnonzero(batch.terminated | batch.truncated)
        if len(ended):
            return ended


def test_autoreset_deals_the_next_game_in_the_same_step():
    """`check_game` compares that game, and the finished one, with the kernels' games."""
    batch = pig_batch(5, goal=10, seed=3)
    row = play_until_one_ends(batch)[0]
    assert batch.terminated[row]
    assert batch.states["decisions"][row] == 0
    assert sorted(batch.rewards[row].tolist()) == [-1, 1]
    winner = int(batch.rewards[row].argmax())
    seen = batch.observe(winner, batch.last_states)[row]
    assert seen[0] >= 10, "any seat's last view can be made"
    batch.step([np.flatnonzero(mask)[0] for mask in batch.action_mask])
    assert not batch.terminated[row], "only the last step counts"
    assert not batch.rewards[row].any()


def test_without_autoreset_a_finished_row_waits():
    batch = pig_batch(5, autoreset=False, goal=10, seed=3)
    row = int(play_until_one_ends(batch)[0])
    assert batch.action_mask[row].tolist() == [1, 1], "something to choose from for a masked policy"
    assert batch.states[row].tobytes() == batch.last_states[row].tobytes()
    before = everything(batch)
    with pytest.raises(ValueError, match=rf"row {row}: the game is over; reset\(rows=\[{row}\]\) first"):
        batch.step([np.flatnonzero(mask)[0] for mask in batch.action_mask])
    assert everything(batch) == before
    batch.reset(rows=[row])
    assert not batch.terminated[row]
    assert not batch.rewards[row].any()
    assert batch.states["decisions"][row] == 0
    assert batch.action_mask[row].tolist() == [1, 0]


def test_refresh_after_writing_states():
    batch, other = pig_batch(3), pig_batch(3, seed=9)
    play(other, 4)
    batch.states[1] = other.states[2]
    batch.refresh()
    assert np.array_equal(batch.observation[1], other.observation[2])
    assert np.array_equal(batch.action_mask[1], other.action_mask[2])
    assert batch.current_player[1] == other.current_player[2]


@pytest.mark.parametrize(
    "copied",
    [Batch.clone, copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))],
    ids=["clone", "deepcopy", "pickle"],
)
def test_copies_play_on_alike_and_apart(copied):
    batch = pig_batch(4, goal=20)
    play(batch, 10)
    other = copied(batch)
    before = everything(batch)
    assert everything(other) == before
    play(other, 60, seed=8)
    assert everything(batch) == before, "the original does not change"
    play(batch, 60, seed=8)
    assert everything(other) == everything(batch), "and alike, over several games"


def test_history_holds_the_decisions_of_the_present_games():
    batch, choose = dealt(Pig(goal=100), 3, history=True), np.random.default_rng(0)
    kept, longest = [[], [], []], 0
    for step in range(600):  # in a third of the steps one row waits
        rows = batch.all_rows if step % 3 else batch.all_rows[:2]
        actions = np.array([choose.choice([ROLL, HOLD], p=[0.1, 0.9]) for _ in rows])
        actions = np.where(batch.action_mask[rows, actions], actions, batch.action_mask[rows].argmax(1))
        for row, action in zip(rows, actions, strict=True):
            kept[row].append((batch.states[row].tobytes(), action))
        batch.step(actions, rows)
        longest = max(longest, *map(len, kept))
        for row in rows:
            if batch.terminated[row] or batch.truncated[row]:
                kept[row] = []
        for row in batch.all_rows:
            states, taken = batch.history.of(row)
            assert [(s.tobytes(), a) for s, a in zip(states, taken, strict=True)] == kept[row]
    assert longest > 64  # which was the first room of the history
    other = batch.clone()
    play(other, 1)
    assert batch.history.of(0)[1].tolist() == [action for _, action in kept[0]]
    batch.reset(rows=[0])
    assert len(batch.history.of(0)[1]) == 0
    assert batch.history.of(1)[1].tolist() == [action for _, action in kept[1]]
    assert pig_batch().history is None
