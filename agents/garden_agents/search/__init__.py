"""Tree search for any game."""
