"""check_game passes Gardens of Mars also where several variants of the rules meet."""

import pytest

from garden_core.testing import check_game
from mars_env import Mars

pytestmark = pytest.mark.many_games


@pytest.mark.parametrize(
    "options",
    [
        {"num_players": 3, "peaks": 2},
        {"num_players": 4, "special_actions": True},
        {"gardeners": 2, "special_actions": True, "view": "planes"},
        {"num_players": 5, "cooperative": True, "special_actions": True, "reward": "margin"},
    ],
    ids=str,
)
def test_variants_that_meet(options):
    check_game(Mars(**options), games=3)
