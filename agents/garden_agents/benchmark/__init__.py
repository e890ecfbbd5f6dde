"""One frozen scale of strength: tasks, their fields of rated agents, and scores."""
