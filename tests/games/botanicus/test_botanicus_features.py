"""Features of Botanicus for networks: entries in a small range, and the scores if the game ended now."""

import numpy as np
import pytest
from botanicus_tools import DATA
from garden_agents.games import hints_of
from garden_agents.games.botanicus.features import NUM_SCORES
from garden_agents.networks.flat_network import flat_features

from botanicus_env import Botanicus
from garden_core import Batch
from garden_core.batch.policies import GreedyPolicy, RandomPolicy

POINTS_OF_ANIMALS = [*DATA["animals"], 0]
MAX_PLAYERS = 4
SEAT_SIZE, BEDS_SIZE = 172, 80  # entries of an observation for each seat, of which the first are its beds


def positions(num_players, greedy):
    """Games from the deal to the end, every seventh decision: the batch, and the features of all rows."""
    game = Botanicus(num_players=num_players)
    batch = Batch(game, 6, autoreset=False)
    batch.reset(3)
    policy = GreedyPolicy(1) if greedy else RandomPolicy(1)
    decision = 0
    while len(rows := np.flatnonzero(~batch.terminated)):
        if decision % 7 == 0:
            yield batch, flat_features(hints_of(game).features(game), batch.flat)
        batch.step(policy(batch, rows), rows)
        decision += 1


def units(game):
    """Return the divisors of the entries."""
    task = [4, 4, 4, 4, 16]
    divisors = {
        "coins": [32, 64, 4, 4],
        "special task": [*task, 1] * 5,
        "Flower in": [1, 1, 1, 1, 4],
        "place in": [4],
        "by kind": [4],
        "spaces": [*[1] * 15, 4, 4] * 4,
        "tiles": [*[1] * 14, 4] * 16,
        "prizes": [12, 4] * 2,
        "pile": [16, 4, 8],
        "at hand": [*[1] * 9, 4, 4],
        "dealt": task * 5,
        "players": [4],
    }
    all_units = []
    for part in game.observation_parts:
        name = next((name for name in divisors if name in part.meaning and part.values != "0, 1"), None)
        all_units += list(np.resize(divisors[name] if name else [1], part.size))
    return np.array(all_units)


@pytest.mark.parametrize("greedy", [False, True])
@pytest.mark.parametrize("num_players", [2, 3, 4])
def test_features_are_what_a_player_would_add_up(num_players, greedy):
    highest = 0
    beds = np.ravel(DATA["beds"]).astype(bool)
    read = np.ones(Botanicus().observation_size, bool)
    for seat in range(MAX_PLAYERS):
        read[SEAT_SIZE * seat :][:BEDS_SIZE] = np.repeat(beds, 4)
    for batch, features in positions(num_players, greedy):
        entries, scores = np.split(features, [read.sum()], axis=1)
        assert not batch.flat[:, ~read].any()
        np.testing.assert_allclose(entries, (batch.flat / units(batch.game))[:, read], rtol=1e-6)
        assert entries.max() < 4
        assert scores.shape[1] == NUM_SCORES
        for row, features_of_scores in enumerate(scores):
            snapshot = batch.game.snapshot(batch.states[row])
            seats = [(snapshot["current_player"] + i) % num_players for i in range(num_players)]
            if snapshot["asked"] == "over":
                continue
            seen = [snapshot["scores"][p] - snapshot["points"][p] % 2 for p in seats]  # odd points are not
            coins = [snapshot["coins"][p] for p in seats]
            each = features_of_scores[: 4 * MAX_PLAYERS].reshape(MAX_PLAYERS, 4)
            assert (each[:num_players, 0] * 8).tolist() == seen
            animals = [POINTS_OF_ANIMALS[snapshot["animals"][p]] for p in seats]
            assert (each[:num_players, 1] * 4).tolist() == animals
            assert each[:num_players, 2:].tolist() == [[n // 3, n % 3] for n in coins]
            assert not each[num_players:].any()
            ahead = features_of_scores[4 * MAX_PLAYERS :]
            assert (ahead[: num_players - 1] * 8).tolist() == [seen[0] - other for other in seen[1:]]
            assert not ahead[num_players - 1 : -1].any()
            assert ahead[-1] * 8 == seen[0] - max(seen[1:])
            highest = max(highest, *seen)
    assert highest > 40
