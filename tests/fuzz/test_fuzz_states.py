"""States that were never dealt, and forged positions: harmless to every generic function."""

import random

import fuzzing
import numpy as np
import pytest
from playing import dealt, positions
from variants import each_variant, has_picture

from garden_core import PositionError, RandomPolicy, kernels, make


@each_variant
def test_undealt_states_are_harmless(name, options):
    """`check_game` reads them by every kernel."""
    game = make(name, **options)
    states, params, view = game.new_states(2), game.params[0], np.zeros(game.observation_size, np.int8)
    state = states[0]  # the other one must stay empty
    for seat in range(game.num_players):
        kernels.observe(state, params, seat, view)
        assert (view >= 0).all()
        kernels.resample(state, params, seat, 1)
    for action in range(game.num_actions):
        kernels.apply_action(state, params, action)
    assert not states.tobytes().strip(b"\0")
    assert game.legal_labels(state) == []
    assert game.scores(state) == [0] * game.num_players
    with fuzzing.within(10):
        assert len(game.score_sheet(game.snapshot(state))) == game.num_players
        for seat in (None, *range(game.num_players)):
            assert game.text(state, seat)
            assert not has_picture(game) or game.svg(state, seat).startswith("<svg")


# --- positions and records, from_snapshot and set_states ---

GAMES_OF_A_POSITION = 200 if fuzzing.FULL else 10
EXTREMES = [-(2**31), -(2**15), -129, -128, -1, 0, 1, 2, 20, 100, 127, 128, 2047, 2048, 2**15 - 1, 2**31 - 1]


def check_plays_on(game, state):
    """Play many random games from a position to their ends, and read the last positions back."""
    batch, policy = dealt(game, GAMES_OF_A_POSITION, autoreset=False), RandomPolicy(1)
    states = np.repeat(np.asarray(state)[None], GAMES_OF_A_POSITION)
    states["rng"] = batch.states["rng"]
    batch.set_states(batch.all_rows, states)
    with fuzzing.within(60):
        while len(rows := np.flatnonzero(~(batch.terminated | batch.truncated))):
            assert (batch.observation[rows] >= 0).all()
            batch.step(policy(batch, rows), rows)
    assert (batch.observation >= 0).all()
    for last in batch.states[:3]:
        game.from_snapshot(game.snapshot(last), 1)


def changed_field(state, rng):
    """Return a state record with one to three entries of its fields changed, to values of their types."""
    changed = state.copy()
    names = [name for name in state.dtype.names if not name.startswith("build_") and name != "rng"]
    for _ in range(rng.randint(1, 3)):
        name = rng.choice(names)
        field = changed[name]
        if isinstance(field, np.ndarray):
            flat = field.reshape(-1)  # a view: fields of a record are contiguous
            place = rng.randrange(len(flat))
            flat[place] = np.array(rng.choice(EXTREMES)).astype(flat.dtype)
        else:
            changed[name] = np.array(rng.choice(EXTREMES)).astype(state.dtype[name])
    return changed


@each_variant
@pytest.mark.parametrize("numbers", fuzzing.blocks(fuzzing.CASES // 8), ids=str)
def test_records_with_changed_fields_are_refused_or_play_on_as_they_are_shown(name, options, numbers):
    game = make(name, **options)
    states, batch = list(positions(game, 7)), dealt(game, autoreset=False)
    for number in numbers:
        rng = random.Random(number)
        record = changed_field(rng.choice(states), rng)
        before = batch.states.tobytes()
        _, error = fuzzing.outcome(lambda record=record: batch.set_states([0], [record]), ValueError)
        if error is not None:
            assert batch.states.tobytes() == before
            continue
        assert game.snapshot(batch.states[0]) == game.snapshot(record)
        check_plays_on(game, batch.states[0])


def changed_value(value, rng):
    """Return a plain value with something in it changed: another number, an entry more, twice or less."""
    if isinstance(value, dict):
        key = rng.choice(sorted(value))
        return value | {key: changed_value(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.75:
        place = rng.randrange(len(value))
        return [*value[:place], changed_value(value[place], rng), *value[place + 1 :]]
    if isinstance(value, list):
        return rng.choice(
            [[*value, []], [*value, 0], [*value, *value], value[:-1], [["shovel", 2], ["money", 1]]]
        )
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return rng.choice([value - 1, value + 1, *EXTREMES])
    return rng.choice(
        [None, 7, "over", "start", "neutral", "choose", "track", "shovel", ["shovel", 2], ["water", 0]]
    )


@each_variant
@pytest.mark.parametrize("numbers", fuzzing.blocks(fuzzing.CASES // 8), ids=str)
@pytest.mark.parametrize("change", [changed_value, fuzzing.mutated])
def test_changed_positions_are_refused_or_play_on(name, options, change, numbers):
    """Positions of the same shape with other values, and of other shapes."""
    game = make(name, **options)
    snapshots, refused = [game.snapshot(state) for state in positions(game, 8)], 0
    for number in numbers:
        rng = random.Random(number)
        snapshot = rng.choice(snapshots)
        for _ in range(rng.randint(1, 2)):
            snapshot = change(snapshot, rng)
        state, error = fuzzing.outcome(
            lambda snapshot=snapshot: game.from_snapshot(snapshot, 1), PositionError
        )
        if error is None:
            assert game.snapshot(state) == snapshot
            check_plays_on(game, state)
        refused += error is not None
    assert refused


@pytest.mark.parametrize("mark", ["depth", "group_size", "num_flowers", "started", "pile_left"])
def test_fields_that_no_snapshot_shows_as_they_are_cannot_corrupt_the_memory(mark):
    """A track action at hand and 127 groups of actions, or as much of anything else that counts."""
    game = make("botanicus")
    for state in positions(game, 2):
        if game.snapshot(state)["asked"] == "track":
            record = state.copy()
            record[mark] = 127
            batch = dealt(game, autoreset=False)
            _, error = fuzzing.outcome(
                lambda batch=batch, record=record: batch.set_states([0], [record]), ValueError
            )
            if error is None:
                check_plays_on(game, batch.states[0])
