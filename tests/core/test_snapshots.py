"""Snapshots read back: the same position plays on alike, a position that cannot be is refused with the reason."""

import json

import numpy as np
import pytest
from pig import Pig
from playing import dealt, positions
from variants import GAMES, each_variant

from garden_core import Batch, kernels, make


def shown(game, state):
    """Return all that players can see of a state."""
    views = []
    for seat in range(game.num_players):
        views.append(np.zeros(game.observation_size, np.int8))
        kernels.observe(state, game.params[0], seat, views[-1])
    mask = np.zeros(game.num_actions, np.int8)
    kernels.legal_actions(state, game.params[0], mask)
    return game.snapshot(state), np.concatenate(views).tobytes(), mask.tobytes()


@each_variant
def test_a_snapshot_read_back_plays_on_alike(name, options):
    game = make(name, **options)
    choose = np.random.default_rng(1)
    for number, original in enumerate(positions(game, 3, every=3)):
        text = json.dumps(game.snapshot(original))
        state = game.from_snapshot(json.loads(text), seed=number)
        assert shown(game, state) == shown(game, original)
        states = game.new_states(2)
        states[0], states[1] = original, state
        states["rng"][1] = states["rng"][0]
        for _ in range(12):
            if states["terminated"][0] or states["truncated"][0]:
                break
            mask = np.zeros(game.num_actions, np.int8)
            kernels.legal_actions(states[0], game.params[0], mask)
            action = int(choose.choice(np.flatnonzero(mask)))
            for one in states:
                kernels.apply_action(one, game.params[0], action)
            assert shown(game, states[1]) == shown(game, states[0])
            assert states["rewards"][1].tobytes() == states["rewards"][0].tobytes()


@each_variant
def test_positions_at_the_cap_can_be_read_back(name, options):
    for cap in range(1, 60, 4):
        game = make(name, **options | {"max_decisions": cap})
        for original in positions(game, cap, every=cap):
            state = game.from_snapshot(game.snapshot(original), seed=1)
            assert shown(game, state) == shown(game, original)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"game": "chess"}, "game must be"),
        ({"truncated": True}, "truncated means that all"),
        ({"decisions": 10**6}, "the game is truncated"),
        ({"colour": "red"}, "colour"),
        ({"current_player": 4}, "player"),
        ({"scores": [99, 99]}, "score"),
    ],
)
def test_wrong_keys_are_named(name, change, message):
    game = make(name)
    snapshot = game.snapshot(next(positions(game, 1))) | change
    with pytest.raises(ValueError, match=message):
        game.from_snapshot(snapshot)


@pytest.mark.parametrize("name", GAMES)
def test_missing_keys_are_named(name):
    game = make(name)
    snapshot = game.snapshot(next(positions(game, 1)))
    for key in snapshot:
        with pytest.raises(ValueError, match=key):
            game.from_snapshot({k: v for k, v in snapshot.items() if k != key})


@pytest.mark.parametrize("value", [None, [], "{}", 5])
def test_other_values_are_no_snapshots(value):
    with pytest.raises(ValueError, match="a snapshot is a dict"):
        make("cacti").from_snapshot(value)
    with pytest.raises(ValueError, match="pig reads no snapshots"):
        Pig().from_snapshot({"game": "pig"})


# --- what a seat sees ---


@each_variant
def test_a_seat_view_lists_the_seats_legal_actions(name, options):
    game = make(name, **options)
    for state in positions(game, 2, every=7):
        over = state["terminated"] or state["truncated"]
        for seat in range(game.num_players):
            view = game.seat_view(state, seat)
            assert json.loads(json.dumps(view)) == view
            asked = seat == state["current_player"] and not over
            assert [one["label"] for one in view["legal"]] == (game.legal_labels(state) if asked else [])
            assert all(game.labels[one["action"]] == one["label"] for one in view["legal"])
            assert view["seat"] == seat


# --- Batch.set_states ---


def test_states_are_put_into_rows():
    game = make("cacti")
    states, batch = list(positions(game, 6))[3:6], Batch(game, 4, history=True)
    with pytest.raises(ValueError, match="must give all rows"):
        batch.set_states([1], states[:1])
    batch.reset(seed=1)
    batch.step(batch.action_mask.argmax(1))
    before = [array.copy() for array in batch.arrays]
    batch.set_states([3, 0], states[:2])
    for mine, old in zip(batch.arrays, before, strict=True):
        assert mine[1:3].tobytes() == old[1:3].tobytes()
    for row, state in ((3, states[0]), (0, states[1])):
        assert batch.states["rng"][row].tobytes() == state["rng"].tobytes()
        assert shown(game, batch.states[row]) == shown(game, state)
        assert batch.action_mask[row].tobytes() == shown(game, state)[2]
        assert batch.current_player[row] == state["current_player"]
        assert not batch.rewards[row].any()
    assert batch.history.lengths.tolist() == [0, 1, 1, 0]
    batch.step(batch.action_mask.argmax(1))


def test_a_finished_game_is_shown_as_over():
    game = make("mars", max_decisions=3)
    batch = Batch(game, 2, autoreset=False)
    batch.set_states([0, 1], list(positions(game, 1))[-2:])
    assert batch.truncated.tolist() == [False, True]


def with_field(field, value):
    """Return a function that copies a batch's states and sets a field of theirs."""

    def change(batch):
        states = batch.states.copy()
        states[field].reshape(-1)[0] = value
        return states

    return change


@pytest.mark.parametrize(
    ("states", "message"),
    [
        (lambda batch: [], "0 states for 1 rows"),
        (lambda batch: [5], "row 0: not a state record of mars"),
        (lambda batch: Batch("cacti", 1).states, "row 0: not a state record of mars"),
        (lambda batch: batch.game.new_states(1), "row 0: the state was never dealt"),
        (with_field("stocks", 10), "row 0: .*flowers"),
        (with_field("phase", 77), "row 0: the state holds what no rule"),
    ],
)
def test_wrong_states_are_refused(states, message):
    batch = dealt("mars")
    before = batch.states.tobytes()
    with pytest.raises(ValueError, match=message):
        batch.set_states([0], states(batch))
    assert batch.states.tobytes() == before
