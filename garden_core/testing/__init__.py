"""The checks that any game must pass: `check_game(MyGame())`, for the tests of a game of your own."""

from garden_core.testing.check import check_game

__all__ = ["check_game"]
