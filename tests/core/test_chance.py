"""All results of a chance event, compared with sampled ones and with probabilities worked out by hand."""

import tomllib
from collections import Counter

import numpy as np
import pytest
import toys
from data_tools import written
from pig import Pig
from processes import ROOT

from garden_core import compiled, kernels, make
from garden_core.chance import _Draws, outcomes
from garden_core.jit import next_float, seed_rng

FEW_CARDS = ROOT / "tests" / "games" / "cacti" / "few_cards.toml"


def sampled(game, state, action, number):
    """How often each result occurs, by snapshot."""
    found = Counter()
    for seed in range(number):
        after = game.new_states(1)
        after[0] = state
        if action is None:
            kernels.deal(after[0], game.params[0], seed)
        else:
            seed_rng(after["rng"][0], np.uint64(seed))
            kernels.apply_action(after[0], game.params[0], action)
        found[repr(game.snapshot(after[0]))] += 1
    return found


def agree(game, state, action, number=4000):
    listed = outcomes(game, state, action)
    by_snapshot = {repr(game.snapshot(after)): probability for probability, after in listed}
    assert len(by_snapshot) == len(listed)
    assert sum(by_snapshot.values()) == pytest.approx(1, abs=1e-12)
    found = sampled(game, state, action, number)
    assert found.keys() <= by_snapshot.keys()
    for snapshot, probability in by_snapshot.items():
        spread = np.sqrt(number * probability * (1 - probability))
        assert abs(found[snapshot] - number * probability) <= 5 * spread
    return [probability for probability, _ in listed]


def test_dice():
    game = Pig()
    state = game.new_states(1)[0]
    assert agree(game, state, None) == [1]
    kernels.deal(state, game.params[0], 1)
    before = state.tobytes()
    assert agree(game, state, 0) == pytest.approx([1 / 6] * 6)
    assert state.tobytes() == before


def test_cards(tmp_path):
    """Rules that call others in a module, and generic functions."""
    data = tomllib.loads(FEW_CARDS.read_text("utf-8")) | {"count": [11, 1]}
    game = make("cacti", cards=written(tmp_path, data), memory="history", reward="margin")
    assert len(agree(game, game.new_states(1)[0], None)) == 144


def test_too_many():
    game = make("cacti")
    with pytest.raises(ValueError, match="a chance event has more than 100000 combinations of draws"):
        outcomes(game, game.new_states(1)[0], None)


def test_orders_of_equal_items():
    draws, items = _Draws(), np.zeros(5, np.int8)
    orders = []
    for _ in draws:
        items[:] = [2, 1, 2, 1, 9]
        draws.shuffle(None, items, 4)
        orders.append(tuple(items.tolist()))
        assert draws.combinations == 6
    assert len(orders) == len(set(orders)) == 6
    assert {tuple(sorted(order)) for order in orders} == {(1, 1, 2, 2, 9)}


def test_other_draws_are_refused(monkeypatch):
    @compiled
    def deal(state, params, seed):
        toys.cards_deal(state, params, seed)
        state.hand[0] = 3 * next_float(state.rng)

    game = toys.Cards(num_players=2)
    monkeypatch.setattr(toys.Cards, "rules", game.rules._replace(deal=deal))
    with pytest.raises(ValueError, match="only draws by bounded and shuffle"):
        outcomes(game, game.new_states(1)[0], None)
