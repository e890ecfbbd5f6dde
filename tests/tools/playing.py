"""Batches and positions of games in play, and where a part of an observation is."""

from garden_core import Batch
from garden_core.batch.policies import RandomPolicy


def dealt(game, rows=1, seed=1, **settings):
    """Return a batch of new games."""
    batch = Batch(game, rows, **settings)
    batch.reset(seed)
    return batch


def in_play(game, rows=8, decisions=40, seed=0, **settings):
    """Return a batch after random decisions in every row."""
    batch, policy = dealt(game, rows, seed, **settings), RandomPolicy(seed)
    for _ in range(decisions):
        batch.step(policy(batch, batch.all_rows))
    return batch


def positions(game, seed, every=1):
    """Yield the states of a random game: every so many decisions, and the last one."""
    batch, policy = dealt(game, 1, seed, autoreset=False), RandomPolicy(seed)
    while not (batch.terminated[0] or batch.truncated[0]):
        if batch.states["decisions"][0] % every == 0:
            yield batch.states[0].copy()
        batch.step(policy(batch, batch.all_rows))
    yield batch.states[0].copy()
