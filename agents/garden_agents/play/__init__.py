"""Playing against agents, and showing recorded games."""
