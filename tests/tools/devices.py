"""Batches and learners on a device: digests of their arrays, call by call."""

import copy
import hashlib
import pickle

import numpy as np
from variants import GAMES, shortened, variants

from garden_core import Batch
from garden_core.batch.learner import Learner
from garden_core.batch.policies import GreedyPolicy, RandomPolicy, ask

OWN = ["connect_four:ConnectFour", "pig:Pig", "tic_tac_toe:TicTacToe"]
"""Games of third parties, by where their class is."""
CAP = 20
"""Decisions in a game, so that games end and others are dealt."""


def cases():
    """Names and options of games: every variant, and third parties' games."""
    return [(name, options) for name in GAMES for options in variants(name)] + [(name, {}) for name in OWN]


def host(array):
    """Return an array of either device as one of NumPy."""
    return array.copy_to_host() if hasattr(array, "copy_to_host") else array


def digest_of_arrays(*arrays):
    """Return a digest of arrays."""
    seen = hashlib.sha256()
    for array in arrays:
        array = np.ascontiguousarray(host(array))
        seen.update(repr(array.shape).encode() + array.tobytes())
    return seen.hexdigest()


def digest(batch, *more):
    """Return a digest of a batch and of more arrays."""
    return digest_of_arrays(*batch.arrays, batch.observation, *more)


def played(name, options, device, rows=3, steps=2 * CAP, cap=CAP, look=1):
    """Play at random and greedily on a device; yield the name of each call, or of every `look`th step, and a digest."""
    game = shortened(name, cap, **options)
    batch = Batch(game, rows, device=device)
    policies = [RandomPolicy(5), GreedyPolicy(6)]
    batch.reset(7)
    yield "reset", digest(batch)
    for step in range(steps):
        actions = policies[step % 8 == 3](batch, batch.all_rows)
        batch.step(actions)
        if step % look == 0:
            yield f"step {step}", digest(batch)
    other = batch.clone()
    states = [host(batch.states)[row].copy() for row in (0, rows - 1)]
    batch.reset([3, 4], rows=[rows - 1, 0])
    yield "reset of two rows", digest(batch)
    batch.reset(rows=np.arange(rows) == 1)
    yield "reset of a row", digest(batch)
    batch.set_states([0, rows - 1], states)
    yield "set_states", digest(batch)
    batch.step(policies[0](batch, np.array([rows - 1])), rows=[rows - 1])
    yield "step of a row", digest(batch)
    batch.step(pickle.loads(pickle.dumps(policies[0]))(batch, batch.all_rows))
    yield "step by a copy of a policy", digest(batch)
    rows_there, seats_there = (batch.target.put(np.array(numbers)) for numbers in ([rows - 1], [0] * rows))
    answer = ask(policies[0], batch, rows_there, may_forfeit=True)
    batch.step(answer, rows=rows_there)
    yield "step of a row that the device names", digest(batch)
    yield "seats on the device", digest_of_arrays(batch.observe(seats_there))
    yield "clone", digest(other)
    other.refresh()
    yield "refresh", digest(other)
    for seat in range(game.num_players):
        yield f"seat {seat}", digest_of_arrays(batch.observe(seat))
    seats = np.arange(rows) % game.num_players
    yield "seats at last states", digest_of_arrays(batch.observe(seats, batch.last_states))
    standings = batch.target.zeros((rows, game.max_players), np.int32)
    batch.target.standings(batch.last_states, standings)
    yield "standings", digest_of_arrays(standings)
    yield "refused", refused(batch)


def learned(name, options, device, rows=3, steps=CAP // 2, cap=CAP, look=1):
    """Play a learner's seat on a device; yield the name of each call and a digest."""
    game = shortened(name, cap, **options)
    learner = Learner(game, rows, ("random", "greedy"), (3, 1), device=device)
    learner.reset(8)
    yield "reset", digest_of(learner)
    for step in range(steps):
        learner.step(host(learner.action_mask).argmax(1))
        if step % look == 0:
            yield f"step {step}", digest_of(learner)
    other = copy.deepcopy(learner)
    learner.set_weights((0, 1))
    learner.reset([2], rows=[rows - 1])
    learner.step(host(learner.action_mask).argmax(1))
    yield "reset of a row", digest_of(learner)
    yield "last decision", str(learner.last_decision(rows - 1))
    yield "copy", digest_of(other)
    other.step(host(other.action_mask).argmax(1))
    yield "step of the copy", digest_of(other)


SHOWN = [
    "rewards",
    "terminated",
    "truncated",
    "capped",
    "final_observation",
    "seats",
    "final_seats",
    "drawn",
    "final_drawn",
]


def digest_of(learner):
    """Return a digest of a learner."""
    return digest(learner.batch, *(getattr(learner, name) for name in SHOWN))


def refused(batch):
    """Return the message about an action that does not exist, and whether the batch is unchanged."""
    before = digest(batch)
    try:
        batch.step(np.full(batch.num_envs, batch.game.num_actions))
    except ValueError as error:
        return f"{error}; {digest(batch) == before}"
    raise AssertionError("an illegal action was taken")
