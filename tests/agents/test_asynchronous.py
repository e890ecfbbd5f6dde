"""Coroutines as policies."""

import asyncio

import numpy as np
import pytest
from garden_agents import AsyncPolicy
from own_agents import first_legal
from playing import dealt

from garden_core import RandomPolicy, make, record

GAME = make("cacti")


async def first(view, game_id):
    return view["legal"][0]["action"]


def test_a_coroutine_plays_as_its_policy_would():
    games = [
        record(GAME, [policy, RandomPolicy(1)], seed=2)
        for policy in (AsyncPolicy(first), first_legal(GAME, 0))
    ]
    assert games[0].actions == games[1].actions


@pytest.mark.parametrize(("limit", "most"), [(32, 10), (3, 3)])
def test_calls_run_at_the_same_time(limit, most):
    running, counts = 0, []

    async def choose(view, game_id):
        nonlocal running
        running += 1
        counts.append(running)
        await asyncio.sleep(0.01)
        running -= 1
        return await first(view, game_id)

    batch = dealt(GAME, 10)
    actions = AsyncPolicy(choose, limit)(batch, np.arange(10))
    assert max(counts) == most
    assert (actions == batch.action_mask.argmax(1)).all()


def test_only_what_the_player_may_know_is_shown():
    batch, views = dealt(GAME, 3), []

    async def choose(view, game_id):
        views.append((view, game_id))
        return await first(view, game_id)

    policy = AsyncPolicy(choose)
    policy(batch, np.array([2]))
    policy(batch, np.array([1]))
    expected = [GAME.seat_view(batch.states[row], int(batch.current_player[row])) for row in (2, 1)]
    assert views == [(expected[0], 0), (expected[1], 1)]


def test_an_error_ends_all_calls():
    cancelled = []

    async def choose(view, game_id):
        if view["seat"] == 0 and not cancelled:
            cancelled.append(False)
            raise ConnectionError("no answer")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    batch = dealt(GAME, 4)
    with pytest.raises(ConnectionError, match="no answer"):
        AsyncPolicy(choose)(batch, batch.all_rows)
    assert cancelled == [False, True, True, True]


def test_it_plays_inside_a_running_event_loop():
    """As in a notebook."""

    async def main():
        batch = dealt(GAME, 2)
        return AsyncPolicy(first)(batch, batch.all_rows)

    assert len(asyncio.run(main())) == 2


def test_wrong_limits_are_refused():
    with pytest.raises(ValueError, match="limit must be at least 1"):
        AsyncPolicy(first, limit=0)
