"""Compile games ahead of use: `garden warm-up [GAME ...]`, or `warm_up()` in code."""

from __future__ import annotations

import time

import numpy as np

from garden_core.batch.batch import Batch
from garden_core.batch.learner import Learner
from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.interfaces import pettingzoo_env
from garden_core.jit import loops
from garden_core.registry import list_games, make


def warm_up(*names: str) -> dict[str, float]:
    """Compile the kernels and loops of the games called `names` (default: all installed ones).

    Machine code is stored in the cache folder, so later processes start at once. Returns the seconds per game.

    Raises:
        ValueError: for a game that is not installed.
    """
    seconds = {}
    for name in names or list_games():
        start = time.perf_counter()
        game = make(name)
        env = pettingzoo_env.env(game)
        env.reset(seed=0)
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
        batch = Batch(game, 2)
        batch.reset(0)
        for policy in (RandomPolicy(), GreedyPolicy()):
            batch.step(policy(batch, batch.all_rows))
        batch.observe(0)
        loops.random_play(*batch.rows, game.params, 1, True, np.ones((2, 4), np.uint64))
        learner = Learner(game, 1)
        learner.reset(0)
        learner.step(learner.action_mask.argmax(1))
        seconds[name] = time.perf_counter() - start
    return seconds
