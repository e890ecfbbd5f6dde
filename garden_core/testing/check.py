"""`check_game`: the checks that every game must pass, for its own tests."""

from __future__ import annotations

import numpy as np

from garden_core.game import Game
from garden_core.jit.rewards import REWARDS
from garden_core.testing.declarations import (
    check_metadata,
    check_observation_parts,
    check_options,
    check_pickle,
    check_undealt,
)
from garden_core.testing.hidden import check_chance, check_hidden, check_redraws, check_resample
from garden_core.testing.interfaces import check_aec, check_batch
from garden_core.testing.played import play
from garden_core.testing.repeated import check_cap, check_copies, check_deal, check_rewards


def check_game(game: Game, games: int = 20, seed: int = 0) -> None:
    """Check by random play that `game` implements the class Game correctly.

    Checks metadata, options, masks, observations, snapshots, copies, both kinds of reward, the cap on decisions, and that
    Batch and the PettingZoo environment play the same game. Redrawing what a seat does not see must not change what the seat
    is shown (observation, mask, `seat_view`, text, picture), and must change all that `seen` hides. Call it for each variant
    of the rules.

    Args:
        game: the game with its options.
        games: number of random games; rare events need many.
        seed: seed of the deals and of the random play.

    Raises:
        AssertionError: for the first fault, with the game and the number of decisions where it occurs.

    Example:
        >>> from garden_core import make
        >>> from garden_core.testing import check_game
        >>> check_game(make("cacti"), games=2)
    """
    assert games >= 1, "games must be at least 1"
    params = game.params.tobytes()
    check_metadata(game)
    check_options(game)
    check_pickle(game)
    check_undealt(game)
    choose = np.random.default_rng(seed)
    played = [play(game, seed, number, choose) for number in range(games)]
    for one in played:
        check_deal(game, one)
        check_copies(game, one, choose)
        for reward in REWARDS:
            check_rewards(game.with_options(reward=reward), one)
        check_cap(game, one)
    check_observation_parts(game, played)
    check_chance(game, played, choose)
    check_resample(game, played, choose)
    if game.information == "imperfect":
        check_hidden(game, played, choose)
        check_redraws(game, choose)
    check_batch(game, seed, choose)
    check_aec(game, seed, choose)
    assert game.params.tobytes() == params, f"{game!r}: playing has changed params, which is read-only"
