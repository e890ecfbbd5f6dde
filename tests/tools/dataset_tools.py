"""Datasets of a few games."""

import numpy as np

from garden_core.batch.policies import GreedyPolicy, RandomPolicy
from garden_core.recorded.dataset import Dataset, Record
from garden_core.recorded.replay import record


def dataset_of(replays, agents=("someone",), lineups=None):
    """Return a dataset of finished games, all played by the first agent unless `lineups` says otherwise."""
    game = replays[0].game
    actions = [[game.labels.index(label) for label in replay.actions] for replay in replays]
    if lineups is None:
        lineups = np.zeros((len(replays), game.num_players), np.int64)
    seeds = np.array([replay.seed for replay in replays], np.uint64)
    lengths = np.array([len(taken) for taken in actions])
    return Dataset(game, agents, Record(seeds, lengths, np.concatenate(actions), lineups), seed=7)


def played(game, games=3):
    """Return replays of random games, and of one in which player_0 is greedy."""
    replays = [record(game, [RandomPolicy(seed)] * game.num_players, seed) for seed in range(games - 1)]
    return [*replays, record(game, [GreedyPolicy(), *[RandomPolicy()] * (game.num_players - 1)], games)]
