"""Agents for tests, named by import path: `own_agents:first_legal`."""

import os
import zlib

import numpy as np

from garden_core import GreedyPolicy, RandomPolicy
from garden_core.batch.policies import FORFEIT


def first_legal(game, seed):
    """Take the first legal action."""
    return lambda batch, rows: batch.action_mask[rows].argmax(1)


def last_legal(game, seed):
    """Take the last legal action."""
    return lambda batch, rows: batch.action_mask.shape[1] - 1 - batch.action_mask[rows, ::-1].argmax(1)


def illegal(game, seed):
    """Take an illegal action."""
    return lambda batch, rows: batch.action_mask[rows].argmin(1)


def raising(game, seed):
    """Fail."""
    return lambda batch, rows: 1 / 0


def sampling(game, seed):
    """Sample from the pretrained network."""
    from garden_agents import load

    return load(game, seed=seed, sampled=True)


def boasting(game, seed):
    """Take the first legal action with more than certainty."""

    class Boaster:
        def with_probabilities(self, batch, rows):
            return batch.action_mask[rows].argmax(1), np.full(len(rows), 1.5)

        def __call__(self, batch, rows):
            return self.with_probabilities(batch, rows)[0]

    return Boaster()


def quitting(game, seed):
    """Give up every fourth game after a few decisions."""

    def choose(batch, rows):
        up = (rows % 4 == 0) & (batch.states["decisions"][rows] > 3)
        return np.where(up, FORFEIT, batch.action_mask[rows].argmax(1))

    return choose


def quitting_all(game, seed):
    """Give up every game at once."""
    return lambda batch, rows: [FORFEIT] * len(rows)


def dying(game, seed):
    """End the process."""
    return lambda batch, rows: os._exit(1)


def by_checksum(game, seed):
    """Take a legal action that is a function of the whole observation."""

    def choose(batch, rows):
        legal = [np.flatnonzero(mask) for mask in batch.action_mask[rows]]
        sums = [zlib.crc32(seen.tobytes()) for seen in batch.observation[rows]]
        return np.array([actions[number % len(actions)] for actions, number in zip(legal, sums, strict=True)])

    return choose


def change_weights(path, game):
    """Change the network in a file."""
    import msgspec
    from garden_agents.networks.architecture import Architecture
    from garden_agents.networks.network_agent import NetworkAgent, save_network

    agent = NetworkAgent.load(path, game)
    agent.network.parameters[-1] += 1
    architecture = msgspec.convert(agent.config["network"], Architecture)
    save_network(path, game, agent.network, architecture, agent.value_target, {})


def guiding(game, seed, value=0.0, last=False):
    """Take the last legal action, or the first; its `evaluate` is sure of it, and gives every position the same value."""

    class Guide:
        def evaluate(self, observation, mask):
            probabilities = np.zeros(mask.shape, np.float32)
            probabilities[range(len(mask)), self.chosen(mask)] = 1
            return probabilities, np.full(len(mask), value, np.float32)

        def chosen(self, mask):
            return mask.shape[1] - 1 - mask[:, ::-1].argmax(1) if last else mask.argmax(1)

        def __call__(self, batch, rows):
            return self.chosen(batch.action_mask[rows])

    return Guide()


def one_of_two(game, seed):
    """Play greedily or at random, by the seed: of two such agents, neither is stronger before they are made."""
    return (RandomPolicy if seed % 2 else GreedyPolicy)(seed)
