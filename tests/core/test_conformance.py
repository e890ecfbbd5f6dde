"""check_game passes what keeps the contract: every game in its variants, and the toys."""

import botanicus_tools
import cacti_tools
import pig
import pytest
import tomli_w
from pig import Pig
from processes import python
from toys import Cards, Nim

from botanicus_env import Botanicus
from cacti_env import Cacti
from garden_core.testing import check_game
from mars_env import Mars

MARS = [
    {},
    {"num_players": 3, "peaks": 2},
    {"num_players": 4, "special_actions": True},
    {"num_players": 5},
    {"gardeners": 2, "peaks": 3},
    {"gardeners": 2, "special_actions": True, "view": "planes"},
    {"num_players": 3, "view": "planes", "reward": "margin"},
    {"num_players": 1, "cooperative": True},
    {"num_players": 2, "cooperative": True, "gardeners": 2},
    {"num_players": 5, "cooperative": True, "special_actions": True, "reward": "margin"},
    {"max_decisions": 40},
    {"max_decisions": 1},
]


@pytest.mark.parametrize("options", MARS, ids=str)
def test_mars(options):
    check_game(Mars(**options), games=4)


CACTI = [{}, {"reward": "margin"}, {"max_decisions": 12}, {"max_decisions": 1}]


@pytest.mark.parametrize("options", CACTI, ids=str)
def test_cacti(options):
    check_game(Cacti(**options))


def test_cacti_with_other_cards(tmp_path):
    for seed in range(4):
        path = tmp_path / f"{seed}.toml"
        path.write_text(tomli_w.dumps(cacti_tools.made_up(seed)))
        check_game(Cacti(cards=path), games=5)


BOTANICUS = [{}, {"num_players": 3, "reward": "margin"}, {"num_players": 4}, {"max_decisions": 60}]


@pytest.mark.parametrize("options", BOTANICUS, ids=str)
def test_botanicus(options):
    check_game(Botanicus(**options), games=4)


def test_botanicus_with_other_tables(tmp_path):
    for seed in range(2):
        path = tmp_path / f"{seed}.toml"
        path.write_text(tomli_w.dumps(botanicus_tools.made_up(seed)))
        check_game(Botanicus(tables=path, num_players=2 + seed), games=3)


TOYS = [
    Pig(),
    Pig(num_players=4, reward="margin"),
    Pig(num_players=3, goal=1),
    Pig(max_decisions=9),
    Cards(),
    Cards(num_players=3, reward="margin"),
    Nim(),
    Nim(num_players=3),
]


@pytest.mark.parametrize("game", TOYS, ids=repr)
def test_toys(game):
    check_game(game)


def test_pig_runs_as_a_program():
    done = python(pig.__file__)
    assert "Pig passes the checks" in done.stdout
