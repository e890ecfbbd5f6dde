"""Hints about games: registered by module, inherited by subclasses, and true of the games."""

import numpy as np
import pytest
from garden_agents.games import TEST_SEEDS, TRAINING_SEEDS, Features, Hints, hints_of, register
from garden_agents.networks.architecture import Architecture, empty_network
from garden_agents.training.ppo_arguments import Arguments
from pig import Pig

from cacti_env import Cacti
from garden_core import Batch, RandomPolicy, compiled, make
from mars_env import Mars


@compiled
def halve(observation, params, out):
    for row in range(len(observation)):
        out[row, 0] = observation[row, 0] / 2


def test_a_game_of_one_file_registers_its_hints(tmp_path):
    class OwnPig(Pig):
        name = "own_pig"

    assert hints_of(OwnPig()) == Hints()
    (tmp_path / "training.toml").write_text("[ppo]\nenvs = 48\n", "utf-8")
    register(OwnPig, Hints(features=lambda game: Features(1, halve, game.params), folder=tmp_path))
    (inputs,) = empty_network(OwnPig(), Architecture(), "seats").inputs(np.full((2, 22), 3, np.int8))
    np.testing.assert_array_equal(inputs, [[1.5], [1.5]])
    assert Arguments.for_game(OwnPig).envs == 48
    assert hints_of(Pig()) == Hints()


def test_options_that_change_the_class_keep_the_hints():
    assert hints_of(Cacti(memory="history")) is hints_of(Cacti)
    assert hints_of(Mars(view="planes")).board(Mars(view="planes")) is None


@pytest.mark.parametrize("seed", [*TRAINING_SEEDS[:30], *TEST_SEEDS[:30]])
def test_generated_cards_of_cacti_keep_what_their_page_says(seed):
    own, packaged = Cacti(**hints_of(Cacti).private_data(seed)).cards, Cacti().cards
    for name in ("types", "bonus", "starting"):
        assert getattr(own, name) == getattr(packaged, name)
    assert sum(own.count) == sum(packaged.count)
    assert {*own.count} <= {11, 12, 13}
    assert len(own.basic) == len(packaged.basic)
    for part, cacti, points in (("upper", 3, 3), ("lower", 5, 6)):
        halves = [getattr(card, part) for card in own.basic]
        assert len({half.cost for half in halves}) == len(halves)
        assert {sum(half.cost) for half in halves} == {cacti}
        for half in halves:
            asked = sum(map(bool, half.cost))
            assert asked in (2, 3)
            assert half.points == points + (asked == 3)


@pytest.mark.parametrize("name", ["cards", "decisions", "current_player"])
def test_private_fields_are_bytes_by_seat(name):
    with pytest.raises(ValueError, match=f"no state field '{name}' with an int8 for each of 2 seats"):
        register(Cacti, Hints(private_fields=(name,)))
    assert hints_of(Cacti).private_fields == ("bonus", "basic_in_hand")


@pytest.mark.parametrize("game", ["botanicus", "cacti", "mars"])
def test_private_fields_stay_the_same_until_they_are_revealed(game):
    batch = Batch(make(game), 50, autoreset=False)
    batch.reset(1)
    names, policy, revealed = hints_of(batch.game).private_fields, RandomPolicy(1), 0
    before = batch.states.copy()
    while len(rows := np.flatnonzero(~batch.terminated)):
        batch.step(policy(batch, rows), rows)
        for name in names:
            now = batch.states[name]
            assert ((now == before[name]) | (now == -1)).all()
            revealed += (now != before[name]).sum()
        before = batch.states.copy()
    assert (revealed > 0) == bool(names)
