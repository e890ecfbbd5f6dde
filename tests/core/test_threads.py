"""Rows shared among threads: the same results for any number, after a fork too, and nothing left half done."""

import multiprocessing
import threading

import numpy as np
import pytest
from pig import Pig
from playing import dealt

from botanicus_env import Botanicus
from cacti_env import Cacti
from garden_core import Learner, RandomPolicy
from garden_core.batch.threads import PARTS_A_THREAD, ROWS_A_PART, share

ROWS = 3 * PARTS_A_THREAD * ROWS_A_PART + 1


def played(threads, steps=60):
    """Return everything that a batch of Cacti shows after some random steps."""
    batch, random = dealt(Cacti(), ROWS, 7, threads=threads), RandomPolicy(5)
    for _ in range(steps):
        batch.step(random(batch, batch.all_rows))
    batch.reset(rows=np.arange(0, ROWS, 2))
    return [
        array.tobytes() for array in (*batch.arrays, batch.observe(1), batch.observe(0, batch.last_states))
    ]


def test_results_are_the_same_for_any_number_of_threads():
    assert played(1) == played(3) == played(8)


@pytest.mark.parametrize("game", [Pig(num_players=3), Botanicus()], ids=lambda game: game.name)
def test_a_learner_meets_the_same_games_for_any_number_of_threads(game):
    seen = []
    for threads in (1, 3):
        learner = Learner(game, ROWS, ["random", "greedy"], threads=threads)
        learner.reset(3)
        for _ in range(8):
            learner.step(learner.action_mask.argmax(1))
        seen.append((learner.observation, learner.rewards, learner.batch.states))
    np.testing.assert_equal(*seen)


def test_parts_cover_the_rows_once_on_as_many_threads():
    parts, threads = [], {}
    meeting = threading.Barrier(3)

    def work(part, index):
        if index not in threads:
            threads[index] = threading.get_ident()
            meeting.wait(10)
        assert threads[index] == threading.get_ident()
        parts.append((part.start, part.stop))

    share(work, ROWS, 3)
    assert sorted(threads) == [0, 1, 2]
    assert len(set(threads.values())) == 3
    n = 3 * PARTS_A_THREAD
    assert sorted(parts) == [(ROWS * i // n, ROWS * (i + 1) // n) for i in range(n)]


def test_calls_from_several_threads_do_not_mix():
    counts = np.zeros((4, ROWS), np.int64)

    def call(number):
        def work(part, index):
            counts[number, part] += 1

        for _ in range(100):
            share(work, ROWS, 3)

    callers = [threading.Thread(target=call, args=(number,)) for number in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert (counts == 100).all()


def test_few_rows_stay_on_the_calling_thread():
    called = []
    share(lambda part, index: called.append((part, index, threading.get_ident())), 2 * ROWS_A_PART - 1, 4)
    assert called == [(slice(0, 2 * ROWS_A_PART - 1), 0, threading.get_ident())]


@pytest.mark.parametrize("failing", [0, 1])
def test_an_error_waits_for_the_other_threads(failing):
    working, done = threading.Barrier(3), []

    def work(part, index):
        working.wait(10)
        if index == failing:
            raise KeyboardInterrupt
        threading.Event().wait(0.05)
        done.append(index)

    with pytest.raises(KeyboardInterrupt):
        share(work, ROWS, 3)
    assert sorted([*done, failing]) == [0, 1, 2]


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.filterwarnings(r"ignore:os.fork\(\) was:RuntimeWarning")  # JAX's, if imported before
@pytest.mark.parametrize("method", multiprocessing.get_all_start_methods())
def test_another_process_has_threads_of_its_own(method):
    expected = played(2, 3)
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.apply_async(played, (2, 3)).get(60) == expected
