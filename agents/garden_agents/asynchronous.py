"""Policies that wait, for example for a model behind a network, and are asked about many games at once."""

from __future__ import annotations

import asyncio
import functools
import os
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np

from garden_agents.programs import GameNumbers
from garden_core.batch.batch import Batch
from garden_core.checks import as_integer

Choose = Callable[[dict[str, Any], int], Awaitable[int]]
"""`async def choose(view, game_id) -> action`; view is `Game.seat_view`, with the legal actions."""


class AsyncPolicy:
    """A coroutine function as a policy, which chooses in many games at the same time.

    All calls run in one event loop in a thread of its own, so that clients can keep their connections.

    Args:
        choose: `async def choose(view, game_id) -> action`. `view` is what the player to move may know, `Game.seat_view`;
            the action is the number of one of its `legal` actions. `game_id` distinguishes the games.
        limit: largest number of calls at the same time, at least 1.

    Raises:
        ValueError: for a limit below 1.

    Example:
        >>> from garden_agents import AsyncPolicy, load_agent, meet
        >>> from garden_core import make
        >>> async def first(view, game_id):
        ...     return view["legal"][0]["action"]
        >>> game = make("cacti")
        >>> agents = AsyncPolicy(first), load_agent("greedy", game)
        >>> meet(game, ("first", "greedy"), agents, games=20).win_rate < 0.5
        True
    """

    def __init__(self, choose: Choose, limit: int = 32) -> None:
        self.choose, self.limit = choose, as_integer(limit, "limit", "at least 1", 1)
        self._games = GameNumbers()

    def __call__(self, batch: Batch, rows: np.ndarray) -> np.ndarray:
        """Return an action, int64 (len(rows),), for the player to move in each of `rows`; raises what `choose` raises."""
        seats = batch.current_player[rows].tolist()
        views = [batch.game.seat_view(batch.states[row], seat) for row, seat in zip(rows, seats, strict=True)]
        numbers = [self._games.of(batch, int(row)) for row in rows]
        answers = asyncio.run_coroutine_threadsafe(self._choose_all(views, numbers), _event_loop(os.getpid()))
        try:
            return np.array(answers.result(), np.int64)
        finally:
            answers.cancel()  # after Ctrl-C

    async def _choose_all(self, views: list[dict[str, Any]], numbers: list[int]) -> list[int]:
        free = asyncio.Semaphore(self.limit)

        async def choose(view: dict[str, Any], number: int) -> int:
            async with free:
                return await self.choose(view, number)

        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(choose(*each)) for each in zip(views, numbers, strict=True)]
        except ExceptionGroup as errors:
            raise errors.exceptions[0] from None
        return [task.result() for task in tasks]


@functools.cache
def _event_loop(process: int) -> asyncio.AbstractEventLoop:
    """Return the event loop of a process, which runs in a thread: threads do not survive a fork."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, daemon=True).start()
    return loop
