"""Policies are independent of a game's chance, also with the same seed."""

import numpy as np
import pytest
from coin import TURNS, Coin
from garden_agents import MCTSAgent, NetworkAgent
from garden_agents.networks.architecture import Architecture, new_network
from garden_agents.networks.heads import target_of
from garden_agents.training.pool import PastSelf

from garden_core import Batch, GreedyPolicy, Learner, RandomPolicy
from garden_core.batch.policies import NETWORK_STREAM, Streams

SEED, ROWS = 7, 1000
GAME = Coin()


def network(sampled=True):
    target = target_of(GAME)
    return NetworkAgent(new_network(GAME, Architecture("flat", 4, 8), target, 2), target, sampled, SEED)


def past_self():
    one = PastSelf(SEED)
    one.network = network().network
    return one


POLICIES = {
    "random": lambda: RandomPolicy(SEED),
    "greedy": lambda: GreedyPolicy(SEED),
    "search": lambda: MCTSAgent(8, seed=SEED),
    "network": network,
    "search by a network": lambda: MCTSAgent(8, network=network(), seed=SEED),
    "past self": past_self,
}


def check_luck(right, guesses):
    """Check that this many right guesses are luck, within five standard deviations."""
    assert abs(right - guesses / 2) < 5 * np.sqrt(guesses) / 2


@pytest.mark.parametrize("seeds", [SEED, [SEED] * 5 + list(range(ROWS - 5))], ids=["a seed", "seeds"])
@pytest.mark.parametrize("kind", POLICIES)
def test_no_policy_knows_the_coin(kind, seeds):
    batch, policy = Batch(GAME, ROWS, autoreset=False), POLICIES[kind]()
    batch.reset(seeds)
    first = policy(batch, batch.all_rows)
    batch.step(first)
    check_luck(batch.states["right"].sum(), ROWS)
    for _ in range(2 * TURNS - 1):
        batch.step(policy(batch, batch.all_rows))
    check_luck(batch.states["right"].sum(), 2 * TURNS * ROWS)


@pytest.mark.parametrize("kind", ["random", "greedy"])
def test_no_compiled_opponent_knows_the_coin(kind):
    learner = Learner(GAME, ROWS, kind, seat=0, autoreset="disabled")
    learner.reset(SEED)
    for _ in range(TURNS):
        learner.step(np.zeros(ROWS, np.int64))
    check_luck(learner.batch.states["right"].sum(), 2 * TURNS * ROWS)


def test_streams_are_all_different():
    batch = Batch(GAME, 100)
    batch.reset(SEED)
    streams = [
        batch.states["rng"],
        *(Streams(purpose, SEED).on(batch) for purpose in range(NETWORK_STREAM + 1)),
    ]
    streams.append(Streams(0, SEED + 1).on(batch))
    assert len(np.unique(np.concatenate(streams), axis=0)) == 100 * len(streams)


def test_streams_grow_and_are_reseeded():
    small, large = Batch(GAME, 2), Batch(GAME, 4)
    one, other = Streams(0, SEED), Streams(0, SEED)
    one.on(small)[0] += 1  # a number was drawn
    assert (one.on(large)[1:] == other.on(large)[1:]).all()
    assert (one.on(large)[0] != other.on(large)[0]).any()
    for stream in (one, other):
        stream.reseed(np.array([0, 3]), np.array([5, 6], np.uint64))
    assert (one.on(large) == other.on(large)).all()
    assert (one.on(large)[3] != Streams(0, SEED).on(large)[3]).any()
