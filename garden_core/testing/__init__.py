"""The checks that every game must pass: `check_game(MyGame())`, for the tests of your own game."""

from garden_core.testing.check import check_game

__all__ = ["check_game"]
