"""Playing against agents."""
