"""The compiled kernels of Cacti and the plain reference agree in everything, decision by decision.

The kernels play; the deal and the reshuffle are read off their snapshots and handed to the reference.
"""

import random
from collections import Counter

import numpy as np
import pytest
from cacti_reference import CactiReference
from cacti_tools import DATA, POLICIES, Table, choose, made_up
from data_tools import written

pytestmark = pytest.mark.many_games

EVENTS = (
    "response by growing",
    "response by planting",
    "response skipped",
    "special",
    "planted from the hand",
    "planted from the deck",
    "starting planted",
    "turn without an opening card",
    "opening card taken in the last turn",
    "opening card left in the last turn",
    "response in the last turn",
    "end after the second player's turn",
    "end by the last turn",
    "truncation",
    "level scores",
    "true tie",
)


def play(options, data, seed, policy, met):
    """Play one game on both, comparing everything at every decision."""
    table = Table(**options).deal(seed)
    snapshot = table.now
    deck, nursery = list(snapshot["deck"]), snapshot["nurseries"][0]
    deck.insert(0, nursery.index(1))  # the opening card of the first turn
    reference = CactiReference(
        data=data,
        deck=deck,
        **{key: snapshot[key] for key in ("middle", "bonus", "basic_in_hand", "arrangement_deck")},
        **{key: value for key, value in options.items() if key != "cards"},
    )
    assert list(table.game.labels) == reference.labels
    rng = random.Random(seed)
    taken = "the deal"
    while True:
        where = f"{table.game} seed {seed} policy {policy} decision {reference.decisions} after {taken}"
        compare(table, snapshot, reference, where)
        if reference.terminated or reference.truncated:
            assert reference.decisions <= table.game.max_game_length, where
            count_end(reference, met)
            return
        legal = table.legal
        before, taken = snapshot, choose(policy, rng, legal)
        snapshot = table.take(taken).now

        def shuffle(cards, now=snapshot):
            drawn = list(cards)
            for t in now["deck"]:
                drawn.remove(t)
            return drawn + now["deck"]  # cards in the middle came first

        reference.step(reference.labels.index(taken), shuffle)
        count(before, taken, snapshot, met)


def compare(table, snapshot, reference, where):
    expected = reference.snapshot()
    if expected["asked"] == "over":
        expected["current_player"] = snapshot["current_player"]  # without meaning
    for key in snapshot.keys() | expected.keys():
        assert snapshot.get(key) == expected.get(key), f"{where}: {key}"
    assert table.legal == [table.game.labels[action] for action in reference.legal()], where
    assert table.standings == reference.standings(), where
    assert table.rewards == np.array(reference.rewards, np.float32).tolist(), where
    for seat in range(2):
        seen, should = table.observation(seat), reference.observation(seat)
        assert np.array_equal(seen, should), f"{where}: seat {seat} at {np.argwhere(seen != should)[:5]}"


def count(before, taken, now, met):
    player = before["current_player"]
    if before["asked"] == "response":
        met["response by planting" if taken.startswith("plant") else "response by growing"] += 1
        met["response in the last turn"] += before["last_turn"]
    elif taken.startswith("grow"):
        met["response skipped"] += now["asked"] != "response"
    met["special"] += taken.startswith("special")
    met["starting planted"] += taken == "plant starting"
    if taken.startswith(("plant basic", "plant hand", "plant open")):
        from_hand = before["basic_in_hand"][player] != now["basic_in_hand"][player]
        met["planted from the hand" if from_hand else "planted from the deck"] += 1
    met["opening card taken in the last turn"] += taken == "take card"
    met["opening card left in the last turn"] += taken == "leave card"
    passed = now["asked"] == "action" and now["active_player"] != before["active_player"]
    met["turn without an opening card"] += passed and not before["deck"]


def count_end(reference, met):
    met["truncation"] += reference.truncated
    met["end by the last turn"] += reference.terminated and reference.last_turn
    met["end after the second player's turn"] += reference.terminated and not reference.last_turn
    met["level scores"] += len(set(reference.scores)) == 1
    met["true tie"] += len(set(reference.standings())) == 1


def play_many(folder, part, parts, games, files, met):
    """Play `games` games on the packaged cards and 10 on each of `files` other files; every seventh is capped."""
    tables = [(None, DATA, games)]
    for number in range(files):
        data = made_up(number)
        tables.append((written(folder, data, number), data, 10))
    for path, data, times in tables:
        for seed in range(part, times, parts):
            options = {"cards": path} if path else {}
            if seed % 7 == 6:
                options["max_decisions"] = 1 + seed % 30
            options["reward"] = ("outcome", "margin")[seed // 2 % 2]
            options["cards_shown"] = ("places", "values")[seed // 4 % 2]
            play(options, data, seed, POLICIES[seed % 3], met)


def test_reference_and_kernels_agree(tmp_path):
    met = Counter()
    play_many(tmp_path, 0, 1, games=400, files=12, met=met)
    assert [event for event in EVENTS[:-1] if not met[event]] == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_reference_and_kernels_agree_over_many_games(tmp_path, part):
    met = Counter()
    play_many(tmp_path, part, 4, games=6000, files=200, met=met)
    assert [event for event in EVENTS[:-1] if not met[event]] == []
