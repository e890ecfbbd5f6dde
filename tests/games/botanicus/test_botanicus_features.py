"""Features of Botanicus for networks: entries in a small range, and the scores if the game ended now."""

from collections import Counter

import numpy as np
import pytest
from botanicus_tools import DATA, TRACKS
from garden_agents.games import hints_of
from garden_agents.games.botanicus.features import NUM_SCORES
from garden_agents.networks.flat_network import flat_features

from botanicus_env import Botanicus
from garden_core import Batch
from garden_core.batch.policies import GreedyPolicy, RandomPolicy

POINTS_OF_ANIMALS = [*DATA["animals"], 0]
MAX_PLAYERS = 4
SEAT_SIZE, BEDS_SIZE = 172, 80  # entries of an observation for each seat, of which the first are its beds


def positions(num_players, greedy, **options):
    """Games from the deal to the end, every seventh decision: the batch, and the features of all rows."""
    game = Botanicus(num_players=num_players, **options)
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
    task, node = [4, 4, 4, 4, 16], [4, 4, *[1] * 4, *[2] * 5, 4]
    divisors = {
        "each track": [*node, *[*node, 1, 1, 1, 4, 4] * 10],
        "still come after": [*node, 2, 2, 2, 4],
        "second one left": [12],
        "by kind of Garden card": [*node, 2, 2, 2, 4],
        "points of": [16],
        "basic task by row": task,
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


def action(text):
    """Return an action's kind, with the stack for a prize, and its amount."""
    kind, amount = text.split()
    return (kind, int(amount)) if amount.isdigit() else (text, 1)


def given(kinds, actions):
    """Return the scaled amounts by kind."""
    units = dict.fromkeys(kinds, 2) | dict.fromkeys(["coins", "points", "walk", "pole"], 4)
    units |= dict.fromkeys(["animal", "card", "prize money", "prize shovel"], 1)
    amounts = dict.fromkeys(kinds, 0)
    for kind, amount in actions:
        amounts[kind] += amount / units[kind]
    return [*amounts.values()]


NODE_KINDS = ["coins", "points", "animal", "card", "prize money", "prize shovel"]
NODE_KINDS += ["plant_1", "plant_2", "plant_3", "plant_4", "water", "walk"]
KINDS = [*NODE_KINDS, *TRACKS, "pole"]


def nodes_ahead(track, here, steps):
    """Return the packaged track's nodes that so many steps lead to, or fewer at the end."""
    nodes = DATA["tracks"][track]
    names, reached = [node["name"] for node in nodes], [here]
    for _ in range(steps):
        edges = [nodes[n][edge] for n in reached for edge in ("upper", "lower") if edge in nodes[n]]
        reached = [*dict.fromkeys(names.index(edge["to"]) for edge in edges)] or reached
    return [nodes[n] for n in reached]


def test_values_stand_next_to_what_gives_them():
    """The track at hand, and what a Flower on each space gains; scores are those of the default."""
    found = Counter()
    for (batch, features), (_, default) in zip(
        positions(3, True, cards_shown="values"), positions(3, True), strict=True
    ):
        entries, scores, at_hand, spaces = np.split(features, np.cumsum([2414, NUM_SCORES, 182]), axis=1)
        np.testing.assert_allclose(entries, batch.flat / units(batch.game), rtol=1e-6)
        np.testing.assert_array_equal(scores, default[:, -NUM_SCORES:])
        tracks = entries[:, batch.game.observation_slices["tracks ahead"]].reshape(-1, 3, 182)
        for row, now in enumerate(map(batch.game.snapshot, batch.states)):
            if now["asked"] == "over":
                continue
            kind, steps = (now["hand_action"] or [None])[0], now["steps_taken"]
            expected = np.zeros(182)
            if kind in TRACKS:
                expected = tracks[row, TRACKS.index(kind)].copy()
                expected[:12] *= steps > 0
                found[kind, steps > 0] += 1
            np.testing.assert_array_equal(at_hand[row], expected)
            column, pieces = now["column"], now["tracks"][now["current_player"]]
            for space, seen in enumerate(spaces[row].reshape(4, -1)):
                empty = not now["flowers"][space]
                actions = [action(DATA["board"][column - 1][space])]
                if actions[0][0] == "pole" and not empty:
                    actions = []
                if column % 2 == 0 and not now["covered"][column // 2 - 1][space]:
                    tile = now["tiles"][column // 2 - 1][space]
                    sides = (DATA["tiles"]["spotted"] + DATA["tiles"]["striped"])[tile]
                    actions.append(action(sides[now["round"] > 1]))
                np.testing.assert_allclose(seen[:16], given(KINDS, actions), rtol=1e-6)
                track = next(((TRACKS.index(k), n) for k, n in actions if k in TRACKS), None)
                gains = np.zeros((2, 12))
                if track:
                    reached = nodes_ahead(TRACKS[track[0]], pieces[track[0]], track[1])
                    for place, node in enumerate(reached):
                        gains[place] = given(NODE_KINDS, map(action, node.get("gains", [])))
                    found["space"] += 1
                np.testing.assert_allclose(seen[16:].reshape(2, 17)[:, :12], gains, rtol=1e-6)
    assert len(found) > 5, found


def test_one_network_reads_other_tables_and_numbers_of_players():
    """Params are equal by value, for all numbers of players, and with values for all tables."""
    of = hints_of(Botanicus).features
    private = hints_of(Botanicus).private_data(1)
    assert of(Botanicus()).params == of(Botanicus(num_players=4, max_decisions=9)).params
    assert of(Botanicus()).params != of(Botanicus(**private)).params
    shown = [Botanicus(cards_shown="values", num_players=n, **cards) for n, cards in ((2, {}), (3, private))]
    assert of(shown[0]).params == of(shown[1]).params
    assert of(shown[0]).num == of(shown[1]).num
