"""The compiled kernels of Botanicus and the plain reference agree in everything, decision by decision.

The kernels play; the deal and the reshuffles are read off their snapshots and handed to the reference.
"""

import random
from collections import Counter

import numpy as np
import pytest
from botanicus_reference import BotanicusReference
from botanicus_tools import DATA, POLICIES, Table, choose, made_up
from data_tools import written

pytestmark = pytest.mark.many_games

EVENTS = (
    "reshuffle",
    "card used",
    "card sold",
    "walk for coins",
    "free walk",
    "step bought",
    "edge with a cost",
    "stop without a step",
    "piece returned",
    "choice",
    "choice forfeited",
    "gains of a node within a group",
    "Flower on an occupied space",
    "neutral Flower",
    "basic task",
    "special task",
    "prize",
    "prizes gone",
    "animal",
    "last track action",
    "last turn passed",
    "truncation",
    "level scores",
)


def play(options, data, seed, policy, met, seats_every=1):
    """Play one game on both; compare the mover's view at every decision, all seats' at every so many."""
    table = Table(**options).deal(seed)
    snapshot = table.now
    reference = BotanicusReference(
        data=data,
        **{key: snapshot[key] for key in ("stack", "tiles", "dealt", "pile")},
        **{key: value for key, value in options.items() if key != "tables"},
    )
    assert list(table.game.labels) == reference.labels
    rng = random.Random(seed)
    taken = "the deal"
    while True:
        where = f"{table.game} seed {seed} policy {policy} decision {reference.decisions} after {taken}"
        compare(table, snapshot, reference, where, reference.decisions % seats_every == 0)
        if snapshot["asked"] == "over":
            met["truncation"] += reference.truncated
            met["level scores"] += len(set(reference.scores)) < len(reference.scores)
            return
        before, taken = snapshot, choose(policy, rng, table.legal)
        snapshot = table.take(taken).now

        def shuffle(cards, now=snapshot):
            met["reshuffle"] += 1
            drawn = list(cards)
            for kind in now["pile"]:
                drawn.remove(kind)
            return drawn + now["pile"]

        reference.step(reference.labels.index(taken), shuffle)
        count(before, taken, snapshot, met)


def compare(table, snapshot, reference, where, all_seats):
    expected = reference.snapshot()
    over = expected["asked"] == "over"
    if over:
        expected["current_player"] = snapshot["current_player"]  # without meaning
    for key in snapshot.keys() | expected.keys():
        assert snapshot.get(key) == expected.get(key), f"{where}: {key}"
    assert table.legal == [table.game.labels[action] for action in reference.legal()], where
    assert table.standings == reference.standings(), where
    assert table.rewards == np.array(reference.rewards, np.float32).tolist(), where
    for seat in range(reference.num_players):
        if all_seats or over or seat == expected["current_player"]:
            seen, should = table.observation(seat), reference.observation(seat)
            assert np.array_equal(seen, should), f"{where}: seat {seat} at {np.argwhere(seen != should)[:5]}"


def count(before, taken, now, met):
    word, asked, player = taken.split()[0], before["asked"], before["current_player"]
    met["card used"] += word == "use"
    met["card sold"] += word == "sell"
    met["walk for coins"] += word == "walk" and asked == "start"
    met["free walk"] += word == "walk" and asked == "walk"
    if word == "advance":
        spent = before["coins"][player] - now["coins"][player]
        met["step bought"] += before["hand_action"][1] == 0
        met["edge with a cost"] += spent > 0 and before["hand_action"][1] > 0
    met["stop without a step"] += word == "pass" and asked == "track" and before["steps_taken"] == 0
    pieces = zip(before["tracks"][player], now["tracks"][player], strict=True)
    met["piece returned"] += any(was > 0 and is_now == 0 for was, is_now in pieces)
    met["choice"] += word == "resolve"
    met["choice forfeited"] += word == "pass" and asked == "choose"
    met["gains of a node within a group"] += len(now["pending"]) > 1
    if word == "flower":
        met["Flower on an occupied space"] += bool(before["flowers"][int(taken.split()[1])])
    met["neutral Flower"] += word == "neutral"
    for task in ("basic", "special"):
        met[f"{task} task"] += now[f"{task}_done"] != before[f"{task}_done"]
    met["prize"] += now["prizes"] != before["prizes"]
    met["prizes gone"] += [] in now["prizes"] and now["asked"] == "over"
    met["animal"] += now["animals"] != before["animals"]
    met["last track action"] += word == "resolve" and asked == "start"
    met["last turn passed"] += word == "pass" and asked == "start"


def play_many(folder, part, parts, games, files, met, seats_every):
    """Play `games` games with each number of players, and 3 with each of `files` other files; some are capped."""
    tables = [("", DATA, games)]
    for number in range(files):
        data = made_up(number)
        tables.append((written(folder, data, number), data, 1))
    for number, (path, data, times) in enumerate(tables):
        for num_players in (2, 3, 4):
            for game in range(part, times, parts) if times > 1 else range(number % parts == part):
                seed = 1000 * number + 3 * game + num_players
                options = {"num_players": num_players, "reward": ("outcome", "margin")[game % 2]}
                options["cards_shown"] = ("places", "values")[seed % 2]
                options |= {"tables": path} if path else {}
                if game % 5 == 4:
                    options["max_decisions"] = 1 + seed % 150
                play(options, data, seed, POLICIES[(game + number) % 3], met, seats_every)


PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_reference_and_kernels_agree(tmp_path, part):
    play_many(tmp_path, part, PARTS, games=24, files=8, met=Counter(), seats_every=8)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_reference_and_kernels_agree_over_many_games(tmp_path, part):
    met = Counter()
    play_many(tmp_path, part, PARTS, games=1000, files=48, met=met, seats_every=4)
    assert [event for event in EVENTS if not met[event]] == []
