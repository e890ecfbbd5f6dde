"""`cards_shown="values"`: observations and actions show what Arrangements cost and score, not their places in the file."""

import copy
import random

import numpy as np
import pytest
from cacti_tools import DATA, POLICIES, Table, choose, made_up, position
from data_tools import written

from cacti_env import Cacti
from garden_core import Batch, RandomPolicy, Replay, record
from garden_core.jit import kernels

VALUES = {"cards_shown": "values"}


def game_of(folder, data, number=0, **options):
    return Cacti(cards=written(folder, data, number), **VALUES, **options)


def renamed(snapshot, places):
    """Return a snapshot in which Basic Arrangement k of the file is at places[k]."""
    new = copy.deepcopy(snapshot)
    for hand in new["basic_in_hand"]:
        hand[:] = [places[k] for k in hand]
    new["arrangement_deck"] = [places[k] for k in new["arrangement_deck"]]
    for planted in new["planted"]:
        planted[:] = [half if half == ["starting"] else [places[half[0]], half[1]] for half in planted]
    return new


def shown(game, state):
    """Return all that agents are shown: what both seats see, what is hidden from them, the legal actions."""
    out = []
    for seat in range(2):
        for size, kernel in (
            (game.observation_size, kernels.observe),
            (game.hidden_size, kernels.observe_hidden),
        ):
            out.append(np.zeros(size, np.int8))
            kernel(state, game.params[0], seat, out[-1])
    mask = np.zeros(game.num_actions, np.int8)
    kernels.legal_actions(state, game.params[0], mask)
    return [part.tolist() for part in (*out, mask)]


@pytest.mark.parametrize("seed", range(12))
def test_the_order_in_the_file_changes_nothing(seed, tmp_path):
    """Also of cards that are equal: a file of every second seed has each card twice."""
    data = made_up(seed) if seed else DATA
    data = data | {"basic": [card for card in data["basic"][:16] for _ in range(1 + seed % 2)]}
    n, rng = len(data["basic"]), random.Random(seed)
    places = rng.sample(range(n), n)
    moved = data | {"basic": [data["basic"][places.index(place)] for place in range(n)]}
    table = Table(cards=written(tmp_path, data), **VALUES).deal(seed)
    other = game_of(tmp_path, moved, 1)
    assert other.params == table.game.params
    while not table.over:
        state = other.from_snapshot(renamed(table.now, places))
        assert shown(other, state) == shown(table.game, table.state)
        table.take(choose(POLICIES[seed % 3], rng, table.legal))


def test_every_value_is_shown(tmp_path):
    """After the deal each Arrangement is in the hand, on the deck or unseen; a change of any number is shown to each seat."""
    game = game_of(tmp_path, DATA)
    snapshot = Table(**VALUES).deal(3).now
    before = shown(game, game.from_snapshot(snapshot))
    for k in (None, *range(len(DATA["basic"]))):
        for half in ("upper", "lower") if k is not None else (None,):
            for t in (*range(4), None):
                data = copy.deepcopy(DATA)
                card = data["starting"] if k is None else data["basic"][k][half]
                if t is None:
                    card["points"] += 1
                else:
                    card["cost"][t] += 1
                other = game_of(tmp_path, data, 1)
                after = shown(other, other.from_snapshot(snapshot))
                for seat in (0, 1):
                    assert after[2 * seat] != before[2 * seat], (k, half, t)
                    open_to_both = k is None or k in snapshot["arrangement_deck"][:1]
                    hidden = not open_to_both and k not in snapshot["basic_in_hand"][seat]
                    assert (after[2 * seat + 1] != before[2 * seat + 1]) == hidden, (k, half, t)
    for key, value in (("count", [13, 11, 12, 12]), ("bonus", [0, 1, 2, 3, 3])):
        table = Table(cards=written(tmp_path, DATA | {key: value}, 2), **VALUES).deal(1)
        part = {"count": "cacti", "bonus": "bonus planters"}[key]
        numbers = value if key == "count" else np.bincount(value).tolist()
        assert table.observation(0)[table.game.observation_slices[part]].tolist() == numbers


def test_shapes_are_those_of_the_numbers_of_types_and_arrangements(tmp_path):
    other = DATA | {"count": [20, 1, 9, 16], "bonus": [1, 1, 1, 0, 2], "basic": DATA["basic"][::-1]}
    batch = Batch([Cacti(**VALUES), game_of(tmp_path, other)], 2)  # which refuses other shapes
    assert batch.observation.shape == (2, 197)
    assert batch.games[1].hidden_size == 4 + 10 + 80 + 120
    assert (batch.games[1].num_actions, Cacti(**VALUES).num_actions) == (15, 15)


def test_actions_name_what_is_offered():
    """In legal actions, descriptions and pictures; an onlooker's picture has both hands, of which one can be clicked."""
    for player, other in ((0, 1), (1, 0)):
        table = position(
            middle=[0] * 5,
            nurseries=[[0, 0, 0, 1, 2, 3]] * 2,
            hands=[["starting", 4], ["starting", 7]],
            deck=[1] * 9,
            arrangement_deck=[5, 0],
            active=player,
            **VALUES,
        )
        table.state["basic_in_hand"][:] = table.state["arrangement_deck"][0] = 9
        table.state["arrangement_deck"][1] = table.game.file_places.index(0)
        table.state["basic_in_hand"][player] = table.game.file_places.index(2)
        plants = [label for label in table.legal if "plant" in label]
        assert plants == ["plant hand upper", "plant open upper", "plant starting"]
        for label, words in (
            ("plant hand upper", "discard 2 barrel + 1 star, 3 points"),
            ("plant open upper", "discard 2 barrel + 1 prickly pear, 3 points"),
        ):
            assert table.described(label) == f"{label}: {words}"
            clicked = f'data-action="{table.game.labels.index(label)}"'
            for seat in (player, None):
                assert table.game.svg(table.state, seat, legal=True).count(clicked) == 1
        after = table.copy().take("plant open upper").now
        assert after["planted"][player] == [[0, "upper"]]
        assert [len(hand) for hand in after["basic_in_hand"]] == [1, 1]
        table.take("plant hand upper")
        assert table.now["planted"] == [[[2, "upper"]], []][:: 1 - 2 * player]
        assert [len(table.now["basic_in_hand"][seat]) for seat in (player, other)] == [0, 1]


def test_memory_counts_types_alone():
    game = Cacti(memory="history", **VALUES)
    names = [part.name for part in game.observation_parts[-4:]]
    assert names == [
        f"{seat}: {what}" for seat in ("observer", "opponent") for what in ("grown", "not grown")
    ]
    table = Table(memory="history", **VALUES).deal(2)
    plain = Table(memory="history").deal(2)
    rng = random.Random(1)
    for _ in range(15):  # none of which plants, so that the other cards of the other game do not matter
        label = rng.choice([label for label in table.legal if "plant" not in label])
        table.take(label)
        plain.take(label)
    assert "not_planted" not in table.now
    for key in ("grown", "passed_by"):
        assert table.now[key] == plain.now[key]
        assert np.any(table.now[key])
    np.testing.assert_array_equal(
        table.observation(1)[-16:],
        np.concatenate([table.now[key][seat] for seat in (1, 0) for key in ("grown", "passed_by")]),
    )
    assert game.snapshot(game.checked_state(table.state)) == table.now


def test_positions_and_replays_go_between_files(tmp_path):
    """Snapshots name places in the file, as without the option, and a replay plays the same game again."""
    table, rng = Table().deal(4), random.Random(4)
    while not table.over:
        table.take(choose("planter", rng, table.legal))
    for one, other in ((Cacti(), Cacti(**VALUES)), (Cacti(**VALUES), Cacti())):
        state = one.from_snapshot(table.now)
        assert other.snapshot(other.from_snapshot(one.snapshot(state))) == table.now
    replay = record(Cacti(**VALUES), [RandomPolicy(1), RandomPolicy(2)], seed=1)
    replay.save(tmp_path / "game.json")
    again = Replay.load(tmp_path / "game.json")
    assert (again.game, again.scores) == (replay.game, replay.scores)
    assert any("plant hand" in label for label in replay.actions)
