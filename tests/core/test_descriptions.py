"""Words of every game: its rules in short, descriptions of actions and scores."""

import random

import numpy as np
import pytest
from variants import each_game, each_table, each_variant, seeds

from garden_core import kernels, make

pytestmark = pytest.mark.many_games


def positions(game, seed):
    """Every state of a random game, with its legal actions."""
    rng, states = random.Random(seed), game.new_states(1)
    mask = np.zeros(game.num_actions, np.int8)
    kernels.deal(states[0], game.params[0], np.uint64(seed))
    while True:
        kernels.legal_actions(states[0], game.params[0], mask)
        legal = np.flatnonzero(mask).tolist()
        yield states.copy()[0], legal
        if not legal:
            return
        kernels.apply_action(states[0], game.params[0], rng.choice(legal))


@each_variant
def test_an_action_is_described_in_a_line(name, options):
    """By what its player knows, as check_game finds."""
    game = make(name, **options)
    for seed in seeds(options, 3):
        for state, legal in positions(game, seed):
            before = state.tobytes()
            for line in (game.describe(state, action) for action in legal):
                assert 0 < len(line) <= 100
                assert line.isprintable()
            assert state.tobytes() == before


@each_variant
def test_the_score_sheet_sums_to_the_scores(name, options):
    game = make(name, **options)
    for seed in seeds(options, 5):
        for state, _ in positions(game, seed):
            snapshot = game.snapshot(state)
            sheets = game.score_sheet(snapshot)
            assert [sum(sheet.values()) for sheet in sheets] == snapshot["scores"] == game.scores(state)
            assert len({tuple(sheet) for sheet in sheets}) == 1
            assert all(type(points) is int for sheet in sheets for points in sheet.values())


@each_table
def test_position_texts_fit_a_terminal(name, options):
    game = make(name, **options)
    for seed in seeds(options, 3):
        for state, _ in positions(game, seed):
            for seat in (None, *range(game.num_players)):
                lines = game.text(state, seat).partition("\n\nlegal: ")[0].splitlines()
                assert len(lines) <= max(40, 12 * game.num_players)
                assert max(map(len, lines)) <= 100


@each_game
def test_the_summary_is_plain_paragraphs(name):
    summary = type(make(name)).summary
    assert all(len(line) <= 120 and line == line.strip() for line in summary.splitlines())
    assert not set("*`#|<>") & set(summary)
