"""Words of every game: its rules in short, descriptions of actions and scores."""

import pytest
from playing import positions
from variants import each_game, each_table, each_variant, seeds

from garden_core import make

pytestmark = pytest.mark.many_games


def played(name, options, many):
    """Yield the game and each of its states, in many random games for the defaults."""
    game = make(name, **options)
    return ((game, state) for seed in seeds(options, many) for state in positions(game, seed))


@each_variant
def test_an_action_is_described_in_a_line(name, options):
    """`check_game` compares it with what its player knows."""
    for game, state in played(name, options, 3):
        before = state.tobytes()
        for label in game.legal_labels(state):
            line = game.describe(state, game.labels.index(label))
            assert 0 < len(line) <= 110
            assert line.isprintable()
        assert state.tobytes() == before


@each_variant
def test_the_score_sheet_sums_to_the_scores(name, options):
    for game, state in played(name, options, 5):
        sheets = game.score_sheet(game.snapshot(state))
        assert [sum(sheet.values()) for sheet in sheets] == game.scores(state)
        assert len({tuple(sheet) for sheet in sheets}) == 1
        assert all(type(points) is int for sheet in sheets for points in sheet.values())


@each_table
def test_position_texts_fit_a_terminal(name, options):
    for game, state in played(name, options, 3):
        for seat in (None, *range(game.num_players)):
            lines = game.text(state, seat).partition("\n\nlegal: ")[0].splitlines()
            assert len(lines) <= max(40, 12 * game.num_players)
            assert max(map(len, lines)) <= 100


@each_game
def test_the_summary_is_plain_paragraphs(name):
    summary = make(name).summary
    assert all(len(line) <= 120 and line == line.strip() for line in summary.splitlines())
    assert not set("*`#|<>") & set(summary)
